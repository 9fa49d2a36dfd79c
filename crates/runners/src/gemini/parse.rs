//! What Gemini CLI says, as events: bytes in, events out, pure.
//!
//! Only the last line of a turn has figures, those of that turn alone. Its exit code is 0
//! even where it was interrupted, so nothing but that line is believed.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use legation_core::returns::Tokens;
use serde::Deserialize;

use crate::agents::Vendor;
use crate::command::Usage;
use crate::door;
use crate::envoy::{End, Event, Fault, FaultKind, Lines, Outcome};
use crate::what_for::WhatFor;

/// What it puts before the names of our tools.
const OURS: &str = "mcp_legation_";
/// Bytes of one message that are put together; what comes after is told as another.
const MAX_MESSAGE_BYTES: usize = 2 << 20;
/// Exit codes of its own.
const NO_LOGIN: i32 = 41;
const TURNS_USED_UP: i32 = 53;

/// Reads the output of Gemini CLI, over all turns of one conversation.
#[derive(Clone, Debug, Default)]
pub struct Parser {
    lines: Lines,
    heard: Heard,
}

#[derive(Clone, Debug, Default)]
struct Heard {
    conversation: Option<String>,
    /// What the agent is saying, piece by piece.
    saying: String,
    /// Tools under way, by the program's own numbers.
    tools: HashMap<String, String>,
    result: Option<LastLine>,
}

/// A line, as far as it matters.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    session_id: Option<String>,
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    content: Cow<'a, str>,
    #[serde(borrow)]
    tool_name: Cow<'a, str>,
    #[serde(borrow)]
    tool_id: Cow<'a, str>,
    parameters: WhatFor,
    #[serde(borrow)]
    status: Cow<'a, str>,
    error: Option<Problem>,
    stats: Option<Stats>,
}

/// The last line of a turn.
#[derive(Clone, Debug, Default)]
struct LastLine {
    is_success: bool,
    error: Problem,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Problem {
    #[serde(rename = "type")]
    kind: String,
    message: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Stats {
    total_tokens: u64,
    input_tokens: u64,
    output_tokens: u64,
    cached: u64,
    models: BTreeMap<String, Figures>,
}

/// Figures of one model or of all. The input is told with and without what was cached;
/// thoughts are only in the total.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Figures {
    total_tokens: u64,
    input_tokens: u64,
    output_tokens: u64,
    cached: u64,
}

impl Figures {
    fn tokens(self) -> Tokens {
        let said = self.input_tokens.saturating_add(self.output_tokens);
        Tokens {
            input: self.input_tokens.saturating_sub(self.cached),
            output: self.output_tokens,
            reasoning: self.total_tokens.saturating_sub(said),
            cache_read: self.cached,
            cache_write: 0,
        }
    }
}

impl Parser {
    /// Another turn of the same conversation begins.
    pub fn begin(&mut self) {
        self.lines = Lines::default();
        let conversation = self.heard.conversation.take();
        self.heard = Heard { conversation, ..Heard::default() };
    }

    /// What the program calls the conversation.
    pub fn conversation(&self) -> Option<&str> {
        self.heard.conversation.as_deref()
    }

    /// Takes a piece of output.
    pub fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) {
        let Self { lines, heard } = self;
        lines.push(bytes, |line| heard.take(line, events));
    }

    /// Takes the end of the output: what was being said is all that there will be.
    pub fn finish(&mut self, events: &mut Vec<Event>) {
        self.heard.pause(events);
    }

    /// Whether the last line of the turn is there.
    pub fn is_over(&self) -> bool {
        self.heard.result.is_some()
    }

    /// What came of the turn.
    pub fn end(&mut self, end: &End<'_>) -> Outcome {
        let code = end.status.and_then(|status| status.code());
        let (kind, words) = match &self.heard.result {
            Some(result) if result.is_success => return Outcome::Over,
            Some(result) => (kind(code, &result.error.kind), result.error.message.as_str()),
            None => (cut(code), end.last_words.trim()),
        };
        let message = match kind {
            FaultKind::Cut => format!("Gemini CLI ended without a result. {words}"),
            FaultKind::RateLimit
            | FaultKind::Provider
            | FaultKind::Login
            | FaultKind::Turns
            | FaultKind::Budget
            | FaultKind::NotStarted => words.to_owned(),
        };
        Outcome::Broken(Fault::new(kind, message.trim_end()))
    }
}

