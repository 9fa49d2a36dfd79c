//! `legation delegate` and `legation direct`.

mod dry_run;
mod large;
mod options;
mod plan_file;
mod unread;
mod unseen;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use legation_core::call::Call;
use legation_core::config::Pattern;
use legation_core::task::Task;
use legation_core::tree::plan::Aggregate;
use legation_engine::protocol::Wish;

pub(crate) use self::options::Options;
use super::values::{depth, named, rounds, width};
use crate::error::CommandError;
use crate::output::Output;
use crate::reach::{Reach, block_on};
use crate::steer;
use crate::tasks;
use crate::watch::{Until, Watch};

/// Hands a task to agents, in workspaces of their own and within all bounds.
///
/// Waits for the end and shows what happens; Ctrl-C cancels it. Nothing in your own files
/// changes before `legation apply`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How the subtasks are run: parallel, parallel_streaming, sequential, dag, debate,
    /// review, ensemble or direct.
    #[arg(short, long, value_name = "PATTERN", value_parser = named::<Pattern>)]
    pattern: Option<Pattern>,
    /// Levels that the tree may have, 1 to 5 and at most as many as configured.
    #[arg(short, long, value_name = "N", value_parser = depth, allow_negative_numbers = true)]
    depth: Option<u32>,
    /// Agents that may run at once, at most as many as configured.
    #[arg(short = 'a', long = "agents", value_name = "N", value_parser = width, allow_negative_numbers = true)]
    width: Option<u32>,
    /// Who does it; may be given several times.
    #[arg(long = "agent", value_name = "AGENT")]
    agents: Vec<String>,
    /// How an ensemble comes to one answer: vote, best or merge.
    #[arg(long, value_name = "HOW", value_parser = named::<Aggregate>)]
    aggregate: Option<Aggregate>,
    /// Rounds of a debate or review, 1 to 10.
    #[arg(long, value_name = "N", value_parser = rounds, allow_negative_numbers = true)]
    rounds: Option<u32>,
    /// The subtasks, as a JSON file; `-` reads it from stdin.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    #[command(flatten)]
    options: Options,
    /// What is to be done, in words; `-` reads it from stdin.
    #[arg(value_name = "TASK", required_unless_present = "plan")]
    task: Option<String>,
}

/// Hands a task as a whole to one agent, whatever its score.
#[derive(clap::Args)]
pub(crate) struct DirectArgs {
    /// Who does it.
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    #[command(flatten)]
    options: Options,
    /// What is to be done, in words; `-` reads it from stdin.
    #[arg(value_name = "TASK")]
    task: String,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let dry_run = args.options.dry_run;
    let call = args.call(output).map_err(unread::refused)?;
    hand_over(Asked::new(call, dry_run), output)
}

impl Args {
    /// The call that these make.
    fn call(self, output: &mut Output) -> Result<Call, CommandError> {
        plan_file::one_stdin(self.plan.as_deref(), self.task.as_deref())?;
        let plan = self.plan.as_deref().map(plan_file::read).transpose()?;
        let task = plan_file::task(self.task, plan.as_ref())?;
        let entry = tasks::entry(&task, self.options.text, output)?;
        Ok(Call {
            task,
            entry,
            plan,
            pattern: self.pattern,
            agents: self.agents.into_iter().map(Into::into).collect(),
            aggregate: self.aggregate,
            rounds: self.rounds,
            depth: self.depth,
            width: self.width,
            ..self.options.call()
        })
    }
}

pub(crate) fn direct(args: DirectArgs, output: &mut Output) -> Result<ExitCode, CommandError> {
    let task = plan_file::task(Some(args.task), None).map_err(unread::refused)?;
    let agents = args.agent.into_iter().map(Into::into).collect();
    let pattern = Some(Pattern::Direct);
    let entry = tasks::entry(&task, args.options.text, output).map_err(unread::refused)?;
    let call = Call { task, entry, pattern, agents, ..args.options.call() };
    hand_over(Asked::new(call, args.options.dry_run), output)
}

/// Something that is asked for.
pub(crate) struct Asked {
    pub(crate) call: Call,
    /// Whether it is only to be shown.
    pub(crate) dry_run: bool,
    /// What was set for this session, as variables that say the same.
    pub(crate) session: BTreeMap<String, String>,
}

impl Asked {
    fn new(call: Call, dry_run: bool) -> Self {
        Self { call, dry_run, session: BTreeMap::new() }
    }
}

/// Does what a call asks for, or shows what it would come to.
pub(crate) fn hand_over(asked: Asked, output: &mut Output) -> Result<ExitCode, CommandError> {
    let Asked { mut call, dry_run, session } = asked;
    if dry_run {
        return dry_run::run(&call, &session, output);
    }
    let reach = Reach::current()?.with_session(&session);
    if !reach.is_attempt() && call.idempotency_key.is_none() {
        // So that the call can be made again, should the engine die before it answers.
        call.idempotency_key = Some(own_key());
    }
    if !reach.is_attempt() {
        large::agreed(&reach, call.yes, output)?;
    }
    let title = match &call.entry {
        Some(entry) => entry.title.clone(),
        None => Task::from_text(&call.task).title,
    };
    if !(reach.is_attempt() || call.include_dirty || output.wants_json()) {
        unseen::note(&reach.project.dir).iter().for_each(|note| output.note(note));
    }
    let until = if call.detach { Until::Accepted } else { Until::Over };
    let end = block_on(async {
        let watch = Watch::new(&reach, output, until).cancels_on_ctrl_c()?;
        let watch = watch.about(None, &title).asks_for(call.text());
        watch.run(Wish::Delegate(Box::new(call))).await
    })?;
    Ok(steer::answer(end, &reach, output))
}

/// A key that no other call has.
fn own_key() -> String {
    let now = jiff::Timestamp::now().as_nanosecond();
    format!("call-{}-{now}", std::process::id())
}
