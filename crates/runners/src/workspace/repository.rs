//! Workspaces of a project in a git repository.
//!
//! A workspace has a repository of its own that borrows objects of the user's. No git
//! command of ours ever runs with that: the hub, which no child sees, lends its
//! configuration to all of them, and beside each workspace lies an index of ours
//! (`repos/<attempt>.git`). In the user's repository only objects, `refs/legation/` and
//! `refs/heads/legation/` are written.

mod adopt;
mod apply;
mod begin;
mod beside;
mod bring;
mod checked_out;
mod commit;
mod confront;
mod create;
mod dirty;
mod history;
mod hunks;
mod ignored;
mod include;
mod keep;
mod large;
mod lay;
mod lent;
mod merge;
mod mover;
mod own;
mod pins;
mod pool;
mod prepare;
mod put_back;
mod revert;
mod share;
mod stay;
mod submodules;
mod trees;
mod trial;
mod underway;
mod unfinished;
mod user;
mod wariness;
mod works;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::choice::{Beyond, Choice, Chooser, Wanted};
use super::folders::{Folders, gone};
use super::git::{Call, Git, Trust};
use super::mechanism::Mechanism;
use super::refs::Names;
use super::{
    Applied, Candidate, Error, How, Kept, KeptWork, Merge, New, Note, Options, Origin, Outlook,
    Place, Seen, Spare, Start, names, record,
};
use history::History;
use pool::{Cleaner, Shelf};
pub(super) use share::{obstacle as share_obstacle, to_share};
use stay::Stay;
pub(super) use submodules::Submodule;
use user::User;

/// What is remembered of histories before it is forgotten; all of it can be found again.
const MAX_REMEMBERED: usize = 10_000;

/// How often something that moved under our hands is done anew.
const MAX_ROUNDS: usize = 5;

/// A project in a git repository.
#[derive(Debug)]
pub(super) struct Repository {
    git: Arc<Git>,
    user: User,
    folders: Folders,
    hub: PathBuf,
    patience: Duration,
    /// The process that moves names.
    mover: Stay,
    /// The process that writes commits.
    scribe: Stay,
    /// The process that writes trees.
    forester: Stay,
    /// The file in the hub from which commits are taken. It has the name of a lock, so that the
    /// next start clears away what a crash left.
    draft: String,
    wanted: Wanted,
    share: Vec<String>,
    chooser: Chooser,
    beyond: Beyond,
    /// How many files there have to be for git to be told what was written to.
    told_from: usize,
    cleaner: Cleaner,
    /// Checkouts that wait for their next use.
    shelf: Shelf,
    /// Held while the store grows that workspaces borrow from.
    lending: Mutex<()>,
    /// Held while the result of a delegation moves, so that merges queue up.
    results: Mutex<HashMap<String, HashSet<String>>>,
    /// The workspaces in which somebody is at work, and how many know of it.
    at_work: Mutex<HashMap<PathBuf, usize>>,
    /// Histories by base and head, which never change.
    histories: Mutex<HashMap<(String, String), History>>,
    /// The files of commits, which never change either.
    trees: Mutex<HashMap<String, String>>,
    /// Who commits, and in which time zone.
    signature: Mutex<Option<(String, String)>>,
}

/// Files that a child works on, and what of ours belongs to them.
#[derive(Debug)]
struct Ground {
    /// The top of them.
    root: PathBuf,
    /// A repository of ours, which the child never sees.
    git_dir: PathBuf,
    /// Our index of them, nor this.
    index: PathBuf,
    /// Where their objects are.
    objects: PathBuf,
}

/// Whether a project is in a repository; never without git.
pub(super) fn covers(git: &Git, project: &Path) -> Result<bool, Error> {
    Ok(User::find(git, project)?.is_some())
}

impl Repository {
    /// The project's repository; `None` if it is in none, or there is no git.
    pub(super) fn open(
        project: &Path,
        state: &Path,
        options: &Options,
    ) -> Result<Option<Self>, Error> {
        let git = Arc::new(Git::default());
        let Some(user) = User::find(&git, project)? else { return Ok(None) };
        let folders = Folders::open(state, options.dir.as_deref())?;
        let hub = folders.state.join("hub.git");
        own::write(&hub, &user)?;
        let patience = options.patience;
        let cleaner = Cleaner {
            git: Arc::clone(&git),
            hub: hub.clone(),
            objects: user.objects.clone(),
            hash_bytes: user.hash_bytes,
        };
        let (results, histories) = (Mutex::default(), Mutex::default());
        let (chooser, wanted) = (Chooser::default(), options.mechanism);
        Ok(Some(Self {
            git,
            user,
            folders,
            hub,
            patience,
            mover: Stay::default(),
            scribe: Stay::default(),
            forester: Stay::default(),
            draft: format!("commit-{}.lock", record::fresh()),
            wanted,
            share: options.share.clone(),
            chooser,
            beyond: options.beyond.clone(),
            told_from: options.told_from,
            cleaner,
            shelf: Shelf::default(),
            lending: Mutex::default(),
            results,
            at_work: Mutex::default(),
            histories,
            trees: Mutex::default(),
            signature: Mutex::default(),
        }))
    }

