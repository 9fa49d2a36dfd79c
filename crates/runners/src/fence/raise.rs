//! Raising the fence around the calling thread.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, NetPort, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, Scope, make_bitflags,
};
use legation_core::config::Network;
use rustix::fs::{CWD, Mode, OFlags, openat};

use super::Fence;
use super::capabilities;
use super::filter;
use super::kernel::Kernel;
use super::marks::{Opened, shown};
use super::namespaces::{self, Entered, Namespaces};

/// The newest kernel interface whose rights are asked for. What a kernel does not know
/// of it is named as missing, never taken for granted.
pub(super) const NEWEST: ABI = ABI::V6;

/// Of these and those below, a file takes what makes sense for a file.
const READ: BitFlags<AccessFs> = make_bitflags!(AccessFs::{Execute | ReadFile | ReadDir});
/// All that can be done in a folder, except making devices: one of them is the disk.
const WRITE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    Execute | ReadFile | ReadDir | WriteFile | RemoveDir | RemoveFile | MakeDir | MakeReg
        | MakeSock | MakeFifo | MakeSym | Refer | Truncate
});
/// A device that is opened by name may be controlled, too.
const DEVICE: BitFlags<AccessFs> =
    make_bitflags!(AccessFs::{Execute | ReadFile | WriteFile | Truncate | IoctlDev});
const TERMINALS: BitFlags<AccessFs> =
    make_bitflags!(AccessFs::{ReadFile | ReadDir | WriteFile | IoctlDev});

/// The folder of devices: what else is in there, disks above all, stays closed.
const DEVICES: &str = "/dev";
/// Devices that harm nobody and that programs cannot do without.
const HARMLESS: &[&str] = &["null", "zero", "full", "random", "urandom", "tty", "ptmx"];

/// The port that stands for any that is free.
const CHOSEN_BY_THE_SYSTEM: u16 = 0;

/// Raises it; from now on this thread and all it starts are inside. Answers with what
/// the kernel is, and with what could not be opened as it should.
pub(super) fn raise(fence: &Fence) -> Result<(Kernel, Vec<String>), String> {
    let mut fence = fence.clone();
    fence.hidden.push(DEVICES.into());
    let shown = shown(&fence);
    let ruleset = rules(&fence, &shown.opened).map_err(|error| in_words(&error))?;
    // While there is still the power to.
    let Entered { namespaces, unparted, gaps } = namespaces::enter(&fence);
    // Only now are the terminals there that the program is to see.
    let ruleset = with_devices(ruleset).map_err(|error| in_words(&error))?;
    capabilities::lower().map_err(|error| format!("capabilities cannot be given up: {error}"))?;
    // A kernel that cannot log goes without.
    let ruleset = ruleset.log_new_exec(true).map_err(|error| in_words(&error))?;
    let status = ruleset.restrict_self().map_err(|error| in_words(&error))?;
    // In a network namespace without anything there is nothing to be reached by any socket.
    let by_landlock = match fence.network {
        Network::Allow => false,
        Network::OwnPorts => true,
        Network::Deny => matches!(namespaces, Namespaces::None(_)),
    };
    let unfiltered = filter::raise(by_landlock).err();
    let kernel = Kernel { unparted, unfiltered, ..Kernel::told(&status, namespaces) };
    match kernel.obstacle {
        Some(why) => Err(why),
        None => Ok((kernel, [shown.closed, gaps].concat())),
    }
}

fn rules(fence: &Fence, opened: &[Opened]) -> Result<RulesetCreated, RulesetError> {
    let mut ruleset = blank(fence.network)?;
    for Opened { path, is_writable } in opened {
        let rights = match is_writable {
            false => READ,
            true if path.is_dir() => WRITE,
            true => DEVICE,
        };
        ruleset = with(ruleset, path, rights)?;
    }
    if fence.network == Network::OwnPorts {
        for port in fence.ports.iter().copied().chain([CHOSEN_BY_THE_SYSTEM]) {
            ruleset = ruleset.add_rule(NetPort::new(port, AccessNet::BindTcp))?;
        }
    }
    Ok(ruleset)
}

/// Opens the devices that there are for everybody.
fn with_devices(mut ruleset: RulesetCreated) -> Result<RulesetCreated, RulesetError> {
    let devices = Path::new(DEVICES);
    for name in HARMLESS {
        ruleset = with(ruleset, &devices.join(name), DEVICE)?;
    }
    ruleset = with(ruleset, &devices.join("shm"), READ)?;
    with(ruleset, &devices.join("pts"), TERMINALS)
}

/// A fence with nothing open.
pub(super) fn blank(network: Network) -> Result<RulesetCreated, RulesetError> {
    let ruleset = Ruleset::default().handle_access(AccessFs::from_all(NEWEST))?;
    let ruleset = ruleset.scope(Scope::from_all(NEWEST))?;
    match network {
        Network::Allow => ruleset,
        Network::OwnPorts => ruleset.handle_access(AccessNet::BindTcp)?,
        Network::Deny => ruleset.handle_access(AccessNet::from_all(NEWEST))?,
    }
    .create()
}

/// Opens a path. What is not there is not opened, and of a link only the link itself.
fn with(
    ruleset: RulesetCreated,
    path: &Path,
    rights: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(CWD, path, flags, Mode::empty()) {
        Ok(opened) => ruleset.add_rule(PathBeneath::new(opened, rights)),
        Err(_) => Ok(ruleset),
    }
}

/// The kernel's words, down to the reason.
pub(super) fn in_words(error: &RulesetError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let words = cause.to_string();
        if !text.ends_with(&words) {
            text = format!("{text}: {words}");
        }
        source = cause.source();
    }
    text
}
