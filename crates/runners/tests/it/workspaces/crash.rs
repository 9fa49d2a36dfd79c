//! A process that is killed at any moment loses no work and leaves nothing behind.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use legation_runners::workspace::{How, Limits, Merge, Spaces, Wanted};
use rustix::process::{Pid, Signal, kill_process_group};

use super::project::{Project, begin, create, in_way, note, wanted, write};

/// The project of the child, its way of making workspaces, the name of its first attempt, and
/// how many there are; or a delegation, and that its result comes and goes.
const WORK_IN: &str = "RUNNERS_TEST_WORK_IN";
/// How often a process is killed; more on demand.
const CYCLES: &str = "RUNNERS_TEST_CYCLES";
const USUAL_CYCLES: u64 = 7;
/// Attempts of a child that nobody kills.
const ATTEMPTS: usize = 20;
/// Steps of an attempt that a child tells of.
const STEPS: u64 = 4;
/// How long after a step it may still live.
const MOST_MICROS: u64 = 30_000;

/// Works as an engine does, and says what it has done.
fn work(spaces: &Spaces, first: &str, attempts: usize) {
    let say = |step: &str, attempt: &str| {
        std::io::stdout().write_all(format!("\n{step} {attempt}\n").as_bytes()).unwrap();
    };
    begin(spaces, "del-1");
    for number in 0..attempts {
        let attempt = format!("{first}-{number}");
        let place = spaces.create(&wanted("del-1", &attempt)).unwrap();
        write(&place.root, &format!("made/{attempt}.txt"), "precious\n");
        say("worked", &attempt);
        let kept = spaces.keep(&place, &note()).unwrap().unwrap();
        say("kept", &attempt);
        spaces.merge("del-1", &kept).unwrap();
        say("merged", &attempt);
        spaces.remove(&place).unwrap();
        say("removed", &attempt);
    }
}

/// Brings a result to the user's files, takes it back, and lets go of all that is kept of it.
fn come_and_go(spaces: &Spaces, delegation: &str) {
    spaces.apply(delegation, How::Auto).unwrap();
    spaces.revert(delegation).unwrap();
    spaces.rollback(delegation).unwrap();
    let limits = Limits { max_age: Duration::ZERO, quota_bytes: u64::MAX, unapplied: true };
    for (what, _) in spaces.surplus(limits, |_| false).unwrap() {
        spaces.clear_away(&what).unwrap();
    }
}

/// The child of the tests below. On its own it works a little and is never killed.
#[test]
fn a_process_works_and_says_what_it_has_done() {
    match std::env::var(WORK_IN) {
        Ok(order) => {
            let [dir, state, way, first, attempts] =
                order.split('\n').collect::<Vec<_>>().try_into().unwrap();
            let options = legation_runners::workspace::Options {
                mechanism: way_of(way),
                // Nobody else works here: a lock that is there is nobody's.
                patience: Duration::from_millis(100),
                ..Default::default()
            };
            let spaces = Spaces::open_with(dir.as_ref(), state.as_ref(), &options).unwrap();
            match attempts.parse() {
                Ok(attempts) => work(&spaces, first, attempts),
                Err(_) => come_and_go(&spaces, first),
            }
        }
        // Whoever is killed can take no project of its own away.
        Err(_) => work(&Project::new().open(), "exec", 2),
    }
}

pub(super) const WAYS: [(&str, Wanted); 3] =
    [("worktree", Wanted::Worktree), ("pool", Wanted::Pool), ("overlay", Wanted::Overlay)];

fn way_of(name: &str) -> Wanted {
    let found = WAYS.into_iter().find(|(known, _)| *known == name);
    found.map_or(Wanted::Copy, |(_, wanted)| wanted)
}

/// The child, in a group of its own, before whose words others are put.
pub(super) fn child(before: &[&str], (project, way): (&Project, &str), work: &str) -> Child {
    let (dir, state) = (project.dir(), project.state());
    let order = format!("{}\n{}\n{way}\n{work}", dir.display(), state.display());
    let this = std::env::current_exe().unwrap();
    let words = before.iter().map(OsStr::new).chain([this.as_os_str()]).collect::<Vec<_>>();
    Command::new(words[0])
        .args(&words[1..])
        .args(["--exact", "workspaces::crash::a_process_works_and_says_what_it_has_done"])
        .arg("--nocapture")
        .env(WORK_IN, order)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap()
}

