//! What Codex says, as events: bytes in, events out, pure.
//!
//! It tells what was used at the end of a turn, its record says so after each answer of the
//! model. Both speak of the whole thread; only the difference to what was told before is
//! passed on. It never says what anything cost.

mod line;

use std::collections::HashSet;

use legation_core::returns::Tokens;
use serde_json::Value;

use self::line::{Figures, Item, Line, Noted};
use crate::agents::{Vendor, tool_name};
use crate::command::Usage;
use crate::envoy::{End, Event, Fault, FaultKind, Lines, Outcome};

/// Tools under way that are remembered; a program with more has lost count itself.
const MAX_OPEN_TOOLS: usize = 1000;
/// What Codex writes to its log when the model wants a tool that it was not given.
const NOT_GIVEN: &str = "unsupported call: ";

/// Reads the output of Codex, over all turns of one thread.
#[derive(Clone, Debug, Default)]
pub struct Parser {
    lines: Lines,
    record: Lines,
    heard: Heard,
}

#[derive(Clone, Debug, Default)]
struct Heard {
    thread: Option<String>,
    /// The model that was asked for, or that the record names.
    model: Option<String>,
    /// What the thread has used, as far as it was told.
    told: Tokens,
    /// Tools under way, by Codex's own numbers.
    tools: HashSet<String>,
    /// The last it said about an error; it may go on after one.
    trouble: String,
    turn: Turn,
}

/// How far a turn is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Turn {
    /// Nothing was heard yet.
    #[default]
    Silent,
    /// It has begun.
    Begun,
    Completed,
    Failed,
}

impl Parser {
    /// Another turn of the same thread begins, in another process, with the model that its
    /// agent asks for.
    pub fn begin(&mut self, model: Option<&str>) {
        if let Some(model) = model {
            self.heard.model = Some(model.to_owned());
        }
        self.lines = Lines::default();
        self.heard.turn = Turn::Silent;
        self.heard.tools.clear();
        self.heard.trouble.clear();
    }

    /// The thread, to go on with it.
    pub fn thread(&self) -> Option<&str> {
        self.heard.thread.as_deref()
    }

    /// Takes a piece of output.
    pub fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) {
        let Self { lines, heard, .. } = self;
        lines.push(bytes, |line| heard.take(line, events));
    }

    /// Takes a piece of the record that Codex keeps of the thread.
    pub fn note(&mut self, bytes: &[u8], events: &mut Vec<Event>) {
        let Self { record, heard, .. } = self;
        record.push(bytes, |line| heard.note(line, events));
    }

    /// Takes the end of its log: there, and nowhere else, it says which tools the model
    /// wanted and was not given.
    pub fn overhear(&mut self, last_words: &str, events: &mut Vec<Event>) {
        for line in last_words.lines() {
            if let Some((_, name)) = line.split_once(NOT_GIVEN) {
                let tool = tool_name(Vendor::Codex, name.trim());
                let why = format!("Codex was not given `{}`", name.trim());
                events.push(Event::Denied { tool, why });
            }
        }
    }

    /// Whether the turn is over.
    pub fn is_over(&self) -> bool {
        matches!(self.heard.turn, Turn::Completed | Turn::Failed)
    }

    /// What came of the turn. A good exit code proves nothing: only `turn.completed` does.
    pub fn end(&mut self, end: &End<'_>) -> Outcome {
        let words = end.last_words.trim();
        match self.heard.turn {
            Turn::Completed => Outcome::Over,
            Turn::Failed => {
                let message = self.heard.trouble.clone();
                Outcome::Broken(Fault::new(kind_of(&message), message))
            }
            Turn::Begun => {
                let message = format!("Codex ended in the middle of a turn. {words}");
                Outcome::Broken(Fault::new(FaultKind::Cut, message))
            }
            Turn::Silent => {
                let message = format!("Codex did not begin. {words}");
                Outcome::Broken(Fault::new(FaultKind::NotStarted, message))
            }
        }
    }
}

/// What kind of failure it was. Codex tells it in words only.
fn kind_of(message: &str) -> FaultKind {
    let message = message.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
    if says(&["429", "rate limit", "usage limit", "too many requests", "overloaded"]) {
        FaultKind::RateLimit
    } else if says(&["401", "403", "unauthorized", "not logged in", "api key"]) {
        FaultKind::Login
    } else {
        FaultKind::Provider
    }
}

