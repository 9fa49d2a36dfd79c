//! Heavy ignored folders of the user's checkout that every workspace sees.
//!
//! Laid over where the kernel allows: what a child writes there is its own and goes
//! with its workspace. Elsewhere each gets a copy, made by the file system without
//! copying a byte; and where it cannot do that, nothing is shared, because a link
//! would let children write in the user's folders.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, ioctl_ficlone};

use super::super::folders::{Made, gone};
use super::super::overlay::{Overlay, is_laid, probe};
use super::super::walk::{Locked, below, walk};
use super::super::{Error, Place};
use super::Repository;

impl Repository {
    /// Shares the folders that are to be shared and are there; answers with which, and with
    /// those that cannot be.
    pub(super) fn share_with(&self, place: &Place) -> Result<[Vec<String>; 2], Error> {
        let Some(top) = &self.user.top else { return Ok([Vec::new(), Vec::new()]) };
        let (mut shared, mut not_shared) = (Vec::new(), Vec::new());
        for name in to_share(&self.share, top, &place.root) {
            match self.share_one(place, name, &top.join(name))? {
                true => shared.push(name.clone()),
                false => not_shared.push(name.clone()),
            }
        }
        Ok([shared, not_shared])
    }

    fn share_one(&self, place: &Place, name: &str, from: &Path) -> Result<bool, Error> {
        let target = place.root.join(name);
        fs::create_dir_all(&target).map_err(Error::files("making", &target))?;
        if probe(&self.folders.state).is_ok() && self.lay_share(place, name, from).is_ok() {
            return Ok(true);
        }
        let layer = self.folders.shared_layer(&place.attempt, name);
        gone(&layer).map_err(Error::files("removing", &layer))?;
        match clone(from, &target) {
            Ok(()) => Ok(true),
            Err(_) => {
                gone(&target).map_err(Error::files("removing", &target))?;
                Ok(false)
            }
        }
    }

    fn lay_share(&self, place: &Place, name: &str, from: &Path) -> io::Result<()> {
        let layer = self.folders.shared_layer(&place.attempt, name);
        let lower = [from.to_owned()];
        Overlay { lower: &lower, layer: &layer, target: &place.root.join(name) }.lay()
    }

    /// Shares again what a restart of the machine took away.
    pub(super) fn share_again(&self, made: &Made) -> Result<(), Error> {
        let Some(top) = &self.user.top else { return Ok(()) };
        for name in &made.shared {
            let target = made.place.root.join(name);
            let was_laid = self.folders.shared_layer(&made.place.attempt, name).is_dir();
            if was_laid && target.is_dir() && !is_laid(&target) {
                let laid = self.lay_share(&made.place, name, &top.join(name));
                laid.map_err(Error::files("mounting", &target))?;
            }
        }
        Ok(())
    }
}

/// Of these folders those that are in one folder and not yet in another. What is committed is
/// there already, and is no folder to be shared.
pub(in super::super) fn to_share<'a>(
    share: &'a [String],
    from: &'a Path,
    to: &'a Path,
) -> impl Iterator<Item = &'a String> {
    share.iter().filter(move |name| {
        let mut parts = Path::new(name.as_str()).components();
        parts.all(|part| matches!(part, Component::Normal(_)))
            && fs::symlink_metadata(from.join(name)).is_ok_and(|found| found.is_dir())
            && fs::symlink_metadata(to.join(name)).is_err()
    })
}

/// Why no folder can be shared in workspaces that lie here and are no overlays; none if it can.
pub(in super::super) fn obstacle(dir: &Path) -> Option<String> {
    let there = dir.ancestors().find(|folder| folder.is_dir()).unwrap_or(dir);
    let why = probe(there).err()?;
    let tried = tempfile_in(there).and_then(|(from, to)| Ok(ioctl_ficlone(&to, &from)?));
    let cloned = tried.err()?;
    Some(format!("{why}, and the file system shares no blocks between files: {cloned}"))
}

/// Two files without a name.
fn tempfile_in(folder: &Path) -> io::Result<(File, File)> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let make = || rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR).map(File::from);
    Ok((make()?, make()?))
}

/// Copies a folder by sharing its blocks; fails where the file system cannot.
fn clone(from: &Path, to: &Path) -> io::Result<()> {
    let walked = walk(from, &[], Locked::Leave)?.without_long_paths();
    for folder in &walked.folders {
        fs::create_dir_all(below(to, folder))?;
    }
    for file in &walked.files {
        let (from, to): (PathBuf, PathBuf) = (below(from, &file.path), below(to, &file.path));
        if file.metadata.is_symlink() {
            symlink(fs::read_link(&from)?, &to)?;
            continue;
        }
        let (source, copy) = (File::open(&from)?, File::create(&to)?);
        ioctl_ficlone(&copy, &source)?;
        copy.set_permissions(file.metadata.permissions())?;
    }
    Ok(())
}
