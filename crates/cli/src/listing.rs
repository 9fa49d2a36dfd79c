//! Delegations in a list, for people and programs.

use std::fmt::Write as _;

use serde_json::Value;

use crate::page::{block, clipped, width};
use crate::show::figures::{list, moment, text, time, used};

/// The entries, a line or two each.
pub(crate) fn page(entries: &[Value]) -> String {
    let mut page = String::new();
    for entry in entries {
        let mut facts =
            vec![text(entry, "delegationId").to_owned(), text(entry, "pattern").to_owned()];
        let progress = entry.get("progress").unwrap_or(&Value::Null);
        let number = |value: &Value, key: &str| value.get(key).and_then(Value::as_u64);
        if let (Some(done), Some(total)) =
            (number(progress, "completed"), number(progress, "total"))
        {
            facts.push(format!("{done} of {total}"));
        }
        // Before the figures: whoever reads it may want to type it.
        let below = text(entry, "parentId");
        if !below.is_empty() {
            facts.push(format!("below {below}"));
        }
        facts.extend(moment(text(entry, "startedAt")));
        facts.extend(number(entry, "elapsedTime").map(time));
        let cost = entry.get("estimatedCost").and_then(Value::as_f64);
        facts.extend(used(number(entry, "tokensUsed").unwrap_or(0), cost));
        let title = format!("{:<10} {}", text(entry, "status"), text(entry, "title"));
        // Writing to a `String` cannot fail.
        let _ = writeln!(page, "{}", clipped(&title, width()));
        let _ = writeln!(page, "{}", clipped(&format!("  {}", facts.join(" · ")), width()));
        // Whole, since there may be something to type in it.
        for waiting in list(entry, "waitingFor").iter().filter_map(Value::as_str) {
            page.push_str(&block(&format!("waits: {waiting}"), 2));
        }
    }
    page
}
