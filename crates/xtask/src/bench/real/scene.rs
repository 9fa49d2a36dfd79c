//! A project of its own with a home of its own, and the real program in it.
//!
//! Nothing of the user's is read or written. The folder and the engine go with the scene.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::process;

/// How long workspaces may take to be cleared away.
const SETTLE_LIMIT: Duration = Duration::from_secs(60);
/// How often one looks.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Bounds that allow what is measured.
const CONFIG: &str = "[limits]\nmaxConcurrentAgents = 50\nmaxConcurrentTotal = 50\n\
    maxDelegationsPerTask = 1000\nmaxAgentsPerTree = 1000\nmaxTotalTokens = 1000000000\n";

/// A project and the program that is run in it.
pub(super) struct Scene {
    root: PathBuf,
    legation: PathBuf,
}

impl Scene {
    /// An empty folder as a project.
    pub(super) fn new(name: &str, legation: &Path) -> Result<Self> {
        let own = format!("{name}-{}", std::process::id());
        // Not below this repository: a folder in it would be one of its subfolders.
        let root = std::env::temp_dir().join("legation-bench").join(own);
        for folder in ["home", "project/.legation/agents", "run", "bin"] {
            fs::create_dir_all(root.join(folder))?;
        }
        fs::set_permissions(root.join("run"), fs::Permissions::from_mode(0o700))?;
        let scene = Self { root, legation: legation.to_owned() };
        fs::write(scene.project().join(".legation/config.toml"), CONFIG)?;
        Ok(scene)
    }

    /// The project.
    pub(super) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// A folder or file beside the project.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Makes the project a repository with so many files.
    pub(super) fn fill(&self, files: u32) -> Result<()> {
        for i in 0..files {
            let folder = self.project().join(format!("src/part{:02}", i % 40));
            fs::create_dir_all(&folder)?;
            let line = format!("line of file {i}, long enough to look like something\n");
            fs::write(folder.join(format!("file{i}.txt")), line.repeat(30))?;
        }
        let script = "git init -q -b main . && git add src && \
            git -c user.name=a -c user.email=a@b.c commit -qm first";
        process::run(self.plain("sh").args(["-c", script]))
    }

    /// An agent whose script is run by a shell.
    pub(super) fn agent(&self, id: &str, script: &str) -> Result<()> {
        let command = json!(["sh", "-c", script]);
        let text = format!(
            "---\nid: {id}\ndescription: measured\nlegation:\n  runner: command\n  \
             command: {command}\n---\n"
        );
        fs::write(self.project().join(format!(".legation/agents/{id}.md")), text)?;
        Ok(())
    }

    /// Puts a program in front of `git` that leaves a byte in a file for each call.
    pub(super) fn count_git(&self) -> Result<()> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut git = std::env::split_paths(&path).map(|folder| folder.join("git"));
        let git = git.find(|git| git.is_file()).context("there is no git")?;
        let count = self.beside("git-calls");
        let text = format!(
            "#!/bin/sh\nprintf x >> '{}'\nexec '{}' \"$@\"\n",
            count.display(),
            git.display()
        );
        let wrapper = self.beside("bin/git");
        fs::write(&wrapper, text)?;
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755))?;
        Ok(())
    }

    /// How often git was called since it was counted.
    pub(super) fn git_calls(&self) -> u64 {
        fs::metadata(self.beside("git-calls")).map_or(0, |file| file.len())
    }

    /// A program in the project, with nothing of the user's environment.
    pub(super) fn plain(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let own = [Some(self.beside("bin")), self.legation.parent().map(Path::to_owned)];
        let folders = own.into_iter().flatten().chain(std::env::split_paths(&path));
        // A path that was in the list once can be put there again.
        let path = std::env::join_paths(folders).unwrap_or(path);
        command.current_dir(self.project()).env_clear().env("PATH", path);
        command.env("HOME", self.beside("home")).env("XDG_RUNTIME_DIR", self.beside("run"));
        command.env("NO_COLOR", "1").stdin(Stdio::null());
        command
    }

    /// Runs `legation --json` and gives back what it answered.
    pub(super) fn legation(&self, args: &[&str]) -> Result<Value> {
        let mut command = self.plain(&self.legation);
        let Output { status, stdout, stderr } = command.arg("--json").args(args).output()?;
        let shown = args.join(" ");
        let (stdout, stderr) = (String::from_utf8(stdout)?, String::from_utf8_lossy(&stderr));
        ensure!(status.success(), "`legation {shown}` ended with {status}\n{stdout}\n{stderr}");
        serde_json::from_str(&stdout).with_context(|| format!("`legation {shown}` is no JSON"))
    }

    /// One delegation that must succeed.
    pub(super) fn delegate(&self, args: &[&str]) -> Result<Value> {
        let all: Vec<&str> = ["delegate"].into_iter().chain(args.iter().copied()).collect();
        let view = self.legation(&all)?;
        ensure!(view.get("status") == Some(&json!("completed")), "it did not work: {view:#}");
        Ok(view)
    }

    /// The number of the engine that runs, as text.
    pub(super) fn engine(&self) -> Result<String> {
        let pid = self.legation(&["status"])?.pointer("/engine/pid").and_then(Value::as_u64);
        pid.map(|pid| pid.to_string()).context("no engine runs")
    }

    /// Waits until no workspace is left.
    pub(super) fn settle(&self) -> Result<()> {
        let until = Instant::now() + SETTLE_LIMIT;
        while self.workspaces() > 0 {
            ensure!(Instant::now() < until, "{} workspaces are left", self.workspaces());
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    fn workspaces(&self) -> usize {
        let states = fs::read_dir(self.beside("home/.local/state/legation")).into_iter().flatten();
        let folders = states
            .flatten()
            .flat_map(|state| ["workspaces", "trash"].map(|folder| state.path().join(folder)));
        folders.flat_map(fs::read_dir).flatten().count()
    }

    /// Ends the engine, if one runs.
    pub(super) fn end_engine(&self) {
        if let Ok(pid) = self.engine() {
            // It may have ended by itself meanwhile.
            let _ = Command::new("kill").arg(&pid).status();
            let until = Instant::now() + SETTLE_LIMIT;
            while Path::new("/proc").join(&pid).exists() && Instant::now() < until {
                std::thread::sleep(LOOK_EVERY);
            }
        }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.end_engine();
        // What cannot be removed is in the build folder, where nobody minds.
        let _ = fs::remove_dir_all(&self.root);
    }
}