/// Starts the child and kills it some time after so many steps. Whose work it had done.
fn worked_until_killed(project: &Project, way: &str, cycle: u64) -> BTreeSet<String> {
    let mut random = cycle.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040);
    random ^= random >> 29;
    let steps = random % (STEPS * 3);
    let wait = Duration::from_micros((random >> 8) % MOST_MICROS);
    let mut child = child(&[], (project, way), &format!("exec-{cycle}\n{ATTEMPTS}"));
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut done = BTreeSet::new();
    let mut hear = |line: &str| {
        let worked = line.strip_prefix("worked ");
        done.extend(worked.map(str::to_owned));
        worked.is_some() || line.starts_with("kept ") || line.starts_with("merged ")
    };
    let mut heard = 0;
    while heard < steps {
        heard += u64::from(hear(&lines.next().unwrap().unwrap()));
    }
    let start = Instant::now();
    while start.elapsed() < wait {
        std::thread::yield_now();
    }
    let pid = Pid::from_child(&child);
    kill_process_group(pid, Signal::KILL).unwrap();
    child.wait().unwrap();
    for line in lines {
        hear(&line.unwrap());
    }
    done
}

/// Does for every workspace that is left what an engine does after a crash.
fn take_up(spaces: &Spaces) {
    begin(spaces, "del-1");
    for attempt in spaces.list().unwrap() {
        let place = spaces.find(&attempt).unwrap().expect("what was never handed out is gone");
        if let Some(kept) = spaces.keep_once(&place, &note()).unwrap() {
            let merged = spaces.merge("del-1", &kept).unwrap();
            assert!(matches!(merged, Merge::Clean { .. } | Merge::Nothing), "{merged:?}");
        }
        spaces.remove(&place).unwrap();
    }
}

/// What is left on the disk that is not meant to be.
fn left(project: &Project) -> Vec<String> {
    let mut left = Vec::new();
    for folder in ["workspaces", "layers", "repos", "trash", "leases", "pins", "pool", "setups"] {
        for entry in fs::read_dir(project.state().join(folder)).into_iter().flatten() {
            let name = entry.unwrap().file_name().to_string_lossy().into_owned();
            let is_meant = ["pins", "pool"].contains(&folder) && !name.ends_with(".new");
            left.extend((!is_meant).then(|| format!("{folder}/{name}")));
        }
    }
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let state = project.state().to_string_lossy().into_owned();
    left.extend(mounts.lines().filter(|line| line.contains(&state)).map(str::to_owned));
    left
}

/// What grows with what is kept, or is there to be used again and bounded in number.
const MEANT_TO_STAY: [&str; 3] = ["pins", "pool", "provenance"];
/// Checkouts that are kept for later use.
const MOST_SPARES: usize = 10;

/// All other files of ours, and their sizes.
pub(super) fn on_disk(project: &Project) -> BTreeMap<PathBuf, u64> {
    let mut found = BTreeMap::new();
    let mut folders = vec![project.state()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let about = fs::symlink_metadata(&path).unwrap();
            let is_meant = path.file_name().is_some_and(|name| {
                folder == project.state() && MEANT_TO_STAY.iter().any(|meant| name == *meant)
            });
            if about.is_dir() && !is_meant {
                folders.push(path);
            } else if !about.is_dir() {
                found.insert(path, about.len());
            }
        }
    }
    found
}

/// How many checkouts wait for their next use.
fn spares(project: &Project) -> usize {
    let folders = ["pins", "pool"].map(|name| fs::read_dir(project.state().join(name)));
    folders.into_iter().flatten().map(Iterator::count).sum()
}

#[test]
fn a_process_that_is_killed_at_any_moment_loses_nothing_and_leaves_nothing() {
    let cycles = std::env::var(CYCLES).ok().and_then(|text| text.parse().ok());
    let cycles: u64 = cycles.unwrap_or(USUAL_CYCLES);
    for (number, (way, wanted)) in (0..).zip(WAYS) {
        in_way(wanted, || {
            let project = Project::new();
            let before = project.untouchable();
            // What overlays lie over is there from the start, and stays.
            take_up_one(&project);
            let disk = on_disk(&project);
            let mut precious = BTreeSet::new();
            for cycle in 0..cycles {
                precious.extend(worked_until_killed(&project, way, cycle * 3 + number));
                assert_in_order(&project, (&disk, &precious), &format!("after cycle {cycle}"));
            }
            assert_eq!(project.untouchable(), before);
            project.git("fsck --strict --no-dangling");
        });
    }
}

