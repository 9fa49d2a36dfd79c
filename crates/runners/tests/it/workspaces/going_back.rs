//! Results: conflicts, diffs, roll-backs, and what `apply` does to the user's files.

use std::fs;
use std::thread;
use std::time::Duration;

use expect_test::expect;
use legation_runners::workspace::{Applied, Error, How, Options, Spaces};

use super::project::{
    Project, begin, conflicts, create, git, in_every_way, keep, merge, wanted, write,
};

/// A delegation whose result changes README.md and adds new.txt.
fn with_result(project: &Project) -> Spaces {
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    write(&place.root, "README.md", "changed\n");
    write(&place.root, "new.txt", "new\n");
    let kept = keep(&spaces, &place);
    merge(&spaces, &kept);
    spaces
}

#[test]
fn later_work_is_merged_with_earlier_work() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let (first, second) = (create(&spaces, "exec-1"), create(&spaces, "exec-2"));
        write(&first.root, "src/a.txt", "ONE\ntwo\nthree\nfour\nfive\n");
        write(&second.root, "src/a.txt", "one\ntwo\nthree\nfour\nFIVE\n");
        merge(&spaces, &keep(&spaces, &first));
        merge(&spaces, &keep(&spaces, &second));
        let merged = project.git("show legation/del-1/result:src/a.txt");
        assert_eq!(merged, "ONE\ntwo\nthree\nfour\nFIVE");
    });
}

#[test]
fn a_conflict_is_an_answer_and_changes_nothing() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let (first, second) = (create(&spaces, "exec-1"), create(&spaces, "exec-2"));
        write(&first.root, "README.md", "one\n");
        write(&second.root, "README.md", "two\n");
        write(&second.root, "other.txt", "x\n");
        let tip = merge(&spaces, &keep(&spaces, &first));
        let kept = keep(&spaces, &second);
        assert_eq!(conflicts(spaces.merge("del-1", &kept).unwrap()), ["README.md"]);
        assert_eq!(project.git("rev-parse legation/del-1/result"), tip);
        let mut third = wanted("del-1", "exec-3");
        third.with = vec![tip, kept.commit];
        let refused = spaces.create(&third).unwrap_err();
        assert!(
            matches!(&refused, Error::Conflict { files } if files == &["README.md"]),
            "{refused}"
        );
    });
}

#[test]
fn a_step_sees_the_files_of_those_it_depends_on() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let (first, second) = (create(&spaces, "exec-1"), create(&spaces, "exec-2"));
        write(&first.root, "one.txt", "1\n");
        write(&second.root, "two.txt", "2\n");
        let (one, two) = (keep(&spaces, &first), keep(&spaces, &second));
        let mut third = wanted("del-1", "exec-3");
        third.with = vec![one.commit.clone(), two.commit.clone()];
        let third = spaces.create(&third).unwrap();
        assert!(third.root.join("one.txt").exists() && third.root.join("two.txt").exists());
        assert!(spaces.look(&third).unwrap().files_changed.is_empty());
        let mut fourth = wanted("del-1", "exec-4");
        fourth.with = vec![one.commit.clone()];
        assert_eq!(spaces.create(&fourth).unwrap().base, one.commit);
        write(&third.root, "three.txt", "3\n");
        for kept in [one, two, keep(&spaces, &third)] {
            merge(&spaces, &kept);
        }
        assert_eq!(
            project
                .git("ls-tree --name-only legation/del-1/result -- one.txt two.txt three.txt")
                .lines()
                .count(),
            3
        );
    });
}

#[test]
fn the_difference_is_that_between_base_and_result() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = with_result(&project);
        expect![[r#"
        diff --git a/README.md b/README.md
        index ce01362..5ea2ed4 100644
        --- a/README.md
        +++ b/README.md
        @@ -1 +1 @@
        -hello
        +changed
        diff --git a/new.txt b/new.txt
        new file mode 100644
        index 0000000..3e75765
        --- /dev/null
        +++ b/new.txt
        @@ -0,0 +1 @@
        +new
    "#]]
        .assert_eq(&spaces.diff("del-1", None).unwrap());
        begin(&spaces, "del-2");
        assert_eq!(spaces.diff("del-2", None).unwrap(), "");
    });
}

