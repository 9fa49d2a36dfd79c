//! Making an answer short enough for its caller's context: what helps least goes first, and
//! nothing more goes once it fits. All of it is behind the link.

use std::cmp::Reverse;

use legation_core::text::shown::clip;
use serde_json::{Map, Value, json};

/// Bytes of an answer that enter the caller's context: about two thousand tokens.
const MAX_BYTES: usize = 8_000;
/// Characters of each of a subtask's texts that are left where not all of them fit.
const MAX_CHARS: usize = 400;
/// Characters of the summary that are left where not all of it fits.
const MAX_SUMMARY_CHARS: usize = 1_000;
/// Bytes that a field needs beside its name and value.
const AROUND: usize = 4;
/// Fields of an answer that go first, in order.
const FIRST: &[&str] = &["data", "votes", "findings", "artifacts"];
/// Fields of a subtask that go then, in order.
const THEN: &[&str] = &[
    "filesChanged",
    "artifacts",
    "costUsd",
    "denied",
    "next_steps",
    "downgraded",
    "summary",
    "errors",
];

/// Leaves out as much as it takes; whether anything was left out.
pub(super) fn shorten(told: &mut Map<String, Value>) -> bool {
    if size(told) <= MAX_BYTES {
        return false;
    }
    told.insert("shortened".to_owned(), Value::Bool(true));
    let mut excess = size(told).saturating_sub(MAX_BYTES);
    for field in FIRST {
        leave_out(told, field, &mut excess);
    }
    if let Some(summary) = told.get_mut("summary") {
        clip_texts(summary, MAX_SUMMARY_CHARS, &mut excess);
    }
    if let Some(subtasks) = told.get_mut("subtasks").and_then(Value::as_array_mut) {
        for subtask in subtasks.iter_mut() {
            clip_texts(subtask, MAX_CHARS, &mut excess);
        }
        for field in THEN {
            leave_out_of(subtasks, field, &mut excess);
        }
        if excess > 0 {
            let count = subtasks.len();
            *subtasks = vec![json!(format!("{count} entries are in the linked resource"))];
        }
    }
    true
}

fn size(told: &Map<String, Value>) -> usize {
    serde_json::to_string(told).map_or(0, |text| text.len())
}

/// Takes a field out, if there is still something to save.
fn leave_out(of: &mut Map<String, Value>, field: &str, excess: &mut usize) {
    if *excess > 0
        && let Some(value) = of.shift_remove(field)
    {
        *excess = excess.saturating_sub(value.to_string().len() + field.len() + AROUND);
    }
}

/// Takes a field out of subtasks, where it is longest first.
fn leave_out_of(subtasks: &mut [Value], field: &str, excess: &mut usize) {
    if *excess == 0 {
        return;
    }
    let objects = subtasks.iter_mut().filter_map(Value::as_object_mut);
    let sized = objects.filter_map(|it| Some((it.get(field)?.to_string().len(), it)));
    let mut sized: Vec<(usize, &mut Map<String, Value>)> = sized.collect();
    sized.sort_by_key(|(size, _)| Reverse(*size));
    for (_, subtask) in sized {
        leave_out(subtask, field, excess);
    }
}

/// Cuts long texts off, as long as there is something to save.
fn clip_texts(value: &mut Value, max_chars: usize, excess: &mut usize) {
    match value {
        _ if *excess == 0 => {}
        Value::String(text) => {
            let short = clip(text, max_chars).into_owned();
            *excess = excess.saturating_sub(text.len().saturating_sub(short.len()));
            *text = short;
        }
        Value::Array(list) => {
            list.iter_mut().for_each(|item| clip_texts(item, max_chars, excess));
        }
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| clip_texts(field, max_chars, excess));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
