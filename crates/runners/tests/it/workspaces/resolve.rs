//! Workspaces of those who bring two sides together, and what becomes of their work.

use legation_runners::workspace::{Kept, Outlook, Place, Spaces};

use super::project::{Project, create, git, in_every_way, keep, merge, read, wanted, write};

/// The work of one attempt is merged and the other's meets it; a third workspace has both.
fn both_sides(project: &Project) -> (Spaces, Place) {
    let spaces = project.open();
    let (first, second) = (create(&spaces, "exec-1"), create(&spaces, "exec-2"));
    write(&first.root, "src/a.txt", "one\nTWO\nthree\nfour\nfive\n");
    write(&first.root, "first.txt", "1\n");
    write(&second.root, "src/a.txt", "one\n2\nthree\nfour\nfive\n");
    write(&second.root, "second.txt", "2\n");
    merge(&spaces, &keep(&spaces, &first));
    let kept = keep(&spaces, &second);
    let Outlook::Conflict { files, .. } = spaces.foresee("del-1", &kept).unwrap() else {
        panic!("it fits")
    };
    assert_eq!(files, ["src/a.txt"]);
    let place = spaces.confront(&wanted("del-1", "exec-3"), "exec-2").unwrap();
    (spaces, place)
}

fn is_brought_together(project: &Project) -> (Spaces, Place, Kept) {
    let (spaces, place) = both_sides(project);
    assert_eq!(read(&place.root, "first.txt") + &read(&place.root, "second.txt"), "1\n2\n");
    let marked = read(&place.root, "src/a.txt");
    let lines: Vec<&str> = marked.lines().collect();
    assert!(lines[1].starts_with("<<<<<<< ") && lines[5].starts_with(">>>>>>> "), "{marked}");
    assert_eq!(
        [&lines[..1], &lines[2..5], &lines[6..]].concat(),
        ["one", "TWO", "=======", "2", "three", "four", "five"]
    );
    assert_eq!(spaces.look(&place).unwrap().files_changed, Vec::<String>::new());
    write(&place.root, "src/a.txt", "one\nTWO, 2\nthree\nfour\nfive\n");
    assert_eq!(spaces.look(&place).unwrap().files_changed, ["src/a.txt"]);
    let kept = keep(&spaces, &place);
    assert_eq!(spaces.unresolved(&place, &kept).unwrap(), Vec::<String>::new());
    let Outlook::Fits(candidate) = spaces.foresee("del-1", &kept).unwrap() else {
        panic!("it does not fit")
    };
    assert!(spaces.advance("del-1", &kept, &candidate).unwrap());
    let diff = spaces.diff("del-1", None).unwrap();
    for line in ["+1", "+2", "+TWO, 2"] {
        assert!(diff.contains(line), "{line} is missing in {diff}");
    }
    assert!(!diff.contains("<<<<<<<"), "{diff}");
    (spaces, place, kept)
}

#[test]
fn a_workspace_has_both_sides_and_its_work_goes_back_as_a_merge() {
    in_every_way(|| {
        let project = Project::new();
        let (_, _, kept) = is_brought_together(&project);
        // Nothing with markers in it becomes part of the history.
        let parents = project.git(&format!("rev-list --parents -n1 {}", kept.commit));
        assert_eq!(parents.split(' ').count(), 3, "{parents}");
        let log = project.git("log --format=%H refs/heads/legation/del-1/result");
        for commit in log.lines() {
            let text = git(&project.dir(), &format!("show {commit}:src/a.txt"));
            assert!(!text.contains("<<<<<<<"), "{commit}: {text}");
        }
        assert_eq!(project.git("rev-parse refs/heads/legation/del-1/result"), kept.commit);
    });
    let project = Project::plain();
    project.write("src/a.txt", "one\ntwo\nthree\nfour\nfive\n");
    is_brought_together(&project);
}

/// What is said to be left after this was made of the file in conflict.
fn left(project: &Project, text: &str) -> Vec<String> {
    let (spaces, place) = both_sides(project);
    write(&place.root, "src/a.txt", text);
    let kept = keep(&spaces, &place);
    spaces.unresolved(&place, &kept).unwrap()
}

