//! Starting the engine of a project, and waiting for one from inside an attempt.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use legation_core::Code;
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

use super::conversation::Client;
use super::lock;
use super::paths::Paths;
use super::prepare::{PrepareError, prepare};
use crate::protocol::Refused;

/// What an engine prints once it listens.
pub const READY: &str = "ready";
/// How long an engine may take until it listens: a large journal is looked through.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How often an engine is started that ends before it listens.
const TRIES: u32 = 3;
/// How long to look for the engine of whoever was faster.
const RACE_LIMIT: Duration = Duration::from_secs(5);
/// How often in a row nobody must hold the lock before nobody is believed to: who has just
/// taken it has not written its name yet.
const FREE_LOOKS: u32 = 3;
/// How long an attempt waits for an engine that is being started again.
const ATTEMPT_LIMIT: Duration = Duration::from_secs(30);
/// How often one looks.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Bytes of the first line of an engine.
const MAX_LINE_BYTES: u64 = 64 * 1024;
/// Bytes of the log that are told when an engine dies without a word.
const LOG_TOLD_BYTES: u64 = 600;

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A place it needs cannot be made.
    #[error(transparent)]
    Place(#[from] PrepareError),
    /// The program cannot be started.
    #[error("the engine cannot be started: {0}")]
    Spawn(io::Error),
    /// It said why not.
    #[error("{}", .0.message)]
    Refused(Box<Refused>),
    /// It died without a word.
    #[error("the engine ended before it listened{0}")]
    Died(String),
    /// It did not listen in time.
    #[error("the engine did not listen within {} s", .0.as_secs())]
    Slow(Duration),
    /// It said that it listens, and nobody does.
    #[error("the engine cannot be reached at {}: {reason}", socket.display())]
    Deaf {
        /// Where it should listen.
        socket: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
}

/// Starts the engine of a project, as a process of its own, and connects to it. If
/// another one was faster, that one is the answer; if that ends as well, or ours did without a
/// word, it is tried again.
pub async fn launch(paths: &Paths, program: &Path) -> Result<Client, StartError> {
    prepare(paths)?;
    let mut tries = 0;
    loop {
        tries += 1;
        let reason = match start(paths, program).await? {
            Ok(client) => return Ok(client),
            Err(reason) => reason,
        };
        if let Some(client) = of_another(paths).await {
            return Ok(client);
        }
        if tries >= TRIES {
            return Err(reason);
        }
    }
}

/// Starts an engine once. What a second try may mend is the inner error.
async fn start(paths: &Paths, program: &Path) -> Result<Result<Client, StartError>, StartError> {
    let before = std::fs::metadata(paths.engine_log()).map_or(0, |facts| facts.len());
    let mut child = spawn(paths, program).map_err(StartError::Spawn)?;
    let line = match timeout(START_LIMIT, first_line(&mut child)).await {
        Ok(line) => line.unwrap_or_default(),
        Err(_) => return Err(StartError::Slow(START_LIMIT)),
    };
    if line.trim() == READY {
        let connected = Client::connect_to(&paths.socket).await;
        let deaf = |reason| StartError::Deaf { socket: paths.socket.clone(), reason };
        return match connected.map_err(deaf) {
            // Another one would be as deaf. If it is gone, it was killed in this very moment.
            Err(deaf) if lock::holder(paths).is_some() => Err(deaf),
            connected => Ok(connected),
        };
    }
    match refusal(&line) {
        Some(refused) if refused.code != Code::Conflict.as_str() => {
            Err(StartError::Refused(Box::new(refused)))
        }
        Some(refused) => Ok(Err(StartError::Refused(Box::new(refused)))),
        None => Ok(Err(StartError::Died(last_words(paths, before)))),
    }
}

/// The engine of whoever was faster, waited for as long as somebody holds the lock.
async fn of_another(paths: &Paths) -> Option<Client> {
    let end = Instant::now() + RACE_LIMIT;
    let mut free = 0;
    while free < FREE_LOOKS && Instant::now() < end {
        if let Some(client) = Client::connect(paths).await {
            return Some(client);
        }
        free = if lock::holder(paths).is_none() { free + 1 } else { 0 };
        sleep(LOOK_EVERY).await;
    }
    None
}

fn spawn(paths: &Paths, program: &Path) -> io::Result<Child> {
    let log = OpenOptions::new().create(true).append(true).open(paths.engine_log())?;
    Command::new(program)
        .arg("engine")
        .arg("--project")
        .arg(&paths.project)
        .current_dir(&paths.project)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
}

async fn first_line(child: &mut Child) -> io::Result<String> {
    let Some(stdout) = child.stdout.take() else { return Ok(String::new()) };
    let mut line = String::new();
    BufReader::new(stdout.take(MAX_LINE_BYTES)).read_line(&mut line).await?;
    Ok(line)
}

/// The error in the first line, if it is one.
fn refusal(line: &str) -> Option<Refused> {
    #[derive(Deserialize)]
    struct Said {
        error: Refused,
    }
    serde_json::from_str(line).ok().map(|Said { error }| error)
}

/// What the engine wrote into its log since it was started.
fn last_words(paths: &Paths, before: u64) -> String {
    let read = || -> io::Result<String> {
        let mut file = File::open(paths.engine_log())?;
        let end = file.metadata()?.len();
        file.seek(SeekFrom::Start(before.max(end.saturating_sub(LOG_TOLD_BYTES))))?;
        let mut bytes = Vec::new();
        file.take(LOG_TOLD_BYTES).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    };
    match read() {
        Ok(words) if !words.is_empty() => format!(": {words}"),
        Ok(_) | Err(_) => String::new(),
    }
}

/// Why an attempt reaches no engine.
#[derive(Debug, thiserror::Error)]
#[error("no engine listens at {}; it was looked for during {} s", socket.display(), limit.as_secs())]
pub struct InAttempt {
    socket: PathBuf,
    limit: Duration,
}

/// Connects from inside an attempt. It never starts an engine: that would be one that
/// knows nothing of it. One that died is started again by whoever waits outside.
pub async fn reach_from_attempt(socket: &Path) -> Result<Client, InAttempt> {
    let connect = || async { Client::connect_to(socket).await.ok() };
    let found = look_for(ATTEMPT_LIMIT, connect).await;
    found.ok_or_else(|| InAttempt { socket: socket.to_owned(), limit: ATTEMPT_LIMIT })
}

async fn look_for<T, F: Future<Output = Option<T>>>(
    limit: Duration,
    mut look: impl FnMut() -> F,
) -> Option<T> {
    let end = Instant::now() + limit;
    loop {
        if let Some(found) = look().await {
            return Some(found);
        }
        if Instant::now() >= end {
            return None;
        }
        sleep(LOOK_EVERY).await;
    }
}
