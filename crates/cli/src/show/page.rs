//! Text for a screen of 80 columns.

use legation_core::text::shown::visible;

/// Columns a line may have.
pub(crate) const WIDTH: usize = 80;

/// Text from a file on one line, with nothing in it that a terminal would obey.
pub(crate) fn tame(text: &str) -> String {
    visible(&text.replace(['\n', '\r', '\t'], " ")).into_owned()
}

/// The text in as many lines as it needs, each ended; all but the first begin with `indent`.
pub(crate) fn wrapped(text: &str, indent: &str) -> String {
    let mut page = String::new();
    let text = tame(text);
    let start = text.len() - text.trim_start().len();
    let mut line = text.get(..start).unwrap_or_default().to_owned();
    let mut empty = true;
    for word in text.split_whitespace() {
        let length = line.chars().count() + usize::from(!empty) + word.chars().count();
        if !empty && length > WIDTH {
            page.push_str(&line);
            page.push('\n');
            line = indent.to_owned();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    page + &line + "\n"
}

/// A row of a table: columns that are kept as they are, and a last one in as many lines as
/// it needs.
pub(crate) fn row(columns: &str, rest: &str) -> String {
    let indent = " ".repeat(columns.chars().count());
    let lines = wrapped(&format!("{indent}{rest}"), &indent);
    let first = lines.strip_prefix(&indent).unwrap_or(&lines);
    format!("{columns}{first}")
}

/// The beginning of a text that fits into so many columns.
pub(crate) fn clipped(text: &str, columns: usize) -> String {
    let text = tame(text);
    match text.char_indices().nth(columns) {
        Some(_) => {
            let kept = text.chars().take(columns.saturating_sub(1));
            kept.chain(['…']).collect()
        }
        None => text,
    }
}

/// A number of things: `1 error`, `2 errors`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
