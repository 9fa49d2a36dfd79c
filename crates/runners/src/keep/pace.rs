//! How the time of an attempt goes by: when it is up, and whether it stands still.
//!
//! A keeper is told with its order when the time is up, and ends everything then,
//! whether or not there is an engine. Whoever steers the attempt writes changes into a
//! file and signals the keeper. It is the file that counts: two signals that come
//! close together may be heard in any order, and what a file says stays said.
//!
//! The program can write to the folder, as it can kill its keeper: as long as an
//! engine runs it gains nothing by either, since that keeps the time as well.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// The file in the attempt's folder that says how its time goes by.
pub const PACE_FILE: &str = "pace.json";

/// The longest a keeper sleeps before it compares its clock again: one that was set, or
/// a machine that was asleep, makes it late by no more than this.
const COMPARE_EVERY: Duration = Duration::from_secs(30);
/// How often is looked whether time that stands still goes on again.
const STILL_MS: u64 = 1_000;

/// How the time of an attempt goes by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pace {
    /// When it is up, in milliseconds of the epoch; none while it stands still.
    pub deadline_ms: Option<u64>,
    /// Whether the program is halted.
    pub frozen: bool,
    /// Whether it shall end. A keeper of one program is told by a signal; where many are
    /// kept by one process, a signal cannot say which.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
}

impl Pace {
    /// What is written in a folder, if anything is.
    pub(crate) fn read(dir: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(dir.join(PACE_FILE)).ok()?).ok()
    }

    /// Writes it down, whole or not at all.
    pub(crate) fn write(&self, dir: &Path) -> io::Result<()> {
        let unfinished = dir.join(format!("{PACE_FILE}.new"));
        fs::write(&unfinished, serde_json::to_vec(self)?)?;
        fs::rename(unfinished, dir.join(PACE_FILE))
    }
}

/// The time of one program, as its keeper counts it.
#[derive(Debug)]
pub(crate) struct Time {
    dir: PathBuf,
    /// When it is up, as far as is known.
    up_at_ms: Option<u64>,
    /// Since when it stands still because the program is halted.
    halted_at_ms: Option<u64>,
}

impl Time {
    pub(crate) fn new(dir: PathBuf, up_at_ms: Option<u64>) -> Self {
        Self { dir, up_at_ms, halted_at_ms: None }
    }

    /// How long until somebody should look again; for ever where nothing is to come.
    pub(crate) fn next_look(&self) -> Option<Duration> {
        let up_at = self.up_at_ms.filter(|_| self.halted_at_ms.is_none())?;
        let left = Duration::from_millis(up_at.saturating_sub(now_ms()));
        Some(left.min(COMPARE_EVERY))
    }

    /// Whether it is up. If the file gives more of it, it is not.
    pub(crate) fn is_up(&mut self) -> bool {
        let now = now_ms();
        if self.up_at_ms.is_none_or(|up_at| now < up_at) {
            return false;
        }
        match Pace::read(&self.dir) {
            Some(Pace { deadline_ms: None, .. }) => self.up_at_ms = Some(now + STILL_MS),
            Some(Pace { deadline_ms: Some(later), .. }) if later > now => {
                self.up_at_ms = Some(later);
            }
            Some(_) | None => return true,
        }
        false
    }

    /// Whether the program should be halted now and is not, or the other way round. A
    /// signal says what it was `asked`, and the file what is true.
    pub(crate) fn change(&self, asked: bool) -> Option<bool> {
        let wanted = Pace::read(&self.dir).map_or(asked, |pace| pace.frozen);
        (wanted != self.halted_at_ms.is_some()).then_some(wanted)
    }

    /// The program is halted from now on: its time stands still.
    pub(crate) fn halt(&mut self) {
        self.halted_at_ms = Some(now_ms());
    }

    /// The program goes on: it has as much time left as when it was halted.
    pub(crate) fn go_on(&mut self) {
        let halted_at = self.halted_at_ms.take();
        let lost = halted_at.map_or(0, |since| now_ms().saturating_sub(since));
        self.up_at_ms = self.up_at_ms.map(|up_at| up_at.saturating_add(lost));
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
