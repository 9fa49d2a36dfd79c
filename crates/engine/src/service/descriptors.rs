//! The files that this process may have open, and how many attempts and conversations that is
//! enough for.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::talks::MAX_TALKS;

/// Descriptors that are kept for everything but attempts: the journal, the log, git, callers.
const KEPT: u64 = 256;
/// Descriptors that an attempt takes at most while it runs.
const PER_ATTEMPT: u64 = 8;

/// Conversations that there are always tried to be descriptors for.
const FEWEST_TALKS: usize = 64;

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

/// As many conversations at once as there are descriptors for: callers take no more than half of
/// what is not kept.
pub(super) fn talks() -> usize {
    let Some(most) = getrlimit(Resource::Nofile).current else { return MAX_TALKS };
    let room = most.saturating_sub(KEPT) / 2;
    // Where there is hardly any room, what is kept has to do.
    MAX_TALKS.min(usize::try_from(room).unwrap_or(usize::MAX)).max(FEWEST_TALKS)
}
