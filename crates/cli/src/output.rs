//! The one place that writes to stdout and stderr.

use std::io::Write;

use serde::Serialize;

use crate::error::CommandError;

/// Where answers go: data to stdout, the rest to stderr.
pub(crate) struct Output {
    json: bool,
}

impl Output {
    /// An output in JSON or in text.
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether JSON was asked for.
    pub(crate) fn wants_json(&self) -> bool {
        self.json
    }

    /// The answer: `value` if JSON was asked for, else the text that `human` makes.
    pub(crate) fn answer(&mut self, value: &impl Serialize, human: impl FnOnce() -> String) {
        let text = if self.json {
            serde_json::to_string_pretty(value).unwrap_or_else(|problem| problem.to_string())
        } else {
            human()
        };
        // A closed pipe (`| head`) is the reader's choice, not an error.
        let _ = writeln!(std::io::stdout().lock(), "{}", text.trim_end());
    }

    /// One of several answers, on a line of its own.
    pub(crate) fn line(&mut self, value: &impl Serialize, human: impl FnOnce() -> String) {
        let text = if self.json {
            serde_json::to_string(value).unwrap_or_else(|problem| problem.to_string())
        } else {
            human()
        };
        let _ = writeln!(std::io::stdout().lock(), "{text}");
    }

    /// Something the user should know, beside the answer.
    pub(crate) fn note(&mut self, text: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }

    /// The error that ended the command.
    pub(crate) fn error(&mut self, error: &CommandError) {
        if self.json {
            self.answer(&error.to_json(), String::new);
        } else {
            self.note(&error.to_text());
        }
    }
}
