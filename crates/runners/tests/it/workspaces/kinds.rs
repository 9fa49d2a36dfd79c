//! Paths that change what they are: files, folders and links in each other's place.

mod repository;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use legation_runners::workspace::{Error, From, How, Merge, Options, Spaces, Wanted};

use super::project::{Project, conflicts, create, keep, merge, read, start, wanted, write};

/// Everything below a folder but what is git's and ours: what it is and what it holds.
fn all(top: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(top)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let name = path.strip_prefix(top).unwrap().display().to_string();
            if name == ".git" || name == ".gitignore" {
                continue;
            }
            if kind.is_dir() {
                found.push(format!("{name}/"));
                folders.push(path);
            } else if kind.is_symlink() {
                found.push(format!("{name} -> {}", fs::read_link(&path).unwrap().display()));
            } else {
                found.push(format!("{name}: {}", fs::read_to_string(&path).unwrap().trim_end()));
            }
        }
    }
    found.sort();
    found
}

/// The files that a refusal names.
fn named(result: Result<impl std::fmt::Debug, Error>) -> Vec<String> {
    let error = result.unwrap_err();
    let (Error::Refused { files, .. } | Error::Unfit { files, .. }) = error else {
        panic!("{error}")
    };
    files
}

/// A result that was made by this work.
fn result(project: &Project, work: impl Fn(&Path)) -> Spaces {
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    work(&place.root);
    merge(&spaces, &keep(&spaces, &place));
    spaces.remove(&place).unwrap();
    spaces
}

/// A folder becomes a file, and other files change with it.
fn folder_to_file(root: &Path) {
    fs::remove_dir_all(root.join("d")).unwrap();
    write(root, "d", "file\n");
    write(root, "a", "changed\n");
    write(root, "b", "new\n");
}

fn plain() -> Project {
    let project = Project::plain();
    project.write("d/1", "1\n");
    project.write("a", "a\n");
    project
}

#[test]
fn an_empty_folder_of_the_user_gives_way_to_a_file() {
    let project = plain();
    fs::create_dir_all(project.dir().join("d/e/f")).unwrap();
    let spaces = result(&project, folder_to_file);
    spaces.apply("del-1", How::Auto).unwrap();
    assert_eq!(all(&project.dir()), ["a: changed", "b: new", "d: file"]);
    spaces.revert("del-1").unwrap();
    assert_eq!(all(&project.dir()), ["a: a", "d/", "d/1: 1"]);
}

#[test]
fn a_step_that_builds_on_a_file_in_an_empty_folders_place_has_it() {
    let project = plain();
    fs::create_dir_all(project.dir().join("d/e")).unwrap();
    let spaces = project.open();
    let first = create(&spaces, "exec-1");
    folder_to_file(&first.root);
    let mut next = wanted("del-1", "exec-2");
    next.with = vec![keep(&spaces, &first).commit];
    let next = spaces.create(&next).unwrap();
    assert_eq!(all(&next.root), ["a: changed", "b: new", "d: file"]);
}

#[test]
fn files_of_the_user_in_a_folder_that_would_go_are_named_and_nothing_changes() {
    let project = plain();
    let spaces = result(&project, folder_to_file);
    project.write("d/mine", "mine\n");
    project.write("d/sub/.git/HEAD", "a repository\n");
    let before = all(&project.dir());
    assert_eq!(named(spaces.apply("del-1", How::Auto)), ["d/mine", "d/sub/.git"]);
    assert_eq!(all(&project.dir()), before);
    let project = plain();
    let spaces = result(&project, |root| write(root, "n/x", "x\n"));
    project.write("n", "mine\n");
    assert_eq!(named(spaces.apply("del-1", How::Auto)), ["n"]);
}

