//! Which way of making workspaces is taken, and why not another.
//!
//! What was asked for is never silently replaced: a way that cannot be had is an
//! error with its reason, once somebody wants a workspace.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::{Error, namespace, overlay};

/// Below this many files a checkout is as fast as one that is used again, and simpler.
const FEW_FILES: usize = 500;

/// The way of making workspaces that is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// Whatever suits the machine and the repository.
    #[default]
    Auto,
    /// An overlay over a checkout that all share.
    Overlay,
    /// Checkouts that are kept and used again.
    Pool,
    /// A checkout for each.
    Worktree,
    /// A copy of the folder for each, as where there is no repository.
    Copy,
}

/// A way of making workspaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// An overlay over a checkout that all share.
    Overlay,
    /// Checkouts that are kept and used again.
    Pool,
    /// A checkout for each.
    Worktree,
    /// A copy of the folder for each.
    Copy,
}

impl Way {
    /// All of them, the fastest first.
    pub const ALL: [Self; 4] = [Self::Overlay, Self::Pool, Self::Worktree, Self::Copy];

    /// Its name, as in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Overlay => "overlay",
            Self::Pool => "pool",
            Self::Worktree => "worktree",
            Self::Copy => "copy",
        }
    }
}

/// What is known of user namespaces, where somebody who is not root could lay overlays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Nobody is in one, for this reason.
    Closed(String),
    /// It can be tried out, with our own program.
    Try(PathBuf),
}

impl Default for Beyond {
    fn default() -> Self {
        Self::Closed(overlay::NOT_ROOT.to_owned())
    }
}

/// Where overlays can be had.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ground {
    /// By whoever may lay them anyhow.
    Plain,
    /// In a user namespace only.
    Namespace,
}

/// Where overlays can be had, found out by making one; if nowhere, why.
fn ground(state: &Path, beyond: &Beyond) -> Result<Ground, String> {
    if !namespace::is_needed() {
        overlay::probe(state)?;
        let is_namespaced = overlay::is_namespaced();
        return Ok(if is_namespaced { Ground::Namespace } else { Ground::Plain });
    }
    match beyond {
        Beyond::Closed(why) => Err(why.clone()),
        Beyond::Try(program) => namespace::try_out(state, program).map(|()| Ground::Namespace),
    }
}

/// The way that is taken, and why the others are not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The way that is taken.
    pub way: Way,
    /// Why it is this one.
    pub because: String,
    /// Every other way, and why it is not taken.
    pub others: Vec<(Way, String)>,
    /// Why the way that was asked for cannot be had; then no workspace is made.
    pub obstacle: Option<String>,
}

impl Choice {
    /// The choice for a folder in no repository.
    pub(super) fn plain() -> Self {
        let why = "the project is in no git repository";
        Self::of(Way::Copy, why, |_| why.to_owned())
    }

    /// The choice for a repository whose files are copied because somebody wants that.
    pub(super) fn copies() -> Self {
        Self::of(Way::Copy, ASKED, |_| "workspace.mechanism asks for copies".into())
    }

    fn of(way: Way, because: &str, why_not: impl Fn(Way) -> String) -> Self {
        let others = Way::ALL.into_iter().filter(|other| *other != way);
        let others = others.map(|other| (other, why_not(other))).collect();
        Self { way, because: because.to_owned(), others, obstacle: None }
    }

    /// An error if the way that was asked for cannot be had.
    pub(super) fn check(&self) -> Result<(), Error> {
        match &self.obstacle {
            None => Ok(()),
            Some(why) => Err(Error::Unavailable { way: self.way.name(), why: why.clone() }),
        }
    }
}

const ASKED: &str = "workspace.mechanism asks for it";
/// Why a namespace has to be asked for.
const ON_REQUEST: &str = "it takes a user namespace, where files of others have no owner and \
    folders are not renamed but copied; workspace.mechanism can ask for it";

/// Chooses for a repository, when somebody first needs to know.
#[derive(Debug, Default)]
pub(super) struct Chooser {
    chosen: OnceLock<Choice>,
}

impl Chooser {
    /// The choice for a repository with this many files.
    pub(super) fn choice(
        &self,
        wanted: Wanted,
        (state, beyond): (&Path, &Beyond),
        files: Option<usize>,
    ) -> &Choice {
        self.chosen.get_or_init(|| choose(wanted, ground(state, beyond), files))
    }
}

fn choose(wanted: Wanted, overlay: Result<Ground, String>, files: Option<usize>) -> Choice {
    let few = files.is_none_or(|files| files < FEW_FILES);
    let (way, because) = match wanted {
        Wanted::Auto if overlay == Ok(Ground::Plain) => {
            (Way::Overlay, "the kernel allows it".to_owned())
        }
        Wanted::Auto if few => (Way::Worktree, "the repository is small".to_owned()),
        Wanted::Auto => (Way::Pool, "it is the fastest that can be had".to_owned()),
        Wanted::Overlay if overlay == Ok(Ground::Namespace) => {
            (Way::Overlay, format!("{ASKED}, and a user namespace allows it"))
        }
        Wanted::Overlay => (Way::Overlay, ASKED.to_owned()),
        Wanted::Pool => (Way::Pool, ASKED.to_owned()),
        Wanted::Worktree => (Way::Worktree, ASKED.to_owned()),
        Wanted::Copy => return Choice::copies(),
    };
    let why_not = |other: Way| match (other, &overlay) {
        (Way::Overlay, Err(why)) => why.clone(),
        (Way::Overlay, Ok(Ground::Namespace)) if wanted == Wanted::Auto => ON_REQUEST.to_owned(),
        (Way::Pool, _) if way == Way::Worktree && wanted == Wanted::Auto => {
            format!("with less than {FEW_FILES} files a checkout is as fast")
        }
        (Way::Copy, _) => "the project is in a git repository".to_owned(),
        (Way::Overlay | Way::Pool | Way::Worktree, _) if wanted == Wanted::Auto => {
            format!("{} is faster", way.name())
        }
        (Way::Overlay | Way::Pool | Way::Worktree, _) => {
            format!("workspace.mechanism asks for {}", way.name())
        }
    };
    let mut choice = Choice::of(way, &because, why_not);
    if way == Way::Overlay {
        choice.obstacle = overlay.err();
    }
    choice
}
