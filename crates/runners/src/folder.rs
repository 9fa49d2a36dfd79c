//! The names in a folder, a little at a time. The standard library takes 32 KB to do this,
//! which in a keeper would be more than most of what it holds, for as long as it lives.

use std::io;
use std::mem::MaybeUninit;
use std::ops::ControlFlow;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, RawDir, openat};

/// Bytes of names that are read in one go.
const PIECE: usize = 4 << 10;

/// Shows each entry of a folder, its name and what it is, until told to stop.
pub(crate) fn each(
    path: &Path,
    mut show: impl FnMut(&[u8], FileType) -> ControlFlow<()>,
) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = openat(CWD, path, flags, Mode::empty())?;
    let mut piece = [MaybeUninit::uninit(); PIECE];
    let mut entries = RawDir::new(folder, &mut piece);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." && show(name, entry.file_type()).is_break() {
            break;
        }
    }
    Ok(())
}
