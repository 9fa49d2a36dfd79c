//! `legation workspaces`, `clean` and `rollback`: what people see of workspaces, and do.

mod gone;

use std::path::PathBuf;
use std::process::Command;

use expect_test::expect;
use serde_json::{Value, json};

use crate::engine::{DONE, Pipe, agent, json_of, repository, spawn};
use crate::session::Session;

/// A repository in which nothing is tried twice.
fn once() -> Session {
    let session = repository();
    configure(&session, "");
    session
}

fn configure(session: &Session, more: &str) {
    let pipes = session.root().join("pipes");
    let text = format!(
        "[recovery]\nautoRetry = false\n[sandbox]\nwritable = [\"{}\"]\n{more}",
        pipes.display()
    );
    session.write(".legation/config.toml", text);
}

fn delegate(session: &Session, agent: &str) -> String {
    let view = json_of(session, &["delegate", "--agent", agent, "Do it"]);
    view["delegationId"].as_str().unwrap_or_else(|| panic!("{view}")).to_owned()
}

fn git(session: &Session, line: &str) -> String {
    let done = Command::new("sh")
        .args(["-c", &format!("git -c user.name=a -c user.email=a@b.c {line}")])
        .current_dir(session.dir())
        .output()
        .unwrap();
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

/// What is seen, with ids taken out.
fn seen(session: &Session, args: &[&str], ids: &[(&str, &str)]) -> String {
    let seen = session.run(args);
    ids.iter().fold(seen, |seen, (id, name)| seen.replace(id, name))
}

/// A project in which an agent failed and left work.
fn with_kept_work() -> (Session, String, String) {
    let session = once();
    agent(&session, "half", "echo precious > precious.txt; exit 3");
    let delegation = delegate(&session, "half");
    let list = json_of(&session, &["workspaces", "list"]);
    assert_eq!(list["workspaces"], json!([]), "{list}");
    let attempt = list["kept"][0]["attempt"].as_str().unwrap_or_else(|| panic!("{list}"));
    let attempt = attempt.to_owned();
    (session, delegation, attempt)
}

/// A project in which the work of an attempt could not be kept, and its workspace.
fn with_left_workspace() -> (Session, String, PathBuf) {
    let session = repository();
    session.write(
        ".legation/config.toml",
        "[recovery]\nautoRetry = false\n[sandbox]\nfence = \"off\"\n",
    );
    let names = session.dir().join(".git/refs/legation");
    let script = format!("echo left > left.txt; rm -rf '{0}'; echo > '{0}'", names.display());
    agent(&session, "w", &format!("{script}; exit 3"));
    delegate(&session, "w");
    let list = json_of(&session, &["workspaces", "list"]);
    let entry = &list["workspaces"][0];
    assert_eq!(entry["state"], "left", "{list}");
    let path = PathBuf::from(entry["path"].as_str().unwrap().replace("$TMP", &root(&session)));
    (session, entry["attempt"].as_str().unwrap().to_owned(), path)
}

fn root(session: &Session) -> String {
    session.root().display().to_string()
}

#[test]
fn a_project_without_workspaces_says_so() {
    let session = repository();
    expect![[r#"
        No workspace is there, and no work is kept.
    "#]]
    .assert_eq(&session.run(&["workspaces", "list"]));
    expect![[r#"
        Nothing is too old and nothing too much: there is nothing to clear away.
    "#]]
    .assert_eq(&session.run(&["clean", "--yes"]));
    assert_eq!(json_of(&session, &["workspaces", "list"]), json!({"workspaces": [], "kept": []}));
    expect![[r#"
        ! ERROR: there is no workspace `exec-1`, nor kept work
        ! Suggestion: `legation workspaces list` shows what there is
        [exit 1]
    "#]]
    .assert_eq(&session.run(&["workspaces", "show", "exec-1"]));
}

#[test]
fn kept_work_is_listed_and_shown_with_where_it_came_from() {
    let (session, delegation, attempt) = with_kept_work();
    let ids = [(delegation.as_str(), "DEL"), (attempt.as_str(), "EXEC")];
    expect![[r#"
        kept    EXEC · sub-1 · half · just now
                refs/legation/DEL/EXEC
    "#]]
    .assert_eq(&seen(&session, &["workspaces", "list"], &ids));
    let value = json_of(&session, &["workspaces", "show", &attempt]);
    assert_eq!(value["files"], json!(["precious.txt"]));
    assert_eq!((&value["agent"], &value["status"]), (&json!("half"), &json!("failed")));
    let session_id = value["session"].as_str().unwrap().to_owned();
    let subtask = value["subtask"].as_str().unwrap().to_owned();
    let ids = [ids[0], ids[1], (session_id.as_str(), "SESS"), (subtask.as_str(), "SUB")];
    let page = seen(&session, &["workspaces", "show", &delegation], &ids);
    expect![[r#"
        EXEC · kept, just now
          delegation    DEL
          subtask       SUB
          title         Do it
          agent         half
          session       SESS
          cost          unknown
          kept as       refs/legation/DEL/EXEC
          changed       1 file
            precious.txt
        Next: legation workspaces restore EXEC [DIR]
    "#]]
    .assert_eq(&page);
}

#[test]
fn an_id_that_could_be_several_is_asked_about() {
    let (session, ..) = with_kept_work();
    delegate(&session, "half");
    let seen = session.run(&["workspaces", "show", "exec-"]);
    assert!(seen.starts_with("! ERROR: `exec-` could be any of several\n"), "{seen}");
    assert!(seen.contains("Suggestion: name one: exec-") && seen.ends_with("[exit 1]\n"), "{seen}");
}

#[test]
fn kept_work_is_restored_into_a_new_folder_and_over_nothing() {
    let (session, delegation, attempt) = with_kept_work();
    let ids = [(delegation.as_str(), "DEL"), (attempt.as_str(), "EXEC")];
    let restore = |dir: &str| seen(&session, &["workspaces", "restore", &attempt, dir], &ids);
    expect![[r#"
        The work of EXEC is in $TMP/project/../found
        It is a worktree of your repository; git worktree remove ends it.
    "#]]
    .assert_eq(&restore("../found"));
    let found = std::fs::read_to_string(session.root().join("found/precious.txt")).unwrap();
    assert_eq!(found, "precious\n");
    expect![[r#"
        ! ERROR: $TMP/project/../found is there already
        ! Suggestion: name a folder that is not there yet
        [exit 1]
    "#]]
    .assert_eq(&restore("../found"));
    let beside = json_of(&session, &["workspaces", "restore", &attempt]);
    assert_eq!(beside["path"], format!("$TMP/project-{attempt}"));
    expect![[r#"
        ! ERROR: the workspace of EXEC is gone; its work is kept
        ! Suggestion: `legation workspaces restore EXEC DIR` puts it into a folder of its own
        [exit 1]
    "#]]
    .assert_eq(&seen(&session, &["workspaces", "shell", &attempt], &ids));
}

#[test]
fn a_plain_folder_has_its_work_kept_and_restored_alike() {
    let session = once();
    std::fs::remove_dir_all(session.dir().join(".git")).unwrap();
    agent(&session, "half", "echo precious > precious.txt; exit 3");
    let delegation = delegate(&session, "half");
    let list = json_of(&session, &["workspaces", "list"]);
    assert_eq!(list["kept"][0]["delegationId"], delegation, "{list}");
    assert_eq!(list["kept"][0]["treeId"], delegation, "{list}");
    json_of(&session, &["workspaces", "restore", &delegation, "../found"]);
    for name in ["precious.txt", "README.md"] {
        assert!(session.root().join("found").join(name).exists(), "{name}");
    }
    session.run(&["clean", "--older-than", "0", "--yes"]);
    assert_eq!(json_of(&session, &["workspaces", "list"])["kept"].as_array().unwrap().len(), 1);
    json_of(&session, &["clean", "--older-than", "0", "--unapplied", "--yes"]);
    assert_eq!(json_of(&session, &["workspaces", "list"])["kept"], json!([]));
}

#[test]
fn clearing_up_only_tells_before_it_is_told_to_and_never_loses_work() {
    let (session, attempt, path) = with_left_workspace();
    let ids = [(attempt.as_str(), "EXEC")];
    assert!(path.join("left.txt").exists());
    let clean = ["clean", "--older-than", "0"];
    let first = |text: String| text.lines().next().unwrap_or_default().to_owned();
    assert_eq!(first(seen(&session, &clean, &ids)), "EXEC  workspace · just now · old");
    assert!(path.exists(), "nobody said yes");
    // Where it cannot be kept, it stays.
    let all = ["clean", "--older-than", "0", "--yes"];
    let stayed = seen(&session, &all, &ids);
    assert!(stayed.contains("! EXEC stays: git update-ref failed"), "{stayed}");
    assert!(stayed.ends_with("[exit 1]\n") && path.exists(), "{stayed}");
    assert_eq!(json_of(&session, &all)["problems"][0]["name"], attempt);
    std::fs::remove_file(session.dir().join(".git/refs/legation")).unwrap();
    assert_eq!(json_of(&session, &["clean", "--yes"])["items"], json!([]), "it is young");
    json_of(&session, &["workspaces", "keep", &attempt]);
    assert_eq!(json_of(&session, &all)["items"], json!([]), "somebody wants it");
    json_of(&session, &["workspaces", "keep", "--undo", &attempt]);
    assert_eq!(json_of(&session, &all)["items"][0]["name"], attempt);
    assert!(!path.exists());
    let list = json_of(&session, &["workspaces", "list"]);
    let name = list["kept"][0]["ref"].as_str().unwrap();
    assert_eq!(git(&session, &format!("show {name}:left.txt")), "left");
}

#[test]
fn a_quota_lets_idle_workspaces_go_when_an_engine_starts_and_keeps_their_work() {
    let (session, attempt, path) = with_left_workspace();
    std::fs::remove_file(session.dir().join(".git/refs/legation")).unwrap();
    let pid = json_of(&session, &["status"])["engine"]["pid"].to_string();
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    configure(&session, "[workspace]\nquotaMb = 0\n");
    agent(&session, "quick", DONE);
    delegate(&session, "quick");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while path.exists() {
        assert!(std::time::Instant::now() < deadline, "{}", path.display());
        std::thread::yield_now();
    }
    let list = json_of(&session, &["workspaces", "list"]);
    let kept: Vec<&Value> = list["kept"].as_array().unwrap().iter().collect();
    assert!(kept.iter().any(|kept| kept["attempt"] == attempt.as_str()), "{list}");
}

#[test]
fn what_is_in_use_is_left_alone_and_can_be_looked_into() {
    let session = once();
    let (started, go) = (Pipe::new(&session, "started"), Pipe::new(&session, "go"));
    let script =
        format!("echo x > half.txt; echo x > {}; cat {}; {DONE}", started.shown(), go.shown());
    agent(&session, "waiter", &script);
    let child = spawn(&session, &["--json", "delegate", "--agent", "waiter", "Wait"]);
    started.wait();
    let list = json_of(&session, &["workspaces", "list"]);
    let entry = &list["workspaces"][0];
    assert_eq!((&entry["state"], &entry["ref"]), (&json!("in_use"), &Value::Null), "{list}");
    let attempt = entry["attempt"].as_str().unwrap();
    let all = ["clean", "--older-than", "0", "--unapplied", "--yes"];
    assert_eq!(json_of(&session, &all)["items"], json!([]));
    let ids = [(attempt, "EXEC")];
    expect![[r#"
        half.txt
        [exit 7]
    "#]]
    .assert_eq(&seen(
        &session,
        &["workspaces", "shell", attempt, "-c", "ls half.txt; exit 7"],
        &ids,
    ));
    assert_eq!(json_of(&session, &["workspaces", "shell", attempt])["path"], entry["path"]);
    expect![[r#"
        ! ERROR: EXEC still works, so nothing of it is kept yet
        ! Suggestion: `legation workspaces shell EXEC` looks at it where it is
        [exit 1]
    "#]]
    .assert_eq(&seen(&session, &["workspaces", "restore", attempt], &ids));
    drop(std::io::Write::write_all(&mut go.open(), b"go\n"));
    assert!(child.wait_with_output().unwrap().status.success());
}

#[test]
fn an_attempt_sees_no_workspaces_and_takes_nothing_back() {
    let session = once();
    let said = session.root().join("pipes/said");
    let script = format!(
        "for verb in 'workspaces list' 'clean --yes' 'rollback del-1' 'apply del-1'; do \
         legation $verb >> '{0}' 2>&1; echo \"exit $?\" >> '{0}'; done; {DONE}",
        said.display()
    );
    agent(&session, "curious", &script);
    delegate(&session, "curious");
    expect![[r#"
        ERROR: workspaces are not looked at from inside of one
        Suggestion: do it in the folder of your project
        exit 6
        ERROR: workspaces are not looked at from inside of one
        Suggestion: do it in the folder of your project
        exit 6
        ERROR: an attempt cannot change the user's files
        Suggestion: whoever asked for the work decides about it
        exit 6
        ERROR: an attempt cannot apply anything to the user's files
        Suggestion: hand your work in with `legation submit`; the user applies it
        exit 6
    "#]]
    .assert_eq(&std::fs::read_to_string(said).unwrap());
}

#[test]
fn what_was_applied_is_rolled_back_by_a_commit_and_offered_again() {
    let session = once();
    agent(&session, "maker", &format!("echo made > made.txt; {DONE}"));
    let id = delegate(&session, "maker");
    let ids = [(id.as_str(), "DEL")];
    let rollback = || seen(&session, &["rollback", &id], &ids);
    expect![[r#"
        ! ERROR: nothing of DEL was applied here
        ! Suggestion: there is nothing to take back
        [exit 1]
    "#]]
    .assert_eq(&rollback());
    json_of(&session, &["apply", &id, "--yes", "--squash"]);
    assert_eq!(git(&session, "log --format=%s"), format!("The result of {id}\nfirst"));
    assert!(session.run(&["status", &id]).contains("Your files have this result."));
    session.write("README.md", "mine\n");
    git(&session, "add README.md");
    expect![[r#"
        ! ERROR: there are changes in the index: README.md
        ! Suggestion: commit them, or put them aside with git stash, then try again
        [exit 1]
    "#]]
    .assert_eq(&rollback());
    git(&session, "commit -qm mine");
    let taken = rollback();
    let head: String = git(&session, "rev-parse HEAD").chars().take(12).collect();
    assert_eq!(taken, format!("1 file taken back, now at {head}\n  made.txt\n"));
    assert!(!session.dir().join("made.txt").exists());
    assert_eq!(std::fs::read_to_string(session.dir().join("README.md")).unwrap(), "mine\n");
    assert!(session.run(&["status", &id]).contains("then legation apply"));
    let again = json_of(&session, &["apply", &id, "--yes"]);
    assert_eq!(again["files"], json!(["made.txt"]));
    assert_eq!(json_of(&session, &["rollback", &id])["rolledBack"], true);
}

#[test]
fn a_conflict_of_apply_has_its_files_and_lines_for_programs() {
    let session = once();
    agent(&session, "maker", &format!("echo theirs > README.md; echo x > new.txt; {DONE}"));
    let id = delegate(&session, "maker");
    session.write("README.md", "mine\n");
    git(&session, "commit -qam mine");
    let refused = json_of(&session, &["apply", &id, "--yes"]);
    let hunk = "<<<<<<< yours\nmine\n=======\ntheirs\n>>>>>>> result";
    assert_eq!(
        refused["error"]["details"],
        json!({
            "files": ["README.md"],
            "hunks": [{"file": "README.md", "line": 1, "text": hunk}],
        }),
        "{refused}"
    );
    git(&session, "reset -q --hard HEAD~1");
    session.write("new.txt", "mine\n");
    let refused = json_of(&session, &["apply", &id, "--yes"]);
    assert_eq!(refused["error"]["details"], json!({"files": ["new.txt"]}), "{refused}");
}

#[test]
fn a_result_is_applied_in_the_way_that_is_asked_for() {
    let session = once();
    agent(&session, "maker", &format!("echo $RANDOM$$ > made.txt; {DONE}"));
    let id = delegate(&session, "maker");
    let ids = [(id.as_str(), "DEL")];
    git(&session, "commit -q --allow-empty -m mine");
    expect![[r#"
        ! ERROR: your branch has moved since the work began
        ! Suggestion: apply it with --merge or --squash
        [exit 1]
    "#]]
    .assert_eq(&seen(&session, &["apply", &id, "--yes", "--ff"], &ids));
    let both = session.run(&["apply", &id, "--yes", "--ff", "--merge"]);
    assert!(both.contains("'--ff' cannot be used with '--merge'"), "{both}");
    json_of(&session, &["apply", &id, "--yes", "--merge"]);
    assert_eq!(git(&session, "log -1 --format=%s"), format!("Merge the result of {id}"));
}

#[test]
fn a_branch_and_a_stash_that_an_attempt_left_are_kept_and_shown() {
    let session = once();
    let script = "git checkout -q -b mine; echo q > side.txt; git add side.txt; \
                  git commit -qm side; git checkout -q -; echo st > st; git add st; git stash -q; \
                  echo v > v";
    agent(&session, "w", &format!("{script}; {DONE}"));
    let id = delegate(&session, "w");
    let shown = json_of(&session, &["workspaces", "show", &id]);
    let names: Vec<&str> =
        shown["beside"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let ends: Vec<&str> = names.iter().filter_map(|name| name.split('/').next_back()).collect();
    assert_eq!(ends, ["mine", "stash"], "{shown}");
    assert_eq!(git(&session, &format!("show {}:side.txt", names[0])), "q");
    assert_eq!(git(&session, &format!("show {}:st", names[1])), "st");
    let view = json_of(&session, &["status", &id]);
    let commits = view["subtasks"][0]["receipt"]["commits"].as_array().unwrap().clone();
    assert!(commits.contains(&json!(git(&session, &format!("rev-parse {}", names[0])))), "{view}");
    assert!(session.run(&["workspaces", "show", &id]).contains("and beside it refs/legation/"));
    let restored = session.run(&["workspaces", "restore", &id, "../again"]);
    assert!(restored.contains("stashes are kept beside it"), "{restored}");
    session.run(&["clean", "--older-than", "0", "--unapplied", "--yes"]);
    assert_eq!(git(&session, "for-each-ref refs/legation"), "");
}

#[test]
fn what_an_attempt_put_into_its_repository_runs_inside_the_fence_in_a_shell_too() {
    let session = once();
    let (started, go) = (Pipe::new(&session, "started"), Pipe::new(&session, "go"));
    let escaped = session.root().join("escaped");
    let script = format!(
        "git config filter.x.clean 'touch {}; cat'; echo '*.txt filter=x' > .gitattributes; \
         echo x > half.txt; echo x > {}; cat {}; {DONE}",
        escaped.display(),
        started.shown(),
        go.shown()
    );
    agent(&session, "planter", &script);
    let child = spawn(&session, &["--json", "delegate", "--agent", "planter", "Wait"]);
    started.wait();
    let list = json_of(&session, &["workspaces", "list"]);
    let attempt = list["workspaces"][0]["attempt"].as_str().unwrap();
    let line = "git add half.txt; echo mine > mine.txt; echo temp > $TMPDIR/t; \
                cat mine.txt $TMPDIR/t; prlimit --pid $PPID --core=0:0 && echo limited";
    let shell = || session.run(&["workspaces", "shell", attempt, "-c", line]);
    let seen = shell();
    assert!(seen.contains("mine\ntemp\n"), "{seen}");
    assert!(!seen.contains("limited"), "{seen}");
    assert!(!escaped.exists(), "{seen}");
    // Without a fence it does what it was put there for, and the user is told.
    configure(&session, "fence = \"off\"\n");
    let seen = shell();
    assert!(seen.contains("git may run what the attempt put into its repository"), "{seen}");
    assert!(seen.contains("limited"), "{seen}");
    assert!(
        session
            .run(&[
                "workspaces",
                "shell",
                attempt,
                "-c",
                "git rm -q --cached half.txt; git add half.txt"
            ])
            .contains("fence")
    );
    assert!(escaped.exists());
    drop(std::io::Write::write_all(&mut go.open(), b"go\n"));
    assert!(child.wait_with_output().unwrap().status.success());
}

#[test]
fn a_branch_where_results_belong_is_told_of_before_an_agent_starts() {
    let session = once();
    agent(&session, "w", &format!("echo x > x.txt; {DONE}"));
    git(&session, "branch legation");
    let view = json_of(&session, &["delegate", "--agent", "w", "Do it"]);
    let error = &view["subtasks"][0]["return"]["errors"][0];
    assert_eq!((&view["status"], &error["code"]), (&json!("failed"), &json!("WORKSPACE_FAILED")));
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("rename it with `git branch -m legation NAME`"), "{message}");
    assert_eq!(error["recommendation"], "Mend what stands in the way, then retry it.");
}
