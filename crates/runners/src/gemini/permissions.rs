//! What Gemini CLI is told about permissions, as the rules of its policy engine: pure.
//!
//! Everything is closed by a rule that all others beat. What is allowed is opened by the
//! weakest of them, so that whatever the user's own rules forbid stays forbidden; what is
//! not is closed by the strongest, so that none of theirs opens it.

use legation_core::agent::{CANONICAL, Level, Tool, glob};
use serde::Serialize;

use crate::door::{DELEGATING, SERVER};
use crate::envoy::Tools;
use crate::permissions::{Row, Scope};

/// What Gemini CLI calls each canonical tool.
const NAMES: [(&str, &[&str]); 4] = [
    (
        "read",
        &[
            "glob",
            "grep_search",
            "list_directory",
            "read_file",
            "read_many_files",
            "search_file_content",
        ],
    ),
    ("edit", &["replace", "write_file"]),
    ("shell", &["run_shell_command"]),
    ("web", &["google_web_search", "web_fetch"]),
];
/// Its own agents and what changes how it works or what it remembers: nothing may be spent
/// that our ledger does not see, and nothing outlive the attempt.
const NEVER: &[&str] = &[
    "activate_skill",
    "ask_user",
    "browser_agent",
    "cli_help",
    "codebase_investigator",
    "enter_plan_mode",
    "exit_plan_mode",
    "generalist",
    "invoke_agent",
    "save_memory",
];
/// What only keeps its notes in order, or reads what our own server refers to.
const HARMLESS: &[&str] =
    &["list_mcp_resources", "read_mcp_resource", "update_topic", "write_todos"];

/// The rule for everything.
const LAST: u32 = 0;
/// Rules that any rule of the user beats.
const WEAK: u32 = 1;
/// Rules that no rule of the user beats.
const STRONG: u32 = 999;
/// What is opened against all rules of the user: our own server, and parts of a tool.
const OPEN: u32 = 998;
/// The rest of a tool of which parts are open.
const REST: u32 = 997;

/// One rule, by the names of a policy file.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    tool_name: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mcp_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command_prefix: Option<String>,
    decision: &'static str,
    priority: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    allow_redirection: bool,
}

#[derive(Serialize)]
struct File {
    rule: Vec<Rule>,
}

/// The text of the policy file.
pub fn policy(tools: &Tools) -> String {
    let mut rules = vec![Rule::deny(&["*"], LAST)];
    for (tool, names) in NAMES {
        rules.extend(of_tool(&Scope::of(tools, tool), tool, names));
    }
    for (name, level) in &tools.others {
        rules.extend(of_other(name, *level));
    }
    rules.push(Rule::allow(HARMLESS, WEAK));
    rules.push(Rule::deny(NEVER, STRONG));
    rules.push(Rule { mcp_name: Some(SERVER.to_owned()), ..Rule::allow(&["*"], OPEN) });
    if tools.delegate == Level::Deny {
        rules.push(Rule { mcp_name: Some(SERVER.to_owned()), ..Rule::deny(DELEGATING, STRONG) });
    }
    // A rule is made of plain texts and numbers, which can always be written.
    toml::to_string(&File { rule: rules }).unwrap_or_default()
}

impl Rule {
    fn new(names: &[&str], decision: &'static str, priority: u32) -> Self {
        let tool_name = names.iter().map(|name| (*name).to_owned()).collect();
        Self { tool_name, decision, priority, ..Self::default() }
    }

    fn allow(names: &[&str], priority: u32) -> Self {
        Self {
            allow_redirection: names == ["run_shell_command"],
            ..Self::new(names, "allow", priority)
        }
    }

    fn deny(names: &[&str], priority: u32) -> Self {
        Self::new(names, "deny", priority)
    }
}

/// The rules for one canonical tool.
fn of_tool(scope: &Scope<'_>, tool: &str, names: &[&str]) -> Vec<Rule> {
    let prefix = |part: &&str| (tool == "shell").then(|| command_prefix(part)).flatten();
    let closed: Vec<Option<String>> = scope.closed.iter().map(prefix).collect();
    let part = |rule: Rule, prefix: String| Rule { command_prefix: Some(prefix), ..rule };
    // Parts that cannot be told apart close the whole.
    let Some(closed) = closed.into_iter().collect::<Option<Vec<String>>>() else {
        return vec![Rule::deny(names, STRONG)];
    };
    let mut rules: Vec<Rule> =
        closed.into_iter().map(|prefix| part(Rule::deny(names, STRONG), prefix)).collect();
    if scope.level == Level::Allow {
        rules.push(Rule::allow(names, WEAK));
        return rules;
    }
    // A prefix opens whatever comes after it, so only parts that mean that are told.
    let open = scope.open.iter().filter(|part| part.ends_with(" *")).filter_map(prefix);
    let open: Vec<String> = open.collect();
    if open.is_empty() {
        return vec![Rule::deny(names, STRONG)];
    }
    rules.extend(open.into_iter().map(|prefix| part(Rule::allow(names, OPEN), prefix)));
    rules.push(Rule::deny(names, REST));
    rules
}

/// The beginning of a command that a part stands for, where it is nothing but that.
fn command_prefix(part: &str) -> Option<String> {
    let prefix = part.strip_suffix(" *").unwrap_or(part).trim();
    let is_plain = !prefix.is_empty() && !glob::is_pattern(prefix) && !prefix.contains('?');
    is_plain.then(|| prefix.to_owned())
}

/// The rule for a name that is none of ours.
fn of_other(name: &str, level: Level) -> Option<Rule> {
    if level != Level::Allow || CANONICAL.contains(&Tool::new(name).base()) {
        return None;
    }
    if let Some(rest) = name.strip_prefix("mcp:") {
        let (server, tool) = rest.split_once('/')?;
        let is_known = is_plain(server) && (tool == "*" || is_plain(tool)) && server != SERVER;
        return is_known
            .then(|| Rule { mcp_name: Some(server.to_owned()), ..Rule::allow(&[tool], WEAK) });
    }
    (is_plain(name) && !NEVER.contains(&name)).then(|| Rule::allow(&[name], WEAK))
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter))
}

/// The same, for people.
pub fn table(tools: &Tools) -> Vec<Row> {
    let mut rows = Vec::new();
    for (tool, names) in NAMES {
        let scope = Scope::of(tools, tool);
        rows.push(Row::new(tool, scope.level, in_words(&of_tool(&scope, tool, names))));
    }
    let delegate = match tools.delegate {
        Level::Allow | Level::Ask => "the tools of the server `legation`",
        Level::Deny => "not offered; of the server `legation` only what hands in a return",
    };
    rows.push(Row::new("delegate", tools.delegate, delegate));
    for (name, level) in &tools.others {
        if CANONICAL.contains(&Tool::new(name).base()) {
            continue;
        }
        let told = of_other(name, *level);
        let told = told.map_or("not offered".to_owned(), |rule| in_words(&[rule]));
        rows.push(Row::new(name, *level, told));
    }
    rows.push(Row::new("its own sub-agents", Level::Deny, "off, and denied: invoke_agent"));
    rows
}

fn in_words(rules: &[Rule]) -> String {
    let words = |rule: &Rule| {
        let names = rule.tool_name.join(", ");
        let names = match &rule.mcp_name {
            Some(server) => format!("{names} of {server}"),
            None => names,
        };
        match &rule.command_prefix {
            Some(prefix) => format!("{} {names} of `{prefix}`", rule.decision),
            None => format!("{} {names}", rule.decision),
        }
    };
    rules.iter().map(words).collect::<Vec<_>>().join("; ")
}
