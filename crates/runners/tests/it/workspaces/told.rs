//! Git is told what was written to in an overlay. It must look at less, and never see less.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use fastrand::Rng;
use legation_runners::workspace::{Options, Place, Spaces, Wanted};

use super::layers::larger;
use super::project::{Project, begin, create, git, in_way, read, wanted, write};

/// Files of the base, and others; mostly at the top, where most can go wrong.
const NAMES: &[&str] =
    &["README.md", "other.md", "new.txt", "new", "new/c.txt", "many", "many/0.txt", "many/n.txt"];
/// What is done with git while files change.
const COMMANDS: &[&str] = &[
    "add -A",
    "update-index --add new.txt",
    "update-index --add --remove README.md",
    "commit -q -a -m more",
    "reset -q --hard",
    "reset -q HEAD~1",
    "checkout -q -- .",
    "checkout -q side",
    "checkout -q -f -",
    "stash -q -u",
    "stash pop -q",
    "rm -q -r --cached many",
    "mv README.md other.md",
    "mv many more",
    "clean -q -fd",
    "status --porcelain",
];
const WORKSPACES: u64 = 24;
const STEPS: usize = 12;

/// Workspaces in which git is told, though the repository is small.
fn open(project: &Project) -> Spaces {
    project.open_with(Options { told_from: 1, ..Options::default() })
}

/// How many files git looked at, at the least, to say what has changed.
fn looks(root: &Path) -> u64 {
    let told = root.join(".git/trace");
    let mut command = Command::new("git");
    command.current_dir(root).args(["status", "--porcelain"]).env("GIT_TRACE2_EVENT", &told);
    assert!(command.output().unwrap().status.success());
    let text = fs::read_to_string(&told).unwrap();
    fs::remove_file(told).unwrap();
    let values = text.lines().filter(|line| line.contains("/sum_lstat\""));
    let value = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        value["value"].as_str().unwrap().parse::<u64>().unwrap()
    };
    values.map(value).sum()
}

/// What git says has changed, told and by itself.
fn both(root: &Path) -> [String; 2] {
    let alone = git(root, "-c core.fsmonitor=false --no-optional-locks status --porcelain");
    [git(root, "status --porcelain"), alone]
}

/// Waits until the top of what was written is old enough to have a mark of its own.
fn until_old(project: &Project, place: &Place) {
    let written = project.state().join("layers").join(&place.attempt).join("upper");
    loop {
        let mut find = Command::new("find");
        find.arg(&written).args(["-maxdepth", "0", "-newerct", "2 seconds ago"]);
        if find.output().unwrap().stdout.is_empty() {
            return;
        }
        std::thread::yield_now();
    }
}

#[test]
fn git_looks_at_nothing_first_and_then_at_what_was_written_to() {
    in_way(Wanted::Overlay, || {
        let project = larger();
        let spaces = open(&project);
        let place = create(&spaces, "exec-1");
        assert_eq!(looks(&place.root), 0);
        assert_eq!(looks(&place.root), 0);
        // Something new at the top, or the first work in a folder there: all is looked at,
        // until that is long enough ago.
        write(&place.root, "src/a.txt", "changed\n");
        write(&place.root, "new.txt", "new\n");
        assert_eq!(both(&place.root), [" M src/a.txt\n?? new.txt"; 2]);
        assert!(looks(&place.root) >= 43);
        until_old(&project, &place);
        assert!(looks(&place.root) >= 43);
        assert_eq!(looks(&place.root), 1);
        write(&place.root, "src/b.txt", "x\n");
        assert_eq!(both(&place.root), [" M src/a.txt\n?? new.txt\n?? src/b.txt"; 2]);
        assert_eq!(looks(&place.root), 1);
    });
}

