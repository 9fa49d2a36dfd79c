//! Whether overlays can be had in a namespace, found out by making one and one of them.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use super::super::overlay;
use super::{hold, join};

/// How our program is told to try it.
pub(super) const TRY: &str = "--try";
/// How it is told to hold a namespace for as long as that takes.
pub(super) const WAIT: &str = "--wait";

/// Whether somebody who is not root can have overlays in a folder; if not, why.
///
/// Only a process with one thread can go into a namespace, so another one does.
pub fn try_out(folder: &Path, program: &Path) -> Result<(), String> {
    let mut command = Command::new(program);
    command.arg(hold::VERB).arg(TRY).arg(folder).stdin(Stdio::null());
    let ran = command.output().map_err(|problem| format!("it cannot be tried out: {problem}"))?;
    let said = String::from_utf8_lossy(&ran.stdout);
    match (ran.status.success(), said.trim()) {
        (true, "") => Ok(()),
        (_, "") => Err(format!("it cannot be tried out ({})", ran.status)),
        (_, why) => Err(why.to_owned()),
    }
}

/// Tries it in this process, and says why not.
pub(super) fn answer(folder: &Path) -> ExitCode {
    match attempt(folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            let _ = writeln!(io::stdout(), "{why}");
            ExitCode::FAILURE
        }
    }
}

fn attempt(folder: &Path) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|problem| problem.to_string())?;
    let wait = [OsStr::new(WAIT)];
    let started = hold::start(hold::anew(&program), &wait);
    let (mut waiting, process) = started.map_err(|closed| closed.to_string())?;
    let joined = join::join(process).map_err(|problem| super::Closed::Shut(problem).to_string());
    let found = joined.and_then(|()| overlay::probe(folder));
    // It goes when its input does; nothing is left of it, not even its number.
    drop(waiting.stdin.take());
    drop(waiting.wait());
    found
}
