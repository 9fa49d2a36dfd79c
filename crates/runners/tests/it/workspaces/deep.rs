//! Folders so deep that nothing in them has a path any more: they keep no work from being kept
//! and no workspace from going.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use legation_runners::depths;
use legation_runners::workspace::{How, Kept, Limits, Options, Place, Spaces, Surplus, Wanted};
use rustix::fs::{Mode, OFlags, mkdirat, open, openat};
use tempfile::TempDir;

use super::borrowed::elsewhere;
use super::project::{Project, begin, create, git, in_every_way, keep, merge, note, wanted, write};

/// What each folder is called.
const NAME: &str = "aaaaaaaaaa";
/// So many that a path is longer than the system takes.
const DEPTH: usize = 500;
/// So many that not all can be open at once.
const MANY: usize = 1_200;

/// Makes folders below each other; the last one.
fn dig(top: &Path, depth: usize) -> OwnedFd {
    fs::create_dir_all(top).unwrap();
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = open(top, flags, Mode::empty()).unwrap();
    for _ in 0..depth {
        mkdirat(&at, NAME, Mode::from_raw_mode(0o755)).unwrap();
        at = openat(&at, NAME, flags, Mode::empty()).unwrap();
    }
    at
}

/// Puts something into a folder that has no path.
fn put(folder: &OwnedFd, name: &str, text: &str) {
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = openat(folder, name, flags, Mode::from_raw_mode(0o644)).unwrap();
    rustix::io::write(&file, text.as_bytes()).unwrap();
}

/// The attempt's work, with a deep tree beside it.
fn worked(spaces: &Spaces, attempt: &str, folder: &str) -> Place {
    let place = spaces.create(&wanted("del-1", attempt)).unwrap();
    write(&place.root, &format!("{attempt}.txt"), "precious\n");
    put(&dig(&place.root.join(folder), DEPTH), "deep.txt", "deep\n");
    place
}

/// Nothing of a deep tree is left anywhere, nor anything of the workspaces.
fn assert_gone(project: &Project, spaces: Spaces) {
    assert_eq!(spaces.list().unwrap(), Vec::<String>::new());
    // Whoever wants a used checkout waits until it is clean.
    let next = spaces.create(&wanted("del-1", "exec-next")).unwrap();
    assert!(spaces.keep(&next, &note()).unwrap().is_none());
    spaces.remove(&next).unwrap();
    // What is deleted in the background is gone once they are closed.
    drop(spaces);
    let mut find = Command::new("find");
    let found = find.arg(project.state()).args(["-maxdepth", "12", "-name", NAME]).output();
    assert_eq!(String::from_utf8(found.unwrap().stdout).unwrap(), "");
    let trash = fs::read_dir(project.state().join("trash")).into_iter().flatten();
    assert_eq!(trash.count(), 0);
}

fn kept_files(project: &Project, kept: &Kept) -> String {
    project.git(&format!("ls-tree -r --name-only {}", kept.commit))
}

#[test]
fn an_ignored_tree_without_end_hinders_nobody() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        begin(&spaces, "del-1");
        let place = worked(&spaces, "exec-1", "build");
        let seen = spaces.look(&place).unwrap();
        assert!(!seen.more_files);
        let [named, precious] = seen.files_changed.as_slice() else { panic!("{seen:?}") };
        assert_eq!(precious, "exec-1.txt");
        assert!(named.starts_with("build/aaaaaaaaaa/") && named.len() < 4_096, "{named}");
        let kept = keep(&spaces, &place);
        assert_eq!(kept_files(&project, &kept), ".gitignore\nREADME.md\nexec-1.txt\nsrc/a.txt");
        merge(&spaces, &kept);
        spaces.remove(&place).unwrap();
        // Whoever comes next finds nothing of it, wherever its files come from.
        let next = spaces.create(&wanted("del-1", "exec-2")).unwrap();
        assert!(!next.root.join("build").exists());
        assert!(spaces.keep(&next, &note()).unwrap().is_none());
        spaces.remove(&next).unwrap();
        assert_gone(&project, spaces);
    });
}

