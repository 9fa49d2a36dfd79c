//! Everything that descends from this process: seen, signalled and buried.
//!
//! Since the keeper is the parent of orphans, nothing that its program starts can
//! leave this tree while the keeper lives.

use std::collections::HashSet;
use std::path::PathBuf;

use legation_core::tree::event::Process;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, wait};

use super::cgroup;
use crate::procfs::{self, Stat};

/// How often the tree is looked at again for processes that were born meanwhile.
const MAX_LOOKS: usize = 64;

/// The tree below this process.
#[derive(Debug)]
pub(super) struct Descendants {
    /// The group they are all in, and this process is not.
    pub(super) group: Option<PathBuf>,
    /// Whether others are in that group, which are not to be ended with them.
    pub(super) is_shared: bool,
}

/// What waiting for children brought.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buried {
    /// How the program itself ended, if it is among them.
    pub(super) program: Option<WaitStatus>,
    /// Whether there is nobody left at all. The kernel says so; no look is needed.
    pub(super) is_last: bool,
}

impl Descendants {
    /// Those that live.
    pub(super) fn list() -> Vec<Stat> {
        let own = procfs::own_pid();
        let all = procfs::all();
        let mut found = HashSet::from([own]);
        procfs::add_descendants(&all, &mut found);
        found.remove(&own);
        let living = |stat: &Stat| found.contains(&stat.process.pid) && !stat.is_dead;
        all.into_iter().filter(living).collect()
    }

    /// Takes note of every child that has ended.
    pub(super) fn bury(program: Pid) -> Buried {
        let mut ended = None;
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == program => ended = Some(status),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return Buried { program: ended, is_last: false },
                Err(_) => return Buried { program: ended, is_last: true },
            }
        }
    }

    /// Asks them all to end, also those that are halted.
    pub(super) fn terminate(&self) {
        let tree = Self::list();
        tree.iter().for_each(|stat| procfs::signal(stat.process, Signal::TERM));
        // Only now, so that the first thing they do when they go on is to end.
        self.thaw();
    }

    /// Ends them all, as far as they can be seen now.
    pub(super) fn kill(&self) {
        if let Some(group) = self.group.as_ref().filter(|_| !self.is_shared) {
            cgroup::kill(group);
        }
        // Processes that fork faster than they are killed would never be over; none
        // forks while all are halted.
        let halted = Self::halt();
        halted.into_iter().for_each(|process| procfs::signal(process, Signal::KILL));
    }

    /// Halts them all.
    pub(super) fn freeze(&self) {
        if !self.group.as_ref().is_some_and(|group| cgroup::set_frozen(group, true)) {
            Self::halt();
        }
    }

    /// Lets them all go on, whoever halted them.
    pub(super) fn thaw(&self) {
        if let Some(group) = &self.group {
            cgroup::set_frozen(group, false);
        }
        Self::list().iter().for_each(|stat| procfs::signal(stat.process, Signal::CONT));
    }

    /// Sends SIGSTOP until a look shows nobody new.
    fn halt() -> Vec<Process> {
        let mut halted = Vec::new();
        let mut seen = HashSet::new();
        for _ in 0..MAX_LOOKS {
            let tree = Self::list().into_iter().map(|stat| stat.process);
            let new: Vec<Process> =
                tree.filter(|process| seen.insert((process.pid, process.started))).collect();
            if new.is_empty() {
                break;
            }
            new.iter().for_each(|process| procfs::signal(*process, Signal::STOP));
            halted.extend(new);
        }
        halted
    }
}
