//! Who is killed over the user's files together with git: it was done, or it is taken back.

use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use legation_runners::workspace::{Error, From, How, Options, Spaces, Start};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::project::{Project, begin, create, keep, merge, start, wanted, write};

/// Where the child of these tests applies.
const APPLY_IN: &str = "RUNNERS_TEST_APPLY_ONCE_IN";
const FILES: usize = 1_000;

/// The child. On its own it has nothing to apply.
#[test]
fn a_process_applies_once() {
    let Ok(order) = std::env::var(APPLY_IN) else {
        let project = Project::new();
        let spaces = project.open();
        begin(&spaces, "del-1");
        assert!(spaces.apply("del-1", How::Auto).is_err());
        return;
    };
    let (dir, state) = order.split_once('\n').unwrap();
    let spaces = Spaces::open(Path::new(dir), Path::new(state)).unwrap();
    spaces.apply("del-1", How::Auto).unwrap();
}

/// A repository with a result that takes git a while to bring over.
fn large(include_dirty: bool) -> Project {
    let project = Project::new();
    for number in 0..FILES {
        project.write(&format!("large/f{number}"), "old\n");
    }
    project.commit("files");
    if include_dirty {
        project.write("README.md", "not committed\n");
        project.write("large/f7", "not committed\n");
    }
    let spaces = project.open();
    spaces.begin(&Start { include_dirty, ..start("del-1", From::User) }).unwrap();
    let place = spaces.create(&wanted("del-1", "exec-1")).unwrap();
    for number in 0..FILES {
        write(&place.root, &format!("large/f{number}"), "new\n");
        write(&place.root, &format!("large/n{number}"), "new\n");
    }
    merge(&spaces, &keep(&spaces, &place));
    spaces.remove(&place).unwrap();
    project
}

fn apply_elsewhere(project: &Project) -> Child {
    let order = format!("{}\n{}", project.dir().display(), project.state().display());
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "workspaces::underway::a_process_applies_once"])
        .env(APPLY_IN, order)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap()
}

/// The git processes at work in the project.
pub(super) fn gits(project: &Project) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let is_git = |process: &PathBuf| {
        fs::read_to_string(process.join("comm")).is_ok_and(|name| name == "git\n")
            && fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == project.dir())
    };
    let pid = |process: PathBuf| process.file_name()?.to_str()?.parse().ok();
    processes.filter(is_git).filter_map(pid).filter_map(Pid::from_raw).collect()
}

/// Applies, and kills whoever does it, git first or last, once some files are written.
fn apply_killed(project: &Project, is_git_first: bool) {
    let mut child = apply_elsewhere(project);
    while !project.dir().join("large/n1").exists() {
        std::thread::yield_now();
    }
    let own = Pid::from_child(&child);
    let gits = gits(project);
    let (first, last) = if is_git_first { (gits, vec![own]) } else { (vec![own], gits) };
    for pid in first.into_iter().chain(last) {
        let _ = kill_process(pid, Signal::KILL);
    }
    child.wait().unwrap();
}

/// How many files are as they were, and how many as they are to be.
fn counted(project: &Project) -> (usize, usize) {
    let texts = fs::read_dir(project.dir().join("large")).unwrap();
    let texts = texts.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    texts.fold(
        (0, 0),
        |(old, new), text| if text == "new\n" { (old, new + 1) } else { (old + 1, new) },
    )
}

#[test]
fn what_was_half_done_when_everybody_was_killed_is_taken_back() {
    let (mut halves, mut locks) = (0, 0);
    for round in 0..2 {
        let project = large(false);
        apply_killed(&project, false);
        let stand = counted(&project);
        halves += usize::from(stand != (FILES, 0) && stand != (0, 2 * FILES));
        locks += usize::from(project.dir().join(".git/index.lock").exists());
        let spaces = project.open();
        if round % 2 == 0 {
            // The start alone has seen to it.
            assert_eq!(project.git("status --porcelain"), "");
        }
        spaces.apply("del-1", How::Auto).unwrap();
        assert_eq!(counted(&project), (0, 2 * FILES));
        assert_eq!(project.git("status --porcelain"), "");
        spaces.revert("del-1").unwrap();
        assert_eq!(counted(&project), (FILES, 0));
    }
    assert!(halves > 0 && locks > 0, "{halves} half done, {locks} locked");
}

