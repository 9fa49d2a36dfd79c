//! All servers of one conversation: our own, where anything behind it may be used, and those
//! that the agent has beside it.
//!
//! Each is started or reached when the conversation begins and ends with it. What cannot be
//! used is told, to the model too, and ends nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use legation_core::agent::{Level, McpServer, Reach};
use serde_json::Value;
use tokio::task::JoinSet;

use super::mcp::{Client, Failed, Http, Wire};
use super::message::Offer;
use super::tools::fitting;
use super::{Means, gate};
use crate::command::is_for_all;
use crate::door::{CALL_MS, DELEGATING, SERVER};
use crate::envoy::{Charge, Tools};
use crate::hands::Errand;
use crate::rpc::Peer;
use crate::supervise::SESSION_VARIABLE;

/// How long a server may take to be ready.
const READY_IN: Duration = Duration::from_secs(30);
/// How long a call may take where nobody says.
const CALL_IN: Duration = Duration::from_secs(600);
/// Tools of all servers that a model is offered.
const MAX_OFFERS: usize = 120;
/// Characters that providers take as the name of a tool.
const MAX_NAME_CHARS: usize = 64;

/// The servers of a conversation.
#[derive(Default)]
pub(super) struct Servers {
    all: Vec<Server>,
    /// Which tool of which server a model means by a name.
    names: BTreeMap<String, (usize, String)>,
    /// The tools that may be used.
    pub(super) offers: Vec<Offer>,
    /// Servers that cannot be used, and why.
    pub(super) trouble: Vec<(String, String)>,
}

struct Server {
    name: String,
    client: Client,
    call_in: Duration,
}

/// A tool that a model means.
pub(super) struct Meant {
    place: usize,
    tool: String,
    /// Our name for it.
    pub(super) name: String,
    /// How freely it may be used.
    pub(super) level: Level,
}

impl Meant {
    /// Whether it is a tool of ours, and no stranger's.
    pub(super) fn is_ours(&self) -> bool {
        self.name.strip_prefix("mcp:legation/").is_some()
    }
}

/// A server before it has answered.
struct Way {
    name: String,
    wire: Result<Wire, String>,
    ready_in: Duration,
    call_in: Duration,
}

impl Servers {
    /// Starts or reaches all of them at once.
    pub(super) async fn open(charge: &Charge, means: &Means) -> Self {
        let own = is_door_wanted(&charge.tools).then(|| door(charge, means));
        let others = charge.servers.iter();
        let others = others.map(|(name, server)| way(name, server.as_ref(), (charge, means)));
        let mut opening = JoinSet::new();
        for (place, way) in own.into_iter().chain(others).enumerate() {
            opening.spawn(async move {
                let Way { name, wire, ready_in, call_in } = way;
                let client = match wire {
                    Ok(wire) => Client::open(wire, ready_in).await,
                    Err(why) => Err(why),
                };
                (place, (name, client, call_in))
            });
        }
        let mut opened = BTreeMap::new();
        while let Some(one) = opening.join_next().await {
            opened.extend(one);
        }
        let mut servers = Self::default();
        for (name, client, call_in) in opened.into_values() {
            match client {
                Ok(client) => servers.take(Server { name, client, call_in }, &charge.tools).await,
                Err(why) => servers.trouble.push((name, why)),
            }
        }
        servers
    }

    /// Takes a server in, as far as it has something that may be used.
    async fn take(&mut self, mut server: Server, tools: &Tools) {
        let place = self.all.len();
        let mut is_used = false;
        let mut left_out = 0_usize;
        for tool in std::mem::take(&mut server.client.tools) {
            let name = self.unused_name(&server.name, &tool.name);
            self.names.insert(name.clone(), (place, tool.name.clone()));
            if level(tools, &server.name, &tool.name) == Level::Deny {
                continue;
            }
            if self.offers.len() >= MAX_OFFERS {
                left_out += 1;
                continue;
            }
            is_used = true;
            self.offers.push(Offer { name, description: tool.description, schema: tool.schema });
        }
        if left_out > 0 {
            let why = format!("{left_out} of its tools are left out: there are too many");
            self.trouble.push((server.name.clone(), why));
        }
        if is_used {
            self.all.push(server);
        } else {
            self.names.retain(|_, (used, _)| *used != place);
            server.client.close().await;
        }
    }

