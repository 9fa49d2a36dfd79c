//! What workspaces can read of the user's objects: all that their base needs, and nothing that
//! other attempts have left.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use legation_runners::workspace::{From, Merge, New, Place, Spaces, Start};

use super::project::{
    Project, begin, create, git, git_args, in_every_way, keep, merge, note, start, wanted, write,
};

/// All objects that git can find from a folder.
pub(super) fn objects(folder: &Path) -> BTreeSet<String> {
    let found = git(folder, "cat-file --batch-all-objects --batch-check=%(objectname)");
    found.lines().map(str::to_owned).collect()
}

/// Nothing is missing of what its commit needs, and of the files that are checked out.
pub(super) fn assert_whole(place: &Place) {
    git(&place.root, "fsck --full --no-dangling");
    git(&place.root, "log --oneline");
    git(&place.root, "diff HEAD");
}

/// A workspace of another tree.
pub(super) fn elsewhere(spaces: &Spaces, delegation: &str, attempt: &str) -> Place {
    let tree = delegation.to_owned();
    spaces.begin(&Start { tree, ..start(delegation, From::User) }).unwrap();
    let new = New { tree: delegation.into(), ..wanted(delegation, attempt) };
    spaces.create(&new).unwrap()
}

#[test]
fn nothing_that_was_kept_of_others_is_among_them() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        let before = objects(&project.dir());
        write(&place.root, "secret.txt", "committed\n");
        git(&place.root, "add -A");
        git(&place.root, "commit -q -m mine");
        write(&place.root, "left.txt", "left\n");
        let kept = keep(&spaces, &place);
        merge(&spaces, &kept);
        let left: BTreeSet<String> = &objects(&project.dir()) - &before;
        assert!(left.contains(&kept.commit) && left.len() > 5, "{left:?}");
        // However the user's git puts its objects together.
        project.git("repack -a -d -q");
        project.write("more.txt", "more\n");
        project.commit("more");
        project.git("gc -q --prune=now");
        for (delegation, attempt) in [("del-2", "exec-2"), ("del-3", "exec-3")] {
            let other = elsewhere(&spaces, delegation, attempt);
            assert_whole(&other);
            assert_eq!(&objects(&other.root) & &left, BTreeSet::new());
        }
    });
}

#[test]
fn who_starts_from_work_of_others_has_all_of_that_and_no_more() {
    in_every_way(|| {
        let project = Project::new();
        project.write("README.md", "uncommitted\n");
        let spaces = project.open();
        let dirty = Start { include_dirty: true, ..start("del-1", From::User) };
        spaces.begin(&dirty).unwrap();
        let create = |attempt: &str, with: &[&str]| {
            let with = with.iter().map(|commit| (*commit).to_owned()).collect();
            spaces.create(&New { with, ..wanted("del-1", attempt) }).unwrap()
        };
        let (one, two) = (create("exec-1", &[]), create("exec-2", &[]));
        assert_whole(&one);
        write(&one.root, "src/a.txt", "ONE\ntwo\nthree\nfour\nfive\n");
        let first = keep(&spaces, &one);
        merge(&spaces, &first);
        write(&two.root, "src/a.txt", "UNO\ntwo\nthree\nfour\nfive\n");
        let second = keep(&spaces, &two);
        assert!(matches!(spaces.merge("del-1", &second).unwrap(), Merge::Conflict { .. }));
        let after = create("exec-3", &[&first.commit]);
        assert_whole(&after);
        assert!(!objects(&after.root).contains(&second.commit));
        let both = spaces.confront(&wanted("del-1", "exec-4"), "exec-2").unwrap();
        assert_whole(&both);
        git_args(&both.root, &["cat-file", "-e", &second.commit]);
    });
}

#[test]
fn nested_work_that_was_brought_is_whole_in_the_repository_of_its_parent() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let parent = create(&spaces, "exec-1");
        write(&parent.root, "plan.txt", "plan\n");
        git(&parent.root, "add -A");
        git(&parent.root, "commit -q -m plan");
        spaces.begin(&start("del-2", From::Attempt("exec-1".into()))).unwrap();
        let child = spaces.create(&wanted("del-2", "exec-2")).unwrap();
        assert_whole(&child);
        write(&child.root, "below.txt", "below\n");
        let kept = keep(&spaces, &child);
        spaces.merge("del-2", &kept).unwrap();
        let brought = spaces.bring(&parent, "del-2").unwrap();
        assert_eq!(brought, Merge::Clean { commit: git(&parent.root, "rev-parse HEAD") });
        assert_whole(&parent);
        assert_eq!(git(&parent.root, "status --porcelain"), "");
        write(&parent.root, "more.txt", "more\n");
        git(&parent.root, "add -A");
        git(&parent.root, "commit -q -m more");
        let whole = keep(&spaces, &parent);
        assert_eq!(project.git(&format!("show {}:below.txt", whole.commit)), "below");
    });
}

