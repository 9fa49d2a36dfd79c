//! The merge queue: foreseen, tried out, moved on; and what is told of a conflict.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use expect_test::{Expect, expect};
use legation_runners::workspace::{Candidate, Error, Kept, New, Options, Outlook, Place, Spaces};

use super::project::{
    Project, conflicts, create, files, git, in_every_way, keep, merge, read, wanted, write,
};

fn foreseen(spaces: &Spaces, kept: &Kept) -> Candidate {
    match spaces.foresee("del-1", kept).unwrap() {
        Outlook::Fits(candidate) => candidate,
        other @ (Outlook::Conflict { .. } | Outlook::Nothing | Outlook::Held { .. }) => {
            panic!("{other:?}")
        }
    }
}

fn conflict(spaces: &Spaces, kept: &Kept, expected: &Expect) {
    let Outlook::Conflict { files, hunks } = spaces.foresee("del-1", kept).unwrap() else {
        panic!("it fits")
    };
    let hunks = hunks.iter().map(|hunk| match hunk.kind {
        Some(kind) => format!("{}: {kind:?}\n", hunk.file),
        None => format!("{}:{}\n{}\n", hunk.file, hunk.line, hunk.text),
    });
    expected.assert_eq(&format!("{}\n{}", files.join(" "), hunks.collect::<String>()));
}

/// Two attempts that write these files, the first of which is merged.
fn sides(project: &Project, one: &[(&str, &str)], other: &[(&str, &str)]) -> (Spaces, Kept) {
    let spaces = project.open();
    let (first, second) = (create(&spaces, "exec-1"), create(&spaces, "exec-2"));
    for (path, text) in one {
        write(&first.root, path, text);
    }
    for (path, text) in other {
        write(&second.root, path, text);
    }
    merge(&spaces, &keep(&spaces, &first));
    let kept = keep(&spaces, &second);
    (spaces, kept)
}

fn goes_step_by_step(project: &Project) {
    let spaces = project.open();
    let (first, second) = (create(&spaces, "exec-1"), create(&spaces, "exec-2"));
    write(&first.root, "one.txt", "1\n");
    write(&second.root, "two.txt", "2\n");
    let (one, two) = (keep(&spaces, &first), keep(&spaces, &second));
    let early = foreseen(&spaces, &two);
    let forward = foreseen(&spaces, &one);
    assert!(!spaces.is_untried(&one, &forward).unwrap(), "its own files were verified already");
    assert!(spaces.advance("del-1", &one, &forward).unwrap());
    assert!(!spaces.advance("del-1", &two, &early).unwrap(), "the result has moved since");
    assert_eq!(spaces.foresee("del-1", &one).unwrap(), Outlook::Nothing);
    let both = foreseen(&spaces, &two);
    assert!(spaces.is_untried(&two, &both).unwrap());
    let stage = spaces.rehearse(&second, &both).unwrap();
    assert_eq!(read(&stage.root, "one.txt") + &read(&stage.root, "two.txt"), "1\n2\n");
    assert!(stage.root != second.root && stage.attempt != second.attempt);
    assert_eq!(spaces.rehearse(&second, &both).unwrap(), stage, "as after a crash");
    write(&stage.root, "build.log", "x\n");
    spaces.end_rehearsal(&stage).unwrap();
    assert!(!stage.root.join("one.txt").exists());
    assert_eq!(spaces.list().unwrap(), ["exec-1", "exec-2"]);
    assert!(spaces.advance("del-1", &two, &both).unwrap());
    assert_eq!(spaces.foresee("del-1", &two).unwrap(), Outlook::Nothing);
    let diff = spaces.diff("del-1", None).unwrap();
    assert!(diff.contains("+1") && diff.contains("+2") && !diff.contains("build.log"), "{diff}");
    let refused = spaces.end_rehearsal(&second).unwrap_err();
    assert!(matches!(&refused, Error::NotKept { attempt } if attempt == "exec-2"), "{refused}");
}

#[test]
fn a_merge_is_foreseen_tried_out_and_only_then_made() {
    in_every_way(|| goes_step_by_step(&Project::new()));
    goes_step_by_step(&Project::plain());
}