    /// What a model is to call a tool: as providers want it, and like no other.
    fn unused_name(&self, server: &str, tool: &str) -> String {
        let plain = |symbol: char| {
            if symbol.is_ascii_alphanumeric() || symbol == '-' { symbol } else { '_' }
        };
        let name: String = format!("mcp__{server}__{tool}").chars().map(plain).collect();
        let first: String = name.chars().take(MAX_NAME_CHARS).collect();
        let numbered = (2_u32..).map(|no| {
            let end = format!("_{no}");
            let kept = name.chars().take(MAX_NAME_CHARS - end.len());
            kept.chain(end.chars()).collect()
        });
        std::iter::once(first)
            .chain(numbered)
            .find(|name| !self.names.contains_key(name))
            .unwrap_or(name)
    }

    /// Which tool a model means by a name, if it is one of a server.
    pub(super) fn meant(&self, name: &str, tools: &Tools) -> Option<Meant> {
        let (place, tool) = self.names.get(name)?;
        let server = self.all.get(*place)?;
        Some(Meant {
            place: *place,
            tool: tool.clone(),
            name: format!("mcp:{}/{tool}", server.name),
            level: level(tools, &server.name, tool),
        })
    }

    /// Uses a tool. Whether it may be used was asked before. A server that turns out to be
    /// gone is told in words of its own.
    pub(super) async fn apply(
        &mut self,
        meant: &Meant,
        arguments: &Value,
    ) -> Result<String, Failure> {
        let server = self.all.get_mut(meant.place).ok_or_else(Failure::default)?;
        let called = server.client.call(&meant.tool, arguments, server.call_in).await;
        let bounded = |text: String| {
            let whole = text.len();
            fitting(text, whole)
        };
        match called {
            Ok(text) => Ok(bounded(text)),
            Err(Failed::Answered(why)) => Err(Failure { told: bounded(why), lost: None }),
            Err(Failed::Lost(why)) => Err(Failure {
                told: format!("The server `{}` cannot be used: {why}.", server.name),
                lost: Some((server.name.clone(), why)),
            }),
        }
    }

    /// Says goodbye to all of them.
    pub(super) async fn close(self) {
        for server in self.all {
            server.client.close().await;
        }
    }
}

/// Why a tool of a server came to nothing.
#[derive(Default)]
pub(super) struct Failure {
    /// What the model is told.
    pub(super) told: String,
    /// The server that is gone, and why.
    pub(super) lost: Option<(String, String)>,
}

/// Whether anything behind our own door may be used, beside handing in the return, for
/// which there is a shorter way.
fn is_door_wanted(tools: &Tools) -> bool {
    tools.delegate != Level::Deny || tools.layers.freest("mcp:legation/*") != Level::Deny
}

/// How freely a tool may be used. What hands work on goes by `delegate`.
fn level(tools: &Tools, server: &str, tool: &str) -> Level {
    let by_name = gate::server_level(tools, server, tool);
    match tool {
        _ if server != SERVER => by_name,
        "submit_result" => Level::Deny,
        "list_agents" => by_name.max(tools.delegate),
        _ if DELEGATING.contains(&tool) => by_name.max(tools.delegate),
        _ => by_name,
    }
}

fn door(charge: &Charge, means: &Means) -> Way {
    let command = vec![charge.door.exe.to_string_lossy().into_owned(), "mcp".to_owned()];
    let mut env = charge.env.clone();
    env.extend(charge.door.env.clone());
    let wire = Ok(program(means, command, env));
    let call_in = Duration::from_millis(CALL_MS);
    Way { name: SERVER.to_owned(), wire, ready_in: READY_IN, call_in }
}

fn way(name: &str, server: Result<&McpServer, &String>, (charge, means): (&Charge, &Means)) -> Way {
    let name = name.to_owned();
    let server = match server {
        Ok(server) => server,
        Err(why) => {
            let wire = Err(why.clone());
            return Way { name, wire, ready_in: READY_IN, call_in: CALL_IN };
        }
    };
    let wire = match &server.reach {
        Reach::Stdio { command, env } => {
            // No more than any child sees, and by what it is found if we are gone: no keys,
            // and nothing to speak in the attempt's name with.
            let seen = charge.env.clone().into_iter();
            let seen = seen.filter(|(name, _)| name == SESSION_VARIABLE || is_for_all(name));
            let all = seen.chain(env.clone()).collect();
            Ok(program(means, command.clone(), all))
        }
        Reach::Http { url, headers } => {
            Http::to(url, headers, (&charge.env, means)).map(|http| Wire::Address(Box::new(http)))
        }
    };
    let call_in = server.timeout_ms.map_or(CALL_IN, Duration::from_millis);
    Way { name, wire, ready_in: call_in.min(READY_IN), call_in }
}

fn program(means: &Means, command: Vec<String>, env: BTreeMap<String, String>) -> Wire {
    let env = env.into_iter().collect();
    let errand = Errand { program: Some(command), env, stdin: String::new() };
    Wire::Program(Box::new(Peer::kept(&means.hands, errand)))
}
