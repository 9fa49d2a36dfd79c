//! What the kernel says about processes, in `/proc`.
//!
//! Only looks. A number found here may belong to another process a moment later;
//! whoever acts on it compares start times first.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use legation_core::tree::event::Process;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

use crate::folder;

/// Bytes of an environment that are looked at; the kernel allows no more by default.
const MAX_ENVIRON_BYTES: u64 = 4 << 20;

/// Bytes of a line of `stat`: some fifty numbers and a name of at most 64 bytes.
const MAX_STAT_BYTES: usize = 2048;

/// One line of `/proc/<pid>/stat`, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    /// Which process, and when it started.
    pub(crate) process: Process,
    /// Its parent's number.
    pub(crate) parent: u32,
    /// The session it is in: the number of the process that made it.
    pub(crate) session: u32,
    /// Whether it has a terminal, as a person's shell has and no kept program.
    pub(crate) has_terminal: bool,
    /// Whether it has ended and only waits to be noticed.
    pub(crate) is_dead: bool,
    /// Processor time of its own, in ticks.
    pub(crate) own_ticks: u64,
    /// Processor time of the descendants it has waited for, in ticks.
    pub(crate) waited_ticks: u64,
}

/// This process's own number.
pub(crate) fn own_pid() -> u32 {
    number(getpid())
}

/// Which run of the machine this is; empty where the kernel does not say.
pub(crate) fn boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim_end().to_owned()
}

/// A number as `/proc` writes it.
pub(crate) fn number(pid: Pid) -> u32 {
    pid.as_raw_nonzero().get().unsigned_abs()
}

/// A number as system calls want it.
pub(crate) fn pid(number: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(number).ok()?)
}

/// What is known of a process; nothing if there is none of that number.
pub(crate) fn stat(number: u32) -> Option<Stat> {
    // One read: the kernel writes the line at once, and asking for its end as one does
    // with files costs more than all the rest where every process is looked at.
    let mut line = [0; MAX_STAT_BYTES];
    let read = fs::File::open(path(number, "stat")).ok()?.read(&mut line).ok()?;
    parse(number, line.get(..read)?)
}

/// Whether this very process still runs.
pub(crate) fn is_alive(process: Process) -> bool {
    stat(process.pid).is_some_and(|stat| stat.process == process && !stat.is_dead)
}

/// Every process there is.
pub(crate) fn all() -> Vec<Stat> {
    let mut all = Vec::new();
    // What was read before something went wrong is better than nothing.
    let _ = folder::each(Path::new("/proc"), |name, _| {
        let number = std::str::from_utf8(name).ok().and_then(|name| name.parse().ok());
        all.extend(number.and_then(stat));
        ControlFlow::Continue(())
    });
    all
}

/// Ticks between two looks that count as work: less is the pulse of an idle program.
const WORK_TICKS: u64 = 5;

/// Whether what a program has started is at work, from look to look.
#[derive(Debug, Default)]
pub(crate) struct Busy {
    program: Option<u32>,
    ticks: u64,
}

impl Busy {
    /// Looks at everything below that process, and not at itself.
    pub(crate) fn below(program: Option<u32>) -> Self {
        Self { program, ticks: 0 }
    }

    /// Whether more has been done than at the last look.
    pub(crate) fn changed(&mut self) -> bool {
        let Some(program) = self.program else { return false };
        let all = all();
        let mut below = HashSet::from([program]);
        add_descendants(&all, &mut below);
        let ticks = all
            .iter()
            .filter(|stat| stat.process.pid != program && below.contains(&stat.process.pid))
            .map(|stat| stat.own_ticks.saturating_add(stat.waited_ticks))
            .sum::<u64>();
        let more = ticks.saturating_sub(self.ticks) >= WORK_TICKS;
        self.ticks = ticks;
        more
    }
}

/// Adds to some processes all that descend from them.
pub(crate) fn add_descendants(all: &[Stat], found: &mut HashSet<u32>) {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for stat in all {
        children.entry(stat.parent).or_default().push(stat.process.pid);
    }
    let mut open: Vec<u32> = found.iter().copied().collect();
    while let Some(parent) = open.pop() {
        let below = children.get(&parent).into_iter().flatten();
        open.extend(below.filter(|child| found.insert(**child)));
    }
}

