//! The `legation:` key, the same in files of every vendor.

use legation_core::agent::{ContextMode, LegationKey, Operation, Retry, Runner};
use legation_core::text::span::timeout_ms;

use super::entries::{At, Notes, shortened};
use super::node::{Entry, Node, Shape};

const KEYS: &[&str] =
    &["runner", "command", "env", "operation", "timeout", "context", "retry", "verify", "schema"];

/// How often an agent may be started again at most.
const MAX_RETRIES: u32 = 100;

const OPERATIONS: [(&str, Operation); 6] = [
    ("research", Operation::Research),
    ("plan", Operation::Plan),
    ("implement", Operation::Implement),
    ("revise", Operation::Revise),
    ("review", Operation::Review),
    ("simple", Operation::Simple),
];

const CONTEXTS: [(&str, ContextMode); 4] = [
    ("task_only", ContextMode::TaskOnly),
    ("summary", ContextMode::Summary),
    ("full", ContextMode::Full),
    ("full_history", ContextMode::Full),
];

/// Reads the key into what the file says so far.
pub(super) fn read(entry: &Entry, legation: &mut LegationKey, notes: &mut Notes) {
    for entry in notes.map("legation", &entry.value) {
        let key = format!("legation.{}", entry.key);
        let value = &entry.value;
        match entry.key.as_str() {
            "runner" => {
                let runners = Runner::ALL.map(|runner| (runner.as_str(), runner));
                legation.runner = notes.choice(&key, value, &runners);
            }
            "command" => legation.command = command(&key, value, notes),
            "env" => env(&key, value, legation, notes),
            "operation" => legation.operation = notes.choice(&key, value, &OPERATIONS),
            "timeout" => legation.timeout_ms = span_ms(&key, value, notes),
            "context" => legation.context = notes.choice(&key, value, &CONTEXTS),
            "retry" => legation.retry = retry(value, notes),
            "verify" => {
                let commands = notes.texts(&key, value).into_iter();
                legation.verify = commands.map(|(command, _)| command).collect();
            }
            "schema" => legation.schema = schema(&key, value, notes),
            _ => notes.unknown_key(At { line: entry.line, key: &key }, KEYS),
        }
    }
    runner_and_command(entry, legation, notes);
}

/// A command without a runner means the `command` runner; that runner needs a command.
fn runner_and_command(entry: &Entry, legation: &mut LegationKey, notes: &mut Notes) {
    let at = At { line: entry.line, key: "legation.command" };
    match legation.runner {
        None if !legation.command.is_empty() => legation.runner = Some(Runner::Command),
        Some(Runner::Command) if legation.command.is_empty() => notes.error(
            at,
            "the runner `command` has no command",
            "add `command: [\"program\", \"argument\"]`",
        ),
        Some(
            Runner::ClaudeCode | Runner::Codex | Runner::OpenCode | Runner::Gemini | Runner::Llm,
        ) if !legation.command.is_empty() => {
            let message = "the command is not used: the runner brings its own";
            notes.warning(at, message, "take `command` out, or say `runner: command`");
        }
        Some(_) | None => {}
    }
}

fn command(key: &str, node: &Node, notes: &mut Notes) -> Vec<String> {
    let at = At { line: node.line, key };
    if let Shape::Text(text) = &node.shape {
        let message = format!("`{key}` must be a list, and is text");
        let hint = format!("write `[\"{}\"]`, one entry for each argument", shortened(text));
        notes.error(at, message, &hint);
        return Vec::new();
    }
    let words = notes.texts(key, node).into_iter();
    let words: Vec<String> = words.map(|(word, _)| word).collect();
    if words.first().is_some_and(|program| program.trim().is_empty()) {
        notes.error(at, "the command has no program", "name the program first");
    }
    words
}

fn env(key: &str, node: &Node, legation: &mut LegationKey, notes: &mut Notes) {
    for entry in notes.map(key, node) {
        let name = &entry.key;
        if name.is_empty() || name.contains(['=', '\0']) {
            let message = format!("`{}` is no name for a variable", shortened(name));
            notes.error(At { line: entry.line, key }, message, "use letters, digits and _");
            continue;
        }
        match entry.value.scalar().filter(|value| !value.contains('\0')) {
            Some(value) => {
                legation.env.insert(name.clone(), value);
            }
            None => {
                let message = format!("`{key}.{}` must be text", shortened(name));
                notes.error(At { line: entry.line, key }, message, "put the value in quotes");
            }
        }
    }
}

fn span_ms(key: &str, node: &Node, notes: &mut Notes) -> Option<u64> {
    let text = notes.text(key, node)?;
    // A time limit of nothing would end every attempt at its start.
    let span = timeout_ms(&text).ok().filter(|span_ms| *span_ms > 0);
    if span.is_none() {
        let message = format!("`{key}` cannot be `{}`", shortened(&text));
        let hint = "write a length of time with its unit, such as 90s, 30m or 1h30m";
        notes.error(At { line: node.line, key }, message, hint);
    }
    span
}

fn retry(node: &Node, notes: &mut Notes) -> Option<Retry> {
    let mut retry = Retry::default();
    for entry in notes.map("legation.retry", node) {
        match entry.key.as_str() {
            "max" => retry.max = notes.count("legation.retry.max", &entry.value, (0, MAX_RETRIES)),
            "backoff" => retry.backoff_ms = span_ms("legation.retry.backoff", &entry.value, notes),
            other => {
                let key = format!("legation.retry.{other}");
                notes.unknown_key(At { line: entry.line, key: &key }, &["max", "backoff"]);
            }
        }
    }
    Some(retry)
}

fn schema(key: &str, node: &Node, notes: &mut Notes) -> Option<serde_json::Value> {
    match node.shape {
        Shape::Map(_) | Shape::Bool(_) => Some(node.to_json()),
        Shape::Null => None,
        Shape::Number(..) | Shape::Text(_) | Shape::List(_) => {
            let at = At { line: node.line, key };
            notes.error(at, format!("`{key}` must be a JSON Schema"), "write it as a map");
            None
        }
    }
}