#[test]
fn a_result_goes_back_to_its_base_and_what_it_was_stays() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = with_result(&project);
        let tip = project.git("rev-parse legation/del-1/result");
        assert_eq!(spaces.rollback("del-1").unwrap().as_ref(), Some(&tip));
        assert_eq!(project.git("rev-parse legation/del-1/result"), project.git("rev-parse main"));
        assert_eq!(project.git("rev-parse refs/legation/del-1/rolled-back/del-1"), tip);
        assert_eq!(spaces.rollback("del-1").unwrap(), None);
        assert!(!spaces.is_applied("del-1").unwrap());
        let place = create(&spaces, "exec-2");
        write(&place.root, "again.txt", "x\n");
        merge(&spaces, &keep(&spaces, &place));
        let again = spaces.rollback("del-1").unwrap().unwrap();
        assert_eq!(project.git("rev-parse refs/legation/del-1/rolled-back/del-1"), tip);
        let other = format!("rev-parse refs/legation/del-1/rolled-back/del-1-{again}");
        assert_eq!(project.git(&other), again);
    });
}

#[test]
fn apply_moves_the_users_branch_forward() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = with_result(&project);
        assert!(!spaces.is_applied("del-1").unwrap());
        let applied = spaces.apply("del-1", How::Auto).unwrap();
        assert!(spaces.is_applied("del-1").unwrap());
        let commit = Some(project.git("rev-parse legation/del-1/result"));
        assert_eq!(applied, Applied { files: vec!["README.md".into(), "new.txt".into()], commit });
        assert_eq!(project.read("README.md"), "changed\n");
        assert_eq!(project.git("status --porcelain --branch"), "## main");
        assert!(spaces.apply("del-1", How::Auto).unwrap().files.is_empty());
    });
}

#[test]
fn apply_merges_when_the_users_branch_has_moved() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = with_result(&project);
        project.write("mine.txt", "mine\n");
        project.commit("mine");
        let refused = spaces.apply("del-1", How::FastForward).unwrap_err().to_string();
        expect!["your branch has moved since the work began; apply it with --merge or --squash"]
            .assert_eq(&refused);
        let applied = spaces.apply("del-1", How::Auto).unwrap();
        assert_eq!(applied.files, ["README.md", "new.txt"]);
        assert_eq!(project.git("log -1 --format=%s%n%an"), "Merge the result of del-1\nAna");
        assert_eq!(project.git("rev-parse HEAD^2"), project.git("rev-parse legation/del-1/result"));
        assert_eq!(project.read("mine.txt"), "mine\n");
        assert_eq!(project.git("status --porcelain"), "");
    });
}

#[test]
fn apply_makes_a_merge_commit_when_asked() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = with_result(&project);
        spaces.apply("del-1", How::Merge).unwrap();
        assert_eq!(project.git("rev-parse HEAD^2"), project.git("rev-parse legation/del-1/result"));
    });
}

#[test]
fn apply_refuses_what_it_could_damage_and_then_changes_nothing() {
    in_every_way(|| {
        type Prepare = fn(&Project);
        let cases: &[(Prepare, &str)] = &[
            (
                |project| {
                    project.write("src/a.txt", "mine\n");
                    project.git("add -A");
                },
                "there are changes in the index: src/a.txt; commit them, or put them aside with git stash, then try again",
            ),
            (
                |project| project.write("README.md", "mine\n"),
                "your uncommitted changes would be overwritten: README.md; commit them, or put them aside with git stash, then try again",
            ),
            (
                |project| project.write("new.txt", "mine\n"),
                "untracked files of yours would be overwritten: new.txt; move them away, then try again",
            ),
            (
                |project| {
                    project.write("README.md", "mine\n");
                    project.commit("mine");
                },
                "the result conflicts with your branch: README.md; nothing was changed; `git merge legation/del-1/result` lets you resolve it",
            ),
        ];
        for (prepare, message) in cases {
            let project = Project::new();
            let spaces = with_result(&project);
            prepare(&project);
            let before = (
                project.git("rev-parse HEAD"),
                project.git("status --porcelain"),
                project.read("README.md"),
            );
            let refused = spaces.apply("del-1", How::Auto).unwrap_err();
            assert_eq!(refused.to_string(), *message);
            let after = (
                project.git("rev-parse HEAD"),
                project.git("status --porcelain"),
                project.read("README.md"),
            );
            assert_eq!(after, before, "{message}");
            assert!(!project.dir().join(".git/MERGE_HEAD").exists());
        }
    });
}

