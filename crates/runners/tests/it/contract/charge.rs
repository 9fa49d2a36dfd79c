//! A conversation to hold, as an engine would ask for it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use legation_core::agent::{Level, Runner};
use legation_core::ids::{AgentId, SessionId};
use legation_core::returns::Metadata;
use legation_runners::envoy::{Charge, Door, Tools};

use crate::talked::layers;

/// One for an agent with the permissions that are usual.
pub(crate) fn charge() -> Charge {
    Charge {
        runner: Runner::ClaudeCode,
        program: vec!["/bin/agent".to_owned()],
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
            web: Level::Ask,
            delegate: Level::Deny,
            others: BTreeMap::new(),
            layers: layers(&[], &[], &[]),
        },
        is_fenced: true,
        door: Door {
            exe: PathBuf::from("/bin/legation"),
            env: BTreeMap::from([
                ("LEGATION_TOKEN".to_owned(), "secret".to_owned()),
                ("PATH".to_owned(), "/a:/it's".to_owned()),
            ]),
        },
        servers: BTreeMap::new(),
        scratch: PathBuf::from("/attempt/tmp/envoy"),
        workspace: PathBuf::from("/workspace"),
        env: BTreeMap::new(),
    }
}