#[test]
fn uncommitted_files_are_as_they_were_when_everybody_was_killed() {
    let project = large(true);
    apply_killed(&project, false);
    let half = counted(&project);
    assert!(half.1 > 0 && half != (0, 2 * FILES), "{half:?}");
    assert!(Spaces::is_half_applied(&project.state()));
    let spaces = project.open();
    assert!(!Spaces::is_half_applied(&project.state()));
    assert_eq!(counted(&project), (FILES, 0));
    assert_eq!(project.read("large/f7"), "not committed\n");
    spaces.apply("del-1", How::Auto).unwrap();
    assert_eq!(counted(&project), (0, 2 * FILES));
    assert_eq!(project.read("README.md"), "not committed\n");
    assert_eq!(spaces.revert("del-1").unwrap().files.len(), 2 * FILES);
    assert_eq!(project.read("large/f7"), "not committed\n");
}

#[test]
fn a_git_that_goes_on_alone_is_waited_for() {
    let project = large(true);
    let mut child = apply_elsewhere(&project);
    while !project.dir().join("large/n1").exists() {
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    let patience = Duration::from_secs(60);
    let spaces = project.open_with(Options { patience, ..Options::default() });
    assert_eq!(spaces.apply("del-1", How::Auto).unwrap().files, Vec::<String>::new());
    assert_eq!(counted(&project), (0, 2 * FILES));
    assert_eq!(spaces.revert("del-1").unwrap().files.len(), 2 * FILES);
    assert_eq!(project.read("large/f7"), "not committed\n");
}

/// Puts on record that something is under way between two commits, as a kill leaves it.
fn begin_again(project: &Project, (from, to): (&str, &str), record: &Value) {
    let is_dirty = record["files_only"] == true;
    let head = if is_dirty { project.git("rev-parse HEAD") } else { from.to_owned() };
    let underway = json!({
        "delegation": "del-1", "head": head, "from": from, "to": to, "files_only": record["files_only"],
        "then": record,
    });
    fs::write(project.state().join("underway.json"), underway.to_string()).unwrap();
}

fn record(project: &Project) -> (PathBuf, Value) {
    let path = project.state().join("applied/del-1.json");
    let value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    (path, value)
}

#[test]
fn a_rollback_that_could_not_say_that_it_was_done_is_known_to_be() {
    for include_dirty in [false, true] {
        let project = Project::new();
        project.write("mine.txt", "mine\n");
        let spaces = project.open();
        spaces.begin(&Start { include_dirty, ..start("del-1", From::User) }).unwrap();
        let place = spaces.create(&wanted("del-1", "exec-1")).unwrap();
        write(&place.root, "new.txt", "new\n");
        merge(&spaces, &keep(&spaces, &place));
        spaces.apply("del-1", How::Auto).unwrap();
        let (path, applied) = record(&project);
        let (from, after) = (project.git("rev-parse HEAD"), applied["after"].as_str().unwrap());
        spaces.revert("del-1").unwrap();
        let to = project.git("rev-parse HEAD");
        let between = if include_dirty {
            (after, applied["before"].as_str().unwrap())
        } else {
            (&*from, &*to)
        };
        begin_again(&project, between, &record(&project).1);
        fs::write(path, applied.to_string()).unwrap();
        assert!(!spaces.is_applied("del-1").unwrap());
        assert_eq!(spaces.apply("del-1", How::Auto).unwrap().files, ["new.txt"]);
        assert_eq!(spaces.revert("del-1").unwrap().files, ["new.txt"]);
    }
}

#[test]
fn what_somebody_did_to_files_that_were_applied_is_no_doubt_that_they_were() {
    for is_done in [true, false] {
        let project = Project::new();
        project.write("README.md", "not committed\n");
        let spaces = project.open();
        spaces.begin(&Start { include_dirty: true, ..start("del-1", From::User) }).unwrap();
        let place = spaces.create(&wanted("del-1", "exec-1")).unwrap();
        write(&place.root, "README.md", "changed\n");
        write(&place.root, "new.txt", "new\n");
        merge(&spaces, &keep(&spaces, &place));
        spaces.apply("del-1", How::Auto).unwrap();
        let (path, applied) = record(&project);
        let commit = |name: &str| applied[name].as_str().unwrap().to_owned();
        begin_again(&project, (&commit("before"), &commit("after")), &applied);
        fs::remove_file(path).unwrap();
        project.write("new.txt", "new\nmine\n");
        if !is_done {
            project.write("README.md", "not committed\n");
        }
        assert_eq!(spaces.is_applied("del-1").unwrap(), is_done);
        drop(spaces);
        let spaces = project.open();
        // What is neither as it was nor as it was to be is somebody's.
        assert_eq!(project.read("new.txt"), "new\nmine\n");
        let applied = spaces.apply("del-1", How::Auto);
        match is_done {
            true => assert_eq!(applied.unwrap().files, Vec::<String>::new()),
            false => assert!(matches!(applied, Err(Error::Refused { .. }))),
        }
    }
}

#[test]
fn a_lock_of_the_users_git_stays() {
    let (project, spaces) = {
        let project = Project::new();
        let spaces = project.open_with(Options { patience: Duration::ZERO, ..Options::default() });
        let place = create(&spaces, "exec-1");
        write(&place.root, "new.txt", "new\n");
        merge(&spaces, &keep(&spaces, &place));
        (project, spaces)
    };
    spaces.apply("del-1", How::Auto).unwrap();
    let (path, applied) = record(&project);
    let commit = |name: &str| applied[name].as_str().unwrap().to_owned();
    let (from, to) = (commit("before"), commit("after"));
    project.git(&format!("reset -q --hard {from}"));
    fs::remove_file(path).unwrap();
    begin_again(&project, (&from, &to), &applied);
    // Somebody writes a message for a commit, in an editor that waits.
    project.write("README.md", "mine\n");
    let mut commit = Command::new("git");
    commit.args(["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "-a"]);
    let commit = commit.current_dir(project.dir()).env("GIT_EDITOR", "read line; echo mine >");
    let mut commit = commit.stdin(Stdio::piped()).spawn().unwrap();
    let lock = project.dir().join(".git/index.lock");
    while !lock.exists() {
        std::thread::yield_now();
    }
    assert!(matches!(spaces.apply("del-1", How::Auto), Err(Error::Locked { .. })));
    assert!(lock.exists());
    commit.stdin.take().unwrap().write_all(b"go\n").unwrap();
    assert!(commit.wait().unwrap().success());
    assert_eq!(project.git("log -1 --format=%s"), "mine");
}

/// A repository whose owner does as they like after an apply was killed: what the work does,
/// and what there was of it when everybody was killed.
fn half(work: impl Fn(&Path), stood: impl Fn(&Project)) -> Project {
    let project = Project::new();
    for path in ["a/b", "c", "m", "z"] {
        project.write(path, "old\n");
    }
    project.commit("files");
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    work(&place.root);
    merge(&spaces, &keep(&spaces, &place));
    spaces.remove(&place).unwrap();
    spaces.apply("del-1", How::Auto).unwrap();
    drop(spaces);
    let (path, applied) = record(&project);
    let commit = |name: &str| applied[name].as_str().unwrap().to_owned();
    let (from, to) = (commit("before"), commit("after"));
    project.git(&format!("reset -q --hard {from}"));
    fs::remove_file(path).unwrap();
    stood(&project);
    begin_again(&project, (&from, &to), &applied);
    project
}

fn is_under_way(project: &Project) -> bool {
    project.state().join("underway.json").exists()
}

#[test]
fn what_somebody_put_in_the_place_of_a_folder_stays() {
    let to_file = |root: &Path| {
        fs::remove_dir_all(root.join("a")).unwrap();
        write(root, "a", "new\n");
    };
    for link in [false, true] {
        let project = half(to_file, |project| {
            fs::remove_dir_all(project.dir().join("a")).unwrap();
            match link {
                true => std::os::unix::fs::symlink("nowhere", project.dir().join("a")).unwrap(),
                false => project.write("a", "new\nhours of work\n"),
            }
        });
        let spaces = project.open();
        match link {
            true => assert!(project.dir().join("a").is_symlink()),
            false => assert_eq!(project.read("a"), "new\nhours of work\n"),
        }
        // Nobody was there to listen.
        assert!(is_under_way(&project));
        let refused = spaces.apply("del-1", How::Auto).unwrap_err().to_string();
        assert!(refused.contains("some files are not as they were: a, a/b;"), "{refused}");
        assert!(!is_under_way(&project));
    }
}

#[test]
fn what_git_was_told_not_to_look_at_stays() {
    let work = |root: &Path| {
        write(root, "c", "new, and longer\n");
        write(root, "m", "new\n");
        write(root, "z", "new\n");
    };
    let project = half(work, |project| {
        project.git("update-index --skip-worktree c");
        project.git("update-index --assume-unchanged m");
        project.write("c", "");
        project.write("m", "n");
        project.write("z", "n");
    });
    drop(project.open());
    assert_eq!([project.read("c"), project.read("m")], ["", "n"]);
    assert_eq!(project.read("z"), "old\n");
    assert!(!is_under_way(&project));
}

#[test]
fn who_is_in_the_middle_of_a_merge_or_has_staged_something_is_not_disturbed() {
    for is_merge in [true, false] {
        let project = half(|root| write(root, "z", "new\n"), |project| project.write("z", "n"));
        project.write("z", "old\n");
        if is_merge {
            project.git("merge -q --no-ff --no-commit legation/del-1/result");
        } else {
            project.write("mine.txt", "mine\n");
            project.git("add mine.txt");
        }
        let before = project.git("status --porcelain");
        let spaces = project.open();
        assert_eq!(project.git("status --porcelain"), before);
        let refused = spaces.apply("del-1", How::Auto).unwrap_err().to_string();
        let told = if is_merge {
            "you are in the middle of a merge"
        } else {
            "changes in the index since"
        };
        assert!(refused.contains(told) && is_under_way(&project), "{refused}");
        project.git("-c user.name=A -c user.email=a@b commit -q -m mine");
        let applied = spaces.apply("del-1", How::Auto).unwrap();
        assert_eq!(applied.files.is_empty(), is_merge);
        assert_eq!(project.read("z"), "new\n");
        assert!(!is_under_way(&project));
    }
}

#[test]
fn locks_of_a_git_that_was_killed_over_the_branch_go() {
    let project = half(|root| write(root, "z", "new\n"), |_| {});
    project.git("read-tree -m -u legation/del-1/result");
    for lock in ["HEAD.lock", "refs/heads/main.lock", "index.lock"] {
        fs::write(project.dir().join(".git").join(lock), "").unwrap();
    }
    let spaces = project.open();
    assert_eq!(project.git("status --porcelain"), "");
    spaces.apply("del-1", How::Auto).unwrap();
    assert_eq!(project.read("z"), "new\n");
}

#[test]
fn files_that_git_has_only_made_go_however_many() {
    let work = |root: &Path| (0..40).for_each(|number| write(root, &format!("n{number}"), "new\n"));
    let project =
        half(work, |project| (0..40).for_each(|number| project.write(&format!("n{number}"), "")));
    drop(project.open());
    assert_eq!(project.git("status --porcelain"), "");
}

#[test]
fn links_and_pipes_are_no_beginning_of_a_file() {
    let work = |root: &Path| {
        write(root, "m", "new\n");
        write(root, "n", "new\n");
    };
    let project = half(work, |project| {
        for name in ["m", "n"] {
            drop(fs::remove_file(project.dir().join(name)));
        }
        std::os::unix::fs::symlink("/dev/null", project.dir().join("m")).unwrap();
        let pipe = project.outside("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::os::unix::fs::symlink(pipe, project.dir().join("n")).unwrap();
    });
    let spaces = project.open();
    assert!(["m", "n"].iter().all(|name| project.dir().join(name).is_symlink()));
    let refused = spaces.apply("del-1", How::Auto).unwrap_err().to_string();
    assert!(refused.contains("some files are not as they were: m, n;"), "{refused}");
}

#[test]
fn a_large_file_that_was_half_written_goes_with_the_rest() {
    const LARGE: usize = 70 << 20;
    let work = |root: &Path| {
        fs::write(root.join("large"), vec![b'x'; LARGE]).unwrap();
        write(root, "z", "new\n");
    };
    let project = half(work, |project| {
        fs::write(project.dir().join("large"), vec![b'x'; LARGE / 2]).unwrap();
        project.write("z", "new\n");
    });
    drop(project.open());
    assert_eq!(project.git("status --porcelain"), "");
    assert!(!is_under_way(&project));
}

#[test]
fn uncommitted_files_of_who_has_committed_since_are_left_alone() {
    let project = large(true);
    apply_killed(&project, false);
    project.git("add -A");
    project.git("rm -q --cached README.md");
    project.git("-c user.name=A -c user.email=a@b commit -q -m mine");
    let before = (counted(&project), project.git("status --porcelain"));
    drop(project.open());
    assert_eq!((counted(&project), project.git("status --porcelain")), before);
    assert!(!is_under_way(&project));
}

#[test]
fn the_first_files_of_an_empty_repository_are_taken_back_too() {
    let project = Project::empty();
    let spaces = project.open();
    begin(&spaces, "del-1");
    let place = spaces.create(&wanted("del-1", "exec-1")).unwrap();
    for number in 0..FILES {
        write(&place.root, &format!("large/f{number}"), "new\n");
        write(&place.root, &format!("large/n{number}"), "new\n");
    }
    merge(&spaces, &keep(&spaces, &place));
    spaces.remove(&place).unwrap();
    drop(spaces);
    apply_killed(&project, false);
    assert!(counted(&project).1 > 0);
    let spaces = project.open();
    assert_eq!(project.git("status --porcelain"), "");
    assert_eq!(spaces.apply("del-1", How::Auto).unwrap().files.len(), 2 * FILES);
}
