//! How many git processes a workspace costs. Counted, never timed.

use legation_runners::workspace::Spaces;

use super::project::{Project, begin, create, git, keep, merge, note, wanted, write};

/// Processes that one attempt takes from its workspace to the result.
fn count(spaces: &Spaces, attempt: &str, work: impl Fn(&std::path::Path)) -> u64 {
    let before = spaces.git_processes();
    let place = spaces.create(&wanted("del-1", attempt)).unwrap();
    work(&place.root);
    spaces.look(&place).unwrap();
    let kept = keep(spaces, &place);
    merge(spaces, &kept);
    spaces.remove(&place).unwrap();
    spaces.git_processes() - before
}

#[test]
fn one_changed_file_takes_at_most_eight_processes() {
    let project = Project::new();
    let spaces = project.open();
    let before = spaces.git_processes();
    begin(&spaces, "del-1");
    // The first lends what there is: it asks what is ours, and packs what is in no pack.
    assert_eq!(spaces.git_processes() - before, 2);
    begin(&spaces, "del-2");
    assert_eq!(spaces.git_processes() - before, 2, "a beginning is free");
    let first = count(&spaces, "exec-1", |root| write(root, "one.txt", "x\n"));
    let new = count(&spaces, "exec-2", |root| write(root, "two.txt", "x\n"));
    let changed = count(&spaces, "exec-3", |root| write(root, "README.md", "changed\n"));
    let committed = count(&spaces, "exec-4", |root| {
        write(root, "src/a.txt", "changed\n");
        git(root, "commit -q -a -m work");
    });
    // The first also starts the three that stay, and asks once who commits. The third asks
    // what the base holds: a file that was touched may be the same.
    assert_eq!([first, new, changed, committed], [7, 4, 4, 7]);
}

#[test]
fn no_change_takes_one_process() {
    let project = Project::new();
    let spaces = project.open();
    begin(&spaces, "del-1");
    let before = spaces.git_processes();
    let place = create(&spaces, "exec-1");
    spaces.look(&place).unwrap();
    assert_eq!(spaces.keep(&place, &note()).unwrap(), None);
    spaces.remove(&place).unwrap();
    assert_eq!(spaces.git_processes() - before, 1);
}

#[test]
fn work_that_was_kept_is_not_kept_again_before_it_is_removed() {
    let project = Project::new();
    let spaces = project.open();
    begin(&spaces, "del-1");
    let place = create(&spaces, "exec-1");
    write(&place.root, "one.txt", "x\n");
    let first = spaces.keep_once(&place, &note()).unwrap();
    assert!(first.is_some());
    let before = spaces.git_processes();
    assert_eq!(spaces.keep_once(&place, &note()).unwrap(), first);
    spaces.remove(&place).unwrap();
    assert_eq!(spaces.git_processes(), before);
}
