//! Programs that are halted for a while.

use super::stage::{NOBODY, Stage, alive, ended, eventually, pids, rest, state};

/// Two processes that count, one of them in a session of its own.
const COUNT: &str = "setsid sh -c 'echo $$; while :; do :; done' & echo $$; while :; do :; done";

#[tokio::test]
async fn what_is_frozen_stands_still_until_it_is_thawed() {
    let stage = Stage::new();
    let mut running = stage.shell(COUNT).await;
    let all = pids(&mut running, 2).await;
    let remote = running.remote();
    remote.freeze();
    eventually(|| all.iter().all(|pid| state(*pid) == Some('T'))).await;
    remote.thaw();
    eventually(|| all.iter().all(|pid| state(*pid) == Some('R'))).await;
    remote.stop();
    assert!(ended(&mut running).await.stopped);
}

#[tokio::test]
async fn what_is_frozen_sees_the_sigterm_of_a_stop() {
    let stage = Stage::new();
    let commands = "trap 'echo bye; exit 7' TERM; echo $$; while :; do :; done";
    let mut running = stage.shell(commands).await;
    let program = pids(&mut running, 1).await;
    let remote = running.remote();
    remote.freeze();
    eventually(|| program.iter().all(|pid| state(*pid) == Some('T'))).await;
    remote.stop();
    assert_eq!(rest(&mut running).await, b"bye\n");
    assert_eq!(ended(&mut running).await.code, Some(7));
    assert_eq!(alive(&program), NOBODY);
}

#[tokio::test]
async fn freezing_what_is_about_to_end_does_not_hold_it_up() {
    let stage = Stage::impatient();
    let mut running = stage.shell("trap '' TERM; echo $$; while :; do :; done").await;
    pids(&mut running, 1).await;
    let remote = running.remote();
    remote.stop();
    remote.freeze();
    assert_eq!(ended(&mut running).await.signal, Some(9));
}
