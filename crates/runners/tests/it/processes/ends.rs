//! How programs end, and everything they started with them.

use std::time::{Duration, Instant};

use super::stage::{NOBODY, Stage, alive, ended, eventually, in_time, pids, rest, state, words};

/// SIGKILL and SIGTERM.
const KILL: i32 = 9;
const TERM: i32 = 15;

#[tokio::test]
async fn a_stop_is_a_sigterm_first() {
    let stage = Stage::new();
    let mut running =
        stage.shell("trap 'echo bye; exit 7' TERM; echo on; while :; do :; done").await;
    words(&mut running, 1).await;
    running.remote().stop();
    let said = rest(&mut running).await;
    let ended = ended(&mut running).await;
    assert_eq!(said, b"bye\n");
    assert_eq!((ended.code, ended.signal, ended.stopped), (Some(7), None, true));
}

#[tokio::test]
async fn who_ignores_sigterm_is_killed_after_the_grace() {
    let stage = Stage::impatient();
    let mut running = stage.shell("trap '' TERM; echo on; while :; do :; done").await;
    words(&mut running, 1).await;
    let asked = Instant::now();
    running.remote().stop();
    let ended = ended(&mut running).await;
    assert_eq!((ended.code, ended.signal, ended.stopped), (None, Some(KILL), true));
    assert!(asked.elapsed() >= Duration::from_millis(stage.limits.grace_ms));
}

#[tokio::test]
async fn daemons_end_with_the_program_that_left_them() {
    let stage = Stage::impatient();
    let ways = [
        ("a child in the background", "sleep 1000 & echo $!"),
        ("nohup", "nohup sleep 1000 >/dev/null 2>&1 & echo $!"),
        ("a session of its own", "setsid sh -c 'echo $$; exec sleep 1000' &"),
        ("two forks", "(setsid sh -c 'echo $$; exec sleep 1000' & ) &"),
        ("no environment", "env -i setsid sh -c 'echo $$; exec sleep 1000' &"),
        ("ignoring SIGTERM", "setsid sh -c \"trap '' TERM; echo \\$\\$; while :; do :; done\" &"),
        ("closed outputs", "setsid sh -c 'echo $$; exec sleep 1000 >&- 2>&- <&-' &"),
    ];
    for (way, commands) in ways {
        let _ = std::fs::remove_dir_all(stage.dir());
        let go_on = "; while [ ! -e go ]; do :; done; rm go; echo over";
        let mut running = stage.shell(&format!("{commands}{go_on}").replace("&;", "&")).await;
        let daemons = pids(&mut running, 1).await;
        assert_eq!(alive(&daemons), daemons, "{way}");
        std::fs::write(stage.workspace().join("go"), "").unwrap();
        let ended = ended(&mut running).await;
        assert_eq!((ended.code, ended.left_over, ended.survivors), (Some(0), 1, 0), "{way}");
        assert_eq!(alive(&daemons), NOBODY, "{way}");
    }
}

#[tokio::test]
async fn a_process_that_forks_faster_than_it_is_killed_is_killed() {
    let stage = Stage::impatient();
    // It is never older than one fork and one exit.
    let hop = stage.script("hop", "#!/bin/sh\ntrap '' TERM\nsetsid \"$0\" &\n");
    let mut running = stage.shell(&format!("{} & echo on", hop.display())).await;
    words(&mut running, 1).await;
    let ended = ended(&mut running).await;
    assert_eq!((ended.code, ended.survivors), (Some(0), 0));
    let hopping = |pid: &u32| {
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.contains(&*hop.to_string_lossy())
    };
    let all = std::fs::read_dir("/proc").unwrap();
    let all = all.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse::<u32>().ok());
    assert_eq!(all.filter(hopping).collect::<Vec<_>>(), NOBODY);
}

#[tokio::test]
async fn a_program_that_kills_its_group_does_not_hit_its_keeper() {
    let (_, ended) = Stage::new().play("kill -KILL 0").await;
    assert_eq!((ended.code, ended.signal), (None, Some(KILL)));
}

#[tokio::test]
async fn a_keeper_does_not_care_for_hangups_and_interrupts() {
    let noise = "kill -HUP $PPID; kill -INT $PPID; kill -QUIT $PPID; kill -PIPE $PPID; echo on";
    let (output, ended) = Stage::new().play(noise).await;
    assert_eq!((output.as_str(), ended.code), ("on\n", Some(0)));
}

#[tokio::test]
async fn a_program_inherits_no_ignored_signals() {
    let (output, _) = Stage::new().play("grep -E '^Sig(Ign|Blk)' /proc/self/status").await;
    let masks = output.lines().map(|line| line.split_once(":\t").unwrap().1);
    // The two signals above the usual ones belong to the C library.
    let masks = masks.map(|mask| u64::from_str_radix(mask, 16).unwrap() & 0x7fff_ffff);
    assert_eq!(masks.collect::<Vec<_>>(), [0, 0]);
}

#[tokio::test]
async fn a_keeper_that_its_program_has_halted_still_hears_a_stop() {
    let stage = Stage::new();
    let mut running = stage.shell("echo on; kill -STOP $PPID; while :; do :; done").await;
    let keeper = running.process.pid;
    eventually(|| state(keeper) == Some('T')).await;
    running.remote().stop();
    let ended = ended(&mut running).await;
    assert_eq!((ended.signal, ended.stopped), (Some(TERM), true));
}

#[tokio::test]
async fn a_program_that_never_lets_its_keeper_go_on_is_ended_without_it() {
    let mut stage = Stage::new();
    stage.limits.grace_ms = 0;
    let halt = "while [ ! -e go ]; do :; done; while :; do kill -STOP $PPID; done";
    let mut running = stage.shell(&format!("trap '' TERM; echo $$; {halt}")).await;
    let program = pids(&mut running, 1).await;
    std::fs::write(stage.workspace().join("go"), "").unwrap();
    let keeper = running.process.pid;
    eventually(|| state(keeper) == Some('T')).await;
    running.remote().stop();
    // Whether the keeper came to its turn in between is a matter of luck.
    let exit = in_time(running.wait()).await;
    assert_eq!(alive(&program), NOBODY, "{exit:?}");
    assert_eq!(alive(&[keeper]), NOBODY, "{exit:?}");
}

#[tokio::test]
async fn a_stop_that_comes_at_once_or_twice_or_late_is_harmless() {
    let stage = Stage::new();
    let mut running = stage.shell("exec sleep 1000").await;
    let remote = running.remote();
    remote.stop();
    remote.stop();
    let ended = ended(&mut running).await;
    assert_eq!((ended.signal, ended.stopped), (Some(TERM), true));
    remote.stop();
    remote.freeze();
    remote.kill();
}

#[tokio::test]
async fn orphans_that_end_while_the_program_runs_are_buried() {
    let stage = Stage::new();
    let forks = "i=0; while [ $i -lt 20 ]; do (true &); i=$((i+1)); done; echo $$; exec sleep 1000";
    let mut running = stage.shell(forks).await;
    let program = pids(&mut running, 1).await;
    let keeper = running.process.pid;
    let children = || {
        let all = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
            let pid = entry.ok()?.file_name().to_str()?.parse::<u32>().ok()?;
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse::<u32>().ok()?;
            (parent == keeper).then_some(pid)
        });
        all.collect::<Vec<u32>>()
    };
    eventually(|| children() == program).await;
    running.remote().stop();
    assert_eq!(ended(&mut running).await.left_over, 0);
}
