//! A scratch folder with an empty home, and the real binary run in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use expect_test::expect;
use legation_engine::client::{Paths, Surroundings, engine_pid};
use tempfile::TempDir;

use crate::mounts;

/// How long an engine may take to end.
const PATIENCE: Duration = Duration::from_secs(20);

/// A folder of its own for one terminal session.
pub(crate) struct Session {
    root: TempDir,
    env: Vec<(String, String)>,
}

impl Session {
    /// An empty project and an empty home.
    pub(crate) fn new() -> Self {
        let root = TempDir::new().unwrap();
        for folder in ["home", "project", "run"] {
            std::fs::create_dir(root.path().join(folder)).unwrap();
        }
        Self { root, env: Vec::new() }
    }

    /// The folder above project, home and the sockets.
    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Where the engine of the project keeps its things.
    pub(crate) fn paths(&self) -> Paths {
        let surroundings = Surroundings {
            runtime: Some(self.root().join("run")),
            home: Some(self.root().join("home")),
            ..Surroundings::current()
        };
        Paths::within(&self.dir(), &Surroundings { state: None, ..surroundings })
    }

    /// Every file and folder there is, in order.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.root().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path.clone());
                }
                found.push(path);
            }
        }
        found.sort();
        found
    }

    /// Where the commands run.
    pub(crate) fn dir(&self) -> PathBuf {
        self.root.path().join("project")
    }

    /// Sets a variable for the commands that follow.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.env.push((name.to_owned(), value.to_owned()));
    }

    /// Writes a file below the project.
    pub(crate) fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.dir().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// A folder that agents may write to, beside the project.
    pub(crate) fn out(&self) -> PathBuf {
        let out = self.root().join("out");
        std::fs::create_dir(&out).unwrap();
        self.write(".legation/config.toml", format!("[sandbox]\nwritable = [{out:?}]\n"));
        out
    }

    /// Runs `legation` with these arguments and nothing on stdin.
    pub(crate) fn run(&self, args: &[&str]) -> String {
        self.run_with(args, b"")
    }

    /// Runs `legation` in a folder below the project.
    pub(crate) fn run_in(&self, folder: &str, args: &[&str]) -> String {
        self.run_at(&self.dir().join(folder), args, b"")
    }

    /// Runs `legation` with these arguments and this on stdin; answers with all that was seen.
    pub(crate) fn run_with(&self, args: &[&str], stdin: &[u8]) -> String {
        self.run_at(&self.dir(), args, stdin)
    }

    /// Runs `legation` with its stdout sent elsewhere; answers with the rest that was seen.
    pub(crate) fn run_to(&self, args: &[&str], stdout: Stdio) -> String {
        self.seen(self.command(&self.dir(), args).stdout(stdout), b"")
    }

    fn run_at(&self, dir: &Path, args: &[&str], stdin: &[u8]) -> String {
        self.seen(self.command(dir, args).stdout(Stdio::piped()), stdin)
    }

    /// A command that a test runs itself.
    pub(crate) fn command(&self, dir: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_legation"));
        command
            .args(args)
            .current_dir(dir)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.root.path().join("home"))
            .env("XDG_RUNTIME_DIR", self.root.path().join("run"))
            .env("NO_COLOR", "1")
            .envs(self.env.iter().cloned())
            .stdin(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a command to its end; answers with all that was seen.
    pub(crate) fn seen(&self, command: &mut Command, stdin: &[u8]) -> String {
        let mut child = command.spawn().unwrap();
        // A command that never reads its input closes the pipe early; that is its right.
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), stdin);
        let done = child.wait_with_output().unwrap();
        let mut seen = String::from_utf8(done.stdout).unwrap();
        let stderr = String::from_utf8(done.stderr).unwrap();
        for line in stderr.lines() {
            seen.push_str(&format!("! {line}\n"));
        }
        if done.status.code() != Some(0) {
            seen.push_str(&format!("[exit {}]\n", done.status.code().unwrap()));
        }
        seen.replace(self.root.path().to_str().unwrap(), "$TMP")
    }
}

impl Drop for Session {
    /// An engine that was started for the session goes with it.
    fn drop(&mut self) {
        if let Some(pid) = engine_pid(&self.paths()) {
            let _ = Command::new("kill").arg(pid.to_string()).status();
        }
        let began = Instant::now();
        while engine_pid(&self.paths()).is_some() && began.elapsed() < PATIENCE {
            std::thread::yield_now();
        }
        mounts::take_away(self.root.path());
    }
}

#[test]
fn an_unknown_command_is_a_usage_error() {
    let session = Session::new();
    session.write("unused.txt", "");
    expect![[r#"
        {
          "error": {
            "code": "VALIDATION_FAILED",
            "message": "unrecognized subcommand 'explode'",
            "hint": "`legation --help` tells what it takes",
            "details": null
          }
        }
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["--json", "explode"]));
}
