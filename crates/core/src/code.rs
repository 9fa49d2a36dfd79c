//! The stable error codes. `docs/errors.md` has a section for each.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        /// Why something was refused or went wrong, in a word that never changes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
        pub enum Code {
            $($(#[$doc])* #[serde(rename = $text)] $name,)*
        }

        impl Code {
            /// Every code there is.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The code as it stands in JSON and in the documentation.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

codes! {
    /// One level deeper than the configuration allows.
    MaxDepthExceeded = "MAX_DEPTH_EXCEEDED";
    /// The parent's context and the child's estimate do not fit together.
    ContextExceeded = "CONTEXT_EXCEEDED";
    /// The target, or the same call, already stands on the path.
    CycleDetected = "CYCLE_DETECTED";
    /// The isolated working copy could not be made.
    WorkspaceFailed = "WORKSPACE_FAILED";
    /// Not enough tokens or money left.
    BudgetExceeded = "BUDGET_EXCEEDED";
    /// More delegations than the task or the tree may have.
    TooManyDelegations = "TOO_MANY_DELEGATIONS";
    /// No agent of that name.
    AgentNotFound = "AGENT_NOT_FOUND";
    /// The agent exists, but this caller may not use it.
    AgentNotAllowed = "AGENT_NOT_ALLOWED";
    /// A tool or an action is denied to this caller.
    PermissionDenied = "PERMISSION_DENIED";
    /// What came in does not have the required form.
    ValidationFailed = "VALIDATION_FAILED";
    /// The time allowed is used up.
    Timeout = "TIMEOUT";
    /// A program or tool that is needed is not there.
    ToolUnavailable = "TOOL_UNAVAILABLE";
    /// A build or verification command failed.
    BuildError = "BUILD_ERROR";
    /// A file that is needed is not there.
    FileNotFound = "FILE_NOT_FOUND";
    /// The work could not be committed.
    GitCommitFailed = "GIT_COMMIT_FAILED";
    /// Delegation is switched off.
    DelegationDisabled = "DELEGATION_DISABLED";
    /// The thing is not in a state in which this can be done.
    Conflict = "CONFLICT";
    /// None of the others.
    UnknownError = "UNKNOWN_ERROR";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
