//! What the processes of an attempt may take together: memory, and how many they may be; and
//! how many files each of them may have open.
//!
//! The kernel holds the first two in groups. Those of the second version are the attempt's own
//! group, made where the controllers are at hand; in the first version each controller has
//! groups of its own. Where no group can be had that is told, and never passed over.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::cgroup;

const BYTES_PER_MB: u64 = 1024 * 1024;

/// What may be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ceilings {
    /// Megabytes of memory.
    pub memory_mb: Option<u64>,
    /// Processes, their threads counted.
    pub pids: Option<u64>,
    /// Files that each of them may have open.
    #[serde(default)]
    pub open_files: Option<u64>,
    /// Whether the program may not be started without.
    pub required: bool,
}

/// Something that can be limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Good {
    /// Memory.
    Memory,
    /// Processes and threads.
    Pids,
}

/// Where groups can be made that limit something.
#[derive(Debug)]
struct Seat {
    /// New groups go in here.
    parent: PathBuf,
    /// The group that this process is in.
    home: PathBuf,
    is_second: bool,
}

/// The groups of one attempt, and what is not limited.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Groups of the first version, and where this process was before.
    groups: Vec<(PathBuf, PathBuf)>,
    /// What was asked for and is not limited, in words.
    pub(crate) gaps: Vec<String>,
}

impl Good {
    /// Whether it can be limited by this process; if not, why.
    pub fn obstacle(self) -> Option<String> {
        let what = match self {
            Self::Memory => "memory",
            Self::Pids => "the number of processes",
        };
        let controller = self.controller();
        self.seat().is_none().then(|| {
            format!("{what} cannot be limited: no cgroup with the controller `{controller}` can be made here")
        })
    }

    fn controller(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Pids => "pids",
        }
    }

    /// The files of a group that hold a limit: the first must be there, the others may.
    fn files(self, is_second: bool) -> &'static [&'static str] {
        match (self, is_second) {
            (Self::Memory, true) => &["memory.max"],
            (Self::Memory, false) => &["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"],
            (Self::Pids, true | false) => &["pids.max"],
        }
    }

    fn seat(self) -> Option<Seat> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        first_version(self.controller(), &mounts, &groups).or_else(|| {
            let home = cgroup::own()?;
            let with = |folder: &&Path| {
                let passed = fs::read_to_string(folder.join("cgroup.subtree_control"));
                let passed = passed.unwrap_or_default();
                passed.split_whitespace().any(|name| name == self.controller()) && writable(folder)
            };
            let parent = home.ancestors().find(with)?.to_owned();
            Some(Seat { parent, home, is_second: true })
        })
    }

    fn write(self, group: &Path, is_second: bool, most: u64) -> io::Result<()> {
        let mut files = self.files(is_second).iter().map(|file| group.join(file));
        if let Some(file) = files.next() {
            fs::write(file, most.to_string())?;
        }
        for more in files.filter(|file| file.exists()) {
            fs::write(more, most.to_string())?;
        }
        Ok(())
    }
}

/// The group of a controller of the first version that this process is in.
fn first_version(controller: &str, mounts: &str, groups: &str) -> Option<Seat> {
    let has = |list: &str| list.split(',').any(|name| name == controller);
    let point = mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        let mut kind = kind.split(' ');
        let is_first = kind.next() == Some("cgroup") && has(kind.nth(1)?);
        is_first.then(|| place.split(' ').nth(4)).flatten()
    })?;
    let path = groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        has(parts.next()?).then(|| parts.next()).flatten()
    })?;
    let home = Path::new(point).join(path.trim_start_matches('/'));
    let is_group = home.join("cgroup.procs").exists() && writable(&home);
    is_group.then(|| Seat { parent: home.clone(), home, is_second: false })
}

fn writable(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok()
}

impl Ceilings {
    fn asked(&self) -> impl Iterator<Item = (Good, u64)> {
        let memory = self.memory_mb.map(|mb| (Good::Memory, mb.saturating_mul(BYTES_PER_MB)));
        memory.into_iter().chain(self.pids.map(|pids| (Good::Pids, pids)))
    }

    /// What was asked for and cannot be had here.
    pub fn gaps(&self) -> Vec<String> {
        self.asked().filter_map(|(good, _)| good.obstacle()).collect()
    }

    /// The attempt's own group, where that is what limits it.
    pub fn group(&self, attempt: &str) -> Option<PathBuf> {
        let mut seats = self.asked().filter_map(|(good, _)| good.seat());
        let seat = seats.find(|seat| seat.is_second)?;
        Some(seat.parent.join(cgroup::name(attempt)))
    }

    /// Moves this process into groups that are limited, so that what it starts is born in
    /// there. `own` is the attempt's own group, in which it is already.
    pub(crate) fn take(&self, attempt: &str, own: Option<&Path>) -> Held {
        let mut held = Held::default();
        if let Some(Err(problem)) = self.open_files.map(bound_open_files) {
            held.gaps.push(format!("the number of open files is not limited: {problem}"));
        }
        for (good, most) in self.asked() {
            let Some(seat) = good.seat() else {
                held.gaps.extend(good.obstacle());
                continue;
            };
            let taken = match (seat.is_second, own) {
                (true, Some(group)) => good.write(group, true, most),
                (true, None) => Err(io::Error::other("its group could not be made")),
                (false, _) => {
                    let group = seat.parent.join(cgroup::name(attempt));
                    held.groups.push((group.clone(), seat.home));
                    make(&group)
                        .and_then(|()| good.write(&group, false, most))
                        .and_then(|()| cgroup::join(&group))
                }
            };
            if let Err(problem) = taken {
                held.gaps.push(format!("{} is not limited: {problem}", good.controller()));
            }
        }
        held
    }
}

/// Bounds the open files of this process, and so of all that it starts: nobody below can have
/// more. A keeper needs only a few, so it may be bound itself.
fn bound_open_files(most: u64) -> io::Result<()> {
    let most = getrlimit(Resource::Nofile).maximum.map_or(most, |hard| hard.min(most));
    setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum: Some(most) })?;
    Ok(())
}

fn make(group: &Path) -> io::Result<()> {
    match fs::create_dir(group) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

impl Held {
    /// Goes back to where this process was; what it has started stays inside.
    pub(crate) fn leave(&self) {
        for (_, home) in &self.groups {
            // Where that is not possible, the keeper is limited with its program.
            let _ = cgroup::join(home);
        }
    }

    /// Removes the groups, which must be empty.
    pub(crate) fn remove(&self) {
        for (group, _) in &self.groups {
            cgroup::remove(group);
        }
    }
}

/// Removes groups that a keeper which was killed has left, once they are empty.
pub(crate) fn clear(attempt: &str) {
    for good in [Good::Memory, Good::Pids] {
        if let Some(seat) = good.seat().filter(|seat| !seat.is_second) {
            cgroup::remove(&seat.parent.join(cgroup::name(attempt)));
        }
    }
}
