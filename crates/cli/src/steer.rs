//! Steering a delegation that is there, and waiting for its end if that is wanted.

use std::process::ExitCode;

use legation_engine::protocol::{Steer, To, Wish};
use serde_json::{Value, json};

use crate::ending;
use crate::error::CommandError;
use crate::look;
use crate::output::Output;
use crate::reach::{Reach, block_on};
use crate::show::figures::text;
use crate::watch::{Again, End, Until, Watch};

/// A wish about a delegation.
pub(crate) struct Wanted {
    /// Its id, or the beginning of it.
    pub(crate) id: String,
    /// What is to happen.
    pub(crate) to: To,
    /// Whether to wait for its end.
    pub(crate) wait: bool,
}

/// Steers, and answers with how the delegation stands then.
pub(crate) fn run(wanted: Wanted, output: &mut Output) -> Result<ExitCode, CommandError> {
    let reach = Reach::current()?;
    let end = block_on(steer(&reach, wanted, output))?;
    Ok(answer(end, &reach, output))
}

async fn steer(reach: &Reach, wanted: Wanted, output: &mut Output) -> Result<End, CommandError> {
    let id = look::resolve(reach, &wanted.id).await?;
    // The engine itself waits for the one subtask; its delegation goes on.
    let is_part = matches!(wanted.to, To::Cancel { subtask: Some(_), .. });
    let until = if wanted.wait && !is_part { Until::Over } else { Until::Done };
    let steer = Steer { delegation: id.clone(), to: wanted.to, wait: wanted.wait };
    Watch::new(reach, output, until).about(Some(id), "").run(Wish::Steer(steer)).await
}

/// Says how it ended.
pub(crate) fn answer(end: End, reach: &Reach, output: &mut Output) -> ExitCode {
    match end {
        End::Over { status, view } => {
            output.answer(&view, || look::told(reach, &view));
            ending::exit_code(&status)
        }
        End::Done(value) => {
            output.answer(&value, || done(&value));
            ExitCode::SUCCESS
        }
        End::Accepted { delegation, status, again, more } => {
            let mut value = json!({"delegationId": delegation, "status": status});
            if let Some(value) = value.as_object_mut() {
                value.extend(more);
                value.extend(again.iter().flat_map(Again::json));
            }
            output.answer(&value, || delegation.to_string());
            ExitCode::SUCCESS
        }
        End::Left { delegation } => {
            let value =
                json!({"delegationId": delegation, "status": "running", "cancelRequested": true});
            if output.wants_json() {
                output.answer(&value, String::new);
            } else if let Some(id) = delegation {
                output.note(&format!("left; `legation status {id}` shows how the cancel goes on"));
            }
            ExitCode::from(ending::LEFT)
        }
    }
}

fn done(value: &Value) -> String {
    match (text(value, "delegationId"), text(value, "status")) {
        ("", "") => "done".to_owned(),
        ("", status) => status.to_owned(),
        (id, _) if value.get("cancelRequested").is_some() => format!("{id} is being cancelled"),
        (id, status) => format!("{id}: {status}"),
    }
}
