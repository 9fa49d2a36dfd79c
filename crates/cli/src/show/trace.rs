//! A trace as a waterfall: each attempt a line, its place in time a bar.

use std::fmt::Write as _;

use legation_core::tree::view::Span;

use super::figures::time;
use crate::page::{clipped, width};

/// Columns of the bars.
const BAR: u64 = 32;
/// Columns of the names.
const NAME: usize = 26;

/// The attempts of a delegation, in the order they started.
pub(crate) fn page(spans: &[Span]) -> String {
    if spans.is_empty() {
        return "Nothing has started yet.\n".to_owned();
    }
    let end = |span: &Span| span.offset_ms.saturating_add(span.duration_ms);
    let whole = spans.iter().map(end).max().unwrap_or(0).max(1);
    let top = spans.iter().map(|span| span.depth).min().unwrap_or(0);
    let mut page = format!("{:NAME$}  0{:>width$}\n", "", time(whole), width = 31);
    for span in spans {
        let indent = usize::try_from(span.depth.saturating_sub(top)).unwrap_or(0) * 2;
        let again =
            if span.attempt > 0 { format!(" #{}", span.attempt + 1) } else { String::new() };
        let name = format!("{:indent$}{} {}{again}", "", span.agent, span.subtask_id);
        let line = format!(
            "{:NAME$}  {}  {} {}",
            clipped(&name, NAME),
            bar(span, whole),
            time(span.duration_ms),
            span.status
        );
        // Writing to a `String` cannot fail.
        let _ = writeln!(page, "{}", clipped(&line, width()));
    }
    page
}

/// The place of a span in the whole; even the shortest can be seen.
fn bar(span: &Span, whole: u64) -> String {
    let column = |ms: u64| ms.saturating_mul(BAR) / whole;
    let start = column(span.offset_ms).min(BAR - 1);
    let end = column(span.offset_ms.saturating_add(span.duration_ms)).clamp(start + 1, BAR);
    let part = |columns: u64, with: &str| with.repeat(usize::try_from(columns).unwrap_or(0));
    format!("{}{}{}", part(start, "·"), part(end - start, "█"), part(BAR - end, "·"))
}
