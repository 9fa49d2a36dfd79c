//! The servers of tools that a file names, and what it closes of them.

use legation_core::agent::Definition;

use super::entries::{At, Notes, shortened};
use super::node::{Entry, Node, Shape};
use crate::door::SERVER;
use crate::servers;

/// Reads a map of servers, or a list of them and of names that the project knows. One that
/// cannot be used is left out: it restricts nothing.
pub(super) fn read(entry: &Entry, definition: &mut Definition, notes: &mut Notes) {
    match &entry.value.shape {
        Shape::List(items) => {
            items.iter().for_each(|item| some(&entry.key, item, definition, notes));
        }
        Shape::Null => {}
        Shape::Bool(_) | Shape::Number(..) | Shape::Text(_) | Shape::Map(_) => {
            some(&entry.key, &entry.value, definition, notes);
        }
    }
}

/// Reads the name of a server, or servers by name.
fn some(key: &str, node: &Node, definition: &mut Definition, notes: &mut Notes) {
    let at = At { line: node.line, key };
    match &node.shape {
        Shape::Text(name) => {
            if is_named(at, name, notes) {
                definition.mcp_servers.entry(name.clone()).or_default();
            }
        }
        Shape::Map(entries) => {
            entries.iter().for_each(|entry| server(key, entry, definition, notes));
        }
        Shape::Null | Shape::Bool(_) | Shape::Number(..) | Shape::List(_) => {
            let message = format!("`{key}` has {} where a server should be", node.kind());
            notes.warning(at, message, "write servers by name, each with a `command` or a `url`");
        }
    }
}

fn is_named(at: At<'_>, name: &str, notes: &mut Notes) -> bool {
    let is_name = servers::is_name(name);
    // Ours is there anyhow.
    if !is_name && name != SERVER {
        let message = format!("a server cannot be called `{}`", shortened(name));
        notes.warning(at, message, "use letters, digits, `_`, `-` and `.`");
    }
    is_name
}

fn server(key: &str, entry: &Entry, definition: &mut Definition, notes: &mut Notes) {
    let (name, line) = (&entry.key, entry.line);
    let key = format!("{key}.{name}");
    if let Shape::Map(settings) = &entry.value.shape {
        closed((&key, name), settings, definition, notes);
    }
    if !is_named(At { line, key: &key }, name, notes) {
        return;
    }
    if entry.value.shape == Shape::Null {
        definition.mcp_servers.entry(name.clone()).or_default();
        return;
    }
    match servers::read(&entry.value.to_json()) {
        Ok(Some(server)) => drop(definition.mcp_servers.insert(name.clone(), Some(server))),
        Ok(None) => {}
        Err(why) => {
            let message = format!("the server `{name}` cannot be used: {why}");
            let hint = "give it a `command` with `args` and `env`, or a `url` with `headers`";
            notes.warning(At { line, key: &key }, message, hint);
        }
    }
}

/// What a vendor would not let its agent use of a server is closed here too.
fn closed(
    (key, name): (&str, &str),
    settings: &[Entry],
    definition: &mut Definition,
    notes: &mut Notes,
) {
    let deny = &mut definition.tools.deny;
    for setting in settings {
        let key = format!("{key}.{}", setting.key);
        match setting.key.as_str() {
            "enabled" if notes.flag(&key, &setting.value) == Some(false) => {
                deny.push(format!("mcp:{name}/*"));
            }
            "disabled" if notes.flag(&key, &setting.value) == Some(true) => {
                deny.push(format!("mcp:{name}/*"));
            }
            "disabled_tools" | "excludeTools" => {
                let tools = notes.texts(&key, &setting.value).into_iter();
                deny.extend(tools.map(|(tool, _)| format!("mcp:{name}/{tool}")));
            }
            "enabled_tools" | "includeTools" => {
                let at = At { line: setting.line, key: &key };
                let program = if setting.key == "enabled_tools" { "Codex" } else { "Gemini CLI" };
                let message = format!("only {program} itself keeps to `{}`", setting.key);
                let hint =
                    "name the tools in `tools` as `mcp:<server>/<tool>` to bind other runners too";
                notes.warning(at, message, hint);
            }
            _ => {}
        }
    }
}
