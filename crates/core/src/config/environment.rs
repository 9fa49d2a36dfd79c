//! Settings in environment variables: `LEGATION_LIMITS__MAX_DEPTH` for `limits.maxDepth`.
//!
//! The environment itself is not read here; it comes in as pairs.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use serde_json::Value;

use super::keys::{KEYS, Key};
use super::kind::Kind;
use super::layer::{Layer, Origin, Place};
use super::path::KeyPath;
use super::problem::{Fault, Problem, Remark, Warning};
use super::value::shortened;
use crate::text::nearest::nearest;

/// What all names begin with.
const PREFIX: &str = "LEGATION_";

/// Shorter names for some keys. The long name wins where both are set.
pub const SHORT_NAMES: &[(&str, &str)] = &[
    ("ENABLE_DELEGATION", "enabled"),
    ("MAX_DELEGATION_DEPTH", "limits.maxDepth"),
    ("MAX_CONTEXT_PER_AGENT", "limits.maxContextPerAgent"),
    ("MAX_DELEGATIONS_PER_STORY", "limits.maxDelegationsPerTask"),
];

/// Names that begin like settings but carry something else.
pub const RESERVED_NAMES: &[&str] = &[
    "LEGATION_SESSION_ID",
    "LEGATION_TOKEN",
    "LEGATION_SOCKET",
    "LEGATION_ATTEMPT_DIR",
    "LEGATION_WORKSPACE",
    "LEGATION_PORT_BASE",
];

impl Key {
    /// The variable that sets the key; none for one with a name of the user's own.
    pub fn variable(&self) -> Option<String> {
        (!self.is_family()).then(|| variable(&self.key_path()))
    }
}

/// The variable for a path: each part in capitals, words joined by `_`, parts by `__`.
fn variable(path: &KeyPath) -> String {
    let mut name = String::from(PREFIX);
    for (index, part) in path.parts().enumerate() {
        if index > 0 {
            name.push_str("__");
        }
        for c in part.chars() {
            if c.is_ascii_uppercase() {
                name.push('_');
            }
            name.push(c.to_ascii_uppercase());
        }
    }
    name
}

/// What a variable sets.
struct Target {
    path: KeyPath,
    /// None for a whole section, given as JSON.
    key: Option<&'static Key>,
}

/// Every long name and what it sets.
fn long_names() -> BTreeMap<String, Target> {
    let target = |key: &'static Key| {
        let path = key.key_path();
        if key.is_family() {
            // A user's own name cannot be written in capitals, so that the section comes whole.
            let path = KeyPath::of(path.parts().take_while(|part| *part != "*"));
            (variable(&path), Target { path, key: None })
        } else {
            let key = Some(key);
            (variable(&path), Target { path, key })
        }
    };
    KEYS.iter().map(target).collect()
}

/// The layer that the environment makes. Only names of ours are looked at.
pub fn environment<N, V>(variables: impl IntoIterator<Item = (N, V)>) -> Layer
where
    N: AsRef<OsStr>,
    V: AsRef<OsStr>,
{
    let mut layer = Layer::empty(Origin::Environment);
    let names = long_names();
    // Sorted, so that the answer does not depend on the order of the environment; short names
    // begin with E or M and would come out on either side, so that they are taken first.
    let mut short: BTreeMap<String, V> = BTreeMap::new();
    let mut long: BTreeMap<String, V> = BTreeMap::new();
    for (name, value) in variables {
        let Some(name) = name.as_ref().to_str() else {
            continue;
        };
        if name.starts_with(PREFIX) && !RESERVED_NAMES.contains(&name) {
            long.insert(name.to_owned(), value);
        } else if SHORT_NAMES.iter().any(|(short, _)| *short == name) {
            short.insert(name.to_owned(), value);
        }
    }
    for (name, value) in short.into_iter().chain(long) {
        let short = SHORT_NAMES.iter().find(|(short, _)| *short == name);
        let long = short.map(|(_, key)| variable(&KeyPath::of(key.split('.'))));
        match names.get(long.as_ref().unwrap_or(&name)) {
            Some(target) => set(&mut layer, target, &name, value.as_ref()),
            None => layer.warnings.push(unknown(&name, &names)),
        }
    }
    layer
}

fn set(layer: &mut Layer, target: &Target, name: &str, value: &OsStr) {
    let Some(text) = value.to_str() else {
        layer.problems.push(Problem {
            place: place(name),
            key: target.path.clone(),
            fault: Fault::Unreadable { reason: "is not valid UTF-8".to_owned() },
        });
        return;
    };
    let value = match target.key {
        // An empty text means none at all; an empty list is a list.
        Some(key) if key.is_optional && key.kind == Kind::Text && text.is_empty() => Value::Null,
        Some(key) => key.kind.read(text),
        None => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)),
    };
    layer.set(&target.path, value, name);
}

fn unknown(name: &str, names: &BTreeMap<String, Target>) -> Warning {
    // What all names have in common would make any two of them look alike.
    let own = |name: &'_ str| name.strip_prefix(PREFIX).map(str::to_owned);
    let known = names.keys().map(String::as_str);
    let known: Vec<_> = known.chain(RESERVED_NAMES.iter().copied()).filter_map(own).collect();
    let name_part = own(name).unwrap_or_default();
    let nearest = nearest(&name_part, known.iter().map(String::as_str));
    Warning {
        place: place(&shortened(name)),
        remark: Remark::UnknownVariable { nearest: nearest.map(|near| format!("{PREFIX}{near}")) },
    }
}

fn place(name: &str) -> Place {
    Place { name: Some(name.to_owned()), ..Place::of(Origin::Environment) }
}
