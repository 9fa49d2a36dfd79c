//! What Codex is told about permissions: pure.
//!
//! It has switches for whole tools and none for parts of them, so a shell of which any part
//! is closed is switched off. Switches that hold a permission are given as `--disable`:
//! a Codex that does not know one of them refuses to start, and is never run open.

use legation_core::agent::{Level, Tool};

use crate::envoy::{Charge, Tools};
use crate::permissions::{Row, Scope};

/// Its own ways of starting agents.
const AGENTS: &[&str] = &["multi_agent", "multi_agent_v2"];

/// What Codex is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permissions {
    /// Where its commands may write.
    pub sandbox: Sandbox,
    /// Features that are switched off.
    pub disabled: Vec<&'static str>,
    /// Whether it may search the web.
    pub web: bool,
    /// Whether it is given our tools that hand work on.
    pub delegate: bool,
}

/// Its own sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sandbox {
    /// None of its own: ours is around it.
    Ours,
    /// Its own, which lets commands write in the workspace.
    WorkspaceWrite,
    /// Its own, which lets them write nowhere.
    ReadOnly,
}

impl Sandbox {
    /// What Codex calls it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ours => "danger-full-access",
            Self::WorkspaceWrite => "workspace-write",
            Self::ReadOnly => "read-only",
        }
    }
}

/// What follows from what an agent may use.
pub fn permissions(charge: &Charge) -> Permissions {
    let tools = &charge.tools;
    let is_whole = |tool: &str| Scope::of(tools, tool).is_whole();
    let sandbox = match (charge.is_fenced, is_whole("edit")) {
        (true, _) => Sandbox::Ours,
        (false, true) => Sandbox::WorkspaceWrite,
        (false, false) => Sandbox::ReadOnly,
    };
    let mut disabled = AGENTS.to_vec();
    if !is_whole("shell") {
        disabled.extend(["shell_tool", "unified_exec"]);
    }
    if !is_whole("read") {
        disabled.push("view_image");
    }
    Permissions { sandbox, disabled, web: is_whole("web"), delegate: tools.delegate != Level::Deny }
}

/// The same, for people.
pub fn table(tools: &Tools) -> Vec<Row> {
    let switched = |tool: &str, on: &str, off: &str| {
        let scope = Scope::of(tools, tool);
        let told = match (scope.is_whole(), scope.is_nothing()) {
            (true, _) => on.to_owned(),
            (false, true) => off.to_owned(),
            (false, false) => format!("{off}: Codex cannot be told about parts"),
        };
        Row::new(tool, scope.level, told)
    };
    let mut rows = vec![
        switched("read", "through its shell, and view_image", "--disable view_image"),
        switched(
            "edit",
            "the fence, else --sandbox workspace-write",
            "the fence, else --sandbox read-only",
        ),
        switched("shell", "exec_command", "--disable shell_tool"),
        switched("web", "web_search=live", "web_search=disabled"),
    ];
    let delegate = match tools.delegate {
        Level::Allow | Level::Ask => "the tools of the server `legation`",
        Level::Deny => "not offered; of the server `legation` only what hands in a return",
    };
    rows.push(Row::new("delegate", tools.delegate, delegate));
    for (name, level) in &tools.others {
        if Tool::new(name).part().is_none() {
            rows.push(Row::new(name, *level, "not offered"));
        }
    }
    rows.push(Row::new("its own sub-agents", Level::Deny, "--disable multi_agent"));
    rows
}
