//! An output on the disk, of which only so much is kept: the beginning and the end.
//!
//! It lies in files that are named after the place of their first byte. The first is
//! never removed; of the others only the newest two are there, so that the end of
//! the output is always whole for at least the length of one of them.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;

/// Bytes of a file at least, so that a small limit does not make a file for each line.
const MIN_FILE_BYTES: u64 = 4 << 10;
/// Files after the first that are kept.
const MAX_TAILS: usize = 2;

/// The files of one output.
#[derive(Debug)]
pub(crate) struct Segments {
    dir: PathBuf,
    name: &'static str,
    limit: u64,
    /// Bytes that came in so far.
    total: u64,
    /// Bytes that are not on the disk, or no longer.
    dropped: u64,
    file: Option<File>,
    /// Bytes that still fit into the file.
    room: u64,
    /// Where the files after the first begin, and how long they are.
    tails: VecDeque<(u64, u64)>,
}

/// What came of an output.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Written {
    pub(crate) bytes: u64,
    pub(crate) dropped: u64,
}

impl Segments {
    /// No file yet: to make one can take as long as all the rest of a short attempt,
    /// and most programs say nothing on one of their outputs.
    pub(crate) fn new(dir: PathBuf, name: &'static str, limit: u64) -> Self {
        let tails = VecDeque::new();
        Self { dir, name, limit, total: 0, dropped: 0, file: None, room: 0, tails }
    }

    /// Writes bytes down. Where the disk does not take them they are dropped: an
    /// output that cannot be kept is no reason to hold up who writes it.
    pub(crate) fn write(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            match self.write_some(bytes) {
                Ok(written) => {
                    self.total += written as u64;
                    bytes = bytes.get(written..).unwrap_or_default();
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => {
                    self.total += bytes.len() as u64;
                    self.dropped += bytes.len() as u64;
                    // What comes next belongs to another place, so to another file.
                    self.file = None;
                    self.room = 0;
                    return;
                }
            }
        }
    }

    /// What came of it so far.
    pub(crate) fn written(&self) -> Written {
        Written { bytes: self.total, dropped: self.dropped }
    }

    fn write_some(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.room == 0 {
            self.turn_over()?;
        }
        let Some(file) = &mut self.file else { return Err(ErrorKind::NotFound.into()) };
        let fits = bytes.len().min(usize::try_from(self.room).unwrap_or(usize::MAX));
        let written = file.write(bytes.get(..fits).unwrap_or(bytes))?;
        if written == 0 {
            return Err(ErrorKind::WriteZero.into());
        }
        self.room -= written as u64;
        if let Some((_, length)) = self.tails.back_mut() {
            *length += written as u64;
        }
        Ok(written)
    }

    /// Begins the next file and removes the oldest of the end.
    fn turn_over(&mut self) -> io::Result<()> {
        while self.tails.len() >= MAX_TAILS {
            let Some((start, length)) = self.tails.pop_front() else { break };
            self.dropped += length;
            fs::remove_file(self.path(start))?;
        }
        self.file = Some(File::create(self.path(self.total))?);
        let is_first = self.total == 0;
        self.room = (self.limit / if is_first { 2 } else { 4 }).max(MIN_FILE_BYTES);
        if !is_first {
            self.tails.push_back((self.total, 0));
        }
        Ok(())
    }

    fn path(&self, start: u64) -> PathBuf {
        if start == 0 {
            return self.dir.join(self.name);
        }
        self.dir.join(format!("{}.{start}", self.name))
    }
}
