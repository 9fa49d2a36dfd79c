//! Who keeps an attempt: decided once, by whoever makes the file first.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use legation_core::tree::event::Process;
use serde::{Deserialize, Serialize};

use super::ended::EXIT_FILE;
use crate::procfs;

/// The file in the attempt's folder that says who keeps it.
pub const KEEPER_FILE: &str = "keeper.json";

/// The content of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The keeper; nobody where it was looked for and declared gone before it could
    /// begin, so that it never will.
    pub keeper: Option<Process>,
    /// Which run of the machine that was: numbers mean nothing after the next.
    pub boot: String,
    /// The cgroup it uses.
    pub cgroup: Option<PathBuf>,
    /// How long after SIGTERM comes SIGKILL.
    pub grace_ms: u64,
}

impl Claim {
    /// A claim for this very process.
    pub(crate) fn own(cgroup: Option<PathBuf>, grace_ms: u64) -> Option<Self> {
        let keeper = procfs::stat(procfs::own_pid())?.process;
        Some(Self { keeper: Some(keeper), boot: procfs::boot(), cgroup, grace_ms })
    }

    /// A claim that nobody shall keep this attempt.
    pub(crate) fn nobody() -> Self {
        Self { keeper: None, boot: procfs::boot(), cgroup: None, grace_ms: 0 }
    }

    /// What stands in a folder, as long as the attempt has not ended.
    pub fn read(dir: &Path) -> Option<Self> {
        let text = fs::read(dir.join(KEEPER_FILE)).ok()?;
        // Behind it comes the report, just before the file gets another name.
        serde_json::from_slice(text.split(|&byte| byte == b'\n').next()?).ok()
    }

    /// Whether its keeper could still be there: the machine has not been started anew.
    pub(crate) fn is_of_this_boot(&self) -> bool {
        self.boot == procfs::boot()
    }

    /// Makes the file with all its content at once. False: somebody was faster, or has
    /// been and gone.
    pub(crate) fn make(&self, dir: &Path) -> io::Result<bool> {
        let has_ended = || dir.join(EXIT_FILE).exists();
        if has_ended() {
            return Ok(false);
        }
        let (claim, unfinished) = (dir.join(KEEPER_FILE), self.unfinished(dir));
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        fs::write(&unfinished, line)?;
        // A link fails where a rename would replace.
        let made = fs::hard_link(&unfinished, &claim);
        fs::remove_file(&unfinished)?;
        match made {
            // The claim of one that ended between the two looks has another name now.
            Ok(()) if has_ended() => fs::remove_file(claim).map(|()| false),
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// A name that no other process uses.
    fn unfinished(&self, dir: &Path) -> PathBuf {
        let keeper = self.keeper.map_or("none".to_owned(), |keeper| keeper.pid.to_string());
        dir.join(format!("{KEEPER_FILE}.{keeper}.{}", procfs::own_pid()))
    }
}
