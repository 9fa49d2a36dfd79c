//! The demo, left in the middle.

use std::os::unix::process::CommandExt as _;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group};

use super::stage::{Stage, wait_for};

#[test]
fn a_demo_that_is_interrupted_leaves_nothing() {
    let stage = Stage::new("");
    let scratch = stage.out("");
    let mut demo = stage.legation(&["demo"]);
    demo.env("TMPDIR", &scratch).process_group(0).stdout(Stdio::null()).stderr(Stdio::piped());
    let demo = demo.spawn().unwrap();
    let folders = || std::fs::read_dir(&scratch).unwrap().map(|entry| entry.unwrap().path());
    wait_for("its engine", || {
        folders().find(|folder| folder.join(".legation/engine.lock").exists())
    });
    // As a terminal does it: to everybody in the foreground.
    let group = Pid::from_raw(demo.id().cast_signed()).unwrap();
    kill_process_group(group, Signal::INT).unwrap();
    let ended = demo.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.contains("you pressed Ctrl-C"), "{said}");
    assert_eq!(folders().collect::<Vec<_>>(), Vec::<std::path::PathBuf>::new());
}
