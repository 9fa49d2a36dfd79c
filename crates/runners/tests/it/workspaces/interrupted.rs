//! An apply that is killed in the middle: all of it was done, or nothing.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use legation_runners::workspace::{Error, How, Options, Spaces};
use rustix::process::{Pid, Signal, kill_process};

use super::project::{Project, create, keep, merge, write};

/// Where the child of these tests applies and takes back.
const WORK_IN: &str = "RUNNERS_TEST_APPLY_IN";
const FILES: usize = 40;
const KILLS: u64 = 40;
/// How long after it was asked to go on it may still live.
const MOST_MICROS: u64 = 6_000;

/// What the files of the project are, by what is in one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    Before,
    After,
}

/// The child. On its own it applies once.
#[test]
fn a_process_applies_and_takes_back() {
    let Ok(order) = std::env::var(WORK_IN) else {
        let (project, spaces) = merged();
        spaces.apply("del-1", How::Auto).unwrap();
        assert_eq!(stand(&project), Stand::After);
        return;
    };
    let (dir, state) = order.split_once('\n').unwrap();
    let spaces = Spaces::open(Path::new(dir), Path::new(state)).unwrap();
    loop {
        std::io::stdout().write_all(b"\nbegins\n").unwrap();
        drop(spaces.apply("del-1", How::Auto));
        drop(spaces.revert("del-1"));
    }
}

/// A folder without git, and work that changes, adds and removes files of it.
fn merged() -> (Project, Spaces) {
    let project = Project::plain();
    for number in 0..FILES {
        project.write(&format!("changed/{number}.txt"), "old\n");
        project.write(&format!("removed/{number}/x.txt"), "old\n");
    }
    project.write("becomes/folder", "old\n");
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    for number in 0..FILES {
        write(&place.root, &format!("changed/{number}.txt"), "new\n");
        write(&place.root, &format!("added/{number}/x.txt"), "new\n");
    }
    fs::remove_dir_all(place.root.join("removed")).unwrap();
    fs::remove_file(place.root.join("becomes/folder")).unwrap();
    write(&place.root, "becomes/folder/x.txt", "new\n");
    merge(&spaces, &keep(&spaces, &place));
    (project, spaces)
}

fn all_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { all_files(&path) } else { vec![path] }).collect()
}

/// Where the project stands; a mixture is none of both.
fn stand(project: &Project) -> Stand {
    let files = all_files(&project.dir());
    assert_eq!(files.len(), 2 * FILES + 1, "{files:?}");
    let texts: Vec<String> = files.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let new = texts.iter().filter(|text| *text == "new\n").count();
    let is = |name: &str| project.dir().join(name).exists();
    match (new, is("removed"), is("added"), is("becomes/folder/x.txt")) {
        (0, true, false, false) => Stand::Before,
        (_, false, true, true) if new == files.len() => Stand::After,
        other => panic!("{other:?}"),
    }
}

/// What is left of applies.
fn scratches(project: &Project) -> Vec<PathBuf> {
    let entries = fs::read_dir(project.dir()).unwrap().map(|entry| entry.unwrap());
    let is_scratch = |name: &std::ffi::OsStr| name.as_bytes().starts_with(b".legation-apply-");
    let scratches = entries.filter(|entry| is_scratch(&entry.file_name()));
    let records = fs::read_dir(project.state().join("applying")).into_iter().flatten();
    scratches.chain(records.map(|entry| entry.unwrap())).map(|entry| entry.path()).collect()
}

/// Starts the child, and kills it so long after it began to apply.
fn killed(project: &Project, after: Duration) {
    let order = format!("{}\n{}", project.dir().display(), project.state().display());
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "workspaces::interrupted::a_process_applies_and_takes_back"])
        .args(["--nocapture"])
        .env(WORK_IN, order)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "begins"));
    let start = Instant::now();
    while start.elapsed() < after {
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
}

