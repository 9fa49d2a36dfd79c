//! How complex a task is, estimated from its own words and figures.

use super::words::{Found, Group};
use crate::config::Thresholds;
use crate::task::Task;

/// The effort that counts where none is known.
pub(super) const UNKNOWN_EFFORT_HOURS: f64 = 2.0;

/// What an estimate is made from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// Characters of title and description together.
    pub(super) characters: usize,
    /// Built-in words of title and description.
    pub(super) found: Found,
    /// Tasks that come before.
    pub(super) dependencies: usize,
    /// Acceptance criteria.
    pub(super) criteria: usize,
    /// Hours of effort, if they are known.
    pub(super) effort_hours: Option<f64>,
    /// The hours that count as large.
    pub(super) large_hours: f64,
}

impl Facts {
    /// What a whole task says, with its effort in hours if that is known.
    pub(super) fn of_task(task: &Task, effort_hours: Option<f64>, thresholds: &Thresholds) -> Self {
        Self {
            characters: task.title.chars().count() + task.description.chars().count(),
            found: Found::in_texts(&[&task.title, &task.description]),
            dependencies: task.dependencies.len(),
            criteria: task.acceptance_criteria.len(),
            effort_hours,
            large_hours: thresholds.effort_hours,
        }
    }
}

/// An estimate, and what each part of it adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Estimate {
    pub(super) length: u32,
    pub(super) technical: u32,
    pub(super) scope: u32,
    pub(super) dependencies: u32,
    pub(super) criteria: u32,
    pub(super) effort: u32,
}

impl Estimate {
    /// Estimates from the facts.
    pub(super) fn of(facts: &Facts) -> Self {
        Self {
            length: match facts.characters {
                501.. => 20,
                201.. => 10,
                51.. => 5,
                0..=50 => 0,
            },
            technical: (5 * facts.found.count(Group::Technical)).min(25),
            scope: (5 * facts.found.count(Group::Scope)).min(15),
            dependencies: at_most_15(3, facts.dependencies),
            criteria: at_most_15(2, facts.criteria),
            effort: effort_points(facts),
        }
    }

    /// The complexity, from 0 to 100.
    pub(super) fn total(&self) -> u32 {
        let sum = self.length
            + self.technical
            + self.scope
            + self.dependencies
            + self.criteria
            + self.effort;
        sum.min(100)
    }
}

fn at_most_15(each: u32, count: usize) -> u32 {
    // Fifteen or more of anything reach the cap, whatever each is worth.
    let count = u32::try_from(count.min(15)).unwrap_or(15);
    (each * count).min(15)
}

fn effort_points(facts: &Facts) -> u32 {
    let hours = facts.effort_hours.unwrap_or(UNKNOWN_EFFORT_HOURS);
    [(2.0, 15), (1.0, 10), (0.5, 5)]
        .into_iter()
        .find(|(share, _)| hours >= share * facts.large_hours)
        .map_or(0, |(_, points)| points)
}
