//! `legation tree`.

use std::process::ExitCode;

use legation_core::tree::view;

use crate::error::CommandError;
use crate::look;
use crate::output::Output;
use crate::reach::{Reach, block_on};
use crate::show::tree::{self, Detail};

/// Shows who delegated what to whom, a line each.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The delegation, or the beginning of its id.
    pub(crate) id: String,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let reach = Reach::current()?;
    let found = block_on(look::find(&reach, &args.id))?;
    let view = view::status(&found.state, found.no, look::now());
    let view = serde_json::to_value(view).unwrap_or_default();
    output.answer(&view, || tree::page(&view, Detail::Lines));
    Ok(ExitCode::SUCCESS)
}
