//! What processes used of the machine, as the system itself counts it.

use std::fs;

/// Milliseconds of a tick, in which the system tells times of processes.
const TICK_MS: f64 = 10.0;

/// Milliseconds on the processors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Used {
    /// Of the process itself, all threads.
    pub own: f64,
    /// Of its children that have ended and of theirs, as far as each was waited for.
    pub children: f64,
}

impl Used {
    /// What a process has used so far; nothing if there is no such process.
    pub fn by(process: &str) -> Self {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        Self::from_stat(&stat).unwrap_or_default()
    }

    /// The same, with children that still live counted among those that have ended.
    pub fn by_all_of(process: &str) -> Self {
        let mut used = Self::by(process);
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1));
            if parent == Some(process) {
                used.children += Self::from_stat(&stat).unwrap_or_default().all();
            }
        }
        used
    }

    /// Reads the line that the system writes about a process.
    pub fn from_stat(stat: &str) -> Option<Self> {
        // The name of the program stands in brackets and may hold anything.
        let (_, rest) = stat.rsplit_once(')')?;
        let ticks = |at: usize| rest.split_whitespace().nth(at)?.parse::<f64>().ok();
        Some(Self {
            own: (ticks(11)? + ticks(12)?) * TICK_MS,
            children: (ticks(13)? + ticks(14)?) * TICK_MS,
        })
    }

    /// What was used since.
    pub fn since(self, before: Self) -> Self {
        Self { own: self.own - before.own, children: self.children - before.children }
    }

    /// All of it.
    pub fn all(self) -> f64 {
        self.own + self.children
    }
}

/// Megabytes that a process had in memory at most (`VmHWM`) or has now (`VmRSS`).
pub fn megabytes(process: &str, what: &str) -> f64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(':'));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
    kilobytes.unwrap_or(0.0) * 1024.0 / 1e6
}

/// The middle of several figures.
pub fn middle(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The smallest of several figures: the one that was disturbed least.
pub fn least(figures: &[f64]) -> f64 {
    figures.iter().copied().fold(f64::NAN, f64::min)
}
