//! What a run used of the machine, as the system itself counts it.

use std::time::{Duration, Instant};

/// Bytes of a page of memory.
const PAGE: u64 = 4096;

/// A stretch of work that is being measured.
pub(crate) struct Stretch {
    wall: Instant,
    cpu: Duration,
}

impl Stretch {
    /// Begins now.
    pub(crate) fn begin() -> Self {
        Self { wall: Instant::now(), cpu: cpu() }
    }

    /// Seconds on the clock and on all processors together.
    pub(crate) fn end(&self) -> (f64, f64) {
        (self.wall.elapsed().as_secs_f64(), cpu().saturating_sub(self.cpu).as_secs_f64())
    }
}

/// What this process used of the processors so far. The system counts it for each
/// thread, in nanoseconds; none of ours ends while something is measured.
pub(crate) fn cpu() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let texts = threads.flat_map(|thread| std::fs::read_to_string(thread.path().join("schedstat")));
    let nanos = texts.filter_map(|text| text.split_whitespace().next()?.parse::<u64>().ok());
    Duration::from_nanos(nanos.sum())
}

/// Bytes this process has in memory.
pub(crate) fn rss() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * PAGE
}

/// Bytes this process had in memory at most.
pub(crate) fn peak() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB"));
    kilobytes.and_then(|number| number.trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// Forgets the peak so far, where the system lets us.
pub(crate) fn forget_peak() {
    // Else the peak of the preparation counts too, which only makes us look worse.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Programs that wanted to run, on average over the last minute.
pub(crate) fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|load| load.parse().ok()).unwrap_or(0.0)
}

/// A figure with so many digits after the point.
pub(crate) fn rounded(figure: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (figure * scale).round() / scale
}
