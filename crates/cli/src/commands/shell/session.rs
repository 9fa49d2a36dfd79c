//! Running slash commands, each as the verb that does the same.

use std::collections::BTreeMap;
use std::process::ExitCode;

use legation_core::call::Call;
use legation_core::config::{KEYS, KeyPath, Pattern, near_key};
use legation_core::ids::{DelegationId, SubtaskId};
use legation_core::text::slash::{
    Action, CallOptions, CancelOptions, ReasonOptions, Setting, SlashCommand,
};
use serde_json::{Value, json};

use crate::commands::approve::{self, Word};
use crate::commands::delegate::{Asked, hand_over};
use crate::commands::{
    cancel, config, cost, hint, history, pause, resume, retry, skip, status, trace, tree,
};
use crate::error::CommandError;
use crate::output::Output;
use crate::tasks;

/// What lasts from one command to the next.
#[derive(Default)]
pub(super) struct Session {
    /// What was set, by its key, with the variable that says the same.
    settings: BTreeMap<String, (String, Value)>,
}

impl Session {
    /// Does what a command says.
    pub(super) fn run(
        &mut self,
        command: SlashCommand,
        output: &mut Output,
    ) -> Result<ExitCode, CommandError> {
        match command {
            SlashCommand::Delegate { options, task } => {
                let call = Call { task, pattern: options.pattern, ..Call::default() };
                self.hand_over(call, &options, output)
            }
            SlashCommand::Direct { options, task } => {
                let call = Call { task, pattern: Some(Pattern::Direct), ..Call::default() };
                self.hand_over(call, &options, output)
            }
            SlashCommand::Delegation(action) => self.act(action, output),
        }
    }

    fn hand_over(
        &self,
        call: Call,
        options: &CallOptions,
        output: &mut Output,
    ) -> Result<ExitCode, CommandError> {
        let call = Call {
            entry: tasks::entry(&call.task, options.text, output)?,
            depth: options.depth,
            width: options.agents,
            budget: options.budget,
            ..call
        };
        let said = self.settings.values().map(|(variable, value)| (variable.clone(), plain(value)));
        let session = said.collect();
        hand_over(Asked { call, dry_run: options.dry_run, session }, output)
    }

    fn act(&mut self, action: Action, output: &mut Output) -> Result<ExitCode, CommandError> {
        match action {
            Action::Status { id } => {
                let id = id.map(|id| id.to_string());
                status::run(&status::Args { id, all: false, full: false }, output)
            }
            Action::History { options } => {
                let args = history::Args::new(options.limit, options.status, options.since);
                history::run(&args, output)
            }
            Action::Hint { task, options } => {
                hint::run(&hint::Args { text: options.text, task }, output)
            }
            Action::Config { settings } => self.set(settings, output),
            Action::Tree { id } => tree::run(&tree::Args { id: id.to_string() }, output),
            Action::Trace { id } => trace::run(&trace::Args::of(id.to_string()), output),
            Action::Cost { id } => cost::run(&cost::Args { id: id.to_string() }, output),
            Action::Pause { id, options } => {
                let (id, reason) = (id.to_string(), String::new());
                pause::run(pause::Args { id, now: options.now, reason }, output)
            }
            Action::Resume { id } => {
                resume::run(resume::Args { id: id.to_string(), wait: false }, output)
            }
            Action::Cancel { id, options } => {
                let CancelOptions { reason, rollback } = options;
                let (id, reason) = (id.to_string(), reason.unwrap_or_default());
                let args = cancel::Args { id, subtask: None, reason, rollback, wait: false };
                cancel::run(args, output)
            }
            Action::Retry { id, subtask, options } => {
                let (id, subtask) = (id.to_string(), subtask.to_string());
                let (agent, note) = (options.agent.map(|agent| agent.to_string()), options.note);
                retry::run(retry::Args { id, subtask, agent, note, wait: false }, output)
            }
            Action::Skip { id, subtask, options } => {
                let (id, subtask) = (id.to_string(), subtask.to_string());
                let reason = options.reason.unwrap_or_default();
                skip::run(skip::Args { id, subtask, reason, wait: false }, output)
            }
            Action::Approve { id, subtask, options } => {
                approve::run(approval(&id, subtask, options), Word::Yes, output)
            }
            Action::Reject { id, subtask, options } => {
                approve::run(approval(&id, subtask, options), Word::No, output)
            }
        }
    }

    /// Sets something for the rest of the session, or shows what is set.
    fn set(&mut self, new: Vec<Setting>, output: &mut Output) -> Result<ExitCode, CommandError> {
        for Setting { key, value } in new {
            let known = KEYS.iter().find(|known| known.key_path().to_string() == key);
            let known = known.and_then(|known| Some((known, known.variable()?)));
            let Some((known, variable)) = known else {
                let error = CommandError::usage(format!("there is no setting `{key}`"));
                return Err(match near_key(&KeyPath::of(key.split('.'))) {
                    Some(near) => error.hint(format!("did you mean {near}?")),
                    None => error.hint("`legation config list` shows those there are"),
                });
            };
            let value = config::value(&known.key_path(), known, &plain(&value))?;
            self.settings.insert(key, (variable, value));
        }
        let set = self.settings.iter().map(|(key, (_, value))| (key.as_str(), value));
        let value: Value = json!({"session": set.collect::<BTreeMap<_, _>>()});
        output.answer(&value, || match self.settings.len() {
            0 => "Nothing is set for this session.".to_owned(),
            _ => {
                let set = self.settings.iter();
                set.map(|(key, (_, value))| format!("{key} = {}\n", plain(value))).collect()
            }
        });
        Ok(ExitCode::SUCCESS)
    }
}

/// A value as it is typed.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn approval(
    id: &DelegationId,
    subtask: Option<SubtaskId>,
    options: ReasonOptions,
) -> approve::Args {
    let subtask = subtask.map(|subtask| subtask.to_string());
    approve::Args { id: id.to_string(), subtask, reason: options.reason.unwrap_or_default() }
}
