//! Programs whose time is up while nobody is there to stop them.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use legation_runners::keep::{Ended, PACE_FILE, Pace};

use super::stage::{NOBODY, Stage, alive, ended, eventually, pids, state};

const FOREVER: &str = "setsid sh -c 'echo $$; while :; do :; done' & echo $$; while :; do :; done";

pub(super) fn in_ms(wait: u64) -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap() + wait
}

#[tokio::test]
async fn a_keeper_ends_everything_by_itself_when_the_time_is_up() {
    let mut stage = Stage::new();
    stage.deadline_ms = Some(in_ms(300));
    let mut running = stage.shell(FOREVER).await;
    let all = pids(&mut running, 2).await;
    // Whoever started it is gone.
    drop(running);
    eventually(|| stage.dir().join("exit.json").exists()).await;
    let ended = Ended::read(&stage.dir()).unwrap();
    assert!(ended.timed_out && !ended.stopped, "{ended:?}");
    assert!(in_ms(0) >= stage.deadline_ms.unwrap());
    assert_eq!(alive(&all), NOBODY);
}

#[tokio::test]
async fn a_program_that_ends_in_time_did_not_time_out() {
    let mut stage = Stage::new();
    stage.deadline_ms = Some(in_ms(60_000));
    let (_, ended) = stage.play("exit 3").await;
    assert_eq!((ended.code, ended.timed_out), (Some(3), false));
}

#[tokio::test]
async fn time_that_was_moved_or_stands_still_is_not_up() {
    let paces = [
        ("moved", Pace { deadline_ms: Some(in_ms(3_600_000)), frozen: false, stop: false }),
        ("standing still", Pace { deadline_ms: None, frozen: false, stop: false }),
    ];
    for (case, pace) in paces {
        let mut stage = Stage::new();
        stage.deadline_ms = Some(in_ms(150));
        // It reads the file when the first time is up, and not before.
        let commands = "until [ -e go ]; do :; done; echo over";
        let mut running = stage.shell(commands).await;
        running.remote().set_pace(pace).unwrap();
        let until = in_ms(400);
        eventually(|| in_ms(0) > until).await;
        fs::write(stage.workspace().join("go"), "").unwrap();
        let ended = ended(&mut running).await;
        assert_eq!((ended.code, ended.timed_out), (Some(0), false), "{case}");
    }
}

#[tokio::test]
async fn time_does_not_go_by_while_a_program_is_frozen() {
    let mut stage = Stage::new();
    stage.deadline_ms = Some(in_ms(1_000));
    let mut running = stage.shell(FOREVER).await;
    let all = pids(&mut running, 2).await;
    let remote = running.remote();
    remote.freeze();
    eventually(|| all.iter().all(|pid| state(*pid) == Some('T'))).await;
    let frozen_at = in_ms(0);
    eventually(|| in_ms(0) > frozen_at + 1_200).await;
    assert_eq!(alive(&all), all);
    remote.thaw();
    let ended = ended(&mut running).await;
    assert!(ended.timed_out, "{ended:?}");
    assert!(Duration::from_millis(ended.wall_ms) >= Duration::from_millis(2_200 - 200));
}

#[tokio::test]
async fn two_signals_in_any_order_leave_it_as_the_file_says() {
    let stage = Stage::new();
    let mut running = stage.shell(FOREVER).await;
    let all = pids(&mut running, 2).await;
    let remote = running.remote();
    for round in 0..20 {
        let frozen = round % 2 == 0;
        remote.set_pace(Pace { deadline_ms: None, frozen: !frozen, stop: false }).unwrap();
        remote.set_pace(Pace { deadline_ms: None, frozen, stop: false }).unwrap();
        let wanted = if frozen { 'T' } else { 'R' };
        eventually(|| all.iter().all(|pid| state(*pid) == Some(wanted))).await;
    }
    assert!(stage.dir().join(PACE_FILE).exists());
    remote.stop();
    assert!(ended(&mut running).await.stopped);
}
