//! Whose descendant a process is.

use legation_core::ids::SessionId;
use legation_core::tree::event::Process;

use super::reap::SESSION_VARIABLE;
use super::spawn::KEEPER_VARIABLE;
use crate::procfs;

/// Parents that are followed at most.
const MAX_STEPS: usize = 100_000;
/// How often the way up is tried again when a process on it ends meanwhile.
const MAX_TRIES: usize = 16;

/// Where a process comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ancestry<A> {
    /// It is a descendant of this attempt's keeper, or the keeper itself.
    Attempt(A),
    /// It is a descendant of this very process, below no keeper: what a keeper that
    /// died has left.
    Own,
    /// None of these.
    Outside,
    /// It ended before that could be said.
    Gone,
}

/// Walks from a process up to a keeper. However often a program forks and makes
/// sessions of its own, the way up from its descendants leads through the keeper,
/// since that is the parent of its orphans.
pub fn ancestry<A: Clone>(pid: u32, keepers: &[(Process, A)]) -> Ancestry<A> {
    for _ in 0..MAX_TRIES {
        if let Some(found) = walk(pid, keepers) {
            return found;
        }
        if procfs::stat(pid).is_none() {
            return Ancestry::Gone;
        }
    }
    Ancestry::Gone
}

/// The attempt in whose process tree this process is.
pub fn owner_of<A: Clone>(pid: u32, keepers: &[(Process, A)]) -> Option<A> {
    match ancestry(pid, keepers) {
        Ancestry::Attempt(attempt) => Some(attempt),
        Ancestry::Own | Ancestry::Outside | Ancestry::Gone => None,
    }
}

/// Whether a process descends from any keeper at all, of whichever project.
pub fn is_kept(pid: u32) -> bool {
    let parents = std::iter::successors(procfs::stat(pid), |stat| procfs::stat(stat.parent));
    let mut parents = parents.take(MAX_STEPS);
    parents.any(|stat| procfs::has_name(stat.process.pid, KEEPER_VARIABLE))
}

/// Whether a process was started with the session of this attempt in its environment.
pub fn session_in(pid: u32, session: &SessionId) -> bool {
    procfs::has_variable(pid, &format!("{SESSION_VARIABLE}={session}"))
}

/// One walk; nothing if a process on the way ended and its child has another parent
/// by now.
fn walk<A: Clone>(pid: u32, keepers: &[(Process, A)]) -> Option<Ancestry<A>> {
    let own = procfs::own_pid();
    let mut at = pid;
    for _ in 0..MAX_STEPS {
        let stat = procfs::stat(at)?;
        if let Some((_, attempt)) = keepers.iter().find(|(keeper, _)| *keeper == stat.process) {
            return Some(Ancestry::Attempt(attempt.clone()));
        }
        if at == own {
            return Some(if pid == own { Ancestry::Outside } else { Ancestry::Own });
        }
        // The first process has no parent; neither has one whose parent is outside of
        // what can be seen from here.
        if stat.parent == 0 {
            return Some(Ancestry::Outside);
        }
        at = stat.parent;
    }
    None
}
