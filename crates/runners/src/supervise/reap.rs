//! Ending everything a keeper has left, when it could not do so itself.

use std::collections::HashSet;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use legation_core::ids::SessionId;
use legation_core::tree::event::Process;
use rustix::process::{Signal, WaitOptions, child_subreaper, getpid, set_child_subreaper, waitpid};

use super::spawn::KEEPER_VARIABLE;
use crate::keep::{Claim, cgroup};
use crate::procfs::{self, Stat};

/// The variable by which the processes of an attempt are known.
pub(super) const SESSION_VARIABLE: &str = "LEGATION_SESSION_ID";

/// How long is looked for more; a process that hangs in the kernel may take longer.
const LIMIT: Duration = Duration::from_secs(30);
/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// Makes this process the parent of orphans below it, so that what a dead keeper has
/// left stays in sight.
pub fn become_subreaper() -> std::io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Kills every process of an attempt whose keeper is gone, and the keeper if it is
/// not, and goes on until none is left. Says how many there were. Blocks.
///
/// A process belongs to the attempt if it has its session in the environment, if it
/// is in its cgroup, or if it descends from one of these.
pub fn reap(session: &SessionId, dir: &Path) -> u32 {
    let claim = Claim::read(dir).filter(Claim::is_of_this_boot);
    // The program can write to the folder: who is named there must be a keeper of this
    // attempt, and no group is taken from it.
    let attempt = dir.file_name().unwrap_or_default().to_string_lossy();
    let mark = format!("{KEEPER_VARIABLE}={attempt}");
    let keeper = claim.and_then(|claim| claim.keeper);
    let keeper = keeper.filter(|process| procfs::has_variable(process.pid, &mark));
    end_all(session, keeper.map(|process| Kept { process, is_fresh: false }), None)
}

/// The same for a keeper that was seen to die just now, so that its number cannot be
/// another's yet: whoever is in the session it made belongs to it too. An orphan that
/// came to this process from a keeper belongs to no attempt that lives, and is ended
/// as well.
pub(super) fn reap_after(keeper: Process, session: &SessionId, dir: &Path) -> u32 {
    let cgroup = Claim::read(dir).and_then(|claim| claim.cgroup);
    end_all(session, Some(Kept { process: keeper, is_fresh: true }), cgroup.as_deref())
}

/// A keeper as far as it is known.
#[derive(Clone, Copy)]
struct Kept {
    process: Process,
    is_fresh: bool,
}

impl Kept {
    /// Whether a process is the keeper or in the session it made.
    fn has(self, stat: &Stat) -> bool {
        stat.process == self.process || (self.is_fresh && stat.session == self.process.pid)
    }
}

fn end_all(session: &SessionId, keeper: Option<Kept>, group: Option<&Path>) -> u32 {
    let variable = format!("{SESSION_VARIABLE}={session}");
    let mut killed = HashSet::new();
    let until = Instant::now() + LIMIT;
    loop {
        if let Some(group) = group {
            killed.extend(cgroup::members(group));
            cgroup::kill(group);
        }
        let members = members(keeper, &variable);
        if members.is_empty() || Instant::now() >= until {
            break;
        }
        // What is stopped cannot fork while the others are killed.
        for member in &members {
            procfs::signal(member.process, Signal::STOP);
        }
        for member in &members {
            procfs::signal(member.process, Signal::KILL);
            killed.insert(member.process.pid);
        }
        sleep(PAUSE);
        members.iter().for_each(bury);
    }
    group.inspect(|group| cgroup::remove(group));
    u32::try_from(killed.len()).unwrap_or(u32::MAX)
}

/// Takes note of the end of a process that has become a child of this one.
fn bury(member: &Stat) {
    if let Some(pid) = procfs::pid(member.process.pid) {
        // Most are somebody else's children; then there is nothing to note.
        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

/// Every living process of the attempt.
fn members(keeper: Option<Kept>, variable: &str) -> Vec<Stat> {
    let own = procfs::own_pid();
    let all = procfs::all();
    let own_session = all.iter().find(|stat| stat.process.pid == own).map(|stat| stat.session);
    let is_fresh = keeper.is_some_and(|keeper| keeper.is_fresh);
    let takes_orphans = is_fresh && matches!(child_subreaper(), Ok(Some(_)));
    let mut of_attempt: HashSet<u32> = HashSet::new();
    for stat in all.iter().filter(|stat| stat.process.pid != own && !stat.is_dead) {
        // Programs that this process has started itself are in its own session.
        let is_stray = || {
            let is_orphan = stat.parent == own && Some(stat.session) != own_session;
            takes_orphans && is_orphan && !procfs::has_name(stat.process.pid, KEEPER_VARIABLE)
        };
        let pid = stat.process.pid;
        if keeper.is_some_and(|keeper| keeper.has(stat))
            || procfs::has_variable(pid, variable)
            || is_stray()
        {
            of_attempt.insert(pid);
        }
    }
    procfs::add_descendants(&all, &mut of_attempt);
    of_attempt.remove(&own);
    all.into_iter().filter(|stat| of_attempt.contains(&stat.process.pid) && !stat.is_dead).collect()
}
