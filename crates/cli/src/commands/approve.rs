//! `legation approve` and `legation reject`.

use std::process::ExitCode;

use legation_engine::protocol::To;

use crate::error::CommandError;
use crate::output::Output;
use crate::steer::{self, Wanted};

/// Which approval, and why.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The delegation, or the beginning of its id.
    pub(crate) id: String,
    /// Only this subtask; without it, all that wait.
    pub(crate) subtask: Option<String>,
    /// Why.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) reason: String,
}

/// A human's word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Yes,
    No,
}

pub(crate) fn run(args: Args, word: Word, output: &mut Output) -> Result<ExitCode, CommandError> {
    let subtask = args.subtask.map(Into::into);
    let to = To::Approve { subtask, approved: word == Word::Yes, reason: args.reason };
    steer::run(Wanted { id: args.id, to, wait: false }, output)
}
