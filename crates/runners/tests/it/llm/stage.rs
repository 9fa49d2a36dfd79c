//! One conversation with a scripted provider, in a folder of its own.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;
use std::sync::mpsc::Receiver;

use legation_core::agent::{Level, Runner};
use legation_core::returns::{Metadata, Tokens};
use legation_runners::envoy::{Charge, Dialogue as _, Door, Ear, Fault, Outcome, Told, Tools};
use legation_runners::llm::Llm;
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::watch;

use super::server::{Script, serve};

#[derive(Clone, Default)]
struct Heard(Rc<RefCell<Vec<u8>>>);

impl Write for Heard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) struct Stage {
    pub(super) folder: TempDir,
    pub(super) charge: Charge,
    pub(super) asked: Receiver<Value>,
    llm: Llm,
    ear: Ear,
    heard: Heard,
    pub(super) stop: watch::Sender<bool>,
}

pub(super) fn charge(workspace: &Path) -> Charge {
    let known = serde_json::json!({
        "session_id": "sess_1700000000_abc123", "agent_type": "writer",
        "delegation_depth": 1, "delegation_path": ["user", "writer"],
    });
    let known: Metadata = serde_json::from_value(known).unwrap();
    Charge {
        runner: Runner::Llm,
        program: Vec::new(),
        model: Some("anthropic/claude-test".to_owned()),
        temperature: None,
        max_turns: None,
        instructions: "Be brief.".to_owned(),
        prompt: String::new(),
        known,
        schema: None,
        tools: tools(Level::Allow),
        is_fenced: false,
        door: Door::default(),
        scratch: workspace.join("scratch"),
        workspace: workspace.to_owned(),
    }
}

pub(super) fn tools(shell: Level) -> Tools {
    Tools {
        read: Level::Allow,
        edit: Level::Allow,
        shell,
        web: Level::Deny,
        delegate: Level::Deny,
        others: BTreeMap::new(),
    }
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

    /// What was passed on, a line each.
    pub(super) fn told(&self) -> Vec<Told> {
        let heard = self.heard.0.borrow();
        let lines = heard.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    }

    /// The same for people to read. What was used is added up until something else is
    /// told: how often it is told depends on how the bytes came in.
    pub(super) fn transcript(&self) -> String {
        let mut lines = String::new();
        let mut used: Option<(Tokens, Told)> = None;
        for told in self.told() {
            match told {
                Told::Used { tokens, cost, model } => {
                    let tokens = used.map_or(tokens, |(so_far, _)| so_far.plus(&tokens));
                    used = Some((tokens, Told::Used { tokens, cost, model }));
                }
                Told::Context(_) => {}
                Told::Text(text) if text == "\n" => {}
                told => {
                    let used = used.take().map(|(_, used)| used);
                    for told in used.into_iter().chain([told]) {
                        lines.push_str(&serde_json::to_string(&told).unwrap());
                        lines.push('\n');
                    }
                }
            }
        }
        lines
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
