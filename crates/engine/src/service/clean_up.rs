//! What goes beyond the limits of workspaces, cleared away when an engine starts.
//!
//! Workspaces of trees that are not over are not touched, and nothing goes before its
//! work was kept. Kept work that is in no branch of the user's stays.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use legation_core::config::Workspace;
use legation_core::ids::DelegationId;
use legation_runners::workspace::{Error, Limits, Spaces};

use super::Service;
use crate::host::Host;
use crate::read;

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
