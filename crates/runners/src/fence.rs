//! The fence around an attempt: what its processes can read, write, reach and signal.
//!
//! It is Landlock and a filter of calls, and namespaces where they can be had, raised on a
//! thread of the keeper from which the program is then started: the program and all its
//! descendants are inside for good, the keeper stays outside. There is no half-raised fence:
//! it stands, with what this kernel lacks named, or it does not stand and the reason is told.
//! Nothing here decides what an attempt may do; that is told in a [`Fence`].

pub(crate) mod audit;
mod capabilities;
mod filter;
mod kernel;
mod marks;
mod namespaces;
mod opened;
mod raise;
mod refusals;

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command};

use legation_core::config::Network;
use legation_core::returns::FenceRefusal;
use serde::{Deserialize, Serialize};

pub(crate) use capabilities::may_mount;
pub use kernel::{Asked, Held, Kernel, Rule};
pub use namespaces::{Namespaces, SWITCHES, prepare};
pub use refusals::{ACCESS, DOMAIN, MAX_TOLD, Refusals};

/// What lies on which side of the fence. Of the paths that are named here, the one that
/// is nearest above a file decides about it, and the most that is said of it holds.
/// What no path is above is readable. All paths are absolute and without links.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fence {
    /// What can be neither read nor written.
    pub hidden: Vec<PathBuf>,
    /// What can be read and executed.
    pub readable: Vec<PathBuf>,
    /// What can be written, too.
    pub writable: Vec<PathBuf>,
    /// Whether the network can be used.
    pub network: Network,
    /// The ports that can be listened on, where only these can.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<u16>,
    /// Whether the program may not be started without the fence.
    pub required: bool,
}

/// What came of a fence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Whether it stands.
    pub is_on: bool,
    /// What it does not hold here; where it does not stand, why.
    pub gaps: Vec<String>,
    /// What it has refused, as far as the kernel told; absent where it tells nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Vec<FenceRefusal>>,
}

/// Opens what a program is to be born with, and known by.
pub(crate) type Mark<'a> = &'a (dyn Fn() -> Option<OwnedFd> + Sync);

/// Why a program was not started.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no fence, and it was required.
    #[error("the fence cannot be raised here, and `sandbox.fence` requires it: {0}")]
    NoFence(String),
    /// What a program may take cannot be limited, and it was required.
    #[error("what it takes cannot be limited, and `sandbox.fence` requires it: {0}")]
    NoCeiling(String),
    /// The program could not be started.
    #[error(transparent)]
    Start(#[from] io::Error),
}

impl Standing {
    fn on(gaps: Vec<String>) -> Self {
        Self { is_on: true, gaps, refused: None }
    }

    fn off(why: String) -> Self {
        Self { is_on: false, gaps: vec![why], refused: None }
    }
}

impl Fence {
    /// What is asked of it.
    pub fn asked(&self) -> Asked {
        Asked { network: self.network, required: self.required }
    }

    /// Starts a program inside the fence. Where the fence cannot be raised, the program
    /// is started without, or not at all where it was required. Of what is open here it gets
    /// its standard input, output and error only.
    pub fn start(&self, command: &mut Command) -> Result<(Child, Standing), Error> {
        self.start_marked(command, &|| None)
    }

    /// The same with a mark, which is made inside and which the program is born with.
    pub(crate) fn start_marked(
        &self,
        command: &mut Command,
        mark: Mark<'_>,
    ) -> Result<(Child, Standing), Error> {
        opened::keep_to_ourselves();
        // The fence closes around a thread for good, so it is one that ends here.
        let inside = std::thread::scope(|scope| {
            let thread = scope.spawn(|| self.start_inside(command, mark));
            thread.join().unwrap_or_else(|_| Err("its thread broke off".to_owned()))
        });
        match inside {
            Ok((child, standing)) => Ok((child?, standing)),
            Err(why) if self.required => Err(Error::NoFence(why)),
            Err(why) => {
                let _mark = mark();
                Ok((command.spawn()?, Standing::off(why)))
            }
        }
    }

    /// What will come of it, as far as the kernel says; an error where programs could not
    /// be started at all.
    pub fn expected(&self) -> Result<Standing, Error> {
        let kernel = Kernel::current();
        match (kernel.unfit(self.asked()).filter(|_| self.required), &kernel.obstacle) {
            (Some(why), _) => Err(Error::NoFence(why)),
            (None, Some(why)) => Ok(Standing::off(why.clone())),
            (None, None) => Ok(Standing::on(kernel.gaps(self.asked()))),
        }
    }

    /// The same with links followed, and without what would be opened and is not there.
    #[must_use]
    pub fn real(mut self) -> Self {
        let real = |path: &PathBuf| fs::canonicalize(path).ok();
        let hidden = self.hidden.iter();
        self.hidden = hidden.map(|path| real(path).unwrap_or_else(|| path.clone())).collect();
        self.readable = self.readable.iter().filter_map(real).collect();
        self.writable = self.writable.iter().filter_map(real).collect();
        self
    }

    /// Raises the fence around this thread, then starts the program.
    fn start_inside(
        &self,
        command: &mut Command,
        mark: Mark<'_>,
    ) -> Result<(io::Result<Child>, Standing), String> {
        let (kernel, mut gaps) = raise::raise(self)?;
        match kernel.unfit(self.asked()) {
            Some(why) if self.required => return Err(why),
            Some(_) | None => gaps.extend(kernel.gaps(self.asked())),
        }
        let _mark = mark();
        Ok((command.spawn(), Standing::on(gaps)))
    }
}
