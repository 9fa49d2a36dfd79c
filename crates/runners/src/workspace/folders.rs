//! Where everything lies below the state folder, and how it goes away.

use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::home::Homes;
use super::repository::Submodule;
use super::sweeper::Sweeper;
use super::{Error, Kept, Place, names, overlay, ports, record};
use crate::depths;

/// What is known of a workspace beyond what its caller needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Made {
    pub(super) place: Place,
    /// Files that changed before this moment were not changed by the attempt.
    pub(super) settled: Moment,
    #[serde(default)]
    pub(super) laid: Laid,
    /// Folders of the user that appear in it, relative to its top.
    #[serde(default)]
    pub(super) shared: Vec<String>,
    /// Folders that were to appear in it, and cannot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) not_shared: Vec<String>,
    /// The two sides that it starts from, where it is there to bring them together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sides: Option<Sides>,
    /// The submodules that are checked out in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) submodules: Vec<Submodule>,
}

/// Two sides that did not fit together when a workspace was made of both.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sides {
    /// The result, as it stood then.
    pub(super) ours: String,
    /// The work that met it.
    pub(super) theirs: String,
    /// The files in conflict, relative to the top.
    pub(super) files: Vec<String>,
    /// Files that are as neither the result nor an attempt has left them, where no commit
    /// tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) joined: Vec<Vec<u8>>,
}

/// How the files of a workspace got there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Laid {
    /// They were written or copied one by one.
    #[default]
    Checkout,
    /// They are seen through an overlay; these lie below, the topmost first.
    Overlay {
        /// Folders, named from where the pinned checkouts are.
        lower: Vec<String>,
    },
    /// They were there before, from another attempt, and will serve the next.
    Pool,
}

/// What became of a workspace's work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Custody {
    pub(super) kept: Option<Kept>,
}

/// What a delegation starts from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Begun {
    pub(super) tree: String,
    pub(super) delegation: String,
    pub(super) base: String,
    /// Whether the base holds files that the user had not committed.
    #[serde(default)]
    pub(super) dirty: bool,
}

/// What an apply did, for taking it back.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Brought {
    /// The result that was applied.
    pub(super) tip: String,
    /// What was there before.
    pub(super) before: String,
    /// What was there afterwards.
    pub(super) after: String,
    /// Whether only files changed, without a commit on the user's branch.
    pub(super) files_only: bool,
    /// Whether it was taken back since.
    pub(super) taken_back: bool,
    /// What was brought before: to another branch, or when there was less of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) earlier: Vec<Brought>,
}

/// Earlier ones that are remembered.
const MAX_EARLIER: usize = 32;

impl Brought {
    /// All that was brought and is still there, the last first.
    pub(super) fn standing(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.earlier).filter(|one| !one.taken_back)
    }

    /// The same as something that came before.
    pub(super) fn as_earlier(&self) -> Vec<Self> {
        let alone = |one: &Self| Self { earlier: Vec::new(), ..one.clone() };
        self.standing().take(MAX_EARLIER).map(alone).collect()
    }

    /// The same once some of it were taken back.
    pub(super) fn without(&self, taken: &[Self]) -> Self {
        let is_taken = |one: &Self| taken.iter().any(|it| it.after == one.after);
        let mut left = self.clone();
        left.taken_back |= is_taken(self);
        for one in &mut left.earlier {
            one.taken_back |= is_taken(one);
        }
        left
    }
}

/// What is being done to the user's own files.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Underway {
    pub(super) delegation: String,
    /// Where the user's branch was.
    pub(super) head: Option<String>,
    /// The commit of what is there before, and that of what is to be there.
    pub(super) from: String,
    pub(super) to: String,
    /// Whether only files change, without a commit on the user's branch.
    pub(super) files_only: bool,
    /// What is on record once it is done.
    pub(super) then: Brought,
}

/// What is known of a workspace.
pub(super) const PLACE: &str = "place.json";
/// Where small records lie.
const RECORDS: [&str; 4] = ["delegations", "applied", "provenance", "results"];

/// What is being done to the user's files.
pub(super) const UNDERWAY: &str = "underway.json";
/// The same where there is no git.
pub(super) const APPLYING: &str = "applying";

/// Where the layers of shared folders are, among those of an attempt.
const SHARED: &str = "shared";

/// A time as files carry it: seconds and nanoseconds.
pub(super) type Moment = (i64, i64);

/// The state folder.
#[derive(Clone, Debug)]
pub(super) struct Folders {
    pub(super) state: PathBuf,
    /// Where working copies lie, and what attempts write.
    pub(super) homes: Homes,
    sweeper: Arc<Sweeper>,
}

