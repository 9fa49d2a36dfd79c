//! Starting git: always with a clean environment, bounded, and counted.
//!
//! What is executed, and why nothing of a child's is: git reads programs from
//! four places. Hooks and the monitor are switched off on the command line, which
//! wins over every file. Filters, text conversions, merge drivers, signing and
//! remote helpers come from configuration; the repositories named here are our
//! own or the user's, never the one in a workspace, and ours name none. Submodules
//! bring their own configuration, so no command used here looks into them. Nothing
//! is fetched: protocols are off, and a missing object stays missing.

use std::env;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};

use super::Error;
use super::process::{Bounds, Said, converse};
use crate::fence::Fence;

/// How long one git process may take; a child can put a pipe where an object belongs.
const LIMIT: Duration = Duration::from_secs(120);
/// How long one may take that writes a whole checkout, of which no child has seen anything.
const CHECKOUT_LIMIT: Duration = Duration::from_secs(1800);
/// What one git process may say.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// The bits of a file that somebody may run.
const EXECUTABLE: u32 = 0o111;
/// How much of what it complained about is passed on.
const COMPLAINT_CHARS: usize = 600;

/// What of our own environment git gets to see.
const PASSED: &[&str] = &["PATH", "HOME", "TMPDIR", "XDG_CONFIG_HOME", "TZ"];

/// By this setting a process of ours is known.
pub(super) const NO_HOOKS: &str = "core.hooksPath=/dev/null";

/// What holds for every git process, whatever the files say.
const ALWAYS: &[&str] = &[
    NO_HOOKS,
    "core.untrackedCache=false",
    "core.fsyncMethod=batch",
    "core.filesRefLockTimeout=200",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    "submodule.recurse=false",
    "advice.detachedHead=false",
];

/// Where git processes come from.
#[derive(Debug, Default)]
pub(super) struct Git {
    started: AtomicU64,
}

/// Whose configuration a git process reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// Only what lies in the repository it is pointed at.
    Repository,
    /// Also the user's own, because it is the user's own checkout.
    User,
}

/// One git process that is about to start.
#[derive(Debug)]
pub(super) struct Call<'a> {
    git: &'a Git,
    command: Command,
    name: String,
    input: Vec<u8>,
    limit: Duration,
    is_undisturbed: bool,
    fence: Option<Fence>,
}

impl Git {
    /// How many processes were started.
    pub(super) fn started(&self) -> u64 {
        self.started.load(Ordering::Relaxed)
    }

    /// A process that does `name`, and as yet in no repository.
    pub(super) fn call(&self, name: &str, trust: Trust) -> Call<'_> {
        self.monitored(name, trust, "false")
    }

    /// The same, with a program that git asks what may have changed: one of ours.
    pub(super) fn monitored(&self, name: &str, trust: Trust, monitor: &str) -> Call<'_> {
        let mut command = Command::new(program());
        command.env_clear();
        for key in PASSED {
            if let Some(value) = env::var_os(key) {
                command.env(key, value);
            }
        }
        command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GIT_OPTIONAL_LOCKS", "0");
        command.env("GIT_NO_LAZY_FETCH", "1");
        command.env("GIT_EDITOR", "false").env("GIT_PAGER", "cat");
        match trust {
            Trust::Repository => {
                command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_ATTR_NOSYSTEM", "1");
                command.env("GIT_CONFIG_GLOBAL", "/dev/null");
            }
            Trust::User => {}
        }
        for setting in ALWAYS {
            command.arg("-c").arg(setting);
        }
        command.arg("-c").arg(format!("core.fsmonitor={monitor}")).arg(name);
        let (name, input, limit) = (name.to_owned(), Vec::new(), LIMIT);
        Call { git: self, command, name, input, limit, is_undisturbed: false, fence: None }
    }
}

/// Where git is. A program that is named by its path is started without a copy of our
/// own memory being made for it first; one that has to be searched for is not.
fn program() -> PathBuf {
    let name = Path::new("git");
    let folders = env::var_os("PATH").unwrap_or_default();
    let mut found = env::split_paths(&folders).map(|folder| folder.join(name));
    let can_run = |path: &PathBuf| {
        path.is_absolute()
            && path.metadata().is_ok_and(|file| file.is_file() && file.mode() & EXECUTABLE != 0)
    };
    // Who is told that there is none is told by the system.
    found.find(can_run).unwrap_or_else(|| name.to_owned())
}

