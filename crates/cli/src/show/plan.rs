//! What a delegation would come to, for those who want to know before.

use std::fmt::Write as _;

use serde_json::Value;

use super::figures::{dollars, list, text, time, tokens};
use crate::page::{clipped, width, wrapped};

/// The plan of a dry run.
pub(crate) fn page(plan: &Value) -> String {
    let number = |value: &Value, key: &str| value.get(key).and_then(Value::as_u64).unwrap_or(0);
    let mut page = format!("{}\n", clipped(text(plan, "title"), width()));
    // Writing to a `String` cannot fail.
    let _ = writeln!(page, "Nothing was started. Pattern: {}", text(plan, "pattern"));
    for subtask in list(plan, "subtasks") {
        let title = format!("{}  {}", text(subtask, "id"), text(subtask, "title"));
        let _ = writeln!(page, "\n{}", clipped(&title, width()));
        let agent = format!("  {}: {}", text(subtask, "agent"), text(subtask, "reason"));
        page.push_str(&wrapped(&agent, 4));
        let mut facts = vec![time(number(subtask, "timeoutMs")), tokens(number(subtask, "tokens"))];
        let after: Vec<&str> =
            list(subtask, "dependsOn").iter().filter_map(Value::as_str).collect();
        if !after.is_empty() {
            facts.push(format!("after {}", after.join(", ")));
        }
        page.push_str(&wrapped(&format!("  at most {}", facts.join(", ")), 4));
    }
    let bounds = plan.get("bounds").unwrap_or(&Value::Null);
    let cost = bounds.get("costUsd").and_then(Value::as_f64).unwrap_or(0.0);
    let _ = writeln!(
        page,
        "\nBounds: depth {}, {} at once, {} subtasks, {}, {}, {}",
        number(bounds, "depth"),
        number(bounds, "width"),
        number(bounds, "count"),
        tokens(number(bounds, "tokens")),
        dollars(cost),
        time(number(bounds, "timeMs")),
    );
    page
}