#[test]
fn what_the_user_does_to_the_repository_takes_nothing_from_who_works() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        project.write("README.md", "other\n");
        project.git("commit -q -a --amend -m amended");
        project.git("reflog expire --expire=now --all");
        project.git("gc -q --prune=now");
        assert_whole(&place);
        // Its work is kept, and goes where the user is now.
        write(&place.root, "new.txt", "new\n");
        let now = elsewhere(&spaces, "del-2", "exec-2");
        assert_whole(&now);
        write(&now.root, "second.txt", "second\n");
        let kept = keep(&spaces, &now);
        merge_into(&spaces, "del-2", &kept);
        project.git("merge -q legation/del-2/result");
        let third = elsewhere(&spaces, "del-3", "exec-3");
        assert_whole(&third);
        assert!(third.root.join("second.txt").exists());
    });
}

fn merge_into(spaces: &Spaces, delegation: &str, kept: &legation_runners::workspace::Kept) {
    let merged = spaces.merge(delegation, kept).unwrap();
    assert!(matches!(merged, Merge::Clean { .. }), "{merged:?}");
}

#[test]
fn a_repository_that_others_have_worked_in_before_lends_only_what_is_needed() {
    let project = Project::new();
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    write(&place.root, "secret.txt", "secret\n");
    let kept = keep(&spaces, &place);
    project.git("gc -q");
    // Another project in the same repository, which has no store yet.
    let other = Project::open_as(&project.dir().join("src"), &project.outside("other state"));
    let there = elsewhere(&other, "del-2", "exec-2");
    assert_whole(&there);
    assert!(!objects(&there.root).contains(&kept.commit));
    assert_eq!(objects(&there.root), objects_of(&project, "main"));
}

fn objects_of(project: &Project, commit: &str) -> BTreeSet<String> {
    let found = project.git(&format!("rev-list --objects --no-object-names {commit}"));
    found.lines().map(str::to_owned).collect()
}

#[test]
fn clones_that_borrow_or_have_no_beginning_and_damaged_objects_are_no_obstacle() {
    let origin = Project::new();
    for at in 0..3 {
        origin.write("README.md", &format!("{at}\n"));
        origin.commit("more");
    }
    let source = format!("file://{}", origin.dir().display());
    let path = origin.dir().to_string_lossy().into_owned();
    for how in [vec!["--shared", &path], vec!["--depth=2", &source]] {
        let clone = Project::plain();
        git_args(&clone.dir(), &[&["clone", "-q"], &*how, &["."]].concat());
        let spaces = clone.open();
        assert_whole(&create(&spaces, "exec-1"));
        let lent = &spaces.origin().lent[0];
        assert!(!lent.join("info/alternates").exists(), "{how:?}");
        git(&clone.dir(), "-c user.name=a -c user.email=a@b commit -q --allow-empty -m next");
        if how[0] == "--depth=2" {
            git(&clone.dir(), "fetch -q --unshallow");
        }
        let next = elsewhere(&spaces, "del-2", "exec-2");
        assert_whole(&next);
        assert_eq!(git(&next.root, "rev-list --count HEAD"), clone.git("rev-list --count HEAD"));
    }
    let damaged = Project::new();
    let object = damaged.outside("object");
    fs::write(&object, "lost\n").unwrap();
    let id = damaged.git(&format!("hash-object -w {}", object.display()));
    let (folder, name) = id.split_at(2);
    let object = damaged.dir().join(".git/objects").join(folder).join(name);
    fs::remove_file(&object).unwrap();
    fs::write(&object, "").unwrap();
    assert_whole(&create(&damaged.open(), "exec-1"));
}

#[test]
fn a_store_that_grew_often_has_few_packs_and_who_works_has_lost_nothing() {
    let project = Project::new();
    let spaces = project.open();
    let first = create(&spaces, "exec-first");
    for at in 0..60 {
        project.write("README.md", &format!("{at}\n"));
        project.commit("more");
        begin(&spaces, &format!("del-{}", at + 2));
    }
    let packs = fs::read_dir(spaces.origin().lent[0].join("pack")).unwrap();
    let packs = packs.map(|entry| entry.unwrap().path());
    let packs = packs.filter(|path| path.extension().is_some_and(|ending| ending == "pack"));
    assert!((2..=50).contains(&packs.count()));
    assert_whole(&first);
    assert_whole(&spaces.create(&wanted("del-61", "exec-last")).unwrap());
}

