//! What git ignores is no part of a copy, nor of work in one.

use std::fs;

use legation_runners::workspace::{From, How, Options, Spaces, Wanted};

use super::project::{Project, create, files, keep, merge, read, start, wanted, write};

fn project() -> Project {
    let project = Project::new();
    project.write("src/kept.log", "tracked all the same\n");
    project.git("add -f src/kept.log");
    project.git("commit -q -m log");
    project.write(".git/info/exclude", ".env\n");
    project.write(".env", "SECRET\n");
    project.write("build/out/deep.o", "x\n");
    project.write("src/noise.log", "x\n");
    project.write("draft.txt", "not ignored\n");
    project
}

fn copies(project: &Project) -> Spaces {
    project.open_exactly(&Options { mechanism: Wanted::Copy, ..Options::default() })
}

#[test]
fn a_copy_leaves_out_what_git_ignores() {
    let project = project();
    let spaces = copies(&project);
    let place = create(&spaces, "exec-1");
    for name in [".env", "build", "src/noise.log"] {
        assert!(!place.root.join(name).exists(), "{name}");
    }
    assert_eq!(read(&place.root, "draft.txt"), "not ignored\n");
    assert_eq!(read(&place.root, "src/kept.log"), "tracked all the same\n");
}

#[test]
fn a_copy_of_a_folder_below_the_top_leaves_it_out_as_well() {
    let project = project();
    project.write("src/.env", "SECRET\n");
    let options = Options { mechanism: Wanted::Copy, ..Options::default() };
    let below = project.dir().join("src");
    let spaces = Spaces::open_with(&below, &project.state(), &options).unwrap();
    let place = create(&spaces, "exec-1");
    assert_eq!(read(&place.root, "a.txt"), "one\ntwo\nthree\nfour\nfive\n");
    assert!(!place.root.join(".env").exists() && !place.root.join("noise.log").exists());
    write(&place.root, "more.log", "x\n");
    write(&place.root, "kept.log", "changed\n");
    assert_eq!(files(&spaces, &place), ["kept.log"]);
}

#[test]
fn ignored_files_are_no_part_of_the_work_in_a_copy() {
    let project = project();
    let spaces = copies(&project);
    let place = create(&spaces, "exec-1");
    write(&place.root, ".env", "theirs\n");
    write(&place.root, "build/new.o", "x\n");
    write(&place.root, "target/x", "x\n");
    write(&place.root, ".gitignore", "*.log\nbuild/\ntarget/\n");
    write(&place.root, "src/kept.log", "changed\n");
    write(&place.root, "new.txt", "new\n");
    assert_eq!(files(&spaces, &place), [".gitignore", "new.txt", "src/kept.log"]);
    merge(&spaces, &keep(&spaces, &place));
    spaces.apply("del-1", How::Auto).unwrap();
    assert_eq!(project.read(".env"), "SECRET\n");
    assert!(!project.dir().join("build/new.o").exists());
    assert!(!project.dir().join("target").exists());
    assert_eq!(project.read("src/kept.log") + &project.read("new.txt"), "changed\nnew\n");
}

#[test]
fn what_the_user_includes_is_in_the_copy_and_stays_the_users() {
    let project = project();
    project.write(".worktreeinclude", ".env\nbuild/out\n");
    let spaces = copies(&project);
    let place = create(&spaces, "exec-1");
    assert_eq!(read(&place.root, ".env") + &read(&place.root, "build/out/deep.o"), "SECRET\nx\n");
    assert!(!place.root.join("src/noise.log").exists());
    // Those who work for it have it as well.
    spaces.begin(&start("del-2", From::Attempt("exec-1".into()))).unwrap();
    let child = spaces.create(&wanted("del-2", "exec-2")).unwrap();
    assert_eq!(read(&child.root, ".env"), "SECRET\n");
    write(&place.root, ".env", "theirs\n");
    fs::remove_file(place.root.join("build/out/deep.o")).unwrap();
    write(&place.root, "new.txt", "new\n");
    merge(&spaces, &keep(&spaces, &place));
    assert_eq!(spaces.apply("del-1", How::Auto).unwrap().files, ["new.txt"]);
    assert_eq!(project.read(".env") + &project.read("build/out/deep.o"), "SECRET\nx\n");
}

#[test]
fn outside_of_a_repository_every_file_is_copied() {
    let project = Project::plain();
    project.write(".gitignore", "*.log\n");
    project.write("x.log", "x\n");
    let place = create(&copies(&project), "exec-1");
    assert_eq!(read(&place.root, "x.log"), "x\n");
}

#[test]
fn a_pipe_in_the_place_of_rules_holds_nobody_up_over_a_copy() {
    let project = project();
    let spaces = copies(&project);
    let place = create(&spaces, "exec-1");
    write(&place.root, "src/work.txt", "mine\n");
    let pipe = place.root.join("src/.gitignore");
    let made = std::process::Command::new("mkfifo").arg(pipe).status().unwrap();
    assert!(made.success());
    assert_eq!(files(&spaces, &place), ["src/work.txt"]);
    keep(&spaces, &place);
}
