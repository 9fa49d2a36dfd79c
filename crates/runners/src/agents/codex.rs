//! Codex: TOML into nodes, and its sandbox settings into permissions.

use legation_core::agent::ToolRules;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::entries::{At, Notes, shortened};
use super::node::{Entry, Node, Shape};
use super::yaml::Problem;

/// How deep tables and arrays may lie in each other.
const MAX_DEPTH: usize = 32;

/// Parses a TOML document.
pub(super) fn parse(text: &str) -> Result<Node, Problem> {
    let starts = LineStarts::new(text);
    let table = DeTable::parse(text).map_err(|error| Problem {
        line: error.span().map(|span| starts.line(span.start)),
        message: error.message().lines().next().unwrap_or_default().to_owned(),
    })?;
    Ok(Node { line: 1, shape: Shape::Map(entries(table.get_ref(), &starts, 0)?) })
}

/// Where each line of a text begins.
struct LineStarts(Vec<usize>);

impl LineStarts {
    fn new(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(std::iter::once(0).chain(ends.map(|(place, _)| place + 1)).collect())
    }

    fn line(&self, place: usize) -> u32 {
        u32::try_from(self.0.partition_point(|start| *start <= place)).unwrap_or(u32::MAX)
    }
}

fn entries(table: &DeTable<'_>, starts: &LineStarts, depth: usize) -> Result<Vec<Entry>, Problem> {
    let mut entries = Vec::new();
    for (key, value) in table {
        let line = starts.line(key.span().start);
        entries.push(Entry {
            key: key.get_ref().to_string(),
            line,
            value: node(value, starts, depth)?,
        });
    }
    // A table keeps its keys sorted; findings should come in the order of the file.
    entries.sort_by_key(|entry| entry.line);
    Ok(entries)
}

fn node(value: &Spanned<DeValue<'_>>, starts: &LineStarts, depth: usize) -> Result<Node, Problem> {
    let line = starts.line(value.span().start);
    let problem = |message: &str| Problem { line: Some(line), message: message.to_owned() };
    if depth > MAX_DEPTH {
        return Err(problem("values lie too deep in each other"));
    }
    let shape = match value.get_ref() {
        DeValue::String(text) => Shape::Text(text.to_string()),
        DeValue::Boolean(value) => Shape::Bool(*value),
        DeValue::Datetime(time) => Shape::Text(time.to_string()),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            let read = i64::from_str_radix(&digits, number.radix());
            let read = read.map_err(|_| problem("a number is too large"))?;
            Shape::Number(read.into(), number.to_string())
        }
        DeValue::Float(number) => {
            let read = number.as_str().replace('_', "").parse().ok();
            let read = read.and_then(serde_json::Number::from_f64);
            let read = read.ok_or_else(|| problem("a number must be finite"))?;
            Shape::Number(read, number.to_string())
        }
        DeValue::Array(items) => {
            let items = items.iter().map(|item| node(item, starts, depth + 1));
            Shape::List(items.collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => Shape::Map(entries(table, starts, depth + 1)?),
    };
    Ok(Node { line, shape })
}

/// Reads one of the settings that say what Codex may do. False means that it is none of them.
pub(super) fn read_permission(entry: &Entry, rules: &mut ToolRules, notes: &mut Notes) -> bool {
    match entry.key.as_str() {
        "sandbox_mode" => sandbox_mode(entry, rules, notes),
        "default_permissions" => default_permissions(entry, rules, notes),
        "approval_policy" => approval_policy(entry, rules, notes),
        "web_search" => web_search("web_search", &entry.value, rules, notes),
        "sandbox_workspace_write" => {
            for setting in notes.map(&entry.key, &entry.value) {
                let key = "sandbox_workspace_write.network_access";
                if setting.key == "network_access" && notes.flag(key, &setting.value) == Some(false)
                {
                    rules.deny.push("web".to_owned());
                }
            }
        }
        _ => return false,
    }
    true
}

fn sandbox_mode(entry: &Entry, rules: &mut ToolRules, notes: &mut Notes) {
    let modes = [("read-only", true), ("workspace-write", false), ("danger-full-access", false)];
    if notes.choice(&entry.key, &entry.value, &modes) == Some(true) {
        rules.deny.push("edit".to_owned());
    }
}

fn default_permissions(entry: &Entry, rules: &mut ToolRules, notes: &mut Notes) {
    match notes.text(&entry.key, &entry.value).as_deref() {
        Some(":read-only") => rules.deny.push("edit".to_owned()),
        Some(":workspace") | None => {}
        Some(other) => {
            let at = At { line: entry.line, key: &entry.key };
            let message = format!(
                "the permission profile `{}` is not read, so edits are denied",
                shortened(other)
            );
            notes.warning(at, message, "say the same with `tools` or `sandbox_mode`");
            rules.deny.push("edit".to_owned());
        }
    }
}

/// What Codex would ask about is asked about here; never asking opens nothing.
fn approval_policy(entry: &Entry, rules: &mut ToolRules, notes: &mut Notes) {
    if matches!(entry.value.shape, Shape::Map(_)) {
        return;
    }
    let policies =
        [("untrusted", true), ("on-request", false), ("on-failure", false), ("never", false)];
    if notes.choice(&entry.key, &entry.value, &policies) == Some(true) {
        rules.ask.extend(["shell", "edit"].map(str::to_owned));
    }
}

/// `web_search`, at the top or under `tools`: a mode, or true and false.
pub(super) fn web_search(key: &str, node: &Node, rules: &mut ToolRules, notes: &mut Notes) {
    let off = match node.shape {
        Shape::Bool(on) => Some(!on),
        Shape::Map(_) => None,
        Shape::Null | Shape::Number(..) | Shape::Text(_) | Shape::List(_) => {
            let modes =
                [("disabled", true), ("cached", false), ("indexed", false), ("live", false)];
            notes.choice(key, node, &modes)
        }
    };
    if off == Some(true) {
        rules.deny.push("web".to_owned());
    }
}
