//! `legation mcp`: the tools of agents, over standard input and output.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::sync::Arc;

use legation_core::Code;
use legation_server::mcp::Mcp;

use crate::error::CommandError;
use crate::office::Door;
use crate::output::Output;
use crate::reach::{Reach, block_on};

/// Serves the tools of agents (MCP) over standard input and output.
///
/// For programs: `legation delegate` is the same for people. An agent that Legation runs
/// speaks in the name of its attempt, and every other as a root of its own.
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    if io::stdin().is_terminal() {
        output.note(
            "This waits for the messages of an MCP client; `legation install` tells yours to \
             start it. Ctrl-D ends it.",
        );
    }
    let door = Arc::new(Door(Reach::current()?));
    block_on(async {
        let served = Mcp::new(door, env!("CARGO_PKG_VERSION")).serve_stdio().await;
        served.map_err(|problem| {
            CommandError::failed(Code::UnknownError, format!("the client was lost: {problem}"))
                .hint("start it again from the client")
        })
    })?;
    Ok(ExitCode::SUCCESS)
}
