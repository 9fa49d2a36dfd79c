//! Namespaces around a program: what Landlock cannot hold.
//!
//! In a mount namespace of its own all that may not be written is read-only, so that modes,
//! owners and times stay as they are, and terminals are those that are made there; in an empty network namespace there is nothing to
//! reach; shared memory, semaphores and queues of others are not seen from one of their own,
//! and those of a program go with it. All are entered by the thread that the program is started from and go with the
//! last process inside. Nothing here changes what others see.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use legation_core::config::Network;
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount, mount_bind, mount_bind_recursive, mount_change,
    mount_remount,
};
use rustix::process::{getegid, geteuid};
use rustix::thread::UnshareFlags;

use super::capabilities::may_mount;
use super::{Asked, Fence};
use crate::mounts;

/// How often a user namespace is asked for, and how long the threads that are in its way are
/// waited for in between.
const MAX_TRIES: usize = 50;
const UNTIL_THREADS_ARE_GONE: Duration = Duration::from_millis(1);

/// What there is where the kernel can part shared memory, and how often it will.
const PARTED: &str = "/proc/self/ns/ipc";
const MAX_PARTED: &str = "/proc/sys/user/max_ipc_namespaces";

/// Where terminals are, those that programs make among them, and what makes them. Programs
/// change modes and owners of their own.
const TERMINALS: &str = "/dev/pts";
const MAKER: &str = "/dev/ptmx";
/// Whoever is inside may make terminals, and they are for that user alone.
const OWN_TERMINALS: &CStr = c"ptmxmode=0666,mode=0600";
/// What is open where mounts cannot be as they should.
const TERMINALS_OPEN: &str = "terminals of the user can be read and written";
const MODES_OPEN: &str = "modes, owners and times can be changed outside";
/// Switches that keep ordinary users from having user namespaces, and the value at which
/// they do.
pub const SWITCHES: &[(&str, &str)] = &[
    ("/proc/sys/user/max_user_namespaces", "0"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0"),
    ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"),
];
/// What an option of a mount is called, and what it is when it is mounted again.
const OPTIONS: &[(&str, MountFlags)] = &[
    ("nosuid", MountFlags::NOSUID),
    ("nodev", MountFlags::NODEV),
    ("noexec", MountFlags::NOEXEC),
    ("noatime", MountFlags::NOATIME),
    ("nodiratime", MountFlags::NODIRATIME),
    ("relatime", MountFlags::RELATIME),
    ("nosymfollow", MountFlags::NOSYMFOLLOW),
];

/// The namespaces that programs can be given here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Namespaces {
    /// Of mounts and of the network.
    Both,
    /// The same inside a user namespace, where files of others belong to `nobody`. That
    /// is only worth it where the network is denied, or a fence required.
    InUsers,
    /// None, for this reason.
    None(String),
}

impl Namespaces {
    /// Tries it out, on a thread that is thrown away. In a user namespace nobody can be put
    /// without going along, so there the kernel's switches are asked.
    pub(super) fn try_out() -> Self {
        if may_mount() {
            let flags = UnshareFlags::NEWNS | UnshareFlags::NEWNET;
            let tried = std::thread::spawn(move || unshare(flags)).join();
            return match tried.unwrap_or(Err(Errno::IO)) {
                Ok(()) => Self::Both,
                Err(error) => Self::None(format!("the kernel refuses them: {error}")),
            };
        }
        let is_off = |(path, off): &(&str, &str)| {
            fs::read_to_string(path).is_ok_and(|value| value.trim() == *off)
        };
        match SWITCHES.iter().find(|switch| is_off(switch)) {
            _ if !Path::new("/proc/self/ns/user").exists() => {
                Self::None("only root has them on this kernel".to_owned())
            }
            Some((path, off)) => Self::None(format!("only root has them while {path} is {off}")),
            None => Self::InUsers,
        }
    }

    /// Whether a fence of which this is asked has those that it has wherever they can be had.
    pub(super) fn are_entered(&self, asked: Asked) -> bool {
        match self {
            Self::Both => true,
            Self::InUsers => asked.is_worth_users(),
            Self::None(_) => false,
        }
    }
}

/// Why shared memory would not be among what namespaces part; none if it would.
pub(super) fn unparted() -> Option<String> {
    if !Path::new(PARTED).exists() {
        return Some("this kernel has none".to_owned());
    }
    let most = fs::read_to_string(MAX_PARTED).unwrap_or_default();
    (most.trim() == "0").then(|| format!("there are none while {MAX_PARTED} is 0"))
}

/// What came of a thread's way into namespaces of its own.
pub(super) struct Entered {
    pub(super) namespaces: Namespaces,
    /// Why shared memory is not among what they part, if they part anything.
    pub(super) unparted: Option<String>,
    /// What stays open all the same, in words.
    pub(super) gaps: Vec<String>,
}

/// Takes this process into a user namespace of its own if it needs one for the namespaces
/// that the fence wants. It must have no second thread yet.
///
/// Where that is refused, the namespaces will be, and with them whatever requires them. It fails
/// where the namespace is there and the user is nobody in it.
pub fn prepare(fence: &Fence) -> io::Result<()> {
    if !fence.asked().is_worth_users() || may_mount() {
        return Ok(());
    }
    match Namespaces::try_out() {
        Namespaces::InUsers => own_users(),
        Namespaces::Both | Namespaces::None(_) => Ok(()),
    }
}

