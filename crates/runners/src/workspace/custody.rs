//! What there is to look at and to clear up: workspaces that stand, work that is kept,
//! checkouts that wait for their next use.
//!
//! Who uses what is not known here; callers say so. Nothing goes whose work was not
//! kept, and work that is kept goes only if the user's branch has it or the user says so.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use legation_core::money::Usd;
use serde::{Deserialize, Serialize};

use super::folders::{Folders, Laid, PLACE, gone};
use super::{Error, Kept, Note, Place, Spaces, names, record};
use crate::depths::{Met, Visitor, go_through};

/// Entries that are counted before a folder counts as endless.
const MAX_COUNTED: usize = 2_000_000;
/// The unit in which files say how much room they take.
const BLOCK_BYTES: u64 = 512;

/// Where kept work came from, as it was known when it was kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The tree that it belongs to.
    pub tree: String,
    /// The delegation that it belongs to.
    pub delegation: String,
    /// The subtask, as its plan calls it.
    pub subtask: String,
    /// The agent that worked.
    pub agent: String,
    /// Its session.
    pub session: String,
    /// What it cost; absent where unknown.
    #[serde(default)]
    pub cost: Option<Usd>,
    /// What it was built on.
    pub base: String,
    /// When it was kept.
    pub at: SystemTime,
}

/// A workspace that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The workspace.
    pub place: Place,
    /// Whether its work was kept since the attempt ended.
    pub is_kept: bool,
    /// The work, where there was any to keep.
    pub kept: Option<Kept>,
    /// Where its work came from, if it was kept.
    pub provenance: Option<Provenance>,
    /// What it takes on the disk; what it shares with others does not count.
    pub bytes: u64,
    /// When it was made, or its work kept.
    pub since: SystemTime,
    /// Whether somebody wants it to stay.
    pub exempt: bool,
}

/// Work that is kept, whether or not its workspace is still there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptWork {
    /// The tree that it belongs to.
    pub tree: String,
    /// The attempt that did it.
    pub attempt: String,
    /// The name that it is kept under.
    pub reference: String,
    /// Its id.
    pub commit: String,
    /// What it changed inside submodules, as a commit of its own, where it did.
    pub in_submodules: Option<String>,
    /// Names under which the attempt's other branches, tags and stashes are kept, and
    /// what each points to.
    pub beside: Vec<(String, String)>,
    /// Where it came from; absent where only its name tells.
    pub provenance: Option<Provenance>,
    /// When it was kept.
    pub since: SystemTime,
    /// What it takes on the disk; absent where it shares that with the repository.
    pub bytes: Option<u64>,
    /// Whether the history of the user's branch has it.
    pub in_branch: bool,
    /// Whether somebody wants it to stay.
    pub exempt: bool,
}

impl KeptWork {
    /// Whether there is nothing but what lies inside submodules.
    #[must_use]
    pub fn is_inside_only(&self) -> bool {
        self.in_submodules.as_ref() == Some(&self.commit)
    }
}

/// A checkout that nobody works in, or what a set-up made: kept to make the next workspace faster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spare {
    /// Where it lies.
    pub path: PathBuf,
    /// What it takes on the disk.
    pub bytes: u64,
    /// When it was last used.
    pub since: SystemTime,
}

/// The names that hold what a delegation started from and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The tree that it belongs to.
    pub tree: String,
    /// The delegation.
    pub delegation: String,
    /// Each name, and what it points to.
    pub names: Vec<(String, String)>,
    /// When the delegation began.
    pub since: SystemTime,
    /// What they take on the disk; absent where they share that with the repository.
    pub bytes: Option<u64>,
    /// Whether the history of the user's branch has all of it, or else the user's files.
    pub in_branch: bool,
}

/// How much may stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// What is older goes.
    pub max_age: Duration,
    /// What all workspaces and spare copies may take together.
    pub quota_bytes: u64,
    /// Whether kept work that is in no branch goes by its age, too.
    pub unapplied: bool,
}

/// Something that would go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Surplus {
    /// A workspace that nobody uses; its work is kept first.
    Workspace(Box<Standing>),
    /// Kept work.
    Kept(Box<KeptWork>),
    /// A spare copy.
    Spare(Spare),
    /// The result of a delegation and what it started from.
    Names(Box<Names>),
}

impl Surplus {
    /// The tree that it belongs to, if it belongs to one.
    #[must_use]
    pub fn tree(&self) -> Option<&str> {
        match self {
            Self::Workspace(standing) => Some(&standing.place.tree),
            Self::Kept(work) => Some(&work.tree),
            Self::Spare(_) => None,
            Self::Names(names) => Some(&names.tree),
        }
    }
}

/// Why something would go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// It is older than what may stay.
    Age,
    /// All of it together takes more than it may.
    Quota,
}

