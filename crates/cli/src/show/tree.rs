//! A delegation with everything below it, as an indented tree.

use std::fmt::Write as _;

use legation_core::text::shown;
use serde_json::Value;

use super::figures::{approve, bar, cost, counted, list, short, text, time, tokens, used};
use crate::page::{clipped, tame, width, wrapped};

/// Lines of what a subtask said that are told.
const MAX_LINES: usize = 8;
/// Lines of a conflict that are told.
const MAX_CONFLICT_LINES: usize = 24;
/// Refusals of the fence that are named.
const MAX_REFUSALS: usize = 3;
/// Columns that words have at least, however deep they stand.
const MIN_WORDS: usize = 30;

/// How much of a tree is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// A line for each subtask.
    Lines,
    /// Also what each said.
    Words,
}

/// A delegation and everything below it.
pub(crate) fn page(view: &Value, detail: Detail) -> String {
    let mut page = heading(view);
    add_subtasks(&mut page, view, "", detail);
    page
}

/// Who looks at a delegation, as far as it matters for what they could do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// An attempt: the work is brought to it, and the rest is not its own.
    Attempt,
    /// A person whose files have the result already.
    Done,
    /// A person.
    Person,
}

/// Whether there is a result with changed files in it.
pub(crate) fn has_changes(view: &Value) -> bool {
    let ended = ["completed", "partial"].contains(&text(view, "status"));
    ended && with_files(view).any(is_merged)
}

/// The subtasks that changed files.
fn with_files(view: &Value) -> impl Iterator<Item = &Value> {
    list(view, "subtasks").iter().filter(|subtask| {
        let receipt = subtask.get("receipt").unwrap_or(&Value::Null);
        !list(receipt, "filesChanged").is_empty()
    })
}

/// Only completed work is part of the result; the rest is kept under its subtask.
fn is_merged(subtask: &Value) -> bool {
    text(subtask, "status") == "completed"
}

/// A subtask that changed files which are not part of the result.
fn unmerged(view: &Value) -> Option<&Value> {
    with_files(view).find(|subtask| !is_merged(subtask))
}

/// The name of a subtask whose files are kept, and not part of the result.
pub(crate) fn kept_aside(view: &Value) -> Option<String> {
    unmerged(view).map(|subtask| tame(short(text(subtask, "id"))))
}

/// What came of a delegation, and what to do with it.
pub(crate) fn summary(view: &Value, reader: Reader) -> String {
    let mut page = String::new();
    let result = view.get("result").unwrap_or(&Value::Null);
    let said = text(result, "summary");
    if !said.is_empty() {
        page.push_str(&wrapped(&format!("Result: {said}"), 2));
    }
    for artifact in list(result, "artifacts") {
        let line = format!("  {}  {}", text(artifact, "path"), text(artifact, "type"));
        page.push_str(&format!("{}\n", clipped(&line, width())));
    }
    for finding in list(result, "findings") {
        let finding = finding.as_str().map_or_else(|| finding.to_string(), str::to_owned);
        page.push_str(&wrapped(&format!("  open: {finding}"), 4));
    }
    page.push_str(&next_steps(view, reader));
    page
}

/// Which commands move on from here.
fn next_steps(view: &Value, reader: Reader) -> String {
    let id = text(view, "delegationId");
    let status = text(view, "status");
    let is_stuck = |subtask: &&Value| {
        ["partial", "failed", "blocked", "cancelled"].contains(&text(subtask, "status"))
    };
    let left = unmerged(view);
    let shows_work = match list(view, "leftBehind").is_empty() {
        true => "shows its work, which is kept.",
        false => "shows its work, or says where it is.",
    };
    let stuck = left.or_else(|| list(view, "subtasks").iter().find(is_stuck));
    match (reader, status, stuck) {
        (Reader::Attempt, _, _) => String::new(),
        (Reader::Done, _, _) => "Your files have this result.\n".to_owned(),
        (Reader::Person, _, _) if has_changes(view) => {
            format!("Next: legation diff {id}, then legation apply {id}\n")
        }
        (Reader::Person, "partial" | "failed" | "blocked", Some(subtask)) => {
            let name = tame(short(text(subtask, "id")));
            if subtask.pointer("/error/details").is_some() {
                return format!(
                    "Next: legation diff {id} {name} {shows_work}\n\
                     \x20 legation retry {id} {name} --note TEXT   starts it from the merged result\n\
                     \x20 legation skip {id} {name}    goes on without it\n"
                );
            }
            let (look, shows) = match left {
                Some(_) => ("diff", shows_work),
                None => ("trace", "shows what it said."),
            };
            format!(
                "Next: legation {look} {id} {name} {shows}\n\
                 \x20 legation retry {id} {name}   starts it again\n\
                 \x20 legation skip {id} {name}    goes on without it\n"
            )
        }
        (Reader::Person, _, _) => String::new(),
    }
}

