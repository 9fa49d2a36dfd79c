//! The one place that writes to stdout and stderr.

use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;

use legation_core::Code;
use serde::Serialize;

use crate::error::CommandError;
use crate::page;

/// Where answers go: data to stdout, the rest to stderr.
pub(crate) struct Output {
    json: bool,
    /// Whether each answer is one of several and has a line to itself.
    is_list: bool,
    /// Why an answer could not be written.
    lost: Option<io::Error>,
}

impl Output {
    /// An output in JSON or in text.
    pub(crate) fn new(json: bool) -> Self {
        Self { json, is_list: false, lost: None }
    }

    /// Whether JSON was asked for.
    pub(crate) fn wants_json(&self) -> bool {
        self.json
    }

    /// From now on there are several answers, each on a line of its own in JSON.
    pub(crate) fn several(&mut self) {
        self.is_list = true;
    }

    /// The answer: `value` if JSON was asked for, else the text that `human` makes.
    pub(crate) fn answer(&mut self, value: &impl Serialize, human: impl FnOnce() -> String) {
        if self.json && self.is_list {
            return self.line(value, String::new);
        }
        let text = if self.json {
            serde_json::to_string_pretty(value).unwrap_or_else(|problem| problem.to_string())
        } else {
            human()
        };
        self.data(text.trim_end());
    }

    /// One of several answers, on a line of its own.
    pub(crate) fn line(&mut self, value: &impl Serialize, human: impl FnOnce() -> String) {
        let text = if self.json {
            serde_json::to_string(value).unwrap_or_else(|problem| problem.to_string())
        } else {
            human()
        };
        self.data(&text);
    }

    fn data(&mut self, text: &str) {
        let mut stdout = io::stdout().lock();
        self.wrote(writeln!(stdout, "{text}").and_then(|()| stdout.flush()));
    }

    /// Keeps in mind how writing to stdout went.
    pub(crate) fn wrote(&mut self, outcome: io::Result<()>) {
        // A closed pipe (`| head`) is the reader's choice, not an error.
        let problem = outcome.err().filter(|it| it.kind() != io::ErrorKind::BrokenPipe);
        self.lost = self.lost.take().or(problem);
    }

    /// The exit code of the process: an answer that got lost is a failure, whatever it said.
    pub(crate) fn end(mut self, exit: ExitCode) -> ExitCode {
        let Some(problem) = self.lost.take() else { return exit };
        let message = format!("cannot write the answer to stdout: {problem}");
        let error = CommandError::failed(Code::UnknownError, message)
            .hint("make room, or send the output somewhere else");
        self.note(&error.to_text());
        error.exit_code()
    }

    /// Something the user should know, beside the answer.
    pub(crate) fn note(&mut self, text: &str) {
        let mut stderr = io::stderr().lock();
        let text = if stderr.is_terminal() { page::fitted(text) } else { text.to_owned() };
        // Nothing better can be done when the terminal is gone.
        let _ = writeln!(stderr, "{text}");
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
