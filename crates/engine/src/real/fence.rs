//! What the fence of an attempt encloses.
//!
//! The rules of the project are put into paths here. Whether they can be held is the
//! kernel's and the keeper's to say.

use std::path::{Path, PathBuf};

use legation_core::Code;
use legation_core::agent::Level;
use legation_core::config::{self, Config, Sandbox};
use legation_core::ids::AgentId;
use legation_core::returns::Receipt;
use legation_runners::command::{HAND_IN, SCHEMA_FILE, TEMPORARY};
use legation_runners::fence::{Asked, Fence, Kernel, Standing};
use legation_runners::keep::{Ceilings, Order};
use legation_runners::supervise::Exit;
use legation_runners::workspace::{Origin, Place, Spaces};

use super::attempt::Obstacle;
use super::{Inner, named};

/// The folder in the user's state folder that all projects share.
const SHARED_STATE: &str = "legation";
/// What of a project a child may read without being told: how it is run, and by whom. The file
/// that the engine locks is not among them: who can read a file can hold a lock of it, and then
/// no engine could start any more.
const OPEN: &[&str] = &[
    ".legation/agents",
    ".legation/config.toml",
    // It says where the engine listens.
    ".legation/engine.socket",
    ".claude/agents",
    ".claude/config.json",
    ".opencode/agents",
    ".gemini/agents",
    ".codex/agents",
];
/// What stands in a receipt where nobody wanted a fence.
const OFF: &str = "`sandbox.fence` is off";

/// What the fence of an attempt goes by.
pub(super) struct Around<'a> {
    /// The agents above it, and itself.
    pub(super) path: &'a [AgentId],
    /// The file of its agent.
    pub(super) agent_file: Option<&'a Path>,
    /// Where its runner's program keeps its state.
    pub(super) state: Vec<PathBuf>,
    /// Whether a human can be asked before it does something.
    pub(super) can_ask: bool,
}

/// Where a project, its state and its workspaces lie, and what it lets programs do.
#[derive(Clone, Copy, Debug)]
pub struct Grounds<'a> {
    /// The project.
    pub project: &'a Path,
    /// Where workspaces and attempts have their folders.
    pub state: &'a Path,
    /// Its workspaces.
    pub spaces: &'a Spaces,
    /// The configuration in force.
    pub config: &'a Config,
}

impl Grounds<'_> {
    /// The fence around whatever runs in a workspace, which as yet may not write there; none
    /// where nobody wants one.
    #[must_use]
    pub fn fence(&self, place: &Place) -> Option<Fence> {
        let sandbox = &self.config.sandbox;
        let required = match sandbox.fence {
            config::Fence::Off => return None,
            config::Fence::Auto => false,
            config::Fence::Require => true,
        };
        let mut fence = Fence {
            hidden: self.hidden(place),
            readable: self.spaces.origin().lent,
            writable: self.named(&sandbox.writable),
            network: sandbox.network,
            ports: place.ports(),
            required,
        };
        fence.readable.push(self.spaces.written(place));
        fence.readable.extend(self.named(&sandbox.readable));
        fence.readable.extend(self.named(&self.config.workspace.share));
        Some(fence)
    }

    /// What no attempt may see: the state of all projects, every other workspace, and
    /// the user's own files, of which its workspace is a copy.
    fn hidden(&self, place: &Place) -> Vec<PathBuf> {
        let state = self.state;
        let shared = state.parent().filter(|folder| folder.ends_with(SHARED_STATE));
        let mut hidden = vec![shared.unwrap_or(state).to_owned()];
        // Those that the user has put elsewhere, other projects' among them.
        let elsewhere = self.spaces.homes().into_iter().filter_map(|home| {
            let ours = home.parent()?.parent()?;
            Some(if ours.ends_with(SHARED_STATE) { ours.to_owned() } else { home })
        });
        hidden.extend(elsewhere);
        hidden.extend(place.root.parent().map(Path::to_owned));
        let Origin { top, repository, lent: _ } = self.spaces.origin();
        hidden.extend([self.project.join(".legation"), top.join(".git")]);
        hidden.extend(repository);
        // Where the home itself is a checkout, programs could not start without it.
        let is_around_home = home_folder().is_some_and(|home| home.starts_with(&top));
        hidden.extend(Some(top).filter(|_| !is_around_home));
        hidden
    }

    /// Paths that the configuration names: from the project's folder, or from home.
    fn named(&self, paths: &[String]) -> Vec<PathBuf> {
        paths.iter().map(|path| named(self.project, path)).collect()
    }
}

impl Inner {
    /// Whether programs shall run inside a fence, and can.
    pub(super) fn is_fence_wanted(&self) -> bool {
        let home = self.home();
        let sandbox = &home.config.sandbox;
        sandbox.fence != config::Fence::Off && Kernel::current().unfit(Asked::of(sandbox)).is_none()
    }

