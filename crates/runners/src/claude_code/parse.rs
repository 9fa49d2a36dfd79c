//! What Claude Code says, as events: bytes in, events out, pure.
//!
//! Tokens are told message by message as they stream. The figures of the last line make up
//! for what was missed: those by model and the cost are of the whole conversation, the
//! others of the turn, and a turn that was interrupted says nothing was used. So what was
//! told is kept, and only the difference is told.

mod line;

use std::collections::{BTreeMap, HashSet};

use legation_core::money::Usd;
use legation_core::returns::Tokens;

use self::line::{
    Figures, First, Head, LastLine, Part, Refused, Retry, Spoken, StreamEvent, Streamed,
};
use crate::agents::{Vendor, tool_name};
use crate::command::Usage;
use crate::envoy::{End, Event, Fault, FaultKind, Lines, Outcome};

/// Tools under way that are remembered; a program with more has lost count itself.
const MAX_OPEN_TOOLS: usize = 1000;
/// Milliseconds from which on a wait before the next try is one that the provider asked for.
const ASKED_TO_WAIT_MS: f64 = 10_000.0;

/// Reads the output of Claude Code, over all turns of one conversation.
#[derive(Clone, Debug, Default)]
pub struct Parser {
    lines: Lines,
    heard: Heard,
}

#[derive(Clone, Debug, Default)]
struct Heard {
    conversation: Option<String>,
    /// What it has at all; empty until it has said so.
    offered: HashSet<String>,
    /// What the whole conversation has cost and used, as far as it was told.
    told_cost: Usd,
    told: Tokens,
    told_by_model: BTreeMap<String, Tokens>,
    /// What was told before this turn.
    told_before: Tokens,
    /// What the message under way has used so far, and who writes it.
    message: Tokens,
    model: Option<String>,
    /// Tools under way, by the program's own numbers.
    tools: HashSet<String>,
    /// How long it waited last before it asked the provider again.
    waited_ms: f64,
    result: Option<LastLine>,
}

impl Parser {
    /// Another turn of the same conversation begins.
    pub fn begin(&mut self) {
        let heard = &mut self.heard;
        heard.result = None;
        heard.told_before = heard.told;
        heard.message = Tokens::default();
        heard.waited_ms = 0.0;
        heard.tools.clear();
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

    /// What came of the turn. A good exit code proves nothing: only a result does.
    pub fn end(&mut self, end: &End<'_>) -> Outcome {
        let Some(result) = &self.heard.result else {
            let words = end.last_words.trim();
            let message = format!("Claude Code ended without a result. {words}");
            return Outcome::Broken(Fault::new(FaultKind::Cut, message));
        };
        // An error of the provider calls itself a success in `subtype`.
        if !result.is_error && !result.subtype.starts_with("error") {
            return Outcome::Over;
        }
        let kind = match (result.subtype.as_str(), result.api_error_status) {
            ("error_max_turns", _) => FaultKind::Turns,
            ("error_max_budget_usd", _) => FaultKind::Budget,
            (_, Some(429 | 529)) => FaultKind::RateLimit,
            (_, Some(401 | 403)) => FaultKind::Login,
            (_, Some(_) | None) => FaultKind::Provider,
        };
        let waited_ms = self.heard.waited_ms;
        let is_asked = kind == FaultKind::RateLimit && waited_ms >= ASKED_TO_WAIT_MS;
        let retry_after = is_asked.then_some(waited_ms / 1000.0);
        Outcome::Broken(Fault { retry_after, ..Fault::new(kind, result.words()) })
    }
}

impl LastLine {
    /// Why it went wrong.
    fn words(&self) -> String {
        let errors = self.errors.iter().map(|error| match error.as_str() {
            Some(words) => words.to_owned(),
            None => error.to_string(),
        });
        let errors = errors.collect::<Vec<_>>().join("; ");
        let result = self.result.as_deref().unwrap_or_default();
        let reason = self.terminal_reason.as_ref().unwrap_or(&self.subtype);
        let words = [result, &errors, reason].into_iter().find(|words| !words.is_empty());
        words.unwrap_or_default().to_owned()
    }
}

impl Heard {
    fn take(&mut self, line: &[u8], events: &mut Vec<Event>) {
        let before = events.len();
        if let Ok(head) = serde_json::from_slice::<Head<'_>>(line) {
            if let Some(name) = head.session_id.as_deref() {
                self.converse(name, events);
            }
            match (head.kind.as_ref(), head.subtype.as_ref()) {
                ("assistant", _) => self.said(line, events),
                ("user", _) => self.came_back(line, events),
                ("stream_event", _) => self.streamed(line, events),
                ("result", _) => self.over(line, events),
                ("system", "init") => self.began(line),
                ("system", "permission_denied") => refused(line, events),
                ("system", "api_retry") => self.asked_again(line),
                _ => {}
            }
        }
        if events.len() == before {
            events.push(Event::Alive);
        }
    }

    fn converse(&mut self, name: &str, events: &mut Vec<Event>) {
        if self.conversation.as_deref() != Some(name) {
            events.push(Event::Conversation(name.to_owned()));
            self.conversation = Some(name.to_owned());
        }
    }

