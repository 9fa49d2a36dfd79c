//! `legation doctor`: what works here, what is enforced, and what is broken.
//!
//! It only looks. Programs that run agents are asked for their version, and nothing stays
//! changed: an overlay that is tried out is taken away again. One thing that is broken does not keep it from telling about
//! the others.

mod machine;
mod page;
mod project;
mod runners;
mod spaces;

use std::process::ExitCode;

use legation_core::config::{self, Sandbox};
use legation_core::prices;
use legation_runners::fence::{Asked, Held, Kernel};
use legation_runners::keep::Ceilings;
use serde::Serialize;

use self::machine::Machine;
use self::project::{Findings, Journal};
use self::runners::Found;
use self::spaces::Workspaces;
use crate::error::CommandError;
use crate::output::Output;

/// Shows what works on this machine, what is enforced, and what is broken.
///
/// The exit code is 1 if something is broken.
#[derive(clap::Args)]
pub(crate) struct Args {}

/// All there is to tell.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    ok: bool,
    /// What is broken, each in a sentence.
    problems: Vec<String>,
    version: &'static str,
    project: Where,
    agents: Findings,
    runners: Vec<Found>,
    /// What runs agents that name no runner.
    default_runner: Option<runners::ByDefault>,
    prices: Prices,
    engine: Engine,
    journal: Journal,
    workspaces: Option<Workspaces>,
    fence: Fence,
    machine: Machine,
}

#[derive(Serialize)]
struct Where {
    directory: String,
    git: bool,
    /// What is odd about its configuration, without being wrong.
    warnings: Vec<String>,
}

/// What tokens are priced by where a runner does not say what it cost.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Prices {
    /// When the prices of the table were those.
    as_of: &'static str,
    /// Models that the configuration has prices for.
    own: Vec<String>,
}

#[derive(Serialize)]
struct Engine {
    pid: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fence {
    /// Whether attempts run inside one.
    on: bool,
    /// What the configuration says about it.
    setting: config::Fence,
    network: config::Network,
    /// The version of Landlock's interface; 0 where there is none.
    landlock_abi: u32,
    /// Why there can be none.
    obstacle: Option<String>,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
struct Rule {
    name: &'static str,
    rule: &'static str,
    held: bool,
    why: Option<String>,
}

pub(crate) fn run(_: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let report = Report::make()?;
    output.answer(&report, || page::text(&report));
    Ok(if report.ok { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

impl Report {
    fn make() -> Result<Self, CommandError> {
        let looked = project::look()?;
        let mut problems = looked.problems;
        let fence = Fence::of(&looked.config.sandbox);
        if fence.setting == config::Fence::Require
            && let Some(why) = Kernel::current().unfit(Asked::of(&looked.config.sandbox))
        {
            problems.push(format!("`sandbox.fence` is `require`, so nothing runs here: {why}"));
        }
        for why in unlimited(&looked.config.sandbox) {
            let refused = match fence.setting {
                config::Fence::Require => ", so nothing runs here",
                config::Fence::Auto | config::Fence::Off => "",
            };
            problems.push(format!("a limit is set in `sandbox`{refused}: {why}"));
        }
        let workspaces = Workspaces::look(&looked.paths, &looked.config, &mut problems);
        let machine = Machine::look();
        if looked.git && machine.git.is_none() {
            problems.push("the project is in a git repository, and there is no git".to_owned());
        }
        Ok(Self {
            ok: problems.is_empty(),
            problems,
            version: env!("CARGO_PKG_VERSION"),
            project: Where {
                directory: looked.directory,
                git: looked.git,
                warnings: looked.warnings,
            },
            agents: looked.agents,
            runners: runners::look(),
            default_runner: runners::by_default(),
            prices: Prices {
                as_of: prices::AS_OF,
                own: looked.config.prices.keys().cloned().collect(),
            },
            engine: Engine { pid: looked.engine },
            journal: looked.journal,
            workspaces,
            fence,
            machine,
        })
    }
}

/// The limits that are set and cannot be held.
fn unlimited(sandbox: &Sandbox) -> Vec<String> {
    let Sandbox { memory_mb, pids, .. } = *sandbox;
    Ceilings { memory_mb, pids, ..Ceilings::default() }.gaps()
}

impl Fence {
    fn of(sandbox: &Sandbox) -> Self {
        let kernel = Kernel::current();
        let is_wanted = sandbox.fence != config::Fence::Off;
        let rules = kernel.rules(Asked::of(sandbox)).map(|(rule, held)| {
            let why = match held {
                Held::Yes if is_wanted => None,
                Held::Yes => Some("`sandbox.fence` is off".to_owned()),
                Held::No(gap) => Some(gap),
            };
            Rule { name: rule.name, rule: rule.what, held: why.is_none(), why }
        });
        Self {
            on: is_wanted && kernel.can_fence(),
            setting: sandbox.fence,
            network: sandbox.network,
            landlock_abi: kernel.abi,
            obstacle: kernel.obstacle.clone(),
            rules: rules.collect(),
        }
    }
}
