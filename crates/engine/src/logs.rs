//! The log files of a project: one line of JSON for each thing that happened.
//!
//! They are made from the journal and read by people and their tools; nothing here
//! is ever read back. An attempt has one line with a `status` when it starts and
//! one when it ends; everything else carries `event`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use legation_core::Code;
use legation_core::ids::{SessionId, SubtaskId};
use serde_json::{Value, json};

use crate::news::{News, Run, What};

/// Bytes a log file may have before the next one is begun; one older is kept.
const MAX_FILE_BYTES: u64 = 32 * 1024 * 1024;

/// The log files of a project.
#[derive(Debug)]
pub struct Logs {
    happened: Mutex<Option<LogFile>>,
    wrong: Mutex<Option<LogFile>>,
    workspaces: PathBuf,
}

#[derive(Debug)]
struct LogFile {
    path: PathBuf,
    file: File,
    bytes: u64,
}

/// A call that was refused, as far as is known who made it.
#[derive(Clone, Debug)]
pub struct RefusedCall<'a> {
    /// The kind of reason.
    pub code: Code,
    /// The reason.
    pub message: &'a str,
    /// Who called.
    pub who: &'a str,
    /// What an attempt that called is known by.
    pub session: Option<SessionId>,
    /// What it works on, or what was asked for.
    pub task: Option<String>,
    /// Its subtask.
    pub subtask: Option<SubtaskId>,
}

impl Logs {
    /// Log files in this folder; workspaces lie in the other.
    pub fn open(folder: &Path, workspaces: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self {
            happened: Mutex::new(Some(LogFile::open(folder.join("delegation.jsonl"))?)),
            wrong: Mutex::new(Some(LogFile::open(folder.join("errors.jsonl"))?)),
            workspaces: workspaces.to_owned(),
        })
    }

    /// Writes down what happened.
    pub(crate) fn write(&self, news: &News) {
        // What was used stands in the line of the end, once.
        if !matches!(news.what, What::Used { .. }) {
            append(&self.happened, &self.line(news));
        }
        if let What::LeftBehind { detail } = &news.what {
            let line = json!({
                "timestamp": news.timestamp, "type": "left_behind", "code": Code::UnknownError,
                "message": detail, "session_id": null, "command": null,
                "task": news.delegation, "subtask": null,
            });
            append(&self.wrong, &line);
        }
        if let What::Ended { run, errors, refused, .. } = &news.what {
            for entry in refused {
                let line = json!({
                    "timestamp": news.timestamp, "type": "refused", "code": entry.code,
                    "message": format!("{}: {}", entry.entry, entry.message),
                    "session_id": run.session, "command": run.agent,
                    "task": run.task, "subtask": run.subtask,
                });
                append(&self.wrong, &line);
            }
            for error in errors {
                let line = json!({
                    "timestamp": news.timestamp, "type": error.kind, "code": error.code,
                    "message": error.message, "session_id": run.session, "command": run.agent,
                    "task": run.task, "subtask": run.subtask,
                });
                append(&self.wrong, &line);
            }
        }
    }

    /// Writes down that something was refused.
    pub(crate) fn refused(&self, timestamp: &str, call: &RefusedCall<'_>) {
        let line = json!({
            "timestamp": timestamp, "type": "refused", "code": call.code,
            "message": call.message, "session_id": call.session, "command": call.who,
            "task": call.task, "subtask": call.subtask,
        });
        append(&self.wrong, &line);
    }

    fn line(&self, news: &News) -> Value {
        match &news.what {
            What::Started(run) => {
                let mut line = self.attempt(news, run, "started");
                if let Some(line) = line.as_object_mut() {
                    let place = self.workspaces.join(run.attempt.as_str());
                    line.insert("description".to_owned(), json!(run.title));
                    line.insert("worktree_path".to_owned(), json!(place));
                }
                line
            }
            What::Ended { run, status, .. } => {
                let mut line = self.attempt(news, run, status);
                if let Some(line) = line.as_object_mut() {
                    line.extend(figures(&news.what));
                }
                line
            }
            What::Accepted { .. }
            | What::Grew { .. }
            | What::Progress { .. }
            | What::Used { .. }
            | What::Asked { .. }
            | What::Retried { .. }
            | What::Merged { .. }
            | What::SubtaskEnded { .. }
            | What::Paused { .. }
            | What::Resumed
            | What::CancelRequested { .. }
            | What::LeftBehind { .. }
            | What::Finished { .. } => other(news),
        }
    }

    fn attempt(&self, news: &News, run: &Run, status: &str) -> Value {
        json!({
            "timestamp": news.timestamp, "delegation": news.delegation, "seq": news.seq,
            "parent_story": run.parent_subtask.as_ref().map_or(run.task.as_str(), |id| id.as_str()),
            "child_story": run.subtask, "depth": run.depth, "parent_id": run.parent,
            "child_id": run.attempt, "session_id": run.session, "agent": run.agent,
            "status": status,
        })
    }
}

/// What an end adds to a line.
fn figures(what: &What) -> Vec<(String, Value)> {
    let What::Ended { status, duration_ms, tokens, cost_usd, files_changed, summary, .. } = what
    else {
        return Vec::new();
    };
    let figures = [
        ("duration_ms", json!(duration_ms)),
        ("tokens_in", json!(tokens.map(|tokens| tokens.input + tokens.cache_write))),
        ("tokens_out", json!(tokens.map(|tokens| tokens.output + tokens.reasoning))),
        ("cost_usd", json!(cost_usd)),
        ("success", json!(status == "completed")),
        ("files_changed", json!(files_changed)),
        ("summary", json!(summary)),
    ];
    figures.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Everything that is not the start or the end of an attempt.
fn other(news: &News) -> Value {
    let what = serde_json::to_value(&news.what).unwrap_or_default();
    let mut line = json!({
        "timestamp": news.timestamp, "delegation": news.delegation, "seq": news.seq,
    });
    if let Some(object) = line.as_object_mut() {
        match what {
            Value::String(name) => drop(object.insert("event".to_owned(), json!(name))),
            Value::Object(tagged) => {
                for (name, details) in tagged {
                    object.insert("event".to_owned(), json!(name));
                    object.extend(details.as_object().cloned().unwrap_or_default());
                }
                // Only attempts have a `status` here.
                if let Some(status) = object.shift_remove("status") {
                    object.insert("outcome".to_owned(), status);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
        }
    }
    line
}

/// Writes a line. A log that cannot be written is given up: the journal has it all.
fn append(log: &Mutex<Option<LogFile>>, line: &Value) {
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    let failed = log.as_mut().is_some_and(|file| file.append(&format!("{line}\n")).is_err());
    if failed {
        *log = None;
    }
}

impl LogFile {
    fn open(path: PathBuf) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { path, file, bytes })
    }

    fn append(&mut self, line: &str) -> io::Result<()> {
        if self.bytes > MAX_FILE_BYTES {
            let mut older = self.path.clone().into_os_string();
            older.push(".1");
            fs::rename(&self.path, older)?;
            *self = Self::open(self.path.clone())?;
        }
        self.file.write_all(line.as_bytes())?;
        self.bytes += line.len() as u64;
        Ok(())
    }
}
