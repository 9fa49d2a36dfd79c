//! Why an agent may be delegated to or not, and what it would be allowed.

use super::delegate::{Refusal, may_delegate};
use super::layer::Level;
use super::permission::Permissions;
use super::roster::Roster;
use crate::ids::AgentId;

/// What can be said about handing something to an agent.
#[derive(Debug)]
pub struct Account {
    /// How freely that may be done, or why it may not.
    pub answer: Result<Level, Refusal>,
    /// The same in a sentence.
    pub reason: String,
    /// What the agent would be allowed.
    pub permissions: Permissions,
}

impl Roster {
    /// Gives account of delegating to `child` from the end of a path of agents, the root's
    /// own name left out. Each agent of the path must be allowed to delegate to the next; the
    /// first that is not is the answer, for what lies below it cannot be. Nothing can be said
    /// of agents that there are not.
    pub fn account(&self, callers: &[AgentId], child: &AgentId) -> Result<Account, Refusal> {
        let path: Vec<AgentId> = callers.iter().cloned().chain([child.clone()]).collect();
        let permissions = self.permissions(&path, None)?;
        let mut answer = Ok(Level::Allow);
        let mut above: &[AgentId] = &[];
        for (place, agent) in path.iter().enumerate() {
            answer = may_delegate(self, above, agent);
            if answer.is_err() {
                break;
            }
            above = path.get(..=place).unwrap_or(&path);
        }
        let reason = match (&answer, callers.last()) {
            (Err(refusal), _) => refusal.message.clone(),
            (Ok(_), None) => "A root may delegate to every enabled agent.".to_owned(),
            (Ok(level), Some(caller)) => {
                let asked = if *level == Level::Ask { " A human is asked each time." } else { "" };
                format!("The `subagents` of `{caller}` allow it.{asked}")
            }
        };
        Ok(Account { answer, reason, permissions })
    }
}
