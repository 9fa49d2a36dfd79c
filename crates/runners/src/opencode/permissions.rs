//! What OpenCode is told about permissions, as a map of its own: pure.
//!
//! Of several entries that match the last counts. The first closes everything; what would
//! have to be asked stays closed, since nobody could answer it there.

use legation_core::agent::{CANONICAL, Level, Tool};
use serde_json::{Map, Value, json};

use crate::door::{DELEGATING, SERVER};
use crate::envoy::Tools;
use crate::permissions::{Row, Scope};

/// What OpenCode calls each canonical tool.
const NAMES: [(&str, &[&str]); 4] = [
    ("read", &["read", "glob", "grep", "list", "lsp"]),
    ("edit", &["edit"]),
    ("shell", &["bash"]),
    ("web", &["webfetch", "websearch", "codesearch"]),
];
/// Its own agents, questions and ways to change how it works: nothing may be spent that our
/// ledger does not see.
pub(crate) const NEVER: &[&str] = &["task", "skill", "question", "plan_enter", "plan_exit"];
/// What only keeps its notes in order.
const HARMLESS: &[&str] = &["todowrite", "todoread"];

/// The map. Where a fence stands, files outside the workspace are its to hold.
pub fn permissions(tools: &Tools, is_fenced: bool) -> Map<String, Value> {
    let mut map = Map::new();
    let mut tell = |name: &str, told: Value| drop(map.insert(name.to_owned(), told));
    tell("*", json!("deny"));
    for (tool, names) in NAMES {
        let told = of_tool(&Scope::of(tools, tool), tool);
        names.iter().for_each(|name| tell(name, told.clone()));
    }
    HARMLESS.iter().for_each(|name| tell(name, json!("allow")));
    if is_fenced {
        tell("external_directory", json!("allow"));
    }
    for (name, level) in &tools.others {
        if let Some(name) = of_other(name, *level) {
            tell(&name, json!("allow"));
        }
    }
    NEVER.iter().for_each(|name| tell(name, json!("deny")));
    tell(&format!("{SERVER}_*"), json!("allow"));
    if tools.delegate == Level::Deny {
        DELEGATING.iter().for_each(|name| tell(&format!("{SERVER}_{name}"), json!("deny")));
    }
    map
}

/// What is told of one canonical tool: one word, or one for each of its parts.
fn of_tool(scope: &Scope<'_>, tool: &str) -> Value {
    let can_be_told = |part: &&&str| tool == "shell" && !part.trim().is_empty();
    // Parts that cannot be told apart close the whole.
    let is_told_apart = scope.closed.iter().all(|part| can_be_told(&part));
    // There a `?` stands for any letter, which is more than was meant.
    let open: Vec<&&str> =
        scope.open.iter().filter(can_be_told).filter(|part| !part.contains('?')).collect();
    if !is_told_apart || (scope.level != Level::Allow && open.is_empty()) {
        return json!("deny");
    }
    if scope.is_whole() {
        return json!("allow");
    }
    let rest = if scope.level == Level::Allow { "allow" } else { "deny" };
    let mut parts = Map::from_iter([("*".to_owned(), json!(rest))]);
    let told = open.into_iter().map(|part| (part, "allow"));
    for (part, word) in told.chain(scope.closed.iter().map(|part| (part, "deny"))) {
        // Whoever comes later counts, so nothing may keep an earlier place.
        parts.shift_remove(*part);
        parts.insert((*part).to_owned(), json!(word));
    }
    Value::Object(parts)
}

/// What OpenCode calls a tool that is none of ours and allowed.
fn of_other(name: &str, level: Level) -> Option<String> {
    if level != Level::Allow || CANONICAL.contains(&Tool::new(name).base()) {
        return None;
    }
    let name = match name.strip_prefix("mcp:") {
        Some(rest) => {
            let (server, tool) = rest.split_once('/')?;
            let is_known = is_plain(server) && (tool == "*" || is_plain(tool)) && server != SERVER;
            is_known.then(|| format!("{server}_{tool}"))?
        }
        None => name.to_owned(),
    };
    let is_other = !NEVER.contains(&name.as_str()) && name != "external_directory";
    (is_other && is_plain(name.trim_end_matches("_*"))).then_some(name)
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter))
}

/// The same, for people.
pub fn table(tools: &Tools) -> Vec<Row> {
    let mut rows = Vec::new();
    for (tool, names) in NAMES {
        let scope = Scope::of(tools, tool);
        let told = of_tool(&scope, tool);
        rows.push(Row::new(
            tool,
            scope.level,
            format!("{}: {}", names.join(", "), in_words(&told)),
        ));
    }
    let delegate = match tools.delegate {
        Level::Allow | Level::Ask => "the tools of the server `legation`",
        Level::Deny => "not offered; of the server `legation` only what hands in a return",
    };
    rows.push(Row::new("delegate", tools.delegate, delegate));
    for (name, level) in &tools.others {
        if CANONICAL.contains(&Tool::new(name).base()) {
            continue;
        }
        let told = of_other(name, *level);
        let told = told.map_or("not offered".to_owned(), |name| format!("{name}: allow"));
        rows.push(Row::new(name, *level, told));
    }
    rows.push(Row::new("its own sub-agents", Level::Deny, "task: deny"));
    rows
}

fn in_words(told: &Value) -> String {
    let word = |told: &Value| told.as_str().unwrap_or_default().to_owned();
    let Some(parts) = told.as_object() else { return word(told) };
    let words = parts.iter().map(|(part, told)| format!("{} `{part}`", word(told)));
    words.collect::<Vec<_>>().join(", ")
}
