//! Figures as people read them.

use jiff::Timestamp;
use legation_core::text::span;
use legation_core::tree::rejection::separated;
use serde_json::Value;

/// Characters of a bar.
const BAR: u64 = 10;

/// The text of a field; empty where there is none.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The entries of a field.
pub(crate) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A subtask's id as people need it: of one that was made from the task, its end. Commands
/// that take a subtask take that, too.
pub(crate) fn short(id: &str) -> &str {
    let made = id.strip_prefix("task-").and_then(|rest| rest.split_once('-'));
    made.map(|(_, end)| end).filter(|end| end.starts_with("sub-")).unwrap_or(id)
}

/// What answers a subtask that waits for an approval.
pub(crate) fn approve(delegation: &str, subtask: &str) -> String {
    format!("legation approve {delegation} {}", short(subtask))
}

/// A number of tokens.
pub(crate) fn tokens(count: u64) -> String {
    format!("{} token{}", separated(count), if count == 1 { "" } else { "s" })
}

/// The tokens that count, of those by kind.
pub(crate) fn counted(used: &Value) -> u64 {
    let of = |key: &str| used.get(key).and_then(Value::as_u64).unwrap_or(0);
    ["input", "output", "reasoning", "cacheWrite"].map(of).iter().sum()
}

/// Dollars to the cent, and further where cents say nothing.
pub(crate) fn dollars(amount: f64) -> String {
    if amount > 0.0 && amount < 0.01 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}

/// What something cost, or that nobody knows.
pub(crate) fn cost(amount: Option<f64>) -> String {
    amount.map_or_else(|| "cost unknown".to_owned(), dollars)
}

/// What something used. Where no token was told of and no cost either, nothing is known:
/// a program that tells nothing has not used nothing.
pub(crate) fn used(count: u64, amount: Option<f64>) -> Vec<String> {
    match (count, amount) {
        (0, None) => vec!["usage unknown".to_owned()],
        (_, Some(_)) | (1.., None) => vec![tokens(count), cost(amount)],
    }
}

/// A moment to the minute, from its stamp.
pub(crate) fn moment(stamp: &str) -> Option<String> {
    let at: Timestamp = stamp.parse().ok()?;
    Some(at.strftime("%Y-%m-%d %H:%MZ").to_string())
}

/// A span of time: what is under a minute to the tenth.
pub(crate) fn time(ms: u64) -> String {
    span::show_ms(ms)
}

/// A span of time that goes on, always in the same form.
pub(crate) fn ticking(ms: u64) -> String {
    match ms {
        ..60_000 => format!("{}.{}s", ms / 1000, ms % 1000 / 100),
        60_000.. => span::show_ms(ms),
    }
}

/// A bar for what is done of the whole.
pub(crate) fn bar(done: u64, total: u64) -> String {
    let full = done.min(total).saturating_mul(BAR).checked_div(total).unwrap_or(0);
    let full = usize::try_from(full).unwrap_or(0);
    let rest = usize::try_from(BAR).unwrap_or(0).saturating_sub(full);
    format!("[{}{}]", "#".repeat(full), ".".repeat(rest))
}
