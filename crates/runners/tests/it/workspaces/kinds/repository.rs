//! In a repository: as git would do it, but nothing of the user's is ever overwritten.

use std::fs;

use legation_runners::workspace::{From, How};

use super::super::project::{in_every_way, start, write};
use super::{AFTER, BEFORE, all, all_change, named, repository, result};

#[test]
fn work_that_changes_what_a_path_is_is_applied_and_taken_back() {
    in_every_way(|| {
        for how in [How::Auto, How::Merge, How::Squash] {
            let project = repository();
            let spaces = result(&project, all_change);
            fs::create_dir_all(project.dir().join("d/empty")).unwrap();
            project.write("mine", "mine\n");
            project.git("add mine");
            project.git("commit -q -m mine");
            spaces.apply("del-1", how).unwrap();
            let mine = [AFTER.as_slice(), &["mine: mine"]].concat();
            assert_eq!(all(&project.dir()), mine, "{how:?}");
            assert_eq!(project.git("status --porcelain"), "");
            spaces.revert("del-1").unwrap();
            let mine = [BEFORE.as_slice(), &["mine: mine"]].concat();
            assert_eq!(all(&project.dir()), mine, "{how:?}");
            assert_eq!(project.git("status --porcelain"), "");
        }
    });
}

#[test]
fn work_on_uncommitted_files_may_change_what_a_path_is() {
    let project = repository();
    project.write("d/draft", "draft\n");
    let spaces = project.open();
    let mut dirty = start("del-1", From::User);
    dirty.include_dirty = true;
    spaces.begin(&dirty).unwrap();
    let spaces = result(&project, all_change);
    project.write("d/x.log", "ignored\n");
    assert_eq!(named(spaces.apply("del-1", How::Auto)), ["d/x.log"]);
    assert_eq!(project.read("d/draft"), "draft\n");
    fs::remove_file(project.dir().join("d/x.log")).unwrap();
    spaces.apply("del-1", How::Auto).unwrap();
    assert_eq!(all(&project.dir()), AFTER);
    spaces.revert("del-1").unwrap();
    let before = ["d/", "d/1: 1", "d/draft: draft", "f: f", "link -> d"];
    assert_eq!(all(&project.dir()), before);
}

#[test]
fn what_git_does_not_have_in_a_folder_that_would_go_is_named_and_nothing_changes() {
    let project = repository();
    let spaces = result(&project, all_change);
    project.write("d/mine", "mine\n");
    project.write("d/deep/x.log", "ignored\n");
    let before = all(&project.dir());
    assert_eq!(named(spaces.apply("del-1", How::Auto)), ["d/deep/x.log", "d/mine"]);
    assert_eq!(all(&project.dir()), before);
    fs::remove_file(project.dir().join("d/mine")).unwrap();
    fs::remove_dir_all(project.dir().join("d/deep")).unwrap();
    spaces.apply("del-1", How::Auto).unwrap();
    project.write("f/x.log", "ignored\n");
    assert_eq!(named(spaces.revert("del-1")), ["f/x.log"]);
    assert_eq!(project.read("f/x") + &project.read("f/x.log"), "x\nignored\n");
}

#[test]
fn a_file_of_the_user_where_a_folder_is_needed_is_named() {
    let project = repository();
    let spaces = result(&project, |root| write(root, "n/deep/x", "x\n"));
    project.write("n", "mine\n");
    assert_eq!(named(spaces.apply("del-1", How::Auto)), ["n"]);
    assert_eq!(project.read("n"), "mine\n");
}
