//! A rejection is an answer: what was asked cannot be had, and here is why.

use serde::Serialize;
use serde_json::Value;

use crate::agent;
use crate::code::Code;
use crate::ids::{DelegationId, SubtaskId};

/// Why a command has no effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Rejection {
    /// A rule refuses it.
    Refused(Box<Refusal>),
    /// The same call is known already; this is its delegation.
    Same(DelegationId),
    /// A report about something that has moved on; nothing is lost by dropping it.
    Stale,
}

/// A rule's refusal: the stable first line, the figures, one suggestion.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Refusal {
    /// The stable code.
    pub code: Code,
    /// The first line.
    pub message: String,
    /// One suggestion.
    pub hint: String,
    /// The figures, by name.
    pub details: Box<Value>,
    /// The figures as lines for people.
    #[serde(skip)]
    pub figures: Box<[String]>,
}

impl Refusal {
    /// A refusal without figures.
    pub fn new(code: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: hint.into(),
            details: Box::default(),
            figures: Box::default(),
        }
    }

    /// Adds the figures, for programs and for people.
    #[must_use]
    pub fn with(mut self, details: Value, figures: &[String]) -> Self {
        *self.details = details;
        self.figures = Box::from(figures);
        self
    }

    /// The whole text for people: first line, figures, suggestion.
    pub fn to_text(&self) -> String {
        let mut text = self.message.clone();
        if !self.figures.is_empty() {
            text.push_str("\n\n");
            text.push_str(&self.figures.join("\n"));
        }
        if !self.hint.is_empty() {
            text.push_str(&format!("\n\nSuggestion: {}", self.hint));
        }
        text
    }
}

impl From<agent::Refusal> for Refusal {
    fn from(refusal: agent::Refusal) -> Self {
        Self::new(refusal.code, refusal.message, refusal.hint)
    }
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl Rejection {
    /// Nothing of that name is in the tree.
    pub fn not_found(what: &str, id: &str) -> Self {
        Refusal::new(
            Code::Conflict,
            format!("There is no {what} `{id}` here."),
            "`legation status --all` lists what there is.",
        )
        .with(serde_json::json!({"missing": what, "id": id}), &[])
        .into()
    }

    /// The delegation has no such subtask.
    pub fn no_subtask(delegation: &DelegationId, id: &SubtaskId) -> Self {
        Refusal::new(
            Code::Conflict,
            format!("There is no subtask `{id}` in `{delegation}`."),
            format!("`legation status {delegation}` lists its subtasks."),
        )
        .with(serde_json::json!({"missing": "subtask", "id": id}), &[])
        .into()
    }

    /// The thing is not in a state in which this can be done.
    pub fn conflict(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Refusal::new(Code::Conflict, message, hint).into()
    }
}

/// Whole thousands as `100k`, everything else as digits with separators.
pub fn thousands(tokens: u64) -> String {
    if tokens >= 1000 && tokens.is_multiple_of(1000) {
        return format!("{}k", separated(tokens / 1000));
    }
    separated(tokens)
}

/// Digits in groups of three.
pub fn separated(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
