//! Names of tools, and when a rule speaks of one.
//!
//! A name may carry a part in brackets: `shell(git *)` is the shell for commands
//! that begin with `git `. A bare name is the whole tool, all its parts together.

use super::glob;

/// The tools that every runner has in one form or another.
pub const CANONICAL: [&str; 5] = ["read", "edit", "shell", "web", DELEGATE];

/// The tool that hands work to another agent.
pub(super) const DELEGATE: &str = "delegate";

/// A tool's name, or a rule about tools, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tool<'a> {
    base: &'a str,
    part: Option<&'a str>,
}

impl<'a> Tool<'a> {
    /// Takes a name apart. Anything is a name; brackets count only at the end.
    pub fn new(name: &'a str) -> Self {
        let name = name.trim();
        let parts = name.strip_suffix(')').and_then(|name| name.split_once('('));
        match parts {
            Some((base, part)) if !base.is_empty() && part != "*" => {
                Self { base, part: Some(part) }
            }
            Some((base, _)) if !base.is_empty() => Self { base, part: None },
            Some(_) | None => Self { base: name, part: None },
        }
    }

    /// The tool without its part.
    pub fn base(&self) -> &'a str {
        self.base
    }

    /// What is in the brackets; absent means all of it.
    pub fn part(&self) -> Option<&'a str> {
        self.part
    }

    /// Whether this rule speaks of all that `name` stands for.
    pub fn covers(&self, name: &Tool<'_>) -> bool {
        glob::matches(self.base, name.base)
            && self.part.is_none_or(|part| name.part.is_some_and(|name| glob::matches(part, name)))
    }

    /// Whether this rule speaks of anything that `name` stands for.
    pub fn touches(&self, name: &Tool<'_>) -> bool {
        let parts = match (self.part, name.part) {
            (Some(rule), Some(name)) => glob::overlap(rule, name),
            (Some(_), None) | (None, Some(_) | None) => true,
        };
        parts && glob::overlap(self.base, name.base)
    }
}
