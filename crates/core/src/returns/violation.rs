//! The checks by name, and what a failed one says.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Code;

/// The checks a return goes through, in this order; the first failure is the answer.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// There is one JSON object, and it can be read.
    Json,
    /// Every field that must be there is, and each has the right type.
    Required,
    /// The status is one of the four.
    Status,
    /// It answers the session that was asked.
    Session,
    /// The summary is neither blank nor too long.
    Summary,
    /// Errors are complete, and there are some unless completed.
    Errors,
    /// Artifacts lie inside the workspace and, if completed, have content.
    Artifacts,
    /// `data` matches the agent's schema.
    Schema,
}

impl Check {
    /// Every check, in order.
    pub const ALL: &[Self] = &[
        Self::Json,
        Self::Required,
        Self::Status,
        Self::Session,
        Self::Summary,
        Self::Errors,
        Self::Artifacts,
        Self::Schema,
    ];

    /// The name as it stands in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Required => "required",
            Self::Status => "status",
            Self::Session => "session",
            Self::Summary => "summary",
            Self::Errors => "errors",
            Self::Artifacts => "artifacts",
            Self::Schema => "schema",
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The first check that a return failed: what is wrong, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("{message}")]
pub struct Violation {
    /// Which check.
    pub check: Check,
    /// Always [`Code::ValidationFailed`].
    pub code: Code,
    /// What is wrong and where.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Violation {
    /// A failed check.
    pub fn new(check: Check, message: impl Into<String>) -> Self {
        Self { check, code: Code::ValidationFailed, message: message.into(), hint: None }
    }

    /// Says what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Characters of a child's own words that a message may repeat.
const QUOTED_CHARS: usize = 80;

/// A child's own words inside a message: in quotes, escaped, and short.
pub(super) fn quoted(text: &str) -> String {
    let mut chars = text.chars();
    let mut short: String = chars.by_ref().take(QUOTED_CHARS).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    format!("{short:?}")
}
