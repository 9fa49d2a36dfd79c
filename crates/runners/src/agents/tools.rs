//! `tools` and its opposites: which tools a file lists, in canonical names.

use legation_core::agent::ToolRules;

use super::Vendor;
use super::codex;
use super::entries::{At, Notes, shortened};
use super::names::{MAX_TOOL_BYTES, Purpose, canonical};
use super::node::{Entry, Node, Shape};
use super::policy::Policy;

/// Reads `tools`: a comma string, a list, `{allow, ask, deny}`, or names with true and false.
pub(super) fn read(vendor: Vendor, node: &Node, rules: &mut ToolRules, notes: &mut Notes) {
    let at = At { line: node.line, key: "tools" };
    match &node.shape {
        Shape::Null => {
            rules.allow = Some(Vec::new());
            let hint = "take the key out to have what the parent has, or write `tools: []`";
            notes.warning(at, "`tools` is empty, so no tool is allowed", hint);
        }
        Shape::Map(entries) if entries.iter().all(|entry| is_level(&entry.key)) => {
            levels(vendor, entries, rules, notes);
        }
        Shape::Map(entries) if matches!(vendor, Vendor::OpenCode | Vendor::Codex) => {
            switches(vendor, entries, rules, notes);
        }
        Shape::Map(_) => notes.error(
            at,
            "`tools` is a map with keys other than allow, ask and deny",
            "write a list of names, or `{allow: […], ask: […], deny: […]}`",
        ),
        Shape::Text(_) | Shape::List(_) | Shape::Bool(_) | Shape::Number(..) => {
            let names = names(vendor, "tools", node, (Purpose::Open, notes));
            rules.allow.get_or_insert_default().extend(names);
        }
    }
}

/// Reads a list of tools that are denied, under whatever key it stands.
pub(super) fn read_denied(vendor: Vendor, entry: &Entry, rules: &mut ToolRules, notes: &mut Notes) {
    let denied = names(vendor, &entry.key, &entry.value, (Purpose::Close, notes));
    rules.deny.extend(denied);
}

fn is_level(key: &str) -> bool {
    matches!(key, "allow" | "ask" | "deny")
}

fn levels(vendor: Vendor, entries: &[Entry], rules: &mut ToolRules, notes: &mut Notes) {
    for entry in entries {
        let key = format!("tools.{}", entry.key);
        match entry.key.as_str() {
            "allow" => {
                let names = names(vendor, &key, &entry.value, (Purpose::Open, notes));
                rules.allow.get_or_insert_default().extend(names);
            }
            "ask" => rules.ask.extend(names(vendor, &key, &entry.value, (Purpose::Close, notes))),
            _ => rules.deny.extend(names(vendor, &key, &entry.value, (Purpose::Close, notes))),
        }
    }
}

/// Names with true and false: false closes, true opens only what `"*": false` has closed.
fn switches(vendor: Vendor, entries: &[Entry], rules: &mut ToolRules, notes: &mut Notes) {
    let mut policy = Policy::new(vendor);
    for entry in entries {
        let key = format!("tools.{}", entry.key);
        match (vendor, entry.key.as_str()) {
            (Vendor::Codex, "web_search") => codex::web_search(&key, &entry.value, rules, notes),
            _ => policy.switch(&key, entry, notes),
        }
    }
    policy.apply(rules, notes);
}

/// Canonical names out of a comma string or a list of them.
fn names(vendor: Vendor, key: &str, node: &Node, how: (Purpose, &mut Notes)) -> Vec<String> {
    let (purpose, notes) = how;
    let mut names: Vec<String> = Vec::new();
    for (text, line) in notes.texts(key, node) {
        for name in split(&text) {
            if name.len() > MAX_TOOL_BYTES {
                let message = format!("`{}` is too long for a tool", shortened(name));
                notes.error(At { line, key }, message, "names have at most 256 bytes");
                continue;
            }
            names.extend(canonical(vendor, name, purpose));
        }
    }
    names
}

/// Names between commas and blanks, those inside brackets excepted.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let ends_name = move |letter: char| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (letter == ',' || letter.is_whitespace())
    };
    text.split(ends_name).filter(|name| !name.is_empty())
}
