//! What Claude Code says, as events: bytes in, events out, pure.
//!
//! Tokens are told message by message as they stream; the figures of the last line make
//! up for what was missed. Its cost is that of the whole conversation, so the difference
//! to what was told before is what counts.

use std::collections::HashMap;

use legation_core::money::Usd;
use legation_core::returns::Tokens;
use serde::Deserialize;
use serde_json::Value;

use crate::agents::{Vendor, tool_name};
use crate::command::Usage;
use crate::envoy::{End, Event, Fault, FaultKind, Lines, Outcome};

/// Reads the output of Claude Code, over all turns of one conversation.
#[derive(Clone, Debug, Default)]
pub struct Parser {
    lines: Lines,
    heard: Heard,
}

#[derive(Clone, Debug, Default)]
struct Heard {
    conversation: Option<String>,
    /// What the whole conversation has cost, as far as it was told.
    told_cost: Usd,
    /// What this turn has used, as far as it was told.
    told: Tokens,
    /// What the message under way has used so far.
    message: Tokens,
    /// Tools under way, by the program's own numbers.
    tools: HashMap<String, String>,
    result: Option<LastLine>,
}

/// A line, as far as it matters.
#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    subtype: String,
    session_id: Option<String>,
    message: Option<Value>,
    event: Option<StreamEvent>,
    tool_name: Option<String>,
}

#[derive(Deserialize)]
struct StreamEvent {
    #[serde(rename = "type")]
    kind: String,
    message: Option<Begun>,
    usage: Option<Figures>,
}

#[derive(Deserialize)]
struct Begun {
    model: Option<String>,
    usage: Option<Figures>,
}

/// The last line of a turn.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct LastLine {
    subtype: String,
    is_error: bool,
    result: String,
    total_cost_usd: Option<f64>,
    usage: Figures,
    structured_output: Option<Value>,
    terminal_reason: Option<String>,
    api_error_status: Option<u16>,
    errors: Vec<Value>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Figures {
    input_tokens: u64,
    output_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
}

impl Figures {
    fn tokens(self) -> Tokens {
        Tokens {
            input: self.input_tokens,
            output: self.output_tokens,
            reasoning: 0,
            cache_read: self.cache_read_input_tokens,
            cache_write: self.cache_creation_input_tokens,
        }
    }
}

impl Parser {
    /// Another turn of the same conversation begins.
    pub fn begin(&mut self) {
        self.lines = Lines::default();
        self.heard.result = None;
        self.heard.told = Tokens::default();
        self.heard.message = Tokens::default();
        self.heard.tools.clear();
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

    /// Whether the last line of the turn is there.
    pub fn is_over(&self) -> bool {
        self.heard.result.is_some()
    }

    /// What came of the turn.
    pub fn end(&mut self, end: &End<'_>) -> Outcome {
        let Some(result) = &self.heard.result else {
            let words = end.last_words.trim();
            let message = format!("Claude Code ended without a result. {words}");
            return Outcome::Broken(Fault::new(FaultKind::Cut, message));
        };
        if !result.is_error && !result.subtype.starts_with("error") {
            return Outcome::Over;
        }
        let kind = match (result.subtype.as_str(), result.api_error_status) {
            ("error_max_turns", _) => FaultKind::Turns,
            (_, Some(429 | 529)) => FaultKind::RateLimit,
            (_, Some(401 | 403)) => FaultKind::Login,
            (_, Some(_) | None) => FaultKind::Provider,
        };
        let mut words = result.result.clone();
        if words.is_empty() {
            words = result.errors.iter().map(Value::to_string).collect::<Vec<_>>().join("; ");
        }
        if words.is_empty() {
            words = result.terminal_reason.clone().unwrap_or_else(|| result.subtype.clone());
        }
        Outcome::Broken(Fault::new(kind, words))
    }
}

impl Heard {
    fn take(&mut self, line: &[u8], events: &mut Vec<Event>) {
        let Ok(parsed) = serde_json::from_slice::<Line>(line) else {
            events.push(Event::Alive);
            return;
        };
        if let Some(name) =
            parsed.session_id.filter(|name| self.conversation.as_ref() != Some(name))
        {
            events.push(Event::Conversation(name.clone()));
            self.conversation = Some(name);
        }
        match parsed.kind.as_str() {
            "assistant" => self.said(parsed.message.as_ref(), events),
            "user" => self.came_back(parsed.message.as_ref(), events),
            "stream_event" => {
                if let Some(event) = parsed.event {
                    self.streamed(&event, events);
                }
            }
            "system" if parsed.subtype == "permission_denied" => {
                let tool =
                    tool_name(Vendor::Claude, parsed.tool_name.as_deref().unwrap_or("unknown"));
                let why = serde_json::from_slice::<Value>(line).ok();
                let why = why.as_ref().and_then(|line| line.get("message")?.as_str());
                events.push(Event::Denied { tool, why: why.unwrap_or_default().to_owned() });
            }
            "result" => self.over(line, events),
            _ => events.push(Event::Alive),
        }
    }

