//! Counts per line as a table per file.

use std::collections::BTreeMap;
use std::fmt;

/// Uncovered places that are listed per file; more would not be read.
const PLACES_SHOWN: usize = 8;

/// The counts of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// Its path below the folder that counts.
    pub path: String,
    /// How often each line that can run was run.
    pub counts: BTreeMap<usize, u64>,
}

/// What is covered, file by file.
pub struct Report {
    files: Vec<File>,
}

/// Reads counts in the `lcov` form; files outside `folder` do not count.
pub fn files(lcov: &str, folder: &str) -> Vec<File> {
    let mut files: Vec<File> = Vec::new();
    let mut counts = false;
    for line in lcov.lines() {
        if let Some(path) = line.strip_prefix("SF:") {
            let path = path.strip_prefix(folder);
            counts = path.is_some();
            files.extend(path.map(|path| File { path: path.to_owned(), ..File::default() }));
        } else if let Some((number, count)) = line.strip_prefix("DA:").and_then(data)
            && counts
            && let Some(file) = files.last_mut()
        {
            *file.counts.entry(number).or_default() += count;
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn data(text: &str) -> Option<(usize, u64)> {
    let mut numbers = text.split(',');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

impl File {
    fn covered(&self) -> usize {
        self.counts.values().filter(|&&count| count > 0).count()
    }

    /// Lines that were never run, as `3`, `7-9`.
    fn gaps(&self) -> String {
        let mut gaps: Vec<(usize, usize)> = Vec::new();
        let mut is_open = false;
        for (&line, &count) in &self.counts {
            match gaps.last_mut() {
                Some(gap) if is_open && count == 0 => gap.1 = line,
                _ if count == 0 => gaps.push((line, line)),
                _ => {}
            }
            is_open = count == 0;
        }
        let shown = gaps.iter().take(PLACES_SHOWN).map(|&(first, last)| {
            if first == last { first.to_string() } else { format!("{first}-{last}") }
        });
        let mut shown: Vec<String> = shown.collect();
        if gaps.len() > PLACES_SHOWN {
            shown.push(format!("and {} more", gaps.len() - PLACES_SHOWN));
        }
        shown.join(" ")
    }
}

impl Report {
    /// A report on these files.
    pub fn new(files: Vec<File>) -> Self {
        Self { files }
    }

    /// The share of lines that were run, in per cent. Nothing to run is covered.
    pub fn percent(&self) -> f64 {
        percent(self.covered(), self.lines())
    }

    fn lines(&self) -> usize {
        self.files.iter().map(|file| file.counts.len()).sum()
    }

    fn covered(&self) -> usize {
        self.files.iter().map(File::covered).sum()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<36} {:>6} {:>8}  not covered", "file", "lines", "covered")?;
        for file in &self.files {
            let (lines, share) = (file.counts.len(), percent(file.covered(), file.counts.len()));
            let row = format!("{:<36} {lines:>6} {share:>6.1} %  {}", file.path, file.gaps());
            writeln!(f, "{}", row.trim_end())?;
        }
        let (lines, share) = (self.lines(), self.percent());
        write!(f, "{:<36} {lines:>6} {share:>6.1} %", "all")
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        return 100.0;
    }
    part as f64 * 100.0 / whole as f64
}
