//! Names of things. Each noun has its own type, so that one cannot be passed
//! where another is meant.
//!
//! Ids are made outside (they need randomness or the user's own words) and come
//! in with a command; nothing here invents one.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(transparent)]
        pub struct $name(#[schemars(with = "String")] Arc<str>);

        impl $name {
            /// Wraps text that is already known to be such an id.
            pub fn new(text: impl AsRef<str>) -> Self {
                Self(Arc::from(text.as_ref()))
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(Arc::from(text))
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    )*};
}

ids! {
    /// The id of an agent definition, in kebab-case; also one step of a path.
    AgentId;
    /// A unit of work somebody wants done: the user's own id, or `task-…`.
    TaskId;
    /// One decision to hand a task to sub-agents: `del-…`. The root's id names its tree.
    DelegationId;
    /// A node of a delegation's graph; unique within its delegation only.
    SubtaskId;
    /// One run of one agent on one subtask: `exec-…`.
    AttemptId;
    /// What an attempt is called in its return: `sess_<epoch seconds>_<6 of a-z0-9>`.
    SessionId;
}