impl Spaces {
    /// Workspaces that are there. Those that were never handed out are not told of: the
    /// next start clears them.
    pub fn standing(&self) -> Result<Vec<Standing>, Error> {
        let folders = self.mechanism.folders();
        let mut standing = Vec::new();
        for attempt in folders.list()? {
            // Those whose records cannot be read are told by themselves.
            let Ok(Some(made)) = folders.made(&attempt) else { continue };
            let own = folders.own(&attempt);
            let custody = folders.custody(&attempt)?;
            let files = match made.laid {
                Laid::Overlay { .. } => folders.layer(&attempt),
                Laid::Checkout | Laid::Pool => folders.workspace(&attempt),
            };
            let noted = if custody.is_some() { "kept.json" } else { PLACE };
            standing.push(Standing {
                place: made.place,
                is_kept: custody.is_some(),
                kept: custody.and_then(|custody| custody.kept),
                provenance: self.provenance(&attempt)?,
                bytes: weight(&files).saturating_add(weight(&own)),
                since: written(&own.join(noted)),
                exempt: self.is_exempt(&attempt),
            });
        }
        Ok(standing)
    }

    /// Records of workspaces in a state folder that cannot be read, after a power cut for one.
    /// What belongs to them stays where it is.
    #[must_use]
    pub fn unreadable(state: &Path) -> Vec<PathBuf> {
        Folders::unreadable(state)
    }

    /// Work that is kept, by the names of its attempts.
    pub fn works(&self) -> Result<Vec<KeptWork>, Error> {
        let mut works = self.mechanism.works()?;
        for work in &mut works {
            work.exempt = self.is_exempt(&work.attempt);
            work.provenance = self.provenance(&work.attempt)?;
            // What a commit says of its own time may be an attempt's word.
            if let Some(provenance) = &work.provenance {
                work.since = provenance.at;
                // What was taken back is in the history, and in no file.
                work.in_branch &= !self.is_taken_back(&provenance.delegation)?;
                work.tree.clone_from(&provenance.tree);
            }
        }
        works.sort_by(|one, other| one.attempt.cmp(&other.attempt));
        Ok(works)
    }

    /// Whether the result of a delegation was brought to the user's files and taken from there.
    fn is_taken_back(&self, delegation: &str) -> Result<bool, Error> {
        let brought = self.mechanism.folders().brought(delegation)?;
        Ok(brought.is_some_and(|brought| brought.standing().next().is_none()))
    }

    /// The files that kept work changed, sorted.
    pub fn work_files(&self, work: &KeptWork) -> Result<Vec<String>, Error> {
        self.mechanism.work_files(work)
    }

    /// Puts kept work, with all files around it, into a folder that must not be there yet.
    pub fn restore(&self, work: &KeptWork, to: &Path) -> Result<(), Error> {
        let is_taken = match fs::symlink_metadata(to) {
            Ok(found) if found.is_dir() => {
                let entries = fs::read_dir(to).map_err(Error::files("reading", to))?;
                entries.count() > 0
            }
            Ok(_) => true,
            Err(_) => false,
        };
        if is_taken {
            return Err(Error::Refused {
                reason: format!("{} is there already", to.display()),
                files: Vec::new(),
                hint: "name a folder that is not there yet".into(),
            });
        }
        self.mechanism.restore_work(work, to)
    }

    /// Says that something of an attempt is to stay whatever its age, or no longer.
    pub fn exempt(&self, attempt: &str, stays: bool) -> Result<(), Error> {
        let path = self.exemption(names::checked("attempt", attempt)?);
        if stays {
            record::write(&path, &())
        } else {
            gone(&path).map_err(Error::files("removing", &path))
        }
    }

    /// What goes beyond the limits, the first to go first. What belongs to a tree that is
    /// in use stays, and so does what somebody wants to keep.
    pub fn surplus(
        &self,
        limits: Limits,
        in_use: impl Fn(&str) -> bool,
    ) -> Result<Vec<(Surplus, Because)>, Error> {
        let old = |since: SystemTime| since.elapsed().is_ok_and(|age| age >= limits.max_age);
        let standing = self.standing()?;
        let mut spares = self.mechanism.spares()?;
        let all = standing.iter().map(|one| one.bytes).chain(spares.iter().map(|one| one.bytes));
        let mut bytes = all.fold(0_u64, u64::saturating_add);
        let mut idle: Vec<Standing> =
            standing.into_iter().filter(|one| !one.exempt && !in_use(&one.place.tree)).collect();
        idle.sort_by_key(|one| one.since);
        spares.sort_by_key(|one| one.since);
        let mut surplus = Vec::new();
        // What only saves time goes before what somebody may want to look at.
        let spares = spares.into_iter().map(|one| (one.bytes, one.since, Surplus::Spare(one)));
        let idle = idle.into_iter();
        let idle = idle.map(|one| (one.bytes, one.since, Surplus::Workspace(Box::new(one))));
        for (weight, since, what) in spares.chain(idle) {
            let because = match (old(since), bytes > limits.quota_bytes) {
                (true, _) => Because::Age,
                (false, true) => Because::Quota,
                (false, false) => continue,
            };
            bytes = bytes.saturating_sub(weight);
            surplus.push((what, because));
        }
        // Of what another project keeps in the same repository nothing is known here.
        let ours = self.works()?.into_iter().filter(|work| work.provenance.is_some());
        let works = ours.filter(|work| {
            let may_go = work.in_branch || limits.unapplied;
            old(work.since) && may_go && !work.exempt && !in_use(&work.tree)
        });
        surplus.extend(works.map(|work| (Surplus::Kept(Box::new(work)), Because::Age)));
        let mut names = self.mechanism.names()?;
        for one in &mut names {
            one.in_branch &= !self.is_taken_back(&one.delegation)?;
        }
        let names = names.into_iter().filter(|names| {
            let may_go = names.in_branch || limits.unapplied;
            old(names.since) && may_go && !in_use(&names.tree)
        });
        surplus.extend(names.map(|names| (Surplus::Names(Box::new(names)), Because::Age)));
        Ok(surplus)
    }

