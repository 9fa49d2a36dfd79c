//! Holds one layer against the table: what is known and in range comes out
//! key by key, everything else as a problem or a warning.
//!
//! Unknown parts are never descended into, so that neither depth nor size of
//! what does not belong here costs anything.

use serde_json::{Map, Value};

use super::keys::{self, KEYS, Key, Node};
use super::kind::Kind;
use super::layer::{Layer, Place};
use super::path::KeyPath;
use super::problem::{Fault, Problem, Remark, Warning};
use super::value::{described, shortened};
use crate::text::nearest::nearest;

/// So many problems, and so many warnings, of one layer are listed; the rest is counted.
pub(super) const MAX_LISTED: usize = 50;

/// The fields of a grant; all are needed.
const GRANT_FIELDS: [(&str, Kind); 4] =
    [("name", Kind::Text), ("parent", Kind::Text), ("child", Kind::Text), ("tools", Kind::List)];

/// What a layer sets, and what is wrong or odd about it.
#[derive(Debug, Default)]
pub(super) struct Checked {
    /// Each key that is set, with its value in normal form.
    pub(super) leaves: Vec<(KeyPath, Value)>,
    /// What is wrong.
    pub(super) problems: Vec<Problem>,
    /// What is odd.
    pub(super) warnings: Vec<Warning>,
}

/// Checks one layer.
pub(super) fn check(layer: &Layer) -> Checked {
    let mut walk = Walk {
        layer,
        found: Checked {
            problems: layer.problems.clone(),
            warnings: layer.warnings.clone(),
            ..Checked::default()
        },
        problems_left_out: 0,
        warnings_left_out: 0,
    };
    walk.section(&KeyPath::default(), &layer.value);
    walk.finish()
}

struct Walk<'a> {
    layer: &'a Layer,
    found: Checked,
    problems_left_out: usize,
    warnings_left_out: usize,
}

impl Walk<'_> {
    fn section(&mut self, path: &KeyPath, value: &Value) {
        let Some(fields) = self.object(path, value, "a section with keys") else {
            return;
        };
        for (name, value) in fields {
            let path = path.child(name);
            match keys::at(&path) {
                Node::Key(key) => self.key(key, path, value),
                Node::Section => match keys::short_form(&path).filter(|_| value.is_string()) {
                    Some(key) => self.key(key, key.key_path(), value),
                    None => self.section(&path, value),
                },
                Node::Unknown => self.unknown(&path, proposal),
            }
        }
    }

    fn key(&mut self, key: &Key, path: KeyPath, value: &Value) {
        if key.is_optional && value.is_null() {
            self.found.leaves.push((path, Value::Null));
            return;
        }
        if let Some(value) = self.value(key.kind, &path, value) {
            self.found.leaves.push((path, value));
        }
    }

    /// Holds a value and all that is in it against a kind; nothing if there is any fault.
    fn value(&mut self, kind: Kind, path: &KeyPath, value: &Value) -> Option<Value> {
        let mut is_sound = true;
        let value = match kind.check(value) {
            Ok(value) => value,
            Err(fault) => {
                self.fault(path, fault);
                return None;
            }
        };
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            let path = path.child(&index.to_string());
            is_sound &= match kind {
                Kind::Grants => self.grant(&path, item),
                Kind::List
                | Kind::Text
                | Kind::Flag
                | Kind::Word(_)
                | Kind::Whole { .. }
                | Kind::Number { .. } => self.value(Kind::Text, &path, item).is_some(),
            };
        }
        is_sound.then_some(value)
    }

    fn grant(&mut self, path: &KeyPath, value: &Value) -> bool {
        let Some(fields) = self.object(path, value, "a grant: name, parent, child and tools")
        else {
            return false;
        };
        let mut is_sound = true;
        for (name, kind) in GRANT_FIELDS {
            is_sound &= if let Some(value) = fields.get(name) {
                self.value(kind, &path.child(name), value).is_some()
            } else {
                let field = name.to_owned();
                self.fault(path, Fault::Missing { field });
                false
            };
        }
        for name in fields.keys() {
            if GRANT_FIELDS.iter().all(|(known, _)| known != name) {
                self.unknown(&path.child(name), |section, name| {
                    let near = nearest(name, GRANT_FIELDS.map(|(field, _)| field));
                    near.map(|field| section.child(field).to_string())
                });
            }
        }
        is_sound
    }

    fn object<'v>(
        &mut self,
        path: &KeyPath,
        value: &'v Value,
        takes: &str,
    ) -> Option<&'v Map<String, Value>> {
        let fields = value.as_object();
        if fields.is_none() {
            let (found, takes) = (described(value), takes.to_owned());
            self.fault(path, Fault::WrongType { found, takes });
        }
        fields
    }

    fn fault(&mut self, path: &KeyPath, fault: Fault) {
        if self.found.problems.len() >= MAX_LISTED {
            self.problems_left_out += 1;
            return;
        }
        self.found.problems.push(Problem {
            place: self.layer.place(path),
            key: path.clone(),
            fault,
        });
    }

    fn unknown(&mut self, path: &KeyPath, proposal: impl Fn(&KeyPath, &str) -> Option<String>) {
        if self.found.warnings.len() >= MAX_LISTED {
            self.warnings_left_out += 1;
            return;
        }
        let section = path.parent().unwrap_or_default();
        let name = path.parts().last().unwrap_or_default();
        let place = self.layer.place(path);
        let nearest = proposal(&section, name);
        let key = section.child(&shortened(name));
        self.found.warnings.push(Warning { place, remark: Remark::UnknownKey { key, nearest } });
    }

    fn finish(mut self) -> Checked {
        // In the order of the file, which is how a user goes through it.
        let found = &mut self.found;
        found.problems.sort_by_key(|problem| problem.place.line);
        found.warnings.sort_by_key(|warning| warning.place.line);
        let place = Place { name: None, line: None, ..self.layer.place(&KeyPath::default()) };
        if self.problems_left_out > 0 {
            self.found.problems.push(Problem {
                place: place.clone(),
                key: KeyPath::default(),
                fault: Fault::More { count: self.problems_left_out },
            });
        }
        if self.warnings_left_out > 0 {
            self.found
                .warnings
                .push(Warning { place, remark: Remark::More { count: self.warnings_left_out } });
        }
        self.found
    }
}

/// The key that was probably meant by one that does not exist.
pub fn near_key(path: &KeyPath) -> Option<String> {
    let mut known = KeyPath::default();
    // The first part that is unknown is the one that is misspelt.
    for part in path.parts() {
        let next = known.child(part);
        if keys::at(&next) == Node::Unknown {
            return proposal(&known, part);
        }
        known = next;
    }
    None
}

/// The key that was probably meant: a similar name beside it, else one elsewhere.
fn proposal(section: &KeyPath, name: &str) -> Option<String> {
    if section.is_root() && name == "delegation" {
        return Some("its keys, at the top level of this file".to_owned());
    }
    if let Some(beside) = nearest(name, keys::names_in(section)) {
        return Some(section.child(beside).to_string());
    }
    let last_part = |key: &Key| key.parts().next_back().unwrap_or_default();
    let keys = KEYS.iter().filter(|key| !key.is_family());
    let near = nearest(name, keys.clone().map(last_part))?;
    let mut elsewhere = keys.filter(|key| last_part(key) == near);
    elsewhere.next().map(|key| key.path.to_owned())
}
