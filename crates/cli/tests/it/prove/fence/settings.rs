//! What the configuration and an agent's permissions make of the fence.

use std::net::{TcpListener, UdpSocket};

use serde_json::Value;

use super::super::stage::Stage;

const ONCE: &str = "[recovery]\nmaxRetries = 0\n";

/// Says in `$OUT/tried` whether each line of shell succeeds.
fn tries(lines: &[&str]) -> String {
    let one = |line: &&str| {
        format!("( {line} ) >/dev/null 2>&1 && echo yes >> $OUT/tried || echo no >> $OUT/tried\n")
    };
    lines.iter().map(one).collect::<String>() + "legation submit --status completed --summary tried"
}

/// Runs an agent; answers with its subtask and with how each try went.
fn run(stage: &Stage, agent: &str) -> (Value, String) {
    let (_, view) = stage.json(&["delegate", "--agent", agent, "Try"]);
    let subtask = view["subtasks"][0].clone();
    assert_eq!(subtask["status"], "completed", "{view}");
    (subtask, stage.told("tried").replace('\n', " "))
}

#[test]
fn what_is_declared_readable_is_and_nothing_beside_it() {
    let stage = Stage::fenced(ONCE, "readable = [\".env\"]");
    stage.write(".env", "A=1\n");
    stage.write(".env.more", "B=2\n");
    let project = stage.project().display().to_string();
    let script = tries(&[
        &format!("cat {project}/.env"),
        &format!("cat {project}/.env.more"),
        &format!("echo x >> {project}/.env"),
        "cat README.md",
        "git log -p",
        "echo x > $TMPDIR/x",
        "echo x > ${LEGATION_ATTEMPT_DIR%/*}/x",
    ]);
    stage.agent("reader", "", &script);
    assert_eq!(run(&stage, "reader").1, "yes no no yes yes yes no ");
}

#[test]
fn opening_the_whole_project_opens_neither_the_journal_nor_the_repository() {
    let stage = Stage::fenced(ONCE, "readable = [\".\"]");
    stage.write("notes.txt", "x\n");
    let project = stage.project().display().to_string();
    let script = tries(&[
        &format!("cat {project}/notes.txt"),
        &format!("cat {project}/.legation/legation.db"),
        &format!("cat {project}/.git/config"),
    ]);
    stage.agent("reader", "", &script);
    assert_eq!(run(&stage, "reader").1, "yes no no ");
}

#[test]
fn a_repository_that_lies_elsewhere_is_hidden_too() {
    let moves = [
        "git init -q --separate-git-dir ../apart.git",
        "git clone -q --bare . ../apart.git && rm -r .git && \
         git -C ../apart.git worktree add -q ../linked main && mv ../linked/.git . && \
         git worktree repair",
    ];
    for line in moves {
        let stage = Stage::new(ONCE);
        assert!(stage.shell(line).status.success());
        let apart = stage.root().join("apart.git").display().to_string();
        let script = tries(&[
            &format!("cat {apart}/config"),
            &format!("echo x > {apart}/hooks/pre-commit"),
            "git log -p",
            "git commit -q --allow-empty -m mine",
        ]);
        stage.agent("reader", "", &script);
        assert_eq!(run(&stage, "reader").1, "no no yes yes ", "{line}");
    }
}

#[test]
fn the_network_is_denied_and_the_engine_is_reached_all_the_same() {
    let stage = Stage::fenced(ONCE, "network = \"deny\"");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let bind = format!("python3 -c 'import socket; socket.socket().bind((\"127.0.0.1\", {port}))'");
    let neighbour = UdpSocket::bind("127.0.0.1:0").unwrap();
    let send = format!(
        "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\
         .sendto(b\"x\", (\"127.0.0.1\", {}))'",
        neighbour.local_addr().unwrap().port()
    );
    let delegate = "legation delegate --agent leaf 'Do a part'";
    let script = tries(&[&bind, &send, delegate, "cat leaf.txt"]);
    stage.agent("boss", "subagents:\n  allow: ['*']\n", &script);
    stage.agent("leaf", "", "echo x > leaf.txt; legation submit --status completed --summary leaf");
    let (subtask, tried) = run(&stage, "boss");
    assert_eq!(tried, "no no yes yes ");
    assert_eq!(subtask["receipt"]["fenceGaps"], Value::Null, "{subtask}");
    // The port was free all the time.
    TcpListener::bind(("127.0.0.1", port)).unwrap();
}

