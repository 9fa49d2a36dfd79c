//! `legation trace`.

use std::process::ExitCode;

use legation_core::tree::view;
use serde_json::json;

use crate::error::CommandError;
use crate::look;
use crate::output::Output;
use crate::reach::{Reach, block_on};
use crate::show::trace;

/// Shows what ran when, parallel branches side by side.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The delegation, or the beginning of its id.
    pub(crate) id: String,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let reach = Reach::current()?;
    let found = block_on(look::find(&reach, &args.id))?;
    let spans = view::trace(&found.state, found.no, look::now());
    let id = &found.state.delegations[found.no].id;
    output.answer(&json!({"delegationId": id, "spans": spans}), || trace::page(&spans));
    Ok(ExitCode::SUCCESS)
}
