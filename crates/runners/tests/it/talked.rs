//! What every conversation is tested with: a charge, and what was passed on of it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use legation_core::agent::{Level, Permissions, Runner};
use legation_core::config;
use legation_core::returns::{Metadata, Tokens};
use legation_runners::envoy::{Charge, Door, Told, Tools};

/// What was passed on.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<u8>>>);

impl Write for Heard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Heard {
    /// What was passed on, a line each.
    pub(crate) fn told(&self) -> Vec<Told> {
        let heard = self.0.lock().unwrap();
        let lines = heard.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    }

    /// The same for people to read. What was used is added up until something else is
    /// told: how often it is told depends on how the bytes came in.
    pub(crate) fn transcript(&self) -> String {
        let mut lines = Vec::new();
        let mut used: Option<Told> = None;
        for told in self.told() {
            match told {
                Told::Used { tokens, cost, model } => {
                    let before = match used.take() {
                        Some(Told::Used { tokens, cost, .. }) => (tokens, cost),
                        Some(_) | None => (Tokens::default(), None),
                    };
                    let (tokens, cost) = (tokens.plus(&before.0), cost.or(before.1));
                    used = Some(Told::Used { tokens, cost, model });
                }
                Told::Context(_) => {}
                Told::Text(text) if text == "\n" => {}
                told @ (Told::Text(_)
                | Told::Tool { .. }
                | Told::Denied { .. }
                | Told::Unavailable { .. }
                | Told::Conversation(_)
                | Told::AskedAgain { .. }
                | Told::Stalled { .. }
                | Told::CutOff) => lines.extend(used.take().into_iter().chain([told])),
            }
        }
        lines.extend(used);
        lines.iter().map(|told| serde_json::to_string(told).unwrap() + "\n").collect()
    }
}

pub(crate) fn charge(workspace: &Path) -> Charge {
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
        max_cost: None,
        instructions: "Be brief.".to_owned(),
        prompt: String::new(),
        known,
        schema: None,
        tools: tools(Level::Allow),
        is_fenced: false,
        door: Door::default(),
        servers: BTreeMap::new(),
        scratch: workspace.join("scratch"),
        workspace: workspace.to_owned(),
        env: BTreeMap::new(),
    }
}

pub(crate) fn tools(shell: Level) -> Tools {
    Tools {
        read: Level::Allow,
        edit: Level::Allow,
        shell,
        web: Level::Deny,
        delegate: Level::Deny,
        others: BTreeMap::new(),
        layers: layers(&[], &[], &[]),
    }
}

/// What is left where the configuration says this, and nobody else says anything.
pub(crate) fn layers(allow: &[&str], ask: &[&str], deny: &[&str]) -> Permissions {
    let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let allow = (!allow.is_empty()).then(|| list(allow));
    Permissions::new(&config::Permissions { allow, ask: list(ask), deny: list(deny) })
}
