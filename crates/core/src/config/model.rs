//! The effective configuration, typed. Key names are those of the files.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pattern::Pattern;
use crate::money::Usd;

/// Everything that can be configured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Config {
    /// Whether anything may be delegated at all.
    pub enabled: bool,
    /// When a task is delegated without being told to.
    pub mode: Mode,
    /// What the decision compares its factors with.
    pub thresholds: Thresholds,
    /// The bounds that hold every delegation.
    pub limits: Limits,
    /// Which pattern a task gets.
    pub patterns: Patterns,
    /// What the user interfaces show.
    pub ui: Ui,
    /// What happens after a failure.
    pub recovery: Recovery,
    /// What is written down and for how long.
    pub logging: Logging,
    /// The global layer of permissions.
    pub permissions: Permissions,
    /// Which agents are switched off, which have a special part, and named grants.
    pub agents: Agents,
    /// How child processes are fenced. `sandbox = "require"` is short for its key `fence`.
    pub sandbox: Sandbox,
    /// How isolated working copies are made.
    pub workspace: Workspace,
    /// How `legation serve` listens.
    pub serve: Serve,
    /// Prices per million tokens, by model; they override the built-in table.
    pub prices: BTreeMap<String, Price>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            enabled: true,
            mode: Mode::default(),
            thresholds: Thresholds::default(),
            limits: Limits::default(),
            patterns: Patterns::default(),
            ui: Ui::default(),
            recovery: Recovery::default(),
            logging: Logging::default(),
            permissions: Permissions::default(),
            agents: Agents::default(),
            sandbox: Sandbox::default(),
            workspace: Workspace::default(),
            serve: Serve::default(),
            prices: BTreeMap::new(),
        }
    }
}

/// When a task is delegated without being told to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Never.
    Disabled,
    /// Show the decision and ask.
    #[default]
    Suggest,
    /// Go ahead when the decision is confident enough.
    Auto,
    /// Like `auto`, with the score corrected by recorded outcomes.
    Smart,
}

/// What the decision compares its factors with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Thresholds {
    /// The score from which delegation is suggested.
    pub delegation_score: u32,
    /// The confidence from which it goes ahead unasked.
    pub auto_accept_confidence: u32,
    /// The complexity that counts as full.
    pub complexity_trigger: u32,
    /// The number of subtasks that counts as full.
    pub min_subtasks: u32,
    /// The hours of effort that count as large.
    pub effort_hours: f64,
    /// The context utilisation that counts as full.
    pub context_utilization: u32,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            delegation_score: 60,
            auto_accept_confidence: 85,
            complexity_trigger: 50,
            min_subtasks: 3,
            effort_hours: 4.0,
            context_utilization: 75,
        }
    }
}

/// The bounds that hold every delegation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// How deep a tree may go.
    pub max_depth: u32,
    /// How many attempts of one delegation may run at once.
    pub max_concurrent_agents: u32,
    /// How many attempts may run at once in the whole engine.
    pub max_concurrent_total: u32,
    /// How many subtasks one task's caller may ask for.
    pub max_delegations_per_task: u32,
    /// How many attempts one tree may start, retries and pattern nodes included.
    pub max_agents_per_tree: u32,
    /// Tokens a child may use at most.
    pub token_budget_per_child: u64,
    /// Tokens a tree may use at most.
    pub max_total_tokens: u64,
    /// Dollars a tree may cost at most.
    pub max_cost_usd: Usd,
    /// Tokens of context that parent and child may have together.
    pub max_context_per_agent: u64,
    /// Milliseconds a subtask may take where nothing else says so.
    pub subtask_timeout: u64,
    /// Milliseconds a delegation may take.
    pub delegation_timeout: u64,
    /// What becomes of a runner that can report neither tokens nor cost while a cap is set.
    pub unmetered: Unmetered,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_depth: 3,
            max_concurrent_agents: 5,
            max_concurrent_total: 20,
            max_delegations_per_task: 10,
            max_agents_per_tree: 64,
            token_budget_per_child: 200_000,
            max_total_tokens: 2_000_000,
            max_cost_usd: Usd::from_nanos(20_000_000_000),
            max_context_per_agent: 100_000,
            subtask_timeout: 600_000,
            delegation_timeout: 3_600_000,
            unmetered: Unmetered::default(),
        }
    }
}