#[test]
fn a_set_up_does_not_make_git_look_at_every_file() {
    in_way(Wanted::Overlay, || {
        let project = larger();
        let spaces = open(&project);
        let commands = vec!["make ready".to_owned()];
        let first = create(&spaces, "exec-1");
        write(&first.root, "made/new.txt", "made\n");
        spaces.remember(&first, &commands).unwrap();
        let second = create(&spaces, "exec-2");
        assert!(spaces.recall(&second, &commands).unwrap());
        for place in [&first, &second] {
            assert_eq!(looks(&place.root), 0);
            write(&place.root, "many/0.txt", "changed\n");
            assert_eq!(both(&place.root), [" M many/0.txt\n?? made/"; 2]);
        }
        // One that does something with the index is not trusted to leave traces.
        let third = create(&spaces, "exec-3");
        write(&third.root, "new.txt", "new\n");
        git(&third.root, "update-index --add new.txt");
        fs::remove_file(third.root.join("new.txt")).unwrap();
        spaces.remember(&third, &["other".to_owned()]).unwrap();
        assert_eq!(both(&third.root), ["AD new.txt"; 2]);
    });
}

#[test]
fn a_top_that_was_dated_back_is_not_taken_for_untouched() {
    in_way(Wanted::Overlay, || {
        let project = larger();
        let place = create(&open(&project), "exec-1");
        let before = fs::metadata(&place.root).unwrap().modified().unwrap();
        let top = fs::File::open(&place.root).unwrap();
        write(&place.root, "new.txt", "new\n");
        top.set_modified(before).unwrap();
        git(&place.root, "update-index --add new.txt");
        fs::remove_file(place.root.join("new.txt")).unwrap();
        top.set_modified(before).unwrap();
        assert_eq!(both(&place.root), ["AD new.txt"; 2]);
    });
}

#[test]
fn the_next_base_is_told_of_too_and_a_small_repository_is_not() {
    in_way(Wanted::Overlay, || {
        let project = larger();
        let spaces = open(&project);
        create(&spaces, "exec-1");
        project.write("many/7.txt", "moved\n");
        project.commit("moved");
        begin(&spaces, "del-2");
        let second = spaces.create(&wanted("del-2", "exec-2")).unwrap();
        assert_eq!(looks(&second.root), 0);
        write(&second.root, "many/7.txt", "x\n");
        assert_eq!(both(&second.root), [" M many/7.txt"; 2]);
        let small = larger();
        let place = create(&small.open(), "exec-1");
        assert!(looks(&place.root) >= 43);
        assert!(!read(&place.root, ".git/config").contains("fsmonitor"));
    });
}

/// One step of some work with git. What cannot be done is not done.
fn step(root: &Path, rng: &mut Rng) {
    let at = |name: &&str| root.join(name);
    let one = rng.choice(NAMES).map(at).unwrap();
    let other = rng.choice(NAMES).map(at).unwrap();
    drop(match rng.u8(0..16) {
        0 | 1 => fs::write(&one, "y\n"),
        2 => fs::write(&one, "longer than before\n"),
        3 | 4 => fs::remove_file(&one),
        5 => fs::remove_dir_all(&one),
        6 => fs::create_dir_all(&one),
        7 => fs::rename(&one, &other),
        8 => symlink("src/a.txt", &one),
        _ => {
            let words = rng.choice(COMMANDS).unwrap().split(' ');
            let mut command = Command::new("git");
            command.current_dir(root).args(words).output().map(drop)
        }
    });
}

#[test]
fn whatever_is_done_git_sees_the_same_whether_it_is_told_or_not() {
    in_way(Wanted::Overlay, || {
        let project = larger();
        project.git("checkout -q -b side");
        project.write("top.txt", "x\n");
        project.write("many/0.txt", "side\n");
        project.commit("side");
        project.git("checkout -q main");
        let spaces = open(&project);
        let made = (0..WORKSPACES).map(|number| create(&spaces, &format!("exec-{number}")));
        let places: Vec<Place> = made.collect();
        let mut changed = 0;
        // The second half of the work begins with marks of its own.
        for half in 0..2 {
            for (seed, place) in (0..).zip(&places) {
                git(&place.root, "status --porcelain");
                let mut rng = Rng::with_seed(seed * 2 + half);
                for number in 0..STEPS {
                    step(&place.root, &mut rng);
                    let [told, alone] = both(&place.root);
                    assert_eq!(told, alone, "seed {seed}, half {half}, step {number}");
                    changed += usize::from(!told.is_empty());
                }
            }
            for place in &places {
                until_old(&project, place);
            }
        }
        assert!(changed > 100, "{changed}");
    });
}

