//! One line of output: a report, text, or a report nobody should believe.

use legation_core::money::Usd;
use legation_core::returns::Tokens;
use legation_core::text::shown::{clip, visible};
use memchr::memmem;
use serde_json::{Map, Value};

use super::{Progress, Usage};

/// Tokens, or steps, that one line may name; more is absurd.
const MAX_COUNT: u64 = 1_000_000_000_000;

/// Characters of `lastAction` that are kept.
const MAX_ACTION_CHARS: usize = 200;

/// What a line is.
#[derive(Debug)]
pub(super) enum Line {
    /// No report.
    Text,
    /// A report with something in it.
    Report {
        /// What was used in addition.
        used: Option<Usage>,
        /// How far it is.
        progress: Option<Progress>,
    },
    /// A report with figures that cannot be, so none of it counts.
    Absurd(String),
}

impl Line {
    /// Reads a whole line.
    pub(super) fn read(line: &[u8]) -> Self {
        // Most lines are none, and looking for a word is cheap.
        let has = |word: &str| memmem::find(line, word.as_bytes()).is_some();
        if !has("\"usage\"") && !has("\"progress\"") {
            return Self::Text;
        }
        let Ok(object) = serde_json::from_str(&String::from_utf8_lossy(line)) else {
            return Self::Text;
        };
        Self::of(&object)
    }

    fn of(object: &Map<String, Value>) -> Self {
        let part = |key: &str| object.get(key).and_then(Value::as_object);
        let (usage, progress) = (part("usage"), part("progress"));
        if object.contains_key("status") || (usage.is_none() && progress.is_none()) {
            return Self::Text;
        }
        let action = object.get("lastAction").and_then(Value::as_str).unwrap_or_default();
        let read = || {
            let used = usage.map(used).transpose()?;
            let progress = progress.map(|steps| steps_in(steps, action)).transpose()?;
            Ok(Self::Report { used, progress })
        };
        read().unwrap_or_else(Self::Absurd)
    }
}

fn used(usage: &Map<String, Value>) -> Result<Usage, String> {
    let tokens = Tokens {
        input: count(usage, "input")?,
        output: count(usage, "output")?,
        reasoning: count(usage, "reasoning")?,
        cache_read: count(usage, "cacheRead")?,
        cache_write: count(usage, "cacheWrite")?,
    };
    let cost = match usage.get("costUsd") {
        None | Some(Value::Null) => None,
        Some(value) => {
            let amount = value.as_f64().and_then(Usd::from_dollars);
            Some(amount.ok_or_else(|| absurd("costUsd", value, "an amount of US dollars"))?)
        }
    };
    Ok(Usage { tokens, cost })
}

fn steps_in(steps: &Map<String, Value>, action: &str) -> Result<Progress, String> {
    let last_action = clip(&visible(action), MAX_ACTION_CHARS).into_owned();
    Ok(Progress { current: count(steps, "current")?, total: count(steps, "total")?, last_action })
}

/// A figure; nothing is none.
fn count(object: &Map<String, Value>, key: &str) -> Result<u64, String> {
    let value = match object.get(key) {
        None | Some(Value::Null) => return Ok(0),
        Some(value) => value,
    };
    let whole = |number: f64| (number.fract() == 0.0 && number >= 0.0).then_some(number as u64);
    let number = value.as_u64().or_else(|| value.as_f64().and_then(whole));
    let number = number.filter(|number| *number <= MAX_COUNT);
    number.ok_or_else(|| absurd(key, value, &format!("a whole number from 0 to {MAX_COUNT}")))
}

fn absurd(key: &str, value: &Value, wanted: &str) -> String {
    let shown = value.to_string();
    format!("`{key}` is {}, which is not {wanted}; the line was ignored", clip(&shown, 40))
}
