//! One conversation with a scripted provider, in a folder of its own.

use std::sync::mpsc::Receiver;

use legation_runners::envoy::{Charge, Dialogue as _, Ear, Fault, Outcome, Told};
use legation_runners::llm::Llm;
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::watch;

use super::server::{Script, serve};
use crate::talked::{Heard, charge};

pub(super) struct Stage {
    pub(super) folder: TempDir,
    pub(super) charge: Charge,
    pub(super) asked: Receiver<Value>,
    llm: Llm,
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
        let env = variables.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
        let heard = Heard::default();
        let (stop, stopped) = watch::channel(false);
        Self {
            charge: charge(folder.path()),
            folder,
            asked,
            llm: Llm::new(env),
            ear: Ear::new(heard.clone(), stopped),
            heard,
            stop,
        }
    }

    /// Says something and waits for the end of the turn.
    pub(super) fn say(&mut self, text: &str) -> Outcome {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        self.ear.begin();
        runtime.block_on(self.llm.turn(&self.charge, text, &mut self.ear))
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
