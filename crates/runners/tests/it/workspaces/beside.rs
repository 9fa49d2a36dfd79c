//! What an attempt has on other branches, tags and stashes is kept with its work.

use std::fs;
use std::path::Path;
use std::time::Duration;

use legation_runners::workspace::{Limits, Spaces};

use super::project::{Project, create, git, in_every_way, keep, note, write};

/// Commits something on a branch that is then left.
fn commit_on_branch(root: &Path, branch: &str) {
    git(root, &format!("checkout -q -b {branch}"));
    write(root, "side.txt", "aside\n");
    git(root, "add side.txt");
    git(root, "commit -q -m side");
    git(root, "checkout -q -");
}

fn stash(root: &Path, text: &str) {
    write(root, "stashed.txt", text);
    git(root, "add stashed.txt");
    git(root, "stash -q");
}

/// What is kept beside the work of an attempt, without what all these names begin with.
fn beside(spaces: &Spaces, attempt: &str) -> Vec<String> {
    let works = spaces.works().unwrap();
    let work = works.iter().find(|work| work.attempt == attempt).unwrap();
    let top = format!("refs/legation/del-1/beside/{attempt}/");
    work.beside.iter().map(|(name, _)| name.strip_prefix(&top).unwrap().to_owned()).collect()
}

#[test]
fn other_branches_tags_and_stashes_outlive_the_workspace() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        commit_on_branch(&place.root, "mine");
        git(&place.root, "tag -a -m told v1 mine");
        git(&place.root, "branch old");
        stash(&place.root, "first\n");
        stash(&place.root, "second\n");
        git(&place.root, "pack-refs --all");
        write(&place.root, "v.txt", "v\n");
        let side = git(&place.root, "rev-parse mine");
        assert!(spaces.look(&place).unwrap().commits.contains(&side));
        keep(&spaces, &place);
        spaces.remove(&place).unwrap();
        // Nothing is kept twice: the branch that is where the work began is not among them.
        let names = ["heads/mine", "stash", "stash-1", "tags/v1"];
        assert_eq!(beside(&spaces, "exec-1"), names);
        project.git("gc -q --prune=now");
        let show = |name: &str| project.git(&format!("show refs/legation/del-1/{name}"));
        assert_eq!(show("beside/exec-1/heads/mine:side.txt"), "aside");
        assert_eq!(show("beside/exec-1/stash:stashed.txt"), "second");
        assert_eq!(show("beside/exec-1/stash-1:stashed.txt"), "first");
        assert_eq!(show("exec-1:v.txt"), "v");
    });
}

#[test]
fn an_attempt_that_only_has_another_branch_is_kept_and_there_is_nothing_to_merge() {
    let project = Project::new();
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    commit_on_branch(&place.root, "mine");
    assert_eq!(spaces.keep(&place, &note()).unwrap(), None);
    spaces.remove(&place).unwrap();
    assert_eq!(beside(&spaces, "exec-1"), ["heads/mine"]);
    let said = project.git("log -1 --format=%B refs/legation/del-1/provenance/exec-1");
    assert!(said.contains("Legation-Agent: fixer"), "{said}");
    // What it is found by is on the user's branch; what was found is not, so it stays.
    let old = Limits { max_age: Duration::ZERO, quota_bytes: u64::MAX, unapplied: false };
    assert!(spaces.surplus(old, |_| false).unwrap().is_empty());
    let word = Limits { unapplied: true, ..old };
    for (what, _) in spaces.surplus(word, |_| false).unwrap() {
        spaces.clear_away(&what).unwrap();
    }
    assert_eq!(project.git("for-each-ref refs/legation"), "");
}

#[test]
fn what_is_on_the_users_own_names_or_was_fetched_is_not_kept() {
    let project = Project::new();
    project.git("checkout -q -b other");
    project.write("other.txt", "other\n");
    project.commit("other");
    project.git("checkout -q main");
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    let other = project.git("rev-parse other");
    git(&place.root, &format!("branch theirs {other}"));
    write(&place.root, ".git/refs/remotes/origin/x", &format!("{}\n", "1".repeat(40)));
    write(&place.root, "v.txt", "v\n");
    keep(&spaces, &place);
    assert_eq!(beside(&spaces, "exec-1"), [""; 0]);
}

#[test]
fn a_repository_that_lies_about_its_names_loses_only_what_is_not_there() {
    let project = Project::new();
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    commit_on_branch(&place.root, "mine");
    let side = git(&place.root, "rev-parse mine");
    let folder = place.root.join(".git/refs/heads");
    let line = format!("{side}\n");
    write(&folder, "missing", &format!("{}\n", "1".repeat(40)));
    write(&folder, "..\u{7} [odd", &line);
    write(&folder, &"x".repeat(200), &line);
    // Git itself would never have both of these.
    write(&place.root, ".git/packed-refs", &format!("{side} refs/heads/mine/below\n"));
    std::os::unix::fs::symlink(project.dir().join(".git/refs/heads"), folder.join("out")).unwrap();
    fs::write(folder.join("garbage"), [0xff; 100]).unwrap();
    write(&place.root, "v.txt", "v\n");
    keep(&spaces, &place);
    spaces.remove(&place).unwrap();
    assert_eq!(beside(&spaces, "exec-1"), [format!("odd/{side}")]);
}

#[test]
fn only_so_many_names_are_kept() {
    let project = Project::new();
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    commit_on_branch(&place.root, "mine");
    let side = git(&place.root, "rev-parse mine");
    let many: String = (0..1500).map(|at| format!("{side} refs/heads/b{at:04}\n")).collect();
    write(&place.root, ".git/packed-refs", &many);
    write(&place.root, "v.txt", "v\n");
    keep(&spaces, &place);
    assert_eq!(beside(&spaces, "exec-1").len(), 1_000);
}
