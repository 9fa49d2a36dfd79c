//! Engines that go away, and what the next one finds.

use std::fs;
use std::process::{Command, Stdio};

use legation_core::tree::event::Process;
use legation_runners::fence::Fence;
use legation_runners::keep::{Claim, KEEPER_FILE};
use legation_runners::supervise::{Error, Exit, Found, become_subreaper, find, reap};

use super::stage::{NOBODY, Stage, alive, ended, eventually, in_time, pids, rest, words};

#[tokio::test]
async fn who_comes_later_reads_everything_from_the_beginning() {
    let stage = Stage::new();
    let mut first = stage.shell("echo one; while [ ! -e go ]; do :; done; echo two; exit 4").await;
    assert_eq!(words(&mut first, 1).await, ["one"]);
    let process = first.process;
    drop(first);
    let found = find(&stage.dir(), &stage.session, Some(process)).unwrap();
    let Found::Running(mut second) = found else { panic!("{found:?}") };
    assert_eq!(second.process, process);
    assert_eq!(words(&mut second, 1).await, ["one"]);
    fs::write(stage.workspace().join("go"), "").unwrap();
    assert_eq!(rest(&mut second).await, b"two\n");
    assert_eq!(ended(&mut second).await.code, Some(4));
    let found = find(&stage.dir(), &stage.session, Some(process)).unwrap();
    let Found::Ended(ended) = found else { panic!("{found:?}") };
    assert_eq!((ended.code, ended.stdout_bytes), (Some(4), 8));
}

#[tokio::test]
async fn a_program_does_not_notice_that_nobody_listens() {
    let stage = Stage::new();
    let mut first = stage.shell("echo on; head -c 3145728 /dev/zero; echo done").await;
    words(&mut first, 1).await;
    drop(first);
    eventually(|| stage.dir().join("exit.json").exists()).await;
    let found = find(&stage.dir(), &stage.session, None).unwrap();
    let Found::Ended(ended) = found else { panic!("{found:?}") };
    assert_eq!((ended.code, ended.stdout_bytes), (Some(0), 3 * (1 << 20) + 8));
    assert_eq!(fs::metadata(stage.dir().join("stdout")).unwrap().len(), ended.stdout_bytes);
}

#[tokio::test]
async fn a_keeper_is_found_by_its_claim_and_can_be_stopped() {
    let stage = Stage::new();
    let mut first = stage.shell("echo $$; exec sleep 1000").await;
    let program = pids(&mut first, 1).await;
    drop(first);
    let found = find(&stage.dir(), &stage.session, None).unwrap();
    let Found::Running(mut second) = found else { panic!("{found:?}") };
    second.remote().stop();
    assert!(ended(&mut second).await.stopped);
    assert_eq!(alive(&program), NOBODY);
}

#[tokio::test]
async fn nothing_survives_a_keeper_that_is_killed() {
    become_subreaper().unwrap();
    let stage = Stage::new();
    let commands = "sleep 1000 & echo $!
        (setsid sh -c 'echo $$; exec sleep 1000' &) &
        env -i sh -c 'echo $$; exec sleep 1000' &
        env -i setsid sh -c 'echo $$; exec sleep 1000' &
        setsid sh -c \"trap '' TERM; echo \\$\\$; while :; do :; done\" &
        echo $$; wait";
    let mut running = stage.shell(commands).await;
    let all = pids(&mut running, 6).await;
    assert_eq!(alive(&all).len(), 6);
    running.remote().kill();
    let exit = in_time(running.wait()).await;
    let Exit::Lost { reaped } = exit else { panic!("{exit:?}") };
    assert!(reaped >= 6, "{reaped}");
    assert_eq!(alive(&all), NOBODY);
}

#[tokio::test]
async fn what_a_keeper_left_before_the_restart_is_reaped() {
    let stage = Stage::new();
    let commands = "(setsid sh -c 'echo $$; exec sleep 1000' &) & echo $$; exec sleep 1000";
    let mut first = stage.shell(commands).await;
    let all = pids(&mut first, 2).await;
    let (process, remote) = (first.process, first.remote());
    drop(first);
    remote.kill();
    eventually(|| alive(&[process.pid]).is_empty()).await;
    let found = find(&stage.dir(), &stage.session, Some(process)).unwrap();
    assert!(matches!(found, Found::Gone), "{found:?}");
    assert!(reap(stage.traces(&stage.dir(), None)) >= 2);
    assert_eq!(alive(&all), NOBODY);
    assert_eq!(reap(stage.traces(&stage.dir(), None)), 0);
}

#[tokio::test]
async fn a_keeper_that_was_declared_gone_before_it_began_never_begins() {
    let stage = Stage::new();
    fs::create_dir(stage.dir()).unwrap();
    let found = find(&stage.dir(), &stage.session, None).unwrap();
    assert!(matches!(found, Found::Gone), "{found:?}");
    let late = stage.try_run(&["/bin/sh", "-c", "echo never"]).await;
    assert!(matches!(late, Err(Error::GaveUp(_))), "{late:?}");
    assert!(!stage.dir().join("stdout").exists());
}

