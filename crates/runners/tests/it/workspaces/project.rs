//! A scratch project, and the words that the tests speak about it.

use std::cell::Cell;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use legation_runners::workspace::{
    From, Kept, Merge, New, Note, Options, Place, Spaces, Start, Wanted,
};
use tempfile::TempDir;

pub(crate) struct Project {
    home: TempDir,
}

thread_local! {
    /// How the projects of the running test make their workspaces; in checkouts unless it says
    /// otherwise, since those can be had everywhere.
    static WANTED: Cell<Wanted> = const { Cell::new(Wanted::Worktree) };
}

/// Runs a test for every way of making workspaces that can be had here.
pub(crate) fn in_every_way(test: impl Fn()) {
    for wanted in [Wanted::Worktree, Wanted::Pool, Wanted::Overlay] {
        in_way(wanted, &test);
    }
}

/// Runs a test for one way of making workspaces, if it can be had here.
pub(crate) fn in_way(wanted: Wanted, test: impl Fn()) {
    WANTED.set(wanted);
    match Project::new().open().mechanism().obstacle {
        Some(why) => writeln!(std::io::stderr(), "SKIPPED as {wanted:?}: {why}").unwrap(),
        None => {
            let _told = Told(wanted);
            test();
        }
    }
}

/// Says in which way a test failed.
struct Told(Wanted);

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            writeln!(std::io::stderr(), "workspaces were made as {:?}", self.0).unwrap();
        }
    }
}

impl Drop for Project {
    /// Nothing stays mounted, whatever a test left.
    fn drop(&mut self) {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let home = self.home.path().to_string_lossy().into_owned();
        // The last one may lie in another.
        let targets = mounts.lines().rev().filter_map(|line| line.split(' ').nth(4));
        for target in targets.filter(|target| target.starts_with(&home)) {
            let target = target.replace("\\040", " ");
            drop(Command::new("umount").args(["-l", &target]).status());
        }
    }
}

impl Project {
    /// A folder without anything.
    pub(crate) fn plain() -> Self {
        let project = Self { home: TempDir::new().unwrap() };
        fs::create_dir(project.dir()).unwrap();
        project
    }

    /// A repository without a commit.
    pub(crate) fn empty() -> Self {
        let project = Self::plain();
        project.git("init -q -b main .");
        project.git("config user.name Ana");
        project.git("config user.email ana@example.org");
        project
    }

    /// A repository with one commit.
    pub(crate) fn new() -> Self {
        let project = Self::empty();
        project.write("README.md", "hello\n");
        project.write(".gitignore", "*.log\nbuild/\n");
        project.write("src/a.txt", "one\ntwo\nthree\nfour\nfive\n");
        project.commit("first");
        project
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.home.path().join("my project")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.home.path().join("state")
    }

    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub(crate) fn open(&self) -> Spaces {
        self.open_at("")
    }

    pub(crate) fn open_at(&self, below: &str) -> Spaces {
        Self::open_as(&self.dir().join(below), &self.state())
    }

    pub(crate) fn open_with(&self, options: Options) -> Spaces {
        let options = Options { mechanism: WANTED.get(), ..options };
        Spaces::open_with(&self.dir(), &self.state(), &options).unwrap()
    }

    /// Opens the workspaces of somebody who was killed, once all that it had started is gone.
    pub(crate) fn open_after_a_kill(&self) -> Spaces {
        self.open_with(Options { alone_within: Duration::from_secs(20), ..Options::default() })
    }

    pub(crate) fn open_exactly(&self, options: &Options) -> Spaces {
        Spaces::open_with(&self.dir(), &self.state(), options).unwrap()
    }

    pub(crate) fn open_as(folder: &Path, state: &Path) -> Spaces {
        let options = Options { mechanism: WANTED.get(), ..Options::default() };
        Spaces::open_with(folder, state, &options).unwrap()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        write(&self.dir(), path, text);
    }

    pub(crate) fn read(&self, path: &str) -> String {
        read(&self.dir(), path)
    }

    pub(crate) fn git(&self, args: &str) -> String {
        git(&self.dir(), args)
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git("add -A");
        self.git(&format!("commit -q -m {message}"));
    }

    /// Everything of the user's repository that must never change, byte for byte.
    pub(crate) fn untouchable(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let folder = self.dir().join(".git");
        let mut files = vec![folder.join("config"), folder.join("HEAD"), folder.join("index")];
        let hooks = fs::read_dir(folder.join("hooks"));
        files.extend(hooks.into_iter().flatten().map(|entry| entry.unwrap().path()));
        files.sort();
        files.into_iter().map(|path| (path.clone(), fs::read(&path).unwrap_or_default())).collect()
    }
}

pub(crate) fn write(top: &Path, path: &str, text: &str) {
    let path = top.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(crate) fn read(top: &Path, path: &str) -> String {
    fs::read_to_string(top.join(path)).unwrap()
}

pub(crate) fn make_executable(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs git as a user or a child would, words split at blanks.
pub(crate) fn git(folder: &Path, args: &str) -> String {
    let args: Vec<&str> = args.split(' ').collect();
    git_args(folder, &args)
}

pub(crate) fn git_args(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(folder).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = command.env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

pub(crate) fn begin(spaces: &Spaces, delegation: &str) -> String {
    spaces.begin(&start(delegation, From::User)).unwrap()
}

pub(crate) fn start(delegation: &str, from: From) -> Start {
    Start { tree: "del-1".into(), delegation: delegation.into(), from, include_dirty: false }
}

pub(crate) fn wanted(delegation: &str, attempt: &str) -> New {
    New {
        tree: "del-1".into(),
        delegation: delegation.into(),
        subtask: "Fix: the parser".into(),
        attempt: attempt.into(),
        with: Vec::new(),
    }
}

pub(crate) fn create(spaces: &Spaces, attempt: &str) -> Place {
    begin(spaces, "del-1");
    spaces.create(&wanted("del-1", attempt)).unwrap()
}

pub(crate) fn note() -> Note {
    Note { agent: "fixer".into(), session: "sess_1735460684_a1b2c3".into(), ..Note::default() }
}

pub(crate) fn keep(spaces: &Spaces, place: &Place) -> Kept {
    spaces.keep(place, &note()).unwrap().expect("something changed")
}

pub(crate) fn merge(spaces: &Spaces, kept: &Kept) -> String {
    match spaces.merge("del-1", kept).unwrap() {
        Merge::Clean { commit } => commit,
        other @ (Merge::Conflict { .. } | Merge::Nothing) => panic!("{other:?}"),
    }
}

/// The files in which a merge met a conflict. Of each it is told what stands against what.
pub(crate) fn conflicts(merge: Merge) -> Vec<String> {
    match merge {
        Merge::Conflict { files, hunks } => {
            let told = |file: &String| hunks.iter().any(|hunk| hunk.file == *file);
            assert!(files.iter().all(told), "{files:?} {hunks:?}");
            files
        }
        other @ (Merge::Clean { .. } | Merge::Nothing) => panic!("{other:?}"),
    }
}

/// The files of an attempt's work and what they hold.
pub(crate) fn files(spaces: &Spaces, place: &Place) -> Vec<String> {
    spaces.look(place).unwrap().files_changed
}
