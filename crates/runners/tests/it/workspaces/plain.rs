//! Folders that no repository covers: the same life, with copies.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use expect_test::expect;
use legation_runners::workspace::{Applied, Error, From, How, Merge, Options, Seen};

use super::project::{
    Project, begin, conflicts, create, files, keep, make_executable, merge, note, read, start,
    wanted, write,
};

fn folder() -> Project {
    let project = Project::plain();
    project.write("notes.txt", "one\n");
    project.write("src/deep/a b.txt", "a\n");
    project.write("run.sh", "#!/bin/sh\n");
    make_executable(&project.dir().join("run.sh"));
    project.write(".legation/legation.db", "journal");
    symlink("/etc", project.dir().join("way out")).unwrap();
    fs::create_dir(project.dir().join("empty")).unwrap();
    project
}

#[test]
fn work_goes_from_a_copy_to_the_result_and_then_to_the_user() {
    let project = folder();
    let spaces = project.open();
    assert!(!spaces.is_git());
    let place = create(&spaces, "exec-1");
    assert!(!place.root.join(".legation").exists());
    assert!(place.root.join("empty").is_dir());
    assert_eq!(fs::read_link(place.root.join("way out")).unwrap().to_str(), Some("/etc"));
    assert_eq!(fs::metadata(place.root.join("run.sh")).unwrap().mode() & 0o111, 0o111);
    write(&place.root, "notes.txt", "two\n");
    write(&place.root, "neu – ü.txt", "new\n");
    fs::remove_file(place.root.join("src/deep/a b.txt")).unwrap();
    let changed = ["neu – ü.txt", "notes.txt", "src/deep/a b.txt"];
    assert_eq!(files(&spaces, &place), changed);
    let kept = keep(&spaces, &place);
    merge(&spaces, &kept);
    spaces.remove(&place).unwrap();
    assert!(spaces.list().unwrap().is_empty());
    assert_eq!(project.read("notes.txt"), "one\n");
    assert!(!spaces.is_applied("del-1").unwrap());
    let applied = spaces.apply("del-1", How::Auto).unwrap();
    assert!(spaces.is_applied("del-1").unwrap());
    assert_eq!(applied, Applied { files: changed.map(str::to_owned).to_vec(), commit: None });
    assert_eq!(project.read("notes.txt") + &project.read("neu – ü.txt"), "two\nnew\n");
    assert!(!project.dir().join("src").exists());
    assert_eq!(spaces.merge("del-1", &kept).unwrap(), Merge::Nothing);
    assert_eq!(fs::read_dir(project.dir()).unwrap().count(), 6);
}

