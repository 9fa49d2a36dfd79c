//! JSON-RPC over the standard streams of a program that we start: a JSON value a line.
//!
//! Two protocols are spoken over it, and both ask in either direction. What a message
//! means is for whoever listens; here it is cut into messages, bounded, and passed on.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::envoy::Lines;

/// Bytes that are read at once.
const PIECE: usize = 16 << 10;
/// Bytes of the program's last words that are kept for a failure.
const LAST_WORDS: usize = 4 << 10;

/// How a program is started.
pub(crate) struct Start<'a> {
    /// The program and its arguments.
    pub(crate) command: &'a [String],
    /// What it gets in its environment beside what this process has.
    pub(crate) env: &'a [(String, String)],
    /// Where it works.
    pub(crate) cwd: &'a Path,
}

/// A program at the other end of a line.
pub(crate) struct Peer {
    child: Child,
    say: Option<UnboundedSender<String>>,
    ear: Inbox,
    last_words: Option<JoinHandle<String>>,
    next_id: i64,
}

/// Something the program says.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// It wants to know something.
    Request {
        /// What the answer refers to, as it was written.
        id: Value,
        /// What.
        method: String,
        /// About what.
        params: Box<RawValue>,
    },
    /// It tells something.
    Notice {
        /// What.
        method: String,
        /// About what.
        params: Box<RawValue>,
    },
    /// It answers one of our requests.
    Reply {
        /// Which.
        id: i64,
        /// The answer, or what was wrong.
        outcome: Result<Box<RawValue>, Wrong>,
    },
}

/// What is wrong, in the program's words.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Wrong {
    /// A number for it.
    pub(crate) code: i64,
    /// In words.
    pub(crate) message: String,
    /// More about it.
    pub(crate) data: Option<Value>,
}

#[derive(Deserialize)]
struct Message {
    id: Option<Value>,
    method: Option<String>,
    params: Option<Box<RawValue>>,
    result: Option<Box<RawValue>>,
    error: Option<Wrong>,
}

/// What came in and was not looked at yet.
struct Inbox {
    stdout: ChildStdout,
    lines: Lines,
    waiting: VecDeque<Incoming>,
}

impl Peer {
    /// Starts the program.
    pub(crate) fn start(start: &Start<'_>) -> io::Result<Self> {
        let (program, arguments) =
            start.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(start.cwd);
        command.envs(start.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let ends = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = ends else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let (say, to_say) = mpsc::unbounded_channel();
        tokio::spawn(speak(stdin, to_say));
        let last_words = Some(tokio::spawn(last_words(stderr)));
        let ear = Inbox { stdout, lines: Lines::default(), waiting: VecDeque::new() };
        Ok(Self { child, say: Some(say), ear, last_words, next_id: 0 })
    }

    /// The number of its process.
    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Asks something; the answer comes with this number.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> i64 {
        self.next_id += 1;
        self.send(
            &json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}),
        );
        self.next_id
    }

    /// Tells something.
    pub(crate) fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Answers a request.
    pub(crate) fn answer(&mut self, id: &Value, result: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    /// Answers a request that cannot be granted.
    pub(crate) fn refuse(&mut self, id: &Value, code: i64, why: &str) {
        let error = json!({"code": code, "message": why});
        self.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
    }

    /// The next thing that it says; nothing once it says nothing more. Whoever stops
    /// waiting loses nothing.
    pub(crate) async fn next(&mut self) -> Option<Incoming> {
        self.ear.next().await
    }

    /// Says no more, and waits for its end so long. Answers with its last words; one that
    /// does not end is left to the keeper.
    pub(crate) async fn bury(mut self, patience: Duration) -> String {
        self.say = None;
        let ended = timeout(patience, self.child.wait()).await;
        if ended.is_err() {
            let _ = self.child.start_kill();
        }
        let words = self.last_words.take();
        let words = async { words?.await.ok() };
        // Something that it left may hold its stream open.
        timeout(Duration::from_millis(200), words).await.ok().flatten().unwrap_or_default()
    }

    fn send(&self, message: &Value) {
        // One that has ended is noticed by its silence.
        self.say.as_ref().map(|say| say.send(format!("{message}\n")));
    }
}

impl Inbox {
    async fn next(&mut self) -> Option<Incoming> {
        let mut piece = vec![0; PIECE];
        loop {
            if let Some(first) = self.waiting.pop_front() {
                return Some(first);
            }
            let count = self.stdout.read(&mut piece).await.unwrap_or(0);
            let bytes = piece.get(..count).filter(|bytes| !bytes.is_empty())?;
            let Self { lines, waiting, .. } = self;
            lines.push(bytes, |line| waiting.extend(read(line)));
        }
    }
}

/// A message; what is none is passed over.
fn read(line: &[u8]) -> Option<Incoming> {
    let text = String::from_utf8_lossy(line);
    let Message { id, method, params, result, error } = serde_json::from_str(&text).ok()?;
    let params = params.unwrap_or_else(|| RawValue::NULL.to_owned());
    match (id.filter(|id| !id.is_null()), method) {
        (Some(id), Some(method)) => Some(Incoming::Request { id, method, params }),
        (None, Some(method)) => Some(Incoming::Notice { method, params }),
        (Some(id), None) => {
            let outcome = match (result, error) {
                (_, Some(error)) => Err(error),
                (Some(result), None) => Ok(result),
                (None, None) => Ok(RawValue::NULL.to_owned()),
            };
            Some(Incoming::Reply { id: id.as_i64()?, outcome })
        }
        (None, None) => None,
    }
}

/// Says what there is to say, until nobody wants to say anything more.
async fn speak(mut stdin: ChildStdin, mut to_say: UnboundedReceiver<String>) {
    while let Some(words) = to_say.recv().await {
        if stdin.write_all(words.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Passes on what the program says about itself, and keeps the end of it.
async fn last_words(mut stderr: ChildStderr) -> String {
    let mut piece = vec![0; 4 << 10];
    let mut kept: Vec<u8> = Vec::new();
    while let Ok(count) = stderr.read(&mut piece).await {
        let Some(bytes) = piece.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
        // Nobody can be told that nobody listens.
        let _ = io::Write::write_all(&mut io::stderr(), bytes);
        kept.extend_from_slice(bytes);
        let surplus = kept.len().saturating_sub(LAST_WORDS);
        kept.drain(..surplus);
    }
    String::from_utf8_lossy(&kept).into_owned()
}