#[test]
fn whatever_is_left_of_a_marker_is_noticed() {
    let cases = [
        ("one\n<<<<<<< mine\nTWO\n", true),
        ("one\r\n=======\r\ntwo\r\n", true),
        (">>>>>>>\n", true),
        ("||||||| base\n", true),
        ("one\n<<<<<<<<< not one\n", false),
        ("one\n ======= \n>>>>>>>x\n", false),
        ("", false),
    ];
    for (text, is_left) in cases {
        let expected: &[&str] = if is_left { &["src/a.txt"] } else { &[] };
        assert_eq!(left(&Project::new(), text), expected, "{text:?}");
        let plain = Project::plain();
        plain.write("src/a.txt", "one\ntwo\nthree\nfour\nfive\n");
        assert_eq!(left(&plain, text), expected, "{text:?} in a plain folder");
    }
}

#[test]
fn what_one_side_has_is_text_and_no_marker() {
    let heading = "Title\n=======\n";
    for project in [Project::new(), Project::plain()] {
        let spaces = project.open();
        let (first, second) = (create(&spaces, "exec-1"), create(&spaces, "exec-2"));
        write(&first.root, "a.md", &format!("{heading}one\n"));
        write(&second.root, "a.md", &format!("{heading}two\n"));
        merge(&spaces, &keep(&spaces, &first));
        keep(&spaces, &second);
        let place = spaces.confront(&wanted("del-1", "exec-3"), "exec-2").unwrap();
        write(&place.root, "a.md", &format!("{heading}one and two\n"));
        let kept = keep(&spaces, &place);
        assert_eq!(spaces.unresolved(&place, &kept).unwrap(), Vec::<String>::new());
    }
}

#[test]
fn a_file_that_one_side_deleted_is_as_the_other_has_it_until_somebody_decides() {
    for project in [Project::new(), Project::plain()] {
        project.write("src/a.txt", "one\ntwo\n");
        let is_git = project.dir().join(".git").exists();
        if is_git {
            project.commit("second");
        }
        let spaces = project.open();
        let (first, second) = (create(&spaces, "exec-1"), create(&spaces, "exec-2"));
        std::fs::remove_file(first.root.join("src/a.txt")).unwrap();
        write(&second.root, "src/a.txt", "one\ntwo\nthree\n");
        merge(&spaces, &keep(&spaces, &first));
        keep(&spaces, &second);
        let place = spaces.confront(&wanted("del-1", "exec-3"), "exec-2").unwrap();
        assert_eq!(read(&place.root, "src/a.txt"), "one\ntwo\nthree\n");
        assert_eq!(spaces.keep(&place, &super::project::note()).unwrap(), None, "no decision");
        write(&place.root, "src/a.txt", "one\nthree\n");
        let kept = keep(&spaces, &place);
        assert_eq!(spaces.unresolved(&place, &kept).unwrap(), Vec::<String>::new());
        merge(&spaces, &kept);
        assert!(spaces.diff("del-1", None).unwrap().contains("+three"));
    }
}

#[test]
fn the_workspace_is_the_same_after_a_crash_and_starts_from_the_result_as_it_is_then() {
    in_every_way(|| {
        let project = Project::new();
        let (spaces, place) = both_sides(&project);
        drop(spaces);
        let spaces = project.open();
        assert_eq!(spaces.confront(&wanted("del-1", "exec-3"), "exec-2").unwrap(), place);
        // Somebody else is merged meanwhile, and it still fits.
        let other = create(&spaces, "exec-4");
        write(&other.root, "other.txt", "4\n");
        merge(&spaces, &keep(&spaces, &other));
        write(&place.root, "src/a.txt", "one\nboth\nthree\nfour\nfive\n");
        let kept = keep(&spaces, &place);
        let Outlook::Fits(candidate) = spaces.foresee("del-1", &kept).unwrap() else {
            panic!("it does not fit")
        };
        assert!(!candidate.is_forward && spaces.is_untried(&kept, &candidate).unwrap());
        assert!(spaces.advance("del-1", &kept, &candidate).unwrap());
        let diff = spaces.diff("del-1", None).unwrap();
        assert!(diff.contains("+4") && diff.contains("+both"), "{diff}");
    });
}

#[test]
fn work_that_was_never_kept_cannot_be_met() {
    let project = Project::new();
    let spaces = project.open();
    create(&spaces, "exec-1");
    let error = spaces.confront(&wanted("del-1", "exec-3"), "exec-2").unwrap_err();
    assert_eq!(error.to_string(), "there is no kept work \"exec-2\" here");
}
