//! Conversations to hold, and what they are kept by.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use legation_core::agent::{Level, Permissions, Runner};
use legation_core::ids::{AgentId, AttemptId, SessionId};
use legation_core::returns::Metadata;
use legation_runners::envoy::{Charge, Door, Tools};
use legation_runners::keep::{Ceilings, Limits, Order};
use legation_runners::supervise::Keeper;

/// The binary of keepers, envoys and chanceries.
pub(super) const KEEPER: &str = env!("CARGO_BIN_EXE_keeper");

pub(super) fn keeper() -> Keeper {
    Keeper { exe: PathBuf::from(KEEPER), args: Vec::new() }
}

/// A conversation of an agent with that runner, in that folder.
pub(super) fn charge(runner: Runner, folder: &Path) -> Charge {
    let permissions = Permissions::new(&legation_core::config::Permissions::default());
    Charge {
        runner,
        program: Vec::new(),
        model: None,
        temperature: None,
        max_turns: None,
        max_cost: None,
        instructions: String::new(),
        prompt: "the brief".to_owned(),
        known: Metadata {
            session_id: SessionId::new("sess_1700000000_abc123"),
            agent_type: AgentId::new("worker"),
            delegation_depth: 1,
            delegation_path: vec![AgentId::new("user"), AgentId::new("worker")],
            duration_seconds: None,
        },
        schema: None,
        tools: Tools {
            read: Level::Allow,
            edit: Level::Allow,
            shell: Level::Allow,
            web: Level::Deny,
            delegate: Level::Deny,
            others: BTreeMap::new(),
            layers: permissions,
        },
        is_fenced: false,
        door: Door { exe: PathBuf::from(KEEPER), env: BTreeMap::new() },
        servers: BTreeMap::new(),
        scratch: folder.join("scratch"),
        workspace: folder.to_owned(),
        env: BTreeMap::new(),
    }
}

/// An order for the attempt of that number.
pub(super) fn order(no: usize, folder: &Path, program: &[&str]) -> Order {
    Order {
        attempt: AttemptId::new(format!("exec-{no}")),
        session: SessionId::new(format!("sess_bench_{no}")),
        dir: folder.join(format!("attempt-{no}")),
        program: program.iter().map(|word| (*word).to_owned()).collect(),
        env: std::env::vars().collect(),
        cwd: folder.to_owned(),
        stdin: String::new(),
        limits: Limits::default(),
        deadline_ms: None,
        cgroup: None,
        ceilings: Ceilings::default(),
        fence: None,
        asks_first: true,
        serves: None,
    }
}
