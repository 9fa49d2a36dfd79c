//! What OpenCode says, as events: bytes in, events out, pure.
//!
//! There is no last line. A turn is over when the program has ended and the last step it
//! told of did not end in the call of a tool. Tools are told of when they have come back,
//! so that nothing is heard of it while one is at work.

use std::borrow::Cow;
use std::collections::BTreeMap;

use legation_core::money::Usd;
use legation_core::returns::Tokens;
use serde::Deserialize;

use crate::agents::Vendor;
use crate::command::Usage;
use crate::door;
use crate::envoy::{End, Event, Fault, FaultKind, Lines, Outcome};
use crate::what_for::WhatFor;

/// What it puts before the names of our tools.
const OURS: &str = "legation_";
/// How it begins to say that a tool may not be used: by a rule, by the answer to a question
/// that nobody was there for, or because it was not offered.
const DENIALS: &[&str] =
    &["The user has specified a rule", REJECTED, "Model tried to call unavailable tool"];
/// After this one it does not go on.
const REJECTED: &str = "The user rejected permission";

/// Reads the output of OpenCode, over all turns of one conversation.
#[derive(Clone, Debug, Default)]
pub struct Parser {
    lines: Lines,
    heard: Heard,
}

#[derive(Clone, Debug, Default)]
struct Heard {
    conversation: Option<String>,
    max_steps: Option<u32>,
    /// Steps that have ended.
    steps: u32,
    is_in_step: bool,
    /// Why the last step ended.
    reason: Option<String>,
    /// Whether it was told no in that step.
    is_rejected: bool,
    problem: Option<Problem>,
}

/// A line, as far as it matters.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, rename = "sessionID")]
    session: Cow<'a, str>,
    #[serde(borrow)]
    part: Part<'a>,
    error: Option<Problem>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Part<'a> {
    #[serde(borrow)]
    tool: Cow<'a, str>,
    #[serde(borrow)]
    state: State<'a>,
    text: String,
    reason: String,
    tokens: Figures,
    cost: Option<f64>,
}

/// What became of a tool.
#[derive(Default, Deserialize)]
#[serde(default)]
struct State<'a> {
    input: WhatFor,
    #[serde(borrow)]
    error: Cow<'a, str>,
}

