//! `legation cost`.

use std::process::ExitCode;

use legation_engine::read::Sight;

use crate::error::CommandError;
use crate::look;
use crate::output::Output;
use crate::reach::{Reach, block_on};
use crate::show::cost;

/// Shows what a delegation cost, failed and repeated attempts included.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The delegation, or the beginning of its id.
    pub(crate) id: String,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let reach = Reach::current()?;
    let value = block_on(look::seen(&reach, &args.id, Sight::Cost))?;
    output.answer(&value, || cost::page(&value));
    Ok(ExitCode::SUCCESS)
}
