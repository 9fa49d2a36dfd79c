//! The rules and the agents of the project that the engine works for.
//!
//! Where they are kept and in which format is not known here: whoever starts the
//! engine reads them.

use std::collections::BTreeMap;

use legation_core::Code;
use legation_core::agent::Roster;
use legation_core::config::Config;
use legation_runners::agents::Loaded;
use serde_json::Value;

/// The rules and the agents of a project, as its files say now.
#[derive(Clone, Debug, Default)]
pub struct Home {
    /// The configuration in force.
    pub config: Config,
    /// The agents, and where they were read.
    pub agents: Loaded,
    /// Who may use whom.
    pub roster: Roster,
    /// What is odd about the files.
    pub warnings: Vec<String>,
}

/// Why the rules cannot be had.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Trouble {
    /// What kind of trouble.
    pub code: Code,
    /// What happened.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// Figures for programs.
    pub details: Value,
}

/// Reads the rules and the agents of a project.
pub trait Host: Send + Sync + 'static {
    /// What the files and the caller's environment say.
    fn home(&self, env: &BTreeMap<String, String>) -> Result<Home, Trouble>;
}
