//! What the user reads when something does not work, and the exit code that goes with it.

use std::process::ExitCode;

use legation_core::Code;
use legation_core::returns::NO_WORKSPACE;
use legation_core::tree::rejection::Refusal;
use legation_engine::host::Trouble;
use legation_engine::protocol::Refused;
use serde_json::{Value, json};

/// What kind of end a command came to; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It failed, or what was asked for is not there.
    Failed,
    /// The command line or the configuration is wrong.
    Usage,
    /// A bound, a cycle or a permission is in the way.
    Refused,
}

impl Kind {
    /// The kind of end that a refusal with this code is.
    fn of(code: Code) -> Self {
        match code {
            Code::MaxDepthExceeded
            | Code::ContextExceeded
            | Code::CycleDetected
            | Code::BudgetExceeded
            | Code::TooManyDelegations
            | Code::AgentNotAllowed
            | Code::PermissionDenied
            | Code::DelegationDisabled => Self::Refused,
            Code::ValidationFailed => Self::Usage,
            Code::WorkspaceFailed
            | Code::AgentNotFound
            | Code::Timeout
            | Code::ToolUnavailable
            | Code::BuildError
            | Code::FileNotFound
            | Code::GitCommitFailed
            | Code::Conflict
            | Code::UnknownError => Self::Failed,
        }
    }
}

/// An error at the door: what happened and what to do next.
#[derive(Debug)]
pub(crate) struct CommandError {
    kind: Kind,
    code: Code,
    message: String,
    hint: Option<String>,
    details: Box<Value>,
    figures: Vec<String>,
    remaining: Option<Box<Value>>,
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

    /// There is no place for workspaces.
    pub(crate) fn no_workspace(why: &str) -> Self {
        Self::failed(Code::WorkspaceFailed, format!("{NO_WORKSPACE}\n{why}"))
    }

    /// A bound, a cycle or a permission is in the way.
    pub(crate) fn refused(code: Code, message: impl Into<String>) -> Self {
        Self::new(Kind::Refused, code, message)
    }

    fn new(kind: Kind, code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        let (figures, remaining) = (Vec::new(), None);
        Self { kind, code, message, hint: None, details: Box::default(), figures, remaining }
    }

    /// What happened.
    pub(crate) fn message(&self) -> &str {
        &self.message
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

    /// Says what may still be asked for.
    pub(crate) fn remaining(mut self, remaining: Value) -> Self {
        self.remaining = Some(Box::new(remaining));
        self
    }

    /// The exit code of the process.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self.kind {
            Kind::Failed => ExitCode::from(1),
            Kind::Usage => ExitCode::from(2),
            Kind::Refused => ExitCode::from(6),
        }
    }

    /// The error as the one JSON value on stdout.
    pub(crate) fn to_json(&self) -> Value {
        let mut json = json!({"error": {
            "code": self.code, "message": self.message, "hint": self.hint, "details": self.details,
        }});
        if let (Some(remaining), Some(object)) = (&self.remaining, json.as_object_mut()) {
            object.insert("remaining".to_owned(), Value::clone(remaining));
        }
        json
    }

    /// The error as text for stderr.
    pub(crate) fn to_text(&self) -> String {
        let mut text = format!("ERROR: {}", self.message);
        if !self.figures.is_empty() {
            text.push_str(&format!("\n\n{}\n", self.figures.join("\n")));
        }
        if let Some(hint) = &self.hint {
            text.push_str(&format!("\nSuggestion: {hint}"));
        }
        text
    }
}

impl From<Refused> for CommandError {
    fn from(refused: Refused) -> Self {
        let known = Code::ALL.iter().find(|code| code.as_str() == refused.code);
        let code = known.copied().unwrap_or(Code::UnknownError);
        Self {
            kind: Kind::of(code),
            code,
            message: refused.message,
            hint: Some(refused.hint).filter(|hint| !hint.is_empty()),
            details: Box::new(refused.details),
            figures: refused.figures,
            remaining: refused.remaining.map(Box::new),
        }
    }
}

impl From<CommandError> for Refused {
    fn from(error: CommandError) -> Self {
        Self {
            code: error.code.to_string(),
            message: error.message,
            hint: error.hint.unwrap_or_default(),
            details: *error.details,
            figures: error.figures,
            remaining: error.remaining.map(|remaining| *remaining),
        }
    }
}

impl From<&Refusal> for CommandError {
    fn from(refusal: &Refusal) -> Self {
        Refused::from(refusal).into()
    }
}

impl From<CommandError> for Trouble {
    fn from(error: CommandError) -> Self {
        let hint = error.hint.unwrap_or_default();
        Self { code: error.code, message: error.message, hint, details: *error.details }
    }
}

impl From<Trouble> for CommandError {
    fn from(trouble: Trouble) -> Self {
        let Trouble { code, message, hint, details } = trouble;
        Self::new(Kind::of(code), code, message).hint(hint).details(details)
    }
}

impl From<legation_core::agent::Refusal> for CommandError {
    /// An agent that is not there, or may not be used.
    fn from(refusal: legation_core::agent::Refusal) -> Self {
        Self::failed(refusal.code, refusal.message).hint(refusal.hint)
    }
}
