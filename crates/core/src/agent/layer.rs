//! One layer of permissions: what the configuration, an agent or a call says
//! about tools, taken by itself.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tool::{DELEGATE, Tool};
use super::{Definition, ToolRules, glob};
use crate::config;
use crate::ids::AgentId;

/// How freely a tool may be used. A smaller level wins over a larger one.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Not at all.
    Deny,
    /// After a human has said so, each time.
    Ask,
    /// Freely.
    Allow,
}

impl Level {
    /// The level as it is written in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Allow => "allow",
        }
    }
}

/// Where a layer comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The configuration, or the built-in defaults where it says nothing.
    Global,
    /// An agent above the one that is asked about.
    Ancestor(AgentId),
    /// The agent that is asked about.
    Agent(AgentId),
    /// The call that starts it.
    Call,
    /// A grant that the configuration names.
    Grant(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global => f.write_str("global"),
            Self::Ancestor(id) | Self::Agent(id) => f.write_str(id.as_str()),
            Self::Call => f.write_str("call"),
            Self::Grant(name) => write!(f, "grant:{name}"),
        }
    }
}

/// Why a layer says what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Because {
    /// A rule speaks of the tool.
    Rule(String),
    /// A rule speaks of a part of the tool, and a whole is no freer than its parts.
    Part(String),
    /// There is a list of allowed tools, and this one is not on it.
    Unlisted,
    /// Nothing else is said, and that is the default.
    Default,
    /// It has no right to delegate to anybody.
    NoSubagents,
    /// Its `subagents.deny` names whom the delegation is for.
    DeniedSubagent(String),
    /// A grant lifts what the ancestors say.
    Lifted,
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(rule) => write!(f, "the rule `{rule}`"),
            Self::Part(rule) => write!(f, "the rule `{rule}` about a part of it"),
            Self::Unlisted => f.write_str("not on the list of allowed tools"),
            Self::Default => f.write_str("the default"),
            Self::NoSubagents => f.write_str("it has no `subagents` to delegate to"),
            Self::DeniedSubagent(rule) => write!(f, "its `subagents.deny` names `{rule}`"),
            Self::Lifted => f.write_str("lifted as far as the other layers go"),
        }
    }
}

/// One layer of permissions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Layer {
    pub(super) source: Source,
    pub(super) rules: ToolRules,
    may_delegate: bool,
    denied_subagents: Vec<String>,
}

impl Layer {
    /// What the configuration says. A list of allowed tools replaces the default one.
    pub fn global(permissions: &config::Permissions) -> Self {
        Self {
            source: Source::Global,
            rules: ToolRules {
                allow: permissions.allow.clone(),
                ask: permissions.ask.clone(),
                deny: permissions.deny.clone(),
            },
            may_delegate: true,
            denied_subagents: Vec::new(),
        }
    }

    /// What an ancestor's definition says.
    pub fn ancestor(id: AgentId, definition: &Definition) -> Self {
        Self::of(Source::Ancestor(id), definition)
    }

    /// What the agent's own definition says.
    pub fn agent(id: AgentId, definition: &Definition) -> Self {
        Self::of(Source::Agent(id), definition)
    }

    /// What the call says.
    pub fn call(rules: &ToolRules) -> Self {
        Self {
            source: Source::Call,
            rules: rules.clone(),
            may_delegate: true,
            denied_subagents: Vec::new(),
        }
    }

    fn of(source: Source, definition: &Definition) -> Self {
        let subagents = definition.subagents.as_ref();
        Self {
            source,
            rules: definition.tools.clone(),
            may_delegate: subagents.is_some_and(|subagents| !subagents.allow.is_empty()),
            denied_subagents: subagents.map(|list| list.deny.clone()).unwrap_or_default(),
        }
    }

    /// What the layer says about a tool, if it says anything.
    pub(super) fn opinion(&self, tool: &Tool<'_>, parts: Parts) -> Option<(Level, Because)> {
        match restricted(&self.rules.deny, tool, parts) {
            Some(because) => return Some((Level::Deny, because)),
            None if !self.may_delegate && glob::overlap(tool.base(), DELEGATE) => {
                return Some((Level::Deny, Because::NoSubagents));
            }
            None => {}
        }
        if let Some(rule) = self.denied_subagent(tool) {
            return Some((Level::Deny, Because::DeniedSubagent(rule.to_owned())));
        }
        match restricted(&self.rules.ask, tool, parts) {
            Some(because @ Because::Part(_)) => match self.listed(tool) {
                // A question about a part does not open the rest.
                Some((Level::Deny, unlisted)) => Some((Level::Deny, unlisted)),
                Some((Level::Ask | Level::Allow, _)) | None => Some((Level::Ask, because)),
            },
            Some(because) => Some((Level::Ask, because)),
            None => self.listed(tool),
        }
    }

