//! What stands, what is kept, and what goes by age and quota.

use std::process::Command;
use std::time::Duration;

use legation_core::money::Usd;
use legation_runners::workspace::{
    Because, Beyond, Error, From, How, Limits, Note, Options, Spaces, Surplus, Wanted,
};

use super::project::{
    Project, create, git, in_every_way, keep, merge, note, read, start, wanted, write,
};

/// Nothing is too old and nothing too much.
const AMPLE: Limits =
    Limits { max_age: Duration::from_secs(3600), quota_bytes: u64::MAX, unapplied: false };
/// Everything is too old.
const OLD: Limits = Limits { max_age: Duration::ZERO, ..AMPLE };

/// What would go, a line each.
fn goes(spaces: &Spaces, limits: Limits, in_use: &str) -> String {
    let surplus = spaces.surplus(limits, |tree| tree == in_use).unwrap();
    let line = |(what, because): &(Surplus, Because)| match what {
        Surplus::Workspace(standing) => {
            format!("workspace {} {because:?}\n", standing.place.attempt)
        }
        Surplus::Kept(work) => format!("kept {} {because:?}\n", work.attempt),
        Surplus::Spare(_) => format!("spare {because:?}\n"),
        Surplus::Names(names) => format!("result of {} {because:?}\n", names.delegation),
    };
    surplus.iter().map(line).collect()
}

fn clear(spaces: &Spaces, limits: Limits) {
    for (what, _) in spaces.surplus(limits, |_| false).unwrap() {
        spaces.clear_away(&what).unwrap();
    }
}

#[test]
fn what_stands_and_what_is_kept_is_told_with_where_it_came_from() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "new.txt", "new\n");
        let standing = spaces.standing().unwrap();
        assert_eq!((standing.len(), standing[0].is_kept), (1, false));
        assert!(standing[0].bytes > 0 && spaces.works().unwrap().is_empty());
        let kept = keep(&spaces, &place);
        assert!(spaces.standing().unwrap()[0].is_kept);
        spaces.remove(&place).unwrap();
        assert!(spaces.standing().unwrap().is_empty());
        let works = spaces.works().unwrap();
        assert_eq!((works.len(), &works[0].commit), (1, &kept.commit));
        assert_eq!(works[0].reference, "refs/legation/del-1/exec-1");
        let known = works[0].provenance.clone().unwrap();
        let told = (known.agent.as_str(), known.delegation.as_str(), known.subtask.as_str());
        assert_eq!(told, ("fixer", "del-1", "Fix: the parser"));
        assert_eq!(spaces.work_files(&works[0]).unwrap(), ["new.txt"]);
    });
}

#[test]
fn the_time_that_an_attempt_gives_its_commits_does_not_make_its_work_old() {
    let project = Project::new();
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    write(&place.root, "new.txt", "new\n");
    let git = "add -A && GIT_COMMITTER_DATE=2001-01-01T00:00:00Z git -c user.name=x \
               -c user.email=x@y commit -qm old";
    let made =
        Command::new("sh").args(["-c", &format!("git {git}")]).current_dir(&place.root).status();
    assert!(made.unwrap().success());
    keep(&spaces, &place);
    spaces.remove(&place).unwrap();
    let all = Limits { unapplied: true, ..AMPLE };
    assert_eq!(goes(&spaces, all, ""), "");
}

#[test]
fn nothing_goes_that_is_in_use_young_or_wanted() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "new.txt", "new\n");
        assert_eq!(goes(&spaces, AMPLE, ""), "");
        assert!(!goes(&spaces, OLD, "del-1").contains("workspace"));
        assert!(goes(&spaces, OLD, "").contains("workspace exec-1 Age"));
        let none = Limits { quota_bytes: 0, ..AMPLE };
        assert!(goes(&spaces, none, "").contains("workspace exec-1 Quota"));
        spaces.exempt("exec-1", true).unwrap();
        assert!(!goes(&spaces, OLD, "").contains("workspace"));
        spaces.exempt("exec-1", false).unwrap();
        assert!(goes(&spaces, OLD, "").contains("workspace exec-1 Age"));
    });
}