#[test]
fn what_has_the_same_files_in_another_order_is_not_new() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let (first, second) = (create(&spaces, "exec-1"), create(&spaces, "exec-2"));
        write(&first.root, "one.txt", "1\n");
        write(&second.root, "two.txt", "2\n");
        let (one, two) = (keep(&spaces, &first), keep(&spaces, &second));
        merge(&spaces, &one);
        merge(&spaces, &two);
        let mut third = wanted("del-1", "exec-3");
        third.with = vec![one.commit, two.commit];
        let third = spaces.create(&third).unwrap();
        write(&third.root, "three.txt", "3\n");
        let three = keep(&spaces, &third);
        let merged = foreseen(&spaces, &three);
        assert!(!merged.is_forward && !spaces.is_untried(&three, &merged).unwrap());
    });
}

#[test]
fn a_conflict_is_told_with_its_lines() {
    let before = "a\nb\nc\nd\ne\nf\ng\n";
    let one = [("same.txt", "a\nB\nc\nd\ne\nf\nONE\n"), ("new.txt", "mine\n")];
    let other = [("same.txt", "a\nb, too\nc\nd\ne\nf\nOTHER\n"), ("new.txt", "yours\n")];
    let told = expect![[r#"
        new.txt same.txt
        new.txt:1
        <<<<<<< result
        mine
        =======
        yours
        >>>>>>> subtask
        same.txt:2
        <<<<<<< result
        B
        =======
        b, too
        >>>>>>> subtask
        same.txt:11
        <<<<<<< result
        ONE
        =======
        OTHER
        >>>>>>> subtask
    "#]];
    in_every_way(|| {
        let project = Project::new();
        project.write("same.txt", before);
        project.git("add same.txt");
        project.git("commit -qm same");
        let (spaces, kept) = sides(&project, &one, &other);
        conflict(&spaces, &kept, &told);
    });
}

#[test]
fn a_conflict_in_a_plain_folder_is_told_with_its_lines() {
    let project = Project::plain();
    project.write("same.txt", "a\nb\n");
    let (spaces, kept) = sides(&project, &[("same.txt", "a\nB\n")], &[("same.txt", "a\nb2\n")]);
    conflict(
        &spaces,
        &kept,
        &expect![[r#"
        same.txt
        same.txt:2
        <<<<<<< result
        B
        =======
        b2
        >>>>>>> subtask
    "#]],
    );
}

/// Files that can come to stand against each other in every way that has no lines.
fn many_kinds(project: &Project) {
    for (path, text) in [
        ("bin", "\0before"),
        ("here-gone", "1\n"),
        ("there-gone", "1\n"),
        ("folder", "1\n"),
        ("sort", "1\n"),
    ] {
        project.write(path, text);
    }
    symlink("before", project.dir().join("link")).unwrap();
}

/// The work of the first of two attempts that meets the other's in each of these files.
fn one_side(root: &Path) {
    for gone in ["here-gone", "folder", "sort", "link"] {
        fs::remove_file(root.join(gone)).unwrap();
    }
    for (path, text) in
        [("bin", "\0one"), ("there-gone", "2\n"), ("folder/in", "x\n"), ("mode", "same\n")]
    {
        write(root, path, text);
    }
    fs::set_permissions(root.join("mode"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("elsewhere", root.join("sort")).unwrap();
    symlink("one", root.join("link")).unwrap();
}

fn other_side(root: &Path) {
    for gone in ["there-gone", "link"] {
        fs::remove_file(root.join(gone)).unwrap();
    }
    for (path, text) in
        [("bin", "\0other"), ("here-gone", "2\n"), ("folder", "2\n"), ("mode", "same\n")]
    {
        write(root, path, text);
    }
    write(root, "sort", "2\n");
    symlink("other", root.join("link")).unwrap();
}

fn meets_in_many_ways(project: &Project) {
    let spaces = project.open();
    let (first, second) = (create(&spaces, "exec-1"), create(&spaces, "exec-2"));
    one_side(&first.root);
    other_side(&second.root);
    merge(&spaces, &keep(&spaces, &first));
    conflict(
        &spaces,
        &keep(&spaces, &second),
        &expect![[r#"
        bin folder here-gone link mode sort there-gone
        bin: Binary
        folder: Folder
        here-gone: FirstDeleted
        link: Link
        mode: Mode
        sort: Types
        there-gone: SecondDeleted
    "#]],
    );
}

#[test]
fn what_has_no_lines_is_told_with_the_kind_of_conflict_that_it_is() {
    in_every_way(|| {
        let project = Project::new();
        many_kinds(&project);
        project.commit("many");
        meets_in_many_ways(&project);
    });
}

#[test]
fn what_has_no_lines_is_told_in_a_plain_folder_with_the_same_kinds() {
    let project = Project::plain();
    many_kinds(&project);
    meets_in_many_ways(&project);
}

#[test]
fn what_both_changed_in_different_places_of_a_plain_folders_file_is_told_as_that() {
    let project = Project::plain();
    project.write("same.txt", "a\nb\nc\nd\ne\nf\ng\n");
    let one = [("same.txt", "A\nb\nc\nd\ne\nf\ng\n")];
    let other = [("same.txt", "a\nb\nc\nd\ne\nf\nG\n")];
    let (spaces, kept) = sides(&project, &one, &other);
    conflict(
        &spaces,
        &kept,
        &expect![[r#"
        same.txt
        same.txt: Whole
    "#]],
    );
}

#[test]
fn a_file_that_one_side_renamed_has_its_lines_and_one_that_both_did_is_told_as_that() {
    in_every_way(|| {
        let project = Project::new();
        project.write("old.txt", "1\n2\n3\n4\n5\n6\n");
        project.write("two.txt", "7\n8\n9\n10\n11\n12\n");
        project.commit("before");
        let spaces = project.open();
        let (first, second) = (create(&spaces, "exec-1"), create(&spaces, "exec-2"));
        fs::rename(first.root.join("old.txt"), first.root.join("new.txt")).unwrap();
        fs::rename(first.root.join("two.txt"), first.root.join("two1.txt")).unwrap();
        fs::rename(second.root.join("two.txt"), second.root.join("two2.txt")).unwrap();
        write(&first.root, "new.txt", "1\n2\n3\nfour\n5\n6\n");
        write(&second.root, "old.txt", "1\n2\n3\nvier\n5\n6\n");
        merge(&spaces, &keep(&spaces, &first));
        conflict(
            &spaces,
            &keep(&spaces, &second),
            &expect![[r#"
            new.txt two.txt two1.txt two2.txt
            new.txt:4
            <<<<<<< result
            four
            =======
            vier
            >>>>>>> subtask
            two.txt: Moved
            two1.txt: Moved
            two2.txt: Moved
        "#]],
        );
    });
}

#[test]
fn what_looks_like_a_marker_is_text() {
    let project = Project::new();
    let fake = "<<<<<<< result\nx\n=======\ny\n>>>>>>> subtask\n";
    let (spaces, kept) = sides(&project, &[("a.txt", "one\n")], &[("a.txt", fake)]);
    conflict(
        &spaces,
        &kept,
        &expect![[r#"
        a.txt
        a.txt:1
        <<<<<<< result
        one
        =======
        <<<<<<< result
        x
        =======
        y
        >>>>>>> subtask
        >>>>>>> subtask
    "#]],
    );
}

#[test]
fn however_large_a_conflict_is_what_is_told_of_it_is_small() {
    let project = Project::new();
    let long = |word: &str| format!("{}\n", word.repeat(300)).repeat(500);
    let (one, other) = (long("x"), long("y"));
    let files: Vec<String> = (0..40).map(|number| format!("f{number}.txt")).collect();
    let of =
        |text: &'static str| files.iter().map(|file| (file.as_str(), text)).collect::<Vec<_>>();
    let (one, other): (&'static str, &'static str) = (one.leak(), other.leak());
    let (spaces, kept) = sides(&project, &of(one), &of(other));
    let Outlook::Conflict { files, hunks } = spaces.foresee("del-1", &kept).unwrap() else {
        panic!("it fits")
    };
    let bytes: usize = hunks.iter().map(|hunk| hunk.text.len()).sum();
    assert_eq!((files.len(), hunks.len(), bytes < 10_000), (40, 1, true), "{bytes}");
    let lines: Vec<&str> = hunks.iter().flat_map(|hunk| hunk.text.lines()).collect();
    assert!(lines.iter().all(|line| line.chars().count() <= 200), "{lines:?}");
    assert!(lines.contains(&"[961 lines left out]") && lines.contains(&"======="), "{lines:?}");
}

#[test]
fn what_a_crash_left_of_a_trial_goes_with_the_next_start_unless_it_may_be_in_use() {
    in_every_way(|| {
        let project = Project::new();
        let (spaces, kept) = sides(&project, &[("a.txt", "1\n")], &[("b.txt", "2\n")]);
        let second = spaces.find("exec-2").unwrap().unwrap();
        let both = foreseen(&spaces, &kept);
        let stage = spaces.rehearse(&second, &both).unwrap();
        drop(spaces);
        let spaces = project.open();
        assert_eq!(
            spaces.rehearsals("exec-2").unwrap(),
            std::slice::from_ref(&stage),
            "it is taken up again"
        );
        assert_eq!(spaces.rehearsals("exec-1").unwrap(), []);
        spaces.remove(&second).unwrap();
        drop(spaces);
        let spaces = project.open();
        assert_eq!(spaces.rehearsals("exec-2").unwrap(), []);
        assert!(!stage.root.exists());
        assert_eq!(spaces.list().unwrap(), ["exec-1"]);
    });
}

#[test]
fn a_conflict_of_a_folder_with_a_file_has_the_name_of_both() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let (first, second) = (create(&spaces, "exec-1"), create(&spaces, "exec-2"));
        write(&first.root, "n/x", "x\n");
        write(&second.root, "n", "file\n");
        merge(&spaces, &keep(&spaces, &first));
        let kept = keep(&spaces, &second);
        assert_eq!(conflicts(spaces.merge("del-1", &kept).unwrap()), ["n"]);
    });
}

/// The workspace of a step after one that has made files, some of them beside those of the user.
fn second_step(spaces: &Spaces) -> Place {
    let first = create(spaces, "exec-1");
    for path in ["top.txt", "src/made.txt", "made/one.txt", "made/deep/two.txt", "moved/x.txt"] {
        write(&first.root, path, "made\n");
    }
    let kept = keep(spaces, &first);
    merge(spaces, &kept);
    let new = New { with: vec![kept.commit], ..wanted("del-1", "exec-2") };
    spaces.create(&new).unwrap()
}

#[test]
fn what_a_step_deletes_or_moves_of_an_earlier_one_is_gone() {
    // Whether git looks by itself or is told what to look at.
    for told_from in [usize::MAX, 1] {
        in_every_way(|| {
            for is_committed in [false, true] {
                let project = Project::new();
                let spaces = project.open_with(Options { told_from, ..Options::default() });
                let second = second_step(&spaces);
                assert_eq!(files(&spaces, &second), Vec::<String>::new());
                let at = |path: &str| second.root.join(path);
                if is_committed {
                    git(&second.root, "rm -q -r top.txt src/made.txt made");
                    git(&second.root, "mv moved src/there");
                    git(&second.root, "commit -q -m tidied");
                } else {
                    fs::remove_file(at("top.txt")).unwrap();
                    fs::remove_file(at("src/made.txt")).unwrap();
                    fs::remove_dir_all(at("made")).unwrap();
                    fs::rename(at("moved"), at("src/there")).unwrap();
                    git(&second.root, "add -A");
                }
                assert_eq!(git(&second.root, "status --porcelain").is_empty(), is_committed);
                let gone = ["made/deep/two.txt", "made/one.txt", "moved/x.txt", "src/made.txt"];
                let changed = [&gone[..], &["src/there/x.txt", "top.txt"]].concat();
                assert_eq!(files(&spaces, &second), changed);
                let result = merge(&spaces, &keep(&spaces, &second));
                assert_eq!(
                    project.git(&format!("ls-tree -r --name-only {result}")),
                    ".gitignore\nREADME.md\nsrc/a.txt\nsrc/there/x.txt"
                );
            }
        });
    }
}
