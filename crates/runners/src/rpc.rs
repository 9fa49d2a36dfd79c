//! JSON-RPC over the standard streams of a program that we start, or that a hand is: a JSON
//! value a line.
//!
//! Two protocols are spoken over it, and both ask in either direction. What a message
//! means is for whoever listens; here it is cut into messages, bounded, and passed on.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::envoy::Lines;
use crate::group::Group;
use crate::hands::{Errand, Finished, Hand, Hands};

/// Bytes that are read at once.
const PIECE: usize = 16 << 10;
/// Bytes of the program's last words that are kept for a failure.
const LAST_WORDS: usize = 4 << 10;
/// How long they are waited for.
const DRAIN: Duration = Duration::from_millis(200);

/// How a program is started.
pub(crate) struct Start<'a> {
    /// The program and its arguments.
    pub(crate) command: &'a [String],
    /// What it gets in its environment beside what it sees of ours.
    pub(crate) env: &'a [(String, String)],
    /// Where it works.
    pub(crate) cwd: &'a Path,
}

/// A program at the other end of a line. It ends with whoever holds it.
pub(crate) struct Peer {
    life: Life,
    say: Option<UnboundedSender<String>>,
    ear: Inbox,
    next_id: i64,
}

/// How a program lives.
enum Life {
    /// As a child of ours.
    Child { child: Child, _group: Group, last_words: Option<JoinHandle<String>> },
    /// As a hand, of which is told how it ended, once.
    Kept(Option<oneshot::Receiver<Finished>>),
}

/// Where its words come from.
enum Source {
    Child(ChildStdout),
    Kept(mpsc::Receiver<Vec<u8>>),
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
    /// It says something that is too long to be looked at.
    TooLong,
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
    source: Source,
    lines: Lines,
    waiting: VecDeque<Incoming>,
}

impl Peer {
    /// Starts the program.
    pub(crate) fn start(start: &Start<'_>) -> io::Result<Self> {
        let (program, arguments) =
            start.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(start.cwd).process_group(0);
        command.envs(start.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let group = Group::led_by(&child);
        let ends = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = ends else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let (say, to_say) = mpsc::unbounded_channel();
        tokio::spawn(speak(stdin, to_say));
        let last_words = Some(tokio::spawn(last_words(stderr)));
        let life = Life::Child { child, _group: group, last_words };
        Ok(Self { life, say: Some(say), ear: Inbox::of(Source::Child(stdout)), next_id: 0 })
    }

    /// A program that is a hand.
    pub(crate) fn kept(hands: &Arc<Hands>, errand: Errand) -> Self {
        let (say, to_say) = mpsc::unbounded_channel();
        let Hand { output, finished } = hands.begin(errand, Some(to_say));
        let (life, ear) = (Life::Kept(Some(finished)), Inbox::of(Source::Kept(output)));
        Self { life, say: Some(say), ear, next_id: 0 }
    }

    /// The number of its process, where it is a child of ours.
    pub(crate) fn id(&self) -> Option<u32> {
        match &self.life {
            Life::Child { child, .. } => child.id(),
            Life::Kept(_) => None,
        }
    }

    /// The number of what was asked last.
    pub(crate) fn last_id(&self) -> i64 {
        self.next_id
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
        match &mut self.life {
            Life::Child { child, .. } => {
                if timeout(patience, child.wait()).await.is_err() {
                    let _ = child.start_kill();
                }
            }
            // Dropped, it is stopped.
            Life::Kept(finished) => {
                let ended = async { finished.as_mut()?.await.ok() };
                return match timeout(patience, ended).await {
                    Ok(Some(finished)) => finished.last_words,
                    Ok(None) | Err(_) => String::new(),
                };
            }
        }
        self.last_words().await
    }

    /// What it said last about itself, once it has ended; it is told once.
    pub(crate) async fn last_words(&mut self) -> String {
        self.gone().await.unwrap_or_default()
    }

    /// The same; an error says why it never began.
    pub(crate) async fn gone(&mut self) -> Result<String, String> {
        match &mut self.life {
            Life::Child { last_words, .. } => {
                let words = last_words.take();
                let words = async { words?.await.ok() };
                // Something that it left may hold its stream open.
                let words = timeout(DRAIN, words).await;
                Ok(words.ok().flatten().unwrap_or_default())
            }
            Life::Kept(finished) => {
                let finished = finished.take();
                let finished = async { finished?.await.ok() }.await.unwrap_or_default();
                finished.not_started.map_or(Ok(finished.last_words), Err)
            }
        }
    }

    fn send(&self, message: &Value) {
        // One that has ended is noticed by its silence.
        self.say.as_ref().map(|say| say.send(format!("{message}\n")));
    }
}

impl Source {
    /// The next piece; nothing once there will be no more.
    async fn next(&mut self) -> Option<Vec<u8>> {
        match self {
            Self::Child(stdout) => {
                let mut piece = Vec::with_capacity(PIECE);
                stdout.read_buf(&mut piece).await.ok().filter(|count| *count > 0)?;
                Some(piece)
            }
            Self::Kept(output) => output.recv().await,
        }
    }
}

impl Inbox {
    fn of(source: Source) -> Self {
        Self { source, lines: Lines::default(), waiting: VecDeque::new() }
    }

    async fn next(&mut self) -> Option<Incoming> {
        loop {
            if let Some(first) = self.waiting.pop_front() {
                return Some(first);
            }
            let bytes = self.source.next().await?;
            let Self { lines, waiting, .. } = self;
            let before = lines.passed_over();
            lines.push(&bytes, |line| waiting.extend(read(line)));
            if lines.passed_over() > before {
                waiting.push_back(Incoming::TooLong);
            }
        }
    }
}

/// A message; what is none is passed over.
pub(crate) fn read(line: &[u8]) -> Option<Incoming> {
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
