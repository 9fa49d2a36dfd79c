//! The attempt that a command is run by, as its environment says.

use std::path::PathBuf;

use legation_engine::client::Paths;
use legation_runners::command::HAND_IN;
use serde_json::{Value, json};

use crate::error::CommandError;

/// An attempt.
pub(crate) struct Attempt {
    pub(super) session: String,
    pub(super) token: String,
    /// Where the return is dropped.
    pub(super) folder: PathBuf,
    pub(super) workspace: PathBuf,
    pub(super) depth: u32,
    pub(super) socket: Option<PathBuf>,
}

impl Attempt {
    /// The attempt that this process belongs to.
    pub(crate) fn current() -> Result<Self, CommandError> {
        let told = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let need = |name: &str| told(name).ok_or_else(|| outside(name));
        Ok(Self {
            session: need("LEGATION_SESSION_ID")?,
            token: need("LEGATION_TOKEN")?,
            folder: need("LEGATION_ATTEMPT_DIR")?.into(),
            workspace: need("LEGATION_WORKSPACE")?.into(),
            depth: told("DELEGATION_DEPTH").and_then(|depth| depth.parse().ok()).unwrap_or(1),
            socket: told("LEGATION_SOCKET").map(PathBuf::from),
        })
    }

    /// The attempt that bears a token, as the engine knows it.
    pub(crate) fn known(token: &str, told: &Value, paths: &Paths) -> Option<Self> {
        let text = |name: &str| told.get(name).and_then(Value::as_str);
        let depth = told.get("depth").and_then(Value::as_u64);
        Some(Self {
            session: text("sessionId")?.to_owned(),
            token: token.to_owned(),
            folder: paths.attempts().join(text("attemptId")?).join(HAND_IN),
            workspace: text("workspace")?.into(),
            depth: depth.and_then(|depth| u32::try_from(depth).ok()).unwrap_or(1),
            socket: Some(paths.socket.clone()),
        })
    }
}

fn outside(name: &str) -> CommandError {
    CommandError::usage(format!("this is not inside an attempt: {name} is not set"))
        .hint("`submit` is for agents that Legation runs; it sets what is needed for them")
        .details(json!({"missing": name}))
}
