//! The envoy: a small process that talks to an agent's program in our name.
//!
//! It runs under a keeper as every program does, and inside the same fence. What it is
//! about it is told on its standard input; it starts the vendor's program, says the
//! brief, and passes on what it hears in our own words, a JSON value a line: text, tool
//! calls, tokens. Where there is no valid return at the end of a turn it asks again in
//! the same conversation. It needs no engine, so a conversation outlives one.
//!
//! It decides nothing. The engine checks everything that it passes on, and the keeper
//! ends it with all it has started.

mod charge;
mod dialogue;
mod ear;
mod event;
mod human;
mod lines;
mod process;
mod reader;
mod talk;
mod told;

use std::fs::File;
use std::io::{self, Read};
use std::process::ExitCode;

use legation_core::agent::Runner;
use rustix::stdio::stdin;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

pub use charge::{Charge, Door, Tools};
pub use dialogue::Dialogue;
pub use ear::Ear;
pub use event::{Event, Fault, FaultKind, Outcome};
pub use human::{Word, ask};
pub use lines::Lines;
pub use process::{End, Interrupt, Program, Spawn, Stdin, Turn};
pub use reader::{MAX_TOLD_BYTES, Reader};
pub(crate) use talk::{through, violation};
pub use told::Told;

use self::process::Process;
use crate::acp::Acp;
use crate::claude_code::ClaudeCode;
use crate::codex::Codex;
use crate::gemini::Gemini;
use crate::keep;
use crate::opencode::OpenCode;

/// The verb by which the binary starts itself as an envoy. It is not for people.
pub const VERB: &str = "envoy";

/// Bytes a charge may have at most.
const MAX_CHARGE_BYTES: u64 = 64 << 20;
/// Exit code of an envoy that cannot read what it is told.
const NO_CHARGE: u8 = 2;

/// The whole life of an envoy, from its charge to its end.
pub fn main() -> ExitCode {
    let Some(mut charge) = read_charge() else { return ExitCode::from(NO_CHARGE) };
    let env = std::env::vars_os();
    charge.env = env
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let lived = keep::runtime().and_then(|runtime| runtime.block_on(live(charge)));
    lived.unwrap_or(ExitCode::FAILURE)
}

fn read_charge() -> Option<Charge> {
    let mut text = Vec::new();
    // Not by the standard library's own reader, whose buffer would stay.
    let stdin = File::from(stdin().try_clone_to_owned().ok()?);
    stdin.take(MAX_CHARGE_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Holds a conversation with a program that is started for its turns, from the brief to
/// the return.
pub async fn converse(charge: &Charge, program: impl Program, ear: &mut Ear) {
    through(charge, Process::with(program), ear).await;
}

async fn live(charge: Charge) -> io::Result<ExitCode> {
    let mut stop = signal(SignalKind::terminate())?;
    let (ask_to_stop, stopped) = watch::channel(false);
    tokio::spawn(async move {
        stop.recv().await;
        ask_to_stop.send_replace(true);
        // A second one changes nothing; the keeper does not ask a third time.
        std::future::pending::<()>().await;
    });
    let mut ear = Ear::new(io::stdout(), stopped);
    match charge.runner {
        Runner::ClaudeCode => converse(&charge, ClaudeCode::default(), &mut ear).await,
        Runner::Codex => converse(&charge, Codex::default(), &mut ear).await,
        Runner::Gemini => converse(&charge, Gemini::default(), &mut ear).await,
        Runner::OpenCode => converse(&charge, OpenCode::default(), &mut ear).await,
        Runner::Acp => through(&charge, Acp::default(), &mut ear).await,
        // A command speaks for itself, and a model is talked to by a chancery.
        Runner::Command | Runner::Llm => return Ok(ExitCode::from(NO_CHARGE)),
    }
    Ok(ExitCode::SUCCESS)
}
