//! Layers in, one effective configuration out, with the origin of every key.
//!
//! Merging never picks and chooses: if any layer has a problem, all problems
//! of all layers are the answer and no configuration is.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::check::{MAX_LISTED, check};
use super::keys::{KEYS, Key};
use super::layer::{Layer, Origin, Place};
use super::model::Config;
use super::path::{KeyPath, get, put};
use super::problem::{Fault, Problem, Remark, Warning};
use super::tighten::Tightening;

/// One key's value and where it was set.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The value.
    pub value: Value,
    /// Where it was set.
    pub place: Place,
}

/// The configuration that holds, and where each part of it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Effective {
    /// The configuration, typed.
    pub config: Config,
    /// Every key that has a value.
    pub settings: BTreeMap<KeyPath, Setting>,
    /// What the user should know about it.
    pub warnings: Vec<Warning>,
}

impl Default for Effective {
    fn default() -> Self {
        let config = Config::default();
        let defaults = serde_json::to_value(&config).unwrap_or_default();
        let mut settings = BTreeMap::new();
        for path in KEYS.iter().filter(|key| !key.is_family()).map(Key::key_path) {
            let value = get(&defaults, &path).cloned().unwrap_or_default();
            let place = Place::of(Origin::Default);
            settings.insert(path, Setting { value, place });
        }
        Self { config, settings, warnings: Vec::new() }
    }
}

/// Merges layers over the defaults. Their precedence is that of their origins;
/// of two layers of one origin the later in the list wins.
pub fn merge(layers: &[Layer]) -> Result<Effective, Vec<Problem>> {
    Effective::default().with(layers)
}

impl Effective {
    /// This configuration with more layers over it.
    pub fn with(&self, layers: &[Layer]) -> Result<Self, Vec<Problem>> {
        let mut layers: Vec<_> = layers.iter().collect();
        layers.sort_by_key(|layer| layer.origin);
        let mut effective = self.clone();
        let mut problems = Vec::new();
        for layer in layers {
            let mut checked = check(layer);
            problems.append(&mut checked.problems);
            effective.warnings.append(&mut checked.warnings);
            if layer.origin.only_tightens() {
                // What it asks for is held against the limits that hold so far.
                problems.extend(effective.settle());
            }
            effective.lay(layer, checked.leaves);
        }
        problems.extend(effective.settle());
        problems.append(&mut effective.half_prices(&problems));
        if problems.is_empty() { Ok(effective) } else { Err(problems) }
    }

    /// The setting of a key.
    pub fn setting(&self, path: &KeyPath) -> Option<&Setting> {
        self.settings.get(path)
    }

    /// Whether anybody has set a key, if only to its default.
    pub fn is_set(&self, path: &KeyPath) -> bool {
        self.setting(path).is_some_and(|setting| setting.place.origin != Origin::Default)
    }

    /// All settings at or below a path, in the order of the reference.
    pub fn within(&self, path: &KeyPath) -> Vec<(&KeyPath, &Setting)> {
        let found = self.settings.iter().filter(|(key, _)| key.is_within(path));
        let mut found: Vec<_> = found.collect();
        found.sort_by_key(|(key, _)| rank(key));
        found
    }

    /// Puts checked settings in place.
    fn lay(&mut self, layer: &Layer, leaves: Vec<(KeyPath, Value)>) {
        let looser = self.looser(layer, &leaves);
        for (path, value) in leaves {
            if !looser.contains(&path) {
                let place = layer.place(&path);
                self.settings.insert(path, Setting { value, place });
            }
        }
    }

    /// The limits of a task or a call that would loosen what holds; each leaves a warning.
    fn looser(&mut self, layer: &Layer, leaves: &[(KeyPath, Value)]) -> Vec<KeyPath> {
        if !layer.origin.only_tightens() {
            return Vec::new();
        }
        let (_, notes) = self.config.limits.tightened_by(&Tightening::of(leaves));
        let looser = notes.iter().map(|note| note.key.clone()).collect();
        self.warnings.extend(
            notes.into_iter().map(|note| Warning {
                place: layer.place(&note.key),
                remark: Remark::Looser(note),
            }),
        );
        looser
    }

    /// Makes the typed configuration agree with the settings.
    fn settle(&mut self) -> Option<Problem> {
        let mut whole = Value::Object(Map::new());
        for (path, setting) in &self.settings {
            put(&mut whole, path, setting.value.clone());
        }
        // Half a price is found by name once all layers are there.
        let prices = whole.get_mut("prices").and_then(Value::as_object_mut);
        if let Some(prices) = prices {
            prices.retain(|_, price| price.get("input").and(price.get("output")).is_some());
        }
        match serde_json::from_value(whole) {
            Ok(config) => {
                self.config = config;
                None
            }
            // The table would have to disagree with the model; a test sees to it that it does not.
            Err(reason) => Some(Problem {
                place: Place::of(Origin::Default),
                key: KeyPath::default(),
                fault: Fault::Unreadable { reason: reason.to_string() },
            }),
        }
    }

    /// Models whose price lacks input or output: the missing half would be free of charge.
    ///
    /// A price with something else wrong in it is not also called incomplete.
    fn half_prices(&self, known: &[Problem]) -> Vec<Problem> {
        let prices = KeyPath::of(["prices"]);
        let mut models: Vec<(KeyPath, &Place)> = Vec::new();
        for (path, setting) in self.settings.range(prices.clone()..) {
            let model = path.parent().unwrap_or_default();
            let is_new = models.last().is_none_or(|(last, _)| *last != model);
            if is_new && path.is_within(&prices) {
                models.push((model, &setting.place));
            }
        }
        let mut problems = Vec::new();
        for (model, place) in models {
            let lacks = |field: &&str| !self.settings.contains_key(&model.child(field));
            for field in ["input", "output"].iter().filter(|field| lacks(field)) {
                if problems.len() == MAX_LISTED {
                    return problems;
                }
                if !known.iter().any(|problem| problem.key.is_within(&model)) {
                    problems.push(Problem {
                        place: place.clone(),
                        key: model.clone(),
                        fault: Fault::Missing { field: (*field).to_owned() },
                    });
                }
            }
        }
        problems
    }
}

/// Where a key stands in the reference.
fn rank(path: &KeyPath) -> usize {
    let is_it = |key: &Key| {
        let parts = key.parts().zip(path.parts());
        parts.into_iter().all(|(own, part)| own == part || own == "*")
    };
    KEYS.iter().position(is_it).unwrap_or(KEYS.len())
}
