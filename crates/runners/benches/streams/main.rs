//! How fast the output of vendors' programs is read, and that reading a lot of it takes no
//! more memory than reading a little.
//!
//! Recorded output, over and over, in pieces as a pipe hands them out.

#![expect(clippy::print_stdout, reason = "the figures are its output")]

use std::time::Instant;

use legation_runners::envoy::Event;
use legation_runners::{claude_code, codex, gemini, opencode};

/// Bytes that are read.
const BYTES: usize = 50 << 20;
/// Bytes of a piece.
const PIECE: usize = 64 << 10;
/// Megabytes a second that are meant to be reached.
const WANTED: f64 = 100.0;

macro_rules! fixture {
    ($vendor:literal, $name:literal) => {
        include_bytes!(concat!("../tests/it/", $vendor, "/fixtures/", $name, ".jsonl"))
    };
}

fn main() {
    println!("{:<12} {:>10} {:>10} {:>12}", "", "MB/s", "wanted", "grew by KB");
    let mut parser = claude_code::Parser::default();
    measure("claude-code", fixture!("claude_code", "turn-1"), |piece, heard| {
        parser.push(piece, heard);
    });
    let mut parser = codex::Parser::default();
    measure("codex", fixture!("codex", "turn-1"), |piece, heard| parser.push(piece, heard));
    let mut parser = gemini::Parser::default();
    measure("gemini", fixture!("gemini", "turn-1"), |piece, heard| parser.push(piece, heard));
    let mut parser = opencode::Parser::default();
    measure("opencode", fixture!("opencode", "tools"), |piece, heard| parser.push(piece, heard));
}

/// Reads a recording until all is read, and says how that went.
fn measure(name: &str, recorded: &[u8], mut push: impl FnMut(&[u8], &mut Vec<Event>)) {
    let block: Vec<u8> = recorded.iter().copied().cycle().take(BYTES / 10).collect();
    let mut heard = Vec::new();
    let mut read = |block: &[u8]| {
        for piece in block.chunks(PIECE) {
            push(piece, &mut heard);
            heard.clear();
        }
    };
    read(&block);
    let before = resident_kb();
    let begun = Instant::now();
    (0..9).for_each(|_| read(&block));
    let rate = (block.len() * 9) as f64 / 1e6 / begun.elapsed().as_secs_f64();
    let grown = resident_kb().saturating_sub(before);
    let verdict = if rate < WANTED { "MISSED" } else { "" };
    println!("{name:<12} {rate:>10.0} {WANTED:>10.0} {grown:>12} {verdict}");
}

/// Memory of this process.
fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
