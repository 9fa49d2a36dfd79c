//! Ending everything a keeper has left, when it could not do so itself.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use legation_core::ids::SessionId;
use legation_core::tree::event::Process;
use rustix::process::{Signal, WaitOptions, child_subreaper, getpid, set_child_subreaper, waitpid};

use super::remote::{Remote, keeps_many};
use super::spawn::KEEPER_VARIABLE;
use crate::keep::ceilings;
use crate::keep::{Claim, cgroup, mark};
use crate::procfs::{self, Stat};

/// The variable by which the processes of an attempt are known.
pub(crate) const SESSION_VARIABLE: &str = "LEGATION_SESSION_ID";

/// How long is looked for more; a process that hangs in the kernel may take longer.
const LIMIT: Duration = Duration::from_secs(30);
/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// Makes this process the parent of orphans below it, so that what a dead keeper has
/// left stays in sight.
pub fn become_subreaper() -> std::io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// What an attempt's processes are known by once their keeper is gone.
#[derive(Clone, Copy, Debug)]
pub struct Traces<'a> {
    /// What the attempt is called in their environment.
    pub session: &'a SessionId,
    /// The attempt's folder.
    pub dir: &'a Path,
    /// The keeper, as it was recorded where the program cannot write.
    pub keeper: Option<Process>,
    /// Where the program worked.
    pub workspace: Option<&'a Path>,
}

/// Kills every process of an attempt whose keeper is gone, and the keeper if it is
/// not, and goes on until none is left. Says how many there were. Blocks.
///
/// A process belongs to the attempt if it has its session in the environment or its
/// mark open, if it is in its cgroup or in the session its keeper made, or if it
/// descends from one of these. So does an orphan without a terminal that works in the
/// attempt's workspace and is younger than the keeper. What has got rid of all that,
/// and is in no cgroup, cannot be told from any other process of the user.
pub fn reap(traces: Traces<'_>) -> u32 {
    let Traces { session, dir, keeper, workspace } = traces;
    let claim = Claim::read(dir).filter(Claim::is_of_this_boot);
    // The program can write to the folder: who is named there must be a keeper of this
    // attempt.
    let attempt = dir.file_name().unwrap_or_default().to_string_lossy();
    let mark = format!("{KEEPER_VARIABLE}={attempt}");
    let named = claim.as_ref().and_then(|claim| claim.keeper);
    let named = named.filter(|process| procfs::has_variable(process.pid, &mark));
    let recorded = keeper.filter(|_| claim.is_some());
    // One that keeps others too is asked to let go of this one, and lives on.
    let shared =
        recorded.or(claim.as_ref().and_then(|claim| claim.keeper)).filter(|it| keeps_many(*it));
    let remote = shared.and_then(|process| Remote::open(process, dir, true).ok().flatten());
    remote.inspect(Remote::stop);
    let group = claim.and_then(|claim| group_of(claim, dir));
    let search = Search {
        keeper: recorded.or(named).map(|process| Kept {
            process,
            is_fresh: false,
            is_spared: shared == Some(process),
        }),
        workspace: workspace.filter(|_| recorded.is_some()).map(real),
        ..Search::new(session, dir)
    };
    search.end_all(group.as_deref())
}

/// The same for a keeper that was seen to die just now, so that its number cannot be
/// another's yet: whoever is in the session it made belongs to it too. An orphan that
/// came to this process from a keeper belongs to no attempt that lives, and is ended
/// as well.
pub(super) fn reap_after(keeper: Process, session: &SessionId, dir: &Path) -> u32 {
    let group = Claim::read(dir).and_then(|claim| group_of(claim, dir));
    let is_spared = keeps_many(keeper) && procfs::is_alive(keeper);
    let kept = Some(Kept { process: keeper, is_fresh: !is_spared, is_spared });
    Search { keeper: kept, ..Search::new(session, dir) }.end_all(group.as_deref())
}

/// The group that a claim names, if it bears the attempt's name: the program may have
/// written something else there.
fn group_of(claim: Claim, dir: &Path) -> Option<PathBuf> {
    let attempt = dir.file_name().unwrap_or_default().to_string_lossy();
    claim.cgroup.filter(|group| cgroup::is_of(group, &attempt))
}

