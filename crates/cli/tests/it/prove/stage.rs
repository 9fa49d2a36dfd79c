//! A project with agents, and the real binary at work in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use legation_core::ids::DelegationId;
use legation_core::tree::State;
use legation_engine::client::{Paths, Surroundings, engine_pid};
use legation_engine::read::Reader;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::mounts;

/// How long anything may take before a test gives up.
pub(super) const PATIENCE: Duration = Duration::from_secs(90);

/// A project of its own, its engine, and a folder that agents may write to.
pub(super) struct Stage {
    root: TempDir,
    /// Whether everything is done by somebody else, because we are root.
    by_nobody: bool,
}

/// What makes root nobody for a program and all that it starts.
const AS_NOBODY: &[&str] = &["--reuid=65534", "--regid=65534", "--clear-groups"];

impl Stage {
    /// A git repository with one commit. Agents run inside the fence.
    pub(super) fn new(config: &str) -> Self {
        Self::fenced(config, "")
    }

    /// The same with more to say about the fence.
    pub(super) fn fenced(config: &str, sandbox: &str) -> Self {
        let root = TempDir::new().unwrap();
        let out = root.path().join("out");
        let sandbox = format!("[sandbox]\nwritable = [\"{}\"]\n{sandbox}\n", out.display());
        Self::at(root, &format!("{config}\n{sandbox}"))
    }

    /// The same without the fence, for what must hold on kernels that have none.
    pub(super) fn unfenced(config: &str) -> Self {
        Self::at(TempDir::new().unwrap(), &format!("{config}\n[sandbox]\nfence = \"off\"\n"))
    }

    /// The same for somebody who is not root, with a copy of the program for everybody.
    pub(super) fn of_nobody(config: &str, sandbox: &str) -> Self {
        let root = TempDir::new().unwrap();
        let out = root.path().join("out");
        let sandbox = format!("[sandbox]\nwritable = [\"{}\"]\n{sandbox}\n", out.display());
        std::fs::create_dir(root.path().join("bin")).unwrap();
        let copy = root.path().join("bin/legation");
        std::fs::copy(env!("CARGO_BIN_EXE_legation"), copy).unwrap();
        let by_nobody = rustix::process::geteuid().is_root();
        Self { root, by_nobody }.furnished(&format!("{config}\n{sandbox}"))
    }

    fn at(root: TempDir, config: &str) -> Self {
        Self { root, by_nobody: false }.furnished(config)
    }

    fn furnished(self, config: &str) -> Self {
        let stage = self;
        for folder in ["home", "project/.legation/agents", "out"] {
            std::fs::create_dir_all(stage.root.path().join(folder)).unwrap();
        }
        stage.write(".legation/config.toml", config);
        stage.write("README.md", "hello\n");
        stage.write(".gitignore", ".legation/\n");
        if stage.by_nobody {
            let mut chown = Command::new("chown");
            chown.args(["-R", "65534:65534"]).arg(stage.root.path());
            assert!(chown.status().unwrap().success());
        }
        let git = "git init -q -b main . && git add -A && \
            git -c user.name=a -c user.email=a@b.c commit -qm first";
        assert!(stage.shell(git).status.success());
        stage
    }

    /// The folder around everything.
    pub(super) fn root(&self) -> &Path {
        self.root.path()
    }

    /// The project.
    pub(super) fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    /// A file in the folder that agents write to.
    pub(super) fn out(&self, name: &str) -> PathBuf {
        self.root.path().join("out").join(name)
    }

    /// What an agent wrote there; nothing if it did not.
    pub(super) fn told(&self, name: &str) -> String {
        std::fs::read_to_string(self.out(name)).unwrap_or_default()
    }

    /// Writes a file below the project.
    pub(super) fn write(&self, path: &str, text: &str) {
        std::fs::write(self.project().join(path), text).unwrap();
    }

    /// An agent that runs a script; `OUT` is the folder it may write to.
    pub(super) fn agent(&self, id: &str, extra: &str, script: &str) {
        let out = self.root.path().join("out");
        let file = self.out(&format!("{id}.sh"));
        std::fs::write(&file, format!("OUT='{}'\n{script}\n", out.display())).unwrap();
        let text = format!(
            "---\nid: {id}\nname: {id}\ndescription: test agent\n{extra}legation:\n  \
             runner: command\n  command: [\"sh\", \"{}\"]\n  timeout: 60s\n---\nDo it.\n",
            file.display()
        );
        self.write(&format!(".legation/agents/{id}.md"), &text);
    }

    /// The same with another time limit.
    pub(super) fn hasty(&self, id: &str, timeout: &str, script: &str) {
        self.agent(id, "", script);
        let path = format!(".legation/agents/{id}.md");
        let text = std::fs::read_to_string(self.project().join(&path)).unwrap();
        self.write(&path, &text.replace("timeout: 60s", &format!("timeout: {timeout}")));
    }

    /// The binary, ready to run.
    pub(super) fn legation(&self, args: &[&str]) -> Command {
        let mut command = self.program(&self.binary());
        command.args(args).stdin(Stdio::null());
        command
    }

