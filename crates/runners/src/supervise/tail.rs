//! The end of what an attempt printed, for somebody who wants to look.
//!
//! Only files of an attempt's own folder are read: a link in one's place leads nowhere.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::wary;

/// One of the two outputs of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// What is taken for its words.
    Stdout,
    /// Its log.
    Stderr,
}

impl Stream {
    /// What its files are called.
    fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// The end of an output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// Its last bytes.
    pub bytes: Vec<u8>,
    /// All that were ever printed.
    pub total: u64,
}

/// The last bytes of an output, at most so many and without a gap.
pub fn tail(dir: &Path, stream: Stream, max_bytes: u64) -> Tail {
    let mut pieces: Vec<(u64, File, u64)> = starts(dir, stream)
        .into_iter()
        .filter_map(|start| {
            let file = open(dir, stream, start)?;
            let length = file.metadata().ok()?.len();
            Some((start, file, length))
        })
        .collect();
    pieces.sort_by_key(|(start, _, _)| *start);
    let total = pieces.last().map_or(0, |(start, _, length)| start.saturating_add(*length));
    let wanted = total.saturating_sub(max_bytes);
    let mut bytes = Vec::new();
    let mut end = total;
    for (start, file, length) in pieces.iter().rev() {
        // What lies between two files was not kept; what is before it is not the end.
        if start.saturating_add(*length) != end || end <= wanted {
            break;
        }
        let from = wanted.max(*start);
        let mut piece = vec![0; usize::try_from(end - from).unwrap_or(0)];
        if file.read_exact_at(&mut piece, from - start).is_err() {
            break;
        }
        piece.append(&mut bytes);
        bytes = piece;
        end = *start;
    }
    Tail { bytes, total }
}

/// Where the files of an output begin.
fn starts(dir: &Path, stream: Stream) -> Vec<u64> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names
        .filter_map(|name| match name.strip_prefix(stream.name())? {
            "" => Some(0),
            rest => rest.strip_prefix('.')?.parse().ok(),
        })
        .collect()
}

fn open(dir: &Path, stream: Stream, start: u64) -> Option<File> {
    let name = match start {
        0 => stream.name().to_owned(),
        start => format!("{}.{start}", stream.name()),
    };
    wary::open(&dir.join(name)).ok()
}
