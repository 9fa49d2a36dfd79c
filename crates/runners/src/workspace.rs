//! Workspaces: one isolated working copy for every attempt, and its way back.
//!
//! The life of one is `begin` (once for a delegation), `create`, the attempt
//! itself, `look`, `keep`, `merge`, `remove`. Every step may be repeated after a
//! crash and then finds what it did before. All of it blocks; whoever is async
//! calls it on a thread of its own.
//!
//! The user's branch, index, configuration and hooks are never touched, except by
//! [`Spaces::apply`], which is the user's own word. A workspace is never removed
//! before its work was kept. No program that a child named is ever run.

mod changes;
mod choice;
pub mod consent;
mod custody;
mod error;
mod folders;
mod git;
mod home;
mod hunks;
mod index;
mod markers;
mod mechanism;
mod names;
pub mod namespace;
mod obstacles;
mod overlay;
mod plain;
mod ports;
mod process;
mod record;
mod refs;
mod repository;
mod scrub;
mod sweeper;
mod turn;
mod types;
mod upper;
mod walk;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use choice::{Beyond, Choice, Wanted, Way};
pub use custody::{Because, KeptWork, Limits, Names, Provenance, Spare, Standing, Surplus};
pub use error::Error;
use folders::{APPLYING, UNDERWAY};
use mechanism::Mechanism;
use plain::Plain;
use repository::Repository;
use turn::Presence;
pub use types::{
    Applied, Candidate, From, How, Kept, MAX_FILES_SEEN, Merge, New, Note, Origin, Outlook, Place,
    Seen, Start,
};

/// The user's list of ignored files that every workspace gets.
const INCLUDE_LIST: &str = ".worktreeinclude";
/// Ignored files that are copied at most.
const MAX_INCLUDED: usize = 10_000;
/// What a plain folder may weigh before it is copied without being asked for.
pub const DEFAULT_COPY_LIMIT_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// From so many files on it is faster to be told what was written to than to look.
const DEFAULT_TOLD_FROM: usize = 10_000;

/// The file that tells that copies were asked for in spite of a repository.
const COPIES: &str = "copies";

/// What stands in the name of a workspace in which a merge is tried out, between the
/// attempt and where the result stood.
const REHEARSAL: &str = "-on-";
/// As much of where it stood.
const SHORT: usize = 12;

/// How many attempts can be kept or removed at once; more wait for one another.
const TURNS: usize = 32;

/// How long other people's lock files are waited for.
pub const DEFAULT_PATIENCE: Duration = Duration::from_secs(5);

/// What may be set before a project's workspaces are opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// What a plain folder may weigh.
    pub copy_limit_bytes: u64,
    /// How long lock files that are not ours are waited for.
    pub patience: Duration,
    /// How the workspaces of a git repository are made.
    pub mechanism: Wanted,
    /// Ignored folders of the user's checkout that every workspace sees, relative to its top.
    pub share: Vec<String>,
    /// The folder in which working copies lie; absent means the state folder.
    pub dir: Option<PathBuf>,
    /// What is known of user namespaces, where this process may lay no overlay.
    pub beyond: Beyond,
    /// How long others who have the workspaces open are waited for, so that what earlier
    /// processes left can be taken up.
    pub alone_within: Duration,
    /// How many files there have to be for git to be told in overlays what was written to,
    /// rather than look at each.
    pub told_from: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            copy_limit_bytes: DEFAULT_COPY_LIMIT_BYTES,
            patience: DEFAULT_PATIENCE,
            mechanism: Wanted::Auto,
            share: Vec::new(),
            dir: None,
            beyond: Beyond::default(),
            alone_within: Duration::ZERO,
            told_from: DEFAULT_TOLD_FROM,
        }
    }
}

/// The workspaces of one project. Shared by reference between threads.
#[derive(Debug)]
pub struct Spaces {
    mechanism: Box<dyn Mechanism>,
    /// Held while a delegation begins: its subtasks come at once, and the first one makes
    /// the base for all.
    beginnings: Mutex<()>,
    /// Held while the work of attempts is kept or their workspaces are removed: an attempt
    /// has always the same one.
    turns: [Mutex<()>; TURNS],
    /// As long as it is held, nobody takes what is at work here for left behind.
    _presence: Presence,
}

impl Spaces {
    /// Finds out what the project is: in a git repository, or a plain folder.
    ///
    /// `state` is the folder in which everything of these workspaces lies. Without
    /// git on this machine every project is a plain folder. Workspaces that are copies
    /// although there is a repository are still found.
    pub fn open(project: &Path, state: &Path) -> Result<Self, Error> {
        let mechanism = if state.join(COPIES).exists() { Wanted::Copy } else { Wanted::Auto };
        Self::open_with(project, state, &Options { mechanism, ..Options::default() })
    }

