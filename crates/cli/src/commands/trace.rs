//! `legation trace`.

mod printed;

use std::process::ExitCode;

use legation_engine::read::Sight;

use super::values;
use crate::error::CommandError;
use crate::look;
use crate::output::Output;
use crate::reach::{Reach, block_on};
use crate::show::figures::list;
use crate::show::trace;

/// Shows what ran when; of one subtask, what it printed.
///
/// Parallel branches stand side by side. Nothing is started for it.
#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// The delegation, or the beginning of its id.
    pub(crate) id: String,
    /// Show what the last attempt of this subtask printed.
    subtask: Option<String>,
    /// Another attempt than the last; the first is 1.
    #[arg(long, value_name = "N", requires = "subtask", value_parser = number, allow_negative_numbers = true)]
    attempt: Option<usize>,
    /// The last so many bytes of each output, up to 16777216.
    #[arg(long, value_name = "N", requires = "subtask", default_value_t = USUAL_BYTES, value_parser = bytes, allow_negative_numbers = true)]
    bytes: u64,
}

/// Bytes of an output that are shown where nothing else is said.
const USUAL_BYTES: u64 = 64 << 10;
/// Bytes of an output that are shown at most: all that can be kept.
const MAX_BYTES: u64 = 16 << 20;
/// No subtask has more attempts.
const MAX_ATTEMPTS: u64 = 1_000_000;

fn number(text: &str) -> Result<usize, String> {
    values::whole(text, 1, MAX_ATTEMPTS)
}

fn bytes(text: &str) -> Result<u64, String> {
    values::whole(text, 1, MAX_BYTES)
}

impl Args {
    /// As a slash command says it.
    pub(crate) fn of(id: String) -> Self {
        Self { id, ..Self::default() }
    }
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let reach = Reach::current()?;
    if let Some(subtask) = &args.subtask {
        let found = block_on(look::find(&reach, &args.id))?;
        let subtask = look::subtask(&found, subtask)?;
        let wanted = printed::Wanted { subtask, attempt: args.attempt, bytes: args.bytes };
        return printed::run(&reach, &found, &wanted, output);
    }
    let seen = block_on(look::seen(&reach, &args.id, Sight::Trace))?;
    output.answer(&seen, || trace::page(list(&seen, "spans")));
    Ok(ExitCode::SUCCESS)
}
