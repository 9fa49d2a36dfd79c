//! The powers of root that would lead around the fence.
//!
//! With them a process could read the memory and the environment of others, load code
//! into the kernel or open files by number. Whoever is not root has none to give up.

use std::io;

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

/// What root keeps: powers over files, which the fence bounds by their place, and over
/// its own processes.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE)
    .union(CapabilitySet::SYS_CHROOT);

/// Gives up all the others, for this thread and what it starts. Since it can gain no new
/// ones after the fence is raised, they stay given up.
pub(super) fn lower() -> io::Result<()> {
    let now = capabilities(None)?;
    let kept = CapabilitySets {
        effective: now.effective & KEPT,
        permitted: now.permitted & KEPT,
        inheritable: now.inheritable & KEPT,
    };
    if kept != now {
        set_capabilities(None, kept)?;
    }
    Ok(())
}

/// Whether this thread has the power to mount, and so to make namespaces.
pub(crate) fn may_mount() -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN))
}
