//! What a program sees of our environment, and of where it stands.

use std::fmt::Write;
use std::path::Path;

use expect_test::expect;
use legation_core::ids::{AttemptId, SessionId};
use legation_runners::command::{Place, Start, environment};
use legation_runners::keep::Limits;

fn pairs(lines: &[&str]) -> Vec<(String, String)> {
    let pairs = lines.iter().map(|line| line.split_once('=').unwrap());
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn place() -> Place<'static> {
    Place {
        dir: Path::new("/state/attempts/exec-1"),
        workspace: Path::new("/state/workspaces/exec-1"),
        socket: Path::new("/run/legation.sock"),
        token: "secret",
        depth: 2,
    }
}

#[test]
fn only_what_is_allowed_comes_through_and_nobody_chooses_his_own_place() {
    let own = pairs(&[
        "PATH=/bin",
        "HOME=/ana",
        "LANG=C",
        "LC_ALL=C.UTF-8",
        "LC=no",
        "TERM=xterm",
        "TZ=UTC",
        "USER=ana",
        "SHELL=/bin/sh",
        "TMPDIR=/tmp",
        "https_proxy=http://proxy",
        "NO_PROXY=localhost",
        "API_KEY=ours",
        "LD_PRELOAD=evil.so",
        "LEGATION_TOKEN=of the parent",
        "DELEGATION_DEPTH=0",
        "PATHX=no",
    ]);
    let agent = pairs(&[
        "RUST_LOG=info",
        "TZ=CET",
        "LEGATION_TOKEN=forged",
        "DELEGATION_DEPTH=0",
        "LEGATION_KEEPER=me",
        "=nameless",
        "NUL=a\0b",
    ]);
    let mut shown = String::new();
    for (name, value) in
        environment(own, &agent, &SessionId::new("sess_1_abcdef"), (&place(), None))
    {
        let _ = writeln!(shown, "{name}={value}");
    }
    expect![[r#"
        DELEGATION_DEPTH=2
        HOME=/ana
        LANG=C
        LC_ALL=C.UTF-8
        LEGATION_ATTEMPT_DIR=/state/attempts/exec-1/hand-in
        LEGATION_SESSION_ID=sess_1_abcdef
        LEGATION_SOCKET=/run/legation.sock
        LEGATION_TOKEN=secret
        LEGATION_WORKSPACE=/state/workspaces/exec-1
        NO_PROXY=localhost
        PATH=/bin
        RUST_LOG=info
        SHELL=/bin/sh
        TERM=xterm
        TMPDIR=/state/attempts/exec-1/tmp
        TZ=CET
        USER=ana
        https_proxy=http://proxy
    "#]]
    .assert_eq(&shown);
}

#[test]
fn an_order_has_the_program_found_and_a_folder_for_temporary_files() {
    let folder = tempfile::TempDir::new().unwrap();
    let dir = folder.path().join("attempt");
    let (attempt, session) = (AttemptId::new("exec-1"), SessionId::new("sess_1_abcdef"));
    let start = Start {
        vendor: None,
        attempt: &attempt,
        session: &session,
        place: Place { dir: &dir, workspace: folder.path(), ..place() },
        command: &["sh".to_owned(), "-c".to_owned(), "true".to_owned()],
        env: &[],
        agent_file: None,
        brief: "{}",
        limits: Limits::default(),
        deadline_ms: None,
        cgroup: None,
    };
    let order = start.order(pairs(&["PATH=/nowhere:/bin"])).unwrap();
    assert_eq!(order.program, ["/bin/sh", "-c", "true"]);
    assert_eq!((order.cwd.as_path(), order.stdin.as_str()), (folder.path(), "{}"));
    let temporary = dir.join("tmp").to_string_lossy().into_owned();
    assert!(order.env.contains(&("TMPDIR".to_owned(), temporary)));
    assert!(dir.join("tmp").is_dir());
    let error = start.order(pairs(&["PATH=/nowhere"])).unwrap_err();
    expect!["there is no program `sh` in PATH"].assert_eq(&error.to_string());
}