impl Heard {
    fn take(&mut self, line: &[u8], events: &mut Vec<Event>) {
        let before = events.len();
        if let Ok(line) = serde_json::from_slice::<Line<'_>>(line) {
            self.understand(line, events);
        }
        if events.len() == before {
            events.push(Event::Alive);
        }
    }

    fn understand(&mut self, line: Line<'_>, events: &mut Vec<Event>) {
        match line.kind.as_ref() {
            "thread.started" => {
                self.turn = Turn::Begun;
                if let Some(thread) = line.thread_id {
                    self.converse(&thread, events);
                }
            }
            "item.started" => {
                if let Some(item) = line.item {
                    self.began(&item, events);
                }
            }
            "item.completed" => {
                if let Some(item) = line.item {
                    self.done(item, events);
                }
            }
            "turn.completed" => {
                self.turn = Turn::Completed;
                self.used(line.usage.unwrap_or_default(), events);
            }
            "turn.failed" => {
                self.turn = Turn::Failed;
                self.trouble = line.error.map_or_else(String::new, |error| error.message);
            }
            "error" => self.trouble = line.message.unwrap_or_default(),
            _ => {}
        }
    }

    fn note(&mut self, line: &[u8], events: &mut Vec<Event>) {
        let Ok(Noted { kind, payload }) = serde_json::from_slice::<Noted<'_>>(line) else { return };
        match kind.as_ref() {
            "turn_context" => {
                if let Some(model) = payload.model {
                    self.model = Some(model.into_owned());
                }
            }
            "token_usage_record" if payload.thread_id.as_deref() == self.thread.as_deref() => {
                if let Some(figures) = payload.thread_token_usage {
                    self.used(figures, events);
                }
                if let Some(figures) = payload.usage {
                    events.push(Event::Context(figures.context()));
                }
            }
            _ => {}
        }
    }

    fn converse(&mut self, thread: &str, events: &mut Vec<Event>) {
        if self.thread.as_deref() != Some(thread) {
            // Another thread counts from the beginning.
            self.told = Tokens::default();
            self.thread = Some(thread.to_owned());
            events.push(Event::Conversation(thread.to_owned()));
        }
    }

    fn used(&mut self, figures: Figures, events: &mut Vec<Event>) {
        let now = figures.tokens();
        let tokens = now.minus(&self.told);
        self.told = now.at_least(&self.told);
        if tokens != Tokens::default() {
            let (usage, model) = (Usage { tokens, cost: None }, self.model.clone());
            events.push(Event::Used { usage, model });
        }
    }

    fn began(&mut self, item: &Item<'_>, events: &mut Vec<Event>) {
        let Some((tool, what)) = use_of(item) else { return };
        if self.tools.len() < MAX_OPEN_TOOLS && self.tools.insert(item.id.as_ref().to_owned()) {
            events.push(Event::Tool { tool, what });
        }
    }

    fn done(&mut self, item: Item<'_>, events: &mut Vec<Event>) {
        if item.kind == "agent_message" {
            events.push(Event::Text(item.text.into_owned()));
            return;
        }
        let Some((tool, what)) = use_of(&item) else { return };
        let was_open = self.tools.remove(item.id.as_ref());
        if !was_open {
            // Some are told only once they are done.
            events.push(Event::Tool { tool: tool.clone(), what: what.clone() });
        }
        events.push(Event::ToolOver);
        if item.status == "declined" {
            events.push(Event::Denied { tool, why: what });
        }
    }
}

/// Our name for the tool that an item is a use of, and what it is used for.
fn use_of(item: &Item<'_>) -> Option<(String, String)> {
    let tool = |name: &str| tool_name(Vendor::Codex, name);
    match item.kind.as_ref() {
        "command_execution" => Some((tool("shell"), item.command.as_ref().to_owned())),
        "file_change" => {
            let paths: Vec<&str> = item.changes.iter().map(|change| change.path.as_str()).collect();
            Some((tool("apply_patch"), paths.join(", ")))
        }
        "web_search" => Some((tool("web_search"), item.query.as_ref().to_owned())),
        "mcp_tool_call" => {
            Some((format!("mcp:{}/{}", item.server, item.tool), first_text(&item.arguments)))
        }
        "collab_tool_call" => Some((tool("spawn_agent"), item.tool.as_ref().to_owned())),
        // Messages, thoughts, lists of things to do, and errors that change nothing, such
        // as that of a model which Codex does not know.
        _ => None,
    }
}

fn first_text(arguments: &Value) -> String {
    let arguments = arguments.as_object();
    let first = arguments.and_then(|arguments| arguments.values().find_map(Value::as_str));
    first.unwrap_or_default().to_owned()
}
