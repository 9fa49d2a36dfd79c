//! The call that `[delegate:…]` entries in an agent's output make.

use super::Call;
use crate::agent::Operation;
use crate::text::delegate::Entry;
use crate::tree::plan::{Plan, PlanSubtask};

/// Hours up to which a part is a small thing.
const SIMPLE_HOURS: u32 = 1;

/// The call that these entries make: one part each, side by side. The hours choose the
/// time class, where the agent that does it says nothing else.
pub fn of_entries(title: &str, entries: &[Entry]) -> Call {
    let subtask = |entry: &Entry| PlanSubtask {
        id: entry.child_story_id.as_str().to_owned(),
        task: Some(entry.description.clone()),
        required: true,
        ..PlanSubtask::default()
    };
    Call {
        task: title.to_owned(),
        plan: Some(Plan { subtasks: entries.iter().map(subtask).collect(), ..Plan::default() }),
        ..Call::default()
    }
}

/// The class of a part that takes a person so long.
pub fn class_of_hours(hours: u32) -> Operation {
    if hours <= SIMPLE_HOURS { Operation::Simple } else { Operation::Implement }
}
