//! An engine that says what a test wants it to say, behind a real socket.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use legation_core::config::Pattern;
use legation_engine::news::{News, Run, What};
use legation_engine::protocol::{Reply, Request, Told};
use serde_json::{Value, json};

/// How long a test waits for something that must come.
const LIMIT: Duration = Duration::from_secs(60);

/// One thing that the engine does in a conversation.
#[derive(Clone)]
pub(crate) enum Step {
    Say(Box<Reply>),
    /// Says something that is no reply.
    Write(&'static str),
    /// Waits until so many requests have come in all.
    Until(usize),
}

/// An engine that says what it was told to.
pub(crate) struct FakeEngine {
    requests: Receiver<Request>,
}

impl FakeEngine {
    /// Listens. The first conversation goes by the first script, and so on; a script's end
    /// ends the conversation.
    pub(crate) fn start(socket: &Path, scripts: Vec<Vec<Step>>) -> Self {
        std::fs::create_dir_all(socket.parent().unwrap()).unwrap();
        let listener = UnixListener::bind(socket).unwrap();
        let (sender, requests) = channel();
        let count = Arc::new((Mutex::new(0), Condvar::new()));
        std::thread::spawn(move || {
            for script in scripts {
                let (stream, _) = listener.accept().unwrap();
                let (sender, count) = (sender.clone(), count.clone());
                std::thread::spawn(move || converse(stream, script, &sender, &count));
            }
        });
        Self { requests }
    }

    /// The next request.
    pub(crate) fn heard(&self) -> Request {
        self.requests.recv_timeout(LIMIT).unwrap()
    }
}

fn converse(
    stream: UnixStream,
    script: Vec<Step>,
    sender: &Sender<Request>,
    count: &(Mutex<usize>, Condvar),
) {
    let mut line = String::new();
    BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
    let _ = sender.send(serde_json::from_str(&line).unwrap());
    *count.0.lock().unwrap() += 1;
    count.1.notify_all();
    let mut stream = stream;
    for step in script {
        match step {
            Step::Say(reply) => {
                let mut line = serde_json::to_string(&reply).unwrap();
                line.push('\n');
                // Whoever has gone away does not want to know.
                let _ = stream.write_all(line.as_bytes());
            }
            Step::Write(text) => drop(stream.write_all(text.as_bytes())),
            Step::Until(wanted) => {
                let guard = count.0.lock().unwrap();
                drop(count.1.wait_timeout_while(guard, LIMIT, |had| *had < wanted).unwrap());
            }
        }
    }
}

pub(crate) fn say(reply: Reply) -> Step {
    Step::Say(Box::new(reply))
}

/// The delegation `del-1` was accepted.
pub(crate) fn accepted() -> Step {
    let told = Told {
        subtask: "a".into(),
        title: "lint".into(),
        agent: "linter".into(),
        reason: "the plan names it".to_owned(),
    };
    say(Reply::Accepted {
        delegation: "del-1".into(),
        again: false,
        pattern: Pattern::Parallel,
        chosen: vec![told],
    })
}

/// Something happened in `del-1`.
pub(crate) fn news(what: What) -> Step {
    say(Reply::News(Box::new(News {
        timestamp: "2026-01-02T03:04:05Z".to_owned(),
        seq: 1,
        tree: "del-1".into(),
        delegation: "del-1".into(),
        what,
    })))
}

/// The attempt at the subtask `a`.
pub(crate) fn run() -> Run {
    Run {
        attempt: "exec-1".into(),
        session: "sess_1_aaaaaa".into(),
        parent: None,
        parent_subtask: None,
        task: "task-1".to_owned(),
        subtask: "a".into(),
        title: "lint".to_owned(),
        agent: "linter".into(),
        depth: 1,
    }
}

/// The end of `del-1`.
pub(crate) fn answer(status: &str) -> Step {
    say(Reply::Answer { status: status.to_owned(), view: view(status) })
}

/// What there is to show of `del-1`.
pub(crate) fn view(status: &str) -> Value {
    json!({
        "delegationId": "del-1", "taskId": "task-1", "title": "Look after it",
        "status": status, "pattern": "parallel",
        "progress": {"completed": 1, "total": 1, "percentage": 100},
        "subtasks": [{
            "id": "a", "title": "lint", "agent": "linter", "status": status, "attempts": 2,
            "elapsedTime": 1500,
            "return": {"summary": "Found \u{1b}[31mnothing.", "errors": []},
            "receipt": {
                "durationMs": 1500, "tokens": {"input": 1000, "output": 200}, "costUsd": 0.02,
                "filesChanged": ["a.txt"],
            },
        }],
        "metrics": {"tokensUsed": 1200, "estimatedCost": 0.02, "elapsedTime": 1600},
        "result": {"summary": "All is well.", "artifacts": [{"type": "report", "path": "a.txt"}]},
    })
}