    /// The same, with other limits than the usual ones.
    ///
    /// What earlier processes left half done is taken up or cleared away, unless somebody else
    /// has these workspaces open.
    pub fn open_with(project: &Path, state: &Path, options: &Options) -> Result<Self, Error> {
        fs::create_dir_all(state).map_err(Error::files("making", state))?;
        let mut presence = Presence::enter(state, options.alone_within)?;
        let copies = |choice| Plain::open(project, state, (options, choice));
        let mechanism: Box<dyn Mechanism> = match options.mechanism {
            Wanted::Copy => {
                record::write(&state.join(COPIES), &())?;
                Box::new(copies(Choice::copies())?)
            }
            Wanted::Auto | Wanted::Overlay | Wanted::Pool | Wanted::Worktree => {
                folders::gone(&state.join(COPIES)).map_err(Error::files("removing", state))?;
                match Repository::open(project, state, options)? {
                    Some(repository) => Box::new(repository),
                    None => Box::new(copies(Choice::plain())?),
                }
            }
        };
        if presence.is_alone {
            mechanism.adopt()?;
            presence.share(state)?;
        }
        let (beginnings, turns) = (Mutex::default(), Default::default());
        let spaces = Self { mechanism, beginnings, turns, _presence: presence };
        // What cannot be thrown away now is thrown away by the next start.
        drop(spaces.sweep_rehearsals());
        drop(ports::sweep(state));
        Ok(spaces)
    }

    /// Waits until nobody else keeps the work of an attempt or removes its workspace; and
    /// nobody will as long as the answer is held. Two of them in one hand never end.
    pub fn turn_of(&self, attempt: &str) -> MutexGuard<'_, ()> {
        let at = attempt.bytes().fold(0, |sum, byte| (sum * 31 + usize::from(byte)) % TURNS);
        let turn = self.turns.get(at).unwrap_or(&self.beginnings);
        turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Throws away what was left of merges that were tried out for attempts that are gone.
    /// What belongs to one that is still there may be in use.
    fn sweep_rehearsals(&self) -> Result<(), Error> {
        for name in self.list()? {
            let Some((attempt, _)) = name.split_once(REHEARSAL) else { continue };
            if self.find(attempt)?.is_none()
                && let Some(rehearsal) = self.find(&name)?
            {
                self.end_rehearsal(&rehearsal)?;
            }
        }
        Ok(())
    }

    /// Whether workspaces can live in a folder that the user names.
    pub fn check_dir(dir: &Path) -> Result<(), Error> {
        home::check(dir)
    }

    /// How workspaces would be made in a folder, found out without leaving anything behind:
    /// the state folder, or the one that the user names.
    ///
    /// Where it is not there yet, the nearest one above it is tried.
    pub fn survey(
        project: &Path,
        state: &Path,
        (wanted, beyond): (Wanted, &Beyond),
    ) -> Result<Choice, Error> {
        match wanted {
            Wanted::Copy => Ok(Choice::copies()),
            Wanted::Auto | Wanted::Overlay | Wanted::Pool | Wanted::Worktree => {
                let there = state.ancestors().find(|folder| folder.is_dir());
                let there = there.unwrap_or(state);
                let choice = Repository::survey(project, there, (wanted, beyond))?;
                Ok(choice.unwrap_or_else(Choice::plain))
            }
        }
    }

    /// Whether an apply or rollback is under way in the state folder of some workspaces, or was
    /// when its process was killed.
    #[must_use]
    pub fn is_half_applied(state: &Path) -> bool {
        let records = fs::read_dir(state.join(APPLYING));
        state.join(UNDERWAY).exists() || records.is_ok_and(|mut all| all.next().is_some())
    }

    /// Why `workspace.share` has no effect on workspaces that are made like this in a folder;
    /// none if it has.
    #[must_use]
    pub fn share_obstacle(choice: &Choice, dir: &Path) -> Option<String> {
        match choice.way {
            Way::Overlay => None,
            Way::Copy => Some("copies share nothing".into()),
            Way::Pool | Way::Worktree => repository::share_obstacle(dir),
        }
    }

    /// Whether the project is in a git repository.
    #[must_use]
    pub fn is_git(&self) -> bool {
        self.mechanism.is_git()
    }

