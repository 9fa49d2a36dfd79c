//! Delegations in a list, for people and programs.

use std::fmt::Write as _;

use serde_json::Value;

use crate::page::{WIDTH, clipped};
use crate::show::figures::{cost, list, text, time, tokens};

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
        facts.extend(number(entry, "elapsedTime").map(time));
        facts.extend(number(entry, "tokensUsed").map(tokens));
        facts.push(cost(entry.get("estimatedCost").and_then(Value::as_f64)));
        let below = text(entry, "parentId");
        if !below.is_empty() {
            facts.push(format!("below {below}"));
        }
        let title = format!("{:<10} {}", text(entry, "status"), text(entry, "title"));
        // Writing to a `String` cannot fail.
        let _ = writeln!(page, "{}", clipped(&title, WIDTH));
        let _ = writeln!(page, "{}", clipped(&format!("  {}", facts.join(" · ")), WIDTH));
        let waiting: Vec<&str> =
            list(entry, "waitingFor").iter().filter_map(Value::as_str).collect();
        if !waiting.is_empty() {
            let _ =
                writeln!(page, "{}", clipped(&format!("  waits: {}", waiting.join("; ")), WIDTH));
        }
    }
    page
}
