//! `legation submit`: how an attempt hands in its return.

mod attempt;
mod hand_in;
mod paths;

use std::process::ExitCode;

use legation_core::ids::SessionId;
use legation_core::money::Usd;
use legation_core::returns::{Expectation, ReturnStatus, Violation, check};
use legation_runners::artifacts::WorkspaceFiles;
use serde_json::{Value, json};

pub(crate) use self::attempt::Attempt;
use super::values::{dollars, named, pair};
use crate::error::CommandError;
use crate::output::Output;

/// Kinds of trouble that trying again does not mend.
const FINAL: &[&str] = &["permission", "validation", "budget"];

/// Hands in the return of the attempt that calls it; the last one counts.
///
/// Only inside an attempt: what it needs to know is in the environment.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How it ended: completed, partial, failed or blocked.
    #[arg(long, value_name = "STATUS", value_parser = named::<ReturnStatus>)]
    status: ReturnStatus,
    /// What was done, in 1 to 500 characters.
    #[arg(long, value_name = "TEXT")]
    summary: String,
    /// A file or folder that was made; may be given several times.
    #[arg(long = "artifact", value_name = "TYPE:PATH", value_parser = pair)]
    artifacts: Vec<(String, String)>,
    /// A structured answer.
    #[arg(long, value_name = "JSON", value_parser = json_value)]
    data: Option<Value>,
    /// Something that went wrong; may be given several times.
    #[arg(long = "error", value_name = "TYPE:MESSAGE", value_parser = pair)]
    errors: Vec<(String, String)>,
    /// What should be done next.
    #[arg(long, value_name = "TEXT")]
    next_steps: Option<String>,
    /// Tokens that went in.
    #[arg(long, value_name = "N")]
    tokens_in: Option<u64>,
    /// Tokens that came out.
    #[arg(long, value_name = "N")]
    tokens_out: Option<u64>,
    /// What it cost, in dollars.
    #[arg(long, value_name = "USD", value_parser = dollars)]
    cost_usd: Option<Usd>,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let value = hand_in(&Attempt::current()?, &args.told(), args.usage())?;
    output.answer(&value, || format!("handed in: {}", args.word()));
    Ok(ExitCode::SUCCESS)
}

/// Completes what an attempt tells, checks it and hands it in; the answer says what.
pub(crate) fn hand_in(
    attempt: &Attempt,
    told: &Value,
    usage: Option<Value>,
) -> Result<Value, CommandError> {
    let returned = completed(attempt, told);
    let files = WorkspaceFiles::new(&attempt.workspace).map_err(|problem| {
        let place = attempt.workspace.display();
        CommandError::usage(format!("the workspace {place} cannot be looked at: {problem}"))
            .hint("LEGATION_WORKSPACE names it; leave it as it was")
    })?;
    // What the environment says may have been changed; the engine's word counts, if it is there.
    let known = if attempt.is_known { None } else { hand_in::session(attempt) };
    let session_id = SessionId::new(known.as_ref().unwrap_or(&attempt.session));
    let schema = attempt.schema();
    let expect = Expectation { session_id: &session_id, schema: schema.as_ref() };
    let checked = check(&returned, &expect, &files).map_err(violated)?;
    let returned = serde_json::to_value(&checked).unwrap_or(returned);
    hand_in::write(attempt, &returned, usage)?;
    hand_in::tell(attempt);
    Ok(json!({
        "submitted": true, "sessionId": attempt.session, "status": checked.status,
        "return": returned,
    }))
}

/// A whole return. Who made it is put right by the runtime, which alone knows.
fn completed(attempt: &Attempt, told: &Value) -> Value {
    let list = |key: &str| told.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let next_steps = told.get("next_steps").cloned().unwrap_or_default();
    let mut artifacts = list("artifacts");
    for artifact in artifacts.iter_mut().filter_map(Value::as_object_mut) {
        if let Some(Value::String(path)) = artifact.get_mut("path") {
            *path = paths::in_workspace(attempt, path);
        }
    }
    let mut errors = list("errors");
    for error in errors.iter_mut().filter_map(Value::as_object_mut) {
        let kind = error.get("type").and_then(Value::as_str).unwrap_or_default();
        let recoverable = !FINAL.contains(&kind);
        let advice = next_steps.as_str().unwrap_or_default();
        error.entry("recoverable").or_insert_with(|| recoverable.into());
        error.entry("recommendation").or_insert_with(|| advice.into());
    }
    json!({
        "status": told.get("status"), "summary": told.get("summary"), "artifacts": artifacts,
        "errors": errors, "next_steps": next_steps, "data": told.get("data"),
        "metadata": {
            "session_id": attempt.session, "agent_type": "", "delegation_path": [],
            "delegation_depth": attempt.depth,
        },
    })
}

impl Args {
    /// What the options say.
    fn told(&self) -> Value {
        let artifact = |(kind, path): &(String, String)| json!({"type": kind, "path": path});
        let error = |(kind, message): &(String, String)| json!({"type": kind, "message": message});
        json!({
            "status": self.status, "summary": self.summary, "data": self.data,
            "artifacts": self.artifacts.iter().map(artifact).collect::<Vec<_>>(),
            "errors": self.errors.iter().map(error).collect::<Vec<_>>(),
            "next_steps": self.next_steps,
        })
    }

    /// What the attempt says it used; nothing where it says nothing.
    fn usage(&self) -> Option<Value> {
        let said = self.tokens_in.is_some() || self.tokens_out.is_some() || self.cost_usd.is_some();
        let usage = json!({
            "input": self.tokens_in, "output": self.tokens_out, "costUsd": self.cost_usd,
        });
        said.then_some(usage)
    }

    fn word(&self) -> &'static str {
        match self.status {
            ReturnStatus::Completed => "completed",
            ReturnStatus::Partial => "partial",
            ReturnStatus::Failed => "failed",
            ReturnStatus::Blocked => "blocked",
        }
    }
}

fn json_value(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|problem| format!("not JSON: {problem}"))
}

fn violated(violation: Violation) -> CommandError {
    let error = CommandError::failed(violation.code, violation.message)
        .details(json!({"check": violation.check}));
    match violation.hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