#[test]
fn what_fails_in_the_middle_is_put_back() {
    let project = plain();
    project.write("y/old", "old\n");
    let spaces = result(&project, |root| {
        folder_to_file(root);
        write(root, "c/deep/new", "new\n");
        write(root, "y/old", "changed\n");
    });
    let before = all(&project.dir());
    // What something is mounted on cannot be moved, nor can what is in a closed folder.
    let closed = project.dir().join("y");
    let mount = |program: &str, args: &[&str]| {
        let done = Command::new(program).args(args).current_dir(&closed).output();
        done.is_ok_and(|output| output.status.success())
    };
    let is_mounted = mount("mount", &["--bind", "old", "old"]);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    let failed = spaces.apply("del-1", How::Auto).unwrap_err().to_string();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(!is_mounted || mount("umount", &["old"]));
    assert!(failed.contains("y/old"), "{failed}");
    assert_eq!(all(&project.dir()), before);
    spaces.apply("del-1", How::Auto).unwrap();
    assert_eq!(project.read("d") + &project.read("y/old"), "file\nchanged\n");
}

#[test]
fn a_link_to_a_folder_becomes_a_folder_without_a_repository() {
    let project = plain();
    symlink("d", project.dir().join("link")).unwrap();
    let spaces = result(&project, |root| {
        fs::remove_file(root.join("link")).unwrap();
        write(root, "link/1", "other\n");
    });
    spaces.apply("del-1", How::Auto).unwrap();
    assert_eq!(all(&project.dir()), ["a: a", "d/", "d/1: 1", "link/", "link/1: other"]);
    spaces.revert("del-1").unwrap();
    assert_eq!(all(&project.dir()), ["a: a", "d/", "d/1: 1", "link -> d"]);
}

#[test]
fn a_nested_result_that_changes_what_a_path_is_comes_back_to_a_copy() {
    let project = plain();
    fs::create_dir_all(project.dir().join("d/e")).unwrap();
    symlink("/etc", project.dir().join("link")).unwrap();
    let spaces = project.open();
    let parent = create(&spaces, "exec-1");
    spaces.begin(&start("del-2", From::Attempt("exec-1".into()))).unwrap();
    let child = spaces.create(&wanted("del-2", "exec-2")).unwrap();
    folder_to_file(&child.root);
    fs::remove_file(child.root.join("link")).unwrap();
    write(&child.root, "link/1", "1\n");
    spaces.merge("del-2", &keep(&spaces, &child)).unwrap();
    write(&parent.root, "d/mine", "mine\n");
    assert_eq!(conflicts(spaces.bring(&parent, "del-2").unwrap()), ["d"]);
    assert_eq!(read(&parent.root, "a"), "a\n");
    fs::remove_file(parent.root.join("d/mine")).unwrap();
    assert!(matches!(spaces.bring(&parent, "del-2").unwrap(), Merge::Clean { .. }));
    assert_eq!(all(&parent.root), ["a: changed", "b: new", "d: file", "link/", "link/1: 1"]);
}

/// A repository with a folder, a file, and a link to the folder.
fn repository() -> Project {
    let project = Project::empty();
    project.write(".gitignore", "*.log\n");
    project.write("d/1", "1\n");
    project.write("f", "f\n");
    symlink("d", project.dir().join("link")).unwrap();
    project.commit("first");
    project
}

const BEFORE: [&str; 4] = ["d/", "d/1: 1", "f: f", "link -> d"];

/// Each is made something else.
fn all_change(root: &Path) {
    fs::remove_dir_all(root.join("d")).unwrap();
    write(root, "d", "file\n");
    fs::remove_file(root.join("f")).unwrap();
    write(root, "f/x", "x\n");
    fs::remove_file(root.join("link")).unwrap();
    write(root, "link/1", "1\n");
}

const AFTER: [&str; 5] = ["d: file", "f/", "f/x: x", "link/", "link/1: 1"];

#[test]
fn copies_of_a_repository_change_what_a_path_is_too() {
    let project = repository();
    let options = Options { mechanism: Wanted::Copy, ..Options::default() };
    let spaces = project.open_exactly(&options);
    let place = create(&spaces, "exec-1");
    all_change(&place.root);
    merge(&spaces, &keep(&spaces, &place));
    spaces.apply("del-1", How::Auto).unwrap();
    assert_eq!(all(&project.dir()), AFTER);
    spaces.revert("del-1").unwrap();
    assert_eq!(all(&project.dir()), BEFORE);
}
