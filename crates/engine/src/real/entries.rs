//! `[delegate:…]` lines in what an agent wrote, honoured once it has ended.

use std::collections::BTreeMap;

use legation_core::call::{self, Asker, House, class_of_hours, of_entries};
use legation_core::ids::DelegationId;
use legation_core::text::delegate;
use legation_core::text::story::StoryId;
use legation_core::tree::command::Delegate;
use legation_core::tree::event::Caller;

use super::Inner;
use super::attempt::Heard;
use crate::mail::Mailbox;
use crate::world::Job;

/// Under which names the receipt counts them.
const HONOURED: &str = "delegate";
const REFUSED: &str = "delegate_refused";

impl Inner {
    /// Delegates what the entries ask for, if this agent may, and waits for the answer.
    /// The attempt goes on until then. Says how many there were.
    pub(super) async fn honour_entries(
        &self,
        job: &Job,
        heard: &Heard,
        mail: &Mailbox,
    ) -> BTreeMap<String, u64> {
        let agent = self.agent(&job.agent, job.parent.as_ref());
        if agent.is_none_or(|(definition, _)| definition.subagents.is_none()) {
            return BTreeMap::new();
        }
        let text = heard.parser.text();
        let story = StoryId::new(job.subtask.as_str()).unwrap_or_default();
        let parsed = delegate::parse(&text, &story, job.brief.delegation_depth);
        if parsed.delegations.is_empty() {
            return BTreeMap::new();
        }
        let count = parsed.delegations.len() as u64;
        let answer = match self.call_of(job, &parsed.delegations) {
            Some(delegate) => mail.delegate(delegate).await,
            None => None,
        };
        let name = if answer.is_some() { HONOURED } else { REFUSED };
        BTreeMap::from([(name.to_owned(), count)])
    }

    /// The command that the entries become.
    fn call_of(&self, job: &Job, entries: &[delegate::Entry]) -> Option<Delegate> {
        let home = self.home();
        let house = House { config: &home.config, roster: &home.roster };
        let asker = Asker {
            caller: Caller::Attempt(job.attempt.clone()),
            path: job.brief.delegation_path.iter().skip(1).cloned().collect(),
        };
        let title = format!("Parts of {}", job.subtask);
        let id = DelegationId::from(format!("del-{:012x}", fastrand::u64(..) >> 16));
        let call = of_entries(&title, entries);
        let mut planned = call::plan(&call, house, &asker, id).ok()?.delegate;
        for (target, entry) in planned.subtasks.iter_mut().zip(entries) {
            let habits = &mut target.habits;
            if habits.operation.is_none() && habits.timeout_ms.is_none() {
                habits.operation = Some(class_of_hours(entry.estimated_hours));
            }
        }
        Some(planned)
    }
}
