//! Servers of tools that an agent wants beside our own.
//!
//! Where one is written in a file is for whoever reads files to know, and what it may be
//! used for is for permissions to say: naming a server opens nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A server of tools, and how it is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpServer {
    /// How it is reached.
    pub reach: Reach,
    /// Milliseconds that one call may take; absent means as the client likes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reach {
    /// A program, over its standard streams.
    Stdio {
        /// The program and its arguments.
        command: Vec<String>,
        /// What it gets in its environment beside what every child does.
        env: BTreeMap<String, String>,
    },
    /// An address, over streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// What every request says beside what it has to.
        headers: BTreeMap<String, String>,
    },
}