fn heading(view: &Value) -> String {
    let title = clipped(text(view, "title"), width());
    let mut facts = vec![text(view, "delegationId").to_owned()];
    facts.extend(standing(view));
    let mut page = format!("{title}\n{}\n", facts.join(" · "));
    let reason = text(view, "reason");
    if !reason.is_empty() {
        page.push_str(&wrapped(&format!("  {reason}"), 2));
    }
    page
}

/// How a delegation stands, fact by fact.
fn standing(view: &Value) -> Vec<String> {
    let progress = view.get("progress").unwrap_or(&Value::Null);
    let number = |value: &Value, key: &str| value.get(key).and_then(Value::as_u64).unwrap_or(0);
    let metrics = view.get("metrics").unwrap_or(&Value::Null);
    let mut facts = vec![
        text(view, "status").to_owned(),
        text(view, "pattern").to_owned(),
        format!("{} of {}", number(progress, "completed"), number(progress, "total")),
        time(number(metrics, "elapsedTime")),
    ];
    let cost = metrics.get("estimatedCost").and_then(Value::as_f64);
    facts.extend(used(number(metrics, "tokensUsed"), cost));
    facts
}

fn add_subtasks(page: &mut String, view: &Value, before: &str, detail: Detail) {
    let subtasks = list(view, "subtasks");
    for (index, subtask) in subtasks.iter().enumerate() {
        let last = index + 1 == subtasks.len();
        let (branch, below) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let line = format!("{before}{branch}{}", row(subtask));
        // Writing to a `String` cannot fail.
        let _ = writeln!(page, "{}", clipped(&line, width()));
        let before = format!("{before}{below}");
        if detail == Detail::Words {
            add_words(page, (text(view, "delegationId"), subtask), &before);
        }
        for delegation in list(subtask, "delegations") {
            let facts = standing(delegation).join(" · ");
            let id = text(delegation, "delegationId");
            let _ = writeln!(page, "{}", clipped(&format!("{before}{id} · {facts}"), width()));
            add_subtasks(page, delegation, &before, detail);
        }
    }
}

/// A subtask in a line.
fn row(subtask: &Value) -> String {
    let status = text(subtask, "status");
    let (id, title) = (short(text(subtask, "id")), text(subtask, "title"));
    let what =
        if title == id || title.is_empty() { id.to_owned() } else { format!("{id} {title}") };
    let mut facts =
        vec![format!("{status:<10} {}", clipped(&what, 44)), text(subtask, "agent").to_owned()];
    let round = subtask.get("round").and_then(Value::as_u64).unwrap_or(0);
    if round > 0 {
        facts.push(format!("{} {round}", text(subtask, "role")));
    }
    facts.extend(spent(subtask));
    let attempts = subtask.get("attempts").and_then(Value::as_u64).unwrap_or(0);
    if attempts > 1 {
        facts.push(format!("attempt {attempts}"));
    }
    facts.join(" · ")
}

/// Time, tokens and money of a subtask, as far as they are known.
fn spent(subtask: &Value) -> Vec<String> {
    let mut facts = Vec::new();
    let receipt = subtask.get("receipt").filter(|receipt| !receipt.is_null());
    facts.extend(subtask.get("elapsedTime").and_then(Value::as_u64).map(time));
    if let Some([Value::Number(done), Value::Number(total)]) =
        subtask.get("progress").and_then(Value::as_array).map(Vec::as_slice)
        && receipt.is_none()
    {
        facts.push(bar(done.as_u64().unwrap_or(0), total.as_u64().unwrap_or(0)));
    }
    let used = receipt.and_then(|receipt| receipt.get("tokens")).filter(|used| !used.is_null());
    if let Some(used) = used {
        facts.push(tokens(counted(used)));
    }
    let dollars = receipt.and_then(|receipt| receipt.get("costUsd")).and_then(Value::as_f64);
    facts.extend(dollars.map(|dollars| cost(Some(dollars))));
    facts
}