impl Folders {
    pub(super) fn open(state: &Path, dir: Option<&Path>) -> Result<Self, Error> {
        fs::create_dir_all(state).map_err(Error::files("making", state))?;
        let state = fs::canonicalize(state).map_err(Error::files("opening", state))?;
        let homes = Homes::open(&state, dir)?;
        Ok(Self { state, homes, sweeper: Arc::new(Sweeper::in_no_hurry()) })
    }

    /// Where the working copy of an attempt lies, or would be made.
    fn home(&self, attempt: &str) -> PathBuf {
        if self.homes.is_single() {
            return self.state.clone();
        }
        if let Ok(Some(made)) = self.made(attempt)
            && let Some(home) = self.homes.around(&made.place.root)
        {
            return home.to_owned();
        }
        // One that was never handed out has left its traces somewhere, or none.
        let has = |home: &&PathBuf| {
            ["workspaces", "layers"].iter().any(|kind| home.join(kind).join(attempt).exists())
        };
        self.homes.all.iter().find(has).unwrap_or(&self.homes.current).clone()
    }

    /// The working copy of an attempt: the child's.
    pub(super) fn workspace(&self, attempt: &str) -> PathBuf {
        self.home(attempt).join("workspaces").join(attempt)
    }

    /// What an attempt has written, where its workspace is an overlay.
    pub(super) fn layer(&self, attempt: &str) -> PathBuf {
        self.home(attempt).join("layers").join(attempt)
    }

    /// What we ourselves know of an attempt's workspace: never the child's.
    pub(super) fn own(&self, attempt: &str) -> PathBuf {
        self.state.join("repos").join(format!("{attempt}.git"))
    }

    pub(super) fn begun(&self, delegation: &str) -> Result<Begun, Error> {
        let path = self.begun_path(names::checked("delegation", delegation)?);
        record::read(&path)?
            .ok_or_else(|| Error::Unknown { what: "delegation", id: delegation.to_owned() })
    }

    /// The delegations that have begun here.
    pub(super) fn delegations(&self) -> HashSet<String> {
        let entries = fs::read_dir(self.state.join("delegations")).into_iter().flatten().flatten();
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        entries.filter_map(|entry| Some(name(entry).strip_suffix(".json")?.to_owned())).collect()
    }

    pub(super) fn begun_path(&self, delegation: &str) -> PathBuf {
        self.state.join("delegations").join(format!("{delegation}.json"))
    }

    /// What was brought to the user of a delegation, if anything was.
    pub(super) fn brought(&self, delegation: &str) -> Result<Option<Brought>, Error> {
        record::read(&self.brought_path(delegation))
    }

    pub(super) fn write_brought(&self, delegation: &str, brought: &Brought) -> Result<(), Error> {
        record::write(&self.brought_path(delegation), brought)
    }

    /// What is being done to the user's files, or was when somebody was killed.
    pub(super) fn underway(&self) -> Result<Option<Underway>, Error> {
        record::read(&self.underway_path())
    }

    pub(super) fn write_underway(&self, underway: &Underway) -> Result<(), Error> {
        record::write_firmly(&self.underway_path(), underway)
    }

    pub(super) fn end_underway(&self) -> Result<(), Error> {
        let path = self.underway_path();
        gone(&path).map_err(Error::files("removing", &path))
    }

    pub(super) fn underway_path(&self) -> PathBuf {
        self.state.join(UNDERWAY)
    }

    fn brought_path(&self, delegation: &str) -> PathBuf {
        self.state.join("applied").join(format!("{delegation}.json"))
    }

    pub(super) fn made(&self, attempt: &str) -> Result<Option<Made>, Error> {
        record::read(&self.own(names::checked("attempt", attempt)?).join(PLACE))
    }