    /// The files that workspaces are copies of.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.mechanism.origin()
    }

    /// The folders in which there are working copies, or may be. New ones lie in the last.
    #[must_use]
    pub fn homes(&self) -> Vec<PathBuf> {
        let homes = &self.mechanism.folders().homes;
        let others = homes.all.iter().filter(|home| **home != homes.current);
        others.chain([&homes.current]).map(|home| home.join("workspaces")).collect()
    }

    /// Where an overlay puts what is written in a workspace: git is told of it from there.
    /// Without an overlay there is no such folder.
    #[must_use]
    pub fn written(&self, place: &Place) -> PathBuf {
        self.mechanism.folders().layer(&place.attempt).join("upper")
    }

    /// How workspaces are made here, and why not in another way.
    #[must_use]
    pub fn mechanism(&self) -> Choice {
        self.mechanism.mechanism()
    }

    /// How many git processes were started so far.
    #[must_use]
    pub fn git_processes(&self) -> u64 {
        self.mechanism.git_processes()
    }

    /// Fixes what a delegation starts from, and answers with its id.
    ///
    /// All its subtasks share it, however the parent goes on meanwhile. Asked a
    /// second time, the answer is the first one.
    pub fn begin(&self, start: &Start) -> Result<String, Error> {
        let _one = self.beginnings.lock().unwrap_or_else(PoisonError::into_inner);
        self.mechanism.begin(start)
    }

    /// Makes the workspace of an attempt; one that is there already is the answer.
    ///
    /// The delegation must have begun.
    pub fn create(&self, new: &New) -> Result<Place, Error> {
        self.mechanism.create(new)
    }

    /// Makes the workspace of an attempt that is to bring together the delegation's result
    /// and the kept work of another attempt, which could not be merged into it.
    ///
    /// It has both: merged where they fit, between markers where they do not.
    pub fn confront(&self, new: &New, conflicting: &str) -> Result<Place, Error> {
        let kept = self.kept_commit(&new.tree, conflicting)?;
        let unknown = || Error::Unknown { what: "kept work", id: conflicting.to_owned() };
        self.mechanism.confront(new, &kept.ok_or_else(unknown)?)
    }

    /// The files of such a workspace in whose kept form markers are left.
    ///
    /// What one of the two sides has on a line of its own is no marker.
    pub fn unresolved(&self, place: &Place, kept: &Kept) -> Result<Vec<String>, Error> {
        self.mechanism.unresolved(place, kept)
    }

    /// The workspace of an attempt, if it was made and not removed.
    pub fn find(&self, attempt: &str) -> Result<Option<Place>, Error> {
        self.mechanism.find(attempt)
    }

    /// Attempts that have something left here, half-made workspaces included.
    pub fn list(&self) -> Result<Vec<String>, Error> {
        self.mechanism.list()
    }

    /// Sees to it that the files of a workspace can be seen where it lies: an overlay may
    /// have gone with a restart of the machine.
    pub fn stand(&self, place: &Place) -> Result<(), Error> {
        self.mechanism.stand(place)
    }

    /// What the attempt did to its files, whatever it did to its repository.
    pub fn look(&self, place: &Place) -> Result<Seen, Error> {
        self.mechanism.look(place)
    }

    /// Keeps the work outside the workspace; `None` if nothing differs from the base.
    ///
    /// Commits, uncommitted and untracked files are kept; ignored ones are not. What the
    /// attempt has on other branches, tags and stashes is kept beside it
    /// ([`KeptWork::beside`]), and is nothing that differs.
    pub fn keep(&self, place: &Place, note: &Note) -> Result<Option<Kept>, Error> {
        // Written first: a crash in between leaves a note of nothing, and no work without one.
        self.note_provenance(place, note)?;
        let kept = self.mechanism.keep(place, note)?;
        let has_more = || self.kept_commit(&place.tree, &place.attempt).map(|kept| kept.is_some());
        if kept.is_none() && !self.mechanism.is_kept_inside(place)? && !has_more()? {
            self.forget_provenance(&place.attempt)?;
        }
        Ok(kept)
    }

    /// The same for an attempt that has ended: what was kept since is all there is.
    pub fn keep_once(&self, place: &Place, note: &Note) -> Result<Option<Kept>, Error> {
        match self.mechanism.custody(&place.attempt)? {
            Some(custody) => Ok(custody.kept),
            None => self.keep(place, note),
        }
    }

    /// The id of an attempt's kept work, whether or not its workspace is still there.
    pub fn kept_commit(&self, tree: &str, attempt: &str) -> Result<Option<String>, Error> {
        self.mechanism.kept_commit(tree, attempt)
    }

    /// Puts what set-up commands made earlier, from the same files, into a new workspace;
    /// `false` if they have to run.
    ///
    /// They run in the workspace and are therefore not run here: what they start may be
    /// a child's.
    pub fn recall(&self, place: &Place, commands: &[String]) -> Result<bool, Error> {
        self.mechanism.recall(place, commands)
    }

    /// Notes what set-up commands made in a workspace that nobody has worked in yet: it
    /// is no work of the attempt, and the next need not make it again.
    pub fn remember(&self, place: &Place, commands: &[String]) -> Result<(), Error> {
        self.mechanism.remember(place, commands)
    }

    /// Removes a workspace whose work was kept; refused before that.
    pub fn remove(&self, place: &Place) -> Result<(), Error> {
        self.mechanism.remove(place)
    }

    /// Moves a folder of the state folder out of the way, and deletes it in the background.
    pub fn discard(&self, folder: &Path) -> Result<(), Error> {
        self.mechanism.folders().discard(folder)
    }

    /// Removes what a crash left of a workspace that was never handed out.
    ///
    /// One that was handed out is refused as long as it was not kept.
    pub fn clear(&self, attempt: &str) -> Result<(), Error> {
        self.mechanism.clear(attempt)
    }

    /// Merges kept work into the delegation's result. Callers are served one by one.
    pub fn merge(&self, delegation: &str, kept: &Kept) -> Result<Merge, Error> {
        self.mechanism.merge(delegation, kept)
    }

    /// How a merge of kept work into the delegation's result would go; nothing moves.
    pub fn foresee(&self, delegation: &str, kept: &Kept) -> Result<Outlook, Error> {
        self.mechanism.foresee(delegation, kept)
    }

    /// Moves the delegation's result on to what was foreseen; `false` if somebody else has
    /// moved it since, and it has to be foreseen anew.
    pub fn advance(&self, delegation: &str, kept: &Kept, to: &Candidate) -> Result<bool, Error> {
        self.mechanism.advance(delegation, kept, to)
    }

    /// Whether the files of what was foreseen are none that the attempt itself had before it:
    /// somebody else's work and its own are together for the first time.
    pub fn is_untried(&self, kept: &Kept, merged: &Candidate) -> Result<bool, Error> {
        self.mechanism.is_untried(kept, merged)
    }

    /// Makes a workspace of what the result would become, to try it out. It is nobody's
    /// work: whatever is written there is thrown away with it.
    ///
    /// One that was made of the same two sides before a crash is the answer.
    pub fn rehearse(&self, place: &Place, with: &Candidate) -> Result<Place, Error> {
        let from: String = with.from.iter().flat_map(|from| from.chars()).take(SHORT).collect();
        self.create(&New {
            tree: place.tree.clone(),
            delegation: place.delegation.clone(),
            subtask: place.subtask.clone(),
            attempt: format!("{}{REHEARSAL}{from}", place.attempt),
            with: vec![with.commit.clone()],
        })
    }

    /// The workspaces in which merges of an attempt's work were tried out and which are still
    /// there, as after a crash.
    pub fn rehearsals(&self, attempt: &str) -> Result<Vec<Place>, Error> {
        let start = format!("{}{REHEARSAL}", names::checked("attempt", attempt)?);
        let all = self.list()?.into_iter().filter(|name| name.starts_with(&start));
        let mut found = Vec::new();
        for name in all {
            found.extend(self.find(&name)?);
        }
        Ok(found)
    }

    /// Throws the workspace of a rehearsal away; refuses any other.
    pub fn end_rehearsal(&self, rehearsal: &Place) -> Result<(), Error> {
        if !rehearsal.attempt.contains(REHEARSAL) {
            return Err(Error::NotKept { attempt: rehearsal.attempt.clone() });
        }
        self.mechanism.forgo(&rehearsal.attempt)?;
        self.mechanism.remove(rehearsal)
    }

    /// Merges a nested delegation's result into the workspace of its parent.
    ///
    /// On a conflict nothing there is changed.
    pub fn bring(&self, into: &Place, delegation: &str) -> Result<Merge, Error> {
        self.mechanism.bring(into, delegation)
    }

    /// Takes the delegation's result back to its base; answers with the old tip.
    pub fn rollback(&self, delegation: &str) -> Result<Option<String>, Error> {
        self.mechanism.rollback(delegation)
    }

    /// The difference between the delegation's base and its result, or one kept work.
    pub fn diff(&self, delegation: &str, kept: Option<&Kept>) -> Result<String, Error> {
        self.mechanism.diff(delegation, kept)
    }

    /// The commit of a delegation's result; none where there is no git, or no result yet.
    pub fn result_commit(&self, delegation: &str) -> Result<Option<String>, Error> {
        self.mechanism.result_commit(delegation)
    }

    /// Whether the delegation has a result and the user's own files have all of it.
    pub fn is_applied(&self, delegation: &str) -> Result<bool, Error> {
        self.mechanism.is_applied(delegation)
    }

    /// Brings the delegation's result into the user's own files; all of it or nothing.
    pub fn apply(&self, delegation: &str, how: How) -> Result<Applied, Error> {
        let _turn = turn::applying(&self.mechanism.applies_in())?;
        self.mechanism.apply(delegation, how)
    }

    /// Takes back what an apply brought, by a new commit that undoes it, and never by
    /// going back: what the user built on it stays. All of it or nothing.
    pub fn revert(&self, delegation: &str) -> Result<Applied, Error> {
        let _turn = turn::applying(&self.mechanism.applies_in())?;
        self.mechanism.revert(delegation)
    }
}
