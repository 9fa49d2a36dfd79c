//! What a delegation cost, as a tree of sums.

use std::fmt::Write as _;

use legation_core::tree::view::Cost;

use super::figures::{dollars, short, tokens};
use crate::page::{clipped, width};

/// Columns of the sums.
const SUM: usize = 12;

/// The cost of a delegation and of everything below it.
pub(crate) fn page(cost: &Cost) -> String {
    let mut page = String::new();
    add(&mut page, cost, 0);
    if cost.unknown > 0 {
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            page,
            "Unknown for {} of the attempts: the sums are lower bounds.",
            cost.unknown
        );
    }
    page
}

fn add(page: &mut String, cost: &Cost, depth: usize) {
    let name = match (&cost.subtask, &cost.agent) {
        (Some(subtask), Some(agent)) => format!("{} ({agent})", short(subtask.as_str())),
        (Some(_) | None, _) => cost.id.clone(),
    };
    let sum = cost.total_usd.map_or_else(|| "unknown".to_owned(), |sum| dollars(sum.dollars()));
    let own = match (cost.own_usd, cost.children.is_empty()) {
        (Some(own), false) => format!(" · own {}", dollars(own.dollars())),
        (Some(_), true) | (None, _) => String::new(),
    };
    let used = match (cost.tokens.counted(), cost.total_usd) {
        // That nobody told is said where the sum stands.
        (0, None) => String::new(),
        (count, _) => format!(" · {}", tokens(count)),
    };
    let line = format!("{sum:>SUM$}  {:depth$}{name}{used}{own}", "", depth = depth * 2);
    let _ = writeln!(page, "{}", clipped(&line, width()));
    for child in &cost.children {
        add(page, child, depth + 1);
    }
}