    /// How workspaces would be made; `None` if the project is in no repository.
    pub(super) fn survey(
        project: &Path,
        state: &Path,
        (wanted, beyond): (Wanted, &Beyond),
    ) -> Result<Option<Choice>, Error> {
        let user = User::find(&Git::default(), project)?;
        Ok(user.map(|user| {
            let files = super::index::count(&user.git_dir.join("index"));
            Chooser::default().choice(wanted, (state, beyond), files).clone()
        }))
    }

    /// How workspaces are made here.
    fn choice(&self) -> &Choice {
        let files = super::index::count(&self.user.git_dir.join("index"));
        self.chooser.choice(self.wanted, (&self.folders.homes.current, &self.beyond), files)
    }

    /// A command on objects alone: no index, no files, no names.
    fn on_objects(&self, name: &str) -> Call<'_> {
        let call = self.git.call(name, Trust::Repository).env("GIT_DIR", &self.hub);
        call.env("GIT_OBJECT_DIRECTORY", &self.user.objects).within(&self.hub)
    }

    /// The files of a workspace.
    fn ground(&self, place: &Place) -> Ground {
        Ground {
            root: place.root.clone(),
            git_dir: self.hub.clone(),
            index: self.folders.own(&place.attempt).join("index"),
            objects: self.user.objects.clone(),
        }
    }

    /// A command on files, with a repository and an index of ours.
    fn on_ground(&self, name: &str, ground: &Ground) -> Call<'_> {
        let call = self.git.call(name, Trust::Repository).env("GIT_DIR", &ground.git_dir);
        let call = call.inside(self.around(name, ground));
        let call = call.env("GIT_OBJECT_DIRECTORY", &ground.objects);
        let call = call.env("GIT_INDEX_FILE", &ground.index);
        call.env("GIT_WORK_TREE", &ground.root).within(&ground.root)
    }

    /// A command on a workspace's files.
    fn on_place(&self, name: &str, place: &Place) -> Call<'_> {
        self.on_ground(name, &self.ground(place))
    }

    /// A command on the user's own checkout, as the user would run it.
    fn on_checkout(&self, name: &str, top: &Path) -> Call<'_> {
        let call = self.git.call(name, Trust::User).env("GIT_DIR", &self.user.git_dir);
        self.user.signed(call.env("GIT_WORK_TREE", top).within(top))
    }

    /// Tries again while somebody else holds a lock, for as long as patience lasts.
    fn patiently<T>(&self, act: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
        let start = Instant::now();
        let mut pause_ms: u64 = 5;
        loop {
            match act() {
                Err(Error::Locked { path }) if start.elapsed() < self.patience => {
                    drop(path);
                    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
                    let jitter = now.map_or(0, |now| u64::from(now.subsec_micros())) % pause_ms;
                    thread::sleep(Duration::from_millis(pause_ms.saturating_add(jitter)));
                    pause_ms = pause_ms.saturating_mul(2).min(200);
                }
                other => return other,
            }
        }
    }

    /// Where a name of the user's repository points.
    fn resolve(&self, name: &str) -> Result<Option<String>, Error> {
        if self.user.names_in_files {
            let names = Names::of_user(&self.user.git_dir, &self.user.common_dir);
            return Ok(names.resolve(name));
        }
        let call = self.git.call("rev-parse", Trust::Repository).env("GIT_DIR", &self.user.git_dir);
        let said = call.args(["--verify", "--quiet", name]).ask()?;
        let id = String::from_utf8_lossy(&said.out).trim().to_owned();
        Ok((said.code == 0 && !id.is_empty()).then_some(id))
    }

    /// Whether one commit is in the history of another.
    fn is_ancestor(&self, older: &str, newer: &str) -> Result<bool, Error> {
        if older == newer {
            return Ok(true);
        }
        let call = self.on_objects("merge-base").args(["--is-ancestor", older, newer]);
        let said = call.ask()?;
        match said.code {
            0 => Ok(true),
            1 => Ok(false),
            _ => Err(super::git::complaint("merge-base", &said)),
        }
    }

    fn histories(&self) -> MutexGuard<'_, HashMap<(String, String), History>> {
        self.histories.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        // Should it stay, it is in nobody's way.
        drop(gone(&self.hub.join(&self.draft)));
    }
}

impl Mechanism for Repository {
    fn is_git(&self) -> bool {
        true
    }

    fn origin(&self) -> Origin {
        let common = &self.user.common_dir;
        let top = self.user.top.clone().unwrap_or_else(|| common.clone());
        let mut lent = vec![self.lent(), common.join("lfs")];
        lent.extend(self.lent_to_submodules());
        let mut repository = vec![common.clone(), self.user.git_dir.clone()];
        repository.dedup();
        Origin { top, repository, lent }
    }

    fn mechanism(&self) -> Choice {
        self.choice().clone()
    }

