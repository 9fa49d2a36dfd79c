//! What the machine offers, by what the kernel says of itself.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use legation_runners::fence::SWITCHES;
use legation_runners::keep::{Good, cgroup};
use rustix::process::{Resource, getrlimit};
use serde::Serialize;

/// Facts about the machine.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Machine {
    /// The kernel's release.
    pub(super) kernel: Option<String>,
    pub(super) git: Option<String>,
    pub(super) user_namespaces: Offer,
    pub(super) overlay: Offer,
    pub(super) cgroup2: Offer,
    pub(super) memory_limit: Offer,
    pub(super) process_limit: Offer,
    /// Files that a process of this user may have open; nothing where there is no limit.
    pub(super) open_files: Option<u64>,
}

/// Something that is there or is not, and more about it.
#[derive(Serialize)]
pub(super) struct Offer {
    pub(super) available: bool,
    pub(super) note: Option<&'static str>,
}

impl Machine {
    /// Looks. The only program it runs is git.
    pub(super) fn look() -> Self {
        Self {
            kernel: line("/proc/sys/kernel/osrelease"),
            git: git(),
            user_namespaces: user_namespaces(),
            overlay: overlay(),
            cgroup2: cgroup2(),
            memory_limit: limit(Good::Memory),
            process_limit: limit(Good::Pids),
            open_files: getrlimit(Resource::Nofile).maximum,
        }
    }
}

fn line(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn git() -> Option<String> {
    let ran = Command::new("git").arg("--version").stdin(Stdio::null()).output().ok()?;
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    Some(said.trim().strip_prefix("git version ")?.to_owned())
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn user_namespaces() -> Offer {
    let most = line("/proc/sys/user/max_user_namespaces");
    let note = if !Path::new("/proc/self/ns/user").exists() {
        Some("the kernel has none")
    } else if most.as_deref() == Some("0") {
        Some("their number is limited to 0")
    } else if !is_root() && SWITCHES.iter().any(|(path, off)| line(path).as_deref() == Some(*off)) {
        Some("ordinary users may not make any")
    } else {
        None
    };
    Offer { available: note.is_none(), note }
}

fn overlay() -> Offer {
    let known = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let is_known = known.lines().any(|line| line.split_whitespace().last() == Some("overlay"));
    let can_mount = is_root() || user_namespaces().available;
    let note = match (is_known, can_mount) {
        (false, _) => Some("the kernel has none, or its module is not loaded"),
        (true, false) => Some("only root could mount one"),
        (true, true) => None,
    };
    Offer { available: note.is_none(), note }
}

fn limit(good: Good) -> Offer {
    let note = good.obstacle().map(|_| "no cgroup with its controller can be made here");
    Offer { available: note.is_none(), note }
}

fn cgroup2() -> Offer {
    let Some(own) = cgroup::own() else {
        return Offer { available: false, note: Some("it is not mounted") };
    };
    let is_writable = rustix::fs::access(&own, rustix::fs::Access::WRITE_OK).is_ok();
    let controllers = fs::read_to_string(own.join("cgroup.controllers")).unwrap_or_default();
    let has = |name| controllers.split_whitespace().any(|controller| controller == name);
    let note = if !is_writable {
        Some("this user may make no groups")
    } else if !has("memory") || !has("pids") {
        Some("without the controllers of memory and pids")
    } else {
        None
    };
    Offer { available: is_writable, note }
}
