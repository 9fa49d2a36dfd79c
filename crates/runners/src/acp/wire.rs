//! What agents say by the Agent Client Protocol, as far as it is looked at.

use serde::Deserialize;
use serde_json::Value;

/// The answer to the first word.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Hello {
    pub(super) protocol_version: u64,
    pub(super) agent_info: Option<About>,
}

/// What an agent says it is.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct About {
    pub(super) name: String,
}

/// A session that was made.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Session {
    pub(super) session_id: String,
    pub(super) models: Option<Models>,
    /// What may be set; see `Setting`.
    pub(super) config_options: Option<Vec<Value>>,
}

/// Something about a session that may be set.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Setting {
    pub(super) id: String,
    pub(super) category: Option<String>,
    pub(super) current_value: Value,
    pub(super) options: Vec<Offered>,
}

/// A value that it may be set to, or several under one heading.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Offered {
    pub(super) value: Option<String>,
    pub(super) options: Vec<Offered>,
}

/// Models that may be chosen.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Models {
    pub(super) available_models: Vec<Model>,
}

/// One of them.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Model {
    pub(super) model_id: String,
}

/// What happens in a session.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Told {
    /// In which; most agents have only one.
    #[serde(default)]
    pub(super) session_id: Option<String>,
    pub(super) update: Update,
}

/// One thing that happened.
#[derive(Debug, Deserialize)]
#[serde(tag = "sessionUpdate", rename_all = "snake_case")]
pub(super) enum Update {
    AgentMessageChunk {
        content: Content,
        #[serde(default, rename = "messageId")]
        message: Option<String>,
    },
    ToolCall(ToolCall),
    #[serde(rename = "tool_call_update")]
    ToolCallGoesOn(ToolCall),
    #[serde(rename = "usage_update")]
    Usage {
        #[serde(default)]
        used: Option<u64>,
        #[serde(default)]
        cost: Option<Cost>,
    },
    #[serde(other)]
    Other,
}

/// Something said.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Content {
    Text {
        text: String,
    },
    #[serde(other)]
    Other,
}

/// What a session has cost in all.
#[derive(Debug, Deserialize)]
pub(super) struct Cost {
    pub(super) amount: f64,
    #[serde(default)]
    pub(super) currency: String,
}

/// A tool that is used.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ToolCall {
    pub(super) tool_call_id: String,
    pub(super) name: Option<String>,
    pub(super) title: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) status: Option<String>,
    pub(super) raw_input: Option<Value>,
    pub(super) locations: Vec<Location>,
}

impl ToolCall {
    /// Takes over what is said anew.
    pub(super) fn learn(&mut self, more: &Self) {
        self.tool_call_id.clone_from(&more.tool_call_id);
        for (known, told) in [
            (&mut self.name, &more.name),
            (&mut self.title, &more.title),
            (&mut self.kind, &more.kind),
            (&mut self.status, &more.status),
        ] {
            if told.is_some() {
                known.clone_from(told);
            }
        }
        if more.raw_input.is_some() {
            self.raw_input.clone_from(&more.raw_input);
        }
        if !more.locations.is_empty() {
            self.locations.clone_from(&more.locations);
        }
    }
}

/// A file that a tool is used on.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Location {
    pub(super) path: String,
}

/// An agent wants to know whether it may use a tool.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Permission {
    pub(super) tool_call: ToolCall,
    pub(super) options: Vec<Choice>,
}

/// What may be answered.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Choice {
    pub(super) option_id: String,
    #[serde(default)]
    pub(super) kind: String,
}

/// How a turn ended.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Ended {
    pub(super) stop_reason: String,
    pub(super) usage: Option<Usage>,
    #[serde(rename = "_meta")]
    pub(super) meta: Option<Meta>,
}

/// What a turn used.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Usage {
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cached_read_tokens: u64,
    pub(super) cached_write_tokens: u64,
    pub(super) thought_tokens: u64,
    pub(super) total_tokens: Option<u64>,
}

/// What some agents say beside.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Meta {
    pub(super) quota: Option<Quota>,
}

/// What a turn used, where it is said elsewhere.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Quota {
    pub(super) token_count: Option<Count>,
    pub(super) model_usage: Vec<ModelUsage>,
}

/// Tokens by kind.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Count {
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
}

/// Whose tokens they are.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ModelUsage {
    pub(super) model: String,
}

/// A file that an agent wants to read or write through us.
#[derive(Debug, Deserialize)]
pub(super) struct File {
    pub(super) path: String,
    #[serde(default)]
    pub(super) content: Option<String>,
    #[serde(default)]
    pub(super) line: Option<usize>,
    #[serde(default)]
    pub(super) limit: Option<usize>,
}
