//! What Claude Code is told about permissions: pure.
//!
//! What is not allowed is not even offered (`--tools`). An allow-list alone would not do:
//! Claude Code runs commands that it takes for harmless, such as `echo`, without asking
//! anybody, as long as it has a shell at all.

use legation_core::agent::{CANONICAL, Level, Tool};

use crate::door::{DELEGATING, SERVER};
use crate::envoy::Tools;
use crate::permissions::{Row, Scope};

/// What Claude Code calls each canonical tool. The first is the one whose parts can be told.
const NAMES: [(&str, &[&str]); 4] = [
    ("read", &["Read", "Glob", "Grep", "NotebookRead"]),
    ("edit", &["Edit", "Write", "NotebookEdit"]),
    ("shell", &["Bash"]),
    ("web", &["WebFetch", "WebSearch"]),
];
/// Its own ways of starting agents, of coming back later and of working elsewhere: nothing
/// may be spent that our ledger does not see. They are not offered, and denied as well.
pub(crate) const NEVER: &[&str] = &[
    "Agent",
    "CronCreate",
    "EnterWorktree",
    "Monitor",
    "RemoteTrigger",
    "ScheduleWakeup",
    "SendMessage",
    "Skill",
    "Task",
    "Workflow",
];

/// What Claude Code is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Tools that it has at all.
    pub offered: Vec<String>,
    /// What it may use without asking.
    pub allowed: Vec<String>,
    /// What it may not use.
    pub denied: Vec<String>,
}

/// What follows from what an agent may use.
pub fn permissions(tools: &Tools) -> Permissions {
    let mut told = Permissions::default();
    for (tool, names) in NAMES {
        told.add(&Scope::of(tools, tool), names);
    }
    for (name, level) in &tools.others {
        if *level == Level::Allow && is_own_name(name) {
            told.offered.push(name.clone());
            told.allowed.push(name.clone());
        }
    }
    let ours = format!("mcp__{SERVER}");
    if tools.delegate == Level::Deny {
        told.denied.extend(DELEGATING.iter().map(|name| format!("{ours}__{name}")));
    }
    told.allowed.push(ours);
    told.denied.extend(NEVER.iter().map(|name| (*name).to_owned()));
    told
}

impl Permissions {
    fn add(&mut self, scope: &Scope<'_>, names: &[&str]) {
        let owned = || names.iter().map(|name| (*name).to_owned());
        let is_told_apart = scope.closed.iter().all(|part| can_be_told(part));
        let open: Vec<&&str> = scope.open.iter().filter(|part| can_be_told(part)).collect();
        if scope.level == Level::Allow && is_told_apart {
            self.offered.extend(owned());
            self.allowed.extend(owned());
        } else if !open.is_empty() && is_told_apart {
            let first = names.first().copied().unwrap_or_default();
            self.offered.push(first.to_owned());
            self.allowed.extend(open.iter().map(|part| format!("{first}({part})")));
        } else {
            self.denied.extend(owned());
            return;
        }
        for part in &scope.closed {
            self.denied.extend(names.iter().map(|name| format!("{name}({part})")));
        }
    }
}

/// Whether a part can be told in a list of rules without meaning something else there.
fn can_be_told(part: &str) -> bool {
    !part.is_empty() && !part.contains(['(', ')', ',', '\n', '\r', '\0', '"'])
}

/// Whether this is one of Claude Code's own names, for a tool that we have no name for.
fn is_own_name(name: &str) -> bool {
    let is_plain = name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    is_plain && !NEVER.contains(&name)
}

/// The same, for people.
pub fn table(tools: &Tools) -> Vec<Row> {
    let mut rows = Vec::new();
    for (tool, names) in NAMES {
        let scope = Scope::of(tools, tool);
        let mut told = Permissions::default();
        told.add(&scope, names);
        rows.push(Row::new(tool, scope.level, told.in_words()));
    }
    let delegate = match tools.delegate {
        Level::Allow | Level::Ask => "the tools of the server `legation`",
        Level::Deny => "not offered; of the server `legation` only what hands in a return",
    };
    rows.push(Row::new("delegate", tools.delegate, delegate));
    for (name, level) in &tools.others {
        let tool = Tool::new(name);
        if CANONICAL.contains(&tool.base()) {
            continue;
        }
        let is_told = *level == Level::Allow && is_own_name(name);
        let told = if is_told { format!("offers {name}") } else { "not offered".to_owned() };
        rows.push(Row::new(name, *level, told));
    }
    rows.push(Row::new("its own sub-agents", Level::Deny, "not offered: Task, Agent, Workflow"));
    rows
}

impl Permissions {
    fn in_words(&self) -> String {
        if self.offered.is_empty() {
            return "not offered".to_owned();
        }
        let mut words = format!("offers {}", self.offered.join(", "));
        if self.allowed != self.offered {
            words.push_str("; allows ");
            words.push_str(&self.allowed.join(", "));
            words.push_str(" and what Claude Code itself takes for harmless");
        }
        if !self.denied.is_empty() {
            words.push_str("; denies ");
            words.push_str(&self.denied.join(", "));
        }
        words
    }
}
