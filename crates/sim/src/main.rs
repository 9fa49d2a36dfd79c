//! `sim --seeds 2000`, or `sim --seed N` for one of them.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use legation_core::tree::event::Body;

/// Attacks the rules of delegation with seeded worlds.
#[derive(Parser)]
struct Cli {
    /// Run this seed alone and print its log.
    #[arg(long, conflicts_with = "seeds")]
    seed: Option<u64>,
    /// How many seeds to run, from `--from`.
    #[arg(long, default_value_t = 2000)]
    seeds: u64,
    /// Drive the real engine instead of the rules alone.
    #[arg(long)]
    engine: bool,
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Fail if some kind of event never occurred: a rule that nothing reached was not attacked.
    #[arg(long)]
    every_kind: bool,
}

/// What the seeds so far add up to.
#[derive(Default)]
struct Sum {
    seeds: u64,
    steps: u64,
    crashes: u64,
    events: usize,
    kinds: BTreeMap<&'static str, u64>,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = io::stdout().lock();
    // Nobody is left to be told if the words cannot be written.
    attack(&cli, &mut out).unwrap_or(ExitCode::FAILURE)
}

fn attack(cli: &Cli, out: &mut impl Write) -> io::Result<ExitCode> {
    let seeds = match cli.seed {
        Some(seed) => seed..seed.saturating_add(1),
        None => cli.from..cli.from.saturating_add(cli.seeds),
    };
    let (run, flag): (fn(u64) -> _, _) = if cli.engine {
        (legation_sim::engine_world::run, "--engine ")
    } else {
        (legation_sim::run, "")
    };
    let mut sum = Sum::default();
    for seed in seeds {
        let (log, broken) = match run(seed) {
            Ok(outcome) => {
                sum.seeds += 1;
                sum.steps += outcome.steps;
                sum.crashes += outcome.crashes;
                sum.events += outcome.log.len();
                for (kind, count) in outcome.kinds {
                    *sum.kinds.entry(kind).or_default() += count;
                }
                (outcome.log, None)
            }
            Err((broken, log)) => (log, Some(broken)),
        };
        for event in log.iter().filter(|_| cli.seed.is_some()) {
            writeln!(out, "{event}")?;
        }
        if let Some(broken) = broken {
            let again = format!("cargo run -p legation-sim -- {flag}--seed {seed}");
            writeln!(out, "seed {seed}: {broken}\nreproduce: {again}")?;
            return Ok(ExitCode::FAILURE);
        }
    }
    conclude(&sum, cli.every_kind, out)
}

/// How often each kind of event occurred, and what that is worth.
fn conclude(sum: &Sum, every_kind: bool, out: &mut impl Write) -> io::Result<ExitCode> {
    let count = |kind: &str| sum.kinds.get(kind).copied().unwrap_or(0);
    for kind in Body::KINDS {
        writeln!(out, "{:>9} {kind}", count(kind))?;
    }
    let Sum { seeds, steps, crashes, events, .. } = sum;
    writeln!(
        out,
        "{seeds} seeds, {steps} steps, {events} events, {crashes} crashes: every property holds"
    )?;
    let never: Vec<&str> = Body::KINDS.into_iter().filter(|kind| count(kind) == 0).collect();
    if every_kind && !never.is_empty() {
        writeln!(out, "never occurred, so never attacked: {}", never.join(", "))?;
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
