//! What the user reads when something does not work, and the exit code that goes with it.

use std::process::ExitCode;

use legation_core::Code;
use legation_core::agent::Refusal;
use serde_json::{Value, json};

/// What kind of end a command came to; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It failed, or what was asked for is not there.
    Failed,
    /// The command line or the configuration is wrong.
    Usage,
}

/// An error at the door: what happened and what to do next.
#[derive(Debug)]
pub(crate) struct CommandError {
    kind: Kind,
    code: Code,
    message: String,
    hint: Option<String>,
    details: Box<Value>,
}

impl CommandError {
    /// The command line or the configuration is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, Code::ValidationFailed, message)
    }

    /// It failed, for the reason the code names.
    pub(crate) fn failed(code: Code, message: impl Into<String>) -> Self {
        Self::new(Kind::Failed, code, message)
    }

    fn new(kind: Kind, code: Code, message: impl Into<String>) -> Self {
        Self { kind, code, message: message.into(), hint: None, details: Box::default() }
    }

    /// Says what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds figures for programs.
    pub(crate) fn details(mut self, details: Value) -> Self {
        self.details = Box::new(details);
        self
    }

    /// The exit code of the process.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self.kind {
            Kind::Failed => ExitCode::from(1),
            Kind::Usage => ExitCode::from(2),
        }
    }

    /// The error as the one JSON value on stdout.
    pub(crate) fn to_json(&self) -> Value {
        json!({"error": {
            "code": self.code, "message": self.message, "hint": self.hint, "details": self.details,
        }})
    }

    /// The error as text for stderr.
    pub(crate) fn to_text(&self) -> String {
        let hint =
            self.hint.as_ref().map(|hint| format!("\nSuggestion: {hint}")).unwrap_or_default();
        format!("ERROR: {}{hint}", self.message)
    }
}

impl From<Refusal> for CommandError {
    /// An agent that is not there, or may not be used.
    fn from(refusal: Refusal) -> Self {
        Self::failed(refusal.code, refusal.message).hint(refusal.hint)
    }
}