    /// Clears something away. The work of a workspace is kept first; if that fails it stays.
    pub fn clear_away(&self, surplus: &Surplus) -> Result<(), Error> {
        match surplus {
            Surplus::Workspace(standing) => {
                self.keep_standing(standing)?;
                // Not by way of the pool, which would only give it another name.
                self.clear(&standing.place.attempt)
            }
            Surplus::Kept(work) => {
                self.mechanism.forget_work(work)?;
                self.forget_provenance(&work.attempt)
            }
            Surplus::Spare(spare) => self.mechanism.drop_spare(spare),
            Surplus::Names(names) => self.mechanism.drop_names(names),
        }
    }

    /// Keeps the work of a workspace that nobody uses any more, with what is known of where it
    /// came from.
    pub fn keep_standing(&self, standing: &Standing) -> Result<Option<Kept>, Error> {
        let known = standing.provenance.as_ref();
        let note = known.map(|known| Note {
            agent: known.agent.clone(),
            session: known.session.clone(),
            cost: known.cost,
            title: String::new(),
        });
        self.keep_once(&standing.place, &note.unwrap_or_default())
    }

    /// Notes where work comes from, before it is kept.
    pub(super) fn note_provenance(&self, place: &Place, note: &Note) -> Result<(), Error> {
        let path = self.provenance_path(names::checked("attempt", &place.attempt)?);
        let provenance = Provenance {
            tree: place.tree.clone(),
            delegation: place.delegation.clone(),
            subtask: place.subtask.clone(),
            agent: note.agent.clone(),
            session: note.session.clone(),
            cost: note.cost,
            base: place.base.clone(),
            at: SystemTime::now(),
        };
        record::write(&path, &provenance)
    }

    pub(super) fn forget_provenance(&self, attempt: &str) -> Result<(), Error> {
        let path = self.provenance_path(names::checked("attempt", attempt)?);
        gone(&path).map_err(Error::files("removing", &path))
    }

    fn provenance(&self, attempt: &str) -> Result<Option<Provenance>, Error> {
        record::read(&self.provenance_path(names::checked("attempt", attempt)?))
    }

    fn provenance_path(&self, attempt: &str) -> PathBuf {
        self.mechanism.folders().state.join("provenance").join(format!("{attempt}.json"))
    }

    fn is_exempt(&self, attempt: &str) -> bool {
        self.exemption(attempt).exists()
    }

    fn exemption(&self, attempt: &str) -> PathBuf {
        self.mechanism.folders().state.join("exempt").join(attempt)
    }
}

/// When a file was last written; what cannot be told counts as new.
pub(super) fn written(path: &Path) -> SystemTime {
    let time = fs::symlink_metadata(path).and_then(|found| found.modified());
    time.unwrap_or_else(|_| SystemTime::now())
}

/// What a folder takes on the disk, links not followed and other file systems left out.
pub(super) fn weight(top: &Path) -> u64 {
    let Ok(found) = fs::symlink_metadata(top) else { return 0 };
    let bytes = found.blocks().saturating_mul(BLOCK_BYTES);
    let mut scale = Scale { device: found.dev(), bytes, counted: 0 };
    go_through(top, &mut scale);
    scale.bytes
}

/// Adds up what is met.
struct Scale {
    device: u64,
    bytes: u64,
    counted: usize,
}

impl Visitor for Scale {
    fn meet(&mut self, met: &Met<'_>) -> bool {
        self.counted = self.counted.saturating_add(1);
        let Ok(found) = met.look() else { return false };
        if found.st_dev != self.device {
            return false;
        }
        let blocks = u64::try_from(found.st_blocks).unwrap_or_default();
        // Of a file its other names count the rest. Their number is as wide as the machine wants.
        let names = u32::try_from(found.st_nlink).unwrap_or(u32::MAX);
        let names = if met.is_folder() { 1 } else { names };
        let blocks = blocks.checked_div(names.into()).unwrap_or_default();
        self.bytes = self.bytes.saturating_add(blocks.saturating_mul(BLOCK_BYTES));
        true
    }

    fn is_done(&self) -> bool {
        self.counted > MAX_COUNTED
    }
}
