//! What an agent may use, as far as every vendor's module has to know: all of a tool, parts
//! of it, or nothing.
//!
//! How a program is told is for its vendor's module to say; nothing is decided here.

use legation_core::agent::{Level, Tool, glob};

use crate::envoy::Tools;

/// One line of the table that people are shown: what is permitted, and what a program is
/// told about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The canonical name.
    pub tool: String,
    /// How freely it may be used.
    pub level: Level,
    /// What the program is told.
    pub told: String,
}

impl Row {
    /// A line of the table.
    pub fn new(tool: impl Into<String>, level: Level, told: impl Into<String>) -> Self {
        Self { tool: tool.into(), level, told: told.into() }
    }
}

/// How much of one canonical tool may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope<'a> {
    /// How freely the whole may be, parts that are closed apart.
    pub level: Level,
    /// Parts that are allowed, as they stand in the brackets.
    pub open: Vec<&'a str>,
    /// Parts that are not: what would have to be asked cannot be where nobody is there.
    pub closed: Vec<&'a str>,
}

impl<'a> Scope<'a> {
    /// How much of `tool` those permissions leave.
    pub fn of(tools: &'a Tools, tool: &str) -> Self {
        let level = match tool {
            "read" => tools.read,
            "edit" => tools.edit,
            "shell" => tools.shell,
            "web" => tools.web,
            "delegate" => tools.delegate,
            _ => tools.others.get(tool).copied().unwrap_or(Level::Deny),
        };
        let mut scope = Self { level, open: Vec::new(), closed: Vec::new() };
        for (name, level) in &tools.others {
            let named = Tool::new(name);
            let Some(part) = named.part().filter(|_| glob::matches(named.base(), tool)) else {
                continue;
            };
            match level {
                Level::Allow => scope.open.push(part),
                Level::Ask | Level::Deny => scope.closed.push(part),
            }
        }
        scope
    }

    /// Whether all of it may be used.
    pub fn is_whole(&self) -> bool {
        self.level == Level::Allow && self.closed.is_empty()
    }

    /// Whether none of it may be.
    pub fn is_nothing(&self) -> bool {
        self.level != Level::Allow && self.open.is_empty()
    }
}
