//! What an attempt printed, read from its folder. It is somebody else's text: shown, and
//! never obeyed.

use std::fmt::Write as _;
use std::process::ExitCode;

use legation_core::Code;
use legation_core::returns::neutralise;
use legation_core::tree::SubtaskNo;
use legation_core::tree::event::Outcome;
use legation_core::tree::rejection::separated;
use legation_engine::read::Found;
use legation_runners::supervise::{Stream, Tail, tail};
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::output::Output;
use crate::page::{block, clipped, count, width};
use crate::reach::Reach;
use crate::show::figures::short;

/// Blanks for a tab, which would not fit behind the margin.
const TAB: &str = "    ";

/// What is to be shown.
pub(super) struct Wanted {
    pub(super) subtask: SubtaskNo,
    /// Which attempt, from 1; the last if nothing is said.
    pub(super) attempt: Option<usize>,
    /// Bytes of each output.
    pub(super) bytes: u64,
}

pub(super) fn run(
    reach: &Reach,
    found: &Found,
    wanted: &Wanted,
    output: &mut Output,
) -> Result<ExitCode, CommandError> {
    let state = &found.state;
    let subtask = &state.subtasks[wanted.subtask];
    let attempts = subtask.attempts.len();
    let number = wanted.attempt.unwrap_or(attempts);
    let no = number.checked_sub(1).and_then(|index| subtask.attempts.get(index));
    let Some(no) = no else { return Err(no_attempt(found, wanted)) };
    let attempt = &state.attempts[*no];
    let dir = reach.paths.attempts().join(attempt.id.as_str());
    let of = |stream| tail(&dir, stream, wanted.bytes);
    let outputs = [("stdout", of(Stream::Stdout)), ("stderr", of(Stream::Stderr))];
    let end = attempt.end.as_deref();
    let status = end.map_or("running", |end| Outcome::from(end.status).as_str());
    let exit = end.and_then(|end| end.receipt.exit_code);
    let mut value = json!({
        "delegationId": state.delegations[found.no].id, "subtask": subtask.id,
        "attempt": {
            "id": attempt.id, "number": number, "of": attempts, "agent": attempt.agent,
            "status": status, "exitCode": exit, "directory": dir,
        },
    });
    for (name, tail) in &outputs {
        if let Some(value) = value.as_object_mut() {
            value.insert((*name).to_owned(), json_of(tail));
        }
    }
    output.answer(&value, || {
        let mut facts = vec![
            format!("{} {}", short(subtask.id.as_str()), clipped(&subtask.title, 40)),
            attempt.agent.to_string(),
            format!("attempt {number} of {attempts}"),
            status.to_owned(),
        ];
        facts.extend(exit.map(|code| format!("exit code {code}")));
        let mut page = format!("{}\n", clipped(&facts.join(" · "), width()));
        for error in end.into_iter().flat_map(|end| &end.answer.errors) {
            page.push_str(&block(&format!("{}: {}", error.kind, error.message), 2));
        }
        for (name, tail) in &outputs {
            add(&mut page, name, tail);
        }
        page
    });
    Ok(ExitCode::SUCCESS)
}

fn no_attempt(found: &Found, wanted: &Wanted) -> CommandError {
    let state = &found.state;
    let subtask = &state.subtasks[wanted.subtask];
    let (id, name) = (&state.delegations[found.no].id, short(subtask.id.as_str()));
    let message = match subtask.attempts.len() {
        0 => {
            format!("{name} of {id} was not attempted yet: it is {}", state.status(wanted.subtask))
        }
        there => format!("{name} of {id} had only {}", count(there, "attempt")),
    };
    CommandError::failed(Code::Conflict, message)
        .hint(format!("`legation trace {id}` shows which attempts there were"))
}

/// The text of an output, with nothing in it that somebody would obey.
fn text(tail: &Tail) -> String {
    neutralise(&String::from_utf8_lossy(&tail.bytes)).into_owned()
}

fn json_of(tail: &Tail) -> Value {
    let is_cut = (tail.bytes.len() as u64) < tail.total;
    json!({"text": text(tail), "bytes": tail.total, "truncated": is_cut})
}

fn add(page: &mut String, name: &str, tail: &Tail) {
    let kept = tail.bytes.len() as u64;
    // Writing to a `String` cannot fail.
    let _ = match tail.total {
        0 => writeln!(page, "{name}: nothing"),
        total if total == kept => writeln!(page, "{name}, {} bytes:", separated(total)),
        total => {
            writeln!(page, "{name}, the last {} of {} bytes:", separated(kept), separated(total))
        }
    };
    for line in text(tail).lines() {
        let _ = writeln!(page, "  {}", line.trim_end_matches('\r').replace('\t', TAB));
    }
}
