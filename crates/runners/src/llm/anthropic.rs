//! Anthropic's Messages: what is asked, and what its stream says.
//!
//! Pure. What stays the same from call to call is marked for the provider's cache.

use legation_core::returns::Tokens;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::message::{Call, Message, Reply, Request, Stop, Trouble};

/// Tokens that an answer may have where nobody says: the interface wants a figure.
const MAX_TOKENS: u64 = 8_192;

/// The body of a request.
pub(super) fn body(request: &Request<'_>) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    body.insert("max_tokens".to_owned(), json!(request.max_tokens.unwrap_or(MAX_TOKENS)));
    body.insert("stream".to_owned(), json!(true));
    if let Some(temperature) = request.temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if !request.instructions.is_empty() {
        let text =
            json!([{"type": "text", "text": request.instructions, "cache_control": cached()}]);
        body.insert("system".to_owned(), text);
    }
    let mut tools: Vec<Value> = request
        .offers
        .iter()
        .map(|offer| {
            json!({"name": offer.name, "description": offer.description, "input_schema": offer.schema})
        })
        .collect();
    mark(tools.last_mut());
    if !tools.is_empty() {
        body.insert("tools".to_owned(), tools.into());
    }
    let mut messages: Vec<Value> = request.messages.iter().map(message).collect();
    // The next call goes on where this one ends.
    let last =
        messages.last_mut().and_then(|last| last.get_mut("content")?.as_array_mut()?.last_mut());
    mark(last);
    body.insert("messages".to_owned(), messages.into());
    body.into()
}

fn cached() -> Value {
    json!({"type": "ephemeral"})
}

fn mark(block: Option<&mut Value>) {
    if let Some(block) = block.and_then(Value::as_object_mut) {
        block.insert("cache_control".to_owned(), cached());
    }
}

fn message(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({"role": "user", "content": [{"type": "text", "text": text}]}),
        Message::Model { text, calls } => {
            let words = (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}));
            let used = calls.iter().map(|call| {
                // The interface takes nothing but an object here; what was wrong with the
                // arguments stands in the answer.
                let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
                let input = if input.is_object() { input } else { json!({}) };
                json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
            });
            let mut content: Vec<Value> = words.into_iter().chain(used).collect();
            if content.is_empty() {
                content.push(json!({"type": "text", "text": "(nothing)"}));
            }
            json!({"role": "assistant", "content": content})
        }
        Message::Results(answers) => {
            let content: Vec<Value> = answers
                .iter()
                .map(|answer| {
                    json!({
                        "type": "tool_result", "tool_use_id": answer.id,
                        "content": answer.text, "is_error": answer.is_error,
                    })
                })
                .collect();
            json!({"role": "user", "content": content})
        }
    }
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Said {
    MessageStart {
        message: Start,
    },
    ContentBlockStart {
        index: u64,
        content_block: Block,
    },
    ContentBlockDelta {
        index: u64,
        delta: Delta,
    },
    MessageDelta {
        delta: Ended,
        #[serde(default)]
        usage: Usage,
    },
    MessageStop,
    Error {
        error: Wrong,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Start {
    #[serde(default)]
    usage: Usage,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        #[serde(default)]
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
        #[serde(default)]
        input: Value,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "input_json_delta")]
    Input { partial_json: String },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Ended {
    #[serde(default)]
    stop_reason: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Usage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Wrong {
    #[serde(rename = "type")]
    kind: String,
    message: String,
}

/// Listens to one answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream {
    /// What was heard.
    pub(super) reply: Reply,
    /// Which block of the answer each call is.
    blocks: Vec<u64>,
    stop: Option<Stop>,
}

impl Stream {
    /// Takes the data of one event. What makes no sense is passed over: if it mattered,
    /// the answer never ends.
    pub(super) fn take(&mut self, data: &[u8]) -> Result<(), Trouble> {
        let Some(said) = super::stream::lenient(data) else { return Ok(()) };
        match said {
            Said::MessageStart { message } => self.add(&message.usage),
            Said::ContentBlockStart { index, content_block } => self.begin(index, content_block),
            Said::ContentBlockDelta { index, delta } => match delta {
                Delta::Text { text } => self.reply.text.push_str(&text),
                Delta::Input { partial_json } => {
                    let at = self.blocks.iter().rposition(|block| *block == index);
                    if let Some(call) = at.and_then(|at| self.reply.calls.get_mut(at)) {
                        call.arguments.push_str(&partial_json);
                    }
                }
                Delta::Other => {}
            },
            Said::MessageDelta { delta, usage } => {
                self.add(&usage);
                self.stop = match delta.stop_reason.as_deref() {
                    Some("max_tokens" | "model_context_window_exceeded") => Some(Stop::Length),
                    Some("refusal") => Some(Stop::Refused),
                    Some(_) => Some(Stop::Done),
                    None => self.stop,
                };
            }
            Said::MessageStop => self.reply.stop = self.stop.or(Some(Stop::Done)),
            Said::Error { error } => {
                return Err(Trouble { kind: error.kind, message: error.message });
            }
            Said::Other => {}
        }
        Ok(())
    }

    fn begin(&mut self, index: u64, block: Block) {
        match block {
            Block::Text { text } => self.reply.text.push_str(&text),
            Block::ToolUse { id, name, input } => {
                // Most say what it is used with later, piece by piece; some at once.
                let is_whole = input.as_object().is_some_and(|input| !input.is_empty());
                let arguments = if is_whole { input.to_string() } else { String::new() };
                self.reply.calls.push(Call { id, name, arguments });
                self.blocks.push(index);
            }
            Block::Other => {}
        }
    }

    /// Figures are those of the answer so far; a later one replaces an earlier one.
    fn add(&mut self, usage: &Usage) {
        let so_far = self.reply.tokens;
        self.reply.tokens = Tokens {
            input: usage.input_tokens.unwrap_or(so_far.input),
            output: usage.output_tokens.unwrap_or(so_far.output),
            cache_read: usage.cache_read_input_tokens.unwrap_or(so_far.cache_read),
            cache_write: usage.cache_creation_input_tokens.unwrap_or(so_far.cache_write),
            reasoning: 0,
        };
    }
}
