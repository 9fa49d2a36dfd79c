//! The log into which SQLite writes first, and when it flows back into the file.
//!
//! Writing over what is there costs the disk half of what it costs to make a file
//! longer. So the log is lengthened a good piece at a time, and begun again from its
//! start before it gets long, both while nobody waits. Nothing here decides what is
//! acknowledged: a log that is neither lengthened nor begun again is only slower.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::Connection;

use super::connect;

/// After how many pages the log flows back as soon as nobody waits: 4 MiB.
const ENOUGH: u64 = 1024;
/// After how many pages it flows back even if somebody does: 32 MiB. Most pages are
/// written many times until then, and flow back once.
const TOO_MUCH: u64 = 8192;
/// How many pages of the log should be there before they are needed.
const AHEAD: u64 = 64;
/// By how many pages the log is lengthened.
const PIECE: usize = 256;
/// Bytes of a page with what the log adds to it.
const PAGE: usize = 4096 + 24;

/// The log of a connection that writes.
pub(super) struct Log {
    path: PathBuf,
    /// How many pages are in use, as of the last commit.
    used: Arc<AtomicU64>,
    /// How many were in use when the log was last told to flow back.
    told_at: u64,
    /// How many pages there is room for without making the file longer.
    room: u64,
}

impl Log {
    /// From now on the log of this connection, to the file at `path`, is looked after here.
    pub(super) fn of(connection: &mut Connection, path: &Path) -> rusqlite::Result<Self> {
        let used = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&used);
        connection.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages: i32| {
            seen.store(u64::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(Self { path: connect::log_of(path), used, told_at: 0, room: 0 })
    }

    /// Whether there is something to do.
    pub(super) fn is_due(&self) -> bool {
        let used = self.used.load(Ordering::Relaxed);
        used + AHEAD > self.room || used.saturating_sub(self.told_at) >= ENOUGH
    }

    /// Does what is due, after a commit and after everybody was answered.
    pub(super) fn tend(&mut self, connection: &Connection, is_anybody_waiting: bool) {
        let used = self.used.load(Ordering::Relaxed);
        if used < self.told_at {
            self.told_at = 0;
        }
        let grown = used - self.told_at;
        if grown >= TOO_MUCH || (grown >= ENOUGH && !is_anybody_waiting) {
            // As far as readers let it; the rest flows back the next time.
            drop(connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())));
            self.told_at = used;
        } else if used + AHEAD > self.room && !is_anybody_waiting {
            // Where that is not possible the log grows with what is written.
            self.room = self.lengthen().unwrap_or(u64::MAX);
        }
    }

    /// Adds a piece at the end of the log, and says how many pages there is room for.
    /// What is added is no page of SQLite and never taken for one. Another process may
    /// be writing there, too: what it wrote is never overwritten.
    fn lengthen(&self) -> io::Result<u64> {
        let wanted = (self.used.load(Ordering::Relaxed) + AHEAD) * PAGE as u64;
        if fs::metadata(&self.path)?.len() < wanted {
            let mut log: File = OpenOptions::new().append(true).open(&self.path)?;
            log.write_all(&vec![0; PIECE * PAGE])?;
            log.sync_data()?;
        }
        Ok(fs::metadata(&self.path)?.len() / PAGE as u64)
    }
}
