//! A conversation to hold, and words for what is heard.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;

use legation_core::agent::{Level, Runner};
use legation_core::ids::{AgentId, SessionId};
use legation_core::returns::Metadata;
use legation_runners::envoy::{Charge, Door, End, Event, Outcome, Program, Tools, Turn};

/// What the agent of every test may use.
pub(crate) fn tools() -> Tools {
    Tools {
        read: Level::Allow,
        edit: Level::Allow,
        shell: Level::Allow,
        web: Level::Ask,
        delegate: Level::Deny,
        others: BTreeMap::new(),
    }
}

/// A charge whose files lie below that folder.
pub(crate) fn charge(runner: Runner, program: &str, folder: &Path) -> Charge {
    Charge {
        runner,
        program: vec![program.to_owned()],
        model: None,
        temperature: None,
        max_turns: None,
        instructions: "Be careful.".to_owned(),
        prompt: "Say hi, then delegate.".to_owned(),
        known: Metadata {
            session_id: SessionId::new("sess_1794766399_a1b2c3"),
            agent_type: AgentId::new("worker"),
            delegation_depth: 1,
            delegation_path: vec![AgentId::new("user"), AgentId::new("worker")],
            duration_seconds: None,
        },
        schema: None,
        tools: tools(),
        is_fenced: true,
        door: Door {
            exe: "/usr/bin/legation".into(),
            env: BTreeMap::from([("LEGATION_TOKEN".to_owned(), "secret".to_owned())]),
        },
        scratch: folder.join("scratch"),
        workspace: folder.to_owned(),
    }
}

/// One turn: what the program printed, in pieces, and how it ended.
pub(crate) struct Said<'a> {
    pub(crate) pieces: Vec<&'a [u8]>,
    pub(crate) code: i32,
}

impl<'a> Said<'a> {
    pub(crate) fn at_once(output: &'a [u8], code: i32) -> Self {
        Self { pieces: vec![output], code }
    }
}

/// Everything that is heard of a program over some turns of one conversation.
pub(crate) fn hear<P: Program + Default>(turns: &[Said<'_>]) -> Vec<(Vec<Event>, Outcome)> {
    let folder = tempfile::tempdir().unwrap();
    let charge = charge(Runner::Command, "program", folder.path());
    let mut program = P::default();
    let mut all = Vec::new();
    for (no, said) in turns.iter().enumerate() {
        let turn = Turn { text: "Go on.", no: u32::try_from(no).unwrap() };
        program.spawn(&charge, &turn).unwrap();
        let mut events = Vec::new();
        said.pieces.iter().for_each(|piece| program.push(piece, &mut events));
        let status = Some(ExitStatus::from_raw(said.code << 8));
        let outcome = program.end(&End { status, last_words: "its last words" });
        all.push((events, outcome));
    }
    all
}

/// What was heard in words, a line each; signs of life are left out.
pub(crate) fn in_words(heard: &(Vec<Event>, Outcome)) -> String {
    let mut shown = String::new();
    for event in &heard.0 {
        let _ = match event {
            Event::Text(text) => writeln!(shown, "says {text:?}"),
            Event::Tool { tool, what } => writeln!(shown, "uses {tool}: {what}"),
            Event::ToolOver => writeln!(shown, "tool over"),
            Event::Denied { tool, why } => writeln!(shown, "denied {tool}: {why}"),
            Event::Used { usage, model } => {
                let tokens = usage.tokens;
                let cost = usage.cost.map_or("no cost".to_owned(), |cost| cost.to_string());
                writeln!(
                    shown,
                    "used {} in, {} out, {} reasoning, {} read, {} written, {cost}, by {}",
                    tokens.input,
                    tokens.output,
                    tokens.reasoning,
                    tokens.cache_read,
                    tokens.cache_write,
                    model.as_deref().unwrap_or("nobody named"),
                )
            }
            Event::Context(tokens) => writeln!(shown, "{tokens} in its context"),
            Event::Conversation(name) => writeln!(shown, "conversation {name}"),
            Event::Alive => Ok(()),
        };
    }
    let _ = match &heard.1 {
        Outcome::Over => writeln!(shown, "over"),
        Outcome::Broken(fault) => {
            let after = fault.retry_after.map(|after| format!(", again after {after} s"));
            let after = after.unwrap_or_default();
            writeln!(shown, "broken, {}{after}: {}", fault.kind.as_str(), fault.message)
        }
    };
    shown
}
