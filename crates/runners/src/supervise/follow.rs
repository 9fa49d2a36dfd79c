//! Reading what a keeper writes down, while it writes.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Bytes that are read in one go.
pub(super) const CHUNK_BYTES: usize = 64 << 10;

/// A place in an output that is kept in several files, each named after the place
/// of its first byte.
#[derive(Debug)]
pub(super) struct Follow {
    dir: PathBuf,
    at: u64,
    /// Bytes that were no longer there.
    pub(super) missed: u64,
}

impl Follow {
    /// The beginning of the standard output.
    pub(super) fn stdout(dir: PathBuf) -> Self {
        Self { dir, at: 0, missed: 0 }
    }

    /// Passes over what was read elsewhere.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes as u64);
    }

    /// The next piece; nothing if there is no more for now.
    pub(super) fn next(&mut self) -> Option<Vec<u8>> {
        // A file is complete before the next one is made. So whatever this one lacks,
        // if the list names a later one, will never come.
        let mut starts = self.starts();
        starts.sort_unstable();
        let current = starts.iter().rev().find(|start| **start <= self.at);
        if let Some(chunk) = current.and_then(|start| self.read(*start)) {
            self.skip(chunk.len());
            return Some(chunk);
        }
        let later = *starts.iter().find(|start| **start > self.at)?;
        self.missed = self.missed.saturating_add(later - self.at);
        self.at = later;
        // What stands before a gap and what stands behind it is not one line.
        Some(b"\n".to_vec())
    }

    fn read(&self, start: u64) -> Option<Vec<u8>> {
        let name = if start == 0 { "stdout".to_owned() } else { format!("stdout.{start}") };
        let file = File::open(self.dir.join(name)).ok()?;
        let mut chunk = vec![0; CHUNK_BYTES];
        let read = file.read_at(&mut chunk, self.at - start).ok().filter(|read| *read > 0)?;
        chunk.truncate(read);
        Some(chunk)
    }

    /// Where the files that are there begin.
    fn starts(&self) -> Vec<u64> {
        let Ok(entries) = fs::read_dir(&self.dir) else { return Vec::new() };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names
            .filter_map(|name| match name.strip_prefix("stdout")? {
                "" => Some(0),
                rest => rest.strip_prefix('.')?.parse().ok(),
            })
            .collect()
    }
}
