//! The files that this process may have open, and how many attempts that is enough for.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors that are kept for everything but attempts: the journal, the log, git, callers.
const KEPT: u64 = 256;
/// Descriptors that an attempt takes at most while it runs.
const PER_ATTEMPT: u64 = 8;

/// Lets this process have as many files open as it may have at all.
pub(super) fn raise() {
    let now = getrlimit(Resource::Nofile);
    // Where that is not possible, there is room for fewer.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: now.maximum, ..now });
}

/// As many of the attempts that are wanted at once as there are descriptors for; at least one.
pub(super) fn fitting(wanted: u32) -> u32 {
    let Some(most) = getrlimit(Resource::Nofile).current else { return wanted };
    let room = most.saturating_sub(KEPT) / PER_ATTEMPT;
    wanted.min(u32::try_from(room).unwrap_or(u32::MAX)).max(1)
}
