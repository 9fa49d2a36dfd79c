//! What an envoy passes on: one JSON value a line on its standard output.

use serde::{Deserialize, Serialize};

use legation_core::money::Usd;
use legation_core::returns::Tokens;

/// One line of an envoy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// A piece of what the agent said.
    Text(String),
    /// It uses a tool.
    Tool {
        /// Which.
        tool: String,
        /// What for.
        what: String,
        /// How many it has used so far, this one included.
        count: u64,
    },
    /// It was not allowed to use a tool.
    Denied {
        /// Which.
        tool: String,
        /// Why not.
        why: String,
    },
    /// It cannot use a server of tools that it was to have.
    Unavailable {
        /// Which.
        server: String,
        /// Why not.
        why: String,
    },
    /// It used this much more.
    Used {
        /// Tokens by kind.
        tokens: Tokens,
        /// Dollars, where the program itself says.
        cost: Option<Usd>,
        /// By which model.
        model: Option<String>,
    },
    /// Tokens in its context now.
    Context(u64),
    /// What the program calls this conversation.
    Conversation(String),
    /// It was asked again, since its return was not valid.
    AskedAgain {
        /// What was wrong.
        why: String,
    },
    /// Nothing has been heard for so long that nothing more is expected.
    Stalled {
        /// How long, in milliseconds.
        after_ms: u64,
    },
    /// The program ended in the middle of what it said.
    CutOff,
}