#[test]
fn a_branch_whose_commit_is_lost_hinders_nobody_and_is_lent_when_it_is_there_again() {
    let project = Project::new();
    project.git("checkout -q -b side");
    project.write("README.md", "side\n");
    project.commit("side");
    let side = project.git("rev-parse side");
    project.git("checkout -q main");
    let (folder, name) = side.split_at(2);
    let (at, away) =
        (project.dir().join(".git/objects").join(folder).join(name), project.outside("away"));
    fs::rename(&at, &away).unwrap();
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    assert_whole(&place);
    assert!(!objects(&place.root).contains(&side));
    fs::rename(&away, &at).unwrap();
    let next = elsewhere(&spaces, "del-2", "exec-2");
    assert_whole(&next);
    git_args(&next.root, &["log", "-p", &side]);
}

#[test]
fn a_clone_without_all_its_files_lends_what_it_has() {
    let origin = Project::new();
    for at in 0..3 {
        origin.write("README.md", &format!("{at}\n"));
        origin.commit("more");
    }
    origin.git("config uploadpack.allowFilter true");
    let source = format!("file://{}", origin.dir().display());
    in_every_way(|| {
        let clone = Project::plain();
        git_args(&clone.dir(), &["clone", "-q", "--filter=blob:none", &source, "."]);
        let spaces = clone.open();
        let place = create(&spaces, "exec-1");
        git(&place.root, "diff HEAD");
        assert_eq!(git(&place.root, "rev-list --count HEAD"), clone.git("rev-list --count HEAD"));
        write(&place.root, "mine.txt", "mine\n");
        merge(&spaces, &keep(&spaces, &place));
        git(&clone.dir(), "-c user.name=a -c user.email=a@b commit -q --allow-empty -m next");
        let next = elsewhere(&spaces, "del-2", "exec-2");
        git(&next.root, "diff HEAD");
        assert_eq!(git(&next.root, "log -1 --format=%s"), "next");
    });
}

#[test]
fn what_a_remote_has_promised_is_lent_as_it_is() {
    let origin = Project::new();
    origin.write("README.md", "second\n");
    origin.commit("second");
    origin.git("config uploadpack.allowFilter true");
    let source = format!("file://{}", origin.dir().display());
    let clone = Project::plain();
    git_args(&clone.dir(), &["clone", "-q", "--filter=blob:none", &source, "."]);
    let spaces = clone.open();
    let place = create(&spaces, "exec-1");
    write(&place.root, "secret.txt", "secret\n");
    let kept = keep(&spaces, &place);
    // Somebody else, who takes nothing for granted.
    let other = Project::open_as(&clone.dir().join("src"), &clone.outside("other state"));
    let there = elsewhere(&other, "del-2", "exec-2");
    git(&there.root, "diff HEAD");
    assert!(!objects(&there.root).contains(&kept.commit));
    let packs = fs::read_dir(other.origin().lent[0].join("pack")).unwrap();
    let packs = packs.map(|entry| entry.unwrap().path());
    let packs: Vec<_> =
        packs.filter(|path| path.extension().is_some_and(|it| it == "pack")).collect();
    assert!(packs.iter().all(|pack| pack.with_extension("promisor").exists()), "{packs:?}");
    assert!(!packs.is_empty());
}

#[test]
fn a_file_that_history_has_lost_hinders_nobody() {
    let project = Project::new();
    project.write("README.md", "lost\n");
    project.commit("lost");
    let lost = project.git("rev-parse HEAD:README.md");
    project.write("README.md", "found\n");
    project.commit("found");
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    write(&place.root, "secret.txt", "secret\n");
    let kept = keep(&spaces, &place);
    let (folder, name) = lost.split_at(2);
    fs::remove_file(project.dir().join(".git/objects").join(folder).join(name)).unwrap();
    let other = Project::open_as(&project.dir().join("src"), &project.outside("other state"));
    let there = elsewhere(&other, "del-2", "exec-2");
    git(&there.root, "diff HEAD");
    assert_eq!(git(&there.root, "rev-list --count HEAD"), "3");
    assert!(!objects(&there.root).contains(&kept.commit));
}

#[test]
fn what_a_crash_left_of_the_store_goes_and_what_is_missing_is_made_anew() {
    let project = Project::new();
    let spaces = project.open();
    create(&spaces, "exec-1");
    let lent = spaces.origin().lent[0].clone();
    drop(spaces);
    let halves = ["pack/tmp_pack_x", "pack/pack-1.idx", "pack/pack-2.pack"];
    for half in halves {
        write(&lent, half, "half\n");
    }
    write(&project.state(), "1-2-3.lent/pack/tmp_pack_x", "half\n");
    let spaces = project.open();
    assert_eq!(halves.map(|half| lent.join(half).exists()), [false; 3]);
    assert!(!project.state().join("1-2-3.lent").exists());
    fs::remove_dir_all(&lent).unwrap();
    assert_whole(&spaces.create(&wanted("del-1", "exec-2")).unwrap());
    drop(spaces.keep(&create(&spaces, "exec-2"), &note()));
}
