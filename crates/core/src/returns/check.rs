//! The checks that a return goes through, in their order.

use std::borrow::Cow;
use std::io;

use serde_json::Value;

use super::artifacts::{ArtifactFacts, artifacts};
use super::claim::{self, Claim, Json};
use super::extract::{Absent, find};
use super::fields::{self, Fields, Place, Record, fits};
use super::limits::{
    MAX_ERRORS, MAX_NAME_CHARS, MAX_RETURN_BYTES, MAX_SUMMARY_CHARS, MAX_TEXT_CHARS,
};
use super::model::{Return, ReturnError, ReturnStatus};
use super::schema::CompiledSchema;
use super::violation::{Check, Violation, quoted};
use crate::ids::SessionId;

/// What the runtime expects of a return.
#[derive(Clone, Copy, Debug)]
pub struct Expectation<'a> {
    /// The session that was asked.
    pub session_id: &'a SessionId,
    /// What the agent's `data` must look like.
    pub schema: Option<&'a CompiledSchema>,
}

/// Finds the return in an agent's output and checks it.
pub fn check_text(
    output: &str,
    expect: &Expectation<'_>,
    facts: &dyn ArtifactFacts,
) -> Result<Return, Violation> {
    let (_, claim) = find(output)?;
    examine(claim, expect, facts)
}

/// Checks a return that came in as a value.
pub fn check(
    value: &Value,
    expect: &Expectation<'_>,
    facts: &dyn ArtifactFacts,
) -> Result<Return, Violation> {
    let mut size = Size(0);
    // Writing to a counter has no other way to fail than a value that JSON cannot hold.
    if serde_json::to_writer(&mut size, value).is_err() || size.0 > MAX_RETURN_BYTES {
        return Err(Absent::TooLarge { bytes: size.0 }.into());
    }
    let Some(object) = value.as_object() else {
        let found = claim::kind(value);
        return Err(Violation::new(Check::Json, "Return is not valid JSON")
            .hint(format!("a return is a JSON object, this is {found}")));
    };
    examine(Claim::of(object), expect, facts)
}

/// Counts what is written to it.
struct Size(usize);

impl io::Write for Size {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Goes through the checks.
fn examine(
    claim: Claim<'_>,
    expect: &Expectation<'_>,
    facts: &dyn ArtifactFacts,
) -> Result<Return, Violation> {
    let fields = fields::read(&claim.members).map_err(|violation| {
        violation.hint("a return has `status`, `summary`, `artifacts` and `metadata` with `session_id`, `agent_type`, `delegation_depth` and `delegation_path`")
    })?;
    let status = status(fields.status)?;
    session(&fields, expect.session_id)?;
    summary(fields.summary)?;
    let errors = errors(status, fields.errors)?;
    let artifacts = artifacts(status, fields.artifacts, facts)?;
    schema(status, claim.data.as_deref(), expect.schema)?;
    Ok(Return {
        status,
        summary: fields.summary.to_owned(),
        artifacts,
        metadata: fields.metadata,
        errors,
        next_steps: fields.next_steps.map(str::to_owned),
        data: claim.data.map(Cow::into_owned),
    })
}

fn status(status: &str) -> Result<ReturnStatus, Violation> {
    match status {
        "completed" => Ok(ReturnStatus::Completed),
        "partial" => Ok(ReturnStatus::Partial),
        "failed" => Ok(ReturnStatus::Failed),
        "blocked" => Ok(ReturnStatus::Blocked),
        other => {
            let found = quoted(other);
            let message =
                format!("`status` must be completed, partial, failed or blocked, found {found}");
            Err(Violation::new(Check::Status, message)
                .hint("use one of the four words exactly as it stands"))
        }
    }
}

fn session(fields: &Fields<'_>, expected: &SessionId) -> Result<(), Violation> {
    let found = fields.metadata.session_id.as_str();
    if found == expected.as_str() {
        return Ok(());
    }
    let (found, expected) = (quoted(found), quoted(expected.as_str()));
    let message = format!("`metadata.session_id` is {found}, expected {expected}");
    Err(Violation::new(Check::Session, message).hint("copy the session id from the brief"))
}

fn summary(summary: &str) -> Result<(), Violation> {
    if summary.trim().is_empty() {
        return Err(Violation::new(Check::Summary, "`summary` is blank")
            .hint("say in 2 to 5 sentences what was done"));
    }
    if fits(summary, MAX_SUMMARY_CHARS) {
        return Ok(());
    }
    let length = summary.chars().count();
    let message =
        format!("`summary` has {length} characters; at most {MAX_SUMMARY_CHARS} are allowed");
    Err(Violation::new(Check::Summary, message)
        .hint("shorten it, and put the rest into a file listed in `artifacts`"))
}

fn errors(status: ReturnStatus, entries: &[Json<'_>]) -> Result<Vec<ReturnError>, Violation> {
    if entries.is_empty() && status != ReturnStatus::Completed {
        return Err(Violation::new(
            Check::Errors,
            "`errors` is empty, but the status is not completed",
        )
        .hint(
            "list at least one error with `type`, `message`, `recoverable` and `recommendation`",
        ));
    }
    if entries.len() > MAX_ERRORS {
        let found = entries.len();
        let message = format!("`errors` has {found} entries; at most {MAX_ERRORS} are allowed");
        return Err(Violation::new(Check::Errors, message).hint("keep the most important ones"));
    }
    entries.iter().enumerate().map(|(index, entry)| error(index, entry)).collect()
}

fn error(index: usize, entry: &Json<'_>) -> Result<ReturnError, Violation> {
    let read = || {
        let record = Record::at(Check::Errors, Place::Entry("errors", index), entry)?;
        Ok(ReturnError {
            kind: record.filled_text("type", MAX_NAME_CHARS)?.to_owned(),
            message: record.filled_text("message", MAX_TEXT_CHARS)?.to_owned(),
            code: record.optional_text("code", MAX_NAME_CHARS)?.map(str::to_owned),
            recoverable: record.flag("recoverable")?,
            recommendation: record.text_within("recommendation", MAX_TEXT_CHARS)?.to_owned(),
        })
    };
    read().map_err(|violation: Violation| {
        violation.hint("an error has `type`, `message`, `recoverable` and `recommendation`; `code` may be left out")
    })
}

fn schema(
    status: ReturnStatus,
    data: Option<&Value>,
    schema: Option<&CompiledSchema>,
) -> Result<(), Violation> {
    let Some(schema) = schema else { return Ok(()) };
    let problem = match data {
        Some(data) => schema.mismatch(data),
        // Work that was not completed may have nothing to show in this form.
        None if status != ReturnStatus::Completed => None,
        None => Some("`data` is missing".to_owned()),
    };
    match problem {
        None => Ok(()),
        Some(message) => Err(Violation::new(Check::Schema, message)
            .hint("make `data` match the JSON Schema in the brief")),
    }
}