    /// Runs the binary; answers with its exit code and the JSON it printed.
    pub(super) fn json(&self, args: &[&str]) -> (i32, Value) {
        let ran = self.legation(args).arg("--json").output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        let value = serde_json::from_str(&said);
        let value = value.unwrap_or_else(|_| panic!("{args:?}: {said}{}", shown(&ran)));
        (ran.status.code().unwrap(), value)
    }

    /// Runs a line of shell in the project.
    pub(super) fn shell(&self, line: &str) -> Output {
        self.shell_command(line).output().unwrap()
    }

    /// A line of shell in the project, ready to run; its arguments may follow.
    pub(super) fn shell_command(&self, line: &str) -> Command {
        let mut command = self.program(Path::new("sh"));
        command.args(["-c", line]).stdin(Stdio::null());
        command
    }

    fn binary(&self) -> PathBuf {
        let copy = self.root.path().join("bin/legation");
        if copy.exists() { copy } else { env!("CARGO_BIN_EXE_legation").into() }
    }

    /// A program, as whoever everything is done by.
    fn program(&self, program: &Path) -> Command {
        let mut command = Command::new(if self.by_nobody { Path::new("setpriv") } else { program });
        if self.by_nobody {
            command.args(AS_NOBODY).arg(program);
        }
        let binary = self.binary();
        let path = std::env::var_os("PATH").unwrap();
        let folders = std::env::split_paths(&path);
        let all = std::iter::once(binary.parent().unwrap().to_owned()).chain(folders);
        command
            .current_dir(self.project())
            .env_clear()
            .env("PATH", std::env::join_paths(all).unwrap())
            .env("HOME", self.root.path().join("home"))
            .env("XDG_RUNTIME_DIR", self.root.path().join("home"))
            .env("NO_COLOR", "1");
        command
    }

    /// Where the engine keeps its things.
    pub(super) fn paths(&self) -> Paths {
        let home = self.root.path().join("home");
        let surroundings = Surroundings {
            home: Some(home),
            temp: std::env::temp_dir(),
            ..Surroundings::current()
        };
        let surroundings = Surroundings { state: None, ..surroundings };
        Paths::within(&self.project(), &surroundings)
    }

    /// The engine's process, if there is one.
    pub(super) fn engine(&self) -> Option<u32> {
        engine_pid(&self.paths())
    }

    /// Ends the engine as a power cut would. Says whether there was one.
    pub(super) fn kill(&self) -> bool {
        self.signal(Signal::KILL)
    }

    fn signal(&self, signal: Signal) -> bool {
        let pid = self.engine().and_then(|pid| Pid::from_raw(pid.cast_signed()));
        pid.is_some_and(|pid| kill_process(pid, signal).is_ok())
    }

    /// Makes everything in the journal so many minutes older. No engine may be at work.
    pub(super) fn date_back(&self, minutes: u64) {
        let journal = rusqlite::Connection::open(self.paths().journal).unwrap();
        let all = "SELECT position, texts FROM events";
        let mut all = journal.prepare(all).unwrap();
        let rows = all.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let rows: Vec<(i64, String)> = rows.map(Result::unwrap).collect();
        for (position, texts) in rows {
            let mut parts = texts.split("\"at\":");
            let mut older = parts.next().unwrap().to_owned();
            for part in parts {
                let digits = part.find(|letter: char| !letter.is_ascii_digit()).unwrap();
                let (at, rest) = part.split_at(digits);
                let at = at.parse::<u64>().unwrap() - minutes * 60_000;
                older.push_str(&format!("\"at\":{at}{rest}"));
            }
            // The lengths of the events are kept apart, and these must not change.
            assert_eq!(older.len(), texts.len());
            assert_ne!(older, texts);
            let change = "UPDATE events SET texts = ?2 WHERE position = ?1";
            journal.execute(change, rusqlite::params![position, older]).unwrap();
        }
    }

    /// The tree of a delegation, folded from the journal.
    pub(super) fn tree(&self, id: &str) -> State {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let reader = Reader::open(&self.paths().journal).unwrap().unwrap();
        runtime.block_on(reader.find(&DelegationId::new(id))).unwrap().state
    }

    /// Processes that belong to an attempt of this project.
    pub(super) fn processes(&self) -> Vec<String> {
        let mark = format!("LEGATION_ATTEMPT_DIR={}", self.root.path().display());
        let found = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
            let folder = entry.unwrap().path();
            let pid: u32 = folder.file_name()?.to_str()?.parse().ok()?;
            let environ = std::fs::read(folder.join("environ")).ok()?;
            let line = std::fs::read(folder.join("cmdline")).unwrap_or_default();
            let ours = String::from_utf8_lossy(&environ).contains(&mark);
            ours.then(|| format!("{pid} {}", String::from_utf8_lossy(&line).replace('\0', " ")))
        });
        found.collect()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.signal(Signal::TERM);
        wait_for("the engine to end", || self.engine().is_none().then_some(()));
        mounts::take_away(self.root.path());
    }
}

/// Waits until something is there.
pub(super) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "waited too long for {what}");
        // Not for anything to happen, only to leave the processor to others meanwhile.
        std::thread::yield_now();
    }
}

/// What a program said, for a message.
pub(super) fn shown(ran: &Output) -> String {
    format!("{} {}", ran.status, String::from_utf8_lossy(&ran.stderr))
}
