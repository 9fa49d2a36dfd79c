//! What is heard of a vendor's program, in our words.

use crate::command::Usage;

/// Something a program did or said.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The agent said this, whole.
    Text(String),
    /// It uses a tool: our name for it, and in a few words what for.
    Tool {
        /// The canonical name; the vendor's own where we have none.
        tool: String,
        /// What for.
        what: String,
    },
    /// A tool has come back.
    ToolOver,
    /// It wanted to use a tool and was not allowed to.
    Denied {
        /// The canonical name; the vendor's own where we have none.
        tool: String,
        /// Why not, as far as the program says.
        why: String,
    },
    /// A server of tools that it was to have cannot be used.
    Unavailable {
        /// Which.
        server: String,
        /// Why not.
        why: String,
    },
    /// It used this much more than was told before.
    Used {
        /// How much.
        usage: Usage,
        /// By which model.
        model: Option<String>,
    },
    /// So many tokens are in its context now.
    Context(u64),
    /// Under this name the conversation can be gone on with.
    Conversation(String),
    /// It said something that means nothing but that it lives.
    Alive,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The agent has said what it had to say.
    Over,
    /// It broke off.
    Broken(Fault),
}

/// Why a turn broke off.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What kind of reason.
    pub kind: FaultKind,
    /// In words, for whoever looks at the failure.
    pub message: String,
    /// Seconds after which the provider may be asked again.
    pub retry_after: Option<f64>,
}

/// What kind of reason it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The provider wants to be left alone for a while.
    RateLimit,
    /// The provider said no, or could not be reached.
    Provider,
    /// Nobody is logged in, or there is no key.
    Login,
    /// The turns it was allowed are used up.
    Turns,
    /// The money it was allowed is.
    Budget,
    /// The program ended without saying that it is done.
    Cut,
    /// The program could not be started.
    NotStarted,
}

impl FaultKind {
    /// The type of the error in the return that is made on its behalf.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RateLimit => "rate_limit",
            Self::Provider => "provider",
            Self::Login => "login",
            Self::Turns => "turn_limit",
            Self::Budget => "budget",
            Self::Cut => "cut_off",
            Self::NotStarted => "not_started",
        }
    }

    /// Whether trying again may help.
    pub const fn is_recoverable(self) -> bool {
        match self {
            Self::RateLimit | Self::Provider | Self::Turns | Self::Cut => true,
            Self::Login | Self::Budget | Self::NotStarted => false,
        }
    }

    /// What to do about it.
    pub const fn recommendation(self) -> &'static str {
        match self {
            Self::RateLimit => "Wait as long as the provider asks, then retry.",
            Self::Provider => "Look at the message of the provider, then retry.",
            Self::Login => {
                "Log in with the program itself or set its key; `legation doctor` says which."
            }
            Self::Turns => "Raise the agent's `maxTurns`, or give it a smaller task.",
            Self::Budget => "Raise `limits.maxCostUsd`, or give it a smaller task.",
            Self::Cut => "Look at the program's own output: `legation trace ID SUBTASK`.",
            Self::NotStarted => "See `legation doctor` for what is installed.",
        }
    }
}

impl Fault {
    /// A fault with nothing to wait for.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after: None }
    }
}
