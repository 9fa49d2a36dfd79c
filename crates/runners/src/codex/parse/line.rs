//! The lines of Codex, as far as they matter. What does not is skipped over, not kept.

use std::borrow::Cow;

use legation_core::returns::Tokens;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
pub(super) struct Line<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Cow<'a, str>,
    #[serde(default, borrow)]
    pub(super) thread_id: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    pub(super) item: Option<Item<'a>>,
    #[serde(default)]
    pub(super) usage: Option<Figures>,
    #[serde(default)]
    pub(super) message: Option<String>,
    #[serde(default)]
    pub(super) error: Option<Failure>,
}

/// Something that Codex does or says.
#[derive(Deserialize)]
pub(super) struct Item<'a> {
    #[serde(default, borrow)]
    pub(super) id: Cow<'a, str>,
    #[serde(rename = "type", default, borrow)]
    pub(super) kind: Cow<'a, str>,
    #[serde(default, borrow)]
    pub(super) status: Cow<'a, str>,
    #[serde(default, borrow)]
    pub(super) text: Cow<'a, str>,
    #[serde(default, borrow)]
    pub(super) command: Cow<'a, str>,
    #[serde(default, borrow)]
    pub(super) server: Cow<'a, str>,
    #[serde(default, borrow)]
    pub(super) tool: Cow<'a, str>,
    #[serde(default, borrow)]
    pub(super) query: Cow<'a, str>,
    #[serde(default)]
    pub(super) arguments: Value,
    #[serde(default)]
    pub(super) changes: Vec<Change>,
}

#[derive(Deserialize)]
pub(super) struct Change {
    #[serde(default)]
    pub(super) path: String,
}

#[derive(Deserialize)]
pub(super) struct Failure {
    #[serde(default)]
    pub(super) message: String,
}

/// A line of the record that Codex keeps of a thread.
#[derive(Deserialize)]
pub(super) struct Noted<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) payload: Payload<'a>,
}

#[derive(Deserialize)]
pub(super) struct Payload<'a> {
    /// Whose figures these are.
    #[serde(default, borrow)]
    pub(super) thread_id: Option<Cow<'a, str>>,
    /// What the last answer of the model has used.
    #[serde(default)]
    pub(super) usage: Option<Figures>,
    #[serde(default)]
    pub(super) thread_token_usage: Option<Figures>,
    #[serde(default, borrow)]
    pub(super) model: Option<Cow<'a, str>>,
}

/// What was used: by the whole thread, or by one answer.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Figures {
    input_tokens: u64,
    cached_input_tokens: u64,
    cache_write_input_tokens: u64,
    output_tokens: u64,
    reasoning_output_tokens: u64,
}

impl Figures {
    /// Everything that went in, and so was in the context.
    pub(super) fn context(self) -> u64 {
        self.input_tokens
    }

    /// Codex counts what came from a cache, or went into one, as input too, and reasoning
    /// as output; here each is counted once.
    pub(super) fn tokens(self) -> Tokens {
        let cache_read = self.cached_input_tokens.min(self.input_tokens);
        let fresh = self.input_tokens - cache_read;
        let cache_write = self.cache_write_input_tokens.min(fresh);
        let reasoning = self.reasoning_output_tokens.min(self.output_tokens);
        Tokens {
            input: fresh - cache_write,
            output: self.output_tokens - reasoning,
            reasoning,
            cache_read,
            cache_write,
        }
    }
}
