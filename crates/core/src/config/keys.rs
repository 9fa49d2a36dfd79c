//! The table of keys: from it come the range checks, the JSON Schema, the
//! names of environment variables and the reference.
//!
//! A key's default stands in the model, and so does its description; neither
//! is repeated here.

use serde_json::Value;

use super::kind::Kind;
use super::model::Config;
use super::path::{KeyPath, get};

/// One key of the configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// Its dotted name; a part `*` is a name of the user's own.
    pub path: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Whether `null` is accepted, and means what happens without the key.
    pub is_optional: bool,
}

/// A day, for the largest spans of time.
const DAY_MS: u64 = 86_400_000;
/// Sums over the largest tree of the largest budgets still fit into 64 bits.
const MAX_TOKENS: u64 = 1_000_000_000_000;

const PERCENT: Kind = whole(0, 100);
/// Factors are divided by these, so that they cannot be zero.
const DIVISOR: Kind = whole(1, 100);
const TOKENS: Kind = whole(0, MAX_TOKENS);
const AT_ONCE: Kind = whole(1, 100_000);
const COUNT: Kind = whole(1, 1_000_000);
const DAYS: Kind = whole(0, 36_500);
const MEGABYTES: Kind = whole(0, 1_000_000_000);
const PRICE: Kind = number(0.0, 1_000_000.0);
const MODES: Kind = Kind::Word(&["disabled", "suggest", "auto", "smart"]);
const PATTERNS: Kind = Kind::Word(&[
    "parallel",
    "parallel_streaming",
    "sequential",
    "dag",
    "debate",
    "review",
    "ensemble",
    "direct",
]);

/// Every key there is, in the order of the reference.
pub const KEYS: &[Key] = &[
    key("enabled", Kind::Flag),
    key("mode", MODES),
    key("thresholds.delegationScore", PERCENT),
    key("thresholds.autoAcceptConfidence", PERCENT),
    key("thresholds.complexityTrigger", DIVISOR),
    key("thresholds.minSubtasks", DIVISOR),
    key("thresholds.effortHours", number(0.01, 10_000.0)),
    key("thresholds.contextUtilization", DIVISOR),
    key("limits.maxDepth", whole(1, 5)),
    key("limits.maxConcurrentAgents", AT_ONCE),
    key("limits.maxConcurrentTotal", AT_ONCE),
    key("limits.maxDelegationsPerTask", COUNT),
    key("limits.maxAgentsPerTree", COUNT),
    key("limits.tokenBudgetPerChild", TOKENS),
    key("limits.maxTotalTokens", TOKENS),
    key("limits.maxCostUsd", number(0.0, 1_000_000.0)),
    key("limits.maxContextPerAgent", TOKENS),
    key("limits.subtaskTimeout", whole(1, 7 * DAY_MS)),
    key("limits.delegationTimeout", whole(1, 30 * DAY_MS)),
    key("limits.unmetered", Kind::Word(&["refuse", "time"])),
    key("patterns.default", PATTERNS),
    key("patterns.hints.parallel", Kind::List),
    key("patterns.hints.sequential", Kind::List),
    key("patterns.hints.debate", Kind::List),
    key("patterns.hints.review", Kind::List),
    key("patterns.hints.ensemble", Kind::List),
    key("ui.showReasoningPanel", Kind::Flag),
    key("ui.expandProgressTree", Kind::Flag),
    key("ui.notificationSound", Kind::Flag),
    key("ui.compactMode", Kind::Flag),
    key("ui.autoCollapseCompleted", Kind::Flag),
    key("ui.showTokenUsage", Kind::Flag),
    key("recovery.autoRetry", Kind::Flag),
    key("recovery.maxRetries", whole(0, 100)),
    key("recovery.rollbackOnFailure", Kind::Flag),
    key("recovery.continueOnPartialFailure", Kind::Flag),
    key("logging.logDecisions", Kind::Flag),
    key("logging.logProgress", Kind::Flag),
    key("logging.storeHistory", Kind::Flag),
    key("logging.historyRetention", DAYS),
    optional("permissions.allow", Kind::List),
    key("permissions.ask", Kind::List),
    key("permissions.deny", Kind::List),
    key("agents.disabled", Kind::List),
    optional("agents.planner", Kind::Text),
    optional("agents.judge", Kind::Text),
    optional("agents.resolver", Kind::Text),
    key("agents.grants", Kind::Grants),
    key("sandbox.fence", Kind::Word(&["require", "auto", "off"])),
    key("sandbox.writable", Kind::List),
    key("sandbox.readable", Kind::List),
    key("sandbox.network", Kind::Word(&["allow", "own_ports", "deny"])),
    key("sandbox.cgroup", Kind::Word(&["always", "auto", "off"])),
    optional("sandbox.memoryMb", whole(16, 1_000_000_000)),
    optional("sandbox.pids", whole(8, 4_194_304)),
    key("sandbox.openFiles", whole(64, 1_048_576)),
    key("workspace.mechanism", Kind::Word(&["auto", "overlay", "pool", "worktree", "copy"])),
    optional("workspace.dir", Kind::Text),
    key("workspace.share", Kind::List),
    key("workspace.setup", Kind::List),
    key("workspace.quotaMb", MEGABYTES),
    key("workspace.maxAgeDays", DAYS),
    key("workspace.copyLimitMb", MEGABYTES),
    key("serve.port", whole(0, 65_535)),
    key("prices.*.input", PRICE),
    key("prices.*.output", PRICE),
    key("prices.*.cacheRead", PRICE),
    key("prices.*.cacheWrite", PRICE),
];