#[test]
fn work_is_kept_before_its_workspace_goes_and_stays_until_a_branch_has_it() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "precious.txt", "precious\n");
        clear(&spaces, OLD);
        assert!(!place.root.exists());
        assert_eq!(project.git("show refs/legation/del-1/exec-1:precious.txt"), "precious");
        // It is in no branch, so however old it is, only the user's word lets it go.
        clear(&spaces, OLD);
        let works = spaces.works().unwrap();
        assert_eq!(works.len(), 1);
        let all = Limits { unapplied: true, ..OLD };
        assert_eq!(goes(&spaces, all, ""), "kept exec-1 Age\n");
        assert_eq!(goes(&spaces, all, "del-1"), "", "its tree may still need it");
        clear(&spaces, all);
        assert!(spaces.works().unwrap().is_empty());
    });
}

#[test]
fn work_that_the_users_branch_has_goes_with_its_age() {
    let project = Project::new();
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    write(&place.root, "new.txt", "new\n");
    let kept = keep(&spaces, &place);
    merge(&spaces, &kept);
    spaces.remove(&place).unwrap();
    assert_eq!(goes(&spaces, OLD, ""), "");
    spaces.apply("del-1", How::Auto).unwrap();
    assert_eq!(goes(&spaces, OLD, ""), "kept exec-1 Age\nresult of del-1 Age\n");
    clear(&spaces, OLD);
    assert_eq!(project.git("for-each-ref refs/legation/del-1/exec-1"), "");
    assert_eq!(project.read("new.txt"), "new\n");
}

#[test]
fn checkouts_that_wait_for_their_next_use_go_first_and_nothing_that_is_used() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let first = create(&spaces, "exec-1");
        spaces.keep(&first, &note()).unwrap();
        spaces.remove(&first).unwrap();
        let second = create(&spaces, "exec-2");
        clear(&spaces, Limits { quota_bytes: 0, ..AMPLE });
        assert!(!second.root.exists(), "nobody used it");
        let third = create(&spaces, "exec-3");
        for (what, _) in spaces.surplus(OLD, |_| true).unwrap() {
            spaces.clear_away(&what).unwrap();
        }
        assert_eq!(read(&third.root, "README.md"), "hello\n");
        write(&third.root, "README.md", "changed\n");
        keep(&spaces, &third);
        spaces.remove(&third).unwrap();
    });
}

#[test]
fn kept_work_is_restored_beside_everything_and_over_nothing() {
    for project in [Project::new(), Project::plain()] {
        project.write("README.md", "hello\n");
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "deep/new.txt", "new\n");
        keep(&spaces, &place);
        spaces.remove(&place).unwrap();
        let work = spaces.works().unwrap().remove(0);
        let to = project.outside("my restored work");
        spaces.restore(&work, &to).unwrap();
        assert_eq!(read(&to, "deep/new.txt") + &read(&to, "README.md"), "new\nhello\n");
        write(&to, "mine.txt", "mine\n");
        let again = spaces.restore(&work, &to).unwrap_err();
        assert!(matches!(&again, Error::Refused { .. }), "{again}");
        assert_eq!(read(&to, "mine.txt"), "mine\n");
        assert!(!project.dir().join("deep").exists());
    }
}

#[test]
fn a_survey_leaves_nothing_behind_and_says_the_same_as_the_real_thing() {
    let project = Project::new();
    let auto = (Wanted::Auto, &Beyond::default());
    let choice = Spaces::survey(&project.dir(), &project.state(), auto).unwrap();
    assert!(!project.state().exists());
    assert_eq!(choice.way, project.open_exactly(&Options::default()).mechanism().way);
    let plain = Project::plain();
    let choice = Spaces::survey(&plain.dir(), &plain.state(), auto).unwrap();
    assert_eq!(choice.way.name(), "copy");
}

#[test]
fn results_go_by_the_rule_of_kept_work() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "new.txt", "1\n");
        merge(&spaces, &keep(&spaces, &place));
        spaces.remove(&place).unwrap();
        let names = "for-each-ref --format=%(refname) refs/heads/legation refs/legation/del-1/base";
        assert_eq!(project.git(names).lines().count(), 2);
        // Nobody has it yet, so it goes on the user's word only.
        assert_eq!(goes(&spaces, OLD, ""), spares(&spaces));
        let word = Limits { unapplied: true, ..OLD };
        assert!(goes(&spaces, word, "").ends_with("kept exec-1 Age\nresult of del-1 Age\n"));
        assert_eq!(goes(&spaces, word, "del-1"), spares(&spaces), "the tree is not over");
        spaces.apply("del-1", How::Auto).unwrap();
        assert!(goes(&spaces, OLD, "").ends_with("kept exec-1 Age\nresult of del-1 Age\n"));
        assert_eq!(goes(&spaces, AMPLE, ""), "");
        // A branch that somebody has checked out stays.
        project.git("checkout -q legation/del-1/result");
        assert!(!goes(&spaces, OLD, "").contains("result"));
        project.git("checkout -q main");
        clear(&spaces, OLD);
        assert_eq!(project.git(names), "");
        assert_eq!(project.read("new.txt"), "1\n");
    });
}

