//! What a keeper is told to do: one JSON value on its standard input.

use std::path::PathBuf;

use legation_core::ids::{AttemptId, SessionId};
use serde::{Deserialize, Serialize};

use super::ceilings::Ceilings;
use crate::fence::Fence;

/// One program to start and to keep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The attempt that runs it.
    pub attempt: AttemptId,
    /// What the attempt is called in its environment.
    pub session: SessionId,
    /// The attempt's folder, which exists; everything a keeper writes lies there.
    pub dir: PathBuf,
    /// The program, found already, and its arguments.
    pub program: Vec<String>,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
    /// Where it works.
    pub cwd: PathBuf,
    /// What it reads on its standard input: the brief.
    pub stdin: String,
    /// What it may take.
    #[serde(default)]
    pub limits: Limits,
    /// When its time is up, in milliseconds of the epoch: it is stopped then, by the
    /// keeper alone if need be.
    #[serde(default)]
    pub deadline_ms: Option<u64>,
    /// A folder of the cgroup2 file system that the keeper makes, puts the program
    /// into from its birth, and removes. Entering costs milliseconds on an idle
    /// machine, so it is worth it for programs that run for longer than that.
    #[serde(default)]
    pub cgroup: Option<PathBuf>,
    /// What its processes may take together.
    #[serde(default)]
    pub ceilings: Ceilings,
    /// What is around it.
    #[serde(default)]
    pub fence: Option<Fence>,
    /// Whether only the program itself is asked to end at first: it knows better how to
    /// ask those it has started.
    #[serde(default)]
    pub asks_first: bool,
    /// The process that it does something for, which is the keeper's parent and which it
    /// does not outlive. What that says behind the order is its standard input; what it
    /// says on its standard output is handed on and never kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serves: Option<u32>,
}

/// What a program may take before it is cut short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of standard output that are kept on the disk: the beginning and the end.
    pub stdout_bytes: u64,
    /// The same of standard error.
    pub stderr_bytes: u64,
    /// How long after SIGTERM comes SIGKILL.
    pub grace_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { stdout_bytes: 16 << 20, stderr_bytes: 4 << 20, grace_ms: 5_000 }
    }
}
