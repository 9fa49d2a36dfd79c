//! Layers of settings in, one configuration or a list of problems out.

mod environment;
mod keys;
mod layers;
mod paths;
mod properties;
mod published;
mod tightening;

use legation_core::config::{Effective, KeyPath, Layer, Mark, Origin, Problem, merge};
use serde_json::Value;

/// A project's file with one setting per line, as its reader would hand it over.
fn project(value: Value) -> Layer {
    let mut marks = std::collections::BTreeMap::new();
    let mut line = 0;
    for (section, keys) in value.as_object().into_iter().flatten() {
        line += 1;
        marks.insert(KeyPath::of([section]), Mark::Line(line));
        for key in keys.as_object().into_iter().flat_map(|keys| keys.keys()) {
            line += 1;
            marks.insert(KeyPath::of([section, key]), Mark::Line(line));
        }
    }
    Layer::new(Origin::Project, value).in_file(".legation/config.toml", marks)
}

fn path(key: &str) -> KeyPath {
    KeyPath::parse(key).unwrap()
}

/// All that merging says, line by line.
fn told(layers: &[Layer]) -> String {
    match merge(layers) {
        Ok(effective) => {
            lines(effective.warnings.iter().map(|warning| format!("warning: {warning}")))
        }
        Err(problems) => lines(problems.iter().map(Problem::to_string)),
    }
}

fn lines(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().map(|line| line + "\n").collect()
}

/// The value of a key and where it came from.
fn shown(effective: &Effective, key: &str) -> String {
    let setting = effective.setting(&path(key)).unwrap();
    format!("{key} = {} from {}", setting.value, setting.place)
}
