//! What was applied, taken back by a commit that undoes it; and work on uncommitted files.

use expect_test::expect;
use legation_runners::workspace::{Applied, Error, From, How, Spaces};

use super::project::{Project, create, in_every_way, keep, merge, note, start, wanted, write};
use super::underway::gits;

/// A project with a result: `README.md` changed, `new.txt` made, `src/a.txt` deleted.
fn with_result(project: &Project) -> Spaces {
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    write(&place.root, "README.md", "theirs\n");
    write(&place.root, "new.txt", "new\n");
    std::fs::remove_file(place.root.join("src/a.txt")).unwrap();
    merge(&spaces, &keep(&spaces, &place));
    spaces.remove(&place).unwrap();
    spaces
}

fn reason(result: Result<impl std::fmt::Debug, Error>) -> String {
    let error = result.unwrap_err();
    let (Error::Refused { reason, files, .. } | Error::Unfit { reason, files, .. }) = error else {
        panic!("{error}")
    };
    format!("{reason} {files:?}")
}

#[test]
fn what_was_applied_is_undone_by_a_commit_and_what_came_later_stays() {
    for how in [How::Auto, How::FastForward, How::Merge, How::Squash] {
        let project = Project::new();
        let spaces = with_result(&project);
        assert_eq!(
            reason(spaces.revert("del-1")),
            "nothing of del-1 was applied here []",
            "{how:?}"
        );
        spaces.apply("del-1", how).unwrap();
        assert_eq!(project.read("README.md"), "theirs\n");
        project.write("mine.txt", "built on it\n");
        project.commit("mine");
        let before = project.git("rev-parse HEAD");
        let taken = spaces.revert("del-1").unwrap();
        assert_eq!(taken.files, ["README.md", "new.txt", "src/a.txt"], "{how:?}");
        assert_eq!(project.git("rev-parse HEAD~1"), before, "one more commit, {how:?}");
        assert_eq!(project.read("README.md") + &project.read("mine.txt"), "hello\nbuilt on it\n");
        assert!(!project.dir().join("new.txt").exists());
        assert_eq!(project.git("status --porcelain"), "");
        assert_eq!(reason(spaces.revert("del-1")), "nothing of del-1 was applied here []");
        // And it may be applied again.
        spaces.apply("del-1", how).unwrap();
        assert_eq!(project.read("README.md"), "theirs\n", "{how:?}");
        assert_eq!(project.git("status --porcelain"), "");
        let parents = project.git("log -1 --format=%P").split(' ').count();
        assert_eq!(parents == 2, how == How::Merge, "{how:?} made {parents} parents");
    }
}

#[test]
fn what_later_work_builds_on_is_not_taken_away_from_under_it() {
    let project = Project::new();
    let spaces = with_result(&project);
    spaces.apply("del-1", How::Auto).unwrap();
    project.write("README.md", "theirs, and mine\n");
    project.commit("mine");
    let before = project.git("rev-parse HEAD");
    let refused = reason(spaces.revert("del-1"));
    assert_eq!(refused, "what came later builds on what would be taken back [\"README.md\"]");
    assert_eq!(project.git("rev-parse HEAD"), before);
    assert_eq!(project.git("status --porcelain"), "");
    project.git("checkout -q -b elsewhere HEAD~2");
    assert_eq!(
        reason(spaces.revert("del-1")),
        "the result of del-1 is not on the branch you are on []"
    );
}

/// What a refusal says, with what stands against what.
fn shown(result: Result<impl std::fmt::Debug, Error>) -> String {
    let error = result.unwrap_err();
    let Error::Unfit { hunks, .. } = &error else { panic!("{error}") };
    let hunks = hunks.iter().map(|hunk| format!("{} {:?}\n{}\n", hunk.file, hunk.kind, hunk.text));
    format!("{error}\n{}", hunks.collect::<String>())
}