#[test]
fn what_no_path_leads_to_is_named_and_goes_and_the_rest_is_kept() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        begin(&spaces, "del-1");
        let place = worked(&spaces, "exec-1", "data");
        write(&place.root, "src/a.txt", "changed\n");
        let seen = spaces.look(&place).unwrap();
        let named: Vec<&String> =
            seen.files_changed.iter().filter(|it| it.contains("/a")).collect();
        let [deep, changed] = named.as_slice() else { panic!("{seen:?}") };
        assert!(deep.starts_with("data/aaaaaaaaaa/") && deep.len() < 4_096, "{deep}");
        assert_eq!(*changed, "src/a.txt");
        let kept = keep(&spaces, &place);
        assert_eq!(kept_files(&project, &kept), ".gitignore\nREADME.md\nexec-1.txt\nsrc/a.txt");
        assert_eq!(project.git(&format!("show {}:src/a.txt", kept.commit)), "changed");
        merge(&spaces, &kept);
        spaces.remove(&place).unwrap();
        assert_gone(&project, spaces);
    });
}

#[test]
fn paths_of_every_length_are_kept_or_named_and_nothing_fails() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        // A file in each folder, from where a path is short to where there is none.
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut at = open(&place.root, flags, Mode::empty()).unwrap();
        for number in 0..420 {
            mkdirat(&at, NAME, Mode::from_raw_mode(0o755)).unwrap();
            at = openat(&at, NAME, flags, Mode::empty()).unwrap();
            put(&at, &format!("{number}.txt"), "x\n");
        }
        let seen = spaces.look(&place).unwrap().files_changed;
        let kept = keep(&spaces, &place);
        let files = kept_files(&project, &kept);
        // All that whatever is put elsewhere may have as a path, and what is beyond by one name.
        let longest = files.lines().map(str::len).max().unwrap();
        assert!((3_040..=3_072).contains(&longest), "{longest}");
        let beyond: Vec<&String> = seen.iter().filter(|it| !files.contains(it.as_str())).collect();
        assert!(!beyond.is_empty() && beyond.len() < 4, "{}", beyond.len());
        merge(&spaces, &kept);
        spaces.remove(&place).unwrap();
        // Applied, it is part of what the next one begins with.
        assert!(spaces.apply("del-1", How::Auto).unwrap().files.len() > 200);
        let next = elsewhere(&spaces, "del-2", "exec-2");
        assert_eq!(spaces.look(&next).unwrap().files_changed, Vec::<String>::new());
        assert!(spaces.keep(&next, &note()).unwrap().is_none());
        spaces.remove(&next).unwrap();
        assert_eq!(spaces.list().unwrap(), Vec::<String>::new());
    });
}

#[test]
fn deep_trees_without_a_file_are_no_work_and_closed_ones_go_as_well() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        drop(dig(&place.root.join("empty"), DEPTH));
        assert_eq!(spaces.look(&place).unwrap().files_changed, Vec::<String>::new());
        assert!(spaces.keep(&place, &note()).unwrap().is_none());
        let closed = fs::Permissions::from_mode(0o000);
        fs::set_permissions(place.root.join("empty").join(NAME), closed).unwrap();
        spaces.remove(&place).unwrap();
        assert_gone(&project, spaces);
    });
}

#[test]
fn a_workspace_with_a_deep_tree_is_cleared_away_by_its_age_and_its_size_is_told() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        begin(&spaces, "del-1");
        let place = worked(&spaces, "exec-1", "data");
        put(&dig(&place.root.join("big"), DEPTH), "big.txt", &"x".repeat(3_000_000));
        let limits = Limits { max_age: Duration::ZERO, quota_bytes: u64::MAX, unapplied: false };
        let surplus = spaces.surplus(limits, |_| false).unwrap();
        let (left, _) = &surplus[0];
        let Surplus::Workspace(standing) = left else { panic!("{surplus:?}") };
        assert!(standing.bytes > 3_000_000, "{}", standing.bytes);
        spaces.clear_away(left).unwrap();
        assert!(project.git("show refs/legation/del-1/exec-1:exec-1.txt").contains("precious"));
        assert!(spaces.find("exec-1").unwrap().is_none());
        assert!(!place.root.exists());
        drop(spaces);
        let found = fs::read_dir(project.state().join("trash")).into_iter().flatten().count();
        assert_eq!(found, 0);
    });
}

