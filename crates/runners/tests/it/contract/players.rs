//! The seven runners, each played from the same story: a program that looks like the
//! vendor's and prints what that would, a model, or an agent by protocol.

mod command;
mod model;
mod protocol;
mod vendors;

use std::fs;
use std::path::Path;
use std::sync::mpsc::Receiver;

use legation_core::agent::Runner;
use legation_core::money::Usd;
use legation_core::returns::Tokens;
use serde_json::Value;

use super::story::{End, Turn};

/// A runner, and what stands in for its program.
pub(super) struct Player {
    pub(super) runner: Runner,
    /// What is used: for each turn, or for each step of one.
    pub(super) used: Tokens,
    pub(super) counts_steps: bool,
    /// What a turn costs, where it says so, in billionths of a dollar.
    pub(super) cost_nanos: Option<u64>,
    /// How it is started, if it is a program.
    pub(super) script: &'static str,
    /// What it prints in a turn of that number.
    prints: fn(usize, &Turn) -> Vec<u8>,
}

/// What a turn uses where the program tells cached tokens apart.
const USED: Tokens =
    Tokens { input: 100, output: 10, reasoning: 0, cache_read: 20, cache_write: 3 };

/// All of them.
pub(super) const PLAYERS: &[Player] = &[
    Player {
        runner: Runner::Command,
        used: USED,
        counts_steps: false,
        cost_nanos: Some(7_000_000),
        script: ONE_TURN,
        prints: command::prints,
    },
    Player {
        runner: Runner::ClaudeCode,
        used: USED,
        counts_steps: false,
        cost_nanos: Some(5_000_000),
        script: ALL_TURNS,
        prints: vendors::claude_code,
    },
    Player {
        runner: Runner::Codex,
        used: USED,
        counts_steps: false,
        cost_nanos: None,
        script: ONE_TURN,
        prints: vendors::codex,
    },
    Player {
        runner: Runner::OpenCode,
        used: USED,
        counts_steps: false,
        cost_nanos: Some(5_000_000),
        script: ONE_TURN,
        prints: vendors::opencode,
    },
    Player {
        runner: Runner::Gemini,
        used: Tokens { reasoning: 7, cache_write: 0, ..USED },
        counts_steps: false,
        cost_nanos: None,
        script: ONE_TURN,
        prints: vendors::gemini,
    },
    Player {
        runner: Runner::Acp,
        used: USED,
        counts_steps: false,
        cost_nanos: None,
        script: ALL_TURNS,
        prints: protocol::prints,
    },
    Player {
        runner: Runner::Llm,
        used: USED,
        counts_steps: true,
        cost_nanos: None,
        script: "",
        prints: |_, _| Vec::new(),
    },
];

/// A program that is started for each turn. How it is started and what it reads is in
/// `told-1`, `told-2`, …; what it says is in `said-1`, `said-2`, …. `begun` is there once it
/// has said something.
const ONE_TURN: &str = r#"
    trap 'exit 1' INT TERM
    turn=1; while [ -e "told-$turn" ]; do turn=$((turn + 1)); done
    { echo "$*"; cat; } > "told-$turn"
    cat "said-$turn"; touch begun
    if [ -e "runs-$turn" ]; then sh "./runs-$turn" & fi
    if [ -e "hangs-$turn" ]; then sleep 1000 & wait; fi
    if [ -e "breaks-$turn" ]; then echo 'out of luck' >&2; fi
    if [ -e "limited-$turn" ]; then exit "$(cat "limited-$turn")"; fi"#;

/// A program that stays for the whole conversation, and reads a line for each thing it is
/// told.
const ALL_TURNS: &str = r#"
    turn=0
    while IFS= read -r line; do
        case "$line" in
        *'"method":"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}';;
        *'"method":"session/new"'*) echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}';;
        *'"method":"session/prompt"'*|*'"type":"user"'*)
            turn=$((turn + 1)); printf '%s\n' "$line" > "told-$turn"
            cat "said-$turn"; touch begun
            if [ -e "runs-$turn" ]; then sh "./runs-$turn" & fi
            if [ -e "breaks-$turn" ]; then echo 'out of luck' >&2; exit 0; fi;;
        *interrupt*) echo '{"type":"result","subtype":"error_during_execution","is_error":true}';;
        esac
    done"#;

/// A story that can be told.
#[derive(Default)]
pub(super) struct Played {
    /// Where a model is.
    pub(super) address: String,
    /// What it is asked.
    pub(super) asked: Option<Receiver<Value>>,
}

impl Player {
    /// Puts turns where whoever plays them finds them.
    pub(super) fn play(&self, folder: &Path, turns: &[Turn]) -> Played {
        if self.runner == Runner::Llm {
            return model::play(turns);
        }
        for (no, turn) in turns.iter().enumerate().map(|(at, turn)| (at + 1, turn)) {
            let write = |name: &str, text: &[u8]| {
                fs::write(folder.join(format!("{name}-{no}")), text).unwrap();
            };
            let said = (self.prints)(no, turn);
            write("said", &[turn.before.clone(), said].concat());
            // What has come back is not worth running.
            let commands = turn.commands().join("\n");
            match turn.end {
                End::Hangs => {
                    write("hangs", b"");
                    write("runs", commands.as_bytes());
                }
                End::Breaks => write("breaks", b""),
                End::Limited => write("limited", limited(self.runner).as_bytes()),
                End::Over => {}
            }
        }
        Played::default()
    }

    /// What so many turns of so many steps each come to.
    pub(super) fn used(&self, (turns, steps): (u32, u32)) -> Tokens {
        let times = if self.counts_steps { turns * steps } else { turns };
        (0..times).fold(Tokens::default(), |sum, _| sum.plus(&self.used))
    }

    /// And what they cost.
    pub(super) fn cost(&self, turns: u64) -> Option<Usd> {
        self.cost_nanos.map(|nanos| Usd::from_nanos(turns * nanos))
    }
}

/// The exit code of a program whose provider has no room.
fn limited(runner: Runner) -> &'static str {
    match runner {
        // What eight bits leave of 429.
        Runner::Gemini => "173",
        Runner::OpenCode | Runner::Codex => "1",
        Runner::Command | Runner::ClaudeCode | Runner::Acp | Runner::Llm => "0",
    }
}

/// A line of JSON.
fn line(value: &Value) -> String {
    format!("{value}\n")
}
