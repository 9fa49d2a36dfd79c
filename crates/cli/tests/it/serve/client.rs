//! A server that a test has started, and a client of it that speaks one version of the
//! protocol.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::wire::{Answer, Ask};
use crate::session::Session;

/// The version without sessions.
pub(super) const STATELESS: &str = "2026-07-28";

/// `legation serve`, as long as the test has it.
pub(super) struct Server {
    process: Child,
    pub(super) address: SocketAddr,
    /// The line that it printed.
    pub(super) said: Value,
    pub(super) token: String,
}

impl Server {
    pub(super) fn start(session: &Session) -> Self {
        let args = ["serve", "--port", "0", "--json"];
        let mut command = session.command(&session.dir(), &args);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
        let address = said["address"].as_str().unwrap().parse().unwrap();
        let token = std::fs::read_to_string(said["tokenFile"].as_str().unwrap()).unwrap();
        Self { process, address, said, token: token.trim().to_owned() }
    }

    /// Sends it a signal and waits for its end; its exit code.
    pub(super) fn end(&mut self, signal: &str) -> Option<i32> {
        let pid = self.process.id().to_string();
        let sent = std::process::Command::new("kill").args([signal, &pid]).status();
        assert!(sent.unwrap().success());
        self.process.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A client.
pub(super) struct Client {
    address: SocketAddr,
    token: String,
    version: String,
    session: Option<String>,
    last: u64,
    /// What it was told without asking.
    pub(super) told: Vec<Value>,
}

impl Client {
    /// A client that has shaken hands where its version wants that.
    pub(super) fn new(server: &Server, version: &str) -> Self {
        let (token, version) = (server.token.clone(), version.to_owned());
        let address = server.address;
        let mut client = Self { address, token, version, session: None, last: 0, told: Vec::new() };
        if client.version != STATELESS {
            client.shake_hands();
        }
        client
    }

    /// The answer to its hello.
    fn shake_hands(&mut self) {
        let hello = self.request(
            "initialize",
            json!({
                "protocolVersion": self.version, "capabilities": {},
                "clientInfo": {"name": "Test Client!", "version": "1"},
            }),
        );
        let mut answer = hello.send(self.address);
        self.session = answer.header("mcp-session-id").map(str::to_owned);
        let said = answer.next().unwrap();
        assert_eq!(said["result"]["protocolVersion"], self.version, "{said}");
        assert_eq!(said["result"]["serverInfo"]["name"], "legation");
        self.tell("notifications/initialized", &json!({}));
    }

    /// Says something that is not answered.
    pub(super) fn tell(&self, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        let answer = self.dressed(method, &message).send(self.address);
        assert_eq!(answer.status, 202);
    }

    /// A request, ready to be sent.
    pub(super) fn request(&mut self, method: &str, mut params: Value) -> Ask {
        self.last += 1;
        if self.version == STATELESS {
            let meta = [
                ("protocolVersion", json!(STATELESS)),
                ("clientInfo", json!({"name": "Test Client!", "version": "1"})),
                ("clientCapabilities", json!({})),
            ];
            for (name, value) in meta {
                params["_meta"][format!("io.modelcontextprotocol/{name}")] = value;
            }
        }
        let message =
            json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        self.dressed(method, &message)
    }

    fn dressed(&self, method: &str, message: &Value) -> Ask {
        let mut ask = Ask::message(message.to_string()).bearer(&self.token);
        if method != "initialize" {
            ask = ask.with("MCP-Protocol-Version", &self.version);
        }
        if self.version == STATELESS {
            ask = ask.with("Mcp-Method", method);
            if let Some(name) = message["params"]["name"].as_str() {
                ask = ask.with("Mcp-Name", name);
            }
            if let Some(uri) = message["params"]["uri"].as_str() {
                ask = ask.with("Mcp-Name", uri);
            }
        }
        match &self.session {
            Some(session) => ask.with("Mcp-Session-Id", session),
            None => ask,
        }
    }

    /// The number of the last request.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// The session, where the version has such.
    pub(super) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    pub(super) fn begin(&mut self, method: &str, params: Value) -> Answer {
        self.request(method, params).send(self.address)
    }

    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.begin(method, params);
        loop {
            let message = answer.next().expect("the answer ended");
            if message.get("id").is_some() {
                return message;
            }
            self.told.push(message);
        }
    }

    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask("tools/call", call(tool, arguments));
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }
}

/// What a call of a tool consists of.
pub(super) fn call(tool: &str, arguments: &Value) -> Value {
    json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": 7}})
}
