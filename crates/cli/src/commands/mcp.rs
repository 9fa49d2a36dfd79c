//! `legation mcp`: the tools of agents, over standard input and output.

use std::process::ExitCode;
use std::sync::Arc;

use legation_core::Code;
use legation_engine::client::Conversation;
use legation_engine::protocol::{Refused, Wish};
use legation_server::Office;
use legation_server::mcp::Mcp;
use serde_json::Value;

use super::submit;
use crate::error::CommandError;
use crate::reach::{Reach, block_on};

/// Serves the tools of agents (MCP) over standard input and output.
///
/// For programs: `legation delegate` is the same for people. An agent that Legation runs
/// speaks in the name of its attempt, and every other as a root of its own.
#[derive(clap::Args)]
pub(crate) struct Args {}

/// The engine, as the one command line that this process was started with reaches it.
struct Door(Reach);

impl Office for Door {
    async fn ask(&self, wish: Wish, client: Option<String>) -> Result<Conversation, Box<Refused>> {
        self.0.ask_for(client, wish).await.map_err(refused)
    }

    fn submit(&self, returned: &Value) -> Result<Value, Box<Refused>> {
        submit::hand_in(returned, None).map_err(refused)
    }
}

pub(crate) fn run(_args: &Args) -> Result<ExitCode, CommandError> {
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

fn refused(error: CommandError) -> Box<Refused> {
    Box::new(error.into())
}
