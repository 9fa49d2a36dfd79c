//! Results that the user has built on, or checked out, and names that are the user's.

use legation_runners::workspace::{Error, From, Merge, Outlook, Spaces};

use super::project::{Project, create, git, in_every_way, keep, merge, start, write};

const RESULT: &str = "legation/del-1/result";

/// A project with a result that makes a file.
fn with_result(project: &Project) -> Spaces {
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    write(&place.root, "ours.txt", "ours\n");
    merge(&spaces, &keep(&spaces, &place));
    spaces.remove(&place).unwrap();
    spaces
}

/// Commits something on the result, in a worktree of the user's; answers with where.
fn build_on(project: &Project, file: &str, text: &str) -> std::path::PathBuf {
    let at = project.outside("built");
    project.git(&format!("worktree add -q {} {RESULT}", at.display()));
    write(&at, file, text);
    git(&at, "add -A");
    git(&at, "commit -q -m mine");
    at
}

fn refused(result: Result<impl std::fmt::Debug, Error>) -> String {
    let error = result.unwrap_err();
    assert!(matches!(error, Error::Refused { .. } | Error::Unfit { .. }), "{error}");
    error.to_string()
}

#[test]
fn what_the_user_committed_on_a_result_stays_when_ours_is_taken_back() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = with_result(&project);
        let at = build_on(&project, "mine.txt", "mine\n");
        git(&at, "checkout -q --detach");
        let mine = project.git(&format!("rev-parse {RESULT}"));
        assert_eq!(spaces.rollback("del-1").unwrap().as_ref(), Some(&mine));
        assert_eq!(project.git(&format!("rev-parse {RESULT}~1")), mine, "one more commit");
        assert_eq!(project.git(&format!("show {RESULT}:mine.txt")), "mine");
        let files = project.git(&format!("ls-tree --name-only {RESULT}"));
        assert!(!files.contains("ours.txt"), "{files}");
        // Asked again, as after a crash, there is nothing left to take back.
        assert_eq!(spaces.rollback("del-1").unwrap(), None);
        assert_eq!(project.git(&format!("rev-parse {RESULT}~1")), mine);
    });
}

#[test]
fn what_the_user_built_on_what_would_be_taken_back_stays_as_it_is() {
    let project = Project::new();
    let spaces = with_result(&project);
    let at = build_on(&project, "ours.txt", "ours, and mine\n");
    git(&at, "checkout -q --detach");
    let mine = project.git(&format!("rev-parse {RESULT}"));
    let why = refused(spaces.rollback("del-1"));
    assert!(why.contains("builds on what would be taken back: ours.txt"), "{why}");
    assert_eq!(project.git(&format!("rev-parse {RESULT}")), mine);
}

#[test]
fn a_result_that_is_checked_out_moves_neither_back_nor_on() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = with_result(&project);
        let place = create(&spaces, "exec-2");
        write(&place.root, "more.txt", "more\n");
        let kept = keep(&spaces, &place);
        let Outlook::Fits(candidate) = spaces.foresee("del-1", &kept).unwrap() else { panic!() };
        let at = project.outside("looking");
        project.git(&format!("worktree add -q {} {RESULT}", at.display()));
        let tip = project.git(&format!("rev-parse {RESULT}"));
        let why = refused(spaces.rollback("del-1"));
        assert!(why.contains(&format!("{RESULT} is checked out in {}", at.display())), "{why}");
        assert!(why.contains("switch to another branch there"), "{why}");
        let held = Outlook::Held { at: at.clone() };
        assert_eq!(spaces.foresee("del-1", &kept).unwrap(), held);
        assert!(!spaces.advance("del-1", &kept, &candidate).unwrap());
        assert_eq!(refused(spaces.merge("del-1", &kept)), why);
        assert_eq!(project.git(&format!("rev-parse {RESULT}")), tip);
        assert_eq!(git(&at, "status --porcelain"), "");
        // The main checkout counts, too; and one whose files are gone does not.
        std::fs::remove_dir_all(&at).unwrap();
        project.git("worktree prune");
        project.git(&format!("checkout -q {RESULT}"));
        let held = Outlook::Held { at: project.dir() };
        assert_eq!(spaces.foresee("del-1", &kept).unwrap(), held);
        project.git("checkout -q main");
        assert!(matches!(spaces.merge("del-1", &kept).unwrap(), Merge::Clean { .. }));
    });
}

#[test]
fn a_branch_where_results_belong_is_told_of_before_anything_begins() {
    for packed in [false, true] {
        let project = Project::new();
        project.git("branch legation");
        let pack = ["pack-refs --all", "status"];
        project.git(pack[usize::from(!packed)]);
        let spaces = project.open();
        let why = refused(spaces.begin(&start("del-1", From::User)));
        assert!(why.contains("your branch `legation` is in the way"), "{why}");
        project.git("branch -m legation mine");
        spaces.begin(&start("del-1", From::User)).unwrap();
    }
    let project = Project::new();
    project.git("branch legation/del-1");
    let why = refused(project.open().begin(&start("del-1", From::User)));
    assert!(why.contains("git branch -m legation/del-1 NAME"), "{why}");
}