#[test]
fn without_git_the_rest_is_kept_and_the_copy_goes_as_well() {
    let project = Project::plain();
    project.write("notes.txt", "one\n");
    // The user's own are not copied.
    put(&dig(&project.dir().join("mine"), DEPTH), "deep.txt", "deep\n");
    let spaces = project.open();
    begin(&spaces, "del-1");
    let place = worked(&spaces, "exec-1", "data");
    assert!(!place.root.join("mine/aaaaaaaaaa/deep.txt").exists());
    let seen = spaces.look(&place).unwrap().files_changed;
    assert!(seen[0].starts_with("data/aaaaaaaaaa/") && seen[0].len() < 4_096, "{seen:?}");
    assert_eq!(seen[1..], ["exec-1.txt"]);
    let kept = keep(&spaces, &place);
    merge(&spaces, &kept);
    spaces.remove(&place).unwrap();
    assert_eq!(spaces.apply("del-1", How::Auto).unwrap().files, ["exec-1.txt"]);
    assert_eq!(project.read("exec-1.txt"), "precious\n");
    assert_eq!(spaces.list().unwrap(), Vec::<String>::new());
    drop(spaces);
    let layers = project.state().join("kept/exec-1/files");
    assert_eq!(fs::read_dir(layers).unwrap().count(), 1);
    assert_eq!(fs::read_dir(project.state().join("trash")).into_iter().flatten().count(), 0);
    depths::remove(&project.dir().join("mine")).unwrap();
}

#[test]
fn in_copies_of_a_repository_what_is_ignored_is_not_even_named() {
    let project = Project::new();
    let options = Options { mechanism: Wanted::Copy, ..Options::default() };
    let spaces = project.open_exactly(&options);
    begin(&spaces, "del-1");
    let place = worked(&spaces, "exec-1", "build");
    assert_eq!(spaces.look(&place).unwrap().files_changed, ["exec-1.txt"]);
    merge(&spaces, &keep(&spaces, &place));
    spaces.remove(&place).unwrap();
    assert_gone(&project, spaces);
}

#[test]
fn what_is_deleted_however_deep_takes_nothing_with_it_that_a_link_leads_to() {
    let home = TempDir::new().unwrap();
    write(home.path(), "outside/precious.txt", "precious\n");
    let top = home.path().join("top");
    let bottom = dig(&top, MANY);
    rustix::fs::symlinkat(home.path().join("outside"), &bottom, "away").unwrap();
    drop(bottom);
    symlink(home.path().join("outside"), top.join("here")).unwrap();
    symlink("nowhere", home.path().join("link")).unwrap();
    depths::remove(&top).unwrap();
    depths::remove(&home.path().join("link")).unwrap();
    depths::remove(&home.path().join("was/never/there")).unwrap();
    let left: Vec<_> =
        fs::read_dir(home.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left, ["outside"]);
    assert!(home.path().join("outside/precious.txt").exists());
}

#[test]
fn what_is_ignored_and_cannot_be_read_keeps_nothing_from_being_kept() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "precious.txt", "precious\n");
        write(&place.root, "build/cared/for.txt", "added all the same\n");
        write(&place.root, "src/build/x.o", "x\n");
        git(&place.root, "add -f build/cared/for.txt");
        let folder = place.root.join("src/build/broken");
        fs::create_dir(&folder).unwrap();
        // A folder of a process that is gone cannot be listed, whoever asks.
        let mut process = Command::new("sleep").arg("600").spawn().unwrap();
        let of_process = format!("/proc/{}/fd", process.id());
        let mounted = Command::new("mount").args(["--bind", &of_process]).arg(&folder).output();
        process.kill().unwrap();
        process.wait().unwrap();
        if !mounted.unwrap().status.success() {
            eprintln!("SKIPPED: nothing can be mounted here");
            return;
        }
        assert!(fs::read_dir(&folder).is_err());
        let kept = spaces.keep(&place, &note());
        assert!(Command::new("umount").arg(&folder).status().unwrap().success());
        let files = kept_files(&project, &kept.unwrap().unwrap());
        let expected = ".gitignore\nREADME.md\nbuild/cared/for.txt\nprecious.txt\nsrc/a.txt";
        assert_eq!(files, expected);
        spaces.remove(&place).unwrap();
    });
}