    /// A message of the agent: its words and the tools it calls.
    fn said(&mut self, message: Option<&Value>, events: &mut Vec<Event>) {
        let parts = message.and_then(|message| message.get("content")?.as_array());
        for part in parts.into_iter().flatten() {
            let text = |key: &str| part.get(key).and_then(Value::as_str).unwrap_or_default();
            match text("type") {
                "text" => events.push(Event::Text(text("text").to_owned())),
                "tool_use" => {
                    let tool = tool_name(Vendor::Claude, text("name"));
                    self.tools.insert(text("id").to_owned(), tool.clone());
                    events.push(Event::Tool { tool, what: what_for(part.get("input")) });
                }
                _ => events.push(Event::Alive),
            }
        }
    }

    /// Results of tools.
    fn came_back(&mut self, message: Option<&Value>, events: &mut Vec<Event>) {
        let parts = message.and_then(|message| message.get("content")?.as_array());
        for part in parts.into_iter().flatten() {
            let id = part.get("tool_use_id").and_then(Value::as_str);
            if id.is_some_and(|id| self.tools.remove(id).is_some()) {
                events.push(Event::ToolOver);
            }
        }
    }

    /// Figures as they stream: the input of a message is told at its beginning, the
    /// output, which only grows, on the way.
    fn streamed(&mut self, event: &StreamEvent, events: &mut Vec<Event>) {
        let begun = event.message.as_ref();
        let figures = match event.kind.as_str() {
            "message_start" => {
                self.message = Tokens::default();
                begun.and_then(|begun| begun.usage)
            }
            "message_delta" => event.usage,
            _ => None,
        };
        let Some(figures) = figures else {
            events.push(Event::Alive);
            return;
        };
        let now = figures.tokens().at_least(&self.message);
        let more = difference(&now, &self.message);
        self.message = now;
        self.told = self.told.plus(&more);
        let model = begun.and_then(|begun| begun.model.clone());
        events.push(Event::Used { usage: Usage { tokens: more, cost: None }, model });
        let context = now.input.saturating_add(now.cache_read).saturating_add(now.cache_write);
        events.push(Event::Context(context));
    }

    fn over(&mut self, line: &[u8], events: &mut Vec<Event>) {
        let result: LastLine = serde_json::from_slice(line).unwrap_or_default();
        let tokens = difference(&result.usage.tokens(), &self.told);
        self.told = self.told.plus(&tokens);
        let total = result.total_cost_usd.and_then(Usd::from_dollars);
        let cost = total.map(|total| total.saturating_sub(self.told_cost));
        self.told_cost = total.unwrap_or(self.told_cost).max(self.told_cost);
        events.push(Event::Used { usage: Usage { tokens, cost }, model: None });
        if let Some(value) = &result.structured_output {
            events.push(Event::Text(value.to_string()));
        }
        self.result = Some(result);
    }
}

/// How much more the first is, kind by kind.
fn difference(all: &Tokens, told: &Tokens) -> Tokens {
    Tokens {
        input: all.input.saturating_sub(told.input),
        output: all.output.saturating_sub(told.output),
        reasoning: all.reasoning.saturating_sub(told.reasoning),
        cache_read: all.cache_read.saturating_sub(told.cache_read),
        cache_write: all.cache_write.saturating_sub(told.cache_write),
    }
}

/// What a tool is used for, in the words of its first argument that is text.
fn what_for(input: Option<&Value>) -> String {
    let input = input.and_then(Value::as_object);
    let first = input.and_then(|input| input.values().find_map(Value::as_str));
    first.unwrap_or_default().to_owned()
}
