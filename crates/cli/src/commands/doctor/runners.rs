//! What executes agents here: which programs are found, whether somebody seems to be
//! logged in, when a budget ends them, and which of them is taken where nobody says.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use legation_core::agent::Runner;
use legation_engine::client::passed_on;
use legation_runners::vendors::{Chosen, Vendor, choose};
use serde::Serialize;

/// How long a program may take to say which version it is.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Characters of what it says that are shown.
const MAX_VERSION_CHARS: usize = 60;

/// Something that executes agents.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Found {
    pub(super) name: &'static str,
    /// Whether it can be used as things are; an agent may name another program.
    pub(super) found: bool,
    /// Its program.
    pub(super) program: Option<PathBuf>,
    pub(super) version: Option<String>,
    /// Whether there is a key or a login; absent where none is needed or nobody can tell.
    pub(super) login: Option<bool>,
    /// When an attempt that has used up its budget is stopped.
    pub(super) budget: &'static str,
    /// What that means.
    pub(super) note: &'static str,
}

/// The runner of agents that name none.
#[derive(Serialize)]
pub(super) struct ByDefault {
    pub(super) name: &'static str,
    /// Why it is that.
    pub(super) because: &'static str,
}

/// The runner of agents that name none; nothing where no program is installed.
pub(super) fn by_default() -> Option<ByDefault> {
    let Chosen { runner, because } = choose(&passed_on())?;
    Some(ByDefault { name: runner.as_str(), because })
}

/// Every runner there is.
pub(super) fn look() -> Vec<Found> {
    let env = passed_on();
    let looks: Vec<_> = Runner::ALL
        .into_iter()
        .map(|runner| {
            let env = env.clone();
            thread::spawn(move || Found::look(runner, &env))
        })
        .collect();
    looks.into_iter().filter_map(|look| look.join().ok()).collect()
}

impl Found {
    fn look(runner: Runner, env: &BTreeMap<String, String>) -> Self {
        let vendor = Vendor::of(runner);
        let program = vendor.and_then(|vendor| vendor.installed(env));
        let (budget, note) = enforced(runner);
        Self {
            name: runner.as_str(),
            found: program.is_some() || vendor.is_none_or(|vendor| vendor.program.is_empty()),
            version: program.as_deref().and_then(version),
            login: vendor.filter(|vendor| !vendor.keys.is_empty()).map(|it| it.has_login(env)),
            program,
            budget,
            note,
        }
    }
}

/// When a runner's budget is enforced, and what that means.
fn enforced(runner: Runner) -> (&'static str, &'static str) {
    match runner {
        Runner::Command => (
            "per turn",
            "stopped at the line of usage that crosses it; what is told with `submit` counts at \
             the end",
        ),
        Runner::ClaudeCode => (
            "per call",
            "tokens are told as each message streams; cost is by the table of prices until it \
             says so itself at the end of a turn, and it is told the limit",
        ),
        Runner::Codex => (
            "per call",
            "tokens are in its record after each answer; cost is by the table of prices",
        ),
        Runner::OpenCode => (
            "per call",
            "tokens are told after each step, and cost where it knows the price; else that is by \
             the table of prices",
        ),
        Runner::Gemini => {
            ("at the end", "tokens are told when it is done; cost is by the table of prices")
        }
        Runner::Acp => ("at the end", "as the agent tells; many tell when a turn ends"),
        Runner::Llm => ("per call", "tokens are told after each call of the model"),
    }
}

/// What a program says its version is, if it says so soon.
fn version(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let begun = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if begun.elapsed() > PATIENCE {
            // One that does not answer is not waited for.
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        thread::sleep(LOOK_EVERY);
    }
    let mut said = String::new();
    child.stdout.take()?.take(4096).read_to_string(&mut said).ok()?;
    let line = said.lines().find(|line| !line.trim().is_empty())?;
    Some(
        line.trim().chars().filter(|letter| !letter.is_control()).take(MAX_VERSION_CHARS).collect(),
    )
}
