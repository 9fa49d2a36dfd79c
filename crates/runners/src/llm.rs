//! Our own agent: a model behind an interface, and tools in the workspace.
//!
//! The loop is small: say, listen, use the tools that the model wants used, say what came
//! of it, until it wants none. It decides nothing about the delegation; the engine checks
//! what is told as it does for every program. It is held in a chancery, and does nothing
//! itself: its tools are used by hands.

mod anthropic;
pub mod gate;
pub mod hand;
mod http;
mod line;
mod mcp;
mod message;
mod openai;
mod provider;
mod servers;
mod sse;
mod stream;
mod submit;
mod tools;
mod watch;

use std::sync::Arc;

use legation_core::agent::Level;
use legation_core::text::shown::clip;
use serde_json::Value;

pub use http::Clients;
pub use message::{Answer, Call, Message, Offer, Reply, Request, Stop, Trouble};
pub use provider::{Dialect, Provider};
pub use sse::Sse;
pub use stream::{Stream, body};
pub(crate) use tools::{inside, wherever};

use self::line::{Failed, Line};
use self::servers::{Meant, Servers};
use self::tools::{Came, Toolbox};
use self::watch::{Watch, heed};
use crate::agents::Vendor;
use crate::door;
use crate::envoy::{Charge, Dialogue, Ear, Event, Fault, FaultKind, Outcome, Word, ask};
use crate::hands::Hands;

/// Calls of the model in one conversation where the agent does not say.
const MAX_TURNS: u32 = 200;
/// The variable that says how many tokens an answer may have.
const MAX_TOKENS: &str = "LLM_MAX_TOKENS";
/// Results of tools that are kept when there is too much to say: the newest.
const KEPT_RESULTS: usize = 4;
/// Characters of what a server is to be given that a human is shown.
const ASKED_CHARS: usize = 400;
/// Why a tool cannot be used that the agent may not use.
const MAY_NOT: &str = "the agent may not use it for this";
/// What stands in the place of one that is not.
const DROPPED: &str = "[This was left out, since the conversation had become too long.]";

/// What a conversation is held with.
pub struct Means {
    /// What does something in the workspace.
    pub hands: Arc<Hands>,
    /// The lines to providers and servers.
    pub clients: Clients,
    /// Whether nothing may be reached over the network.
    pub is_offline: bool,
}

/// A conversation with a model.
pub struct Llm {
    means: Means,
    open: Option<Open>,
    messages: Vec<Message>,
    calls: u32,
}

/// What a conversation needs from its first word on.
struct Open {
    line: Line,
    toolbox: Toolbox,
    offers: Vec<Offer>,
    servers: Servers,
}

impl Llm {
    /// A conversation that has not begun.
    pub fn new(means: Means) -> Self {
        Self { means, open: None, messages: Vec::new(), calls: 0 }
    }

    async fn open(&self, charge: &Charge) -> Result<Open, Fault> {
        let provider = Provider::of(charge.model.as_deref(), &charge.env)?;
        let line = Line::to(provider, &charge.env, &self.means)?;
        let toolbox = Toolbox::of(charge, self.means.hands.clone()).map_err(|problem| {
            Fault::new(FaultKind::NotStarted, format!("The workspace cannot be used: {problem}"))
        })?;
        let mut servers = Servers::open(charge, &self.means).await;
        let mut offers = toolbox.offers();
        offers.append(&mut servers.offers);
        offers.push(submit::offer());
        Ok(Open { line, toolbox, offers, servers })
    }

    /// What the model says to all that was said.
    async fn ask(&mut self, charge: &Charge, open: &Open, ear: &mut Ear) -> Result<Reply, Outcome> {
        loop {
            let provider = open.line.provider();
            let request = Request {
                model: &provider.model,
                instructions: &charge.instructions,
                messages: &self.messages,
                offers: &open.offers,
                temperature: charge.temperature,
                max_tokens: charge
                    .env
                    .get(MAX_TOKENS)
                    .and_then(|tokens| tokens.trim().parse().ok()),
            };
            let body = body(provider.dialect, &request).to_string();
            match open.line.ask(body, ear).await {
                Ok(reply) => return Ok(reply),
                Err(Failed::Stopped) => return Err(Outcome::Over),
                Err(Failed::Broken(fault)) => return Err(Outcome::Broken(fault)),
                Err(Failed::TooMuch(why)) => {
                    if !shorten(&mut self.messages) {
                        return Err(Outcome::Broken(Fault::new(FaultKind::Provider, why)));
                    }
                }
            }
        }
    }

