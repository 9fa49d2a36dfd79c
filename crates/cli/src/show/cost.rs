//! What a delegation cost, as a tree of sums.

use std::fmt::Write as _;

use serde_json::Value;

use super::figures::{counted, dollars, list, short, text, tokens};
use crate::page::{clipped, width};

/// Columns of the sums.
const SUM: usize = 12;

/// The cost of a delegation and of everything below it.
pub(crate) fn page(view: &Value) -> String {
    let mut page = String::new();
    add(&mut page, view.get("tree").unwrap_or(&Value::Null), 0);
    let unknown = view.get("unknown").and_then(Value::as_u64).unwrap_or(0);
    if unknown > 0 {
        // Writing to a `String` cannot fail.
        let _ = writeln!(page, "Unknown for {unknown} of the attempts: the sums are lower bounds.");
    }
    page
}

fn add(page: &mut String, cost: &Value, depth: usize) {
    let (subtask, agent) = (text(cost, "subtask"), text(cost, "agent"));
    let name = match subtask {
        "" => text(cost, "id").to_owned(),
        subtask => format!("{} ({agent})", short(subtask)),
    };
    let paid = |key: &str| cost.get(key).and_then(Value::as_f64);
    let total = paid("totalUsd");
    let sum = total.map_or_else(|| "unknown".to_owned(), dollars);
    let children = list(cost, "children");
    let own = match (paid("ownUsd"), children.is_empty()) {
        (Some(own), false) => format!(" · own {}", dollars(own)),
        (Some(_), true) | (None, _) => String::new(),
    };
    let used = match (counted(cost.get("tokens").unwrap_or(&Value::Null)), total) {
        // That nobody told is said where the sum stands.
        (0, None) => String::new(),
        (count, _) => format!(" · {}", tokens(count)),
    };
    let line = format!("{sum:>SUM$}  {:depth$}{name}{used}{own}", "", depth = depth * 2);
    let _ = writeln!(page, "{}", clipped(&line, width()));
    for child in children {
        add(page, child, depth + 1);
    }
}
