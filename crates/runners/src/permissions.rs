//! What an agent may use, as far as every vendor's module has to know: all of a tool, parts
//! of it, or nothing.
//!
//! How a program is told is for its vendor's module to say; nothing is decided here.

use legation_core::agent::{CANONICAL, Level, Runner, Tool, glob};
use serde::Serialize;

use crate::envoy::Tools;
use crate::{claude_code, codex, gemini, opencode};

/// One line of the table that people are shown: what is permitted, and what a program is
/// told about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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

/// What a runner's program is told about those permissions, for people.
pub fn told(runner: Runner, tools: &Tools) -> Vec<Row> {
    match runner {
        Runner::ClaudeCode => claude_code::table(tools),
        Runner::Codex => codex::table(tools),
        Runner::Gemini => gemini::table(tools),
        Runner::OpenCode => opencode::table(tools),
        Runner::Acp => {
            let mut rows = by_us(tools, |level| match level {
                Level::Allow => "each request is granted, once",
                Level::Ask => "each request waits for a human",
                Level::Deny => "each request is declined",
            });
            let told = "OpenCode: task: deny; Claude: not offered: Task, Agent, Workflow; \
                        others: declined where they ask";
            rows.push(Row::new("its own sub-agents", Level::Deny, told));
            rows
        }
        Runner::Llm => by_us(tools, |level| match level {
            Level::Allow => "offered to the model",
            Level::Ask => "offered; each use waits for a human",
            Level::Deny => "not offered",
        }),
        Runner::Command => vec![Row::new(
            "edit",
            tools.edit,
            match tools.edit {
                Level::Allow => "its workspace is writable",
                Level::Ask | Level::Deny => "its workspace is read-only, where there is a fence",
            },
        )],
    }
}

/// The table of runners whose every request we answer ourselves.
fn by_us(tools: &Tools, words: fn(Level) -> &'static str) -> Vec<Row> {
    let row = |tool: &str| {
        let level = Scope::of(tools, tool).level;
        Row::new(tool, level, words(level))
    };
    let named = tools.others.iter().map(|(name, level)| Row::new(name, *level, words(*level)));
    CANONICAL.into_iter().map(row).chain(named).collect()
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