/// What becomes of a runner that can report neither tokens nor cost. The tighter comes first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Unmetered {
    /// It is refused.
    #[default]
    Refuse,
    /// It runs, bounded by its time alone.
    Time,
}

/// Which pattern a task gets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Patterns {
    /// The pattern when nothing hints at one.
    pub default: Pattern,
    /// Words that hint at a pattern; they add to the built-in ones.
    pub hints: Hints,
}

/// Words that hint at a pattern.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Hints {
    /// Words that hint at `parallel`, beside the built-in ones.
    pub parallel: Vec<String>,
    /// Words that hint at `sequential`, beside the built-in ones.
    pub sequential: Vec<String>,
    /// Words that hint at `debate`, beside the built-in ones.
    pub debate: Vec<String>,
    /// Words that hint at `review`, beside the built-in ones.
    pub review: Vec<String>,
    /// Words that hint at `ensemble`, beside the built-in ones.
    pub ensemble: Vec<String>,
}

/// What the user interfaces show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Ui {
    /// Show the reasoning at once.
    pub show_reasoning_panel: bool,
    /// Open the whole tree at once.
    pub expand_progress_tree: bool,
    /// Make a sound at the end.
    pub notification_sound: bool,
    /// Show suggestions in one line.
    pub compact_mode: bool,
    /// Fold away what is completed.
    pub auto_collapse_completed: bool,
    /// Show tokens in progress.
    pub show_token_usage: bool,
}

impl Default for Ui {
    fn default() -> Self {
        Self {
            show_reasoning_panel: true,
            expand_progress_tree: false,
            notification_sound: false,
            compact_mode: false,
            auto_collapse_completed: true,
            show_token_usage: true,
        }
    }
}

/// What happens after a failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Recovery {
    /// Start failed subtasks again; `false` means no retries at all.
    pub auto_retry: bool,
    /// How often a failed subtask is started again at most.
    pub max_retries: u32,
    /// A failed delegation's result goes back to its base, its work kept.
    pub rollback_on_failure: bool,
    /// Go on with the rest when a subtask fails.
    pub continue_on_partial_failure: bool,
}

impl Default for Recovery {
    fn default() -> Self {
        Self {
            auto_retry: true,
            max_retries: 2,
            rollback_on_failure: false,
            continue_on_partial_failure: true,
        }
    }
}

/// What is written down and for how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Logging {
    /// Write decisions to the log.
    pub log_decisions: bool,
    /// Write progress to the log.
    pub log_progress: bool,
    /// Keep ended trees.
    pub store_history: bool,
    /// Days for which ended trees are kept.
    pub history_retention: u32,
}

impl Default for Logging {
    fn default() -> Self {
        Self { log_decisions: true, log_progress: true, store_history: true, history_retention: 30 }
    }
}

/// The global layer of permissions; absent means the built-in defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Permissions {
    /// Tools anyone may use; absent means the built-in list, empty means none.
    pub allow: Option<Vec<String>>,
    /// Tools that need a human's word each time.
    pub ask: Vec<String>,
    /// Tools nobody may use.
    pub deny: Vec<String>,
}

/// Which agents are switched off, which have a special part, and named grants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Agents {
    /// Agents that nobody may delegate to.
    pub disabled: Vec<String>,
    /// The agent that splits a task which nothing else could split.
    pub planner: Option<String>,
    /// The agent that picks the winner of an ensemble.
    pub judge: Option<String>,
    /// The agent that is handed merge conflicts.
    pub resolver: Option<String>,
    /// Children that may do more than their parent, each by name.
    pub grants: Vec<Grant>,
}