/// Why a turn ended with an error. The exit code is what is left of the provider's status
/// in eight bits, or one of the program's own.
fn kind(code: Option<i32>, named: &str) -> FaultKind {
    let status = code.filter(|code| (144..256).contains(code)).map(|code| code + 256);
    match (named, code, status) {
        ("FatalTurnLimitedError", ..) | (_, Some(TURNS_USED_UP), _) => FaultKind::Turns,
        ("FatalAuthenticationError", ..) | (_, Some(NO_LOGIN), _) => FaultKind::Login,
        ("FatalCancellationError", ..) => FaultKind::Cut,
        (_, _, Some(429)) => FaultKind::RateLimit,
        (_, _, Some(401 | 403)) => FaultKind::Login,
        (_, _, Some(_) | None) => FaultKind::Provider,
    }
}

/// Why a turn ended without its last line.
fn cut(code: Option<i32>) -> FaultKind {
    match code {
        Some(NO_LOGIN) => FaultKind::Login,
        Some(TURNS_USED_UP) => FaultKind::Turns,
        Some(_) | None => FaultKind::Cut,
    }
}

impl Heard {
    fn take(&mut self, line: &[u8], events: &mut Vec<Event>) {
        let Ok(line) = serde_json::from_slice::<Line<'_>>(line) else {
            events.push(Event::Alive);
            return;
        };
        if line.kind == "message" && line.role == "assistant" {
            self.say(&line.content, events);
            return;
        }
        self.pause(events);
        match &*line.kind {
            "init" => self.begun(line.session_id, events),
            "tool_use" => {
                let tool = door::canonical(Vendor::Gemini, OURS, &line.tool_name);
                self.tools.insert(line.tool_id.into_owned(), tool.clone());
                events.push(Event::Tool { tool, what: line.parameters.0 });
            }
            "tool_result" => self.came_back(&line.tool_id, line.error, events),
            "result" => {
                let stats = line.stats.unwrap_or_default();
                tell_use(&stats, events);
                let error = line.error.unwrap_or_default();
                self.result = Some(LastLine { is_success: line.status == "success", error });
            }
            _ => events.push(Event::Alive),
        }
    }

    fn begun(&mut self, name: Option<String>, events: &mut Vec<Event>) {
        let name = name.filter(|name| self.conversation.as_ref() != Some(name));
        let Some(name) = name else {
            events.push(Event::Alive);
            return;
        };
        events.push(Event::Conversation(name.clone()));
        self.conversation = Some(name);
    }

    /// A piece of a message. What the agent says is only known whole when it does
    /// something else.
    fn say(&mut self, piece: &str, events: &mut Vec<Event>) {
        if self.saying.len() + piece.len() > MAX_MESSAGE_BYTES {
            self.pause(events);
        }
        self.saying.push_str(piece);
        events.push(Event::Alive);
    }

    fn pause(&mut self, events: &mut Vec<Event>) {
        if !self.saying.is_empty() {
            events.push(Event::Text(std::mem::take(&mut self.saying)));
        }
    }

    fn came_back(&mut self, id: &str, error: Option<Problem>, events: &mut Vec<Event>) {
        // Results of tools that were never called are nothing.
        let Some(tool) = self.tools.remove(id) else {
            events.push(Event::Alive);
            return;
        };
        events.push(Event::ToolOver);
        let is_denied = |error: &Problem| {
            matches!(error.kind.as_str(), "policy_violation" | "tool_not_registered")
        };
        if let Some(error) = error.filter(is_denied) {
            events.push(Event::Denied { tool, why: error.message });
        }
    }
}

/// Tells what the turn has used, model by model. Nothing at all means that nobody counted.
fn tell_use(stats: &Stats, events: &mut Vec<Event>) {
    let mut tell = |model: Option<&String>, figures: Figures| {
        let usage = Usage { tokens: figures.tokens(), cost: None };
        if usage.tokens != Tokens::default() {
            events.push(Event::Used { usage, model: model.cloned() });
        }
    };
    if stats.models.is_empty() {
        let Stats { total_tokens, input_tokens, output_tokens, cached, .. } = *stats;
        tell(None, Figures { total_tokens, input_tokens, output_tokens, cached });
    }
    stats.models.iter().for_each(|(model, figures)| tell(Some(model), *figures));
}