#[test]
fn whoever_is_killed_has_applied_everything_or_nothing() {
    let (project, spaces) = merged();
    drop(spaces);
    let (mut halves, mut stands) = (0, Vec::new());
    for number in 0..KILLS {
        killed(&project, Duration::from_micros(number * MOST_MICROS / KILLS));
        halves += scratches(&project).len();
        let spaces = project.open();
        assert_eq!(scratches(&project), Vec::<PathBuf>::new());
        let now = stand(&project);
        stands.push(now);
        // What is on record is what there is.
        let next = match now {
            Stand::Before => spaces.apply("del-1", How::Auto),
            Stand::After => spaces.revert("del-1"),
        };
        next.unwrap();
        assert_ne!(stand(&project), now);
    }
    assert!(halves > 0, "nobody was killed in the middle: {stands:?}");
}

#[test]
fn what_somebody_did_to_a_half_applied_folder_stays_and_the_rest_is_told() {
    let (project, spaces) = merged();
    // As a kill leaves it: one file was exchanged, and one only moved away.
    let scratch = project.dir().join(".legation-apply-1");
    let at = |name: &str| project.dir().join(name);
    for folder in ["old", "new"] {
        fs::create_dir_all(scratch.join(folder)).unwrap();
    }
    let mut log = [b"begun\0", scratch.as_os_str().as_bytes(), b"\0"].concat();
    let mut moved = |what: &str, from: &Path, to: &Path, mark: Option<String>| {
        fs::rename(from, to).unwrap();
        let paths = [from, to].map(|path| path.as_os_str().as_bytes().to_vec());
        let parts = [what.as_bytes().to_vec()].into_iter().chain(paths);
        for part in parts.chain(mark.map(String::into_bytes)) {
            log.extend([part, vec![0]].concat());
        }
    };
    for number in ["0", "2", "3"] {
        fs::write(scratch.join("new").join(number), "new\n").unwrap();
    }
    for number in 0..4 {
        let path = at(&format!("changed/{number}.txt"));
        moved("away", &path, &scratch.join(format!("old/{number}")), None);
    }
    for number in [0, 2, 3] {
        let from = scratch.join(format!("new/{number}"));
        let found = fs::metadata(&from).unwrap();
        let time = format!("{}.{:09}", found.mtime(), found.mtime_nsec());
        let mark = format!("{}:{}:{time}", found.ino(), found.len());
        moved("placed", &from, &at(&format!("changed/{number}.txt")), Some(mark));
    }
    log.extend_from_slice(b"placed\0and killed over");
    let record = project.state().join("applying/1");
    fs::create_dir_all(record.parent().unwrap()).unwrap();
    fs::write(&record, log).unwrap();
    // One is written to and dated back, and one is put back by hand.
    let time = fs::metadata(at("changed/0.txt")).unwrap().modified().unwrap();
    let edited = fs::File::options().append(true).open(at("changed/0.txt")).unwrap();
    (&edited).write_all(b"mine\n").unwrap();
    edited.set_modified(time).unwrap();
    fs::rename(scratch.join("old/2"), at("changed/2.txt")).unwrap();
    let refused = spaces.apply("del-1", How::Auto).unwrap_err().to_string();
    let text = refused.replace(&project.dir().display().to_string(), "PROJECT");
    let text = text.replace(&project.state().display().to_string(), "STATE");
    expect_test::expect!["an apply or rollback was interrupted, and not everything could be put back: PROJECT/changed/0.txt; what was there is in PROJECT/.legation-apply-1; take what you need and delete it"].assert_eq(&text);
    assert_eq!(project.read("changed/0.txt"), "new\nmine\n");
    for number in 1..4 {
        assert_eq!(project.read(&format!("changed/{number}.txt")), "old\n", "{number}");
    }
    // Put right by hand, as it says.
    assert!(!record.exists() && !scratch.join("new").exists());
    fs::rename(scratch.join("before/changed/0.txt"), at("changed/0.txt")).unwrap();
    fs::remove_dir_all(&scratch).unwrap();
    spaces.apply("del-1", How::Auto).unwrap();
    assert_eq!(stand(&project), Stand::After);
}

