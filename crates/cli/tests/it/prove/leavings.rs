//! What attempts write beside their workspaces goes with them, and nothing that they leave in
//! them keeps them from going.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::stage::{Stage, shown, wait_for};

const ONCE: &str = "[recovery]\nmaxRetries = 0\n";
/// Five megabytes in each folder that an attempt may write to beside its workspace, and a tree
/// without end.
const FILLS: &str = "head -c 5000000 /dev/urandom > $TMPDIR/big\n\
    head -c 5000000 /dev/urandom > $LEGATION_ATTEMPT_DIR/big\n\
    (cd $TMPDIR; for i in $(seq 400); do mkdir aaaaaaaaaa; cd -P aaaaaaaaaa; done; echo x > x)\n";
const DONE: &str = "legation submit --status completed --summary 'All done.'\n";
/// What a state folder may take when everything is over: the journal, the logs, what is lent.
const MOST_KIB: u64 = 2_000;

/// What there is in the folders of attempts that their programs have written.
pub(super) fn leavings(attempts: &Path) -> Vec<PathBuf> {
    let below = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect::<Vec<_>>()
    };
    let own: Vec<PathBuf> = below(attempts).iter().flat_map(|attempt| below(attempt)).collect();
    let of_commands: Vec<PathBuf> = own.iter().flat_map(|folder| below(folder)).collect();
    let is_leaving = |path: &PathBuf| path.ends_with("tmp") || path.ends_with("hand-in");
    own.into_iter().chain(of_commands).filter(is_leaving).collect()
}

/// Waits until what is deleted in the background is gone: nothing of it takes room any more.
fn assert_small(stage: &Stage) {
    let state = stage.paths().state;
    wait_for("what was left to be gone", || {
        let left = leavings(&state.join("attempts"));
        let trash = fs::read_dir(state.join("trash")).into_iter().flatten().count();
        (left.is_empty() && trash == 0).then_some(())
    });
    let weighed = stage.shell(&format!("du -sk '{}' | cut -f1", state.display()));
    let kib: u64 = String::from_utf8_lossy(&weighed.stdout).trim().parse().unwrap();
    assert!(kib < MOST_KIB, "{kib} KiB: {}", shown(&stage.shell("du -ak ../home | sort -n >&2")));
}

#[test]
fn what_attempts_leave_beside_their_workspaces_goes_when_they_have_ended() {
    let stage = Stage::new(&format!("{ONCE}[workspace]\nsetup = [\"echo x > $TMPDIR/x\"]\n"));
    stage.agent("filler", "", &format!("{FILLS}echo done > done.txt\n{DONE}"));
    let path = ".legation/agents/filler.md";
    let text = fs::read_to_string(stage.project().join(path)).unwrap();
    let verify = "  verify: [\"head -c 3000000 /dev/urandom > $TMPDIR/big && echo verified\"]\n";
    stage.write(path, &text.replace("  timeout: 60s\n", &format!("  timeout: 60s\n{verify}")));
    stage.agent("failer", "", &format!("{FILLS}echo half > half.txt; echo said; exit 3"));
    for (agent, status) in [("filler", "completed"), ("failer", "failed")] {
        let (_, done) = stage.json(&["delegate", "--agent", agent, "Fill the disk"]);
        assert_eq!(done["status"], status, "{done}");
    }
    assert_small(&stage);
    // What was said, by it and by its commands, is still there.
    let state = stage.paths().state;
    let said = stage.shell(&format!("cat {}/attempts/*/verify-1/stdout", state.display()));
    assert_eq!(String::from_utf8_lossy(&said.stdout), "verified\n");
    let said = stage.shell(&format!("cat {}/attempts/*/stdout", state.display()));
    assert!(String::from_utf8_lossy(&said.stdout).contains("said"), "{}", shown(&said));
}

