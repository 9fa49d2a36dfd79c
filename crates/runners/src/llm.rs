//! Our own agent: a model behind an interface, and tools in the workspace.
//!
//! The loop is small: say, listen, use the tools that the model wants used, say what came
//! of it, until it wants none. It decides nothing about the delegation; the engine checks
//! what is told as it does for every program.

mod anthropic;
mod door;
pub mod gate;
mod line;
mod message;
mod openai;
mod provider;
mod sse;
mod stream;
mod submit;
mod tools;
mod watch;

use std::collections::BTreeMap;

use legation_core::agent::Level;
use serde_json::Value;

pub use message::{Answer, Call, Message, Offer, Reply, Request, Stop, Trouble};
pub use provider::{Dialect, Provider};
pub use sse::Sse;
pub use stream::{Stream, body};
pub(crate) use tools::inside;

use self::door::Server;
use self::line::{Failed, Line};
use self::tools::{Came, Toolbox};
use self::watch::{Watch, heed};
use crate::envoy::{Charge, Dialogue, Ear, Event, Fault, FaultKind, Outcome, Word, ask};

/// Calls of the model in one conversation where the agent does not say.
const MAX_TURNS: u32 = 200;
/// The variable that says how many tokens an answer may have.
const MAX_TOKENS: &str = "LLM_MAX_TOKENS";
/// Results of tools that are kept when there is too much to say: the newest.
const KEPT_RESULTS: usize = 4;
/// What stands in the place of one that is not.
const DROPPED: &str = "[This was left out, since the conversation had become too long.]";

/// A conversation with a model.
pub struct Llm {
    env: BTreeMap<String, String>,
    open: Option<Open>,
    messages: Vec<Message>,
    calls: u32,
}

/// What a conversation needs from its first word on.
struct Open {
    line: Line,
    toolbox: Toolbox,
    offers: Vec<Offer>,
    door: Option<Server>,
}

impl Llm {
    /// A conversation that has not begun, with what its environment says of providers.
    pub fn new(env: BTreeMap<String, String>) -> Self {
        Self { env, open: None, messages: Vec::new(), calls: 0 }
    }

    async fn open(&mut self, charge: &Charge) -> Result<Open, Fault> {
        let provider = Provider::of(charge.model.as_deref(), &self.env)?;
        let line = Line::to(provider)?;
        let toolbox = Toolbox::of(charge, self.env.clone()).map_err(|problem| {
            Fault::new(FaultKind::NotStarted, format!("The workspace cannot be used: {problem}"))
        })?;
        let mut offers = toolbox.offers();
        let mut door = None;
        if door::is_wanted(&charge.tools) {
            let server = Server::open(charge).await.map_err(|problem| {
                Fault::new(
                    FaultKind::NotStarted,
                    format!("`legation mcp` cannot be used: {problem}"),
                )
            })?;
            offers.extend(server.offers(&charge.tools));
            door = Some(server);
        }
        offers.push(submit::offer());
        Ok(Open { line, toolbox, offers, door })
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
                max_tokens: self.env.get(MAX_TOKENS).and_then(|tokens| tokens.trim().parse().ok()),
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
        let mut open = match self.open.take() {
            Some(open) => open,
            None => match self.open(charge).await {
                Ok(open) => open,
                Err(fault) => return Outcome::Broken(fault),
            },
        };
        self.messages.push(Message::User(text.to_owned()));
        let outcome = self.go_on(charge, &mut open, ear).await;
        if ear.is_stopped()
            && let Some(door) = open.door.take()
        {
            door.close().await;
        }
        self.open = Some(open);
        outcome
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
    if let Some(tool) = door::own_name(&call.name) {
        let name = format!("mcp:legation/{tool}");
        let level =
            if open.door.is_some() { door::level(&charge.tools, tool) } else { Level::Deny };
        if let Err(why) = permitted(level, &name, ear).await? {
            return Some(denied(name, why, ear));
        }
        let arguments: Value = match tools::arguments::<tools::Anything>(call) {
            Ok(arguments) => arguments.0.into(),
            Err(why) => return Some(Err(why)),
        };
        let server = open.door.as_mut()?;
        ear.hear(Event::Tool { tool: name, what: String::new() });
        let came = heed(server.apply(tool, &arguments), ear, Watch::Waiting).await;
        ear.hear(Event::ToolOver);
        return came;
    }
    let wanted = match open.toolbox.read(call) {
        Some(Ok(wanted)) => wanted,
        Some(Err(why)) => return Some(Err(why)),
        None => return Some(denied(call.name.clone(), "there is no such tool", ear)),
    };
    let what = format!("{}: {}", wanted.tool, wanted.what);
    if let Err(why) = permitted(wanted.level, &what, ear).await? {
        return Some(denied(wanted.tool.to_owned(), why, ear));
    }
    ear.hear(Event::Tool { tool: wanted.tool.to_owned(), what: wanted.what.clone() });
    let came = heed(open.toolbox.apply(wanted), ear, Watch::Waiting).await;
    ear.hear(Event::ToolOver);
    came
}

/// Whether it may be done, or why not; a human is asked where that is for one to say.
/// Nothing means that all shall stop.
async fn permitted(level: Level, what: &str, ear: &mut Ear) -> Option<Result<(), &'static str>> {
    Some(match level {
        Level::Allow => Ok(()),
        Level::Deny => Err("the agent may not use it for this"),
        Level::Ask => match heed(ask(what), ear, Watch::Waiting).await? {
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
