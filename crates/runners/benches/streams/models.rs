//! What conversations with models take of the memory while all of them wait for an answer.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use legation_core::agent::Runner;
use legation_runners::llm::hand;
use legation_runners::supervise::{Chancery, Running};
use serde_json::json;
use tokio::runtime::Builder;

use super::charge::{KEEPER, charge, keeper, order};
use super::{Figures, Result, labelled, private_kb};

/// Conversations at once.
const AGENTS: usize = 100;

pub(super) fn measure() -> Result<Figures> {
    let folder = tempfile::tempdir()?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}", listener.local_addr()?);
    let (tell, begun) = channel();
    thread::spawn(move || answer_half(&listener, &tell));
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let before = private_kb("self");
    let chancery = Chancery::beside(&keeper());
    let mut running = Vec::new();
    for no in 0..AGENTS {
        let begin = begin(&chancery, no, (folder.path(), &address));
        running.push(runtime.block_on(begin)?);
    }
    let _held: Vec<TcpStream> = begun.iter().take(AGENTS).collect();
    // What was said so far has to arrive.
    for attempt in &mut running {
        runtime.block_on(attempt.read());
    }
    let ours = private_kb("self").saturating_sub(before);
    let process = running.first().map(|attempt| attempt.process.pid).ok_or("nobody runs")?;
    let theirs = private_kb(&process.to_string());
    running.iter().for_each(|attempt| attempt.remote().stop());
    for mut attempt in running {
        while runtime.block_on(attempt.read()).is_some() {}
        runtime.block_on(attempt.wait());
    }
    let over_idle_mb = (ours + theirs) as f64 / 1024.0;
    Ok(labelled("llm agents", AGENTS, &[("over_idle_mb", over_idle_mb)]))
}

async fn begin(
    chancery: &Chancery,
    no: usize,
    (folder, address): (&Path, &str),
) -> Result<Running> {
    let mut order = order(no, folder, &[KEEPER, hand::VERB]);
    fs::create_dir(&order.dir)?;
    order.env.push(("ANTHROPIC_BASE_URL".to_owned(), address.to_owned()));
    let mut charge = charge(Runner::Llm, folder);
    charge.model = Some("anthropic/claude-sonnet-4-5".to_owned());
    // About as much as a brief has.
    charge.prompt = "Look at the files and mend what is wrong. ".repeat(100);
    order.stdin = serde_json::to_string(&charge)?;
    Ok(chancery.spawn(&order).await?)
}

/// Answers each request with the first half of an answer, and no more.
fn answer_half(listener: &TcpListener, tell: &Sender<TcpStream>) {
    let usage = json!({"input_tokens": 1000, "output_tokens": 1});
    let events = [
        json!({"type": "message_start", "message": {"usage": usage}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I look at it. ".repeat(100)}}),
    ];
    let half: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 1000000\r\n\r\n";
    for mut connection in listener.incoming().flatten() {
        // Whatever it asks: it is answered once it has begun to.
        let is_asked = connection.read(&mut [0; 1024]).is_ok_and(|count| count > 0);
        let is_answered =
            is_asked && connection.write_all(format!("{head}{half}").as_bytes()).is_ok();
        if !is_answered || tell.send(connection).is_err() {
            return;
        }
    }
}
