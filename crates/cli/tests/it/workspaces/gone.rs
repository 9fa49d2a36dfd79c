//! Work that is not where somebody looks for it: cleared away, kept beside, or out of reach.

use expect_test::expect;

use super::{agent, delegate, json_of, once, seen};

#[test]
fn a_difference_that_was_cleared_away_is_told_of_as_gone() {
    for is_plain in [false, true] {
        let session = once();
        if is_plain {
            std::fs::remove_dir_all(session.dir().join(".git")).unwrap();
        }
        agent(&session, "half", "echo precious > precious.txt; exit 3");
        let delegation = delegate(&session, "half");
        let diff = ["diff", delegation.as_str(), "sub-1"];
        assert!(session.run(&diff).contains("+precious"));
        json_of(&session, &["clean", "--older-than", "0", "--unapplied", "--yes"]);
        expect![[r#"
            ! ERROR: the work of `sub-1` is gone: it was cleared away
            ! Suggestion: `legation workspaces list` shows what is still kept
            [exit 1]
        "#]]
        .assert_eq(&seen(&session, &diff, &[]));
    }
}

#[test]
fn a_result_that_was_cleared_away_is_told_of_as_gone() {
    for is_plain in [false, true] {
        let session = once();
        if is_plain {
            std::fs::remove_dir_all(session.dir().join(".git")).unwrap();
        }
        let script = "echo x > new.txt; legation submit --status completed --summary Done.";
        agent(&session, "maker", script);
        let delegation = delegate(&session, "maker");
        json_of(&session, &["clean", "--older-than", "0", "--unapplied", "--yes"]);
        for verb in [&["diff"][..], &["apply", "--yes"]] {
            let args = [verb, &[delegation.as_str()]].concat();
            expect![[r#"
                ! ERROR: the work of ID is gone: it was cleared away
                ! Suggestion: `legation workspaces list` shows what is still kept
                [exit 1]
            "#]]
            .assert_eq(&seen(&session, &args, &[(&delegation, "ID")]));
        }
    }
}

#[test]
fn work_that_could_not_be_kept_is_said_to_be_where_it_is() {
    let session = once();
    session.write(
        ".legation/config.toml",
        "[recovery]\nautoRetry = false\n[sandbox]\nfence = \"off\"\n",
    );
    let lock = "tree=REFS/$(git branch --show-current | cut -d/ -f2); mkdir -p $tree; \
                > $tree/$(basename $PWD).lock";
    let refs = session.dir().join(".git/refs/legation");
    let lock = lock.replace("REFS", &refs.display().to_string());
    agent(&session, "maker", &format!("echo x > new.txt; {lock}; exit 3"));
    let delegation = delegate(&session, "maker");
    let diff = ["diff", delegation.as_str(), "sub-1"];
    let list = json_of(&session, &["workspaces", "list"]);
    let attempt = list["workspaces"][0]["attempt"].as_str().unwrap().to_owned();
    expect![[r#"
        ! ERROR: the work of `sub-1` was not kept and is still in its workspace
        ! Suggestion: `legation workspaces show ATTEMPT` tells where that is
        [exit 1]
    "#]]
    .assert_eq(&seen(&session, &diff, &[(&attempt, "ATTEMPT")]));
    std::fs::remove_file(refs.join(&delegation).join(format!("{attempt}.lock"))).unwrap();
    json_of(&session, &["clean", "--older-than", "0", "--yes"]);
    assert!(session.run(&diff).contains("+x"));
}

#[test]
fn without_git_a_repository_is_not_taken_for_a_plain_folder() {
    let session = once();
    agent(&session, "maker", "cat .env; echo x > new.txt");
    let bin = session.root().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink("/bin/sh", bin.join("sh")).unwrap();
    let mut delegate = session.command(&session.dir(), &["delegate", "--agent", "maker", "Make"]);
    let ran = delegate.env("PATH", &bin).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(
        said.contains("the project is in a git repository, and git cannot be started"),
        "{said}"
    );
    assert!(said.contains("install git, or put it where PATH finds it"), "{said}");
}

#[test]
fn who_asks_for_an_empty_result_is_told_of_work_that_is_kept_beside_it() {
    let session = once();
    agent(&session, "half", "echo precious > precious.txt; exit 3");
    let delegation = delegate(&session, "half");
    expect![[r#"
        Nothing was changed.
        ! note: the work of `sub-1` is kept, and is not in the result; `legation diff ID sub-1` shows it
    "#]]
    .assert_eq(&seen(&session, &["diff", &delegation], &[(&delegation, "ID")]));
}

#[test]
fn a_project_that_was_moved_says_that_nothing_is_known_of_its_workspaces() {
    let session = once();
    let script = "echo x > new.txt; legation submit --status completed --summary Done.";
    agent(&session, "maker", script);
    let id = delegate(&session, "maker");
    // To whom nothing has happened yet, as to a project that was moved.
    for folder in ["delegations", "applied"] {
        drop(std::fs::remove_dir_all(session.paths().state.join(folder)));
    }
    for verb in ["apply", "diff", "rollback"] {
        let args = if verb == "apply" { vec![verb, "--yes", &id] } else { vec![verb, &id] };
        let said = seen(&session, &args, &[(&id, "DEL")]);
        assert!(said.contains("nothing is known here of the workspaces of DEL"), "{verb}: {said}");
        assert!(said.contains("legation/DEL/result"), "{verb}: {said}");
    }
}