    /// Workspaces that were handed out; what was left of others is cleared away. One whose record
    /// cannot be read stays: what lies there may be work.
    pub(super) fn handed_out(&self) -> Result<Vec<Made>, Error> {
        let mut handed_out = Vec::new();
        for attempt in self.list()? {
            match self.made(&attempt) {
                Ok(Some(made)) => handed_out.push(made),
                // Nobody was ever told of it.
                Ok(None) => self.remove(&attempt)?,
                Err(Error::Record { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(handed_out)
    }

    /// Records of workspaces that cannot be read.
    pub(super) fn unreadable(state: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(state.join("repos")).into_iter().flatten().flatten();
        let records = entries.map(|entry| entry.path().join(PLACE));
        records.filter(|path| record::read::<Made>(path).is_err()).collect()
    }

    /// What is known of a workspace that must have been made.
    pub(super) fn known(&self, place: &Place) -> Result<Made, Error> {
        self.made(&place.attempt)?
            .ok_or_else(|| Error::Unknown { what: "workspace", id: place.attempt.clone() })
    }

    /// What became of the work; none if nobody has asked for it to be kept.
    pub(super) fn custody(&self, attempt: &str) -> Result<Option<Custody>, Error> {
        record::read(&self.own(names::checked("attempt", attempt)?).join("kept.json"))
    }

    pub(super) fn write_custody(&self, attempt: &str, kept: Option<&Kept>) -> Result<(), Error> {
        record::write(&self.own(attempt).join("kept.json"), &Custody { kept: kept.cloned() })
    }

    /// Attempts that have a folder of any kind.
    pub(super) fn list(&self) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        let homes = self.homes.all.iter();
        let folders = homes.flat_map(|home| ["workspaces", "layers"].map(|kind| home.join(kind)));
        let folders = folders.map(|folder| (folder, ""));
        for (folder, ending) in folders.chain([(self.state.join("repos"), ".git")]) {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(Error::files("reading", &folder)(error)),
            };
            for entry in entries {
                let name = entry.map_err(Error::files("reading", &folder))?.file_name();
                let name = name.to_string_lossy();
                found.extend(name.strip_suffix(ending).map(str::to_owned));
            }
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// Removes all folders of an attempt; one that was handed out must have been kept.
    pub(super) fn remove(&self, attempt: &str) -> Result<(), Error> {
        let attempt = names::checked("attempt", attempt)?;
        let own = self.own(attempt);
        let handed_out = own.join(PLACE).exists();
        if handed_out && self.custody(attempt)?.is_none() {
            return Err(Error::NotKept { attempt: attempt.to_owned() });
        }
        // Ours goes last: as long as it is there, the removal can be repeated.
        let root = self.workspace(attempt);
        self.unshare(attempt)?;
        ports::free(&self.state, attempt);
        // Whoever lets go of an overlay last has to forget every file that was seen through
        // it, and nobody should wait for that.
        let held = overlay::path_of(&root);
        overlay::take_away(&root).map_err(Error::files("unmounting", &root))?;
        self.sweeper.take(move || drop(held));
        self.discard(&root)?;
        self.discard(&self.layer(attempt))?;
        self.discard(&own)
    }

    /// Takes away what is laid over folders inside, so that nothing reaches through it.
    pub(super) fn unshare(&self, attempt: &str) -> Result<(), Error> {
        let layers = fs::read_dir(self.layer(attempt).join(SHARED)).into_iter().flatten();
        for layer in layers.flatten() {
            let name = layer.file_name().to_string_lossy().replace('%', "/");
            let folder = self.workspace(attempt).join(name);
            overlay::take_away(&folder).map_err(Error::files("unmounting", &folder))?;
        }
        Ok(())
    }

    /// What is written to a shared folder.
    pub(super) fn shared_layer(&self, attempt: &str, name: &str) -> PathBuf {
        self.layer(attempt).join(SHARED).join(name.replace('/', "%"))
    }

    /// Moves a folder out of the way, so that it is gone at once, and has it deleted there.
    pub(super) fn discard(&self, folder: &Path) -> Result<(), Error> {
        // On the file system where it lies, since it is only given another name.
        let trash = self.homes.around(folder).unwrap_or(&self.state).join("trash");
        fs::create_dir_all(&trash).map_err(Error::files("making", &trash))?;
        let target = trash.join(record::fresh());
        match fs::rename(folder, &target) {
            Ok(()) => {
                // What cannot be deleted now is found at the next start.
                self.sweeper.take(move || drop(gone(&target)));
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(Error::files("removing", folder)(error)),
        }
    }

    /// Deletes records that earlier processes did not get to write whole.
    pub(super) fn clear_drafts(&self) {
        for name in RECORDS {
            for entry in fs::read_dir(self.state.join(name)).into_iter().flatten().flatten() {
                if entry.path().extension().is_some_and(|ending| ending == record::DRAFT) {
                    // Should it stay, it is in nobody's way.
                    drop(gone(&entry.path()));
                }
            }
        }
    }

    /// Deletes what earlier processes moved out of the way and did not get to delete.
    pub(super) fn sweep(&self) {
        let trashes = self.homes.all.iter().map(|home| fs::read_dir(home.join("trash")));
        for entry in trashes.flat_map(|entries| entries.into_iter().flatten().flatten()) {
            self.sweeper.take(move || drop(gone(&entry.path())));
        }
    }
}

/// Deletes whatever is there without following links, however deep it goes; what is gone already
/// is fine.
pub(super) fn gone(path: &Path) -> io::Result<()> {
    depths::remove(path)
}