impl Call<'_> {
    pub(super) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub(super) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command.args(args);
        self
    }

    pub(super) fn env(mut self, key: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(key, value);
        self
    }

    pub(super) fn within(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    pub(super) fn input(mut self, input: Vec<u8>) -> Self {
        self.input = input;
        self
    }

    /// Gives it the time that a checkout of any size takes on a slow disk.
    pub(super) fn unhurried(mut self) -> Self {
        self.limit = CHECKOUT_LIMIT;
        self
    }

    /// Lets it go on whatever is typed at the terminal and whoever is killed: what was begun on
    /// the user's own files is better done than left. Git dies of a word to somebody who is
    /// gone, so that it says what it has to say to a file.
    pub(super) fn undisturbed(mut self) -> Self {
        self.command.process_group(0);
        self.is_undisturbed = true;
        self
    }

    /// Lets it read and write no more than this, as far as the kernel can hold that.
    pub(super) fn inside(mut self, fence: Option<Fence>) -> Self {
        self.fence = fence;
        self
    }

    /// Objects that may be read beside those of the repository, and never written.
    pub(super) fn borrowing<'p>(self, folders: impl IntoIterator<Item = &'p Path>) -> Self {
        let mut quoted = String::new();
        for folder in folders {
            // Colons separate folders here, so the path is always written quoted.
            let path = folder.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
            quoted.push_str(&format!(":\"{path}\""));
        }
        self.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted.trim_start_matches(':'))
    }

    /// Starts it, for a conversation that goes on.
    pub(super) fn start(mut self) -> Result<Child, Error> {
        let command = self.command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = command.stderr(Stdio::piped()).spawn();
        let child = child.map_err(Error::files("starting", Path::new("git")))?;
        self.git.started.fetch_add(1, Ordering::Relaxed);
        Ok(child)
    }

    /// Runs it; whatever it answers is an answer.
    pub(super) fn ask(mut self) -> Result<Said, Error> {
        let starting = Error::files("starting", Path::new("git"));
        let (mut child, complaints) = self.spawn().map_err(starting)?;
        self.git.started.fetch_add(1, Ordering::Relaxed);
        let said = converse(&mut child, &self.input, bounds(self.limit));
        let mut said = said.map_err(|error| failed((&self.name, self.limit), &error))?;
        if let Some(mut file) = complaints {
            // The words are only for whoever reads them.
            drop(file.rewind().and_then(|()| file.read_to_end(&mut said.err)));
        }
        Ok(said)
    }

    /// Starts it; where it complains to a file, this is it.
    fn spawn(&mut self) -> io::Result<(Child, Option<File>)> {
        let complaints = match self.is_undisturbed {
            true => Some(File::from(memfd_create("complaints", MemfdFlags::CLOEXEC)?)),
            false => None,
        };
        let to = complaints.as_ref().map(File::try_clone).transpose()?;
        self.command
            .stdin(if self.input.is_empty() { Stdio::null() } else { Stdio::piped() })
            .stdout(Stdio::piped())
            .stderr(to.map_or_else(Stdio::piped, Stdio::from));
        Ok((begun(&mut self.command, self.fence.as_ref())?, complaints))
    }

    /// Runs it; anything but success is an error. Answers with its output.
    pub(super) fn run(self) -> Result<Vec<u8>, Error> {
        let name = self.name.clone();
        let said = self.ask()?;
        if said.code == 0 { Ok(said.out) } else { Err(complaint(&name, &said)) }
    }

    /// Runs it; the one line that it answers with.
    pub(super) fn line(self) -> Result<String, Error> {
        let out = self.run()?;
        Ok(String::from_utf8_lossy(&out).trim_end().to_owned())
    }

    /// Runs it with its output as the input of another; both must succeed.
    pub(super) fn pipe(mut self, mut other: Call<'_>) -> Result<(), Error> {
        let spawn = |command: &mut Command, fence: Option<&Fence>| {
            begun(command.stderr(Stdio::piped()), fence)
                .map_err(Error::files("starting", Path::new("git")))
        };
        // Nobody has to be there for it to be read.
        let input = filed(&self.input).map_err(Error::files("starting", Path::new("git")))?;
        let stdout = Stdio::piped();
        let mut first = spawn(self.command.stdin(input).stdout(stdout), self.fence.as_ref())?;
        self.git.started.fetch_add(1, Ordering::Relaxed);
        let between = first.stdout.take().map_or_else(Stdio::null, Stdio::from);
        let stdout = Stdio::piped();
        let second = spawn(other.command.stdin(between).stdout(stdout), other.fence.as_ref());
        let (mut second, bounds) = match second {
            Ok(second) => (second, bounds(LIMIT)),
            Err(error) => {
                drop(first.kill());
                drop(first.wait());
                return Err(error);
            }
        };
        other.git.started.fetch_add(1, Ordering::Relaxed);
        let failed = |name: &str, error: &io::Error| failed((name, LIMIT), error);
        let ended = converse(&mut second, &[], bounds).map_err(|error| failed(&other.name, &error));
        if ended.is_err() {
            drop(first.kill());
        }
        let began = converse(&mut first, &[], bounds).map_err(|error| failed(&self.name, &error));
        for (name, said) in [(self.name, began?), (other.name, ended?)] {
            if said.code != 0 {
                return Err(complaint(&name, &said));
            }
        }
        Ok(())
    }
}

/// Starts a process, inside a fence if there is to be one.
fn begun(command: &mut Command, fence: Option<&Fence>) -> io::Result<Child> {
    match fence {
        Some(fence) => fence.start(command).map(|(child, _)| child).map_err(io::Error::other),
        None => command.spawn(),
    }
}

/// What is to be read, as a file that nobody else sees.
fn filed(bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create("input", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

fn bounds(limit: Duration) -> Bounds {
    let now = Instant::now();
    Bounds { until: now.checked_add(limit).unwrap_or(now), most_bytes: MOST_BYTES }
}

fn failed((name, limit): (&str, Duration), error: &io::Error) -> Error {
    if error.kind() == ErrorKind::TimedOut {
        Error::Slow { command: name.to_owned(), seconds: limit.as_secs() }
    } else {
        Error::Git { command: name.to_owned(), message: error.to_string() }
    }
}

/// The error that a git process's own words make.
pub(super) fn complaint(name: &str, said: &Said) -> Error {
    let text = String::from_utf8_lossy(&said.err);
    let text = text.trim();
    let skipped = text.chars().count().saturating_sub(COMPLAINT_CHARS);
    let message: String = text.chars().skip(skipped).collect();
    if message.contains(".lock': File exists") {
        let path = message.split('\'').find(|part| part.ends_with(".lock"));
        return Error::Locked { path: path.unwrap_or_default().into() };
    }
    let message = if message.is_empty() { format!("exit code {}", said.code) } else { message };
    Error::Git { command: name.to_owned(), message }
}
