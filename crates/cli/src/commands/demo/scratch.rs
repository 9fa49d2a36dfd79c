//! The scratch project of the demo: made, kept or cleared away.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use legation_core::Code;
use legation_engine::client::{Paths, engine_pid};
use rustix::process::{Pid, Signal, kill_process};

use crate::error::CommandError;

/// How long the engine of the demo may take to end.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked at meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(10);

macro_rules! files {
    ($($path:literal),* $(,)?) => { [$(($path, include_str!(concat!("files/", $path)))),*] };
}

/// What is in the project itself.
const PROJECT: [(&str, &str); 3] = files!["README.md", "src/sum.sh", "tests/run.sh"];
/// What is in its `.legation/`.
const OWN: [(&str, &str); 17] = files![
    "config.toml",
    "plan.json",
    "two-writers.json",
    "agents/linter.md",
    "agents/lint.sh",
    "agents/tester.md",
    "agents/test.sh",
    "agents/counter.md",
    "agents/count.sh",
    "agents/folder-counter.md",
    "agents/count-folders.sh",
    "agents/dreamer.md",
    "agents/dream.sh",
    "agents/praiser.md",
    "agents/praise.sh",
    "agents/measurer.md",
    "agents/measure.sh",
];

/// The scratch project.
pub(super) struct Scratch {
    pub(super) folder: PathBuf,
}

impl Scratch {
    /// Makes the project, with git if there is git.
    pub(super) fn make() -> Result<Self, CommandError> {
        let stamp = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let stamp = stamp.map_or(0, |since| since.as_nanos());
        let name = format!("legation-demo-{}-{stamp}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        Self::fill(&folder).map_err(|problem| {
            let message = format!("cannot make {}: {problem}", folder.display());
            CommandError::failed(Code::WorkspaceFailed, message)
                .hint("set TMPDIR to a folder with room")
        })?;
        repository(&folder);
        Ok(Self { folder })
    }

    fn fill(folder: &Path) -> io::Result<()> {
        let own = folder.join(".legation");
        let all = PROJECT.iter().map(|(path, text)| (folder.join(path), text));
        for (path, text) in all.chain(OWN.iter().map(|(path, text)| (own.join(path), text))) {
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&path, text)?;
            if path.extension().is_some_and(|kind| kind == "sh") {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
            }
        }
        Ok(())
    }

    /// Leaves it where it is.
    pub(super) fn keep(self) {}

    /// Ends the engine that looked after it, and removes everything.
    pub(super) fn clear(self) {
        let paths = Paths::of(&self.folder);
        let began = Instant::now();
        if let Some(pid) = engine_pid(&paths).and_then(|pid| Pid::from_raw(pid.cast_signed())) {
            // If it is gone already, that is just as well.
            let _ = kill_process(pid, Signal::TERM);
        }
        while engine_pid(&paths).is_some() && began.elapsed() < PATIENCE {
            std::thread::sleep(LOOK_EVERY);
        }
        // What cannot be removed lies in a folder for what may be removed.
        let _ = fs::remove_dir_all(&self.folder);
        let _ = fs::remove_dir_all(&paths.state);
    }
}

/// Makes a repository of the project. Without git it stays a plain folder.
fn repository(folder: &Path) {
    let who = ["-c", "user.name=Demo", "-c", "user.email=demo@localhost"];
    let steps: [&[&str]; 3] = [
        &["init", "--quiet", "--initial-branch=main"],
        &["add", "--all"],
        &["commit", "--quiet", "--message=A small project"],
    ];
    for step in steps {
        let git = Command::new("git").args(who).args(step).current_dir(folder).output();
        if !git.is_ok_and(|ran| ran.status.success()) {
            return;
        }
    }
}