    fn began(&mut self, line: &[u8]) {
        if let Ok(first) = serde_json::from_slice::<First>(line) {
            self.offered = first.tools.into_iter().collect();
        }
    }

    fn asked_again(&mut self, line: &[u8]) {
        if let Ok(retry) = serde_json::from_slice::<Retry>(line) {
            self.waited_ms = retry.retry_delay_ms;
        }
    }

    /// A message of the agent: its words and the tools it calls.
    fn said(&mut self, line: &[u8], events: &mut Vec<Event>) {
        let Ok(spoken) = serde_json::from_slice::<Spoken<'_>>(line) else { return };
        let is_own = spoken.parent_tool_use_id.is_none();
        for part in spoken.message.content.0 {
            match part.kind.as_ref() {
                // Words of others are no answer of the agent.
                "text" if is_own => events.push(Event::Text(part.text.into_owned())),
                "tool_use" => self.calls(&part, events),
                _ => {}
            }
        }
    }

    fn calls(&mut self, part: &Part<'_>, events: &mut Vec<Event>) {
        let tool = tool_name(Vendor::Claude, &part.name);
        if !self.offered.is_empty() && !self.offered.contains(part.name.as_ref()) {
            let why = format!("Claude Code was not given `{}`", part.name);
            events.push(Event::Denied { tool, why });
            return;
        }
        if self.tools.len() < MAX_OPEN_TOOLS && self.tools.insert(part.id.as_ref().to_owned()) {
            events.push(Event::Tool { tool, what: part.input.0.clone() });
        }
    }

    /// Results of tools. Only those of tools that were called count, and only once.
    fn came_back(&mut self, line: &[u8], events: &mut Vec<Event>) {
        let Ok(spoken) = serde_json::from_slice::<Spoken<'_>>(line) else { return };
        for part in spoken.message.content.0 {
            if self.tools.remove(part.tool_use_id.as_ref()) {
                events.push(Event::ToolOver);
            }
        }
    }

    /// Figures as they stream: the input of a message is told at its beginning, the
    /// output, which only grows, on the way.
    fn streamed(&mut self, line: &[u8], events: &mut Vec<Event>) {
        let Ok(Streamed { event }) = serde_json::from_slice::<Streamed<'_>>(line) else { return };
        let Some(figures) = self.figures(&event) else { return };
        let now = figures.tokens().at_least(&self.message);
        let more = now.minus(&self.message);
        self.message = now;
        self.use_up(more, None, events);
        let context = now.input.saturating_add(now.cache_read).saturating_add(now.cache_write);
        events.push(Event::Context(context));
    }

    fn figures(&mut self, event: &StreamEvent<'_>) -> Option<Figures> {
        match event.kind.as_ref() {
            "message_start" => {
                let begun = event.message.as_ref()?;
                self.message = Tokens::default();
                self.model = begun.model.as_deref().map(str::to_owned);
                begun.usage
            }
            "message_delta" => event.usage,
            _ => None,
        }
    }

    /// Tells what was used, if anything was.
    fn use_up(&mut self, tokens: Tokens, cost: Option<Usd>, events: &mut Vec<Event>) {
        if tokens == Tokens::default() && cost.is_none() {
            return;
        }
        self.told = self.told.plus(&tokens);
        if let Some(model) = &self.model {
            let so_far = self.told_by_model.entry(model.clone()).or_default();
            *so_far = so_far.plus(&tokens);
        }
        let model = self.model.clone();
        events.push(Event::Used { usage: Usage { tokens, cost }, model });
    }

    fn over(&mut self, line: &[u8], events: &mut Vec<Event>) {
        let result = serde_json::from_slice::<LastLine>(line).unwrap_or_else(|problem| LastLine {
            is_error: true,
            result: Some(format!("The result of Claude Code cannot be read: {problem}")),
            ..LastLine::default()
        });
        let by_models = result.models.values().map(|figures| figures.tokens());
        let by_models = by_models.fold(Tokens::default(), |sum, tokens| sum.plus(&tokens));
        let all = by_models.at_least(&self.told_before.plus(&result.usage.tokens()));
        let tokens = all.minus(&self.told);
        let total = result.total_cost_usd.and_then(Usd::from_dollars).unwrap_or_default();
        // A turn that was interrupted says that it cost nothing; that is not known.
        let cost = Some(total.saturating_sub(self.told_cost)).filter(|cost| *cost > Usd::default());
        self.told_cost = total.max(self.told_cost);
        if tokens != Tokens::default() {
            self.model = self.missed(&result);
        }
        self.use_up(tokens, cost, events);
        self.result = Some(result);
    }

    /// The model of which most was not told on the way.
    fn missed(&self, result: &LastLine) -> Option<String> {
        let missed = result.models.iter().map(|(name, figures)| {
            let told = self.told_by_model.get(name).copied().unwrap_or_default();
            (figures.tokens().minus(&told).counted(), name)
        });
        missed.max().map(|(_, name)| name.clone())
    }
}

fn refused(line: &[u8], events: &mut Vec<Event>) {
    if let Ok(refused) = serde_json::from_slice::<Refused>(line) {
        let tool = tool_name(Vendor::Claude, &refused.tool_name);
        events.push(Event::Denied { tool, why: refused.message });
    }
}