    /// One turn: until the model wants no more tools used.
    async fn go_on(&mut self, charge: &Charge, open: &mut Open, ear: &mut Ear) -> Outcome {
        let limit = charge.max_turns.unwrap_or(MAX_TURNS);
        loop {
            if ear.is_stopped() {
                return Outcome::Over;
            }
            if self.calls >= limit {
                let why = format!("The agent has used all of its {limit} turns.");
                return Outcome::Broken(Fault::new(FaultKind::Turns, why));
            }
            self.calls += 1;
            let reply = match self.ask(charge, open, ear).await {
                Ok(reply) => reply,
                Err(outcome) => return outcome,
            };
            let Reply { text, calls, stop, .. } = reply;
            if !text.is_empty() {
                ear.hear(Event::Text(text.clone()));
            }
            self.messages.push(Message::Model { text, calls: calls.clone() });
            match stop {
                Some(Stop::Length) => {
                    let why = format!(
                        "The answer was cut off where it became too long; set {MAX_TOKENS}."
                    );
                    return Outcome::Broken(Fault::new(FaultKind::Cut, why));
                }
                Some(Stop::Refused) => {
                    let why = "The model would not go on.";
                    return Outcome::Broken(Fault::new(FaultKind::Provider, why));
                }
                Some(Stop::Done) | None => {}
            }
            if calls.is_empty() {
                return Outcome::Over;
            }
            let Some(answers) = use_all(charge, open, &calls, ear).await else {
                return Outcome::Over;
            };
            self.messages.push(Message::Results(answers));
        }
    }
}

impl Dialogue for Llm {
    async fn turn(&mut self, charge: &Charge, text: &str, ear: &mut Ear) -> Outcome {
        let mut text = text.to_owned();
        let mut open = match self.open.take() {
            Some(open) => open,
            None => match heed(self.open(charge), ear, Watch::Waiting).await {
                Some(Ok(mut open)) => {
                    for (server, why) in open.servers.trouble.drain(..) {
                        text.push_str(&format!("\n\nThe server `{server}` cannot be used: {why}."));
                        ear.hear(Event::Unavailable { server, why });
                    }
                    open
                }
                Some(Err(fault)) => return Outcome::Broken(fault),
                None => return Outcome::Over,
            },
        };
        self.messages.push(Message::User(text));
        let outcome = self.go_on(charge, &mut open, ear).await;
        self.open = Some(open);
        outcome
    }

    async fn close(&mut self) {
        if let Some(open) = self.open.take() {
            open.servers.close().await;
        }
    }
}

/// Uses the tools that the model wants used, one after another; nothing means that the
/// turn is over.
async fn use_all(
    charge: &Charge,
    open: &mut Open,
    calls: &[Call],
    ear: &mut Ear,
) -> Option<Vec<Answer>> {
    let mut answers = Vec::with_capacity(calls.len());
    for call in calls {
        if call.name == submit::NAME {
            match submit::check(charge, call) {
                Ok(returned) => {
                    ear.hear(Event::Tool { tool: submit::NAME.to_owned(), what: String::new() });
                    ear.hear(Event::ToolOver);
                    ear.hear(Event::Text(returned));
                    return None;
                }
                Err(why) => answers.push(answer(call, Err(why))),
            }
            continue;
        }
        let came = use_one(charge, open, call, ear).await?;
        answers.push(answer(call, came));
    }
    Some(answers)
}

fn answer(call: &Call, came: Came) -> Answer {
    let is_error = came.is_err();
    let (Ok(text) | Err(text)) = came;
    let text = if text.is_empty() { "(nothing)".to_owned() } else { text };
    Answer { id: call.id.clone(), text, is_error }
}

