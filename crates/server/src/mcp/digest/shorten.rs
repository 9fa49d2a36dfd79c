//! Making an answer short enough for its caller's context: what helps least goes first, and
//! nothing more goes once it fits. All of it is behind the link.

use legation_core::returns::{Return, SUMMARY_TOKENS, Told, summarise};
use legation_core::text::shown::clip;
use serde::Deserialize as _;
use serde_json::{Map, Value};

/// Bytes that make about one token.
const BYTES_PER_TOKEN: usize = 4;
/// Bytes of an answer that enter the caller's context.
const MAX_BYTES: usize = SUMMARY_TOKENS * BYTES_PER_TOKEN;
/// Characters of the summary that are left where not all of it fits.
const MAX_SUMMARY_CHARS: usize = 1_000;
/// Bytes that a field needs beside its name and value.
const AROUND: usize = 4;
/// Fields of an answer that go first, in order.
const FIRST: &[&str] = &["data", "votes", "findings", "artifacts"];
/// Where what the subtasks came to stands, once it is told in words.
const RESULTS: &str = "results";

/// Leaves out as much as it takes; whether anything was left out. What does not fit of the
/// subtasks is told in words instead, the most important first.
pub(super) fn shorten(told: &mut Map<String, Value>, view: &Value, handle: &str) -> bool {
    if size(told) <= MAX_BYTES {
        return false;
    }
    told.insert("shortened".to_owned(), Value::Bool(true));
    for field in FIRST {
        if size(told) > MAX_BYTES {
            told.shift_remove(*field);
        }
    }
    if size(told) > MAX_BYTES
        && let Some(Value::String(summary)) = told.get_mut("summary")
    {
        *summary = clip(summary, MAX_SUMMARY_CHARS).into_owned();
    }
    if size(told) > MAX_BYTES {
        told.shift_remove("subtasks");
        let room = MAX_BYTES.saturating_sub(size(told) + RESULTS.len() + AROUND);
        told.insert(RESULTS.to_owned(), results(view, handle, room).into());
    }
    true
}

fn size(told: &Map<String, Value>) -> usize {
    serde_json::to_string(told).map_or(0, |text| text.len())
}

/// What the subtasks came to, in so many bytes of JSON.
fn results(view: &Value, handle: &str, room: usize) -> String {
    let subtasks = view.get("subtasks").and_then(Value::as_array);
    let returned = |subtask: &Value| {
        let word = |key: &str| subtask.get(key)?.as_str();
        let label = format!("{} ({})", word("id")?, word("agent")?);
        Some((label, Return::deserialize(subtask.get("return")?).ok()?))
    };
    let returned: Vec<_> = subtasks.into_iter().flatten().filter_map(returned).collect();
    let told = returned.iter().map(|(label, returned)| Told { label, returned, handle });
    let bytes = |text: &str| Value::from(text).to_string().len();
    summarise(&told.collect::<Vec<_>>(), room, &bytes)
}