/// Sections that take a word in their place, and the key that it is a short form of.
const SHORT_FORMS: &[(&str, &str)] = &[("sandbox", "sandbox.fence")];

/// The key that is meant where a section has a word in its place: `sandbox = "require"`.
pub fn short_form(section: &KeyPath) -> Option<&'static Key> {
    let section = section.to_string();
    let (_, meant) = SHORT_FORMS.iter().find(|(name, _)| *name == section)?;
    KEYS.iter().find(|key| key.path == *meant)
}

/// What stands at a path, as far as the table knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node {
    /// A key.
    Key(&'static Key),
    /// A section with keys in it.
    Section,
    /// Nothing.
    Unknown,
}

/// What stands at a path.
pub fn at(path: &KeyPath) -> Node {
    let mut below = KEYS.iter().filter(|key| key.is_within(path));
    match below.next() {
        Some(key) if key.parts().count() == path.parts().len() => Node::Key(key),
        Some(_) => Node::Section,
        None => Node::Unknown,
    }
}

/// The names that a section has, in the order of the table.
pub fn names_in(section: &KeyPath) -> Vec<&'static str> {
    let depth = section.parts().len();
    let below = KEYS.iter().filter(|key| key.is_within(section));
    let mut names: Vec<_> = below.filter_map(|key| key.parts().nth(depth)).collect();
    names.dedup();
    names.retain(|name| *name != "*");
    names
}

impl Key {
    /// The parts of its name.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &'static str> + use<> {
        self.path.split('.')
    }

    /// Whether part of its name is the user's own.
    pub fn is_family(&self) -> bool {
        self.parts().any(|part| part == "*")
    }

    /// Its name as a path.
    pub fn key_path(&self) -> KeyPath {
        KeyPath::of(self.parts())
    }

    /// Its value where nobody has set it; `null` if there is none.
    pub fn default_value(&self) -> Value {
        let defaults = serde_json::to_value(Config::default()).unwrap_or_default();
        get(&defaults, &self.key_path()).cloned().unwrap_or_default()
    }

    /// Whether the key stands at this path or below it.
    fn is_within(&self, path: &KeyPath) -> bool {
        let mut mine = self.parts();
        path.parts().all(|part| mine.next().is_some_and(|own| own == part || own == "*"))
    }
}

const fn key(path: &'static str, kind: Kind) -> Key {
    Key { path, kind, is_optional: false }
}

const fn optional(path: &'static str, kind: Kind) -> Key {
    Key { path, kind, is_optional: true }
}

const fn whole(min: u64, max: u64) -> Kind {
    Kind::Whole { min, max }
}

const fn number(min: f64, max: f64) -> Kind {
    Kind::Number { min, max }
}
