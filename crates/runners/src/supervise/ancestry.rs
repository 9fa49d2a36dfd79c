//! Whose descendant a process is.

use std::fmt::Display;
use std::path::Path;

use legation_core::ids::SessionId;
use legation_core::tree::event::Process;

use super::reap::SESSION_VARIABLE;
use super::remote::keeps_many;
use super::spawn::{KEEP, KEEPER_VARIABLE};
use crate::{chancery, procfs};

/// Parents that are followed at most.
const MAX_STEPS: usize = 100_000;
/// How often the way up is tried again when a process on it ends meanwhile.
const MAX_TRIES: usize = 16;

/// Where a process comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ancestry<A> {
    /// It is a descendant of this attempt's keeper, or the keeper itself.
    Attempt(A),
    /// It keeps all of these.
    Many(Vec<A>),
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
pub fn ancestry<A: Clone + Display>(pid: u32, keepers: &[(Process, A)]) -> Ancestry<A> {
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
pub fn owner_of<A: Clone + Display>(pid: u32, keepers: &[(Process, A)]) -> Option<A> {
    match ancestry(pid, keepers) {
        Ancestry::Attempt(attempt) => Some(attempt),
        Ancestry::Many(_) | Ancestry::Own | Ancestry::Outside | Ancestry::Gone => None,
    }
}

/// Whether a process descends from any keeper at all, of whichever project.
pub fn is_kept(pid: u32) -> bool {
    let parents = std::iter::successors(procfs::stat(pid), |stat| procfs::stat(stat.parent));
    let mut parents = parents.take(MAX_STEPS);
    // From inside a user namespace nobody's environment outside can be seen, but what
    // everybody was started as can.
    let program = std::env::current_exe().ok();
    let program = program.as_deref().and_then(Path::file_name).unwrap_or_default();
    parents.any(|stat| {
        let pid = stat.process.pid;
        procfs::has_name(pid, KEEPER_VARIABLE)
            || procfs::has_verb(pid, program, &[KEEP, chancery::VERB])
    })
}

/// Whether a process was started with the session of this attempt in its environment.
pub fn session_in(pid: u32, session: &SessionId) -> bool {
    procfs::has_variable(pid, &format!("{SESSION_VARIABLE}={session}"))
}

/// One walk; nothing if a process on the way ended and its child has another parent
/// by now.
fn walk<A: Clone + Display>(pid: u32, keepers: &[(Process, A)]) -> Option<Ancestry<A>> {
    let own = procfs::own_pid();
    let (mut at, mut below) = (pid, None);
    for _ in 0..MAX_STEPS {
        let stat = procfs::stat(at)?;
        let kept = keepers.iter().filter(|(keeper, _)| *keeper == stat.process);
        let kept: Vec<&A> = kept.map(|(_, attempt)| attempt).collect();
        if !kept.is_empty() {
            return Some(whose(&kept, stat.process, below));
        }
        if at == own {
            return Some(if pid == own { Ancestry::Outside } else { Ancestry::Own });
        }
        // The first process has no parent; neither has one whose parent is outside of
        // what can be seen from here.
        if stat.parent == 0 {
            return Some(Ancestry::Outside);
        }
        (below, at) = (Some(at), stat.parent);
    }
    None
}

/// Whose a process is, once the way up leads to a keeper: by the step `below` it, where it
/// keeps many. That was started by it for one of them, and says for which.
fn whose<A: Clone + Display>(kept: &[&A], keeper: Process, below: Option<u32>) -> Ancestry<A> {
    let owned = || kept.iter().copied().cloned();
    match (below, kept) {
        (_, [only]) if !keeps_many(keeper) => Ancestry::Attempt((*only).clone()),
        (None, _) => Ancestry::Many(owned().collect()),
        (Some(below), _) => {
            let is_for =
                |attempt: &A| procfs::has_variable(below, &format!("{KEEPER_VARIABLE}={attempt}"));
            // What belongs to none of them is what one that died has left.
            owned().find(is_for).map_or(Ancestry::Own, Ancestry::Attempt)
        }
    }
}