/// A user namespace in which the user is who it is outside.
fn own_users() -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    if !unshare_users() {
        return Ok(());
    }
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// Whether this process is in a user namespace of its own now. A thread that has been waited for
/// is gone for this process and, for a moment, not yet for the kernel, which takes only those
/// that have one thread and calls others invalid.
fn unshare_users() -> bool {
    for _ in 0..MAX_TRIES {
        match unshare(UnshareFlags::NEWUSER) {
            Ok(()) => return true,
            Err(Errno::INVAL) => std::thread::sleep(UNTIL_THREADS_ARE_GONE),
            Err(_) => return false,
        }
    }
    false
}

/// Takes this thread into namespaces of its own, as far as the fence calls for them.
pub(super) fn enter(fence: &Fence) -> Entered {
    let none = |why: String| {
        let namespaces = Namespaces::None(why);
        Entered { namespaces, unparted: None, gaps: Vec::new() }
    };
    if !may_mount() {
        let why = match fence.asked().is_worth_users() {
            true => "no user namespace can be made here",
            false => "they take root",
        };
        return none(why.to_owned());
    }
    let flags = match fence.network {
        Network::Allow | Network::OwnPorts => UnshareFlags::NEWNS,
        Network::Deny => UnshareFlags::NEWNS | UnshareFlags::NEWNET,
    };
    if let Err(error) = unshare(flags) {
        return none(format!("the kernel refuses them: {error}"));
    }
    // What is mounted before they are parted could be seen outside.
    let (terminals, modes) = match part_mounts() {
        Ok(()) => (own_terminals(), close_mounts(&fence.writable)),
        Err(why) => (Err(why.clone()), Err(why)),
    };
    let done = [(TERMINALS_OPEN, terminals), (MODES_OPEN, modes)].into_iter();
    let gaps = done.filter_map(|(what, done)| Some(format!("{what}: {}", done.err()?))).collect();
    // By itself, since a kernel may have the others and not this one.
    let parted = unshare(UnshareFlags::NEWIPC);
    let unparted = parted.err().map(|error| format!("the kernel refuses it: {error}"));
    Entered { namespaces: Namespaces::Both, unparted, gaps }
}

/// What could not be done with a path.
fn said(what: &str, path: &Path) -> impl FnOnce(Errno) -> String {
    let what = format!("{what} {}", path.display());
    move |error| format!("{what}: {error}")
}

/// Nothing that is mounted here is seen outside then, and nothing that is mounted there later
/// is seen, and written, here.
fn part_mounts() -> Result<(), String> {
    let root = Path::new("/");
    let alone = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change(root, alone).map_err(said("cannot part from the mounts of others at", root))
}

/// Lays terminals over those of others, as yet none: they are read, written and set by their
/// user, and Landlock cannot tell them from those that a program makes for itself. Where there
/// are none, there is nothing to be laid over.
fn own_terminals() -> Result<(), String> {
    let (terminals, maker) = (Path::new(TERMINALS), Path::new(MAKER));
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    match mount("devpts", terminals, "devpts", flags, OWN_TERMINALS) {
        Ok(()) => {}
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
        Err(error) => return Err(said("cannot mount over", terminals)(error)),
    }
    // A link leads to the new one already. Some containers have that of the old one there.
    match fs::symlink_metadata(maker) {
        Ok(about) if !about.is_symlink() => {
            mount_bind(terminals.join("ptmx"), maker).map_err(said("cannot mount over", maker))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Makes everything read-only but what may be written, for this thread and what it starts.
fn close_mounts(writable: &[PathBuf]) -> Result<(), String> {
    // A mount that is laid over itself can differ from the one around it.
    let is_inside = |path: &Path| writable.iter().any(|open| path.starts_with(open));
    for open in writable.iter().filter(|open| !open.parent().is_some_and(is_inside)) {
        match mount_bind_recursive(open, open) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(said("cannot leave open", open)(error)),
        }
    }
    // Of mounts at one place the last one is seen.
    let all = mounts::seen_by("thread-self").into_iter();
    let all: BTreeMap<PathBuf, String> = all.map(|mount| (mount.target, mount.options)).collect();
    let rest = all.iter().filter(|(path, _)| !is_inside(path) && !path.starts_with(TERMINALS));
    for (path, options) in rest {
        let Some(flags) = closed(options) else { continue };
        match mount_remount(path.as_path(), flags, "") {
            // It lies under another one, or where this user gets to no file of it.
            Ok(()) | Err(Errno::INVAL | Errno::NOENT | Errno::ACCESS) => {}
            Err(error) => return Err(said("cannot close", path)(error)),
        }
    }
    Ok(())
}

/// How a mount is mounted again so that it is as before and read-only; not at all if it is.
fn closed(options: &str) -> Option<MountFlags> {
    let mut flags = MountFlags::BIND | MountFlags::RDONLY;
    for option in options.split(',') {
        if option == "ro" {
            return None;
        }
        let known = OPTIONS.iter().find(|(name, _)| *name == option);
        flags |= known.map_or(MountFlags::empty(), |(_, flag)| *flag);
    }
    Some(flags)
}

#[expect(
    deprecated,
    reason = "only the flag that parts the tables of open files is unsafe, and it is not used"
)]
fn unshare(flags: UnshareFlags) -> Result<(), Errno> {
    rustix::thread::unshare(flags)
}
