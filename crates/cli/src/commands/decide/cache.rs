//! Decisions kept for a minute in the user's cache folder.
//!
//! A cache is a convenience: whatever goes wrong here means that there is none,
//! and never changes an answer.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use legation_core::decision::DelegationDecision;

/// How long an answer is good for.
const FRESH_SECONDS: i64 = 60;
/// Answers that are kept at most.
const MAX_FILES: usize = 256;
/// Bytes of an answer that is worth keeping at most.
const MAX_BYTES: usize = 1 << 20;

/// The place of one answer.
pub(super) struct Entry {
    file: PathBuf,
}

impl Entry {
    /// The place of the answer to the question with this key, if there is a cache folder.
    pub(super) fn of(key: &str) -> Option<Self> {
        let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let absolute = |path: &PathBuf| path.is_absolute();
        let home = || folder("HOME").filter(absolute).map(|home| home.join(".cache"));
        let cache = folder("XDG_CACHE_HOME").filter(absolute).or_else(home)?;
        let file = cache.join("legation/decisions").join(format!("{key}.json"));
        Some(Self { file })
    }

    /// The answer that was kept, marked as such, if it is fresh.
    pub(super) fn read(&self, now: Timestamp) -> Option<DelegationDecision> {
        let text = fs::read_to_string(&self.file).ok()?;
        let mut decision: DelegationDecision = serde_json::from_str(&text).ok()?;
        let made: Timestamp = decision.metadata.timestamp.parse().ok()?;
        let age = now.as_second().checked_sub(made.as_second())?;
        // An answer from the future is one from before the clock was set.
        let is_fresh = (0..FRESH_SECONDS).contains(&age);
        decision.metadata.cached = true;
        is_fresh.then_some(decision)
    }

    /// Keeps an answer, and clears away those that have had their time.
    pub(super) fn write(&self, decision: &DelegationDecision) {
        let Some(folder) = self.file.parent() else {
            return;
        };
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        let json = serde_json::to_vec(decision).unwrap_or_default();
        if made.is_err() || json.len() > MAX_BYTES {
            return;
        }
        sweep(folder);
        // Another process may read at any moment: it sees the whole answer or none.
        let half = self.file.with_extension(format!("{}.tmp", std::process::id()));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&half);
        let written = file.and_then(|mut file| file.write_all(&json));
        if written.and_then(|()| fs::rename(&half, &self.file)).is_err() {
            let _ = fs::remove_file(&half);
        }
    }
}

/// Removes what is no longer fresh, and the oldest of what would be too many.
fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let fresh = Duration::from_secs(FRESH_SECONDS.unsigned_abs());
    let now = SystemTime::now();
    let mut kept = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let Ok(modified) = fs::symlink_metadata(&path).and_then(|facts| facts.modified()) else {
            continue;
        };
        if now.duration_since(modified).is_ok_and(|age| age < fresh) {
            kept.push((modified, path));
        } else {
            let _ = fs::remove_file(&path);
        }
    }
    kept.sort();
    // One place is for the answer that is about to be written.
    let too_many = (kept.len() + 1).saturating_sub(MAX_FILES);
    for (_, path) in kept.into_iter().take(too_many) {
        let _ = fs::remove_file(path);
    }
}