#[test]
fn old_files_that_nothing_is_on_record_of_are_not_thrown_away() {
    let (project, spaces) = merged();
    // As a power cut may leave it.
    let scratch = project.dir().join(".legation-apply-1");
    fs::create_dir_all(scratch.join("old")).unwrap();
    fs::rename(project.dir().join("changed/0.txt"), scratch.join("old/0")).unwrap();
    let log = [b"begun\0", scratch.as_os_str().as_bytes(), b"\0"].concat();
    let record = project.state().join("applying/1");
    fs::create_dir_all(record.parent().unwrap()).unwrap();
    fs::write(&record, log).unwrap();
    let refused = spaces.apply("del-1", How::Auto).unwrap_err().to_string();
    assert!(refused.contains("/.legation-apply-1/old/0; what was there is in"), "{refused}");
    assert_eq!(fs::read_to_string(scratch.join("old/0")).unwrap(), "old\n");
}

/// Writes to a file as soon as an apply has looked at all of them; whether it came in time.
fn write_during_apply(project: &Project, spaces: &Spaces) -> bool {
    let (dir, edited) = (project.dir(), project.dir().join("changed/39.txt"));
    let is_scratch = |entry: std::io::Result<fs::DirEntry>| {
        entry.unwrap().file_name().as_bytes().starts_with(b".legation-apply-")
    };
    let writer = std::thread::spawn(move || {
        while !fs::read_dir(&dir).unwrap().any(is_scratch) {}
        let file = fs::File::options().append(true).open(&edited);
        drop(file.and_then(|mut file| file.write_all(b"mine\n")));
    });
    let applied = spaces.apply("del-1", How::Auto);
    writer.join().unwrap();
    applied.is_err()
}

#[test]
fn what_is_written_while_work_is_applied_is_not_overwritten() {
    let (project, spaces) = merged();
    let came_in_time = (0..200).any(|_| {
        let came = write_during_apply(&project, &spaces);
        if !came {
            project.write("changed/39.txt", "new\n");
            spaces.revert("del-1").unwrap();
        }
        came
    });
    assert!(came_in_time);
    assert_eq!(project.read("changed/39.txt"), "old\nmine\n");
    assert_eq!(scratches(&project), Vec::<PathBuf>::new());
    project.write("changed/39.txt", "old\n");
    assert_eq!(stand(&project), Stand::Before);
}

#[test]
fn what_looks_like_a_record_in_the_users_folder_is_not_believed() {
    let (project, spaces) = merged();
    let (victim, prize) = (project.outside("victim"), project.dir().join("prize"));
    fs::write(&victim, "precious\n").unwrap();
    let [victim_path, prize_path] = [&victim, &prize].map(|path| path.display().to_string());
    let log = format!("moved\0{prize_path}\0{victim_path}\0");
    project.write(".legation-apply-1/log", &log);
    project.write(".legation-apply-1/old/0", "x\n");
    drop(spaces);
    let spaces = project.open();
    spaces.apply("del-1", How::Auto).unwrap();
    assert!(victim.exists() && !prize.exists());
    assert_eq!(project.read(".legation-apply-1/old/0"), "x\n");
}

#[test]
fn what_is_on_record_and_not_on_the_branch_was_not_applied() {
    for how in [How::Auto, How::Merge, How::Squash] {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "new.txt", "new\n");
        merge(&spaces, &keep(&spaces, &place));
        project.write("mine.txt", "mine\n");
        project.commit("mine");
        let before = project.git("rev-parse HEAD");
        spaces.apply("del-1", how).unwrap();
        let after = project.git("rev-parse HEAD");
        // As one leaves it that is killed before the branch has moved.
        project.git(&format!("reset -q --hard {before}"));
        assert!(!spaces.is_applied("del-1").unwrap(), "{how:?}");
        let refused = spaces.revert("del-1").unwrap_err().to_string();
        assert!(refused.contains("is not on the branch you are on"), "{refused}");
        assert_eq!(spaces.apply("del-1", how).unwrap().files, ["new.txt"]);
        // And as one that is killed right afterwards.
        assert!(spaces.is_applied("del-1").unwrap(), "{how:?}");
        assert_eq!(spaces.apply("del-1", how).unwrap().files, Vec::<String>::new());
        assert_eq!(spaces.revert("del-1").unwrap().files, ["new.txt"]);
        project.git(&format!("cat-file -e {after}"));
    }
}

