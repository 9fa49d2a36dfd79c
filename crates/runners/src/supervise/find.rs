//! Finding the keeper of an attempt again, after the engine that started it is gone.

use std::path::Path;
use std::time::Duration;

use legation_core::ids::SessionId;
use legation_core::tree::event::Process;

use super::remote::keeps_many;
use super::{Error, Remote, Running};
use crate::keep::{Claim, Ended};
use crate::procfs;

/// What became of a keeper.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one for each attempt after a restart")]
pub enum Found {
    /// It runs. All of its output is still to be read.
    Running(Running),
    /// It has ended, and so has everything it kept.
    Ended(Ended),
    /// It is gone without a word, or never began and never will. What it may have
    /// left is still there: [`reap`](super::reap) it.
    Gone,
}

/// Looks for the keeper of the attempt in this folder. What is known of its process
/// from elsewhere counts for more than what stands in the folder, which the program
/// can write to.
pub fn find(dir: &Path, session: &SessionId, process: Option<Process>) -> Result<Found, Error> {
    // A keeper that lives has not reported its end, whoever wrote one into the folder,
    // unless it has others to keep.
    let lives = process.is_some_and(|it| procfs::is_alive(it) && !keeps_many(it));
    if let Some(ended) = Ended::read(dir).filter(|_| !lives) {
        return Ok(Found::Ended(ended));
    }
    let claim = settled_claim(dir)?;
    let process = process.or(claim.keeper).filter(|_| claim.is_of_this_boot());
    let remote = match process.filter(|process| procfs::is_alive(*process)) {
        Some(process) => {
            Remote::open(process, dir, keeps_many(process))?.map(|remote| (process, remote))
        }
        None => None,
    };
    if let Some((process, remote)) = remote {
        let grace = Duration::from_millis(claim.grace_ms);
        let running = Running::found(dir.to_owned(), session, (process, remote, grace));
        return Ok(Found::Running(running));
    }
    // It may have ended between the two looks.
    Ok(Ended::read(dir).map_or(Found::Gone, Found::Ended))
}

/// The claim in the folder. Where there is none, one is made for nobody, so that a
/// keeper which was started but has not begun finds it and gives up.
fn settled_claim(dir: &Path) -> Result<Claim, Error> {
    if let Some(claim) = Claim::read(dir) {
        return Ok(claim);
    }
    let folder = |source| Error::Folder { dir: dir.to_owned(), source };
    if !dir.is_dir() {
        return Ok(Claim::nobody());
    }
    Claim::nobody().make(dir).map_err(folder)?;
    Ok(Claim::read(dir).unwrap_or_else(Claim::nobody))
}