#[test]
fn who_is_not_root_has_no_network_either_where_it_is_denied() {
    let stage = Stage::of_nobody(ONCE, "network = \"deny\"\nfence = \"require\"");
    let made = stage.shell("unshare --user --net true");
    if !made.status.success() {
        eprintln!("SKIPPED: no user namespaces here");
        return;
    }
    let neighbour = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = neighbour.local_addr().unwrap().port();
    let socket = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)";
    let send = format!("python3 -c '{socket}; s.sendto(b\"x\", (\"127.0.0.1\", {port}))'");
    let project = stage.project().display().to_string();
    let outside = format!("chmod 700 {project}/README.md");
    let script = tries(&[&send, &outside, "test $(id -u) = 65534", "echo x > x && chmod 700 x"]);
    stage.agent("alone", "", &script);
    let (subtask, tried) = run(&stage, "alone");
    assert_eq!(tried, "no no yes yes ");
    let receipt = &subtask["receipt"];
    assert_eq!((&receipt["fenced"], &receipt["fenceGaps"]), (&true.into(), &Value::Null));
}

/// Says whether a port can be listened on.
fn listening(port: &str) -> String {
    format!("python3 -c \"import socket; socket.socket().bind(('127.0.0.1', {port}))\"")
}

#[test]
fn with_its_own_ports_an_attempt_listens_on_its_lease_and_nowhere_else() {
    let lines =
        ["$LEGATION_PORT_BASE", "$((LEGATION_PORT_BASE + 9))", "0", "$((LEGATION_PORT_BASE + 10))"];
    let script = tries(&lines.map(listening).each_ref().map(String::as_str));
    for (network, expected) in [("own_ports", "yes yes yes no "), ("allow", "yes yes yes yes ")] {
        let stage = Stage::fenced(ONCE, &format!("network = \"{network}\""));
        stage.agent("server", "", &script);
        let (subtask, tried) = run(&stage, "server");
        assert_eq!((tried.as_str(), &subtask["receipt"]["fenced"]), (expected, &true.into()));
    }
}

#[test]
fn modes_and_times_outside_stay_as_they_are() {
    let stage = Stage::new(ONCE);
    let project = stage.project().display().to_string();
    let script = tries(&[
        &format!("chmod 700 {project}/README.md"),
        &format!("touch -d 2001-01-01 {project}/README.md"),
        "chmod 700 $HOME",
        "chmod 700 README.md",
        "touch -d 2001-01-01 README.md",
        "chmod 700 $TMPDIR",
    ]);
    stage.agent("toucher", "", &script);
    assert_eq!(run(&stage, "toucher").1, "no no no yes yes yes ");
}

#[test]
fn who_may_not_edit_has_a_workspace_to_read() {
    let stage = Stage::new(ONCE);
    let script = tries(&[
        "echo x > new.txt",
        "echo x > README.md",
        "rm README.md",
        "cat README.md",
        "git status",
        "echo x > $TMPDIR/x",
    ]);
    stage.agent("reviewer", "tools:\n  deny: [edit]\n", &script);
    let (subtask, tried) = run(&stage, "reviewer");
    assert_eq!(tried, "no no no yes yes yes ");
    assert_eq!(subtask["receipt"]["filesChanged"].to_string(), "[]", "{subtask}");
}

#[test]
fn commands_that_verify_run_inside_too() {
    let stage = Stage::new(ONCE);
    stage.agent("maker", "", "echo x > new.txt; legation submit --status completed --summary made");
    let journal = stage.paths().journal.display().to_string();
    let file = ".legation/agents/maker.md";
    let text = std::fs::read_to_string(stage.project().join(file)).unwrap();
    let limit = "! prlimit --pid $PPID --core=0:0";
    let verify =
        format!("  verify: [\"test -e new.txt\", \"! cat {journal}\", \"{limit}\"]\n---\nDo");
    stage.write(file, &text.replace("---\nDo", &verify));
    let (subtask, _) = run(&stage, "maker");
    assert_eq!(subtask["receipt"]["verify"][0]["exitCode"], 0, "{subtask}");
    assert_eq!(subtask["receipt"]["verify"][1]["exitCode"], 0, "{subtask}");
    assert_eq!(subtask["receipt"]["verify"][2]["exitCode"], 0, "{subtask}");
}

#[test]
fn a_project_that_is_no_repository_is_fenced_too() {
    let stage = Stage::new(ONCE);
    std::fs::remove_dir_all(stage.project().join(".git")).unwrap();
    let project = stage.project().display().to_string();
    let script = tries(&[
        &format!("echo x > {project}/README.md"),
        &format!("cat {project}/README.md"),
        "echo x > README.md",
    ]);
    stage.agent("writer", "", &script);
    let (subtask, tried) = run(&stage, "writer");
    assert_eq!((tried.as_str(), &subtask["receipt"]["fenced"]), ("no no yes ", &true.into()));
}

#[test]
fn a_fence_that_is_off_is_recorded_as_such() {
    let stage = Stage::unfenced(ONCE);
    stage.agent("any", "", "legation submit --status completed --summary done");
    let (subtask, _) = run(&stage, "any");
    assert_eq!(subtask["receipt"]["fenced"], false);
    assert_eq!(subtask["receipt"]["fenceGaps"].to_string(), "[\"`sandbox.fence` is off\"]");
}