#[test]
fn a_branch_that_could_not_be_moved_is_not_on_record() {
    let project = Project::new();
    let spaces = project.open_with(Options { patience: Duration::ZERO, ..Options::default() });
    let place = create(&spaces, "exec-1");
    write(&place.root, "new.txt", "new\n");
    merge(&spaces, &keep(&spaces, &place));
    let lock = project.dir().join(".git/index.lock");
    fs::write(&lock, "").unwrap();
    assert!(matches!(spaces.apply("del-1", How::Auto), Err(Error::Locked { .. })));
    fs::remove_file(lock).unwrap();
    let refused = spaces.revert("del-1").unwrap_err().to_string();
    assert!(refused.starts_with("nothing of del-1 was applied here"), "{refused}");
    assert_eq!(spaces.apply("del-1", How::Auto).unwrap().files, ["new.txt"]);
}

/// A repository with a result that is not applied yet.
fn with_result() -> (Project, Spaces) {
    let project = Project::new();
    let spaces = project.open_with(Options { patience: Duration::ZERO, ..Options::default() });
    let place = create(&spaces, "exec-1");
    write(&place.root, "README.md", "changed\n");
    write(&place.root, "new.txt", "new\n");
    merge(&spaces, &keep(&spaces, &place));
    (project, spaces)
}

#[test]
fn a_branch_that_somebody_has_locked_takes_its_files_back() {
    for lock in ["HEAD.lock", "refs/heads/main.lock"] {
        let (project, spaces) = with_result();
        let lock = project.dir().join(".git").join(lock);
        fs::write(&lock, "").unwrap();
        spaces.apply("del-1", How::Auto).unwrap_err();
        assert_eq!(project.git("status --porcelain"), "");
        assert_eq!(project.read("README.md"), "hello\n");
        fs::remove_file(lock).unwrap();
        assert_eq!(spaces.apply("del-1", How::Auto).unwrap().files, ["README.md", "new.txt"]);
        assert_eq!(spaces.revert("del-1").unwrap().files, ["README.md", "new.txt"]);
    }
}

#[test]
fn who_is_killed_when_it_is_wanted_again_has_not_applied_it() {
    let (project, spaces) = with_result();
    spaces.apply("del-1", How::Auto).unwrap();
    spaces.revert("del-1").unwrap();
    let before = project.git("rev-parse HEAD");
    spaces.apply("del-1", How::Auto).unwrap();
    // As one leaves it that is killed before the branch has moved.
    project.git(&format!("reset -q --hard {before}"));
    assert!(!spaces.is_applied("del-1").unwrap());
    assert_eq!(spaces.apply("del-1", How::Auto).unwrap().files, ["README.md", "new.txt"]);
    assert_eq!(project.read("new.txt"), "new\n");
}

#[test]
fn a_merge_or_a_rebase_of_the_users_is_left_alone() {
    let (project, spaces) = with_result();
    project.git("checkout -q -b other");
    project.write("src/a.txt", "other\n");
    project.commit("other");
    project.git("checkout -q main");
    project.git("merge -q -s ours --no-commit other");
    for refused in [spaces.apply("del-1", How::Squash), spaces.apply("del-1", How::Auto)] {
        let told = "you are in the middle of a merge; finish it or abort it, then try again";
        assert_eq!(refused.unwrap_err().to_string(), told);
    }
    assert!(project.dir().join(".git/MERGE_HEAD").exists());
    project.git("commit -q -m merged");
    spaces.apply("del-1", How::Auto).unwrap();
    fs::create_dir(project.dir().join(".git/rebase-merge")).unwrap();
    let refused = spaces.revert("del-1").unwrap_err().to_string();
    assert!(refused.starts_with("you are in the middle of a rebase"), "{refused}");
}

#[test]
fn what_was_squashed_is_not_applied_once_more() {
    let (project, spaces) = with_result();
    spaces.apply("del-1", How::Squash).unwrap();
    let head = project.git("rev-parse HEAD");
    for how in [How::Auto, How::Merge, How::Squash] {
        assert_eq!(spaces.apply("del-1", how).unwrap().files, Vec::<String>::new());
        assert_eq!(project.git("rev-parse HEAD"), head, "{how:?}");
    }
    assert_eq!(spaces.revert("del-1").unwrap().files, ["README.md", "new.txt"]);
}
