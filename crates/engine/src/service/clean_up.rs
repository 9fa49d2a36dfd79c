//! What goes beyond the limits of workspaces, cleared away when an engine starts.
//!
//! Workspaces of trees that are not over are not touched, and nothing goes before its
//! work was kept. Kept work that is in no branch of the user's stays. What the programs of attempts
//! that have ended left beside their workspaces goes as well.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use legation_core::config::Workspace;
use legation_core::ids::DelegationId;
use legation_runners::workspace::{Error, Limits, Spaces};

use super::Service;
use crate::host::Host;
use crate::read;
use crate::real::clear_leavings;

const BYTES_PER_MB: u64 = 1024 * 1024;
const SECONDS_PER_DAY: u64 = 86_400;

impl<H: Host> Service<H> {
    /// Clears away what is too old or too much, in the background.
    pub(super) fn clean_up(self: Arc<Self>, workspace: &Workspace) {
        let limits = Limits {
            max_age: Duration::from_secs(u64::from(workspace.max_age_days) * SECONDS_PER_DAY),
            quota_bytes: workspace.quota_mb.saturating_mul(BYTES_PER_MB),
            unapplied: false,
        };
        tokio::spawn(async move {
            let spaces = self.real.spaces();
            let there = spaces.clone();
            let listed = tokio::task::spawn_blocking(move || trees(&there, limits)).await;
            // What cannot be looked at now is looked at by the next start.
            let Ok(Ok(trees)) = listed else { return };
            let mut over = HashSet::new();
            for tree in trees {
                let id = DelegationId::new(&tree);
                if read::is_over(self.engine.journal(), &id).await.unwrap_or(false) {
                    over.insert(tree);
                }
            }
            let cleared = tokio::task::spawn_blocking(move || clear(&spaces, limits, &over));
            drop(cleared.await);
        });
    }
}

impl<H: Host> Service<H> {
    /// Clears away what the programs of attempts have left that ended with nobody there to clear
    /// it, in the background; `open` are the trees that go on. To be called before anything
    /// new begins.
    pub(super) fn clear_leavings(self: Arc<Self>, open: Vec<DelegationId>, attempts: &Path) {
        let entries = fs::read_dir(attempts).into_iter().flatten().flatten();
        let mut left: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        tokio::spawn(async move {
            let mut in_use = HashSet::new();
            for tree in open {
                // Of a tree that cannot be read nobody knows what is in use.
                let Ok(state) = read::state(self.engine.journal(), &tree).await else { return };
                in_use.extend(state.attempts.iter().map(|(_, attempt)| attempt.id.to_string()));
            }
            left.retain(|folder| {
                folder.file_name().is_some_and(|name| !in_use.contains(&*name.to_string_lossy()))
            });
            let spaces = self.real.spaces();
            let cleared = tokio::task::spawn_blocking(move || {
                left.iter().for_each(|folder| clear_leavings(&spaces, folder));
            });
            // What stays is cleared by the next start.
            drop(cleared.await);
        });
    }
}

/// The trees of which something would go, if none of them were in use.
fn trees(spaces: &Spaces, limits: Limits) -> Result<HashSet<String>, Error> {
    let surplus = spaces.surplus(limits, |_| false)?;
    Ok(surplus.iter().filter_map(|(what, _)| what.tree().map(str::to_owned)).collect())
}

fn clear(spaces: &Spaces, limits: Limits, over: &HashSet<String>) -> Result<(), Error> {
    for (surplus, _) in spaces.surplus(limits, |tree| !over.contains(tree))? {
        // What cannot be kept stays, and `legation workspaces list` shows it.
        drop(spaces.clear_away(&surplus));
    }
    Ok(())
}