/// Uses one tool; nothing means that all shall stop.
async fn use_one(charge: &Charge, open: &mut Open, call: &Call, ear: &mut Ear) -> Option<Came> {
    if let Some(meant) = open.servers.meant(&call.name, &charge.tools) {
        return use_server((charge, &mut open.servers), &meant, call, ear).await;
    }
    let wanted = match open.toolbox.read(call) {
        Some(Ok(wanted)) => wanted,
        Some(Err(why)) => return Some(Err(why)),
        None if call.name.starts_with("mcp__") => {
            let name = door::canonical(Vendor::Claude, "mcp__legation__", &call.name);
            return Some(denied(name, MAY_NOT, ear));
        }
        None => return Some(denied(call.name.clone(), "there is no such tool", ear)),
    };
    let what = format!("{}: {}", wanted.tool, wanted.what);
    if let Err(why) = permitted(charge, wanted.level, &what, ear).await? {
        return Some(denied(wanted.tool.to_owned(), why, ear));
    }
    ear.hear(Event::Tool { tool: wanted.tool.to_owned(), what: wanted.what.clone() });
    let came = heed(open.toolbox.apply(call), ear, Watch::Waiting).await;
    ear.hear(Event::ToolOver);
    came
}

/// Uses a tool of a server; nothing means that all shall stop.
async fn use_server(
    (charge, servers): (&Charge, &mut Servers),
    meant: &Meant,
    call: &Call,
    ear: &mut Ear,
) -> Option<Came> {
    let arguments: Value = match tools::arguments::<tools::Anything>(call) {
        _ if meant.level == Level::Deny => return Some(denied(meant.name.clone(), MAY_NOT, ear)),
        Ok(arguments) => arguments.0.into(),
        Err(why) => return Some(Err(why)),
    };
    let what = if meant.is_ours() { String::new() } else { arguments.to_string() };
    let question = format!("{} {}", meant.name, clip(&what, ASKED_CHARS));
    if let Err(why) = permitted(charge, meant.level, question.trim_end(), ear).await? {
        return Some(denied(meant.name.clone(), why, ear));
    }
    ear.hear(Event::Tool { tool: meant.name.clone(), what });
    let came = heed(servers.apply(meant, &arguments), ear, Watch::Waiting).await;
    ear.hear(Event::ToolOver);
    Some(came?.map_err(|failure| {
        if let Some((server, why)) = failure.lost {
            ear.hear(Event::Unavailable { server, why });
        }
        failure.told
    }))
}

/// Whether it may be done, or why not; a human is asked where that is for one to say.
/// Nothing means that all shall stop.
async fn permitted(
    charge: &Charge,
    level: Level,
    what: &str,
    ear: &mut Ear,
) -> Option<Result<(), &'static str>> {
    Some(match level {
        Level::Allow => Ok(()),
        Level::Deny => Err(MAY_NOT),
        Level::Ask => match heed(ask(&charge.env, what), ear, Watch::Waiting).await? {
            Word::Yes => Ok(()),
            Word::No => Err("a human said no"),
            Word::Nobody => Err("it would have to be asked for, and nobody can be asked"),
        },
    })
}

fn denied(tool: String, why: &str, ear: &mut Ear) -> Came {
    let told = format!("`{tool}` was denied: {why}.");
    ear.hear(Event::Denied { tool, why: why.to_owned() });
    Err(told)
}

/// Leaves out the oldest results of tools; whether that made it shorter.
fn shorten(messages: &mut [Message]) -> bool {
    let results = messages.iter_mut().filter_map(|message| match message {
        Message::Results(answers) => Some(answers),
        Message::User(_) | Message::Model { .. } => None,
    });
    let mut results: Vec<&mut Vec<Answer>> = results.collect();
    let old = results.len().saturating_sub(KEPT_RESULTS);
    // Where all is recent, only the last is kept.
    let old = if old == 0 { results.len().saturating_sub(1) } else { old };
    let mut is_shorter = false;
    for answer in results.iter_mut().take(old).flat_map(|answers| answers.iter_mut()) {
        if answer.text.len() > DROPPED.len() {
            answer.text = DROPPED.to_owned();
            is_shorter = true;
        }
    }
    is_shorter
}