/// Figures of one step: the input without what was cached, the output without reasoning.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Figures {
    input: u64,
    output: u64,
    reasoning: u64,
    cache: Cache,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Cache {
    read: u64,
    write: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Problem {
    name: String,
    data: Details,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Details {
    message: String,
    status_code: Option<u16>,
    response_headers: BTreeMap<String, String>,
}

impl Parser {
    /// Another turn of the same conversation begins, of so many steps at most.
    pub fn begin(&mut self, max_steps: Option<u32>) {
        self.lines = Lines::default();
        let conversation = self.heard.conversation.take();
        self.heard = Heard { conversation, max_steps, ..Heard::default() };
    }

    /// Whether all steps are used up and it wants more. The program itself only asks the
    /// model to come to an end.
    pub fn is_used_up(&self) -> bool {
        let Heard { max_steps, steps, reason, .. } = &self.heard;
        max_steps.is_some_and(|max| *steps >= max) && reason.as_deref() == Some("tool-calls")
    }

    /// What the program calls the conversation.
    pub fn conversation(&self) -> Option<&str> {
        self.heard.conversation.as_deref()
    }

    /// Whether a step is under way, in which a tool may be at work.
    pub fn is_in_step(&self) -> bool {
        self.heard.is_in_step
    }

    /// Takes a piece of output.
    pub fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) {
        let Self { lines, heard } = self;
        lines.push(bytes, |line| heard.take(line, events));
    }

    /// What came of the turn.
    pub fn end(&mut self, end: &End<'_>) -> Outcome {
        let heard = &self.heard;
        if let Some(problem) = &heard.problem {
            return Outcome::Broken(problem.fault());
        }
        if self.is_used_up() {
            let message = format!("OpenCode has used up its {} turns.", heard.steps);
            return Outcome::Broken(Fault::new(FaultKind::Turns, message));
        }
        let has_ended_well = end.status.is_some_and(|status| status.success());
        match heard.reason.as_deref().filter(|_| has_ended_well && !heard.is_in_step) {
            Some("stop" | "length" | "other") => return Outcome::Over,
            // It can be asked again, and do without.
            Some("tool-calls") if heard.is_rejected => return Outcome::Over,
            Some("content-filter" | "error") => {
                let message = "The provider ended the answer.";
                return Outcome::Broken(Fault::new(FaultKind::Provider, message));
            }
            Some(_) | None => {}
        }
        let words = end.last_words.trim();
        let message = format!("OpenCode ended in the middle. {words}");
        Outcome::Broken(Fault::new(FaultKind::Cut, message.trim_end()))
    }
}

impl Problem {
    fn fault(&self) -> Fault {
        let kind = match (self.name.as_str(), self.data.status_code) {
            ("ProviderAuthError", _) | (_, Some(401 | 403)) => FaultKind::Login,
            ("MessageAbortedError", _) => FaultKind::Cut,
            (_, Some(429 | 529)) => FaultKind::RateLimit,
            (_, Some(_) | None) => FaultKind::Provider,
        };
        let words = Some(self.data.message.as_str()).filter(|words| !words.trim().is_empty());
        let after = self.data.response_headers.get("retry-after");
        let after = after.and_then(|seconds| seconds.trim().parse::<f64>().ok());
        let retry_after = after.filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
        Fault { retry_after, ..Fault::new(kind, words.unwrap_or(&self.name)) }
    }
}

impl Heard {
    fn take(&mut self, line: &[u8], events: &mut Vec<Event>) {
        let Ok(line) = serde_json::from_slice::<Line<'_>>(line) else {
            events.push(Event::Alive);
            return;
        };
        if !line.session.is_empty() && self.conversation.as_deref() != Some(&*line.session) {
            let name = line.session.into_owned();
            events.push(Event::Conversation(name.clone()));
            self.conversation = Some(name);
        }
        match &*line.kind {
            "step_start" => {
                (self.is_in_step, self.is_rejected) = (true, false);
                events.push(Event::Alive);
            }
            "text" if !line.part.text.is_empty() => events.push(Event::Text(line.part.text)),
            "tool_use" => self.came_back(line.part, events),
            "step_finish" => self.step_over(line.part, events),
            "error" => {
                self.is_in_step = false;
                self.problem = Some(line.error.unwrap_or_default());
                events.push(Event::Alive);
            }
            _ => events.push(Event::Alive),
        }
    }

    fn came_back(&mut self, part: Part<'_>, events: &mut Vec<Event>) {
        let tool = door::canonical(Vendor::OpenCode, OURS, &part.tool);
        let State { input, error } = part.state;
        events.push(Event::Tool { tool: tool.clone(), what: input.0 });
        events.push(Event::ToolOver);
        self.is_rejected |= error.starts_with(REJECTED);
        if DENIALS.iter().any(|denial| error.starts_with(denial)) {
            events.push(Event::Denied { tool, why: error.into_owned() });
        }
    }

    fn step_over(&mut self, part: Part<'_>, events: &mut Vec<Event>) {
        let Figures { input, output, reasoning, cache } = part.tokens;
        let (cache_read, cache_write) = (cache.read, cache.write);
        let tokens = Tokens { input, output, reasoning, cache_read, cache_write };
        // A model without a price costs 0 there. That is no figure.
        let cost = part.cost.filter(|cost| *cost > 0.0).and_then(Usd::from_dollars);
        if tokens != Tokens::default() || cost.is_some() {
            events.push(Event::Used { usage: Usage { tokens, cost }, model: None });
            let context = input.saturating_add(cache_read).saturating_add(cache_write);
            events.push(Event::Context(context));
        } else {
            events.push(Event::Alive);
        }
        self.is_in_step = false;
        self.steps = self.steps.saturating_add(1);
        self.reason = Some(part.reason);
    }
}
