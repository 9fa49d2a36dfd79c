//! What is heard of an attempt: of a command directly, of every other agent through its
//! envoy.

use std::collections::BTreeMap;

use legation_core::agent::Runner;
use legation_core::returns::Tokens;

use crate::command::{Parser, Report, Usage};
use crate::envoy::Reader;

/// Listens to the standard output of one attempt.
#[derive(Clone, Debug)]
pub enum Hearing {
    /// A program that speaks for itself.
    Command(Parser),
    /// An envoy.
    Envoy(Reader),
}

impl Hearing {
    /// What listens to that kind of runner.
    pub fn of(runner: Runner) -> Self {
        match runner {
            Runner::Command => Self::Command(Parser::default()),
            Runner::ClaudeCode
            | Runner::Codex
            | Runner::OpenCode
            | Runner::Gemini
            | Runner::Acp
            | Runner::Llm => Self::Envoy(Reader::default()),
        }
    }

    /// Takes the next piece and says what it told.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Report> {
        match self {
            Self::Command(parser) => parser.push(bytes),
            Self::Envoy(reader) => reader.push(bytes),
        }
    }

    /// Takes the end of the output.
    pub fn finish(&mut self) -> Vec<Report> {
        match self {
            Self::Command(parser) => parser.finish(),
            Self::Envoy(reader) => reader.finish(),
        }
    }

    /// What was used so far, in all.
    pub fn usage(&self) -> Usage {
        match self {
            Self::Command(parser) => parser.usage(),
            Self::Envoy(reader) => reader.usage(),
        }
    }

    /// The same tokens by model, where it is known which.
    pub fn by_model(&self) -> Option<&BTreeMap<String, Tokens>> {
        self.envoy().map(Reader::by_model)
    }

    /// The newest text, in which the return and `[delegate:…]` entries are looked for.
    pub fn text(&self) -> String {
        match self {
            Self::Command(parser) => parser.text(),
            Self::Envoy(reader) => reader.text(),
        }
    }

    /// What an envoy passed on; a command has none.
    pub fn envoy(&self) -> Option<&Reader> {
        match self {
            Self::Command(_) => None,
            Self::Envoy(reader) => Some(reader),
        }
    }
}
