//! A plan: who does what, in what order. One form for the command line, the
//! API and the tools of agents.

mod written;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rejection::Refusal;
use crate::code::Code;
use crate::config::Pattern;

/// Rounds of a debate or review that may be asked for; none at all is no debate.
pub const MAX_ROUNDS: u32 = 10;

/// How many characters an id of a plan may have.
const MAX_ID_CHARS: usize = 100;

/// How many subtasks of a circle are named.
const MAX_NAMED: usize = 12;

/// A plan as it is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, remote = "Self")]
pub struct Plan {
    /// How the subtasks are run.
    #[serde(alias = "mode", default)]
    pub pattern: Pattern,
    /// Rounds of a debate or review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// How an ensemble comes to one answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<Aggregate>,
    /// What is to be done.
    pub subtasks: Vec<PlanSubtask>,
}

/// One subtask of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, remote = "Self")]
pub struct PlanSubtask {
    /// Its id, kept as given.
    pub id: String,
    /// What is to be done, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What is to be done, at length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Who does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Ids of subtasks that come before it.
    #[serde(default, alias = "depends_on")]
    pub depends_on: Vec<String>,
    /// The time allowed, such as `30m`; it may be given as a number of seconds.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "written::span")]
    pub timeout: Option<String>,
    /// Tokens it may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
    /// Whether the delegation needs it to succeed.
    #[serde(default = "yes")]
    pub required: bool,
    /// Files it means to change.
    #[serde(default)]
    pub files: Vec<String>,
}

fn yes() -> bool {
    true
}

/// How an ensemble comes to one answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Aggregate {
    /// What most members say.
    #[default]
    Vote,
    /// The best member's answer.
    Best,
    /// All answers together.
    Merge,
}

/// A plan's dependencies, known to have no circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// For each subtask, the positions of those that come before it.
    pub needs: Vec<Vec<usize>>,
    /// All positions, each after everything it needs.
    pub order: Vec<usize>,
}

impl Graph {
    /// The largest sum of `weights` along dependencies. A weight without a place in the graph
    /// stands alone.
    pub fn longest(&self, weights: &[u64]) -> u64 {
        let mut longest: Vec<u64> = weights.to_vec();
        for &at in &self.order {
            let needs = self.needs.get(at).into_iter().flatten();
            let before = needs.filter_map(|need| longest.get(*need)).max().copied().unwrap_or(0);
            if let Some(sum) = longest.get_mut(at) {
                *sum = sum.saturating_add(before);
            }
        }
        longest.into_iter().max().unwrap_or(0)
    }
}

/// Checks ids and dependencies: each named once, each known, no circle.
pub fn check_graph(ids: &[&str], depends_on: &[Vec<&str>]) -> Result<Graph, Refusal> {
    if ids.is_empty() {
        return Err(bad("The plan has no subtasks.", "Give it at least one."));
    }
    let mut position_of: FxHashMap<&str, usize> = FxHashMap::default();
    for (position, id) in ids.iter().enumerate() {
        if id.trim().is_empty() || id.chars().count() > MAX_ID_CHARS {
            let message = format!("Subtask {} of the plan has no usable id.", position + 1);
            return Err(bad(message, "Ids have 1 to 100 characters."));
        }
        if position_of.insert(id, position).is_some() {
            return Err(bad(format!("The plan has two subtasks `{id}`."), "Give each its own id."));
        }
    }
    let mut edges = Vec::with_capacity(ids.len());
    for (id, names) in ids.iter().zip(depends_on) {
        let mut positions = Vec::with_capacity(names.len());
        for name in names {
            let Some(position) = position_of.get(name) else {
                let message =
                    format!("Subtask `{id}` depends on `{name}`, which is not in the plan.");
                return Err(bad(message, "Name a subtask of the same plan, or leave it out."));
            };
            positions.push(*position);
        }
        positions.sort_unstable();
        positions.dedup();
        edges.push(positions);
    }
    let (order, unmet) = sort(&edges);
    if order.len() == ids.len() {
        return Ok(Graph { needs: edges, order });
    }
    let circle = circle(&edges, &unmet);
    let mut names: Vec<&str> = circle.iter().filter_map(|at| ids.get(*at).copied()).collect();
    if names.len() > MAX_NAMED {
        // The beginning and where it closes are enough to find it.
        let last = names.split_off(names.len() - 1);
        names.truncate(MAX_NAMED - 2);
        names.push("…");
        names.extend(last);
    }
    let message = format!("The plan goes round in a circle: {}.", names.join(" → "));
    Err(bad(message, "Take out one of these dependencies."))
}

fn bad(message: impl Into<String>, hint: &str) -> Refusal {
    Refusal::new(Code::ValidationFailed, message, hint)
}

/// Takes away what needs nothing until nothing is left, or only circles are; says what each still needs.
fn sort(edges: &[Vec<usize>]) -> (Vec<usize>, Vec<usize>) {
    let mut unmet: Vec<usize> = edges.iter().map(Vec::len).collect();
    let mut dependents: Vec<Vec<usize>> = vec![Vec::new(); edges.len()];
    for (at, needs) in edges.iter().enumerate() {
        for need in needs {
            if let Some(list) = dependents.get_mut(*need) {
                list.push(at);
            }
        }
    }
    let free = unmet.iter().enumerate().filter(|(_, count)| **count == 0);
    let mut order: Vec<usize> = free.map(|(at, _)| at).collect();
    let mut next = 0;
    while let Some(&at) = order.get(next) {
        for dependent in dependents.get(at).into_iter().flatten() {
            if let Some(count) = unmet.get_mut(*dependent) {
                *count -= 1;
                if *count == 0 {
                    order.push(*dependent);
                }
            }
        }
        next += 1;
    }
    (order, unmet)
}

/// Whatever still waits has a need that waits too: following it leads into a circle.
fn circle(edges: &[Vec<usize>], unmet: &[usize]) -> Vec<usize> {
    let waits = |at: usize| unmet.get(at).is_some_and(|count| *count > 0);
    let mut visited = vec![false; edges.len()];
    let mut path = Vec::new();
    let mut next = (0..edges.len()).find(|at| waits(*at));
    while let Some(at) = next {
        path.push(at);
        match visited.get_mut(at) {
            Some(seen) if !*seen => *seen = true,
            Some(_) | None => break,
        }
        next = edges.get(at).into_iter().flatten().copied().find(|need| waits(*need));
    }
    let start = path.iter().position(|seen| path.last() == Some(seen)).unwrap_or(0);
    path.split_off(start)
}
