//! A file's text into keys with values. What the keys mean is not known here.

use legation_core::agent::Severity;

use super::entries::{At, Notes};
use super::frontmatter::{self, MAX_FRONTMATTER_BYTES, Missing};
use super::node::{Node, Shape};
use super::yaml::{self, Problem};
use super::{codex, lenient};

/// The keys of a Markdown file, and its body.
pub(super) fn markdown(text: &str, notes: &mut Notes) -> Option<(Node, String)> {
    let parts = match frontmatter::split(text) {
        Ok(parts) => parts,
        Err(Missing::Opening) => {
            let hint = "begin the file with a line `---`, or move it out of the agents folder";
            notes.whole(Severity::Warning, "no frontmatter, so it is not read as an agent", hint);
            return None;
        }
        Err(Missing::Closing(line)) => {
            let message = "the frontmatter that begins here never ends";
            notes.error(At { line, key: "" }, message, "add a line `---` after the last key");
            return None;
        }
    };
    if parts.front.len() > MAX_FRONTMATTER_BYTES {
        let at = At { line: parts.offset, key: "" };
        notes.error(at, "the frontmatter is larger than 128 KiB", "move text into the body");
        return None;
    }
    let front = parts.front.replace("\r\n", "\n");
    let mut node = match yaml_leniently(&front, parts.offset, notes) {
        Ok(node) => node,
        Err(problem) => {
            let line = problem.line.unwrap_or(1).saturating_add(parts.offset);
            let message = format!("the frontmatter is not valid YAML: {}", problem.message);
            notes.error(
                At { line, key: "" },
                message,
                "correct that line; quotes around a text help",
            );
            return None;
        }
    };
    shift(&mut node, parts.offset);
    Some((node, parts.body.replace("\r\n", "\n").trim().to_owned()))
}

fn yaml_leniently(front: &str, offset: u32, notes: &mut Notes) -> Result<Node, Problem> {
    let problem = match yaml::parse(front) {
        Ok(node) => return Ok(node),
        Err(problem) => problem,
    };
    let Some((mended, line)) = lenient::mend(front) else {
        return Err(problem);
    };
    // If mending does not help, the first complaint is about what was really written.
    let node = yaml::parse(&mended).map_err(|_| problem)?;
    let at = At { line: line.saturating_add(offset), key: "" };
    notes.note(at, "not quite YAML; it was read as plain text", "put the value in quotes");
    Ok(node)
}

/// Lines of the frontmatter become lines of the file.
fn shift(node: &mut Node, offset: u32) {
    node.line = node.line.saturating_add(offset);
    match &mut node.shape {
        Shape::List(items) => items.iter_mut().for_each(|item| shift(item, offset)),
        Shape::Map(entries) => {
            for entry in entries {
                entry.line = entry.line.saturating_add(offset);
                shift(&mut entry.value, offset);
            }
        }
        Shape::Null | Shape::Bool(_) | Shape::Number(..) | Shape::Text(_) => {}
    }
}

/// The keys of a TOML file.
pub(super) fn toml(text: &str, notes: &mut Notes) -> Option<Node> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = codex::parse(text);
    parsed
        .map_err(|problem| {
            let at = At { line: problem.line.unwrap_or(1), key: "" };
            let message = format!("not valid TOML: {}", problem.message);
            notes.error(at, message, "correct that line");
        })
        .ok()
}
