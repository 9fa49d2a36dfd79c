//! Output in any amount: told as it comes, and kept within its limits.

use std::fs;

use legation_runners::supervise::{Stream, Tail, tail};

use super::stage::{Stage, ended, rest};

const MIB: u64 = 1 << 20;

/// Bytes on the disk of one output.
fn kept(stage: &Stage, name: &str) -> u64 {
    let files = fs::read_dir(stage.dir()).unwrap().map(|entry| entry.unwrap());
    let files = files.filter(|file| file.file_name().to_string_lossy().starts_with(name));
    files.map(|file| file.metadata().unwrap().len()).sum()
}

#[tokio::test]
async fn a_flood_on_stdout_comes_through_whole_and_is_kept_in_part() {
    let stage = Stage::new();
    let flood = "echo head; head -c 104857600 /dev/zero; echo '{\"status\":\"completed\"}'";
    let mut running = stage.shell(flood).await;
    let (mut bytes, mut end) = (0, Vec::new());
    while let Some(chunk) = running.read().await {
        bytes += chunk.len() as u64;
        end.extend(chunk);
        let surplus = end.len().saturating_sub(100);
        end.drain(..surplus);
    }
    let ended = ended(&mut running).await;
    assert_eq!((bytes, ended.stdout_bytes), (100 * MIB + 28, 100 * MIB + 28));
    assert!(end.ends_with(b"{\"status\":\"completed\"}\n"));
    assert_eq!(running.missed_bytes(), 0);
    assert!(kept(&stage, "stdout") <= stage.limits.stdout_bytes);
    assert_eq!(kept(&stage, "stdout") + ended.stdout_dropped, ended.stdout_bytes);
    assert!(fs::read(stage.dir().join("stdout")).unwrap().starts_with(b"head\n"));
}

#[tokio::test]
async fn a_flood_on_stderr_costs_no_more_than_its_limit() {
    let stage = Stage::new();
    let (_, ended) = stage.play("head -c 209715200 /dev/zero >&2; echo last >&2").await;
    assert_eq!((ended.code, ended.stderr_bytes), (Some(0), 200 * MIB + 5));
    assert!(kept(&stage, "stderr") <= stage.limits.stderr_bytes);
    assert!(kept(&stage, "stderr") >= stage.limits.stderr_bytes / 2);
    assert_eq!(kept(&stage, "stderr") + ended.stderr_dropped, ended.stderr_bytes);
}

#[tokio::test]
async fn who_does_not_read_holds_nobody_up() {
    let stage = Stage::new();
    let mut running = stage.shell("head -c 10485760 /dev/zero; echo last").await;
    let ended = ended(&mut running).await;
    assert_eq!((ended.code, ended.stdout_bytes), (Some(0), 10 * MIB + 5));
    // What did not come through the pipe is in the files.
    let all = rest(&mut running).await;
    assert_eq!(all.len() as u64, 10 * MIB + 5);
    assert!(all.ends_with(b"\0last\n"));
}

#[tokio::test]
async fn of_an_output_that_was_cut_the_beginning_and_the_end_are_read() {
    let mut stage = Stage::new();
    stage.limits.stdout_bytes = 64 << 10;
    let mut running = stage.shell("echo head; head -c 10485760 /dev/zero; echo last").await;
    let ended = ended(&mut running).await;
    let all = rest(&mut running).await;
    assert!(all.starts_with(b"head\n\0"));
    assert!(all.ends_with(b"\0last\n"));
    assert_eq!(running.missed_bytes(), ended.stdout_dropped);
    // One line break stands for what is missing.
    assert_eq!(all.len() as u64, ended.stdout_bytes - ended.stdout_dropped + 1);
    assert!(ended.stdout_dropped > 10 * MIB - (64 << 10));
}

#[tokio::test]
async fn a_brief_that_nobody_reads_holds_nobody_up() {
    let stage = Stage::new();
    let mut order = stage.order(&["/bin/sh", "-c", "echo on"]);
    order.stdin = "x".repeat(1 << 20);
    let mut running = super::stage::keeper().spawn(&order).await.unwrap();
    assert_eq!(rest(&mut running).await, b"on\n");
    assert_eq!(ended(&mut running).await.code, Some(0));
}

#[tokio::test]
async fn a_long_brief_arrives_whole() {
    let stage = Stage::new();
    let mut order = stage.order(&["/usr/bin/wc", "-c"]);
    order.stdin = "ä".repeat(1 << 20);
    let mut running = super::stage::keeper().spawn(&order).await.unwrap();
    assert_eq!(rest(&mut running).await, b"2097152\n");
}

#[test]
fn the_end_of_an_output_is_read_back_across_files_and_never_across_a_gap() {
    let folder = tempfile::TempDir::new().unwrap();
    let dir = folder.path();
    let read = |max| tail(dir, Stream::Stderr, max);
    assert_eq!(read(10), Tail::default());
    // The first file ends at 4; what stood between 4 and 8 was not kept.
    for (name, text) in [("stderr", "head"), ("stderr.8", "tail"), ("stderr.12", "end")] {
        fs::write(dir.join(name), text).unwrap();
    }
    fs::write(dir.join("stderr.x"), "no output").unwrap();
    fs::write(dir.join("stdout"), "another").unwrap();
    for (max, expected) in [(0, ""), (2, "nd"), (5, "ilend"), (7, "tailend"), (100, "tailend")] {
        assert_eq!(read(max), Tail { bytes: expected.into(), total: 15 }, "{max}");
    }
    // A link, or a pipe that would hold up who reads it, is nobody's output.
    fs::remove_file(dir.join("stdout")).unwrap();
    std::os::unix::fs::symlink(dir.join("stderr"), dir.join("stdout")).unwrap();
    assert_eq!(tail(dir, Stream::Stdout, 100), Tail::default());
}
