//! A group of processes that the kernel itself holds together.
//!
//! Only the second version of the file system is used, wherever it is mounted. To
//! enter a group takes some ten milliseconds on a machine where nobody else does,
//! so nothing depends on there being one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The group this process is in, as a folder in which further ones may be made.
pub fn own() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let below = path.trim_start_matches('/');
    Some(mount_point(&mounts)?.join(below)).filter(|folder| folder.join("cgroup.procs").exists())
}

/// Where the second version is mounted, from the lines of `mountinfo`.
fn mount_point(mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        let is_second = kind.split(' ').next() == Some("cgroup2");
        let point = is_second.then(|| place.split(' ').nth(4)).flatten()?;
        // Blanks and the like are written as numbers there; nobody mounts it so.
        (!point.contains('\\')).then(|| PathBuf::from(point))
    })
}

/// Makes a group and moves this process into it. What it starts from now on is born
/// in there.
pub(crate) fn enter(group: &Path) -> io::Result<()> {
    match fs::create_dir(group) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => join(group),
    }
}

/// Moves this process into a group that is there.
pub(crate) fn join(group: &Path) -> io::Result<()> {
    fs::write(group.join("cgroup.procs"), "0")
}

/// Ends every process in the group at once.
pub(crate) fn kill(group: &Path) {
    // Where the kernel is too old for it, descendants are ended one by one.
    let _ = fs::write(group.join("cgroup.kill"), "1");
}

/// Stops every process in the group, or lets them go on. False: that is not possible.
pub(crate) fn set_frozen(group: &Path, is_frozen: bool) -> bool {
    fs::write(group.join("cgroup.freeze"), if is_frozen { "1" } else { "0" }).is_ok()
}

/// The processes in the group.
pub(crate) fn members(group: &Path) -> Vec<u32> {
    let text = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// A group for an attempt, beside the one this process is in; none where groups cannot
/// be made.
pub fn of(attempt: &str) -> Option<PathBuf> {
    let own = own()?;
    // Whoever may not write there cannot make a group there either.
    let is_writable = rustix::fs::access(&own, rustix::fs::Access::WRITE_OK).is_ok();
    is_writable.then(|| own.join(name(attempt)))
}

/// Whether this is really a group, and bears the name of this attempt.
pub(crate) fn is_of(group: &Path, attempt: &str) -> bool {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let is_group = mount_point(&mounts).is_some_and(|point| group.starts_with(point))
        && fs::canonicalize(group).is_ok_and(|real| real == group);
    is_group && group.file_name().is_some_and(|own| *own == *name(attempt))
}

pub(crate) fn name(attempt: &str) -> String {
    format!("legation-{attempt}")
}

/// Removes an empty group and the empty ones below it.
pub(crate) fn remove(group: &Path) {
    let entries = fs::read_dir(group).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        remove(&entry.path());
    }
    // A group that is not empty stays, and with it what would find its processes.
    let _ = fs::remove_dir(group);
}