#[test]
fn what_does_not_fit_the_users_files_is_shown_with_its_lines_and_kinds() {
    let project = Project::new();
    let spaces = with_result(&project);
    project.write("README.md", "mine\n");
    project.write("src/a.txt", "mine\n");
    project.commit("mine");
    expect![[r#"
        the result conflicts with your branch: README.md, src/a.txt (the other side deleted it, you changed it); nothing was changed; `git merge legation/del-1/result` lets you resolve it
        README.md None
        <<<<<<< yours
        mine
        =======
        theirs
        >>>>>>> result
        src/a.txt Some(SecondDeleted)

    "#]].assert_eq(&shown(spaces.apply("del-1", How::Auto)));
    project.git("reset -q --hard HEAD~1");
    spaces.apply("del-1", How::Auto).unwrap();
    project.write("README.md", "mine\n");
    project.git("rm -q new.txt");
    project.commit("mine");
    expect![[r#"
        what came later builds on what would be taken back: README.md; nothing was changed; undo it by hand with git revert
        README.md None
        <<<<<<< yours
        mine
        =======
        hello
        >>>>>>> before
    "#]].assert_eq(&shown(spaces.revert("del-1")));
}

#[test]
fn what_does_not_fit_a_plain_folder_is_shown_with_its_lines_and_kinds() {
    let project = Project::plain();
    project.write("README.md", "hello\n");
    project.write("src/a.txt", "one\n");
    let spaces = with_result(&project);
    project.write("README.md", "mine\n");
    project.write("src/a.txt", "mine\n");
    project.write("new.txt/in", "x\n");
    expect![[r#"
        files have changed since the work began: README.md, new.txt/in (something else stands in its place), src/a.txt (the other side deleted it, you changed it); nothing was changed; move yours away or bring them over by hand
        README.md None
        <<<<<<< yours
        mine
        =======
        theirs
        >>>>>>> result
        new.txt/in Some(InTheWay)

        src/a.txt Some(SecondDeleted)

    "#]].assert_eq(&shown(spaces.apply("del-1", How::Auto)));
    std::fs::remove_dir_all(project.dir().join("new.txt")).unwrap();
    project.write("README.md", "hello\n");
    project.write("src/a.txt", "one\n");
    spaces.apply("del-1", How::Auto).unwrap();
    project.write("README.md", "mine\n");
    expect![[r#"
        files have changed since the work began: README.md; nothing was changed; move yours away or bring them over by hand
        README.md None
        <<<<<<< yours
        mine
        =======
        hello
        >>>>>>> before
    "#]].assert_eq(&shown(spaces.revert("del-1")));
}

/// Does something to the user's branch, which somebody else moves before git comes to it.
fn while_moved(
    project: &Project,
    act: impl FnOnce() -> Result<Applied, Error> + Send,
) -> Result<Applied, Error> {
    let lock = project.dir().join(".git/index.lock");
    let record = project.state().join("underway.json");
    // Git waits for this as long as we are patient.
    std::fs::write(&lock, "").unwrap();
    std::thread::scope(|threads| {
        let acting = threads.spawn(act);
        while !record.exists() && !acting.is_finished() {
            std::thread::yield_now();
        }
        let tree = project.git("rev-parse HEAD^{tree}");
        let moved = project.git(&format!("commit-tree {tree} -p HEAD -m other"));
        project.git(&format!("update-ref HEAD {moved}"));
        // One that has looked before would find out after it has written the files.
        let early = gits(project);
        while gits(project).iter().any(|git| early.contains(git)) {
            std::thread::yield_now();
        }
        std::fs::remove_file(&lock).unwrap();
        acting.join().unwrap()
    })
}

#[test]
fn a_branch_that_somebody_moves_meanwhile_is_applied_to_and_taken_back_from_all_the_same() {
    let project = Project::new();
    let spaces = with_result(&project);
    let changed = ["README.md", "new.txt", "src/a.txt"];
    let applied = while_moved(&project, || spaces.apply("del-1", How::Auto)).unwrap();
    assert_eq!(applied.files, changed);
    assert_eq!(project.git("log -1 --format=%s HEAD^1"), "other");
    let taken = while_moved(&project, || spaces.revert("del-1")).unwrap();
    assert_eq!(taken.files, changed);
    assert_eq!(project.git("log -1 --format=%s HEAD^1"), "other");
    assert_eq!(project.read("README.md"), "hello\n");
    assert_eq!(project.git("status --porcelain"), "");
}

#[test]
fn taking_back_refuses_what_it_could_damage() {
    let project = Project::new();
    let spaces = with_result(&project);
    spaces.apply("del-1", How::Auto).unwrap();
    project.write("README.md", "not committed\n");
    assert_eq!(
        reason(spaces.revert("del-1")),
        "your uncommitted changes would be overwritten [\"README.md\"]"
    );
    project.git("add -A");
    assert_eq!(reason(spaces.revert("del-1")), "there are changes in the index [\"README.md\"]");
    assert_eq!(project.read("README.md"), "not committed\n");
}

#[test]
fn the_first_files_of_an_empty_repository_can_be_taken_back() {
    let project = Project::empty();
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    write(&place.root, "one.txt", "1\n");
    merge(&spaces, &keep(&spaces, &place));
    spaces.apply("del-1", How::Auto).unwrap();
    assert_eq!(spaces.revert("del-1").unwrap().files, ["one.txt"]);
    assert!(!project.dir().join("one.txt").exists());
}

#[test]
fn a_squashed_result_is_one_commit_without_the_childs_own() {
    let project = Project::new();
    let spaces = with_result(&project);
    project.write("mine.txt", "x\n");
    project.commit("mine");
    let before = project.git("rev-parse HEAD");
    let applied = spaces.apply("del-1", How::Squash).unwrap();
    assert_eq!(project.git("rev-parse HEAD^"), before);
    assert_eq!(project.git("log -1 --format=%s%n%P"), format!("The result of del-1\n{before}"));
    assert_eq!(applied.commit, Some(project.git("rev-parse HEAD")));
    assert_eq!(spaces.apply("del-1", How::Squash).unwrap().files, Vec::<String>::new());
}

#[test]
fn a_plain_folder_gets_its_old_files_back() {
    let project = Project::plain();
    project.write("README.md", "hello\n");
    project.write("src/a.txt", "one\n");
    let spaces = with_result(&project);
    spaces.apply("del-1", How::Auto).unwrap();
    assert_eq!(project.read("new.txt"), "new\n");
    project.write("mine.txt", "x\n");
    assert_eq!(spaces.revert("del-1").unwrap().files, ["README.md", "new.txt", "src/a.txt"]);
    assert_eq!(project.read("README.md") + &project.read("src/a.txt"), "hello\none\n");
    assert!(!project.dir().join("new.txt").exists() && project.dir().join("mine.txt").exists());
    assert_eq!(reason(spaces.revert("del-1")), "nothing of del-1 was applied here []");
}

/// A project with uncommitted files of every kind, and a workspace that has them.
fn dirty(project: &Project) -> Spaces {
    project.write("README.md", "hello\nnot committed\n");
    project.write("draft.txt", "a draft\n");
    project.write("debug.log", "ignored\n");
    project.write(".legation/agents/x.md", "ours\n");
    project.write("src/.legation/state", "ours\n");
    let spaces = project.open();
    let mut start = start("del-1", From::User);
    start.include_dirty = true;
    spaces.begin(&start).unwrap();
    spaces
}

#[test]
fn work_on_uncommitted_files_comes_back_over_the_same_files() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = dirty(&project);
        let (head, index) = (project.git("rev-parse HEAD"), project.untouchable());
        let place = spaces.create(&wanted("del-1", "exec-1")).unwrap();
        assert!(!place.root.join(".legation").exists(), "what is ours is no work");
        assert!(
            !place.root.join("src/.legation").exists() && !place.root.join("debug.log").exists()
        );
        write(&place.root, "README.md", "HELLO\nnot committed\n");
        write(&place.root, "draft.txt", "a better draft\n");
        write(&place.root, "new.txt", "new\n");
        merge(&spaces, &keep(&spaces, &place));
        spaces.remove(&place).unwrap();
        // Meanwhile the user went on elsewhere.
        project.write("src/a.txt", "mine\n");
        let applied = spaces.apply("del-1", How::Auto).unwrap();
        assert_eq!(applied.files, ["README.md", "draft.txt", "new.txt"]);
        assert_eq!(applied.commit, Some(head.clone()));
        assert_eq!(project.read("README.md"), "HELLO\nnot committed\n");
        assert_eq!(project.read("draft.txt") + &project.read("new.txt"), "a better draft\nnew\n");
        assert_eq!(project.read("src/a.txt"), "mine\n");
        assert_eq!(project.git("rev-parse HEAD"), head, "nothing is committed for the user");
        assert_eq!(project.untouchable(), index);
        assert_eq!(spaces.apply("del-1", How::Auto).unwrap().files, Vec::<String>::new());
        assert_eq!(spaces.revert("del-1").unwrap().files, applied.files);
        assert_eq!(project.read("README.md"), "hello\nnot committed\n");
        assert_eq!(project.read("draft.txt") + &project.read("src/a.txt"), "a draft\nmine\n");
        assert!(!project.dir().join("new.txt").exists());
    });
}

#[test]
fn uncommitted_files_that_changed_meanwhile_are_merged_or_refused() {
    let project = Project::new();
    let spaces = dirty(&project);
    let place = spaces.create(&wanted("del-1", "exec-1")).unwrap();
    write(&place.root, "draft.txt", "their draft\n");
    assert!(spaces.keep(&place, &note()).unwrap().is_some());
    merge(&spaces, &keep(&spaces, &place));
    project.write("draft.txt", "my next draft\n");
    assert_eq!(
        reason(spaces.apply("del-1", How::Auto)),
        "the result conflicts with your files [\"draft.txt\"]"
    );
    assert_eq!(project.read("draft.txt"), "my next draft\n");
}

#[test]
fn what_was_applied_in_two_parts_or_to_two_branches_is_taken_back_wherever_it_is() {
    for how in [How::Auto, How::Merge, How::Squash] {
        let project = Project::new();
        let spaces = project.open();
        for (attempt, file) in [("exec-1", "one.txt"), ("exec-2", "two.txt")] {
            let place = create(&spaces, attempt);
            write(&place.root, file, "x\n");
            merge(&spaces, &keep(&spaces, &place));
            spaces.apply("del-1", how).unwrap();
        }
        project.git("checkout -q -b other HEAD~0");
        let applied = project.git("rev-parse HEAD");
        let taken = spaces.revert("del-1").unwrap();
        assert_eq!(taken.files, ["one.txt", "two.txt"], "{how:?}");
        assert_eq!(project.git("ls-files"), ".gitignore\nREADME.md\nsrc/a.txt");
        assert_eq!(reason(spaces.revert("del-1")), "nothing of del-1 was applied here []");
        // On this branch it is there for the second time, and on the first it was never.
        spaces.apply("del-1", how).unwrap();
        project.git(&format!("checkout -q -b third {applied}~2"));
        spaces.apply("del-1", how).unwrap();
        spaces.revert("del-1").unwrap();
        assert!(!project.dir().join("one.txt").exists());
        project.git("checkout -q other");
        spaces.revert("del-1").unwrap();
        assert_eq!(project.git("ls-files"), ".gitignore\nREADME.md\nsrc/a.txt", "{how:?}");
    }
}
