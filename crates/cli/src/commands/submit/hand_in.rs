//! Dropping a return where the engine finds it, and telling the engine.

use std::fs::{self, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use legation_core::Code;
use legation_engine::protocol::{Reply, Request, VERSION, Wish};
use serde_json::{Value, json};

use super::attempt::Attempt;
use crate::error::CommandError;

/// The file in the attempt's folder.
const FILE: &str = "return.json";
/// How long the engine may take to listen.
const PATIENCE: Duration = Duration::from_millis(200);
/// How long it may take to answer.
const ANSWER_PATIENCE: Duration = Duration::from_secs(5);
/// Bytes that its answer may have.
const MAX_ANSWER_BYTES: u64 = 64 * 1024;

/// Writes the return, whole or not at all; one from before is replaced.
pub(super) fn write(
    attempt: &Attempt,
    returned: &Value,
    usage: Option<Value>,
) -> Result<(), CommandError> {
    let mut value = json!({"token": attempt.token, "return": returned});
    if let (Some(usage), Some(object)) = (usage, value.as_object_mut()) {
        object.insert("usage".to_owned(), usage);
    }
    put(&attempt.folder, &value.to_string()).map_err(|problem| {
        let place = attempt.folder.join(FILE);
        let message = format!("the return cannot be written to {}: {problem}", place.display());
        CommandError::failed(Code::UnknownError, message)
            .hint("print the return as JSON on stdout instead; that is read too")
    })
}

fn put(folder: &Path, text: &str) -> io::Result<()> {
    let half = folder.join(format!("{FILE}.{}.tmp", std::process::id()));
    // The folder is the attempt's: what lies there under this name is not written through.
    let _ = fs::remove_file(&half);
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&half);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    let placed = written.and_then(|()| fs::rename(&half, folder.join(FILE)));
    if placed.is_err() {
        let _ = fs::remove_file(&half);
    }
    placed
}

/// Tells the engine. It finds the return without that too, only later.
pub(super) fn tell(attempt: &Attempt) {
    let _ = say(attempt, Wish::Submitted);
}

/// The session of the attempt that bears the token, if an engine is there to say so.
pub(super) fn session(attempt: &Attempt) -> Option<String> {
    let stream = say(attempt, Wish::Who)?;
    stream.set_read_timeout(Some(ANSWER_PATIENCE)).ok()?;
    let mut line = String::new();
    BufReader::new(stream.take(MAX_ANSWER_BYTES)).read_line(&mut line).ok()?;
    match serde_json::from_str(&line).ok()? {
        Reply::Done(who) => who.get("sessionId").and_then(Value::as_str).map(str::to_owned),
        Reply::Accepted { .. }
        | Reply::News(_)
        | Reply::Note(_)
        | Reply::Answer { .. }
        | Reply::Refused(_) => None,
    }
}

/// Says something to the engine, if one listens.
fn say(attempt: &Attempt, wish: Wish) -> Option<UnixStream> {
    let socket = attempt.socket.as_ref()?;
    let request = Request {
        v: VERSION,
        token: Some(attempt.token.clone()),
        env: Default::default(),
        client: None,
        passed_on: Default::default(),
        wish,
    };
    let mut line = serde_json::to_vec(&request).ok()?;
    line.push(b'\n');
    let mut stream = UnixStream::connect(socket).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    stream.write_all(&line).ok()?;
    Some(stream)
}
