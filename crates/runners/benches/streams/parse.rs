//! Reading what programs and models say: recorded output, over and over, in pieces as a pipe
//! hands them out.

use std::fs;
use std::time::Duration;

use legation_core::agent::Runner;
use legation_runners::acp::Acp;
use legation_runners::command;
use legation_runners::envoy::{Dialogue as _, Ear, Event, Outcome, Reader};
use legation_runners::llm::{Dialect, Stream};
use legation_runners::{claude_code, codex, gemini, opencode};
use serde_json::json;
use tokio::runtime::Builder;
use tokio::sync::watch;

use super::charge::charge;
use super::{Figures, Result, labelled, private_kb};

/// Megabytes that are read.
const MEGABYTES: usize = 50;
/// Bytes of a piece.
const PIECE: usize = 64 << 10;
/// Parts of what is read, the first of which is not measured.
const PARTS: usize = 10;

macro_rules! fixture {
    ($vendor:literal, $name:literal) => {
        include_bytes!(concat!("../../tests/it/", $vendor, "/fixtures/", $name, ".jsonl"))
    };
}

pub(super) fn measure() -> Result<Vec<Figures>> {
    let mut found = Vec::new();
    let mut parser = command::Parser::default();
    found.push(read("command", &said_by_command(), |piece| drop(parser.push(piece))));
    let mut heard = Vec::new();
    let mut parser = claude_code::Parser::default();
    found.push(read("claude-code", fixture!("claude_code", "turn-1"), |piece| {
        forget(&mut heard, |heard| parser.push(piece, heard));
    }));
    let mut parser = codex::Parser::default();
    found.push(read("codex", fixture!("codex", "turn-1"), |piece| {
        forget(&mut heard, |heard| parser.push(piece, heard));
    }));
    let mut parser = gemini::Parser::default();
    found.push(read("gemini", fixture!("gemini", "turn-1"), |piece| {
        forget(&mut heard, |heard| parser.push(piece, heard));
    }));
    let mut parser = opencode::Parser::default();
    found.push(read("opencode", fixture!("opencode", "tools"), |piece| {
        forget(&mut heard, |heard| parser.push(piece, heard));
    }));
    let mut reader = Reader::default();
    found.push(read("envoy's words", &told_by_envoy(), |piece| drop(reader.push(piece))));
    for (name, dialect, answer) in
        [("llm", Dialect::Anthropic, anthropic()), ("llm with chat", Dialect::OpenAi, chat())]
    {
        // An answer is bounded, so each is heard by somebody new.
        found.push(read_by(name, &answer, answer.len(), |answer| {
            let mut stream = Stream::new(dialect);
            answer.chunks(PIECE).for_each(|piece| drop(stream.push(piece)));
        }));
    }
    found.push(protocol()?);
    Ok(found)
}

fn forget(heard: &mut Vec<Event>, listen: impl FnOnce(&mut Vec<Event>)) {
    listen(heard);
    heard.clear();
}

fn read(name: &str, recorded: &[u8], push: impl FnMut(&[u8])) -> Figures {
    read_by(name, recorded, PIECE, push)
}

/// Reads a recording until all is read, and says how that went.
fn read_by(name: &str, recorded: &[u8], piece: usize, mut push: impl FnMut(&[u8])) -> Figures {
    let part = ((MEGABYTES << 20) / PARTS).div_ceil(recorded.len()) * recorded.len();
    let block: Vec<u8> = recorded.iter().copied().cycle().take(part).collect();
    let mut read = || block.chunks(piece).for_each(&mut push);
    read();
    let begun = (private_kb("self"), cpu());
    (1..PARTS).for_each(|_| read());
    rate(name, (PARTS - 1) * block.len(), begun)
}

/// How fast so much was read, in time of the processor: it is the same on a busy machine.
fn rate(name: &str, bytes: usize, (before, begun): (u64, Duration)) -> Figures {
    let mb_per_s = bytes as f64 / 1e6 / cpu().saturating_sub(begun).as_secs_f64();
    let grew_kb = private_kb("self").saturating_sub(before) as f64;
    labelled(name, MEGABYTES, &[("mb_per_s", mb_per_s), ("grew_kb", grew_kb)])
}

/// What this process used of the processors so far, in nanoseconds as the system counts.
fn cpu() -> Duration {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let texts = threads.flat_map(|thread| fs::read_to_string(thread.path().join("schedstat")));
    let nanos = texts.filter_map(|text| text.split_whitespace().next()?.parse::<u64>().ok());
    Duration::from_nanos(nanos.sum())
}

fn said_by_command() -> Vec<u8> {
    let usage = json!({"usage": {"input": 1200, "output": 80, "costUsd": 0.004}});
    let words = "Looked at crates/core/src/lib.rs and found nothing that is wrong with it.\n";
    format!("{}{usage}\n", words.repeat(20)).into_bytes()
}

fn told_by_envoy() -> Vec<u8> {
    let used = json!({"used": {
        "tokens": {"input": 1000, "output": 50, "reasoning": 0, "cacheRead": 200, "cacheWrite": 30},
        "cost": null, "model": "claude-sonnet-4-5",
    }});
    let tool = json!({"tool": {"tool": "shell", "what": "cargo check -p core", "count": 7}});
    let text = json!({"text": "I looked at the file and changed two lines of it. ".repeat(8)});
    format!("{used}\n{tool}\n{text}\n").into_bytes()
}

/// Answers of a model, in which most is words in small pieces.
fn anthropic() -> Vec<u8> {
    let start = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
    let delta = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "some words of it"}});
    let event = |name: &str, data: &serde_json::Value| format!("event: {name}\ndata: {data}\n\n");
    let deltas = event("content_block_delta", &delta).repeat(2_000);
    format!("{}{deltas}", event("content_block_start", &start)).into_bytes()
}

fn chat() -> Vec<u8> {
    let delta = json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000,
        "model": "gpt-5", "choices": [{"index": 0, "delta": {"content": "some words of it"}, "finish_reason": null}],
    });
    format!("data: {delta}\n\n").repeat(2_000).into_bytes()
}

/// A whole turn over the protocol, from a program that prints as fast as it can.
fn protocol() -> Result<Figures> {
    let folder = tempfile::tempdir()?;
    let update = json!({"jsonrpc": "2.0", "method": "session/update", "params": {
        "sessionId": "s", "update": {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": "I looked at the file and changed it. ".repeat(4)},
        },
    }});
    let line = format!("{update}\n");
    let lines = (MEGABYTES << 20) / line.len();
    fs::write(folder.path().join("said"), line.repeat(lines))?;
    let script = r#"
        read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'
        read -r line; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}'
        read -r line; cat said
        echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'; read -r line"#;
    let mut charge = charge(Runner::Acp, folder.path());
    charge.program = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
    let (_stop, stopped) = watch::channel(false);
    let mut ear = Ear::new(std::io::sink(), stopped);
    let mut acp = Acp::default();
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let begun = (private_kb("self"), cpu());
    ear.begin();
    let outcome = runtime.block_on(acp.turn(&charge, "the brief", &mut ear));
    if outcome != Outcome::Over {
        return Err(format!("the turn broke off: {outcome:?}").into());
    }
    let figures = rate("acp", lines * line.len(), begun);
    runtime.block_on(acp.close());
    Ok(figures)
}