    /// The most that the layer leaves of anything that a pattern stands for, if it says
    /// anything about all of that.
    pub(super) fn freest(&self, tools: &Tool<'_>) -> Option<Level> {
        let covers = |rules: &[String]| rules.iter().any(|rule| Tool::new(rule).covers(tools));
        let touches = |rules: &[String]| rules.iter().any(|rule| Tool::new(rule).touches(tools));
        if covers(&self.rules.deny) {
            return Some(Level::Deny);
        }
        if covers(&self.rules.ask) {
            return Some(Level::Ask);
        }
        let asks = touches(&self.rules.ask);
        match (&self.rules.allow, &self.source) {
            (Some(list), _) if touches(list) => Some(Level::Allow),
            (Some(_), _) | (None, Source::Global) if asks => Some(Level::Ask),
            (None, Source::Global) => Some(default_level(tools)),
            (Some(_), _) => Some(Level::Deny),
            (None, Source::Ancestor(_) | Source::Agent(_) | Source::Call | Source::Grant(_)) => {
                None
            }
        }
    }

    /// The entry of `subagents.deny` that speaks of the agent in the brackets. The bare tool
    /// stays as free as it is: whom it may not be used for is no part that takes it away.
    fn denied_subagent(&self, tool: &Tool<'_>) -> Option<&str> {
        let agent = tool.part().filter(|_| glob::overlap(tool.base(), DELEGATE))?;
        let mut rules = self.denied_subagents.iter().map(String::as_str);
        rules.find(|rule| glob::overlap(rule, agent))
    }

    /// What the list of allowed tools says, or the lack of one.
    fn listed(&self, tool: &Tool<'_>) -> Option<(Level, Because)> {
        let list = self.rules.allow.as_deref();
        let mut rules = list.into_iter().flatten();
        if let Some(rule) = rules.find(|rule| Tool::new(rule).covers(tool)) {
            return Some((Level::Allow, Because::Rule(rule.clone())));
        }
        let mut rules = list.into_iter().flatten();
        // Whether an agent delegates is what `subagents` is for: a list of other
        // tools does not take it away, only a rule that speaks of it does. An empty
        // list is no list of other tools: whoever writes one means none at all.
        let follows_subagents = tool.base() == DELEGATE
            && list.is_none_or(|list| !list.is_empty())
            && !rules.any(|rule| Tool::new(rule).base() == DELEGATE);
        match self.source {
            Source::Global | Source::Ancestor(_) | Source::Agent(_) if follows_subagents => {
                Some((Level::Allow, Because::Default))
            }
            Source::Global if list.is_none() => Some((default_level(tool), Because::Default)),
            Source::Global
            | Source::Ancestor(_)
            | Source::Agent(_)
            | Source::Call
            | Source::Grant(_) => list.map(|_| (Level::Deny, Because::Unlisted)),
        }
    }
}

/// How freely a tool may be used where the configuration has no list of its own.
fn default_level(tool: &Tool<'_>) -> Level {
    match tool.base() {
        "read" | "edit" | "shell" => Level::Allow,
        "web" => Level::Ask,
        _ => Level::Deny,
    }
}

/// How much a rule about a part of a tool says about the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parts {
    /// Everything: a whole is no freer than its parts.
    Bind,
    /// Nothing: each use is checked when it comes.
    CheckedByUse,
}

/// The first rule that restricts the tool; one about all of it rather than about a part.
fn restricted(rules: &[String], tool: &Tool<'_>, parts: Parts) -> Option<Because> {
    let mut part = None;
    for rule in rules {
        let taken = Tool::new(rule);
        if taken.covers(tool) {
            return Some(Because::Rule(rule.clone()));
        }
        if part.is_none() && taken.touches(tool) {
            part = Some(rule);
        }
    }
    match parts {
        Parts::Bind => part.map(|rule| Because::Part(rule.clone())),
        Parts::CheckedByUse => None,
    }
}
