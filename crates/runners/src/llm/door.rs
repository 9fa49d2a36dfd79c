//! Tools of an MCP server that this process starts: our own door, `legation mcp`.
//!
//! It is started only where the agent may use something behind it, since every server is
//! one more process.

use std::time::Duration;

use legation_core::agent::Level;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::gate;
use super::message::Offer;
use super::tools::{Came, fitting};
use crate::envoy::{Charge, Tools};
use crate::rpc::{Incoming, Peer, Start};

/// What the server is called.
const SERVER: &str = "legation";
/// The version of the protocol that is spoken.
const VERSION: &str = "2025-06-18";
/// How long it may take to be ready.
const READY_IN: Duration = Duration::from_secs(20);
/// How long it may take to end.
const END_IN: Duration = Duration::from_secs(1);
/// Tools that are taken from one server.
const MAX_TOOLS: usize = 128;
/// "Method not found" in JSON-RPC.
const NO_METHOD: i64 = -32601;

/// A server that runs.
pub(super) struct Server {
    peer: Peer,
    tools: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(rename = "inputSchema", default)]
    schema: Value,
}

#[derive(Deserialize)]
struct List {
    tools: Vec<Listed>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Called {
    #[serde(default)]
    content: Vec<Content>,
    #[serde(default)]
    is_error: bool,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content {
    Text {
        text: String,
    },
    #[serde(other)]
    Other,
}

/// Whether anything behind the door may be used, beside handing in the return, for which
/// there is a shorter way.
pub(super) fn is_wanted(tools: &Tools) -> bool {
    let named = |name: &String| name.starts_with("mcp:legation/") || name.starts_with("mcp:*");
    tools.delegate != Level::Deny
        || tools.others.iter().any(|(name, level)| named(name) && *level != Level::Deny)
}

/// How freely a tool of ours may be used: what hands work on goes by `delegate`.
pub(super) fn level(tools: &Tools, tool: &str) -> Level {
    if tool == "submit_result" {
        return Level::Deny;
    }
    let hands_on = tool.starts_with("delegate") || tool == "list_agents";
    let by_name = gate::server_level(tools, SERVER, tool);
    if hands_on { by_name.max(tools.delegate) } else { by_name }
}

impl Server {
    /// Starts it and asks what it has.
    pub(super) async fn open(charge: &Charge) -> Result<Self, String> {
        let command = [charge.door.exe.to_string_lossy().into_owned(), "mcp".to_owned()];
        let env: Vec<(String, String)> = charge.door.env.clone().into_iter().collect();
        let start = Start { command: &command, env: &env, cwd: &charge.workspace };
        let peer = Peer::start(&start).map_err(|problem| problem.to_string())?;
        let mut server = Self { peer, tools: Vec::new() };
        let ready = timeout(READY_IN, server.shake_hands());
        ready.await.map_err(|_| "it does not answer".to_owned())??;
        Ok(server)
    }

    async fn shake_hands(&mut self) -> Result<(), String> {
        let about = json!({"name": "legation-llm", "version": env!("CARGO_PKG_VERSION")});
        let hello = json!({"protocolVersion": VERSION, "capabilities": {}, "clientInfo": about});
        self.call("initialize", &hello).await?;
        self.peer.tell("notifications/initialized", &json!({}));
        let listed = self.call("tools/list", &json!({})).await?;
        let List { mut tools } = serde_json::from_str(listed.get()).map_err(|p| p.to_string())?;
        tools.truncate(MAX_TOOLS);
        self.tools = tools;
        Ok(())
    }

    /// Its tools, as far as they may be used.
    pub(super) fn offers(&self, tools: &Tools) -> Vec<Offer> {
        let allowed = self.tools.iter().filter(|tool| level(tools, &tool.name) != Level::Deny);
        let offer = |tool: &Listed| Offer {
            name: full_name(&tool.name),
            description: tool.description.clone(),
            schema: if tool.schema.is_object() {
                tool.schema.clone()
            } else {
                json!({"type": "object"})
            },
        };
        allowed.map(offer).collect()
    }

    /// Uses one of them.
    pub(super) async fn apply(&mut self, tool: &str, arguments: &Value) -> Came {
        let called =
            self.call("tools/call", &json!({"name": tool, "arguments": arguments})).await?;
        let called: Called =
            serde_json::from_str(called.get()).map_err(|problem| problem.to_string())?;
        let texts = called.content.into_iter().filter_map(|content| match content {
            Content::Text { text } => Some(text),
            Content::Other => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        let whole = text.len();
        let text = fitting(text, whole);
        if called.is_error { Err(text) } else { Ok(text) }
    }

    /// Says goodbye.
    pub(super) async fn close(self) {
        self.peer.bury(END_IN).await;
    }

    async fn call(&mut self, method: &str, params: &Value) -> Result<Box<RawValue>, String> {
        let asked = self.peer.ask(method, params);
        while let Some(incoming) = self.peer.next().await {
            match incoming {
                Incoming::Reply { id, outcome } if id == asked => {
                    return outcome.map_err(|wrong| wrong.message);
                }
                Incoming::Request { id, method, .. } if method == "ping" => {
                    self.peer.answer(&id, &json!({}));
                }
                Incoming::Request { id, .. } => self.peer.refuse(&id, NO_METHOD, "not offered"),
                Incoming::Reply { .. } | Incoming::Notice { .. } => {}
            }
        }
        Err(format!("The server `{SERVER}` has ended."))
    }
}

/// What the model calls a tool of ours.
fn full_name(tool: &str) -> String {
    format!("mcp__{SERVER}__{tool}")
}

/// The server's own name for a tool, if it is one of its.
pub(super) fn own_name(name: &str) -> Option<&str> {
    name.strip_prefix("mcp__")?.strip_prefix(SERVER)?.strip_prefix("__")
}