    /// The same order, with a fence around its program if there shall be one.
    pub(super) fn fenced(
        &self,
        order: Order,
        place: &Place,
        around: Around<'_>,
    ) -> Result<Order, Obstacle> {
        let home = self.home();
        let sandbox = &home.config.sandbox;
        let order = self.limited(order, sandbox);
        let spaces = self.spaces();
        let (project, state) = (&self.options.project, &self.options.state);
        let grounds = Grounds { project, state, spaces: &spaces, config: &home.config };
        let Some(mut fence) = grounds.fence(place) else { return Ok(order) };
        if let Some(why) = self.no_fence() {
            return Err(Obstacle::new(Code::ToolUnavailable, why));
        }
        fence.readable.extend(self.readable(&order, around.agent_file));
        fence.writable.extend([order.dir.join(TEMPORARY), order.dir.join(HAND_IN)]);
        fence.writable.extend(around.state);
        let may_edit = self.may_edit(around.path, around.can_ask);
        if may_edit { &mut fence.writable } else { &mut fence.readable }.push(place.root.clone());
        Ok(Order { fence: Some(fence.real()), ..order })
    }

    /// The same order, with what the configuration lets an attempt take.
    fn limited(&self, order: Order, sandbox: &Sandbox) -> Order {
        let ceilings = ceilings(sandbox);
        // Some limits are those of the attempt's own group, which then has to be there.
        let group = ceilings.group(order.attempt.as_str());
        Order { ceilings, cgroup: group.or(order.cgroup), ..order }
    }

    /// Why nothing may be run here: a fence is required, and there can be none.
    pub(crate) fn no_fence(&self) -> Option<String> {
        let home = self.home();
        let sandbox = &home.config.sandbox;
        if sandbox.fence != config::Fence::Require {
            return None;
        }
        let unlimited = || ceilings(sandbox).gaps().into_iter().next();
        let why = Kernel::current().unfit(Asked::of(sandbox)).or_else(unlimited)?;
        Some(format!("`sandbox.fence` requires a fence, and there can be none here: {why}"))
    }

    /// What it has to see all the same: its program, and what `legation` itself needs to be called from inside.
    fn readable(&self, order: &Order, agent_file: Option<&Path>) -> Vec<PathBuf> {
        let project = &self.options.project;
        let mut readable: Vec<PathBuf> = OPEN.iter().map(|name| project.join(name)).collect();
        readable.push(self.options.state.join("project"));
        readable.push(self.keeper.exe.clone());
        readable.extend(Some(order.dir.join(SCHEMA_FILE)).filter(|file| file.is_file()));
        readable.extend(agent_file.and_then(Path::parent).map(Path::to_owned));
        let named = order.program.iter().map(PathBuf::from);
        readable.extend(named.filter(|path| path.is_absolute() && path.is_file()));
        readable
    }

    /// Whether an attempt may change its workspace. Where nobody can be asked, what would
    /// have to be asked for is not allowed.
    fn may_edit(&self, path: &[AgentId], can_ask: bool) -> bool {
        let path = path.get(1..).unwrap_or_default();
        let permissions = self.home().roster.permissions(path, None);
        permissions.is_ok_and(|all| match all.verdict_checked_by_use("edit").level {
            Level::Allow => true,
            Level::Ask => can_ask,
            Level::Deny => false,
        })
    }
}

/// What the configuration lets an attempt take.
fn ceilings(sandbox: &Sandbox) -> Ceilings {
    Ceilings {
        memory_mb: sandbox.memory_mb,
        pids: sandbox.pids,
        open_files: Some(sandbox.open_files),
        required: sandbox.fence == config::Fence::Require,
    }
}

/// The user's home.
pub(super) fn home_folder() -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())?;
    std::fs::canonicalize(home).ok()
}

/// Enters in a receipt what came of the fence.
pub(super) fn record(exit: &Exit, receipt: &mut Receipt) {
    let (fenced, gaps, refused) = match exit {
        Exit::Ended(ended) => match &ended.fence {
            Some(Standing { is_on, gaps, refused }) => {
                (Some(*is_on), gaps.clone(), refused.clone())
            }
            // A program that never began was neither inside nor outside.
            None if ended.start_failed.is_some() => (None, Vec::new(), None),
            None => (Some(false), vec![OFF.to_owned()], None),
        },
        Exit::Lost { .. } => (None, Vec::new(), None),
    };
    receipt.fenced = fenced;
    receipt.fence_refused = refused;
    receipt.fence_gaps = gaps;
    if let Exit::Ended(ended) = exit {
        receipt.fence_gaps.extend(ended.ceiling_gaps.iter().cloned());
    }
}