/// The lines of spare checkouts, however many there are.
fn spares(spaces: &Spaces) -> String {
    goes(spaces, OLD, "del-1")
}

#[test]
fn kept_work_says_what_it_cost() {
    let project = Project::new();
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    write(&place.root, "new.txt", "1\n");
    let cost = Some(Usd::from_nanos(12_300_000));
    let kept = spaces.keep(&place, &Note { cost, ..note() }).unwrap().unwrap();
    let message = project.git(&format!("log -1 --format=%B {}", kept.commit));
    assert!(message.contains("\nLegation-Cost: 0.0123 USD"), "{message}");
    let works = spaces.works().unwrap();
    assert_eq!(works[0].provenance.as_ref().unwrap().cost, cost);
}

/// What is left of the layers of copies.
fn layers(project: &Project) -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["bases", "results", "kept"] {
        for entry in std::fs::read_dir(project.state().join(folder)).into_iter().flatten() {
            found.push(format!("{folder}/{}", entry.unwrap().file_name().to_string_lossy()));
        }
    }
    found.sort();
    found
}

#[test]
fn copies_that_delegations_started_from_go_once_their_results_were_applied() {
    let project = Project::plain();
    project.write("notes.txt", "one\n");
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    write(&place.root, "notes.txt", "two\n");
    merge(&spaces, &keep(&spaces, &place));
    spaces.remove(&place).unwrap();
    // Only here is what nobody has applied yet.
    assert_eq!(goes(&spaces, OLD, ""), "");
    spaces.apply("del-1", How::Auto).unwrap();
    assert_eq!(goes(&spaces, AMPLE, "") + &goes(&spaces, OLD, "del-1"), "");
    assert_eq!(goes(&spaces, OLD, ""), "kept exec-1 Age\nresult of del-1 Age\n");
    // Kept work needs what it was built on.
    spaces.exempt("exec-1", true).unwrap();
    clear(&spaces, OLD);
    assert_eq!(
        layers(&project),
        ["bases/del-1", "kept/exec-1", "results/del-1", "results/del-1.json"]
    );
    spaces.exempt("exec-1", false).unwrap();
    clear(&spaces, OLD);
    assert_eq!(layers(&project), Vec::<String>::new());
    assert_eq!(goes(&spaces, OLD, ""), "");
    assert_eq!(project.read("notes.txt"), "two\n");
}

#[test]
fn what_was_brought_to_the_parent_is_not_only_there_and_what_was_taken_back_is() {
    let project = Project::plain();
    project.write("notes.txt", "one\n");
    let spaces = project.open();
    let parent = create(&spaces, "exec-1");
    spaces.begin(&start("del-2", From::Attempt("exec-1".into()))).unwrap();
    let child = spaces.create(&wanted("del-2", "exec-2")).unwrap();
    write(&child.root, "child.txt", "x\n");
    let kept = keep(&spaces, &child);
    spaces.merge("del-2", &kept).unwrap();
    spaces.remove(&child).unwrap();
    assert_eq!(goes(&spaces, OLD, "del-1"), "");
    spaces.bring(&parent, "del-2").unwrap();
    merge(&spaces, &keep(&spaces, &parent));
    spaces.remove(&parent).unwrap();
    assert_eq!(goes(&spaces, OLD, ""), "kept exec-2 Age\nresult of del-2 Age\n");
    spaces.apply("del-1", How::Auto).unwrap();
    spaces.revert("del-1").unwrap();
    assert_eq!(goes(&spaces, OLD, ""), "kept exec-2 Age\nresult of del-2 Age\n");
    clear(&spaces, OLD);
    spaces.apply("del-1", How::Auto).unwrap();
    assert_eq!(project.read("child.txt"), "x\n");
}

