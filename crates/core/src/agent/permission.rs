//! Who may use which tool.
//!
//! Permissions come in layers: the configuration, each ancestor, the agent, the
//! call. What holds is the least that any layer says, so a layer can only take
//! away. The one exception is a grant, which the configuration must name.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::layer::{Because, Layer, Level, Parts, Source};
use super::tool::{CANONICAL, Tool};
use crate::config;

/// What came out for a tool, and who decided it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How freely the tool may be used.
    pub level: Level,
    /// The outermost layer that says no more than this.
    pub decided_by: Source,
    /// Why it says so.
    pub because: Because,
}

/// A verdict in words, as explanations show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explained {
    /// The tool's canonical name.
    pub tool: String,
    /// How freely it may be used.
    pub effective: Level,
    /// The layer that decided.
    pub decided_by: String,
    /// Why that layer says so.
    pub because: String,
}

/// The layers that hold for one agent at one place in the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permissions {
    global: Layer,
    layers: Vec<Layer>,
    lifts: Vec<Lift>,
}

/// A grant in force: the first `layers` layers do not bind the tools it names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Lift {
    grant: String,
    tools: Vec<String>,
    layers: usize,
}

impl Permissions {
    /// The permissions of a root: what the configuration says and nothing else.
    pub fn new(permissions: &config::Permissions) -> Self {
        Self { global: Layer::global(permissions), layers: Vec::new(), lifts: Vec::new() }
    }

    /// The same with one more layer, which can only take away.
    #[must_use]
    pub fn and(mut self, layer: Layer) -> Self {
        self.layers.push(layer);
        self
    }

    /// The same with a grant that lifts every layer so far, the global one excepted.
    #[must_use]
    pub fn lifted_by(mut self, grant: &config::Grant) -> Self {
        self.lifts.push(Lift {
            grant: grant.name.clone(),
            tools: grant.tools.clone(),
            layers: self.layers.len(),
        });
        self
    }

    /// How freely a tool may be used.
    ///
    /// A bare name is asked about as a whole, and a whole is no freer than any of
    /// its parts: where `shell(rm *)` is denied, `shell` is.
    pub fn verdict(&self, tool: &str) -> Verdict {
        self.judge(tool, Parts::Bind)
    }

    /// How freely a tool may be used where each use is checked again when it comes,
    /// so that rules about parts of it need not bind the whole.
    pub fn verdict_checked_by_use(&self, tool: &str) -> Verdict {
        self.judge(tool, Parts::CheckedByUse)
    }

    /// The most that is left of anything a pattern such as `mcp:git/*` stands for. It may
    /// be more than any one name of it gets, and is never less.
    pub fn freest(&self, pattern: &str) -> Level {
        let tools = Tool::new(pattern);
        let least = |skipped: usize| {
            let layers = std::iter::once(&self.global).chain(self.layers.iter().skip(skipped));
            layers.filter_map(|layer| layer.freest(&tools)).min().unwrap_or(Level::Deny)
        };
        let touches = |lift: &&Lift| lift.tools.iter().any(|rule| Tool::new(rule).touches(&tools));
        let lifted = self.lifts.iter().filter(touches).map(|lift| least(lift.layers));
        lifted.chain([least(0)]).max().unwrap_or(Level::Deny)
    }

    /// The names of grants that are in force here, for the log.
    pub fn grants(&self) -> impl Iterator<Item = &str> {
        self.lifts.iter().map(|lift| lift.grant.as_str())
    }

    /// Every tool that any layer names, and the canonical ones.
    pub fn tools(&self) -> Vec<String> {
        let layers = std::iter::once(&self.global).chain(&self.layers);
        let rules = layers.flat_map(|layer| {
            let rules = &layer.rules;
            rules.allow.iter().flatten().chain(&rules.ask).chain(&rules.deny)
        });
        let granted = self.lifts.iter().flat_map(|lift| &lift.tools);
        let named: BTreeSet<&str> = rules
            .chain(granted)
            .map(String::as_str)
            .filter(|name| !CANONICAL.contains(name))
            .collect();
        CANONICAL.into_iter().chain(named).map(str::to_owned).collect()
    }

    /// The verdict on each of these tools, in words.
    pub fn explain(&self, tools: &[String]) -> Vec<Explained> {
        let explained = |tool: &String| {
            let verdict = self.verdict(tool);
            Explained {
                tool: tool.clone(),
                effective: verdict.level,
                decided_by: verdict.decided_by.to_string(),
                because: verdict.because.to_string(),
            }
        };
        tools.iter().map(explained).collect()
    }

    fn judge(&self, tool: &str, parts: Parts) -> Verdict {
        let tool = Tool::new(tool);
        let bound = self.least(&tool, parts, 0);
        // The grant that was given last lifts the most layers.
        let lift = self.lifts.iter().rev().find(|lift| {
            let mut tools = lift.tools.iter();
            tools.any(|rule| Tool::new(rule).covers(&tool))
        });
        let Some(lift) = lift else { return bound };
        let lifted = self.least(&tool, parts, lift.layers);
        if lifted.level > bound.level {
            Verdict {
                level: lifted.level,
                decided_by: Source::Grant(lift.grant.clone()),
                because: Because::Lifted,
            }
        } else {
            bound
        }
    }

    /// The least that the global layer and those after the first `skipped` say.
    fn least(&self, tool: &Tool<'_>, parts: Parts, skipped: usize) -> Verdict {
        let verdict = |layer: &Layer| {
            let (level, because) = layer.opinion(tool, parts)?;
            Some(Verdict { level, decided_by: layer.source.clone(), because })
        };
        // The global layer has a list of allowed tools, so it always has an opinion.
        let mut least = verdict(&self.global).unwrap_or(Verdict {
            level: Level::Deny,
            decided_by: Source::Global,
            because: Because::Unlisted,
        });
        for next in self.layers.iter().skip(skipped).filter_map(verdict) {
            if next.level < least.level {
                least = next;
            }
        }
        least
    }
}
