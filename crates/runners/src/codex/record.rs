//! What Codex writes down of a thread while it works, followed.
//!
//! Its output says what was used only at the end of a turn, and nothing at all of a turn
//! that is stopped. Its own record has the figures after each answer of the model. Where it
//! cannot be found nothing is known earlier, and nothing else changes.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::wary;

/// Where records are, from Codex's own folder: a folder for each year, month and day.
const SESSIONS: &str = "sessions";
/// Days that are looked through, the newest first.
const MAX_DAYS: usize = 3;
/// Bytes that are read at one look.
const MAX_LOOK_BYTES: u64 = 16 << 20;

/// The record of one thread.
#[derive(Debug)]
pub struct Record {
    file: File,
}

impl Record {
    /// The record of a thread, somewhere below Codex's own folder.
    pub fn find(home: &Path, thread: &str) -> Option<Self> {
        let below = |folders: Vec<PathBuf>| -> Vec<PathBuf> {
            folders.iter().flat_map(|folder| newest(folder)).collect()
        };
        let days = below(below(newest(&home.join(SESSIONS))));
        let end = format!("-{thread}.jsonl");
        let mut files = days.iter().take(MAX_DAYS).flat_map(|day| newest(day));
        let path = files.find(|file| file.to_string_lossy().ends_with(&end))?;
        wary::open(&path).ok().map(|file| Self { file })
    }

    /// What was written since the last look.
    pub fn read(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // What cannot be read is not known; the output tells in the end.
        let _ = (&mut self.file).take(MAX_LOOK_BYTES).read_to_end(&mut bytes);
        bytes
    }
}

/// What is in a folder, the last by name first.
fn newest(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort_unstable_by(|one, other| other.cmp(one));
    paths
}
