//! Folders laid over other folders by the kernel: made, taken away, tried out.
//!
//! What is written goes to a folder of its own and the ones below stay as they
//! are. Nothing here knows what the folders hold, and nothing is deleted.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use super::folders::gone;

/// How often one place is taken away before it counts as somebody else's.
const MAX_STACKED: usize = 8;
/// What our overlays are called in the kernel's table of mounts.
pub(super) const SOURCE: &str = "legation";
/// How the kernel writes that users have the numbers here that they have everywhere.
const ALL_USERS: [&str; 3] = ["0", "0", "4294967295"];

/// What is laid over what.
#[derive(Debug)]
pub(super) struct Overlay<'a> {
    /// The folders below, the topmost first.
    pub(super) lower: &'a [PathBuf],
    /// Where everything that is written goes: `upper`, and `work` for the kernel.
    pub(super) layer: &'a Path,
    /// Where the whole appears.
    pub(super) target: &'a Path,
}

impl Overlay<'_> {
    /// Lays it. The folders for what is written are made if need be.
    pub(super) fn lay(&self) -> io::Result<()> {
        let (upper, work) = (self.layer.join("upper"), self.layer.join("work"));
        for folder in [&upper, &work] {
            fs::create_dir_all(folder)?;
        }
        // Left by an overlay that was never taken away in order; its files are whole.
        gone(&work.join("work/incompat"))?;
        // Handed over as open folders, names may be as long and as odd as they like.
        let lower =
            self.lower.iter().map(|folder| path_of(folder)).collect::<Result<Vec<_>, _>>()?;
        let (upper, work) = (path_of(&upper)?, path_of(&work)?);
        let shown = |fd: &OwnedFd| format!("/proc/self/fd/{}", fd.as_raw_fd());
        let lower: Vec<String> = lower.iter().map(shown).collect();
        // Folders can be renamed as anywhere else, except in a namespace of users: the kernel
        // believes nothing there that users could have written themselves, and programs are
        // told to copy. Nothing is flushed when it goes: what has to last is kept elsewhere,
        // and flushing takes all of the disk's other work with it.
        let marks = if is_namespaced() { "userxattr" } else { "redirect_dir=on" };
        let options = format!(
            "lowerdir={},upperdir={},workdir={},{marks},metacopy=off,index=off,volatile",
            lower.join(":"),
            shown(&upper),
            shown(&work),
        );
        let options = CString::new(options)?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        Ok(mount(SOURCE, self.target, "overlay", flags, options.as_c_str())?)
    }
}

/// A folder as it is now, whatever is laid over it or taken away afterwards.
pub(super) fn path_of(folder: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(open(folder, flags, Mode::empty())?)
}

/// Whether this process is in a namespace of users, where less is allowed.
pub(super) fn is_namespaced() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    !map.is_empty() && !map.split_whitespace().eq(ALL_USERS)
}

/// Whether something is laid over a folder.
pub(super) fn is_laid(folder: &Path) -> bool {
    let device = |path: &Path| fs::symlink_metadata(path).map(|metadata| metadata.dev()).ok();
    match (device(folder), folder.parent().and_then(device)) {
        (Some(here), Some(above)) => here != above,
        (None, _) | (_, None) => false,
    }
}

/// Takes away whatever is laid over a folder, at once, whoever still uses it.
pub(super) fn take_away(folder: &Path) -> io::Result<()> {
    for _ in 0..MAX_STACKED {
        if !is_laid(folder) {
            return Ok(());
        }
        unmount(folder, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW)?;
    }
    Ok(())
}

/// What the kernel's refusal means for whoever is not root.
pub(super) const NOT_ROOT: &str = "only root may lay one folder over another here";

/// Whether overlays can be had in a folder; if not, why.
///
/// Found out by making one, since nothing else tells for sure.
pub(super) fn probe(state: &Path) -> Result<(), String> {
    let folder = state.join(format!("probe-{}", super::record::fresh()));
    let found = try_out(&folder);
    // What cannot be deleted here is in nobody's way.
    drop(take_away(&folder.join("target")));
    drop(gone(&folder));
    match found {
        Ok(true) => Ok(()),
        Ok(false) => Err("files look different through an overlay on this file system".into()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(match is_namespaced() {
                false => NOT_ROOT.into(),
                true => "the kernel refuses an overlay in a user namespace".into(),
            })
        }
        Err(error) => Err(format!("the kernel refuses an overlay in {state:?}: {error}")),
    }
}

/// Makes a small overlay, and compares what is seen through it with what is below.
fn try_out(folder: &Path) -> io::Result<bool> {
    let (lower, target) = (folder.join("lower"), folder.join("target"));
    fs::create_dir_all(lower.join("old"))?;
    fs::create_dir_all(&target)?;
    fs::write(lower.join("file"), "below")?;
    let layer = folder.join("layer");
    Overlay { lower: std::slice::from_ref(&lower), layer: &layer, target: &target }.lay()?;
    let (below, seen) = (fs::metadata(lower.join("file"))?, fs::metadata(target.join("file"))?);
    let times = |found: &fs::Metadata| (found.ino(), found.ctime_nsec(), found.mtime_nsec());
    let alike = times(&below) == times(&seen);
    if !is_namespaced() {
        fs::rename(target.join("old"), target.join("new"))?;
    }
    fs::write(target.join("file"), "above")?;
    let untouched = fs::read(lower.join("file"))? == b"below" && lower.join("old").exists();
    Ok(alike && untouched)
}
