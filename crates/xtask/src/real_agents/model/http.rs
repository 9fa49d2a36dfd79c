//! As much HTTP as it takes: one request a connection, the answer until it is closed.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

/// What was asked.
pub(super) struct Request {
    pub(super) path: String,
    pub(super) body: Value,
}

/// What is answered.
pub(super) enum Response {
    /// One value.
    Json(Value),
    /// Events, each with its name where the dialect gives it one.
    Events(Vec<(Option<String>, Value)>),
    /// Events and the word that ends them in one dialect.
    EventsAndDone(Vec<(Option<String>, Value)>),
    /// There is nothing here.
    NotFound,
}

impl Request {
    /// Reads a request; nothing if the client wanted nothing.
    pub(super) fn read(stream: &mut TcpStream) -> io::Result<Option<Self>> {
        let mut reader = BufReader::new(stream);
        let mut first = String::new();
        if reader.read_line(&mut first)? == 0 {
            return Ok(None);
        }
        let path = first.split_whitespace().nth(1).unwrap_or_default().to_owned();
        let (mut length, mut is_chunked) = (0, false);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? <= 2 {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or((&line, ""));
            match (name.to_ascii_lowercase().as_str(), value.trim()) {
                ("content-length", value) => length = value.parse().unwrap_or(0),
                ("transfer-encoding", "chunked") => is_chunked = true,
                _ => {}
            }
        }
        let mut body = Vec::new();
        if is_chunked {
            chunks(&mut reader, &mut body)?;
        } else {
            reader.take(length).read_to_end(&mut body)?;
        }
        let body = serde_json::from_slice(&body).unwrap_or_default();
        Ok(Some(Self { path, body }))
    }
}

fn chunks(reader: &mut impl BufRead, body: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let length = u64::from_str_radix(line.trim(), 16).unwrap_or(0);
        reader.by_ref().take(length).read_to_end(body)?;
        let mut end = String::new();
        reader.read_line(&mut end)?;
        if length == 0 {
            return Ok(());
        }
    }
}

impl Response {
    /// Writes it and closes the connection.
    pub(super) fn write(&self, stream: &mut TcpStream) -> io::Result<()> {
        let head = |status: &str, kind: &str| {
            format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n")
        };
        match self {
            Self::Json(value) => {
                write!(stream, "{}{value}", head("200 OK", "application/json"))
            }
            Self::NotFound => {
                let value = json!({"error": {"type": "not_found_error", "message": "not here"}});
                write!(stream, "{}{value}", head("404 Not Found", "application/json"))
            }
            Self::Events(events) | Self::EventsAndDone(events) => {
                write!(stream, "{}", head("200 OK", "text/event-stream"))?;
                for (name, value) in events {
                    if let Some(name) = name {
                        writeln!(stream, "event: {name}")?;
                    }
                    write!(stream, "data: {value}\n\n")?;
                }
                if matches!(self, Self::EventsAndDone(_)) {
                    write!(stream, "data: [DONE]\n\n")?;
                }
                stream.flush()
            }
        }
    }
}
