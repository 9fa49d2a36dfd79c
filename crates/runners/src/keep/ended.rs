//! How a program ended: the last thing a keeper writes.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::claim::KEEPER_FILE;
use crate::fence::Standing;

/// The file in the attempt's folder that says how it ended.
pub const EXIT_FILE: &str = "exit.json";

/// What the keeper saw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// The program's exit code, if it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether somebody asked the keeper to stop it.
    pub stopped: bool,
    /// Whether its time was up, and the keeper stopped it.
    #[serde(default)]
    pub timed_out: bool,
    /// Why it could not be started.
    pub start_failed: Option<String>,
    /// Bytes it wrote to standard output.
    pub stdout_bytes: u64,
    /// Those of them that are no longer on the disk.
    pub stdout_dropped: u64,
    /// Bytes it wrote to standard error.
    pub stderr_bytes: u64,
    /// Those of them that are no longer on the disk.
    pub stderr_dropped: u64,
    /// Descendants that were still there when the program had ended, and were ended.
    pub left_over: u32,
    /// Descendants that nothing could end, such as those of another user.
    pub survivors: u32,
    /// Processor time of the program and its descendants.
    pub cpu_ms: u64,
    /// Time from start to end.
    pub wall_ms: u64,
    /// What held its descendants together.
    pub supervised_by: Supervision,
    /// What came of the fence that was ordered.
    #[serde(default)]
    pub fence: Option<Standing>,
    /// Limits that were ordered and do not hold, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ceiling_gaps: Vec<String>,
}

/// What holds the descendants of a program together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Supervision {
    /// A cgroup, and the keeper as the parent of orphans.
    Cgroup,
    /// The keeper as the parent of orphans.
    #[default]
    Subreaper,
}

impl Supervision {
    /// What it is called.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cgroup => "cgroup",
            Self::Subreaper => "subreaper",
        }
    }
}

impl Ended {
    /// What the keeper of this folder wrote. A torn file is as good as none: it can
    /// only come from a machine that went down, and then nothing runs any more.
    pub fn read(dir: &Path) -> Option<Self> {
        let text = fs::read(dir.join(EXIT_FILE)).ok()?;
        let report = text.trim_ascii_end().rsplit(|&byte| byte == b'\n').next()?;
        serde_json::from_slice(report).ok()
    }

    /// Adds the report to the claim and gives the file its last name: it is there
    /// whole or not at all.
    ///
    /// It is not flushed to the disk: that would cost more than all the rest of an
    /// attempt, and would only tell a machine that went down what it knows already.
    pub(crate) fn write(&self, dir: &Path) -> io::Result<()> {
        let line = serde_json::to_vec(self)?;
        let claim = dir.join(KEEPER_FILE);
        // A program that has removed the claim does not get rid of the report.
        let mut file = OpenOptions::new().append(true).create(true).open(&claim)?;
        file.write_all(&line)?;
        fs::rename(claim, dir.join(EXIT_FILE))
    }
}
