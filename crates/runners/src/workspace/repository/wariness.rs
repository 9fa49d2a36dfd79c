//! Git over the files of somebody who goes on meanwhile, and may lay a link in its way.
//!
//! Whoever delegates is at work while what it has is taken for a base, and while what was done
//! for it is merged into its workspace. Git looks before it reads or writes, and then it is too
//! late. So there it runs inside a fence of its own: what it could not be meant to read or write
//! is closed to it, wherever a path leads.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};

use super::super::git::{Call, Trust};
use super::super::{Place, home};
use super::{Ground, Repository};
use crate::fence::Fence;

/// What writes objects: nothing that writes files may do so, too.
const WRITES_OBJECTS: &str = "update-index";

/// As long as it is held, git is fenced in where it looks at these files.
pub(super) struct Wary<'a> {
    repository: &'a Repository,
    root: PathBuf,
}

impl Drop for Wary<'_> {
    fn drop(&mut self) {
        let mut at_work = self.repository.at_work();
        let left = at_work.get(&self.root).map_or(0, |count| count.saturating_sub(1));
        if left == 0 {
            at_work.remove(&self.root);
        } else {
            at_work.insert(self.root.clone(), left);
        }
    }
}

impl Repository {
    /// Says that somebody is at work in a workspace.
    pub(super) fn beware_of(&self, place: &Place) -> Wary<'_> {
        let root = place.root.clone();
        let mut at_work = self.at_work();
        let count = at_work.entry(root.clone()).or_default();
        *count = count.saturating_add(1);
        Wary { repository: self, root }
    }

    fn at_work(&self) -> MutexGuard<'_, HashMap<PathBuf, usize>> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a command may read and write that looks at files; none where nobody is at work.
    pub(super) fn around(&self, name: &str, ground: &Ground) -> Option<Fence> {
        if !self.at_work().keys().any(|root| ground.root.starts_with(root)) {
            return None;
        }
        let own = ground.index.parent().map(Path::to_owned);
        let mut fence = self.closed();
        fence.readable.extend([ground.git_dir.clone(), ground.objects.clone()]);
        fence.writable = own.into_iter().chain([ground.root.clone()]).collect();
        fence.writable.extend((name == WRITES_OBJECTS).then(|| ground.objects.clone()));
        Some(fence.real())
    }

    /// A command on what a child has: its own objects, and those that it was lent. Whatever it
    /// names, what else the user has is not there.
    pub(super) fn on_childs(&self, name: &str, (place, objects): (&Place, &Path)) -> Call<'_> {
        let call = self.git.call(name, Trust::Repository).env("GIT_DIR", &self.hub);
        let call = call.env("GIT_OBJECT_DIRECTORY", objects).within(&self.hub);
        let lent = self.lent();
        let call = call.borrowing(Some(&*lent).filter(|lent| lent.is_dir()));
        let is_at_work = self.at_work().contains_key(&place.root);
        let fence = is_at_work.then(|| {
            let mut fence = self.closed();
            fence.readable.push(place.root.clone());
            fence.real()
        });
        call.inside(fence)
    }

    /// A fence in which nothing is written, and nothing read of the user's own files and of ours
    /// but what all workspaces borrow.
    fn closed(&self) -> Fence {
        let state = &self.folders.state;
        let mut hidden = vec![home::shared(state).to_owned(), self.user.common_dir.clone()];
        hidden.push(self.user.git_dir.clone());
        hidden.extend(self.folders.homes.all.iter().map(|home| home.join("workspaces")));
        // Where the home itself is a checkout, git may not be found without it.
        let home = std::env::home_dir();
        let is_around_home = |top: &&PathBuf| home.as_ref().is_some_and(|it| it.starts_with(top));
        hidden.extend(self.user.top.iter().filter(|top| !is_around_home(top)).cloned());
        let readable = vec![self.lent(), self.hub.clone(), self.user.objects.clone()];
        Fence { hidden, readable, ..Fence::default() }
    }
}
