//! Holding what children returned to what may enter their parent's context.
//!
//! All of it together counts: the result and every subtask's return, with what lies below.
//! What matters most stays: how it went, in words, before what was made, and that before
//! data. Text is cut, lists lose their ends, and data that does not fit is left out whole:
//! half of it would be no JSON, or another answer.

use serde_json::{Map, Value, json};

use super::harmless::{for_context, harmless};
use super::summarise::SUMMARY_TOKENS;
use crate::text::shown::clip;

/// Characters that make about one token.
const CHARS_PER_TOKEN: usize = 4;
/// Characters of what was returned that enter the parent's context.
const MAX_CHARS: usize = SUMMARY_TOKENS * CHARS_PER_TOKEN;

/// What is returned, the most important first: of the result, or of each subtask.
const PARTS: [&str; 14] = [
    "/result/summary",
    "/return/summary",
    "/return/errors",
    "/failure",
    "/result/artifacts",
    "/return/artifacts",
    "/return/next_steps",
    "/result/data",
    "/return/data",
    "/result/findings",
    "/result/votes",
    "/result/history",
    "/raw",
    "/delegations",
];
/// Parts that are told whole or not at all.
const WHOLE: [&str; 2] = ["/result/data", "/return/data"];
/// Where the delegations below a subtask stand.
const BELOW: &str = "/delegations";
/// What is left of a delegation below, where not all of it fits.
const TOLD_BELOW: [&str; 3] = ["delegationId", "title", "status"];

/// A delegation as the agent that asked for it reads it: neutralised, and no more than fits.
/// Where something is left out, `shortened` says how much, and where all of it is.
pub fn told_to_parent(view: Value) -> Value {
    let mut view = harmless(view);
    let before = returned(&view);
    if before <= MAX_CHARS {
        return for_context(view);
    }
    let around = before.saturating_sub(PARTS.iter().map(|part| size_of_all(&view, part)).sum());
    if around > MAX_CHARS / 2 {
        // It is the runtime's own, and stands in the subtask as well.
        for at in places(&view, "/return") {
            let returned = view.pointer_mut(&at).and_then(Value::as_object_mut);
            returned.map(|returned| returned.shift_remove("metadata"));
        }
    }
    let parts: usize = PARTS.iter().map(|part| size_of_all(&view, part)).sum();
    let empty: usize = PARTS.iter().map(|part| least(part) * places(&view, part).len()).sum();
    let around = returned(&view).saturating_sub(parts);
    let mut left = MAX_CHARS.saturating_sub(around + empty);
    for part in PARTS {
        left = left.saturating_sub(hold(&mut view, part, left));
    }
    let (id, cut) = (view.get("delegationId").cloned(), before.saturating_sub(returned(&view)));
    if let (Some(view), Some(Value::String(id))) = (view.as_object_mut(), id) {
        let note = format!("{cut} characters left out; all of it: legation status {id} --full");
        view.insert("shortened".to_owned(), note.into());
    }
    for_context(view)
}

/// Characters of everything that was returned.
fn returned(view: &Value) -> usize {
    let whole = ["/result", "/return", "/failure", "/raw", BELOW];
    whole.iter().map(|part| size_of_all(view, part)).sum()
}

/// Characters of a value as JSON.
fn size(value: &Value) -> usize {
    value.to_string().chars().count()
}

fn size_of_all(view: &Value, part: &str) -> usize {
    places(view, part).iter().filter_map(|at| view.pointer(at)).map(size).sum()
}

/// Where a part stands: once in the result, or in each subtask that has it.
fn places(view: &Value, part: &str) -> Vec<String> {
    let subtasks = view.get("subtasks").and_then(Value::as_array).map_or(0, Vec::len);
    let all = if part.starts_with("/result") {
        vec![part.to_owned()]
    } else {
        (0..subtasks).map(|no| format!("/subtasks/{no}{part}")).collect()
    };
    all.into_iter().filter(|at| view.pointer(at).is_some_and(|it| !it.is_null())).collect()
}

/// Characters that a part takes even with nothing in it: `null`, or what is around nothing.
fn least(part: &str) -> usize {
    if WHOLE.contains(&part) { 4 } else { 3 }
}

/// Holds a part, wherever it stands, to so many characters more than the least; how many of
/// them it takes.
fn hold(view: &mut Value, part: &str, room: usize) -> usize {
    let (places, least) = (places(view, part), least(part));
    let mut taken = 0;
    for (done, at) in places.iter().enumerate() {
        let Some(value) = view.pointer_mut(at) else { continue };
        let left = room.saturating_sub(taken);
        if WHOLE.contains(&part) {
            if size(value) > least + left {
                *value = left_out(value, least + left);
            }
        } else {
            // What one does not need of its share is there for those after it.
            let share = left / (places.len() - done);
            *value = held(value, part, least + share);
        }
        taken += size(value).saturating_sub(least);
    }
    taken
}

/// What stands in the place of data that does not fit.
fn left_out(value: &Value, room: usize) -> Value {
    let note = Value::from(format!("[{} characters of JSON left out]", size(value)));
    if size(&note) <= room { note } else { Value::Null }
}

fn held(value: &Value, part: &str, room: usize) -> Value {
    if size(value) <= room {
        return value.clone();
    }
    match value {
        Value::String(text) => cut(text, room),
        Value::Array(list) if part == BELOW => start_of(list.iter().map(only_how), room),
        Value::Array(list) => start_of(list.iter().cloned(), room),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Value::Null,
    }
}

/// The beginning of a text. Escapes take room as well, so it may take more than one try.
fn cut(text: &str, room: usize) -> Value {
    let mut letters = room.saturating_sub(3);
    loop {
        let start = Value::from(clip(text, letters).into_owned());
        let taken = size(&start);
        if taken <= room || letters == 0 {
            return start;
        }
        letters = (letters * room / taken).min(letters - 1);
    }
}

/// As much of a list as fits.
fn start_of(list: impl Iterator<Item = Value>, room: usize) -> Value {
    let mut taken = 2;
    let fits = list.take_while(|value| {
        taken += size(value) + 1;
        taken <= room
    });
    Value::Array(fits.collect())
}

/// A delegation below, with no more than how it ended.
fn only_how(view: &Value) -> Value {
    let known = TOLD_BELOW.iter().map(|key| (*key, view.get(*key).cloned().unwrap_or(json!(null))));
    Value::Object(known.map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>())
}