/// A folder as the kernel writes it.
fn real(folder: &Path) -> PathBuf {
    fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

/// A keeper as far as it is known.
#[derive(Clone, Copy)]
struct Kept {
    process: Process,
    is_fresh: bool,
    /// Whether it lives on, for others.
    is_spared: bool,
}

impl Kept {
    /// Whether a process is the keeper or in the session it made. The number of a
    /// session is nobody else's as long as somebody is in it; only one that emptied and
    /// was made again by another could be mistaken, so a terminal is enough to be spared.
    fn has(self, stat: &Stat) -> bool {
        let is_in_session = || {
            let is_later = stat.process.started >= self.process.started && !stat.has_terminal;
            let is_taken =
                || procfs::stat(self.process.pid).is_some_and(|now| now.process != self.process);
            stat.session == self.process.pid && (self.is_fresh || (is_later && !is_taken()))
        };
        !self.is_spared && (stat.process == self.process || is_in_session())
    }
}

/// What is looked for.
struct Search {
    variable: String,
    dir: PathBuf,
    keeper: Option<Kept>,
    /// Where an orphan may still be at work.
    workspace: Option<PathBuf>,
}

impl Search {
    fn new(session: &SessionId, dir: &Path) -> Self {
        let variable = format!("{SESSION_VARIABLE}={session}");
        Self { variable, dir: real(dir), keeper: None, workspace: None }
    }

    fn end_all(&self, group: Option<&Path>) -> u32 {
        let mut killed = HashSet::new();
        let until = Instant::now() + LIMIT;
        loop {
            if let Some(group) = group {
                killed.extend(cgroup::members(group));
                cgroup::kill(group);
            }
            let members = self.members();
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
        ceilings::clear(&self.dir.file_name().unwrap_or_default().to_string_lossy());
        u32::try_from(killed.len()).unwrap_or(u32::MAX)
    }

    /// Every living process of the attempt.
    fn members(&self) -> Vec<Stat> {
        let own = procfs::own_pid();
        let all = procfs::all();
        let own_session = all.iter().find(|stat| stat.process.pid == own).map(|stat| stat.session);
        let is_fresh = self.keeper.is_some_and(|keeper| keeper.is_fresh);
        let takes_orphans = is_fresh && matches!(child_subreaper(), Ok(Some(_)));
        // Orphans go to somebody that this process descends from, too.
        let reapers = procfs::ancestors();
        let mut of_attempt: HashSet<u32> = HashSet::new();
        for stat in all.iter().filter(|stat| stat.process.pid != own && !stat.is_dead) {
            // Programs that this process has started itself are in its own session.
            let came_here = stat.parent == own && Some(stat.session) != own_session;
            let is_stray = || {
                takes_orphans && came_here && !procfs::has_name(stat.process.pid, KEEPER_VARIABLE)
            };
            let is_orphan = came_here || reapers.contains(&stat.parent);
            let pid = stat.process.pid;
            if self.keeper.is_some_and(|keeper| keeper.has(stat))
                || procfs::has_variable(pid, &self.variable)
                || is_stray()
                || self.is_marked(pid)
                || (is_orphan && self.is_left_at_work(stat))
            {
                of_attempt.insert(pid);
            }
        }
        procfs::add_descendants(&all, &mut of_attempt);
        of_attempt.remove(&own);
        let living = |stat: &Stat| of_attempt.contains(&stat.process.pid) && !stat.is_dead;
        all.into_iter().filter(living).collect()
    }

    /// Whether a process has the attempt's mark, or that of one of its verifications.
    fn is_marked(&self, pid: u32) -> bool {
        let is_ours = |open: PathBuf| {
            let open = open.to_string_lossy();
            let open = Path::new(open.strip_suffix(" (deleted)").unwrap_or(&open)).to_owned();
            open == self.dir || (open.parent() == Some(&self.dir) && open.is_dir())
        };
        procfs::opened(pid, mark::FIRST).any(is_ours)
    }

    /// Whether an orphan is still in the workspace, and no person's.
    fn is_left_at_work(&self, stat: &Stat) -> bool {
        let (Some(keeper), Some(workspace)) = (self.keeper, &self.workspace) else { return false };
        let is_later = stat.process.started >= keeper.process.started;
        let is_there =
            || procfs::folder(stat.process.pid).is_some_and(|at| at.starts_with(workspace));
        is_later && !stat.has_terminal && is_there()
    }
}

/// Takes note of the end of a process that has become a child of this one.
fn bury(member: &Stat) {
    if let Some(pid) = procfs::pid(member.process.pid) {
        // Most are somebody else's children; then there is nothing to note.
        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
    }
}
