//! One attempt of one runner, kept as the engine has it kept: a command and an envoy by a
//! keeper, a model by a chancery. What it says is heard as the engine hears it.

use std::cell::RefCell;
use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use legation_core::agent::Runner;
use legation_core::ids::AttemptId;
use legation_core::returns::{self, Expectation, Fact, Return};
use legation_runners::command::Report;
use legation_runners::envoy::{self, Charge};
use legation_runners::hearing::Hearing;
use legation_runners::keep::{Ceilings, Ended, Limits, Order};
use legation_runners::llm::hand;
use legation_runners::supervise::{Chancery, Exit, Keeper, Running};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use super::charge;
use super::players::{Played, Player};
use super::story::Turn;

/// What takes longer than this hangs.
const DEADLINE: Duration = Duration::from_secs(60);

/// One attempt.
pub(super) struct Stage {
    folder: TempDir,
    asked: RefCell<Option<Receiver<Value>>>,
    address: String,
    runtime: Runtime,
    runner: Runner,
    pub(super) charge: Charge,
    /// When its time is up, in milliseconds of the epoch.
    pub(super) deadline_ms: Option<u64>,
}

/// An attempt under way.
pub(super) struct Attempt<'a> {
    stage: &'a Stage,
    pub(super) running: Running,
    pub(super) hearing: Hearing,
    pub(super) reports: Vec<Report>,
}

/// What was heard of an attempt that is over.
pub(super) struct Heard {
    pub(super) hearing: Hearing,
    pub(super) reports: Vec<Report>,
    pub(super) ended: Ended,
}

impl Stage {
    pub(super) fn new(player: &Player, turns: &[Turn]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let Played { address, asked } = player.play(folder.path(), turns);
        let charge = Charge {
            runner: player.runner,
            program: ["/bin/sh", "-c", player.script, "player"].map(str::to_owned).to_vec(),
            // Nobody looks for the program of a model, and only that has to be named.
            model: (player.runner == Runner::Llm).then(|| "anthropic/claude-test".to_owned()),
            scratch: folder.path().join("scratch"),
            workspace: folder.path().to_owned(),
            ..charge()
        };
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let asked = RefCell::new(asked);
        let runner = player.runner;
        Self { folder, asked, address, runtime, runner, charge, deadline_ms: None }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// What the keeper is told, as the engine would tell it.
    fn order(&self) -> Order {
        let exe = env!("CARGO_BIN_EXE_keeper").to_owned();
        let (program, stdin) = match self.runner {
            Runner::Command => (self.charge.program.clone(), self.charge.prompt.clone()),
            Runner::Llm => (vec![exe, hand::VERB.to_owned()], self.told_charge()),
            Runner::ClaudeCode
            | Runner::Codex
            | Runner::OpenCode
            | Runner::Gemini
            | Runner::Acp => (vec![exe, envoy::VERB.to_owned()], self.told_charge()),
        };
        let home = self.path().to_string_lossy().into_owned();
        let variables = [
            // Nothing of the user's own is read.
            ("HOME", home.clone()),
            ("CODEX_HOME", home),
            ("PATH", std::env::var("PATH").unwrap()),
            ("ANTHROPIC_BASE_URL", self.address.clone()),
        ];
        let dir = self.path().join("attempt");
        fs::create_dir_all(&dir).unwrap();
        Order {
            attempt: AttemptId::new("exec-1"),
            session: self.charge.known.session_id.clone(),
            dir,
            program,
            env: variables.map(|(name, value)| (name.to_owned(), value)).to_vec(),
            cwd: self.path().to_owned(),
            stdin,
            limits: Limits::default(),
            deadline_ms: self.deadline_ms,
            cgroup: None,
            ceilings: Ceilings::default(),
            fence: None,
            asks_first: self.runner != Runner::Command,
            serves: None,
        }
    }

    fn told_charge(&self) -> String {
        serde_json::to_string(&self.charge).unwrap()
    }

    fn in_time<T>(&self, future: impl Future<Output = T>) -> T {
        let whole = async { tokio::time::timeout(DEADLINE, future).await };
        self.runtime.block_on(whole).expect("it hangs")
    }

    /// Starts it.
    pub(super) fn begin(&self) -> Attempt<'_> {
        let exe = PathBuf::from(env!("CARGO_BIN_EXE_keeper"));
        let keeper = Keeper { exe, args: Vec::new() };
        let order = self.order();
        let running = self.in_time(async {
            match self.runner {
                Runner::Llm => Chancery::beside(&keeper).spawn(&order).await,
                Runner::Command
                | Runner::ClaudeCode
                | Runner::Codex
                | Runner::OpenCode
                | Runner::Gemini
                | Runner::Acp => keeper.spawn(&order).await,
            }
        });
        let hearing = Hearing::of(self.runner);
        Attempt { stage: self, running: running.unwrap(), hearing, reports: Vec::new() }
    }

    /// All of it, heard out.
    pub(super) fn heard(&self) -> Heard {
        self.begin().heard_out()
    }

    /// What the agent was told at the beginning of each turn.
    pub(super) fn told(&self) -> Vec<String> {
        let newest = |request: Value| {
            let messages = request["messages"].as_array().unwrap();
            let last = messages.last().unwrap()["content"].to_string();
            (!last.contains("tool_result")).then_some(last)
        };
        if let Some(asked) = self.asked.borrow().as_ref() {
            return asked.try_iter().filter_map(newest).collect();
        }
        let told = (1..).map(|no| fs::read_to_string(self.path().join(format!("told-{no}"))));
        told.map_while(Result::ok).collect()
    }

    /// The return in what was heard, if it is a good one.
    pub(super) fn returned(&self, heard: &Heard) -> Option<Return> {
        let session_id = &self.charge.known.session_id;
        let expect = Expectation { session_id, schema: None };
        let facts = |_: &str| Fact::Missing;
        returns::check_text(&heard.hearing.text(), &expect, &facts).ok()
    }
}

impl Attempt<'_> {
    /// Listens until something is so.
    pub(super) fn hear_until(&mut self, is_so: impl Fn(&Hearing, &[Report]) -> bool) {
        while !is_so(&self.hearing, &self.reports) {
            let piece = self.stage.in_time(self.running.read());
            let piece = piece.expect("it ended before");
            self.reports.extend(self.hearing.push(&piece));
        }
    }

    /// Listens to its end.
    pub(super) fn heard_out(mut self) -> Heard {
        while let Some(piece) = self.stage.in_time(self.running.read()) {
            self.reports.extend(self.hearing.push(&piece));
        }
        self.reports.extend(self.hearing.finish());
        let exit = self.stage.in_time(self.running.wait());
        let Exit::Ended(ended) = exit else { panic!("it was lost") };
        let (hearing, reports) = (self.hearing.clone(), std::mem::take(&mut self.reports));
        Heard { hearing, reports, ended }
    }
}

/// A test that fails leaves nothing behind.
impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.running.remote().stop();
    }
}
