//! A client of servers of tools: one conversation with one server, whatever way it is
//! reached, our own not excepted.
//!
//! What a server says is data, and has limits. One that does not answer, ends or talks
//! nonsense is told of and never waited for longer than its time.

mod http;
mod wire;

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

pub(super) use http::Http;
pub(super) use wire::{Failed, Wire};

/// The version of the protocol that is spoken.
const VERSION: &str = "2025-06-18";
/// Tools that are taken from one server.
const MAX_TOOLS: usize = 128;
/// Pages on which it may list them.
const MAX_PAGES: usize = 32;
/// Bytes that the name of a tool may have.
const MAX_NAME_BYTES: usize = 128;
/// Characters of its description that are passed on.
const MAX_DESCRIPTION_CHARS: usize = 4_000;
/// Bytes of its schema, beyond which it takes anything.
const MAX_SCHEMA_BYTES: usize = 32 << 10;

/// A server that has answered.
pub(super) struct Client {
    wire: Wire,
    /// The tools that it has.
    pub(super) tools: Vec<Tool>,
}

/// A tool of a server.
#[derive(Deserialize)]
pub(super) struct Tool {
    /// The server's own name for it.
    pub(super) name: String,
    /// What it is for.
    #[serde(default)]
    pub(super) description: String,
    /// What it takes.
    #[serde(rename = "inputSchema", default)]
    pub(super) schema: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hello {
    #[serde(default)]
    protocol_version: String,
    #[serde(default)]
    capabilities: Abilities,
}

#[derive(Default, Deserialize)]
struct Abilities {
    tools: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    tools: Vec<Tool>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Called {
    #[serde(default)]
    content: Vec<Content>,
    structured_content: Option<Value>,
    #[serde(default)]
    is_error: bool,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content {
    Text {
        text: String,
    },
    Resource {
        resource: Resource,
    },
    ResourceLink {
        uri: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Resource {
    #[serde(default)]
    uri: String,
    text: Option<String>,
}

impl Client {
    /// Shakes hands and asks what it has.
    pub(super) async fn open(wire: Wire, ready_in: Duration) -> Result<Self, String> {
        let mut client = Self { wire, tools: Vec::new() };
        match timeout(ready_in, client.shake_hands()).await {
            Ok(Ok(())) => Ok(client),
            Ok(Err(Failed::Answered(why) | Failed::Lost(why))) => {
                client.close().await;
                Err(why)
            }
            Err(_) => Err(format!("it did not answer within {} s", ready_in.as_secs_f32())),
        }
    }

    async fn shake_hands(&mut self) -> Result<(), Failed> {
        let about = json!({"name": "legation-llm", "version": env!("CARGO_PKG_VERSION")});
        let hello = json!({"protocolVersion": VERSION, "capabilities": {}, "clientInfo": about});
        let hello: Hello = self.wire.request("initialize", &hello).await?;
        self.wire.agree(&hello.protocol_version);
        self.wire.tell("notifications/initialized", &json!({})).await;
        if hello.capabilities.tools.is_none() {
            return Ok(());
        }
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let params = cursor.map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
            let page: Page = self.wire.request("tools/list", &params).await?;
            self.tools.extend(page.tools.into_iter().filter(Tool::can_be_named).map(Tool::bounded));
            cursor = page.next_cursor.filter(|_| self.tools.len() < MAX_TOOLS);
            if cursor.is_none() {
                break;
            }
        }
        self.tools.truncate(MAX_TOOLS);
        Ok(())
    }

    /// Uses one of its tools.
    pub(super) async fn call(
        &mut self,
        tool: &str,
        arguments: &Value,
        time: Duration,
    ) -> Result<String, Failed> {
        let params = json!({"name": tool, "arguments": arguments});
        let Ok(called) = timeout(time, self.wire.request("tools/call", &params)).await else {
            self.wire.call_off().await;
            let why = format!("It was called off after {} s.", time.as_secs_f32());
            return Err(Failed::Answered(why));
        };
        let called: Called = called?;
        let is_error = called.is_error;
        let text = called.text();
        if is_error { Err(Failed::Answered(text)) } else { Ok(text) }
    }

    /// Says goodbye.
    pub(super) async fn close(self) {
        self.wire.close().await;
    }
}

impl Tool {
    /// Whether rules and models can speak of it.
    fn can_be_named(&self) -> bool {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
        (1..=MAX_NAME_BYTES).contains(&self.name.len()) && self.name.bytes().all(is_plain)
    }

    fn bounded(mut self) -> Self {
        if let Some((end, _)) = self.description.char_indices().nth(MAX_DESCRIPTION_CHARS) {
            self.description.truncate(end);
        }
        if !self.schema.is_object() || self.schema.to_string().len() > MAX_SCHEMA_BYTES {
            self.schema = json!({"type": "object"});
        }
        self
    }
}

impl Called {
    /// What a model is told of it: all that is text.
    fn text(self) -> String {
        let said: Vec<String> = self.content.into_iter().map(Content::text).collect();
        match self.structured_content {
            Some(structured) if said.is_empty() => structured.to_string(),
            Some(_) | None => said.join("\n"),
        }
    }
}

impl Content {
    fn text(self) -> String {
        match self {
            Self::Text { text }
            | Self::Resource { resource: Resource { text: Some(text), .. } } => text,
            Self::Resource { resource: Resource { uri, text: None } }
            | Self::ResourceLink { uri } => format!("[see {uri}]"),
            Self::Other => "[something that is no text is left out]".to_owned(),
        }
    }
}
