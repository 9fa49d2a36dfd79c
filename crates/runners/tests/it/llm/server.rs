//! A provider that answers each request with the next piece of its script.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

/// What is answered to one request.
pub(crate) struct Script {
    status: u16,
    kind: &'static str,
    headers: String,
    body: Vec<u8>,
    /// The connection is cut after this, though more was promised.
    is_cut: bool,
    /// The connection is held open after this until the other side hangs up.
    is_held: bool,
}

impl Script {
    pub(crate) fn stream(events: &[Value]) -> Self {
        let data = events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>();
        Self::raw(data.into_bytes())
    }

    pub(crate) fn raw(body: Vec<u8>) -> Self {
        Self {
            status: 200,
            kind: "text/event-stream",
            headers: String::new(),
            body,
            is_cut: false,
            is_held: false,
        }
    }

    pub(crate) fn refusal(status: u16, headers: &str, body: &str) -> Self {
        let (headers, body) = (headers.to_owned(), body.as_bytes().to_vec());
        Self { status, headers, ..Self::raw(body) }
    }

    /// One value instead of a stream.
    pub(crate) fn json(headers: &str, value: &Value) -> Self {
        let kind = "application/json";
        Self { kind, headers: headers.to_owned(), ..Self::raw(value.to_string().into_bytes()) }
    }

    pub(crate) fn cut(self) -> Self {
        Self { is_cut: true, ..self }
    }

    pub(crate) fn held(self) -> Self {
        Self { is_held: true, ..self }
    }
}

/// Starts one; answers with its address and what it is asked.
pub(crate) fn serve(scripts: Vec<Script>) -> (String, Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (tell, asked) = channel();
    thread::spawn(move || {
        for script in scripts {
            let Ok((mut connection, _)) = listener.accept() else { return };
            let Some(body) = request(&mut connection) else { continue };
            if tell.send(body).is_err() {
                return;
            }
            answer(&mut connection, &script);
        }
    });
    (address, asked)
}

fn request(connection: &mut TcpStream) -> Option<Value> {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(b"\r\n\r\n") {
        connection.read_exact(&mut byte).ok()?;
        text.push(byte[0]);
    }
    let head = String::from_utf8(text).unwrap().to_lowercase();
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())?;
    let mut body = vec![0; length];
    connection.read_exact(&mut body).ok()?;
    let mut body: Value = serde_json::from_slice(&body).unwrap();
    body["head"] = json!(head);
    Some(body)
}

fn answer(connection: &mut TcpStream, script: &Script) {
    let length = if script.is_cut || script.is_held {
        format!("content-length: {}\r\n", script.body.len() + 100)
    } else {
        format!("content-length: {}\r\n", script.body.len())
    };
    let head = format!(
        "HTTP/1.1 {} X\r\ncontent-type: {}\r\nconnection: close\r\n{length}{}\r\n",
        script.status, script.kind, script.headers
    );
    // Whoever has hung up need not be told.
    let _ = connection.write_all(head.as_bytes()).and_then(|()| connection.write_all(&script.body));
    if script.is_held {
        let _ = connection.read(&mut [0]);
    }
}

/// An answer in Anthropic's words.
pub(crate) fn anthropic(blocks: &[Value]) -> Script {
    Script::stream(&anthropic_events(blocks))
}

pub(crate) fn anthropic_events(blocks: &[Value]) -> Vec<Value> {
    let usage = json!({
        "input_tokens": 100, "output_tokens": 1,
        "cache_read_input_tokens": 20, "cache_creation_input_tokens": 3,
    });
    let mut events = vec![json!({"type": "message_start", "message": {"usage": usage}})];
    for (index, block) in blocks.iter().enumerate() {
        let delta = match block.get("text") {
            Some(text) => {
                let start = json!({"type": "text", "text": ""});
                events.push(
                    json!({"type": "content_block_start", "index": index, "content_block": start}),
                );
                json!({"type": "text_delta", "text": text})
            }
            None => {
                let start = json!({
                    "type": "tool_use", "id": format!("t{index}"), "name": block["tool"], "input": {},
                });
                events.push(
                    json!({"type": "content_block_start", "index": index, "content_block": start}),
                );
                let input =
                    block["input"].as_str().map_or(block["input"].to_string(), str::to_owned);
                json!({"type": "input_json_delta", "partial_json": input})
            }
        };
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
    }
    let is_tool = blocks.iter().any(|block| block.get("tool").is_some());
    let stop = if is_tool { "tool_use" } else { "end_turn" };
    events.push(json!({
        "type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 10},
    }));
    events.push(json!({"type": "message_stop"}));
    events
}
