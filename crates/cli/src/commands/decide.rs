//! `legation decide`.

mod cache;
mod show;
mod task_file;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::NonEmptyStringValueParser;
use jiff::Timestamp;
use legation_core::config::config_version;
use legation_core::decision::{self, Include, Inputs, Known, Request, Stamp};
use legation_core::ids::AgentId;
use legation_runners::agents::load;

use crate::error::CommandError;
use crate::output::Output;
use crate::project::{self, Project};

/// Says whether a task should be delegated, how, and why.
///
/// Nothing is started. An equal question within 60 seconds gets the same answer.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A file with the task as a JSON object; `-` reads it from stdin.
    #[arg(long, value_name = "FILE", conflicts_with = "words")]
    task_file: Option<PathBuf>,
    /// The agent that would delegate.
    #[arg(long, value_name = "AGENT", value_parser = NonEmptyStringValueParser::new())]
    agent: Option<String>,
    /// Neither use an earlier answer nor keep this one.
    #[arg(long)]
    no_cache: bool,
    /// Leave out the proposed subtasks.
    #[arg(long)]
    no_subtasks: bool,
    /// Leave out the reasoning.
    #[arg(long)]
    no_reasoning: bool,
    /// How full the agent's context is, 0–100.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    context_utilization: Option<f64>,
    /// How sure the agent is of itself, 0–100.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    agent_confidence: Option<f64>,
    /// How busy the agent is, 0–100.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    agent_load: Option<f64>,
    /// How deep the agent stands; a root stands at 0.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    depth: Option<i64>,
    /// How deep a tree may go, instead of what is configured.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_depth: Option<i64>,
    /// How many child agents the agent has now.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    child_agents: Option<i64>,
    /// Take the task as text, even if it looks like the id of a task.
    #[arg(long)]
    text: bool,
    /// The task by its id, or in words: the first line is the title, the rest the
    /// description; `-` reads stdin.
    #[arg(value_name = "TASK", required_unless_present = "task_file")]
    words: Option<String>,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let task = match &args.task_file {
        Some(file) => task_file::read(file, output)?,
        None => task_file::from_text(args.words.as_deref().unwrap_or_default(), args.text, output)?,
    };
    let project = Project::current()?;
    let config = project.config(output)?.config;
    let agent = args.agent.map(AgentId::from);
    if let Some(agent) = &agent {
        let loaded = load(&project.dir, project::home().as_deref());
        let roster = loaded.roster(&config);
        roster.resolve(None, agent)?;
    }
    let now = Timestamp::now();
    let timestamp = format!("{now:.3}");
    let config_version = config_version(&config);
    let inputs = Inputs {
        task: &task,
        config: &config,
        known: Known {
            agent,
            context_utilization: args.context_utilization,
            agent_confidence: args.agent_confidence,
            agent_load: args.agent_load,
            depth: args.depth,
            max_depth: args.max_depth,
            child_agents: args.child_agents,
            record: None,
        },
        request: Request::Decide,
        include: Include { subtasks: !args.no_subtasks, reasoning: !args.no_reasoning },
        stamp: Stamp { timestamp: &timestamp, config_version: &config_version },
    };
    let cache = if args.no_cache { None } else { cache::Entry::of(&decision::cache_key(&inputs)) };
    let kept = cache.as_ref().and_then(|entry| entry.read(now));
    let decision = kept.unwrap_or_else(|| {
        let decision = decision::decide_task(&inputs);
        if let Some(entry) = &cache {
            entry.write(&decision);
        }
        decision
    });
    output.answer(&decision, || show::text(&task, &decision));
    Ok(ExitCode::SUCCESS)
}