    fn adopt(&self) -> Result<(), Error> {
        self.take_up()
    }

    fn folders(&self) -> &Folders {
        &self.folders
    }

    fn applies_in(&self) -> PathBuf {
        self.common()
    }

    fn git_processes(&self) -> u64 {
        self.git.started()
    }

    fn begin(&self, start: &Start) -> Result<String, Error> {
        self.begin_at(start)
    }

    fn create(&self, new: &New) -> Result<Place, Error> {
        self.make(new, None)
    }

    fn confront(&self, new: &New, work: &str) -> Result<Place, Error> {
        self.make(new, Some(work))
    }

    fn unresolved(&self, place: &Place, kept: &Kept) -> Result<Vec<String>, Error> {
        self.still_marked(place, kept)
    }

    fn stand(&self, place: &Place) -> Result<(), Error> {
        self.restore(&self.folders.known(place)?)
    }

    fn look(&self, place: &Place) -> Result<Seen, Error> {
        self.see(place)
    }

    fn keep(&self, place: &Place, note: &Note) -> Result<Option<Kept>, Error> {
        let since = SystemTime::now();
        let kept = self.take_custody(place, note);
        if let Err(Error::Git { message, .. }) = &kept
            && message.contains("No space left")
        {
            self.clear_unfinished(|time| time >= since);
        }
        kept
    }

    fn kept_commit(&self, tree: &str, attempt: &str) -> Result<Option<String>, Error> {
        let tree = names::checked("tree", tree)?;
        let attempt = names::checked("attempt", attempt)?;
        self.resolve(&format!("refs/legation/{tree}/{attempt}"))
    }

    fn is_kept_inside(&self, place: &Place) -> Result<bool, Error> {
        Ok(self.resolve(&works::inside_name(&place.tree, &place.attempt))?.is_some())
    }

    fn recall(&self, place: &Place, commands: &[String]) -> Result<bool, Error> {
        self.recall_setup(place, commands)
    }

    fn remember(&self, place: &Place, commands: &[String]) -> Result<(), Error> {
        self.remember_setup(place, commands)
    }

    fn remove(&self, place: &Place) -> Result<(), Error> {
        if self.folders.custody(&place.attempt)?.is_some() {
            self.folders.unshare(&place.attempt)?;
            self.put_into_pool(&self.folders.known(place)?)?;
        }
        self.folders.remove(&place.attempt)
    }

    fn merge(&self, delegation: &str, kept: &Kept) -> Result<Merge, Error> {
        self.merge_into_result(delegation, kept)
    }

    fn foresee(&self, delegation: &str, kept: &Kept) -> Result<Outlook, Error> {
        self.outlook_for(delegation, kept)
    }

    fn advance(&self, delegation: &str, kept: &Kept, to: &Candidate) -> Result<bool, Error> {
        self.advance_result(delegation, kept, to)
    }

    fn is_untried(&self, kept: &Kept, merged: &Candidate) -> Result<bool, Error> {
        Ok(!merged.is_forward && self.is_new(kept, merged)?)
    }

    fn forgo(&self, attempt: &str) -> Result<(), Error> {
        self.folders.write_custody(names::checked("attempt", attempt)?, None)
    }

    fn bring(&self, into: &Place, delegation: &str) -> Result<Merge, Error> {
        self.bring_into(into, delegation)
    }

    fn rollback(&self, delegation: &str) -> Result<Option<String>, Error> {
        self.roll_back(delegation)
    }

    fn diff(&self, delegation: &str, kept: Option<&Kept>) -> Result<String, Error> {
        self.difference(delegation, kept)
    }

    fn result_commit(&self, delegation: &str) -> Result<Option<String>, Error> {
        self.tip(delegation)
    }

    fn is_applied(&self, delegation: &str) -> Result<bool, Error> {
        self.checkout_has(delegation)
    }

    fn apply(&self, delegation: &str, how: How) -> Result<Applied, Error> {
        self.apply_to_checkout(delegation, how)
    }

    fn works(&self) -> Result<Vec<KeptWork>, Error> {
        self.kept_works()
    }

    fn work_files(&self, work: &KeptWork) -> Result<Vec<String>, Error> {
        self.files_of_work(work)
    }

    fn restore_work(&self, work: &KeptWork, to: &Path) -> Result<(), Error> {
        self.check_out_work(work, to)
    }

    fn forget_work(&self, work: &KeptWork) -> Result<(), Error> {
        self.let_go(work)
    }

    fn spares(&self) -> Result<Vec<Spare>, Error> {
        self.spare_checkouts()
    }

    fn drop_spare(&self, spare: &Spare) -> Result<(), Error> {
        self.drop_checkout(spare)
    }

    fn names(&self) -> Result<Vec<super::Names>, Error> {
        self.held_names()
    }

    fn drop_names(&self, names: &super::Names) -> Result<(), Error> {
        self.let_names_go(names)
    }

    fn revert(&self, delegation: &str) -> Result<Applied, Error> {
        self.take_from_checkout(delegation)
    }
}