#[test]
fn what_git_added_and_somebody_deleted_is_missed_although_it_left_no_trace() {
    in_way(Wanted::Overlay, || {
        let project = larger();
        let spaces = open(&project);
        let place = create(&spaces, "exec-1");
        write(&place.root, "new.txt", "new\n");
        // This does not ask first.
        git(&place.root, "update-index --add new.txt");
        fs::remove_file(place.root.join("new.txt")).unwrap();
        assert_eq!(both(&place.root), ["AD new.txt"; 2]);
        until_old(&project, &place);
        write(&place.root, "second.txt", "new\n");
        until_old(&project, &place);
        git(&place.root, "status --porcelain");
        git(&place.root, "update-index --add second.txt");
        fs::remove_file(place.root.join("second.txt")).unwrap();
        assert_eq!(both(&place.root), ["AD new.txt\nAD second.txt"; 2]);
    });
}

#[test]
fn a_user_who_has_git_remember_unknown_files_sees_new_ones_all_the_same() {
    in_way(Wanted::Overlay, || {
        let project = larger();
        let place = create(&open(&project), "exec-1");
        let settings = project.outside("settings");
        fs::write(&settings, "[core]\nuntrackedCache = true\n[feature]\nmanyFiles = true\n")
            .unwrap();
        let status = || {
            let mut git = Command::new("git");
            git.current_dir(&place.root).args(["status", "--porcelain"]);
            let said = git.env("GIT_CONFIG_GLOBAL", &settings).output().unwrap();
            String::from_utf8(said.stdout).unwrap()
        };
        assert_eq!(status(), "");
        write(&place.root, "many/first.txt", "x\n");
        assert_eq!(status(), "?? many/first.txt\n");
        write(&place.root, "many/second.txt", "x\n");
        assert_eq!(status(), "?? many/first.txt\n?? many/second.txt\n");
    });
}

#[test]
fn an_index_that_tells_still_remembers_its_trees() {
    in_way(Wanted::Overlay, || {
        let project = larger();
        let place = create(&open(&project), "exec-1");
        let index = fs::read(place.root.join(".git/index")).unwrap();
        let at = index.windows(4).rposition(|part| part == b"TREE").unwrap();
        // A folder without a name, and how many files it has: none if it were forgotten.
        let top = &index[at + 8..at + 12];
        assert_eq!(top, b"\x0043 ", "{}", String::from_utf8_lossy(top));
        assert_eq!(git(&place.root, "fsck --no-dangling"), "");
    });
}

#[test]
fn a_submodule_is_always_looked_into() {
    in_way(Wanted::Overlay, || {
        let project = larger();
        let other = Project::new();
        let add = "-c protocol.file.allow=always submodule --quiet add";
        let from = other.outside("other");
        fs::rename(other.dir(), &from).unwrap();
        project.git(&format!("{add} {} sub", from.display()));
        project.commit("submodule");
        let place = create(&open(&project), "exec-1");
        assert_eq!(both(&place.root), [""; 2]);
        write(&place.root, "sub/README.md", "changed\n");
        assert_eq!(both(&place.root), [" M sub"; 2]);
    });
}

#[test]
fn elsewhere_git_looks_for_itself_and_says_nothing_about_it() {
    in_way(Wanted::Overlay, || {
        let project = larger();
        let spaces = open(&project);
        let place = create(&spaces, "exec-1");
        git(&place.root, "status --porcelain");
        let copy = project.outside("exec-1");
        let copied = Command::new("cp").arg("-a").arg(&place.root).arg(&copy).status().unwrap();
        assert!(copied.success());
        git(
            &place.root,
            &format!("worktree add -q --detach {}", project.outside("tree").display()),
        );
        for root in [copy, project.outside("tree")] {
            write(&root, "README.md", "HELLO\n");
            let mut status = Command::new("git");
            let said = status.current_dir(&root).args(["status", "--porcelain"]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&said.stdout), " M README.md\n");
            assert_eq!(String::from_utf8_lossy(&said.stderr), "");
        }
    });
}
