//! Many at once, and other people's locks.

use std::fs;
use std::thread;
use std::time::Duration;

use legation_runners::workspace::{Error, Options};

use super::project::{Project, begin, create, git, in_every_way, keep, merge, note, wanted, write};

/// Workspaces that are made at once.
const MANY: usize = 50;

#[test]
fn fifty_workspaces_are_made_and_merged_at_the_same_time() {
    in_every_way(|| {
        let project = Project::new();
        let before = project.untouchable();
        let spaces = project.open();
        let head = project.git("rev-parse HEAD");
        assert_eq!(begin(&spaces, "del-1"), head);
        thread::scope(|scope| {
            for number in 0..MANY {
                let (spaces, head) = (&spaces, &head);
                scope.spawn(move || {
                    // Nobody fails for a lock that another holds: that would be an error here.
                    let place = spaces.create(&wanted("del-1", &format!("exec-{number}"))).unwrap();
                    assert_eq!((&place.base, &git(&place.root, "rev-parse HEAD")), (head, head));
                    assert_eq!(git(&place.root, "status --porcelain"), "");
                    write(&place.root, &format!("made/{number}.txt"), "x\n");
                    assert_eq!(spaces.look(&place).unwrap().files_changed.len(), 1);
                    let kept = spaces.keep(&place, &note()).unwrap().unwrap();
                    merge(spaces, &kept);
                    spaces.remove(&place).unwrap();
                });
            }
        });
        let made = project.git("ls-tree -r --name-only legation/del-1/result made");
        assert_eq!(made.lines().count(), MANY);
        assert_eq!(
            project
                .git("for-each-ref --format=%(refname) refs/legation/del-1/exec-*")
                .lines()
                .count(),
            MANY
        );
        assert_eq!(project.untouchable(), before);
        assert!(spaces.list().unwrap().is_empty());
        project.git("fsck --strict");
    });
}

#[test]
fn two_engines_do_not_lose_each_others_merges() {
    in_every_way(|| {
        let project = Project::new();
        let (one, two) = (project.open(), project.open());
        begin(&one, "del-1");
        thread::scope(|scope| {
            for (name, spaces) in [("one", &one), ("two", &two)] {
                scope.spawn(move || {
                    for number in 0..4 {
                        let attempt = format!("exec-{name}-{number}");
                        let place = spaces.create(&wanted("del-1", &attempt)).unwrap();
                        write(&place.root, &format!("made/{attempt}.txt"), "x\n");
                        merge(spaces, &keep(spaces, &place));
                    }
                });
            }
        });
        let made = project.git("ls-tree -r --name-only legation/del-1/result made");
        assert_eq!(made.lines().count(), 8);
    });
}

#[test]
fn a_lock_that_stays_is_named_and_never_removed() {
    in_every_way(|| {
        let project = Project::new();
        let options = Options { patience: Duration::from_millis(50), ..Options::default() };
        let spaces = project.open_with(options);
        let place = create(&spaces, "exec-1");
        write(&place.root, "work.txt", "x\n");
        let kept = keep(&spaces, &place);
        let lock = project.dir().join(".git/refs/heads/legation/del-1/result.lock");
        fs::create_dir_all(lock.parent().unwrap()).unwrap();
        fs::write(&lock, "").unwrap();
        let error = spaces.merge("del-1", &kept).unwrap_err();
        assert!(
            matches!(&error, Error::Locked { path } if path.ends_with("del-1/result.lock")),
            "{error}"
        );
        assert!(lock.exists());
        fs::remove_file(&lock).unwrap();
        merge(&spaces, &kept);
    });
}

#[test]
fn a_lock_that_goes_away_is_waited_for() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "work.txt", "x\n");
        let lock = project.dir().join(".git/refs/legation/del-1/exec-1.lock");
        fs::create_dir_all(lock.parent().unwrap()).unwrap();
        fs::write(&lock, "").unwrap();
        thread::scope(|scope| {
            let started = spaces.git_processes();
            let keeping = scope.spawn(|| keep(&spaces, &place));
            // Once the third command after this runs, somebody waits for the lock.
            while spaces.git_processes() < started + 4 && !keeping.is_finished() {
                thread::yield_now();
            }
            fs::remove_file(&lock).unwrap();
            keeping.join().unwrap();
        });
        assert!(project.git("show refs/legation/del-1/exec-1:work.txt").contains('x'));
    });
}
