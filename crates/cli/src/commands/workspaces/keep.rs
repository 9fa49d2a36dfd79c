//! `legation workspaces keep`.

use std::process::ExitCode;

use serde_json::json;

use super::stock::Stock;
use crate::commands::diff::failed;
use crate::error::CommandError;
use crate::output::Output;

#[derive(clap::Args)]
pub(super) struct Args {
    /// The attempt, or the beginning of its id; or its delegation, if it has but one.
    id: String,
    /// It may go again, as all others.
    #[arg(long)]
    undo: bool,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let stock = Stock::take()?;
    let entry = stock.find(&args.id)?;
    let (attempt, stays) = (&entry.attempt, !args.undo);
    let mut reference = entry.work.as_ref().map(|work| work.reference.clone());
    // Nobody works there any more, so what is there now is all there will be.
    if let Some(standing) = entry.standing.as_ref().filter(|_| stays && !entry.in_use) {
        let kept = stock.spaces.keep_standing(standing);
        let kept = kept.map_err(|problem| failed(&problem))?;
        reference = kept.map(|kept| kept.reference).or(reference);
    }
    stock.spaces.exempt(attempt, stays).map_err(|problem| failed(&problem))?;
    let value = json!({"attempt": attempt, "exempt": stays, "ref": reference});
    output.answer(&value, || match stays {
        true => format!("{attempt} stays, whatever its age."),
        false => format!("{attempt} may go again once it is old enough."),
    });
    Ok(ExitCode::SUCCESS)
}
