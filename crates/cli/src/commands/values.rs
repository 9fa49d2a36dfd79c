//! Values of options, read from what was typed.

use legation_core::money::Usd;
use legation_core::text::span;
use serde::de::DeserializeOwned;
use serde_json::Value;

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

/// Dollars, with or without the sign.
pub(crate) fn dollars(text: &str) -> Result<Usd, String> {
    let text = text.trim();
    let amount = text.strip_prefix('$').unwrap_or(text).parse().ok();
    amount.and_then(Usd::from_dollars).ok_or_else(|| "expected dollars such as 0.50".to_owned())
}

/// Milliseconds of a span such as `90s`, `30m` or `2h`.
pub(crate) fn milliseconds(text: &str) -> Result<u64, String> {
    span::timeout_ms(text).map_err(|problem| problem.to_string())
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
