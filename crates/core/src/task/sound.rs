//! Whether a task that somebody wrote down makes sense in itself.
//!
//! Who states a task gets told at once what cannot be meant. A decision about a task that
//! was accepted long ago does without what is wrong in it instead.

use std::ops::RangeInclusive;

use rustc_hash::FxHashMap;

use super::{NamedSubtask, Task};
use crate::text::nearest::nearest;
use crate::text::shown::quote;
use crate::tree::plan::check_graph;

/// The depths that a task may ask for, as `limits.maxDepth` has them.
const DEPTHS: RangeInclusive<u32> = 1..=5;
/// The qualities that can be measured.
const QUALITIES: RangeInclusive<u32> = 0..=100;

/// The figures that have a range.
const MAX_DEPTH: &str = "delegationConfig.maxDepth";
const QUALITY_THRESHOLD: &str = "delegationConfig.qualityThreshold";

/// What is wrong with a task, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {problem}")]
pub struct Unsound {
    /// The field, such as `delegationConfig.maxDepth`.
    pub field: String,
    /// What is wrong with it.
    pub problem: String,
    /// What to do about it.
    pub hint: String,
}

impl Task {
    /// Checks figures against their ranges, and subtasks for names that are there once and
    /// dependencies that lead somewhere and not back. The first problem is the answer.
    pub fn check(&self) -> Result<(), Unsound> {
        if let Some(config) = &self.delegation_config {
            within(MAX_DEPTH, config.max_depth, &DEPTHS)?;
            within(QUALITY_THRESHOLD, config.quality_threshold, &QUALITIES)?;
        }
        let ids: Vec<String> =
            self.subtasks.iter().enumerate().map(|each| self.id_of(each)).collect();
        let mut places: FxHashMap<&str, usize> = FxHashMap::default();
        for (index, id) in ids.iter().enumerate() {
            if let Some(first) = places.insert(id, index) {
                return Err(Unsound {
                    field: format!("subtasks[{index}].id"),
                    problem: format!("is {}, like that of subtasks[{first}]", quote(id)),
                    hint: "give each subtask an id of its own".to_owned(),
                });
            }
        }
        for (index, subtask) in self.subtasks.iter().enumerate() {
            let mut names = subtask.dependencies.iter().map(|name| name.trim());
            if let Some(name) = names.find(|name| !places.contains_key(name)) {
                return Err(unknown(index, name, &ids));
            }
        }
        self.check_circles(&ids)
    }

    /// What a subtask is called: its own id, or the one it will be given.
    fn id_of(&self, (index, subtask): (usize, &NamedSubtask)) -> String {
        let own = subtask.id.as_deref().map(str::trim).filter(|id| !id.is_empty());
        let task = self.id.as_ref().map_or("task", |id| id.as_str());
        own.map_or_else(|| format!("{task}-sub-{}", index + 1), str::to_owned)
    }

    fn check_circles(&self, ids: &[String]) -> Result<(), Unsound> {
        if ids.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = ids.iter().map(String::as_str).collect();
        let needs = self.subtasks.iter().map(|subtask| {
            let names = subtask.dependencies.iter().map(|name| name.trim());
            names.collect()
        });
        let needs: Vec<Vec<&str>> = needs.collect();
        check_graph(&names, &needs).map(drop).map_err(|refusal| Unsound {
            field: "subtasks[].dependencies".to_owned(),
            problem: format!("cannot be put in order. {}", refusal.message),
            hint: refusal.hint,
        })
    }
}

/// What a figure of a task's own settings may be, where it has a range.
pub(super) fn takes(field: &str) -> Option<String> {
    let range = match field {
        MAX_DEPTH => DEPTHS,
        QUALITY_THRESHOLD => QUALITIES,
        _ => return None,
    };
    Some(format!("it takes a whole number from {} to {}", range.start(), range.end()))
}

fn within(field: &str, value: Option<u32>, range: &RangeInclusive<u32>) -> Result<(), Unsound> {
    match value {
        Some(value) if !range.contains(&value) => Err(Unsound {
            field: field.to_owned(),
            problem: format!("is {value}"),
            hint: takes(field).unwrap_or_default(),
        }),
        Some(_) | None => Ok(()),
    }
}

fn unknown(index: usize, name: &str, ids: &[String]) -> Unsound {
    let near = nearest(name, ids.iter().map(String::as_str));
    Unsound {
        field: format!("subtasks[{index}].dependencies"),
        problem: format!("names {}, which is not among the subtasks", quote(name)),
        hint: match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "name the id of another subtask, or leave it out".to_owned(),
        },
    }
}
