//! The two runners that are talked to without a vendor's format in between: a model behind
//! an interface, and an agent of the Agent Client Protocol. Both are played from the same
//! story, through the real envoy.

use std::cell::RefCell;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;

use legation_core::agent::Runner;
use legation_core::returns::Tokens;
use legation_runners::envoy::{Charge, Reader};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::charge;
use crate::llm::server::{Script, anthropic_events, serve};

/// One turn of an agent, whoever it is.
#[derive(Clone, Default)]
pub(super) struct Turn {
    /// What it prints before anything that makes sense.
    pub(super) before: Vec<u8>,
    pub(super) parts: Vec<Part>,
    pub(super) end: End,
    /// Whether nobody says what it used.
    pub(super) is_unused: bool,
}

#[derive(Clone)]
pub(super) enum Part {
    Says(String),
    /// A command that it runs.
    Runs(String),
}

/// How a turn ends.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) enum End {
    #[default]
    Over,
    /// All streams end, with a good exit code.
    Breaks,
    /// Nothing more comes.
    Hangs,
    /// The provider has no room.
    Limited,
}

/// A turn in which something is said.
pub(super) fn says(text: &str) -> Turn {
    Turn { parts: vec![Part::Says(text.to_owned())], ..Turn::default() }
}

/// A story that can be told.
#[derive(Default)]
struct Played {
    /// Where a model is.
    address: String,
    /// What it is asked.
    asked: Option<Receiver<Value>>,
}

/// A runner.
pub(super) struct Talker {
    pub(super) runner: Runner,
    /// What a turn uses for each thing that it does or says.
    pub(super) used: Tokens,
    /// Whether each step of a turn is counted, or the turn as a whole.
    pub(super) counts_steps: bool,
    /// What is told first in a turn.
    pub(super) begins_with: &'static str,
    /// Puts turns where the envoy will find them.
    play: fn(&Path, &[Turn]) -> Played,
}

pub(super) const TALKERS: &[Talker] = &[
    Talker {
        runner: Runner::Llm,
        used: Tokens { input: 100, output: 10, reasoning: 0, cache_read: 20, cache_write: 3 },
        counts_steps: true,
        begins_with: "\"used\"",
        play: model,
    },
    Talker {
        runner: Runner::Acp,
        used: Tokens { input: 100, output: 10, reasoning: 0, cache_read: 20, cache_write: 3 },
        counts_steps: false,
        begins_with: "\"conversation\"",
        play: |folder, turns| {
            protocol(folder, turns);
            Played::default()
        },
    },
];

/// A model that answers with those turns. A command is a tool that it wants used.
fn model(_: &Path, turns: &[Turn]) -> Played {
    let scripts = turns.iter().flat_map(|turn| {
        let mut scripts = Vec::new();
        let mut blocks = Vec::new();
        let mut before = turn.before.clone();
        let mut body = |blocks: &[Value], is_whole: bool| {
            let mut events = anthropic_events(blocks);
            if turn.is_unused {
                events.iter_mut().for_each(|event| {
                    event.as_object_mut().unwrap().remove("usage");
                    if let Some(message) = event.get_mut("message") {
                        *message = json!({});
                    }
                });
            }
            if !is_whole {
                events.truncate(events.len() - 2);
            }
            let data = events.iter().map(|event| format!("data: {event}\n\n"));
            let mut body = std::mem::take(&mut before);
            body.extend(data.collect::<String>().into_bytes());
            Script::raw(body)
        };
        for part in &turn.parts {
            match part {
                Part::Says(text) => blocks.push(json!({ "text": text })),
                Part::Runs(command) => {
                    blocks.push(json!({"tool": "shell", "input": {"command": command}}));
                    scripts.push(body(&blocks, true));
                    blocks.clear();
                }
            }
        }
        match turn.end {
            End::Over => scripts.push(body(&blocks, true)),
            // It is asked for again.
            End::Breaks => scripts.extend((0..3).map(|_| body(&blocks, false).cut())),
            End::Hangs => scripts.push(body(&blocks, false).held()),
            End::Limited => scripts.push(Script::refusal(429, "retry-after: 77\r\n", "busy")),
        }
        scripts
    });
    let (address, asked) = serve(scripts.collect());
    Played { address, asked: Some(asked) }
}

/// An agent that says those turns. What it is told is in the file `log`; `begun` is there
/// once the first turn has been said.
const AGENT: &str = r#"
    turn=0
    while IFS= read -r line; do
        printf '%s\n' "$line" >> log
        case "$line" in
        *'"method":"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}';;
        *'"method":"session/new"'*) echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}';;
        *'"method":"session/prompt"'*)
            turn=$((turn + 1)); cat "said-$turn"
            if [ -e "runs-$turn" ]; then sh "./runs-$turn" & fi
            touch begun
            if [ -e "breaks-$turn" ]; then exit 0; fi;;
        esac
    done"#;

