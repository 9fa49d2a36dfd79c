//! `legation rollback`.

use std::process::ExitCode;

use legation_runners::workspace::{Applied, Error};
use serde_json::json;

use super::diff::{failed_about, has_worked, spaces};
use crate::error::CommandError;
use crate::look;
use crate::output::Output;
use crate::page::{count, tame};
use crate::reach::{Reach, block_on};
use crate::watch::end_when_done;

/// Takes back what `apply` brought into your files, by a commit that undoes it.
///
/// Your branch never goes back: what you built on it stays. The result stays, too, and can
/// be applied again.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The delegation, or the beginning of its id.
    id: String,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let denied = "an attempt cannot change the user's files";
    let reach = Reach::from_outside(denied, "whoever asked for the work decides about it")?;
    let found = block_on(look::find(&reach, &args.id))?;
    let id = found.state.delegations[found.no].id.clone();
    let spaces = spaces(&reach)?;
    end_when_done()?;
    let taken = match spaces.revert(id.as_str()) {
        // No workspace was ever made for it.
        Err(Error::Unknown { .. }) if !has_worked(&found) => Err(Error::Refused {
            reason: format!("nothing of {id} was applied here"),
            files: Vec::new(),
            hint: "there is nothing to take back".into(),
        }),
        other => other,
    };
    let taken = taken.map_err(|problem| failed_about(&found, &problem))?;
    let value = json!({
        "delegationId": id, "rolledBack": true, "files": taken.files, "commit": taken.commit,
    });
    output.answer(&value, || words(&taken));
    Ok(ExitCode::SUCCESS)
}

fn words(taken: &Applied) -> String {
    if taken.files.is_empty() {
        return "Nothing of it is left in your files; nothing was changed.\n".to_owned();
    }
    let files = count(taken.files.len(), "file");
    let mut text = match &taken.commit {
        Some(commit) => {
            let short: String = commit.chars().take(12).collect();
            format!("{files} taken back, now at {short}\n")
        }
        None => format!("{files} taken back\n"),
    };
    for file in &taken.files {
        text.push_str(&format!("  {}\n", tame(file)));
    }
    text
}
