//! One conversation with a scripted provider, in a folder of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use legation_core::ids::AttemptId;
use legation_runners::envoy::{Charge, Dialogue as _, Ear, Fault, Outcome, Told};
use legation_runners::hands::Hands;
use legation_runners::keep::{Ceilings, Limits, Order};
use legation_runners::llm::{Clients, Llm, Means, hand};
use legation_runners::supervise::Keeper;
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::server::{Script, serve};
use crate::talked::{Heard, charge};

pub(super) struct Stage {
    pub(super) folder: TempDir,
    pub(super) charge: Charge,
    pub(super) asked: Receiver<Value>,
    _attempt: TempDir,
    runtime: Runtime,
    llm: Llm,
    hands: Arc<Hands>,
    ear: Ear,
    heard: Heard,
    pub(super) stop: watch::Sender<bool>,
}

impl Stage {
    pub(super) fn new(scripts: Vec<Script>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (address, asked) = serve(scripts);
        let variables = [
            ("ANTHROPIC_BASE_URL", address.clone()),
            ("ANTHROPIC_API_KEY", "k-1".to_owned()),
            ("OPENAI_BASE_URL", format!("{address}/v1")),
            ("PATH", std::env::var("PATH").unwrap()),
        ];
        let env = variables.map(|(name, value)| (name.to_owned(), value));
        let charge = Charge { env: env.into_iter().collect(), ..charge(folder.path()) };
        let attempt = tempfile::tempdir().unwrap();
        let hands = Arc::new(Hands::new(keeper(), order(&charge, attempt.path())));
        let means = Means { hands: hands.clone(), clients: Clients::default(), is_offline: false };
        let heard = Heard::default();
        let (stop, stopped) = watch::channel(false);
        Self {
            charge,
            _attempt: attempt,
            folder,
            asked,
            runtime: Builder::new_current_thread().enable_all().build().unwrap(),
            llm: Llm::new(means),
            hands,
            ear: Ear::new(heard.clone(), stopped),
            heard,
            stop,
        }
    }

    /// Says something and waits for the end of the turn.
    pub(super) fn say(&mut self, text: &str) -> Outcome {
        self.ear.begin();
        self.runtime.block_on(self.llm.turn(&self.charge, text, &mut self.ear))
    }

    /// Nothing more will be said.
    pub(super) fn close(&mut self) {
        self.runtime.block_on(async {
            self.llm.close().await;
            self.hands.end().await;
        });
    }

    pub(super) fn fault(&mut self, text: &str) -> Fault {
        match self.say(text) {
            Outcome::Broken(fault) => fault,
            Outcome::Over => panic!("it did not break off"),
        }
    }

    pub(super) fn told(&self) -> Vec<Told> {
        self.heard.told()
    }

    pub(super) fn transcript(&self) -> String {
        self.heard.transcript()
    }

    /// What the model was told of its tools in the request that comes next.
    pub(super) fn next_results(&self) -> Vec<(String, bool)> {
        let request = self.asked.recv().unwrap();
        let last = request["messages"].as_array().unwrap().last().unwrap().clone();
        let content = last["content"].as_array().unwrap().clone();
        let result = |block: &Value| {
            (block["content"].as_str().unwrap().to_owned(), block["is_error"].as_bool().unwrap())
        };
        content.iter().map(result).collect()
    }
}

/// The keeper that is built with these tests.
fn keeper() -> Keeper {
    Keeper { exe: PathBuf::from(env!("CARGO_BIN_EXE_keeper")), args: Vec::new() }
}

/// What the hands of a conversation are ordered by.
fn order(charge: &Charge, dir: &Path) -> Order {
    let exe = env!("CARGO_BIN_EXE_keeper").to_owned();
    Order {
        attempt: AttemptId::new("exec-1"),
        session: charge.known.session_id.clone(),
        dir: dir.to_owned(),
        program: vec![exe, hand::VERB.to_owned()],
        env: Vec::new(),
        cwd: charge.workspace.clone(),
        stdin: String::new(),
        limits: Limits::default(),
        deadline_ms: None,
        cgroup: None,
        ceilings: Ceilings::default(),
        fence: None,
        asks_first: false,
        serves: None,
    }
}
