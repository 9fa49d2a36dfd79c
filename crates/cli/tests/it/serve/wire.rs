//! As much of HTTP as a test needs: a request in bytes, an answer that is read as it comes.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

/// A request.
#[derive(Clone)]
pub(super) struct Ask {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Ask {
    pub(super) fn new(method: &str, path: &str) -> Self {
        let (method, path) = (method.to_owned(), path.to_owned());
        Self { method, path, headers: Vec::new(), body: Vec::new() }
    }

    /// A message for the tools, as every client sends it.
    pub(super) fn message(body: impl Into<Vec<u8>>) -> Self {
        Self::new("POST", "/mcp")
            .with("Content-Type", "application/json")
            .with("Accept", "application/json, text/event-stream")
            .body(body)
    }

    /// Another header; one of the same name is replaced.
    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(there, _)| !there.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn bearer(self, token: &str) -> Self {
        self.with("Authorization", &format!("Bearer {token}"))
    }

    pub(super) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Sends it; the answer as far as its headers.
    pub(super) fn send(&self, to: SocketAddr) -> Answer {
        self.send_over(TcpStream::connect(to).unwrap())
    }

    /// The same, over a connection that is there, and on which the last answer was read.
    pub(super) fn send_over(&self, mut stream: TcpStream) -> Answer {
        stream.set_nodelay(true).unwrap();
        let to = stream.peer_addr().unwrap();
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        let named = |name: &str| self.headers.iter().any(|(there, _)| there == name);
        if !named("Host") {
            head.push_str(&format!("Host: {to}\r\n"));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", self.body.len()));
        stream.write_all(head.as_bytes()).unwrap();
        // A server that has seen enough hangs up on the rest.
        let _ = stream.write_all(&self.body);
        Answer::read(stream)
    }
}

/// An answer; its body is still to be read.
pub(super) struct Answer {
    pub(super) status: u16,
    headers: Vec<(String, String)>,
    body: BufReader<Body>,
}

impl Answer {
    fn read(stream: TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        // The end of the answer before it is an empty line.
        while line.trim().is_empty() {
            assert!(reader.read_line(&mut line).unwrap() > 0, "the server is gone");
        }
        let line = line.trim_start();
        let status = line.split(' ').nth(1).unwrap_or_else(|| panic!("{line:?}")).parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let find = |name: &str| headers.iter().find(|(there, _)| there == name);
        let length = find("content-length").map(|(_, value)| value.parse().unwrap());
        let is_chunked = find("transfer-encoding").is_some();
        let left = if is_chunked { 0 } else { length.unwrap_or(u64::MAX) };
        let body = BufReader::new(Body { reader, is_chunked, left, is_over: false });
        Self { status, headers, body }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(there, _)| there == name);
        header.map(|(_, value)| value.as_str())
    }

    /// All of the body.
    pub(super) fn text(mut self) -> String {
        let mut text = String::new();
        let _ = self.body.read_to_string(&mut text);
        text
    }

    /// The next message, from a stream of events or as the whole body; none at its end.
    pub(super) fn next(&mut self) -> Option<Value> {
        if self.header("content-type").is_some_and(|it| it.starts_with("application/json")) {
            let mut text = String::new();
            self.body.read_to_string(&mut text).unwrap();
            return serde_json::from_str(&text).ok();
        }
        loop {
            let mut line = String::new();
            if self.body.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let data = line.strip_prefix("data:").map(str::trim).filter(|data| !data.is_empty());
            if let Some(data) = data {
                return Some(serde_json::from_str(data).unwrap());
            }
        }
    }
}

/// A body, whichever way its length is told.
struct Body {
    reader: BufReader<TcpStream>,
    is_chunked: bool,
    left: u64,
    is_over: bool,
}

impl Read for Body {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.is_chunked && self.left == 0 && !self.is_over {
            let mut line = String::new();
            self.reader.read_line(&mut line)?;
            if line == "\r\n" {
                line.clear();
                self.reader.read_line(&mut line)?;
            }
            self.left = u64::from_str_radix(line.trim(), 16).unwrap_or(0);
            self.is_over = self.left == 0;
        }
        let read = (&mut self.reader).take(self.left).read(into)?;
        self.left -= read as u64;
        Ok(read)
    }
}
