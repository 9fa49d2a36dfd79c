//! `sim --seeds 2000`, or `sim --seed N` for one of them.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

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
}

/// The name of what happened, from a line of the log.
fn kind(line: &str) -> String {
    let body = line.split_once("\"body\":{\"").map(|(_, body)| body);
    body.and_then(|body| body.split('"').next()).unwrap_or("?").to_owned()
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = std::io::stdout().lock();
    let seeds = match cli.seed {
        Some(seed) => seed..seed + 1,
        None => cli.from..cli.from + cli.seeds,
    };
    let (run, flag): (fn(u64) -> _, _) = if cli.engine {
        (legation_sim::engine_world::run, "--engine ")
    } else {
        (legation_sim::run, "")
    };
    let mut steps = 0;
    let mut events = 0;
    let mut crashes = 0;
    let mut kinds = BTreeMap::<String, u64>::new();
    for seed in seeds.clone() {
        match run(seed) {
            Ok(outcome) => {
                steps += outcome.steps;
                let happened = outcome.log.iter().filter(|line| line.starts_with('{'));
                crashes += outcome.crashes;
                for event in happened {
                    events += 1;
                    *kinds.entry(kind(event)).or_default() += 1;
                }
                if cli.seed.is_some() {
                    for event in &outcome.log {
                        let _ = writeln!(out, "{event}");
                    }
                }
            }
            Err((broken, log)) => {
                if cli.seed.is_some() {
                    for event in &log {
                        let _ = writeln!(out, "{event}");
                    }
                }
                let _ = writeln!(
                    out,
                    "seed {seed}: {broken}\nreproduce: cargo run -p legation-sim -- {flag}--seed {seed}"
                );
                return ExitCode::FAILURE;
            }
        }
    }
    for (kind, count) in kinds {
        let _ = writeln!(out, "{count:>9} {kind}");
    }
    let count = seeds.end - seeds.start;
    let _ = writeln!(
        out,
        "{count} seeds, {steps} steps, {events} events, {crashes} crashes: every property holds"
    );
    ExitCode::SUCCESS
}
