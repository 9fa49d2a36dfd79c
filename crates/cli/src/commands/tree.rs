//! `legation tree`.

use std::process::ExitCode;

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
    let view = block_on(look::status(&reach, &args.id, false))?;
    output.answer(&view, || tree::page(&view, Detail::Lines));
    Ok(ExitCode::SUCCESS)
}