/// A child may use tools its parent lacks. Always logged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// What the grant is called in logs and explanations.
    pub name: String,
    /// The parent below which it holds.
    pub parent: String,
    /// The child that gets it.
    pub child: String,
    /// The tools it widens.
    pub tools: Vec<String>,
}

/// How child processes are fenced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Sandbox {
    /// Whether the fence is required, used where it can be had, or left off.
    pub fence: Fence,
    /// Folders outside the workspace that children may write.
    pub writable: Vec<String>,
    /// Ignored files and other folders that children may read.
    pub readable: Vec<String>,
    /// Whether children may use the network.
    pub network: Network,
    /// Which children are put into a cgroup of their own, where one can be made.
    pub cgroup: Cgroup,
    /// Megabytes of memory that the processes of an attempt may take together.
    pub memory_mb: Option<u64>,
    /// How many processes an attempt may have at once, their threads counted.
    pub pids: Option<u64>,
    /// Files that each process of an attempt may have open at once.
    pub open_files: u64,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self {
            fence: Fence::default(),
            writable: Vec::new(),
            readable: Vec::new(),
            network: Network::default(),
            cgroup: Cgroup::default(),
            memory_mb: None,
            pids: None,
            open_files: 16_384,
        }
    }
}

/// What to do about the fence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fence {
    /// Refuse to run without it.
    Require,
    /// Use it where the kernel allows.
    #[default]
    Auto,
    /// Do without.
    Off,
}

/// Whether children may use the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// As the machine does.
    #[default]
    Allow,
    /// The same, and they listen only on their own ports and on those that the system chooses.
    OwnPorts,
    /// Not at all, where the kernel can see to it.
    Deny,
}

/// Which children are put into a cgroup of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cgroup {
    /// All.
    Always,
    /// Those that may run for more than ten minutes: to enter one takes some milliseconds.
    #[default]
    Auto,
    /// None.
    Off,
}

/// The ways of making the workspaces of a git repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mechanism {
    /// Whatever suits the machine and the repository.
    #[default]
    Auto,
    /// A layer over a checkout that all share; without root it lies in a user namespace.
    Overlay,
    /// Checkouts that are kept and used again.
    Pool,
    /// A checkout for each.
    Worktree,
    /// A copy of the folder for each.
    Copy,
}

/// How isolated working copies are made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Workspace {
    /// How the workspaces of a git repository are made; `auto` takes the fastest that works.
    pub mechanism: Mechanism,
    /// Where workspaces live; absent means the user's state folder.
    pub dir: Option<String>,
    /// Heavy ignored folders that all workspaces share, `node_modules` for one.
    pub share: Vec<String>,
    /// Commands to run in a new workspace before its agent starts.
    pub setup: Vec<String>,
    /// Megabytes that all workspaces may take on the disk together.
    pub quota_mb: u64,
    /// Days after which a workspace that nothing uses is cleared away, its work kept.
    pub max_age_days: u32,
    /// Megabytes above which a folder that is not a git repository is copied only after asking.
    pub copy_limit_mb: u64,
}

impl Default for Workspace {
    fn default() -> Self {
        Self {
            mechanism: Mechanism::Auto,
            dir: None,
            share: Vec::new(),
            setup: Vec::new(),
            quota_mb: 20_000,
            max_age_days: 14,
            copy_limit_mb: 1_000,
        }
    }
}

/// How `legation serve` listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Serve {
    /// The port; 0 means one that is free.
    pub port: u16,
}

impl Default for Serve {
    fn default() -> Self {
        Self { port: 4780 }
    }
}

/// Dollars per million tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Price {
    /// Dollars per million tokens of uncached input.
    pub input: f64,
    /// Dollars per million tokens of output, reasoning included.
    pub output: f64,
    /// Dollars per million tokens read from a cache; absent means as `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<f64>,
    /// Dollars per million tokens written to a cache; absent means as `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}
