//! Values of options, read from what was typed.

use legation_core::config::{KEYS, Kind};
use legation_core::money::Usd;
use legation_core::text::span;
use legation_core::tree::plan::MAX_ROUNDS;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Dollars that a call may ask for at most, as many as can be configured.
const MAX_DOLLARS: f64 = 1_000_000.0;

/// One of a few names, `-` being as good as `_`.
pub(crate) fn named<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let name = Value::String(text.trim().to_lowercase().replace('-', "_"));
    serde_json::from_value(name).map_err(|problem| {
        // What serde says is "unknown variant `x`, expected one of `a`, `b`".
        let problem = problem.to_string();
        let expected = problem.split_once("expected ").map_or("another word", |(_, rest)| rest);
        format!("expected {}", expected.replace('`', ""))
    })
}

/// Levels that a tree may have.
pub(crate) fn depth(text: &str) -> Result<u32, String> {
    setting(text, "limits.maxDepth")
}

/// Agents that may run at once.
pub(crate) fn width(text: &str) -> Result<u32, String> {
    setting(text, "limits.maxConcurrentAgents")
}

/// Tokens that may be used.
pub(crate) fn tokens(text: &str) -> Result<u64, String> {
    setting(text, "limits.maxTotalTokens")
}

/// Rounds of a debate or review.
pub(crate) fn rounds(text: &str) -> Result<u32, String> {
    whole(text, 1, u64::from(MAX_ROUNDS))
}

/// A whole number in the range that a setting has.
fn setting<N: TryFrom<u64>>(text: &str, key: &str) -> Result<N, String> {
    let kind = KEYS.iter().find(|known| known.path == key).map(|known| known.kind);
    match kind {
        Some(Kind::Whole { min, max }) => whole(text, min, max),
        Some(_) | None => whole(text, 0, u64::MAX),
    }
}

/// A whole number in a range: digits and nothing else.
pub(crate) fn whole<N: TryFrom<u64>>(text: &str, min: u64, max: u64) -> Result<N, String> {
    let text = text.trim();
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|number| is_plain && (min..=max).contains(number));
    let number = number.and_then(|number: u64| N::try_from(number).ok());
    number.ok_or_else(|| format!("expected {}", Kind::Whole { min, max }))
}

/// Dollars, with or without the sign.
pub(crate) fn dollars(text: &str) -> Result<Usd, String> {
    let text = text.trim();
    let amount: Option<f64> = text.strip_prefix('$').unwrap_or(text).parse().ok();
    let amount = amount.filter(|amount| (0.0..=MAX_DOLLARS).contains(amount));
    amount
        .and_then(Usd::from_dollars)
        .ok_or_else(|| format!("expected dollars from 0 to {MAX_DOLLARS}, such as 0.50"))
}

/// Milliseconds of a span such as `90s`, `30m` or `2h`.
pub(crate) fn milliseconds(text: &str) -> Result<u64, String> {
    match span::timeout_ms(text) {
        Ok(0) => Err("expected more than no time, such as 90s, 30m or 2h".to_owned()),
        Ok(ms) => Ok(ms),
        Err(problem) => Err(problem.to_string()),
    }
}

/// Text before and after the first colon.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((kind, rest)) if !kind.trim().is_empty() && !rest.trim().is_empty() => {
            Ok((kind.trim().to_owned(), rest.trim().to_owned()))
        }
        Some(_) | None => Err("expected two words with a colon between them".to_owned()),
    }
}