#[test]
fn what_another_project_of_the_same_repository_keeps_is_its_own() {
    let project = Project::new();
    let (state, other) = (project.state(), project.outside("other state"));
    let ours = Spaces::open(&project.dir(), &state).unwrap();
    let theirs = Spaces::open(&project.dir(), &other).unwrap();
    let place = create(&theirs, "exec-theirs");
    write(&place.root, "new.txt", "new\n");
    keep(&theirs, &place);
    theirs.remove(&place).unwrap();
    let limits = Limits { unapplied: true, ..OLD };
    assert_eq!(goes(&ours, limits, ""), "");
    assert!(goes(&theirs, limits, "").ends_with("kept exec-theirs Age\n"));
}

#[test]
fn what_a_failed_delegation_started_from_goes_by_its_age_and_who_tries_again_is_told() {
    let project = Project::plain();
    project.write("notes.txt", "one\n");
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    spaces.keep(&place, &note()).unwrap();
    spaces.remove(&place).unwrap();
    clear(&spaces, OLD);
    let refused = spaces.create(&wanted("del-1", "exec-2")).unwrap_err().to_string();
    assert_eq!(refused, "what del-1 started from was cleared away; delegate the task anew");
}

#[test]
fn what_was_applied_and_cleared_away_cannot_be_taken_back_and_says_so() {
    let project = Project::plain();
    project.write("notes.txt", "one\n");
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    write(&place.root, "notes.txt", "two\n");
    merge(&spaces, &keep(&spaces, &place));
    spaces.remove(&place).unwrap();
    spaces.apply("del-1", How::Auto).unwrap();
    clear(&spaces, OLD);
    let refused = spaces.revert("del-1").unwrap_err().to_string();
    assert!(refused.starts_with("what was applied of del-1 was cleared away since"), "{refused}");
    assert_eq!(project.read("notes.txt"), "two\n");
}

#[test]
fn what_git_could_not_finish_on_a_full_disk_does_not_stay_there() {
    let project = Project::new();
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    let objects = project.dir().join(".git/objects");
    let run = |program: &str, args: &[&str]| {
        Command::new(program).args(args).arg(&objects).status().is_ok_and(|ended| ended.success())
    };
    let aside = project.outside("objects");
    std::fs::rename(&objects, &aside).unwrap();
    std::fs::create_dir(&objects).unwrap();
    if !run("mount", &["-t", "tmpfs", "-o", "size=4m", "tmpfs"]) {
        eprintln!("SKIPPED: nothing can be mounted here");
        return;
    }
    let from = format!("{}/.", aside.display());
    assert!(run("cp", &["-a", &from]));
    // Nothing that could be made smaller.
    let mut rng = fastrand::Rng::with_seed(1);
    let bytes: Vec<u8> = (0..8 << 20).map(|_| rng.u8(..)).collect();
    std::fs::write(place.root.join("large.bin"), bytes).unwrap();
    spaces.keep(&place, &note()).unwrap_err();
    let folders = std::fs::read_dir(&objects).unwrap().map(|entry| entry.unwrap().path());
    let inside =
        folders.filter(|path| path.is_dir()).flat_map(|path| std::fs::read_dir(path).unwrap());
    let names = inside.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let drafts: Vec<String> = names.filter(|name| name.starts_with("tmp_")).collect();
    assert_eq!(drafts, Vec::<String>::new());
    assert!(run("mount", &["-o", "remount,size=64m"]));
    assert!(spaces.keep(&place, &note()).unwrap().is_some());
}

#[test]
fn a_line_break_in_the_path_of_a_project_is_named() {
    let project = Project::plain();
    let odd = project.outside("two\nlines");
    std::fs::create_dir(&odd).unwrap();
    git(&odd, "init -q .");
    let refused = Spaces::open(&odd, &project.state()).unwrap_err().to_string();
    assert!(refused.starts_with("there is a line break in the path"), "{refused}");
    assert!(refused.ends_with("; rename the folder"), "{refused}");
}

#[test]
fn what_was_taken_back_is_in_no_branch_and_stays() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "new.txt", "1\n");
        merge(&spaces, &keep(&spaces, &place));
        spaces.remove(&place).unwrap();
        spaces.apply("del-1", How::Auto).unwrap();
        assert!(spaces.works().unwrap()[0].in_branch);
        spaces.revert("del-1").unwrap();
        assert!(!spaces.works().unwrap()[0].in_branch);
        clear(&spaces, OLD);
        spaces.apply("del-1", How::Auto).unwrap();
        assert_eq!(project.read("new.txt"), "1\n");
    });
}
