//! Everything that must hold before a change lands, in one command.
//!
//! The build server runs exactly this. A step never depends on another having
//! run: each can be asked for by name.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::process::{self, cargo, say};
use crate::setup::{DENY, NEXTEST};
use crate::{conformance, real_agents, soak, tidy};

/// How many seeds the simulator runs against the rules alone.
const SEEDS: &str = "2000";
/// How many it runs against the engine.
const ENGINE_SEEDS: &str = "500";

/// Runs every check: format, lints, tests, kills, tidy, licences and sources, simulator, MCP,
/// real agents.
#[derive(clap::Args)]
pub struct Args {
    /// Only these steps, in this order.
    #[arg(value_name = "STEP")]
    steps: Vec<String>,
    /// Say which steps there are, and run none.
    #[arg(long)]
    list: bool,
}

/// One check.
struct Step {
    name: &'static str,
    what: &'static str,
    run: fn() -> Result<()>,
}

const STEPS: &[Step] = &[
    Step {
        name: "fmt",
        what: "the code is formatted",
        run: || process::run(&mut cargo(["fmt", "--all", "--check"])),
    },
    Step { name: "clippy", what: "no lint complains", run: clippy },
    Step { name: "test", what: "the tests pass", run: test },
    Step {
        name: "soak",
        what: "workspaces survive five hundred kills",
        run: || soak::run(&soak::Args::default()),
    },
    Step { name: "tidy", what: "the house rules hold", run: || tidy::run(&tidy::Args {}) },
    Step { name: "deny", what: "licences, banned crates and sources are in order", run: deny },
    Step { name: "sim", what: "the simulator finds no fault", run: sim },
    Step {
        name: "mcp",
        what: "the protocol's own suite finds nothing that is not known",
        run: conformance::check,
    },
    Step {
        name: "agents",
        what: "the real programs of four vendors do as they are told",
        run: real_agents::check,
    },
];

/// Runs the steps asked for; the first failure ends it.
pub fn run(args: &Args) -> Result<()> {
    if args.list {
        for step in STEPS {
            say(&format!("{:<8} {}", step.name, step.what));
        }
        return Ok(());
    }
    let mut summary = Vec::new();
    let start = Instant::now();
    for step in chosen(&args.steps)? {
        say(&format!("\n== {}: {}", step.name, step.what));
        let begin = Instant::now();
        let outcome = (step.run)();
        let took = seconds(begin.elapsed());
        if let Err(error) = outcome {
            let name = step.name;
            bail!(
                "step `{name}` failed after {took}: {error:#}\n\
                 Run it again with: cargo xtask ci {name}"
            );
        }
        summary.push(format!("{:<8} passed {took:>9}", step.name));
    }
    summary.push(format!("{:<8}        {:>9}", "all", seconds(start.elapsed())));
    say(&format!("\n{}", summary.join("\n")));
    Ok(())
}

fn chosen(names: &[String]) -> Result<Vec<&'static Step>> {
    if names.is_empty() {
        return Ok(STEPS.iter().collect());
    }
    let mut steps = Vec::new();
    for name in names {
        let Some(step) = STEPS.iter().find(|step| step.name == name) else {
            let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
            bail!("there is no step `{name}`; there are {}", known.join(", "));
        };
        steps.push(step);
    }
    Ok(steps)
}

fn clippy() -> Result<()> {
    let args = ["clippy", "--locked", "--workspace", "--all-targets"];
    process::run(cargo(args).args(["--", "-D", "warnings"]))
}

fn test() -> Result<()> {
    let args = ["nextest", "run", "--locked", "--workspace", "--no-fail-fast"];
    process::run(&mut NEXTEST.command(&args)?)
}

fn deny() -> Result<()> {
    let args = ["deny", "--locked", "check", "--hide-inclusion-graph"];
    let mut command = DENY.command(&args)?;
    process::run(command.args(["bans", "licenses", "sources"]))
}

fn sim() -> Result<()> {
    let args = ["run", "--locked", "--quiet", "--package", "legation-sim", "--"];
    process::run(cargo(args).args(["--every-kind", "--seeds", SEEDS]))?;
    process::run(cargo(args).args(["--engine", "--seeds", ENGINE_SEEDS]))
}

fn seconds(span: Duration) -> String {
    format!("{:.1} s", span.as_secs_f64())
}
