//! What a person has not committed, and agents therefore do not see.

use std::io::{self, IsTerminal as _, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::page::count;

/// How long a person waits to be told; a large repository takes longer to look through.
const PATIENCE: Duration = Duration::from_secs(1);
/// Bytes of the list that are read: who has so much left out knows.
const MAX_BYTES: u64 = 64 * 1024;

/// A word about it for whoever sits at a terminal, where there is something to say.
pub(super) fn note(project: &Path) -> Option<String> {
    if !io::stderr().is_terminal() {
        return None;
    }
    let mut git = Command::new("git")
        .current_dir(project)
        .args(["--no-optional-locks", "status", "--porcelain", "-z", "--no-renames"])
        .args(["--", ":/", ":(exclude,top).legation"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let listed = git.stdout.take()?;
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let mut list = Vec::new();
        // Without a list there is nothing to say.
        let _ = listed.take(MAX_BYTES).read_to_end(&mut list);
        let _ = tell.send(list.iter().filter(|byte| **byte == 0).count());
        let _ = git.wait();
    });
    let files = told.recv_timeout(PATIENCE).ok().filter(|files| *files > 0)?;
    let (are, they) = if files == 1 { ("is", "it") } else { ("are", "them") };
    let files = count(files, "change");
    Some(format!(
        "note: {files} of yours {are} not committed: agents do not see {they} without \
         --include-dirty"
    ))
}