#[tokio::test]
async fn an_attempt_without_a_folder_is_gone() {
    let stage = Stage::new();
    let found = find(&stage.dir(), &stage.session, None).unwrap();
    assert!(matches!(found, Found::Gone), "{found:?}");
    assert!(!stage.dir().exists());
}

/// A process that has nothing to do with any attempt, in a session of its own.
fn bystander() -> (std::process::Child, Process) {
    let child =
        Command::new("setsid").args(["sleep", "1000"]).stdin(Stdio::null()).spawn().unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let started = stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap().parse().unwrap();
    let process = Process { pid: child.id(), started };
    (child, process)
}

#[tokio::test]
async fn a_number_that_belongs_to_another_process_by_now_is_left_alone() {
    let (mut child, real) = bystander();
    let stage = Stage::new();
    fs::create_dir(stage.dir()).unwrap();
    let old = Process { started: real.started - 1, ..real };
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let boot = boot.trim().to_owned();
    let claims = [
        ("an older process", Claim { keeper: Some(old), boot, cgroup: None, grace_ms: 0 }),
        (
            "an older run of the machine",
            Claim { keeper: Some(real), boot: "other".to_owned(), cgroup: None, grace_ms: 0 },
        ),
    ];
    for (case, claim) in claims {
        fs::write(stage.dir().join(KEEPER_FILE), serde_json::to_vec(&claim).unwrap()).unwrap();
        for known in [None, claim.keeper] {
            let found = find(&stage.dir(), &stage.session, known).unwrap();
            assert!(matches!(found, Found::Gone), "{case}: {found:?}");
        }
        assert_eq!(reap(stage.traces(&stage.dir(), claim.keeper)), 0, "{case}");
        assert_eq!(child.try_wait().unwrap(), None, "{case}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Starts these commands, which print their own number, and kills their keeper. Nobody
/// is there to see it, as if the engine had been killed too.
async fn abandoned(stage: &Stage, commands: &str) -> (Process, Vec<u32>) {
    let waits = "echo $$ > parent; while [ ! -e go ]; do :; done";
    let mut first = stage.shell(&format!("{commands}\n{waits}")).await;
    let left = pids(&mut first, 1).await;
    eventually(|| fs::read(stage.workspace().join("parent")).is_ok_and(|it| !it.is_empty())).await;
    let (process, remote) = (first.process, first.remote());
    drop(first);
    remote.kill();
    eventually(|| alive(&[process.pid]).is_empty()).await;
    // Nobody is left to descend from.
    let parent = fs::read_to_string(stage.workspace().join("parent")).unwrap();
    let parent: u32 = parent.trim().parse().unwrap();
    fs::write(stage.workspace().join("go"), "").unwrap();
    eventually(|| alive(&[parent]).is_empty()).await;
    (process, left)
}

#[tokio::test]
async fn what_has_cleared_its_environment_is_found_when_keeper_and_engine_are_gone() {
    let ways = [
        (
            "by the session of its keeper",
            "env -i bash -c 'cd /; exec 64>&-; echo $$; exec sleep 1000' &",
        ),
        ("by its mark", "env -i setsid sh -c 'cd /; echo $$; exec sleep 1000 >&- 2>&- <&-' &"),
        (
            "by the folder it works in",
            "env -i setsid bash -c 'exec 64>&- 65>&-; echo $$; exec sleep 1000' &",
        ),
        (
            "by whom it descends from",
            "setsid sh -c 'env -i setsid bash -c \"cd /; exec 64>&-; echo \\$\\$; exec sleep 1000\" \
             & wait' &",
        ),
    ];
    let fenced = ("by its mark, from inside a fence", ways[1].1);
    for (way, commands) in ways.into_iter().chain([fenced]) {
        let mut stage = Stage::new();
        if way == fenced.0 {
            let writable = vec![fs::canonicalize(stage.workspace()).unwrap()];
            stage.fence = Some(Fence { writable, required: true, ..Fence::default() });
        }
        let (process, left) = abandoned(&stage, commands).await;
        assert_eq!(alive(&left), left, "{way}");
        assert!(reap(stage.traces(&stage.dir(), Some(process))) >= 1, "{way}");
        assert_eq!(alive(&left), NOBODY, "{way}");
    }
}

#[tokio::test]
async fn who_merely_looks_at_what_an_attempt_left_is_spared() {
    let stage = Stage::new();
    let (process, _) = abandoned(&stage, "echo $$").await;
    // It works in the workspace and is younger than the keeper, and has a parent.
    let mut looks = Command::new("sleep");
    looks.arg("1000").current_dir(stage.workspace()).stdin(fs::File::open(stage.dir()).unwrap());
    let mut looks = looks.spawn().unwrap();
    reap(stage.traces(&stage.dir(), Some(process)));
    assert_eq!(looks.try_wait().unwrap(), None);
    looks.kill().unwrap();
    looks.wait().unwrap();
}
