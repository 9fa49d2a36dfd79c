//! Our entry in the settings of a program: what it says, and putting it into the text.

use std::path::Path;

use legation_runners::door::CALL_MS;
use serde_json::{Value, json};

use super::dialect::Dialect;
use super::program::Program;
use super::{in_json, in_toml};

/// What we are called there.
pub(super) const NAME: &str = "legation";
/// Where OpenCode's own description of its settings is.
const SCHEMA: &str = "https://opencode.ai/config.json";
/// How long a call may take: as long as one of a child's. Our own limits end it long before.
const LIMIT_S: u64 = CALL_MS / 1_000;

/// Our entry.
pub(super) struct Entry {
    program: Program,
    value: Value,
}

impl Entry {
    pub(super) fn of(program: Program, binary: &Path) -> Self {
        let (binary, limit_ms) = (binary.to_string_lossy(), CALL_MS);
        let value = match program {
            // Without `alwaysLoad` the tools are hidden behind a search.
            Program::ClaudeCode => json!({
                "type": "stdio", "command": binary, "args": ["mcp"], "alwaysLoad": true,
                "timeout": limit_ms,
            }),
            // Without an approval every call fails where nobody can be asked.
            Program::Codex => json!({
                "command": binary, "args": ["mcp"], "default_tools_approval_mode": "approve",
                "tool_timeout_sec": LIMIT_S,
            }),
            Program::Opencode => json!({
                "type": "local", "command": [binary, "mcp"], "enabled": true, "timeout": limit_ms,
            }),
            Program::Gemini => json!({
                "command": binary, "args": ["mcp"], "trust": true, "timeout": limit_ms,
            }),
        };
        Self { program, value }
    }

    /// The name of the section that servers stand in.
    fn section(&self) -> &'static str {
        match self.program {
            Program::ClaudeCode | Program::Gemini => "mcpServers",
            Program::Codex => "mcp_servers",
            Program::Opencode => "mcp",
        }
    }

    fn dialect(&self) -> Dialect {
        Dialect::of(self.program)
    }

    /// What stands in the text under our name.
    fn found(&self, text: &str) -> Option<Value> {
        let whole: Value = match self.program {
            Program::Codex => toml::from_str(text).ok()?,
            Program::ClaudeCode | Program::Opencode | Program::Gemini => {
                self.dialect().read(text).ok()?
            }
        };
        whole.get(self.section())?.get(NAME).cloned()
    }

    /// Whether the text says exactly this already.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.found(text).as_ref() == Some(&self.value)
    }

    /// Whether the text can be read, and nothing stands in it under our name.
    pub(super) fn is_absent(&self, text: &str) -> bool {
        let is_whole = match self.program {
            Program::Codex => text.parse::<toml_edit::DocumentMut>().is_ok(),
            Program::ClaudeCode | Program::Opencode | Program::Gemini => {
                text.trim().is_empty() || self.dialect().read(text).is_ok()
            }
        };
        is_whole && self.found(text).is_none()
    }

    /// Whether something stands under our name, and whether that is ours, wherever our
    /// program was then.
    pub(super) fn looks_ours(&self, text: &str) -> Option<bool> {
        let found = self.found(text)?;
        Some(without_binary(found) == without_binary(self.value.clone()))
    }

    /// The text with the entry in it, and nothing else changed.
    pub(super) fn put(&self, text: &str) -> Result<String, String> {
        match self.program {
            Program::Codex => in_toml::put(text, (self.section(), NAME), &self.value),
            // It would add the address itself, and the file would no longer be as we left it.
            Program::Opencode if text.is_empty() => {
                let text = format!("{{\n  \"$schema\": \"{SCHEMA}\"\n}}\n");
                in_json::put(&text, (self.section(), NAME), &self.value, self.dialect())
            }
            Program::ClaudeCode | Program::Opencode | Program::Gemini => {
                in_json::put(text, (self.section(), NAME), &self.value, self.dialect())
            }
        }
    }

    /// The text without the entry, nor the section if it was made for it; and nothing else
    /// changed.
    pub(super) fn take_out(&self, text: &str, with_section: bool) -> Option<String> {
        let text = self.take_out_alone(text)?;
        match self.program {
            Program::ClaudeCode | Program::Opencode | Program::Gemini if with_section => {
                Some(in_json::take_out_empty(&text, self.section(), self.dialect()).unwrap_or(text))
            }
            Program::ClaudeCode | Program::Opencode | Program::Gemini | Program::Codex => {
                Some(text)
            }
        }
    }

    /// Whether a piece that was put into a text has the section in it.
    pub(super) fn has_section(&self, piece: &str) -> bool {
        piece.contains(&format!("\"{}\"", self.section()))
    }

    fn take_out_alone(&self, text: &str) -> Option<String> {
        match self.program {
            Program::Codex => in_toml::take_out(text, (self.section(), NAME)),
            Program::ClaudeCode | Program::Opencode | Program::Gemini => {
                in_json::take_out(text, (self.section(), NAME), self.dialect())
            }
        }
    }

    /// The file that is made where there is none.
    pub(super) fn alone(&self) -> String {
        self.put("").unwrap_or_default()
    }

    /// The entry as somebody would add it by hand.
    pub(super) fn snippet(&self) -> String {
        let empty = if self.program == Program::Codex { "" } else { "{}" };
        self.put(empty).unwrap_or_default().trim_end().to_owned()
    }
}

/// An entry, wherever our program is.
fn without_binary(mut entry: Value) -> Value {
    match entry.get_mut("command") {
        Some(Value::Array(words)) => words.truncate(0),
        Some(command) => *command = Value::Null,
        None => {}
    }
    entry
}