/// Takes up what a child has left: nothing is lost then, and nothing is left.
pub(super) fn assert_in_order(
    project: &Project,
    (disk, precious): (&BTreeMap<PathBuf, u64>, &BTreeSet<String>),
    when: &str,
) {
    let spaces = project.open_after_a_kill();
    take_up(&spaces);
    drop(spaces);
    assert_eq!(left(project), Vec::<String>::new(), "{when}");
    assert_eq!(on_disk(project), *disk, "{when}");
    assert!(spares(project) <= MOST_SPARES, "{when}");
    let made = project.git("ls-tree -r --name-only legation/del-1/result made");
    let made: BTreeSet<&str> = made.lines().collect();
    let lost = |attempt: &&String| !made.contains(format!("made/{attempt}.txt").as_str());
    let lost: Vec<_> = precious.iter().filter(lost).collect();
    assert!(lost.is_empty(), "lost {when}: {lost:?}");
}

/// One attempt from beginning to end.
pub(super) fn take_up_one(project: &Project) {
    let spaces = project.open_after_a_kill();
    let place = create(&spaces, "exec-first");
    write(&place.root, "made/exec-first.txt", "precious\n");
    drop(place);
    take_up(&spaces);
}

#[test]
fn locks_of_ours_that_nobody_holds_are_cleared_and_others_are_not() {
    let project = Project::new();
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    write(&place.root, "work.txt", "x\n");
    drop(spaces);
    let now = std::time::SystemTime::now();
    let old = now - Duration::from_secs(3600);
    let ours = [
        project.state().join("repos/exec-1.git/staged.lock"),
        project.state().join("hub.git/index.lock"),
        project.dir().join(".git/refs/legation/del-1/exec-1.lock"),
        project.dir().join(".git/refs/heads/legation/del-1/result.lock"),
    ];
    let others = [
        project.dir().join(".git/index.lock"),
        project.dir().join(".git/refs/heads/main.lock"),
        // Somebody may be at it right now.
        project.dir().join(".git/refs/legation/del-2/exec-2.lock"),
    ];
    for (number, lock) in ours.iter().chain(&others).enumerate() {
        fs::create_dir_all(lock.parent().unwrap()).unwrap();
        let file = fs::File::create(lock).unwrap();
        file.set_modified(if (4..6).contains(&number) { old } else { now }).unwrap();
    }
    let spaces = project.open();
    assert!(ours.iter().all(|lock| !lock.exists()));
    assert!(others.iter().all(|lock| lock.exists()));
    let kept = spaces.keep(&place, &note()).unwrap().unwrap();
    assert!(matches!(spaces.merge("del-1", &kept).unwrap(), Merge::Clean { .. }));
}

#[test]
fn a_lock_on_all_names_is_cleared_if_it_was_left_by_who_deleted_some_of_ours() {
    let project = Project::new();
    project.open();
    let (lock, told) =
        (project.dir().join(".git/packed-refs.lock"), project.state().join("deleting"));
    let old = std::time::SystemTime::now() - Duration::from_secs(3600);
    // Whether it was told that names are deleted, and whether the lock is from before.
    for (is_told, is_older, stays) in
        [(false, false, true), (true, true, true), (true, false, false)]
    {
        let file = fs::File::create(&lock).unwrap();
        if is_older {
            file.set_modified(old).unwrap();
        }
        if is_told {
            fs::write(&told, "null").unwrap();
            let time = fs::metadata(&lock).unwrap().modified().unwrap();
            let time = if is_older { std::time::SystemTime::now() } else { time };
            fs::File::options().write(true).open(&told).unwrap().set_modified(time).unwrap();
        }
        project.open();
        assert_eq!((lock.exists(), told.exists()), (stays, false), "{is_told} {is_older}");
    }
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    write(&place.root, "work.txt", "x\n");
    let kept = spaces.keep(&place, &note()).unwrap().unwrap();
    spaces.merge("del-1", &kept).unwrap();
    spaces.rollback("del-1").unwrap();
    assert!(!lock.exists() && !told.exists());
}

