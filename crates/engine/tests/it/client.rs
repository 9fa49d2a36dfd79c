//! The client's end of the socket: where it is, who holds it, what is said over it.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use expect_test::expect;
use legation_engine::client::{
    Client, Lost, MAX_SOCKET_BYTES, Paths, Surroundings, engine_pid, holder, launch, lock_text,
    owner_of_workspace, prepare, reach_from_attempt,
};
use legation_engine::protocol::{Reply, Request, VERSION, Wish};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixListener;

/// The surroundings of a user who has everything in one folder.
fn surroundings(root: &Path) -> Surroundings {
    Surroundings {
        runtime: None,
        state: None,
        home: Some(root.join("home")),
        temp: root.to_owned(),
        ..Surroundings::current()
    }
}

/// A scratch folder with a project, and its places.
fn project() -> (TempDir, Paths) {
    let root = TempDir::new().unwrap();
    fs::create_dir(root.path().join("project")).unwrap();
    let paths = Paths::within(&root.path().join("project"), &surroundings(root.path()));
    (root, paths)
}

#[test]
fn places_follow_from_the_project_and_its_surroundings() {
    let home = Some(PathBuf::from("/u/ana"));
    let plain = Surroundings { home, temp: "/tmp".into(), uid: 7, ..Surroundings::default() };
    let own = Surroundings {
        runtime: Some("/run/user/7".into()),
        state: Some("/var/ana".into()),
        ..plain.clone()
    };
    let homeless = Surroundings { home: None, ..plain.clone() };
    let mut seen = String::new();
    for surroundings in [&plain, &own, &homeless] {
        let paths = Paths::within(Path::new("/no/such/project"), surroundings);
        for path in [&paths.socket, &paths.lock, &paths.journal, &paths.logs, &paths.state] {
            seen += &format!("{}\n", path.display());
        }
        seen += &format!("{}\n\n", paths.workspaces().display());
    }
    expect![[r#"
        /tmp/legation-7/adbbd09668f79959.sock
        /no/such/project/.legation/engine.lock
        /no/such/project/.legation/legation.db
        /no/such/project/.legation/logs
        /u/ana/.local/state/legation/adbbd09668f79959
        /u/ana/.local/state/legation/adbbd09668f79959/workspaces

        /run/user/7/legation/adbbd09668f79959.sock
        /no/such/project/.legation/engine.lock
        /no/such/project/.legation/legation.db
        /no/such/project/.legation/logs
        /var/ana/legation/adbbd09668f79959
        /var/ana/legation/adbbd09668f79959/workspaces

        /tmp/legation-7/adbbd09668f79959.sock
        /no/such/project/.legation/engine.lock
        /no/such/project/.legation/legation.db
        /no/such/project/.legation/logs
        /tmp/legation-7/state/adbbd09668f79959
        /tmp/legation-7/state/adbbd09668f79959/workspaces

    "#]]
    .assert_eq(&seen);
}

#[test]
fn a_socket_never_has_a_path_that_is_too_long() {
    let deep = PathBuf::from(format!("/{}", "x".repeat(200)));
    let uid = 7;
    let cases = [
        Surroundings {
            runtime: Some(deep.clone()),
            temp: "/tmp".into(),
            uid,
            ..Default::default()
        },
        Surroundings { temp: deep, uid, ..Default::default() },
        Surroundings { temp: "relative".into(), uid, ..Default::default() },
    ];
    for surroundings in cases {
        let paths = Paths::within(Path::new("/no/such/project"), &surroundings);
        assert!(paths.socket.starts_with("/tmp/legation-7"), "{:?}", paths.socket);
        assert!(paths.socket.as_os_str().len() <= MAX_SOCKET_BYTES);
    }
}

#[test]
fn a_project_has_the_same_places_however_it_is_reached() {
    let (root, paths) = project();
    symlink(root.path().join("project"), root.path().join("link")).unwrap();
    let surroundings = surroundings(root.path());
    let linked = Paths::within(&root.path().join("link"), &surroundings);
    assert_eq!(linked, paths);
    fs::create_dir(root.path().join("other")).unwrap();
    let other = Paths::within(&root.path().join("other"), &surroundings);
    assert_ne!((other.socket, other.state), (paths.socket, paths.state));
}

#[test]
fn what_an_engine_needs_is_made_once_and_then_left_alone() {
    let (_root, paths) = project();
    prepare(&paths).unwrap();
    let ignore = paths.project.join(".legation/.gitignore");
    expect![[r#"
        # Legation keeps its state here. Agents, templates and configuration can be committed.
        *
        !.gitignore
        !config.toml
        !agents/
        !agents/**
        !templates/
        !templates/**
    "#]]
    .assert_eq(&fs::read_to_string(&ignore).unwrap());
    for folder in [&paths.state, paths.socket.parent().unwrap()] {
        let mode = folder.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{folder:?}");
    }
    assert!(paths.logs.is_dir() && paths.workspaces().is_dir() && paths.attempts().is_dir());
    fs::write(&ignore, "mine\n").unwrap();
    prepare(&paths).unwrap();
    assert_eq!(fs::read_to_string(&ignore).unwrap(), "mine\n");
}

#[test]
fn a_folder_of_sockets_that_others_could_change_is_refused() {
    let (root, paths) = project();
    let folder = paths.socket.parent().unwrap();
    fs::create_dir(folder).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
    let problem = prepare(&paths).unwrap_err().to_string();
    assert!(
        problem.ends_with("can be written by others; take that right away with `chmod go-w`"),
        "{problem}"
    );
    fs::remove_dir(folder).unwrap();
    symlink(root.path().join("home"), folder).unwrap();
    assert!(prepare(&paths).unwrap_err().to_string().ends_with("is not a folder"));
}

#[test]
fn a_workspace_knows_its_project_and_nothing_else_does() {
    let (root, paths) = project();
    prepare(&paths).unwrap();
    let workspace = paths.workspaces().join("exec-1");
    fs::create_dir_all(workspace.join("src/.legation")).unwrap();
    assert_eq!(owner_of_workspace(&workspace), Some(paths.project.clone()));
    assert_eq!(owner_of_workspace(&workspace.join("src")), Some(paths.project.clone()));
    assert_eq!(owner_of_workspace(&paths.project), None);
    // A folder that only looks like one: its name does not fit what it says.
    let fake = root.path().join("fake/workspaces/exec-1");
    fs::create_dir_all(&fake).unwrap();
    fs::write(root.path().join("fake/project"), paths.project.to_str().unwrap()).unwrap();
    assert_eq!(owner_of_workspace(&fake), None);
}

#[test]
fn only_who_holds_the_lock_is_the_engine() {
    let (_root, paths) = project();
    prepare(&paths).unwrap();
    assert_eq!(engine_pid(&paths), None);
    let own = std::process::id();
    fs::write(&paths.lock, lock_text(own, Path::new("/run/x.sock"))).unwrap();
    assert_eq!(engine_pid(&paths), None, "nobody holds it");
    let file = File::open(&paths.lock).unwrap();
    file.try_lock().unwrap();
    let held = holder(&paths).unwrap();
    assert_eq!((held.pid, held.socket), (own, Some("/run/x.sock".into())));
    let mut gone = Command::new("true").spawn().unwrap();
    let stat = format!("/proc/{}/stat", gone.id());
    while !fs::read_to_string(&stat).unwrap().contains(") Z ") {
        std::thread::yield_now();
    }
    fs::write(&paths.lock, lock_text(gone.id(), Path::new("/run/x.sock"))).unwrap();
    assert_eq!(engine_pid(&paths), None, "it has ended, though nobody has asked about it");
    gone.wait().unwrap();
    fs::write(&paths.lock, lock_text(gone.id(), Path::new("/run/x.sock"))).unwrap();
    assert_eq!(engine_pid(&paths), None, "whoever wrote its name there is gone");
    fs::write(&paths.lock, "nonsense").unwrap();
    assert_eq!(engine_pid(&paths), None);
}

fn ping() -> Request {
    Request {
        v: VERSION,
        token: None,
        env: Default::default(),
        passed_on: Default::default(),
        client: None,
        wish: Wish::Ping,
    }
}

/// Answers one request with these bytes, in pieces; says what was asked.
fn serve(socket: &Path, pieces: Vec<&'static [u8]>) -> tokio::task::JoinHandle<String> {
    let listener = UnixListener::bind(socket).unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let (reader, mut writer) = stream.split();
        let mut line = String::new();
        BufReader::new(reader).read_line(&mut line).await.unwrap();
        for piece in pieces {
            writer.write_all(piece).await.unwrap();
            writer.flush().await.unwrap();
            tokio::task::yield_now().await;
        }
        line
    })
}

#[tokio::test]
async fn what_is_said_arrives_line_by_line_until_the_end() {
    let (_root, paths) = project();
    prepare(&paths).unwrap();
    assert!(Client::connect(&paths).await.is_none());
    let said: Vec<&[u8]> = vec![b"{\"note\":\"one\"}\n{\"no", b"te\":\"two\"}\n", b"{\"note\":"];
    let served = serve(&paths.socket, said);
    let client = Client::connect(&paths).await.unwrap();
    let mut talk = client.request(&ping()).await.unwrap();
    assert_eq!(talk.next().await.unwrap(), Reply::Note("one".to_owned()));
    assert_eq!(talk.next().await.unwrap(), Reply::Note("two".to_owned()));
    assert!(matches!(talk.next().await, Err(Lost::Gone)));
    assert_eq!(served.await.unwrap(), "{\"v\":1,\"env\":{},\"wish\":\"ping\"}\n");
}

#[tokio::test]
async fn who_is_turned_away_before_it_is_heard_learns_why() {
    let (_root, paths) = project();
    prepare(&paths).unwrap();
    let listener = UnixListener::bind(&paths.socket).unwrap();
    let client = Client::connect(&paths).await.unwrap();
    let (mut stream, _) = listener.accept().await.unwrap();
    stream.write_all(b"{\"note\":\"no room\"}\n").await.unwrap();
    drop(stream);
    let mut talk = client.request(&ping()).await.unwrap();
    assert_eq!(talk.next().await.unwrap(), Reply::Note("no room".to_owned()));
    assert!(talk.next().await.is_err());
}

#[tokio::test]
async fn what_makes_no_sense_is_named() {
    let (_root, paths) = project();
    prepare(&paths).unwrap();
    let said: Vec<&[u8]> = vec![b"{\"sing\":1}\n", b"\xff\xfe\n"];
    let _served = serve(&paths.socket, said);
    let mut talk = Client::connect(&paths).await.unwrap().request(&ping()).await.unwrap();
    assert!(matches!(talk.next().await, Err(Lost::Garbled(_))));
    assert!(matches!(talk.next().await, Err(Lost::Garbled(_))));
}

#[tokio::test]
async fn an_engine_that_listens_elsewhere_is_found_by_its_lock() {
    let (root, paths) = project();
    prepare(&paths).unwrap();
    let elsewhere = root.path().join("elsewhere.sock");
    let _served = serve(&elsewhere, vec![b"{\"note\":\"here\"}\n"]);
    fs::write(&paths.lock, lock_text(std::process::id(), &elsewhere)).unwrap();
    assert!(Client::connect(&paths).await.is_none(), "nobody holds the lock");
    let file = File::open(&paths.lock).unwrap();
    file.try_lock().unwrap();
    let mut talk = Client::connect(&paths).await.unwrap().request(&ping()).await.unwrap();
    assert_eq!(talk.next().await.unwrap(), Reply::Note("here".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_looks_for_its_engine_for_a_while_and_then_says_so() {
    let (root, _paths) = project();
    let socket = root.path().join("gone.sock");
    let before = tokio::time::Instant::now();
    let problem = reach_from_attempt(&socket).await.unwrap_err().to_string();
    assert!(problem.ends_with("it was looked for during 30 s"), "{problem}");
    assert!(before.elapsed().as_secs() >= 30);
    fs::write(&socket, "").unwrap();
    assert!(Client::connect_to(&socket).await.is_err(), "a file is no socket");
}

/// A program that stands for an engine, and notes each time it is started.
fn stand_in(root: &Path, script: &str) -> PathBuf {
    let program = root.join("engine.sh");
    let notes = root.join("starts");
    let text = format!("#!/bin/sh\necho start >> {}\n{script}\n", notes.display());
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

#[tokio::test]
async fn an_engine_that_ends_before_it_listens_is_tried_again_and_then_told_of() {
    let (root, paths) = project();
    let program = stand_in(root.path(), "echo 'no luck today' >&2; exit 1");
    let began = Instant::now();
    let problem = launch(&paths, &program).await.unwrap_err().to_string();
    assert_eq!(problem, "the engine ended before it listened: no luck today");
    assert_eq!(fs::read_to_string(root.path().join("starts")).unwrap(), "start\n".repeat(3));
    assert!(began.elapsed() < Duration::from_secs(4), "nobody is waited for: {began:?}");
}

#[tokio::test]
async fn an_engine_that_is_killed_while_it_starts_is_started_again() {
    let (root, paths) = project();
    prepare(&paths).unwrap();
    let aside = root.path().join("aside.sock");
    let _listener = UnixListener::bind(&aside).unwrap();
    let script = format!(
        "[ $(wc -l < {}) -gt 1 ] || kill -9 $$\nmv {} {}; echo ready",
        root.path().join("starts").display(),
        aside.display(),
        paths.socket.display()
    );
    let program = stand_in(root.path(), &script);
    launch(&paths, &program).await.unwrap();
    assert_eq!(fs::read_to_string(root.path().join("starts")).unwrap(), "start\n".repeat(2));
}