/// What a subtask said, and what is wrong with it.
fn add_words(page: &mut String, (delegation, subtask): (&str, &Value), before: &str) {
    let answer = subtask.get("return").unwrap_or(&Value::Null);
    let mut words = vec![text(answer, "summary").to_owned()];
    let own = subtask.get("error").filter(|error| !error.is_null());
    // An error in words that are told anyway says nothing more.
    let failure = text(subtask, "failure");
    let is_new = |error: &&Value| {
        let message = text(error, "message");
        message != text(answer, "summary") && !failure.ends_with(message)
    };
    for error in list(answer, "errors").iter().chain(own).filter(is_new) {
        words.push(format!("{}: {}", text(error, "type"), text(error, "message")));
    }
    words.push(failure.to_owned());
    if let Some(receipt) = subtask.get("receipt") {
        for doubt in list(receipt, "downgraded") {
            words.push(doubt.as_str().unwrap_or_default().to_owned());
        }
        words.extend(refused(list(receipt, "fenceRefused")));
        words.extend(not_shared(list(receipt, "notShared")));
    }
    if text(subtask, "status") == "awaiting_approval" {
        let (asks, answer) = (text(subtask, "asks"), approve(delegation, text(subtask, "id")));
        words.push(asks.to_owned());
        words.push(format!("waits for an approval: {answer}"));
    }
    let blockers: Vec<&str> = list(subtask, "blockedBy").iter().filter_map(Value::as_str).collect();
    if !blockers.is_empty() {
        words.push(format!("blocked by {}", blockers.join(", ")));
    }
    let room = width().saturating_sub(before.chars().count() + 2).max(MIN_WORDS);
    for word in words.iter().filter(|word| !word.is_empty()) {
        for line in shown::wrap(word, room, 0).lines().take(MAX_LINES) {
            let _ = writeln!(page, "{before}  {line}");
        }
    }
    let details = own.and_then(|error| error.get("details")).unwrap_or(&Value::Null);
    for line in conflict(list(details, "hunks")) {
        let _ = writeln!(page, "{before}    {}", clipped(&tame(&line), room.saturating_sub(2)));
    }
}

/// What the fence refused, if anything.
fn refused(refusals: &[Value]) -> Option<String> {
    let named = refusals.iter().take(MAX_REFUSALS);
    let named: Vec<String> = named
        .map(|refusal| format!("{} {}", text(refusal, "what"), text(refusal, "target")))
        .map(|named| named.trim_end().to_owned())
        .collect();
    let rest = match refusals.len().saturating_sub(MAX_REFUSALS) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    (!named.is_empty()).then(|| format!("the fence refused {}{rest}", named.join(", ")))
}

/// What the workspace could not be given of what all were to share.
fn not_shared(folders: &[Value]) -> Option<String> {
    let named: Vec<&str> = folders.iter().filter_map(Value::as_str).collect();
    (!named.is_empty()).then(|| {
        let named = named.join(", ");
        format!("workspace.share had no effect here, and it worked without {named}; `legation doctor` says why")
    })
}

/// What stands against what, line by line, as it stands in the files. What has no lines is
/// in the words of the error.
fn conflict(hunks: &[Value]) -> Vec<String> {
    let lines = hunks.iter().filter(|hunk| hunk.get("kind").is_none());
    let lines = lines.flat_map(|hunk| {
        let line = hunk.get("line").and_then(Value::as_u64).unwrap_or(0);
        let heading = format!("{}, line {line}:", text(hunk, "file"));
        std::iter::once(heading).chain(text(hunk, "text").lines().map(str::to_owned))
    });
    let mut lines: Vec<String> = lines.collect();
    if lines.len() > MAX_CONFLICT_LINES {
        lines.truncate(MAX_CONFLICT_LINES);
        lines.push("… --json has the rest".to_owned());
    }
    lines
}