#[test]
fn records_that_a_power_cut_has_emptied_hinder_nobody_and_lose_nothing() {
    for (_, wanted) in WAYS {
        in_way(wanted, || {
            let project = Project::new();
            let spaces = project.open();
            let place = create(&spaces, "exec-1");
            write(&place.root, "work.txt", "precious\n");
            drop(spaces);
            let record = project.state().join("repos/exec-1.git/place.json");
            fs::write(&record, "").unwrap();
            let pin = project.state().join("pins/lost-12345678");
            write(&pin, "pin.json", "");
            let spaces = project.open();
            assert_eq!(Spaces::unreadable(&project.state()), [record]);
            assert!(spaces.find("exec-1").is_err());
            assert_eq!(spaces.standing().unwrap().len(), 0);
            let other = create(&spaces, "exec-2");
            write(&other.root, "work.txt", "other\n");
            let kept = spaces.keep(&other, &note()).unwrap().unwrap();
            spaces.merge("del-1", &kept).unwrap();
            spaces.remove(&other).unwrap();
            drop(spaces);
            project.open();
            assert!(pin.exists(), "it may lie over this one");
            let upper = project.state().join("layers/exec-1/upper");
            let root = if upper.exists() { upper } else { place.root };
            assert_eq!(fs::read_to_string(root.join("work.txt")).unwrap(), "precious\n");
            fs::remove_dir_all(project.state().join("repos/exec-1.git")).unwrap();
            project.open();
            project.open();
            assert_eq!((pin.exists(), root.exists()), (false, false));
        });
    }
}

#[test]
fn nothing_is_cleared_while_somebody_works() {
    let project = Project::new();
    let spaces = project.open();
    create(&spaces, "exec-1");
    let half_made = project.state().join("workspaces/exec-2");
    fs::create_dir_all(&half_made).unwrap();
    project.open();
    assert!(half_made.exists());
    drop(spaces);
    project.open();
    assert!(!half_made.exists());
}

/// The layers of copies: those that are known, and whether any was left half made.
fn layers(project: &Project) -> Vec<PathBuf> {
    let folders = ["bases", "kept", "results/del-1"].map(|name| project.state().join(name));
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten());
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_process_that_is_killed_over_copies_loses_nothing_and_leaves_nothing() {
    let project = Project::plain();
    project.write("notes.txt", "one\n");
    let mut precious = BTreeSet::new();
    for cycle in 0..USUAL_CYCLES * 3 {
        precious.extend(worked_until_killed(&project, "copy", cycle));
        let spaces = project.open_after_a_kill();
        let of_nobody = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "new");
        assert_eq!(layers(&project).into_iter().find(of_nobody), None, "after cycle {cycle}");
        take_up(&spaces);
        let made = spaces.diff("del-1", None).unwrap();
        let lost = |attempt: &&String| !made.contains(&format!("+++ b/made/{attempt}.txt"));
        let lost: Vec<_> = precious.iter().filter(lost).collect();
        assert!(lost.is_empty(), "lost in cycle {cycle}: {lost:?}");
        drop(spaces);
        assert_eq!(left(&project), Vec::<String>::new(), "after cycle {cycle}");
    }
}

#[test]
fn what_was_left_half_made_of_copies_is_cleared_and_what_is_known_stays() {
    let project = Project::plain();
    project.write("notes.txt", "one\n");
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    write(&place.root, "notes.txt", "two\n");
    let kept = spaces.keep(&place, &note()).unwrap().unwrap();
    spaces.merge("del-1", &kept).unwrap();
    drop(spaces);
    let known = layers(&project);
    assert_eq!(known.len(), 3, "{known:?}");
    let at = |path: &str| project.state().join(path);
    let left = [
        "workspaces/exec-2/notes.txt",
        "repos/exec-2.git/manifest.json",
        "bases/del-2/files/notes.txt",
        "kept/exec-2.new/files/notes.txt",
        "results/del-1/2/files/notes.txt",
        "diff-1/a/notes.txt",
        "delegations/del-2.json.1.new",
    ];
    for path in left {
        write(&project.state(), path, "half\n");
    }
    let spaces = project.open();
    let there: Vec<&str> = left.into_iter().filter(|path| at(path).exists()).collect();
    assert_eq!(there, Vec::<&str>::new());
    assert_eq!(layers(&project), known);
    assert_eq!(spaces.list().unwrap(), ["exec-1"]);
}
