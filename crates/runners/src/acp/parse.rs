//! What a session tells, in our words.
//!
//! Pure: updates in, events out. Words come in pieces and are told whole.

use std::collections::BTreeMap;

use legation_core::money::Usd;
use legation_core::returns::Tokens;

use super::permissions::Use;
use super::wire::{Content, Ended, ToolCall, Update};
use crate::command::Usage;
use crate::envoy::Event;

/// Tools that are remembered as under way.
const MAX_OPEN: usize = 1_000;
/// Bytes of words that are held back.
const MAX_WORDS: usize = 1 << 20;

/// A tool that is under way, with all that was said of it so far.
#[derive(Debug, Default)]
struct Open {
    call: ToolCall,
    is_told: bool,
}

/// Listens to one session.
#[derive(Debug, Default)]
pub(super) struct Listener {
    words: String,
    message: Option<String>,
    open: BTreeMap<String, Open>,
    cost: Usd,
}

impl Listener {
    /// Takes one thing that happened.
    pub(super) fn take(&mut self, update: Update, heard: &mut Vec<Event>) {
        match update {
            Update::AgentMessageChunk { content: Content::Text { text }, message } => {
                if message != self.message || self.words.len() > MAX_WORDS {
                    self.flush(heard);
                    self.message = message;
                }
                self.words.push_str(&text);
                heard.push(Event::Alive);
            }
            Update::ToolCall(call) | Update::ToolCallGoesOn(call) => self.tool(&call, heard),
            Update::Usage { used, cost } => {
                heard.extend(used.filter(|used| *used > 0).map(Event::Context));
                let dollars =
                    cost.filter(|cost| cost.currency.is_empty() || cost.currency == "USD");
                let total = dollars.and_then(|cost| Usd::from_dollars(cost.amount));
                let total = total.filter(|total| *total > self.cost);
                if let Some(total) = total {
                    let usage = Usage { tokens: Tokens::default(), cost: Some(total - self.cost) };
                    self.cost = total;
                    heard.push(Event::Used { usage, model: None });
                }
                heard.push(Event::Alive);
            }
            Update::AgentMessageChunk { content: Content::Other, .. } | Update::Other => {
                heard.push(Event::Alive);
            }
        }
    }

    /// A tool begins with the first word about it that says what it is for, and ends once.
    /// What is not said again is as it was said before.
    pub(super) fn tool(&mut self, call: &ToolCall, heard: &mut Vec<Event>) {
        self.flush(heard);
        heard.push(Event::Alive);
        if self.open.len() >= MAX_OPEN {
            self.open.clear();
        }
        let open = self.open.entry(call.tool_call_id.clone()).or_default();
        open.call.learn(call);
        let is_over = matches!(call.status.as_deref(), Some("completed" | "failed"));
        let is_thought = open.call.kind.as_deref() == Some("think");
        if !open.is_told && !is_thought && (is_over || says_what_for(&open.call)) {
            let Use { tool, what, .. } = Use::of(&open.call);
            heard.push(Event::Tool { tool, what: what.join(", ") });
            open.is_told = true;
        }
        if is_over {
            heard.extend(open.is_told.then_some(Event::ToolOver));
            self.open.remove(&call.tool_call_id);
        }
    }

    /// All that was said of a tool so far, with this on top.
    pub(super) fn known(&self, call: &ToolCall) -> ToolCall {
        let open = self.open.get(&call.tool_call_id);
        let mut known = open.map(|open| open.call.clone()).unwrap_or_default();
        known.learn(call);
        known
    }

    /// Tells the words that were held back.
    pub(super) fn flush(&mut self, heard: &mut Vec<Event>) {
        if !self.words.trim().is_empty() {
            heard.push(Event::Text(std::mem::take(&mut self.words)));
        }
        self.words.clear();
    }

    /// Takes the end of a turn.
    pub(super) fn end(&mut self, ended: &Ended, heard: &mut Vec<Event>) {
        self.flush(heard);
        self.open.clear();
        let Some(tokens) = used(ended) else { return };
        let models = ended.meta.as_ref().and_then(|meta| meta.quota.as_ref());
        let models = models.map_or(&[][..], |quota| &quota.model_usage);
        let model = match models {
            [only] if !only.model.is_empty() => Some(only.model.clone()),
            _ => None,
        };
        heard.push(Event::Used { usage: Usage { tokens, cost: None }, model });
    }
}

/// Whether it is said what a tool is used for: most agents say so only after a moment.
fn says_what_for(call: &ToolCall) -> bool {
    let has_input = call.raw_input.as_ref().and_then(|input| input.as_object());
    let has_input = has_input.is_some_and(|input| input.keys().any(|key| key != "cwd"));
    has_input || !call.locations.is_empty() && call.kind.as_deref() != Some("execute")
}

/// What a turn used; nothing where the agent says nothing, or nothing but zeros.
fn used(ended: &Ended) -> Option<Tokens> {
    let told = ended.usage.as_ref().map(|usage| {
        let sum = usage.input_tokens
            + usage.cached_read_tokens
            + usage.cached_write_tokens
            + usage.output_tokens;
        // Some count reasoning in the output and some beside it; the total tells which.
        let is_inside = usage.total_tokens == Some(sum);
        let output = if is_inside {
            usage.output_tokens.saturating_sub(usage.thought_tokens)
        } else {
            usage.output_tokens
        };
        Tokens {
            input: usage.input_tokens,
            output,
            reasoning: usage.thought_tokens,
            cache_read: usage.cached_read_tokens,
            cache_write: usage.cached_write_tokens,
        }
    });
    let elsewhere = || {
        let count = ended.meta.as_ref()?.quota.as_ref()?.token_count.as_ref()?;
        let (input, output) = (count.input_tokens, count.output_tokens);
        Some(Tokens { input, output, ..Tokens::default() })
    };
    told.or_else(elsewhere).filter(|tokens| *tokens != Tokens::default())
}
