//! A trace as a waterfall: each attempt a line, its place in time a bar.

use std::fmt::Write as _;

use serde_json::Value;

use super::figures::{short, text, time};
use crate::page::{clipped, width};

/// Columns of the bars.
const BAR: u64 = 32;
/// Columns of the names.
const NAME: usize = 26;

/// The attempts of a delegation, in the order they started.
pub(crate) fn page(spans: &[Value]) -> String {
    if spans.is_empty() {
        return "Nothing has started yet.\n".to_owned();
    }
    let whole = spans.iter().map(|span| extent(span).1).max().unwrap_or(0).max(1);
    let top = spans.iter().map(|span| number(span, "depth")).min().unwrap_or(0);
    let mut page = format!("{:NAME$}  0{:>width$}\n", "", time(whole), width = 31);
    for span in spans {
        let depth = number(span, "depth").saturating_sub(top);
        let indent = usize::try_from(depth).unwrap_or(0) * 2;
        let again = match number(span, "attempt") {
            0 => String::new(),
            before => format!(" #{}", before.saturating_add(1)),
        };
        let (agent, subtask) = (text(span, "agent"), short(text(span, "subtaskId")));
        let name = format!("{:indent$}{agent} {subtask}{again}", "");
        let line = format!(
            "{:NAME$}  {}  {} {}",
            clipped(&name, NAME),
            bar(span, whole),
            time(number(span, "durationMs")),
            text(span, "status")
        );
        // Writing to a `String` cannot fail.
        let _ = writeln!(page, "{}", clipped(&line, width()));
    }
    page
}

/// From when to when, in milliseconds from the start of the trace.
fn extent(span: &Value) -> (u64, u64) {
    let start = number(span, "offsetMs");
    (start, start.saturating_add(number(span, "durationMs")))
}

fn number(span: &Value, key: &str) -> u64 {
    span.get(key).and_then(Value::as_u64).unwrap_or(0)
}

/// The place of a span in the whole; even the shortest can be seen.
fn bar(span: &Value, whole: u64) -> String {
    let column = |ms: u64| ms.saturating_mul(BAR) / whole;
    let (start, end) = extent(span);
    let start = column(start).min(BAR - 1);
    let end = column(end).clamp(start + 1, BAR);
    let part = |columns: u64, with: &str| with.repeat(usize::try_from(columns).unwrap_or(0));
    format!("{}{}{}", part(start, "·"), part(end - start, "█"), part(BAR - end, "·"))
}
