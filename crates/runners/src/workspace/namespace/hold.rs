//! The holder: started, and its whole life.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use legation_core::tree::event::Process;

use super::super::{home, process, record};
use super::{Closed, Holder, Namespace, RECORD, TURN, USED, join, trial};
use crate::procfs;

/// The hidden verb by which our program becomes a holder.
pub const VERB: &str = "hold";
/// What a holder says once it holds.
const READY: &str = "ready";
/// How often it looks whether something is still laid, where nobody is at work inside.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Bytes that are heard of whoever was to become a holder.
const MAX_WORDS_BYTES: u64 = 4096;
/// The program of util-linux that makes namespaces: in safe Rust nothing does.
const UNSHARE: &str = "unshare";
/// A namespace of users and mounts. Mounts that are made outside appear inside as well, and
/// those that go outside are not held by it; none of ours gets out.
const ANEW: &[&str] = &["--user", "--map-current-user", "--mount", "--propagation", "slave", "--"];

/// Our program in a new namespace.
pub(super) fn anew(program: &Path) -> Command {
    let mut command = Command::new(UNSHARE);
    command.args(ANEW).arg(program);
    command
}

/// Starts our program as a holder, and waits until it says that it is one.
pub(super) fn start(mut command: Command, args: &[&OsStr]) -> Result<(Child, Process), Closed> {
    // What is typed at a terminal is not meant for it, and it keeps nobody's files open.
    command.arg(VERB).args(args).process_group(0).current_dir("/").env_clear();
    command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let is_missing = |problem: &io::Error| problem.kind() == io::ErrorKind::NotFound;
    let mut child = match command.spawn() {
        Err(problem) if is_missing(&problem) && command.get_program() == UNSHARE => {
            return Err(Closed::NoProgram);
        }
        other => other.map_err(|problem| Closed::Refused(problem.to_string()))?,
    };
    // Becoming another program changes neither its number nor its time.
    let known = procfs::stat(child.id()).map(|stat| stat.process);
    match known.filter(|_| is_ready(&mut child)) {
        Some(process) => Ok((child, process)),
        None => Err(Closed::Refused(last_words(child))),
    }
}

fn is_ready(child: &mut Child) -> bool {
    let Some(stdout) = child.stdout.take() else { return false };
    let mut line = String::new();
    process::readable(&stdout).is_ok()
        && BufReader::new(stdout.take(MAX_WORDS_BYTES)).read_line(&mut line).is_ok()
        && line.trim_end() == READY
}

/// Why it did not become one.
fn last_words(mut child: Child) -> String {
    // One that hangs is ended; one that has ended is not there to be.
    let _ = child.kill();
    let mut words = String::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(MAX_WORDS_BYTES).read_to_string(&mut words);
    }
    let ended = child.wait();
    match words.lines().find(|line| !line.trim().is_empty()) {
        Some(line) => line.trim().to_owned(),
        None => format!("`unshare` ended ({})", ended.map_or("?".into(), |code| code.to_string())),
    }
}

/// What our program does under its hidden verb.
pub fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(2).collect();
    let words: Vec<&OsStr> = args.iter().map(AsRef::as_ref).collect();
    let done = match words.as_slice() {
        [word, folder] if *word == trial::TRY => {
            return trial::answer(Path::new(folder));
        }
        [word] if *word == trial::WAIT => wait(),
        [state] => hold(&Namespace::of(Path::new(state), Path::new(""))),
        _ => return ExitCode::from(2),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            let _ = writeln!(io::stderr(), "{problem}");
            ExitCode::FAILURE
        }
    }
}

/// Holds until whoever started it is gone.
fn wait() -> io::Result<()> {
    say_ready()?;
    io::copy(&mut io::stdin(), &mut io::sink()).map(drop)
}

fn say_ready() -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{READY}").and_then(|()| stdout.flush())
}

/// Holds as long as somebody is inside or something is laid.
fn hold(namespace: &Namespace) -> io::Result<()> {
    let own = procfs::stat(procfs::own_pid()).ok_or(io::ErrorKind::NotFound)?.process;
    let holder = Holder { process: own, boot: procfs::boot() };
    let path = namespace.state.join(RECORD);
    record::write(&path, &holder).map_err(io::Error::other)?;
    say_ready()?;
    loop {
        // The kernel wakes it when the last one has gone.
        drop(namespace.lock(USED, File::lock).map_err(io::Error::other)?);
        // Another one holds, or everything of the project was removed.
        if namespace.holder() != Some(own) || may_end(namespace).map_err(io::Error::other)? {
            return Ok(());
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Whether it is over; then nobody finds the holder any more.
fn may_end(namespace: &Namespace) -> Result<bool, Closed> {
    let (turn, used) = (namespace.open(TURN)?, namespace.open(USED)?);
    for (lock, name) in [(&turn, TURN), (&used, USED)] {
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(source)) => {
                return Err(Closed::Files { path: namespace.state.join(name), source });
            }
        }
    }
    let homes: Vec<PathBuf> = home::known(&namespace.state);
    if join::lays(procfs::own_pid(), &homes) {
        return Ok(false);
    }
    let path = namespace.state.join(RECORD);
    fs::remove_file(&path).map_err(|source| Closed::Files { path, source })?;
    Ok(true)
}
