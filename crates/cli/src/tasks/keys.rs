//! Keys of a written task that mean nothing, and which may have been meant.

use std::collections::BTreeMap;

use legation_core::task::{NamedSubtask, Task, TaskConfig};
use legation_core::text::nearest::nearest;
use legation_core::text::shown;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

/// Unknown keys that are told one by one.
const MAX_WARNINGS: usize = 10;
/// Characters of an unknown key that are enough to find it.
const SHOWN_KEY_CHARS: usize = 64;

/// The keys of a JSON object, whatever their values.
type Keys = BTreeMap<String, IgnoredAny>;

/// The objects within a task whose keys are known too.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Within {
    subtasks: Vec<Keys>,
    delegation_config: Option<Keys>,
}

/// A warning for each key that means nothing, with the name that may have been meant.
pub(crate) fn unknown_keys(json: &str, name: &str) -> serde_json::Result<Vec<String>> {
    let keys: Keys = serde_json::from_str(json)?;
    let within: Within = serde_json::from_str(json)?;
    let subtask = NamedSubtask {
        id: None,
        title: String::new(),
        description: String::new(),
        dependencies: Vec::new(),
        effort: None,
    };
    let subtask =
        [keys_of(&subtask), vec!["dependsOn".to_owned(), "depends_on".to_owned()]].concat();
    let task = keys_of(&Task::default());
    let config = keys_of(&TaskConfig::default());
    let of_config = within.delegation_config.unwrap_or_default();
    let of_subtasks =
        within.subtasks.iter().flat_map(|keys| unknown(keys, &subtask, "subtasks[]."));
    let mut all: Vec<Unknown<'_>> = unknown(&keys, &task, "").collect();
    all.extend(unknown(&of_config, &config, "delegationConfig."));
    all.extend(of_subtasks);
    all.dedup_by(|one, other| (one.within, one.key) == (other.within, other.key));
    let more = all.len().saturating_sub(MAX_WARNINGS);
    let mut told: Vec<String> = all.iter().take(MAX_WARNINGS).map(Unknown::warning).collect();
    if more > 0 {
        told.push(format!("and {more} more unknown keys"));
    }
    let warnings = told.iter().map(|warning| format!("warning: {name}: {warning}"));
    Ok(warnings.collect())
}

fn keys_of(value: &impl Serialize) -> Vec<String> {
    let value = serde_json::to_value(value).unwrap_or_default();
    let keys = value.as_object().into_iter().flat_map(|object| object.keys());
    keys.cloned().collect()
}

/// A key that means nothing.
struct Unknown<'a> {
    within: &'static str,
    key: &'a str,
    known: &'a [String],
}

fn unknown<'a>(
    keys: &'a Keys,
    known: &'a [String],
    within: &'static str,
) -> impl Iterator<Item = Unknown<'a>> {
    let strange = keys.keys().filter(|key| !known.contains(key));
    strange.map(move |key| Unknown { within, key, known })
}

impl Unknown<'_> {
    fn warning(&self) -> String {
        let key = shown::visible(&shown::clip(self.key, SHOWN_KEY_CHARS)).into_owned();
        let meant = nearest(self.key, self.known.iter().map(String::as_str));
        let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
        format!("unknown key `{}{key}` is ignored{meant}", self.within)
    }
}
