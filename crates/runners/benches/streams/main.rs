//! What runners cost beside their programs. Run by `cargo xtask bench streams`.
//!
//! How fast the output of vendors' programs and models is read, and that reading a lot of
//! it takes no more memory than reading a little; what a keeper and an envoy use of the
//! processor for an attempt; what many conversations with models take of the memory. Prints
//! a list of figures as JSON.

mod attempts;
mod charge;
mod models;
mod parse;

use std::error::Error;
use std::fs;
use std::io::Write as _;

use serde_json::{Map, Value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;
type Figures = Map<String, Value>;

fn main() -> Result<()> {
    let mut found = parse::measure()?;
    found.push(attempts::measure()?);
    found.push(models::measure()?);
    writeln!(std::io::stdout(), "{}", Value::from_iter(found))?;
    Ok(())
}

/// Figures of one run.
fn labelled(mode: &str, n: usize, figures: &[(&str, f64)]) -> Figures {
    let mut all = Figures::new();
    all.extend([("peer".into(), "legation".into()), ("mode".into(), mode.into())]);
    all.insert("n".into(), n.into());
    all.extend(figures.iter().map(|(key, figure)| ((*key).to_owned(), json!(figure))));
    all
}

/// Kilobytes of memory that nobody but this process has.
fn private_kb(process: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
    let lines = text.lines().filter(|line| line.starts_with("Private_"));
    let kb = lines.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kb.sum()
}
