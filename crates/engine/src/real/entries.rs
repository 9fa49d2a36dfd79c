//! `[delegate:…]` lines in what an agent wrote, honoured once it has ended.

use legation_core::Code;
use legation_core::call::{self, Asker, House, class_of_hours, of_entries};
use legation_core::ids::DelegationId;
use legation_core::returns::{Receipt, RefusedEntry};
use legation_core::text::delegate::{self, Entry, Rejected};
use legation_core::text::story::StoryId;
use legation_core::tree::Rejection;
use legation_core::tree::command::Delegate;
use legation_core::tree::event::Caller;
use legation_core::tree::rejection::Refusal;

use super::Inner;
use super::attempt::Heard;
use crate::mail::{Failure, Mailbox};
use crate::world::Job;

/// Under which names the receipt counts them.
const HONOURED: &str = "delegate";
const REFUSED: &str = "delegate_refused";
/// Entries whose refusal is written down; of the rest only the number is.
const MAX_TOLD: usize = 20;

/// What came of the entries in an output.
#[derive(Debug, Default)]
pub(super) struct Asked {
    honoured: u64,
    refused: Vec<RefusedEntry>,
}

impl Asked {
    /// Writes it into the receipt.
    pub(super) fn add_to(mut self, receipt: &mut Receipt) {
        let counts = [(HONOURED, self.honoured), (REFUSED, self.refused.len() as u64)];
        let some = counts.into_iter().filter(|(_, count)| *count > 0);
        receipt.tool_calls.extend(some.map(|(name, count)| (name.to_owned(), count)));
        self.refused.truncate(MAX_TOLD);
        receipt.refused = self.refused;
    }

    /// Each of these is refused for the same reason.
    fn refuse(&mut self, entries: &[Entry], (code, message): (Code, &str)) {
        let refused = entries.iter().map(|entry| RefusedEntry {
            entry: entry.to_string(),
            code,
            message: message.to_owned(),
        });
        self.refused.extend(refused);
    }
}

impl Inner {
    /// Delegates what the entries ask for, if this agent may, and waits for the answer.
    /// The attempt goes on until then.
    pub(super) async fn honour_entries(&self, job: &Job, heard: &Heard, mail: &Mailbox) -> Asked {
        let story = StoryId::new(job.subtask.as_str()).unwrap_or_default();
        let parsed = delegate::parse(&heard.hearing.text(), &story, job.brief.delegation_depth);
        let mut asked = Asked { honoured: 0, refused: parsed.rejected.iter().map(bad).collect() };
        let entries = &parsed.delegations;
        if entries.is_empty() {
            return asked;
        }
        let agent = self.agent(&job.agent, job.parent.as_ref());
        if agent.is_none_or(|(definition, _)| definition.subagents.is_none()) {
            let why = format!("Agent `{}` may not delegate: it has no `subagents`.", job.agent);
            asked.refuse(entries, (Code::AgentNotAllowed, &why));
            return asked;
        }
        let answer = match self.call_of(job, entries) {
            Ok(delegate) => mail.delegate(delegate).await,
            Err(refusal) => Some(Err(Failure::Rejected((*refusal).into()))),
        };
        match answer {
            Some(Ok(())) => asked.honoured = entries.len() as u64,
            Some(Err(failure)) => {
                let (code, why) = reason(&failure);
                asked.refuse(entries, (code, &why));
            }
            None => asked.refuse(entries, (Code::Conflict, "The tree is over.")),
        }
        asked
    }

    /// The command that the entries become.
    fn call_of(&self, job: &Job, entries: &[Entry]) -> Result<Delegate, Box<Refusal>> {
        let home = self.home();
        let house = House { config: &home.config, roster: &home.roster };
        let asker = Asker {
            caller: Caller::Attempt(job.attempt.clone()),
            path: job.brief.delegation_path.iter().skip(1).cloned().collect(),
        };
        let title = format!("Parts of {}", job.subtask);
        let id = DelegationId::from(format!("del-{:012x}", fastrand::u64(..) >> 16));
        let call = of_entries(&title, entries);
        let mut planned = call::plan(&call, house, &asker, id).map_err(Box::new)?.delegate;
        for (target, entry) in planned.subtasks.iter_mut().zip(entries) {
            let habits = &mut target.habits;
            if habits.operation.is_none() && habits.timeout_ms.is_none() {
                habits.operation = Some(class_of_hours(entry.estimated_hours));
            }
        }
        Ok(planned)
    }
}

/// An entry that says nothing that could be done.
fn bad(rejected: &Rejected) -> RefusedEntry {
    RefusedEntry {
        entry: rejected.text.clone(),
        code: Code::ValidationFailed,
        message: format!("line {}: {}", rejected.line, rejected.reason),
    }
}

/// Why a whole call was refused.
fn reason(failure: &Failure) -> (Code, String) {
    match failure {
        Failure::Rejected(Rejection::Refused(refusal)) => (refusal.code, refusal.message.clone()),
        Failure::Rejected(Rejection::Same(id)) => {
            (Code::Conflict, format!("The same call is `{id}` already."))
        }
        Failure::Rejected(Rejection::Stale) => {
            (Code::Conflict, "The attempt had ended already.".to_owned())
        }
        Failure::Journal(error) => (Code::UnknownError, error.to_string()),
    }
}