#[test]
fn what_attempts_leave_goes_after_a_crash_and_their_returns_are_read_before() {
    let stage = Stage::new(ONCE);
    let waits = format!("{FILLS}{DONE}echo ends >> $OUT/ends\n");
    let holds = "echo begins > $OUT/begins\nuntil [ -e $OUT/dead ]; do :; done\n";
    stage.agent("filler", "", &format!("echo done > done.txt\n{holds}{waits}"));
    let mut asks = stage.legation(&["delegate", "--detach", "--json", "--agent", "filler", "Fill"]);
    let asked = asks.stderr(Stdio::null()).output().unwrap();
    let asked: serde_json::Value = serde_json::from_slice(&asked.stdout).unwrap();
    let id = asked["delegationId"].as_str().unwrap().to_owned();
    wait_for("it to begin", || (!stage.told("begins").is_empty()).then_some(()));
    assert!(stage.kill());
    wait_for("the engine to be gone", || stage.engine().is_none().then_some(()));
    fs::write(stage.out("dead"), "").unwrap();
    wait_for("it to end", || (!stage.told("ends").is_empty()).then_some(()));
    wait_for("its processes to end", || stage.processes().is_empty().then_some(()));
    // One that ended under an earlier release, and one that nobody knows of.
    let attempts = stage.paths().state.join("attempts");
    fs::create_dir_all(attempts.join("exec-before/tmp")).unwrap();
    fs::create_dir_all(attempts.join("exec-before/verify-1/hand-in")).unwrap();
    fs::write(attempts.join("exec-before/tmp/big"), vec![0; 5_000_000]).unwrap();
    fs::write(attempts.join("exec-before/stdout"), "said\n").unwrap();
    assert!(leavings(&attempts).len() >= 4);
    let (code, view) = stage.json(&["resume", &id, "--wait"]);
    assert_eq!((code, &view["status"]), (0, &"completed".into()), "{view}");
    assert_eq!(view["subtasks"][0]["return"]["summary"], "All done.", "{view}");
    assert_small(&stage);
    assert!(attempts.join("exec-before/stdout").exists());
}

#[test]
fn work_beside_a_tree_without_end_is_merged_and_its_workspace_goes() {
    let stage = Stage::new(ONCE);
    stage.write(".gitignore", ".legation/\ntarget/\n");
    let commit = "git -c user.name=a -c user.email=a@b.c commit -qam ignore";
    assert!(stage.shell(commit).status.success());
    let dig = "for i in $(seq 400); do mkdir aaaaaaaaaa; cd -P aaaaaaaaaa; done; echo x > x";
    let script = format!(
        "echo precious > precious.txt\n(mkdir target; cd target; {dig})\n\
         (mkdir data; cd data; {dig})\n{DONE}"
    );
    stage.agent("digger", "", &script);
    let (code, done) = stage.json(&["delegate", "--agent", "digger", "Dig"]);
    assert_eq!((code, &done["status"]), (0, &"completed".into()), "{done}");
    // What could not be kept is told by where it begins.
    let changed = done["subtasks"][0]["receipt"]["filesChanged"].as_array().unwrap();
    let named = |name: &str| changed.iter().any(|it| it.as_str().unwrap().starts_with(name));
    assert!(named("precious.txt") && named("data/aaaaaaaaaa/"), "{changed:?}");
    let id = done["delegationId"].as_str().unwrap();
    let (code, applied) = stage.json(&["apply", "--yes", id]);
    assert_eq!(code, 0, "{applied}");
    assert_eq!(fs::read_to_string(stage.project().join("precious.txt")).unwrap(), "precious\n");
    assert!(!stage.project().join("data").exists());
    for name in ["workspaces", "layers", "repos"] {
        let folder = stage.paths().state.join(name);
        let gone = || (fs::read_dir(&folder).into_iter().flatten().count() == 0).then_some(());
        wait_for("its folders to go", gone);
    }
    let (_, listed) = stage.json(&["workspaces", "list"]);
    assert!(!listed.to_string().contains("\"left\""), "{listed}");
    assert_small(&stage);
}
