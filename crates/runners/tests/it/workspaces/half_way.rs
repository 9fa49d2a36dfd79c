//! An apply that git can do only in part: what has come of it is taken back, and nothing else.

use std::fs;

use legation_runners::workspace::{From, How, Options, Spaces, Start};
use std::time::Duration;

use super::project::{Project, create, keep, merge, start, wanted, write};

/// Lets no file be written whose text begins with `bad`, and notes that it was asked.
const FILTER: &str = "text=$(cat); case $text in bad*) HOOK; exit 1;; esac; echo \"$text\"";

fn impatient(project: &Project) -> Spaces {
    project.open_with(Options { patience: Duration::ZERO, ..Options::default() })
}

/// A repository in which writing a file may fail.
fn filtered(hook: &str) -> Project {
    let project = Project::new();
    project.write(".gitattributes", "*.picky filter=picky\n");
    project.write("a.txt", "old\n");
    project.write("removed/x.txt", "old\n");
    project.write("m.picky", "old\n");
    project.write("z.txt", "old\n");
    project.commit("files");
    project.git("config filter.picky.required true");
    project.git("config filter.picky.clean cat");
    let config = project.dir().join(".git/config");
    let filter = FILTER.replace("HOOK", hook).replace('"', "\\\"");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(config, format!("{text}[filter \"picky\"]\n\tsmudge = \"{filter}\"\n")).unwrap();
    project
}

fn change(root: &std::path::Path, picky: &str) {
    write(root, "a.txt", "new\n");
    write(root, "added/b.txt", "new\n");
    fs::remove_dir_all(root.join("removed")).unwrap();
    write(root, "m.picky", picky);
    write(root, "z.txt", "new\n");
}

#[test]
fn what_was_written_before_git_failed_is_taken_back() {
    let project = filtered("true");
    let spaces = impatient(&project);
    let place = create(&spaces, "exec-1");
    change(&place.root, "bad\n");
    merge(&spaces, &keep(&spaces, &place));
    project.write("mine.txt", "mine\n");
    let refused = spaces.apply("del-1", How::Auto).unwrap_err().to_string();
    assert!(refused.contains("m.picky: smudge filter picky failed"), "{refused}");
    assert!(!refused.contains("not as they were"), "{refused}");
    assert_eq!(project.git("status --porcelain"), "?? mine.txt");
    assert!(!project.dir().join("added").exists());
    assert_eq!(project.read("m.picky"), "old\n");
    project.git("config filter.picky.smudge cat");
    assert_eq!(spaces.apply("del-1", How::Auto).unwrap().files.len(), 5);
    assert_eq!(spaces.revert("del-1").unwrap().files.len(), 5);
}

#[test]
fn what_cannot_be_put_back_is_named() {
    let project = filtered("true");
    let spaces = impatient(&project);
    let place = create(&spaces, "exec-1");
    change(&place.root, "bad\n");
    merge(&spaces, &keep(&spaces, &place));
    project.git("config filter.picky.smudge false");
    let refused = spaces.apply("del-1", How::Auto).unwrap_err().to_string();
    let head = project.git("rev-parse HEAD");
    let told = format!(
        "and some files are not as they were: m.picky; `git show {head}:FILE` has what was there"
    );
    assert!(refused.ends_with(&told), "{refused}");
    // All others are back, those that come after it included.
    assert_eq!(project.git("status --porcelain"), " D m.picky");
    assert_eq!([project.read("removed/x.txt"), project.read("z.txt")], ["old\n", "old\n"]);
}

#[test]
fn uncommitted_files_are_taken_back_too() {
    let project = filtered("true");
    project.write("a.txt", "not committed\n");
    let spaces = impatient(&project);
    spaces.begin(&Start { include_dirty: true, ..start("del-1", From::User) }).unwrap();
    let place = spaces.create(&wanted("del-1", "exec-1")).unwrap();
    change(&place.root, "bad\n");
    merge(&spaces, &keep(&spaces, &place));
    let before = project.git("status --porcelain");
    spaces.apply("del-1", How::Auto).unwrap_err();
    assert_eq!(project.git("status --porcelain"), before);
    assert_eq!(project.read("a.txt"), "not committed\n");
    assert!(spaces.revert("del-1").unwrap_err().to_string().starts_with("nothing of del-1"));
    project.git("config filter.picky.smudge cat");
    assert_eq!(spaces.apply("del-1", How::Auto).unwrap().files.len(), 5);
    spaces.revert("del-1").unwrap();
    assert_eq!(project.read("a.txt"), "not committed\n");
}

#[test]
fn what_somebody_committed_meanwhile_is_left_alone() {
    let project = filtered("git update-ref refs/heads/main $(git rev-parse theirs)");
    let spaces = impatient(&project);
    let place = create(&spaces, "exec-1");
    change(&place.root, "bad\n");
    merge(&spaces, &keep(&spaces, &place));
    // The same files in another commit, by which the branch moves under the apply.
    project.git("config filter.picky.required false");
    let tree = project.git("rev-parse legation/del-1/result^{tree}");
    let theirs = project.git(&format!("commit-tree {tree} -p HEAD -m theirs"));
    project.git(&format!("branch theirs {theirs}"));
    spaces.apply("del-1", How::Auto).unwrap_err();
    assert_eq!(project.git("log -1 --format=%s"), "theirs");
    assert_eq!(project.git("status --porcelain"), "");
    assert_eq!(project.read("a.txt"), "new\n");
}

#[test]
fn settings_of_the_user_for_merging_neither_hide_work_nor_change_what_is_done() {
    let project = Project::new();
    for setting in [
        "merge.autoStash true",
        "branch.main.mergeOptions --squash",
        "merge.verifySignatures true",
        "merge.ff false",
    ] {
        project.git(&format!("config {setting}"));
    }
    let spaces = impatient(&project);
    let place = create(&spaces, "exec-1");
    write(&place.root, "new.txt", "new\n");
    merge(&spaces, &keep(&spaces, &place));
    project.write("README.md", "not committed\n");
    let lock = project.dir().join(".git/refs/heads/main.lock");
    fs::write(&lock, "").unwrap();
    spaces.apply("del-1", How::Auto).unwrap_err();
    assert_eq!(project.read("README.md"), "not committed\n");
    fs::remove_file(lock).unwrap();
    assert_eq!(spaces.apply("del-1", How::Auto).unwrap().files, ["new.txt"]);
    assert_eq!(project.git("status --porcelain"), " M README.md");
    assert_eq!(project.git("rev-parse HEAD"), project.git("rev-parse legation/del-1/result"));
}