fn protocol(folder: &Path, turns: &[Turn]) {
    let update = |update: &Value| {
        let params = json!({"sessionId": "s", "update": update});
        format!("{}\n", json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))
    };
    for (no, turn) in turns.iter().enumerate() {
        let mut said = turn.before.clone();
        for (step, part) in turn.parts.iter().enumerate() {
            let text = match part {
                Part::Says(text) => {
                    let content = json!({"type": "text", "text": text});
                    let said = json!({"sessionUpdate": "agent_message_chunk", "content": content});
                    update(&said)
                }
                Part::Runs(command) => {
                    fs::write(folder.join(format!("runs-{}", no + 1)), command).unwrap();
                    let call = json!({"toolCallId": format!("t{no}-{step}"), "kind": "execute", "rawInput": {"command": command}});
                    let options = json!([{"optionId": "once", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}]);
                    let wanted = json!({"sessionId": "s", "toolCall": call, "options": options});
                    let wanted = json!({"jsonrpc": "2.0", "id": format!("q{no}-{step}"), "method": "session/request_permission", "params": wanted});
                    let mut over = call.clone();
                    over["sessionUpdate"] = json!("tool_call_update");
                    over["status"] = json!("completed");
                    let over = if turn.end == End::Hangs { String::new() } else { update(&over) };
                    format!("{wanted}\n{over}")
                }
            };
            said.extend(text.into_bytes());
        }
        let usage = json!({"inputTokens": 100, "outputTokens": 10, "cachedReadTokens": 20, "cachedWriteTokens": 3, "totalTokens": 133});
        let usage = if turn.is_unused { json!({"inputTokens": 0}) } else { usage };
        let id = no + 3;
        let ended = match turn.end {
            End::Over => {
                let result = json!({"stopReason": "end_turn", "usage": usage});
                format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "result": result}))
            }
            End::Limited => {
                let error = json!({"code": -32603, "message": "429 too many requests"});
                format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "error": error}))
            }
            End::Breaks => {
                fs::write(folder.join(format!("breaks-{}", no + 1)), "").unwrap();
                String::new()
            }
            End::Hangs => String::new(),
        };
        said.extend(ended.into_bytes());
        fs::write(folder.join(format!("said-{}", no + 1)), said).unwrap();
    }
}

/// One conversation with one of them.
pub(super) struct Stage {
    folder: TempDir,
    asked: RefCell<Option<Receiver<Value>>>,
    address: String,
    pub(super) charge: Charge,
}

impl Stage {
    pub(super) fn new(talker: &Talker, turns: &[Turn]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let Played { address, asked } = (talker.play)(folder.path(), turns);
        // A model is no program, and nobody looks for one.
        let program = ["/bin/sh", "-c", AGENT].map(str::to_owned).to_vec();
        let charge = Charge {
            runner: talker.runner,
            program,
            // The agent that stands for all of a protocol offers no models.
            model: (talker.runner != Runner::Acp).then(|| "anthropic/claude-test".to_owned()),
            instructions: "Be brief.".to_owned(),
            scratch: folder.path().join("scratch"),
            workspace: folder.path().to_owned(),
            ..charge()
        };
        Self { folder, asked: RefCell::new(asked), address, charge }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn envoy(&self) -> Child {
        let mut envoy = Command::new(env!("CARGO_BIN_EXE_keeper"))
            // A model is talked to by a chancery.
            .arg(if self.charge.runner == Runner::Llm { "single" } else { "envoy" })
            .env("HOME", self.path())
            .env("ANTHROPIC_BASE_URL", &self.address)
            .env_remove("LEGATION_SOCKET")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = envoy.stdin.take().unwrap();
        stdin.write_all(&serde_json::to_vec(&self.charge).unwrap()).unwrap();
        envoy
    }

    /// The whole conversation, heard out. Whatever happens, an envoy ends well.
    pub(super) fn heard(&self) -> Reader {
        let output = self.envoy().wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        read(&output.stdout)
    }

    /// Waits until the first turn was said, where somebody writes that down.
    pub(super) fn see_begun(&self) {
        let is_written = self.charge.runner == Runner::Acp;
        while is_written && !self.path().join("begun").exists() {
            std::thread::yield_now();
        }
    }

    /// What the agent was told at the beginning of each turn.
    pub(super) fn told(&self) -> Vec<String> {
        let newest = |request: Value| {
            let messages = request["messages"].as_array().unwrap();
            let last = messages.last().unwrap()["content"].to_string();
            (!last.contains("tool_result")).then(|| format!("{} {last}", request["system"]))
        };
        if let Some(asked) = self.asked.borrow().as_ref() {
            return asked.try_iter().filter_map(newest).collect();
        }
        let log = fs::read_to_string(self.path().join("log")).unwrap();
        log.lines().filter(|line| line.contains("session/prompt")).map(str::to_owned).collect()
    }
}

pub(super) fn read(stdout: &[u8]) -> Reader {
    let mut reader = Reader::default();
    reader.push(stdout);
    reader
}

/// Everything that is told until those words are.
pub(super) fn read_until(envoy: &mut Child, words: &str) -> Vec<u8> {
    let stdout = envoy.stdout.as_mut().unwrap();
    let (mut told, mut byte) = (Vec::new(), [0]);
    while !String::from_utf8_lossy(&told).contains(words) {
        assert_eq!(stdout.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&told));
        told.push(byte[0]);
    }
    told
}
