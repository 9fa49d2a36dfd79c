//! Going into the namespace of another process, and finding one that leads there.

use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use legation_core::tree::event::Process;
use rustix::process::{PidfdFlags, getuid, pidfd_open};
use rustix::thread::{ThreadNameSpaceType, move_into_thread_name_spaces};

use super::super::overlay::SOURCE;
use crate::mounts::{self, Mount};
use crate::procfs;

/// Takes the place of this very process among users and mounts; the working folder stays.
pub(super) fn join(process: Process) -> io::Result<()> {
    let pid = procfs::pid(process.pid).ok_or(ErrorKind::NotFound)?;
    let held = pidfd_open(pid, PidfdFlags::empty())?;
    if procfs::stat(process.pid).is_none_or(|stat| stat.process != process) {
        return Err(ErrorKind::NotFound.into());
    }
    let own = mounts_of(procfs::own_pid());
    if own.is_some() && own == mounts_of(process.pid) {
        return Ok(());
    }
    let folder = std::env::current_dir();
    let both = ThreadNameSpaceType::USER | ThreadNameSpaceType::MOUNT;
    move_into_thread_name_spaces(held.as_fd(), both)?;
    // A folder that is gone was no place to work in before, either.
    folder.map_or(Ok(()), std::env::set_current_dir)
}

/// A process of this user that sees workspaces laid which this one does not.
pub(super) fn member(homes: &[PathBuf]) -> Option<Process> {
    let uid = getuid().as_raw();
    let is_own = |pid: u32| fs::metadata(format!("/proc/{pid}")).is_ok_and(|at| at.uid() == uid);
    // Most processes share what they see, and one look at it is enough.
    let mut seen = HashSet::from([mounts_of(procfs::own_pid())]);
    let mut leads = |pid: u32| is_own(pid) && seen.insert(mounts_of(pid)) && lays(pid, homes);
    let all = procfs::all().into_iter();
    all.filter(|stat| !stat.is_dead).find(|stat| leads(stat.process.pid)).map(|stat| stat.process)
}

/// Whether one of our workspaces is laid where a process sees it.
pub(super) fn lays(pid: u32, homes: &[PathBuf]) -> bool {
    let ours = |mount: &Mount| mount.kind == "overlay" && mount.source == SOURCE;
    let mut laid = mounts::seen_by(&pid.to_string()).into_iter().filter(ours);
    laid.any(|mount| homes.iter().any(|home| mount.target.starts_with(home)))
}

/// What tells which mounts a process sees; nothing where it may not be looked at.
fn mounts_of(pid: u32) -> Option<PathBuf> {
    fs::read_link(Path::new("/proc").join(pid.to_string()).join("ns/mnt")).ok()
}