/// Whether a process was started with this variable, written `NAME=value`.
pub(crate) fn has_variable(number: u32, variable: &str) -> bool {
    environ(number).split(|&byte| byte == 0).any(|entry| entry == variable.as_bytes())
}

/// Whether a process was started with a variable of this name.
pub(crate) fn has_name(number: u32, name: &str) -> bool {
    let environ = environ(number);
    let mut entries = environ.split(|&byte| byte == 0);
    entries
        .any(|entry| entry.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b"=")))
}

/// Whether a process was started by this program's name with one of these as its first
/// argument.
pub(crate) fn has_verb(number: u32, program: &OsStr, verbs: &[&str]) -> bool {
    let words = words(number);
    let first = words.get(1).map(Vec::as_slice);
    is_called(&words, program) && verbs.iter().any(|verb| first == Some(verb.as_bytes()))
}

/// Whether these are the words that a program was started with.
pub(crate) fn is_called(words: &[Vec<u8>], program: &OsStr) -> bool {
    let name = words.first().and_then(|name| Path::new(OsStr::from_bytes(name)).file_name());
    name == Some(program)
}

/// The words that a process was started with, its program's name first.
pub(crate) fn words(number: u32) -> Vec<Vec<u8>> {
    let mut line = Vec::new();
    if let Ok(file) = fs::File::open(path(number, "cmdline")) {
        let _ = file.take(MAX_ENVIRON_BYTES).read_to_end(&mut line);
    }
    line.split(|&byte| byte == 0).map(<[u8]>::to_vec).collect()
}

/// The folder a process works in.
pub(crate) fn folder(number: u32) -> Option<PathBuf> {
    fs::read_link(path(number, "cwd")).ok()
}

/// What a process has open under this number or a higher one.
pub(crate) fn opened(number: u32, first: i32) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(path(number, "fd")).into_iter().flatten().flatten();
    let high = entries.filter(move |entry| {
        let name = entry.file_name();
        name.to_str().and_then(|name| name.parse::<i32>().ok()).is_some_and(|at| at >= first)
    });
    high.filter_map(|entry| fs::read_link(entry.path()).ok())
}

/// The numbers of this process's ancestors.
pub(crate) fn ancestors() -> HashSet<u32> {
    let parent = |stat: &Stat| Some(stat.parent).filter(|parent| *parent != 0);
    let own = stat(own_pid()).as_ref().and_then(parent);
    std::iter::successors(own, |number| stat(*number).as_ref().and_then(parent)).collect()
}

/// Signals this very process, and no other that may have its number by now.
pub(crate) fn signal(process: Process, signal: Signal) {
    let held = pid(process.pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    let Some(held) = held else { return };
    if stat(process.pid).is_some_and(|stat| stat.process == process) {
        // A process that ended meanwhile, or belongs to another user, is looked at
        // again by whoever wants it gone.
        let _ = pidfd_send_signal(held, signal);
    }
}

/// The environment a process was started with; empty where it may not be seen.
fn environ(number: u32) -> Vec<u8> {
    let mut environ = Vec::new();
    if let Ok(file) = fs::File::open(path(number, "environ")) {
        // What cannot be read to its end counts as far as it was read.
        let _ = file.take(MAX_ENVIRON_BYTES).read_to_end(&mut environ);
    }
    environ
}

fn path(number: u32, file: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{number}/{file}"))
}

/// Reads the fields behind the program's name, which may contain anything, even
/// brackets and blanks.
fn parse(number: u32, line: &[u8]) -> Option<Stat> {
    let end = line.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(line.get(end + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // Counted from the state, which is the third field of the line.
    let field = |at: usize| fields.get(at).copied();
    let count = |at: usize| field(at).and_then(|field| field.parse::<u64>().ok());
    let state = field(0)?;
    Some(Stat {
        process: Process { pid: number, started: count(19)? },
        parent: field(1)?.parse().ok()?,
        session: field(3)?.parse().ok()?,
        has_terminal: count(4)? != 0,
        is_dead: matches!(state, "Z" | "X" | "x"),
        own_ticks: count(11)?.saturating_add(count(12)?),
        waited_ticks: count(13)?.saturating_add(count(14)?),
    })
}
