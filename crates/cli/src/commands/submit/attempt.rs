//! The attempt that a command is run by, as its environment says.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

use legation_core::returns::{CompiledSchema, MAX_SCHEMA_BYTES};
use legation_engine::client::Paths;
use legation_runners::command::{HAND_IN, SCHEMA_FILE};
use serde_json::{Value, json};

use crate::error::CommandError;

/// An attempt.
pub(crate) struct Attempt {
    pub(super) session: String,
    /// Whether the engine has said which it is, and not the environment.
    pub(super) is_known: bool,
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
            is_known: false,
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
            is_known: true,
            token: token.to_owned(),
            folder: paths.attempts().join(text("attemptId")?).join(HAND_IN),
            workspace: text("workspace")?.into(),
            depth: depth.and_then(|depth| u32::try_from(depth).ok()).unwrap_or(1),
            socket: Some(paths.socket.clone()),
        })
    }

    /// What the agent's `data` has to be like. One that cannot be read or used is told by the
    /// engine, which has it from elsewhere.
    pub(super) fn schema(&self) -> Option<CompiledSchema> {
        let path = self.folder.parent()?.join(SCHEMA_FILE);
        // Whatever else may lie there is not waited for.
        path.symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
        let mut text = String::new();
        File::open(path).ok()?.take(MAX_SCHEMA_BYTES as u64 + 1).read_to_string(&mut text).ok()?;
        CompiledSchema::compile(&serde_json::from_str(&text).ok()?).ok()
    }
}

fn outside(name: &str) -> CommandError {
    CommandError::usage(format!("this is not inside an attempt: {name} is not set"))
        .hint("`submit` is for agents that Legation runs; it sets what is needed for them")
        .details(json!({"missing": name}))
}
