//! Settings in JSON, under `delegation`, with the line of every key.

use std::collections::BTreeMap;

use legation_core::config::{Fault, KeyPath, Layer, Mark, Origin, Problem};
use serde_json::Value;

/// The key under which our settings stand in a file that other programs share.
const OURS: &str = "delegation";
/// Deeper than this no key of ours stands, and no line needs to be known.
const MAX_MARKED_DEPTH: usize = 6;

/// Reads a JSON file. Without our key there is nothing in it for us.
pub(super) fn layer(text: &str, origin: Origin, file: &str) -> Layer {
    let mut whole: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(problem) => {
            let at = (position(problem.line()), position(problem.column()));
            let reason = problem.to_string();
            let reason = reason.rsplit_once(" at line ").map_or(&*reason, |(reason, _)| reason);
            return Layer::unreadable(origin, file, Some(at), reason);
        }
    };
    if !whole.is_object() {
        let reason = format!("the file must hold an object, with the settings under {OURS:?}");
        return Layer::unreadable(origin, file, None, reason);
    }
    let Some(ours) = whole.get_mut(OURS).map(Value::take) else {
        return Layer::empty(origin).in_file(file, BTreeMap::new());
    };
    let mut marks = BTreeMap::new();
    let mut repeated = Vec::new();
    for (line, mut parts) in names(text) {
        if parts.first().is_some_and(|part| part == OURS) {
            let path = KeyPath::of(parts.drain(1..));
            if marks.insert(path.clone(), Mark::Line(line)).is_some() {
                repeated.push(path);
            }
        }
    }
    let mut layer = Layer::new(origin, ours).in_file(file, marks);
    for key in repeated {
        let place = layer.place(&key);
        let reason = "stands here for the second time".to_owned();
        let fault = Fault::Unreadable { reason };
        layer.problems.push(Problem { place, key, fault });
    }
    layer
}

fn position(number: usize) -> u32 {
    // The reader calls the end of an empty line its column 0.
    u32::try_from(number.max(1)).unwrap_or(u32::MAX)
}

/// An object or a list that is open, and where in it we are.
enum Open {
    Object { name: Option<String> },
    List { index: usize },
}

/// The line and the full path of every name in a text that is known to be JSON.
fn names(text: &str) -> Vec<(u32, Vec<String>)> {
    let mut found = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut line = 1;
    let mut quote = None;
    let mut is_escaped = false;
    for (index, byte) in text.bytes().enumerate() {
        if let Some(start) = quote {
            if byte == b'"' && !is_escaped {
                quote = None;
                if let Some(Open::Object { name: name @ None }) = open.last_mut() {
                    let text = text.get(start..=index).unwrap_or_default();
                    *name = serde_json::from_str(text).ok();
                    if open.len() <= MAX_MARKED_DEPTH {
                        found.push((line, path(&open)));
                    }
                }
            }
            is_escaped = byte == b'\\' && !is_escaped;
            continue;
        }
        match byte {
            b'"' => quote = Some(index),
            b'{' => open.push(Open::Object { name: None }),
            b'[' => open.push(Open::List { index: 0 }),
            b'}' | b']' => drop(open.pop()),
            b',' => match open.last_mut() {
                Some(Open::Object { name }) => *name = None,
                Some(Open::List { index }) => *index += 1,
                None => {}
            },
            b'\n' => line += 1,
            _ => {}
        }
    }
    found
}

fn path(open: &[Open]) -> Vec<String> {
    let part = |open: &Open| match open {
        Open::Object { name } => name.clone().unwrap_or_default(),
        Open::List { index } => index.to_string(),
    };
    open.iter().map(part).collect()
}