#[test]
fn apply_leaves_unrelated_changes_alone() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = with_result(&project);
        project.write("src/a.txt", "mine\n");
        project.write("untracked.txt", "mine\n");
        spaces.apply("del-1", How::Auto).unwrap();
        assert_eq!(project.read("src/a.txt"), "mine\n");
        assert_eq!(project.git("status --porcelain"), " M src/a.txt\n?? untracked.txt");
    });
}

#[test]
fn apply_runs_no_hooks() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = with_result(&project);
        let hook = project.dir().join(".git/hooks/post-merge");
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::write(&hook, format!("#!/bin/sh\ntouch '{}'\n", project.outside("ran").display()))
            .unwrap();
        super::project::make_executable(&hook);
        spaces.apply("del-1", How::Auto).unwrap();
        assert!(!project.outside("ran").exists());
    });
}

#[test]
fn apply_names_a_lock_that_stays_and_changes_nothing() {
    in_every_way(|| {
        let project = Project::new();
        drop(with_result(&project));
        let lock = project.dir().join(".git/index.lock");
        fs::write(&lock, "").unwrap();
        let options = Options { patience: Duration::from_millis(20), ..Options::default() };
        let refused = project.open_with(options).apply("del-1", How::Auto).unwrap_err();
        assert!(matches!(&refused, Error::Locked { path } if *path == lock), "{refused}");
        assert!(lock.exists());
        assert_eq!(project.read("README.md"), "hello\n");
    });
}

#[test]
fn apply_says_so_when_there_is_nothing_yet() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        begin(&spaces, "del-1");
        let refused = spaces.apply("del-1", How::Auto).unwrap_err().to_string();
        expect!["del-1 has no result yet; wait until one of its subtasks was merged"]
            .assert_eq(&refused);
        assert!(matches!(spaces.apply("del-9", How::Auto), Err(Error::Unknown { .. })));
        assert_eq!(git(&project.dir(), "status --porcelain"), "");
    });
}

#[test]
fn two_projects_in_one_repository_apply_one_after_the_other() {
    let project = Project::new();
    project.write("src/b.txt", "b\n");
    project.commit("second");
    let state = |name: &str| project.outside("legation").join(name);
    let one = Project::open_as(&project.dir(), &state("one"));
    let two = Project::open_as(&project.dir().join("src"), &state("two"));
    for round in 0..6 {
        let delegations = [("one", &one), ("two", &two)].map(|(name, spaces)| {
            let delegation = format!("del-{name}-{round}");
            begin(spaces, &delegation);
            let attempt = format!("exec-{name}-{round}");
            let place = spaces.create(&wanted(&delegation, &attempt)).unwrap();
            write(&place.root, &format!("{attempt}.txt"), "x\n");
            spaces.merge(&delegation, &keep(spaces, &place)).unwrap();
            (spaces, delegation)
        });
        thread::scope(|scope| {
            for (spaces, delegation) in &delegations {
                scope.spawn(move || spaces.apply(delegation, How::Auto).unwrap());
            }
        });
        thread::scope(|scope| {
            for (spaces, delegation) in &delegations {
                scope.spawn(move || spaces.revert(delegation).unwrap());
            }
        });
    }
    assert_eq!(project.git("status --porcelain"), "");
    project.git("fsck --strict");
}

#[test]
fn a_branch_without_what_the_work_builds_on_gets_only_what_was_done() {
    in_every_way(|| {
        let project = Project::new();
        project.git("checkout -q -b feature");
        project.write("wip.txt", "mine\n");
        project.commit("wip");
        let spaces = with_result(&project);
        project.git("checkout -q main");
        project.write("main.txt", "main\n");
        project.commit("main");
        let before = project.git("rev-parse HEAD");
        for how in [How::Auto, How::Merge, How::FastForward] {
            let refused = spaces.apply("del-1", how).unwrap_err().to_string();
            assert!(
                refused.contains("does not have the commits that del-1 builds on"),
                "{refused}"
            );
            assert_eq!(project.git("rev-parse HEAD"), before);
        }
        let applied = spaces.apply("del-1", How::Squash).unwrap();
        assert!(!applied.files.contains(&"wip.txt".to_owned()), "{applied:?}");
        assert!(!project.dir().join("wip.txt").exists());
        assert_eq!(project.git("rev-parse HEAD^"), before);
        spaces.revert("del-1").unwrap();
        assert_eq!(project.git("diff --stat HEAD~2"), "");
        // Where it began, it comes as ever.
        project.git("checkout -q feature");
        spaces.apply("del-1", How::Auto).unwrap();
        assert_eq!(project.read("wip.txt"), "mine\n");
    });
}
