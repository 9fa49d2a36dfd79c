//! The patterns by name. What each of them does stands with the rules of a tree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The ways in which the subtasks of a delegation are run.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// All at once, within width.
    #[default]
    Parallel,
    /// All at once, each result handed over as it ends.
    ParallelStreaming,
    /// One after another.
    Sequential,
    /// As the dependencies say.
    Dag,
    /// A proposer and its critics.
    Debate,
    /// A creator and its reviewers.
    Review,
    /// The same task to several members, then one answer.
    Ensemble,
    /// No delegation: the agent itself.
    Direct,
}

impl Pattern {
    /// Its name, as it is written everywhere.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Parallel => "parallel",
            Self::ParallelStreaming => "parallel_streaming",
            Self::Sequential => "sequential",
            Self::Dag => "dag",
            Self::Debate => "debate",
            Self::Review => "review",
            Self::Ensemble => "ensemble",
            Self::Direct => "direct",
        }
    }
}