#[test]
fn a_difference_reads_like_gits() {
    let project = folder();
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    write(&place.root, "notes.txt", "two\n");
    write(&place.root, "neu ü.txt", "diff --git b/x b/x\n");
    fs::remove_file(place.root.join("run.sh")).unwrap();
    fs::remove_file(place.root.join("src/deep/a b.txt")).unwrap();
    let kept = keep(&spaces, &place);
    assert_eq!(spaces.diff("del-1", None).unwrap(), "");
    merge(&spaces, &kept);
    let shown = spaces.diff("del-1", None).unwrap();
    expect![[r#"
        diff --git "a/neu \303\274.txt" "b/neu \303\274.txt"
        new file mode 100644
        index 0000000..5f54646
        --- /dev/null
        +++ "b/neu \303\274.txt"	
        @@ -0,0 +1 @@
        +diff --git b/x b/x
        diff --git a/notes.txt b/notes.txt
        index 5626abf..f719efd 100644
        --- a/notes.txt
        +++ b/notes.txt
        @@ -1 +1 @@
        -one
        +two
        diff --git a/run.sh b/run.sh
        deleted file mode 100755
        index 1a24852..0000000
        --- a/run.sh
        +++ /dev/null
        @@ -1 +0,0 @@
        -#!/bin/sh
        diff --git a/src/deep/a b.txt b/src/deep/a b.txt
        deleted file mode 100644
        index 7898192..0000000
        --- a/src/deep/a b.txt	
        +++ /dev/null
        @@ -1 +0,0 @@
        -a
    "#]]
    .assert_eq(&shown);
    assert_eq!(spaces.diff("del-1", Some(&kept)).unwrap(), shown);
}

#[test]
fn what_one_side_changed_is_merged_and_what_both_changed_is_a_conflict() {
    let project = folder();
    let spaces = project.open();
    let places = ["exec-1", "exec-2", "exec-3", "exec-4"].map(|attempt| create(&spaces, attempt));
    let [first, second, third, fourth] = &places;
    write(&first.root, "notes.txt", "first\n");
    write(&second.root, "run.sh", "second\n");
    write(&third.root, "notes.txt", "third\n");
    write(&third.root, "run.sh", "second\n");
    write(&fourth.root, "notes.txt", "first\n");
    write(&fourth.root, "four.txt", "x\n");
    fs::set_permissions(
        third.root.join("run.sh"),
        fs::metadata(second.root.join("run.sh")).unwrap().permissions(),
    )
    .unwrap();
    merge(&spaces, &keep(&spaces, first));
    merge(&spaces, &keep(&spaces, second));
    assert_eq!(conflicts(spaces.merge("del-1", &keep(&spaces, third)).unwrap()), ["notes.txt"]);
    merge(&spaces, &keep(&spaces, fourth));
    assert_eq!(
        spaces.apply("del-1", How::Auto).unwrap().files,
        ["four.txt", "notes.txt", "run.sh"]
    );
}

#[test]
fn a_file_and_a_folder_of_one_name_are_a_conflict() {
    let project = folder();
    let spaces = project.open();
    let (first, second) = (create(&spaces, "exec-1"), create(&spaces, "exec-2"));
    write(&first.root, "thing/inner.txt", "x\n");
    write(&second.root, "thing", "x\n");
    let kept = [keep(&spaces, &first), keep(&spaces, &second)];
    merge(&spaces, &kept[0]);
    assert_eq!(conflicts(spaces.merge("del-1", &kept[1]).unwrap()), ["thing"]);
    assert!(spaces.rollback("del-1").unwrap().is_some());
    merge(&spaces, &kept[1]);
    assert_eq!(conflicts(spaces.merge("del-1", &kept[0]).unwrap()), ["thing/inner.txt"]);
}

#[test]
fn a_folder_replaced_by_a_file_and_back_again_can_be_applied() {
    let project = folder();
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    fs::remove_dir_all(place.root.join("src")).unwrap();
    write(&place.root, "src", "a file now\n");
    fs::remove_file(place.root.join("notes.txt")).unwrap();
    write(&place.root, "notes.txt/inner.txt", "a folder now\n");
    merge(&spaces, &keep(&spaces, &place));
    spaces.apply("del-1", How::Auto).unwrap();
    assert_eq!(
        project.read("src") + &project.read("notes.txt/inner.txt"),
        "a file now\na folder now\n"
    );
}

#[test]
fn a_step_sees_the_files_of_those_it_depends_on() {
    let project = folder();
    let spaces = project.open();
    let first = create(&spaces, "exec-1");
    write(&first.root, "one.txt", "1\n");
    let one = keep(&spaces, &first);
    let mut second = wanted("del-1", "exec-2");
    second.with = vec![one.commit];
    let second = spaces.create(&second).unwrap();
    assert!(files(&spaces, &second).is_empty());
    write(&second.root, "two.txt", "2\n");
    let two = keep(&spaces, &second);
    let mut third = wanted("del-1", "exec-3");
    third.with = vec![two.commit.clone()];
    let third = spaces.create(&third).unwrap();
    assert_eq!(read(&third.root, "one.txt") + &read(&third.root, "two.txt"), "1\n2\n");
    let rival = create(&spaces, "exec-4");
    write(&rival.root, "one.txt", "other\n");
    let mut fifth = wanted("del-1", "exec-5");
    fifth.with = vec![two.commit, keep(&spaces, &rival).commit];
    let refused = spaces.create(&fifth).unwrap_err();
    assert!(matches!(&refused, Error::Conflict { files } if files == &["one.txt"]), "{refused}");
}

#[test]
fn touching_changes_nothing_and_deleting_everything_is_an_answer() {
    let project = folder();
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    write(&place.root, "notes.txt", "one\n");
    assert!(files(&spaces, &place).is_empty());
    assert_eq!(spaces.keep(&place, &note()).unwrap(), None);
    fs::remove_dir_all(&place.root).unwrap();
    assert_eq!(spaces.look(&place).unwrap(), Seen::default());
    spaces.remove(&place).unwrap();
}

#[test]
fn a_nested_result_comes_back_to_the_parents_copy() {
    let project = folder();
    let spaces = project.open();
    let parent = create(&spaces, "exec-1");
    write(&parent.root, "parent.txt", "p\n");
    spaces.begin(&start("del-2", From::Attempt("exec-1".into()))).unwrap();
    let child = spaces.create(&wanted("del-2", "exec-2")).unwrap();
    assert_eq!(read(&child.root, "parent.txt"), "p\n");
    write(&child.root, "notes.txt", "child\n");
    write(&child.root, "out/new.txt", "child\n");
    assert_eq!(spaces.bring(&parent, "del-2").unwrap(), Merge::Nothing);
    assert!(matches!(spaces.merge("del-2", &keep(&spaces, &child)).unwrap(), Merge::Clean { .. }));
    symlink(project.outside("elsewhere"), parent.root.join("out")).unwrap();
    assert_eq!(conflicts(spaces.bring(&parent, "del-2").unwrap()), ["out/new.txt"]);
    assert_eq!(read(&parent.root, "notes.txt"), "one\n");
    fs::remove_file(parent.root.join("out")).unwrap();
    // What stands against what is shown.
    write(&parent.root, "notes.txt", "parent\n");
    let Merge::Conflict { files: conflict, hunks } = spaces.bring(&parent, "del-2").unwrap() else {
        panic!("both changed it");
    };
    let sides: Vec<_> = hunks.iter().map(|hunk| format!("{hunk:?}")).collect();
    assert_eq!((conflict.len(), sides.len()), (1, 1));
    assert!(sides[0].contains("parent") && sides[0].contains("child"), "{sides:?}");
    write(&parent.root, "notes.txt", "one\n");
    assert!(matches!(spaces.bring(&parent, "del-2").unwrap(), Merge::Clean { .. }));
    assert_eq!(files(&spaces, &parent), ["notes.txt", "out/new.txt", "parent.txt"]);
    assert_eq!(spaces.bring(&parent, "del-2").unwrap(), Merge::Nothing);
}

#[test]
fn apply_refuses_files_that_changed_meanwhile_and_then_changes_nothing() {
    let project = folder();
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    write(&place.root, "notes.txt", "two\n");
    write(&place.root, "added.txt", "x\n");
    let refused = spaces.apply("del-1", How::Auto).unwrap_err().to_string();
    expect!["del-1 has no result yet; wait until one of its subtasks was merged"]
        .assert_eq(&refused);
    merge(&spaces, &keep(&spaces, &place));
    project.write("notes.txt", "mine\n");
    let refused = spaces.apply("del-1", How::Auto).unwrap_err().to_string();
    expect!["files have changed since the work began: notes.txt; nothing was changed; move yours away or bring them over by hand"].assert_eq(&refused);
    assert_eq!(project.read("notes.txt"), "mine\n");
    assert!(!project.dir().join("added.txt").exists());
}

#[test]
fn a_folder_over_the_limit_is_not_copied() {
    let project = folder();
    let options = Options { copy_limit_bytes: 10, ..Options::default() };
    let refused = project.open_with(options).begin(&start("del-1", From::User)).unwrap_err();
    assert!(refused.to_string().contains("raise workspace.copyLimit"), "{refused}");
    assert!(matches!(refused, Error::TooLarge { limit_bytes: 10, .. }));
}

#[test]
fn a_result_goes_back_to_its_base() {
    let project = folder();
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    write(&place.root, "notes.txt", "two\n");
    let kept = keep(&spaces, &place);
    let tip = merge(&spaces, &kept);
    assert_eq!(spaces.rollback("del-1").unwrap(), Some(tip.clone()));
    assert_eq!(spaces.rollback("del-1").unwrap(), None);
    assert_ne!(merge(&spaces, &kept), tip);
}

#[test]
fn a_state_folder_inside_the_project_is_not_copied_into_itself() {
    let project = folder();
    let state = project.dir().join("state");
    let spaces = legation_runners::workspace::Spaces::open(&project.dir(), &state).unwrap();
    begin(&spaces, "del-1");
    let place = spaces.create(&wanted("del-1", "exec-1")).unwrap();
    assert!(place.root.join("notes.txt").exists());
    assert!(!place.root.join("state").exists());
}

#[test]
fn subtasks_that_begin_at_once_share_one_base() {
    for _ in 0..5 {
        let project = folder();
        let spaces = project.open();
        let made: Vec<_> = std::thread::scope(|scope| {
            let begin = |n: usize| {
                let spaces = &spaces;
                scope.spawn(move || create(spaces, &format!("exec-{n}")))
            };
            let all: Vec<_> = (0..8).map(begin).collect();
            all.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(made.iter().all(|place| place.root.join("notes.txt").exists()));
    }
}

#[test]
fn a_folder_that_others_added_to_does_not_become_a_file() {
    let project = folder();
    let spaces = project.open();
    let (first, second) = (create(&spaces, "exec-1"), create(&spaces, "exec-2"));
    write(&first.root, "src/more.txt", "x\n");
    fs::remove_dir_all(second.root.join("src")).unwrap();
    write(&second.root, "src", "a file now\n");
    let kept = [keep(&spaces, &first), keep(&spaces, &second)];
    merge(&spaces, &kept[0]);
    assert_eq!(conflicts(spaces.merge("del-1", &kept[1]).unwrap()), ["src"]);
}

#[test]
fn nobody_gets_the_rights_of_whoever_applies_work() {
    let project = folder();
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    write(&place.root, "tool", "#!/bin/sh\n");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    fs::set_permissions(place.root.join("tool"), fs::Permissions::from_mode(0o6755)).unwrap();
    assert_eq!(mode(&place.root.join("tool")), 0o6755);
    merge(&spaces, &keep(&spaces, &place));
    spaces.apply("del-1", How::Auto).unwrap();
    assert_eq!(mode(&project.dir().join("tool")), 0o755);
}
