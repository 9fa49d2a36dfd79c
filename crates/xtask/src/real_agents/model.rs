//! A model that follows a script. It stands in for four providers on loopback, so that
//! the real programs can be run without a key, a network or chance.

mod anthropic;
mod chat;
mod gemini;
mod http;
mod responses;
mod script;

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::{Value, json};

pub(crate) use script::{Scripts, Step};

use self::http::{Request, Response};
use self::script::Asked;

/// Tokens that every answer claims to have used.
const INPUT: u64 = 1000;
const OUTPUT: u64 = 50;

/// The server.
pub(crate) struct Model {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

/// One request, as far as a scenario wants to know of it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Everything that was said to the model.
    pub(crate) said: String,
    /// The tools it was offered.
    pub(crate) tools: Vec<String>,
    /// The temperature it was asked with.
    pub(crate) temperature: Option<f64>,
}

impl Model {
    /// Starts to answer by these scripts, until the process ends.
    pub(crate) fn start(scripts: Scripts) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (scripts, log) = (Arc::new(scripts), seen.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (scripts, log) = (scripts.clone(), log.clone());
                // A client that hangs up in the middle is the scenario's affair.
                thread::spawn(move || drop(serve(stream, &scripts, &log)));
            }
        });
        Ok(Self { address, seen })
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it was asked so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve(stream: TcpStream, scripts: &Scripts, log: &Mutex<Vec<Seen>>) -> io::Result<()> {
    let mut stream = stream;
    let Some(request) = Request::read(&mut stream)? else { return Ok(()) };
    let response = answer(&request, scripts, log);
    response.write(&mut stream)
}

fn answer(request: &Request, scripts: &Scripts, log: &Mutex<Vec<Seen>>) -> Response {
    let path = request.path.split('?').next().unwrap_or_default();
    let body = &request.body;
    let decide = |asked: Asked| {
        let tools = asked.tools.iter().map(|tool| tool.name.clone()).collect();
        let said = asked.turns.iter().map(|turn| turn.text.as_str()).collect::<Vec<_>>().join("\n");
        let temperature = body.pointer("/generationConfig/temperature");
        let temperature = temperature.or(body.get("temperature")).and_then(Value::as_f64);
        let seen = Seen { said, tools, temperature };
        log.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
        scripts.next(&asked)
    };
    if path.ends_with("/messages/count_tokens") {
        return Response::Json(json!({"input_tokens": INPUT}));
    }
    if path.ends_with("/messages") {
        return anthropic::answer(body, &decide(anthropic::read(body)));
    }
    if path.ends_with("/chat/completions") {
        return chat::answer(body, &decide(chat::read(body)));
    }
    if path.ends_with("/responses") {
        return responses::answer(body, &decide(responses::read(body)));
    }
    if path.contains("enerateContent") {
        let is_streamed = path.contains("streamGenerateContent");
        return gemini::answer(is_streamed, body, &decide(gemini::read(body)));
    }
    if path.ends_with(":countTokens") {
        return Response::Json(json!({"totalTokens": INPUT}));
    }
    if path.ends_with("/models") {
        let model =
            json!({"id": "scripted", "object": "model", "created": 1, "owned_by": "nobody"});
        return Response::Json(json!({"object": "list", "data": [model], "models": []}));
    }
    Response::NotFound
}

/// A number that was not used before: programs tell calls apart by their ids.
fn fresh() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The text of a content that is a string or a list of parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        Value::Object(part) => part.get("text").map(text_of).unwrap_or_default(),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// The list under a key.
fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The text under a key.
fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
