//! The keeper, the envoy, the chancery, the hand and the holder on their own, for the tests of
//! this crate. The product starts the same functions as hidden verbs of its one binary.
//!
//! One verb is no part of the product: a conversation in a chancery of its own, which looks
//! like one of an envoy from outside, so that both are held to the same contract.

use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use legation_core::ids::AttemptId;
use legation_runners::envoy::Charge;
use legation_runners::keep::{Ceilings, Limits, Order};
use legation_runners::llm::hand;
use legation_runners::supervise::{Chancery, Exit, Keeper};
use legation_runners::workspace::namespace;
use legation_runners::{chancery, envoy, keep};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

/// The verb of a single conversation.
const SINGLE: &str = "single";

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some(envoy::VERB) => envoy::main(),
        Some(chancery::VERB) => chancery::main(),
        Some(hand::VERB) => hand::main(),
        Some(namespace::VERB) => namespace::main(),
        Some(SINGLE) => single().unwrap_or(ExitCode::FAILURE),
        Some(_) | None => keep::main(),
    }
}

/// The charge comes in on standard input, what is told goes out on standard output, and
/// SIGTERM asks to stop.
fn single() -> io::Result<ExitCode> {
    let mut charge = String::new();
    io::stdin().read_to_string(&mut charge)?;
    let order = order(charge)?;
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let mut stop = signal(SignalKind::terminate())?;
        let chancery = Chancery::beside(&Keeper::own()?);
        let mut running = chancery.spawn(&order).await.map_err(io::Error::other)?;
        loop {
            tokio::select! {
                piece = running.read() => {
                    let Some(piece) = piece else { break };
                    io::stdout().write_all(&piece)?;
                    io::stdout().flush()?;
                }
                _ = stop.recv() => running.remote().stop(),
            }
        }
        Ok(match running.wait().await {
            Exit::Ended(ended) if ended.code == Some(0) => ExitCode::SUCCESS,
            Exit::Ended(_) | Exit::Lost { .. } => ExitCode::FAILURE,
        })
    })
}

fn order(stdin: String) -> io::Result<Order> {
    let charge: Charge = serde_json::from_str(&stdin)?;
    let own = std::env::current_exe()?.to_string_lossy().into_owned();
    Ok(Order {
        attempt: AttemptId::new("exec-1"),
        session: charge.known.session_id,
        env: std::env::vars().collect(),
        dir: PathBuf::from(format!("{}-attempt", charge.scratch.display())),
        program: vec![own, hand::VERB.to_owned()],
        cwd: charge.workspace,
        stdin,
        limits: Limits::default(),
        deadline_ms: None,
        cgroup: None,
        ceilings: Ceilings::default(),
        fence: None,
        asks_first: false,
        serves: None,
    })
}
