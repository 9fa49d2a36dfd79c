//! A process that is killed while it writes has lost nothing it acknowledged.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;

use legation_store::{Append, Journal, Row, Sqlite};

use crate::samples::{OnDisk, ended, key, wait};

/// Where the child writes.
const WRITE_TO: &str = "STORE_TEST_WRITE_TO";
/// How many trees it writes at once.
const TREES: u64 = 4;
/// How many appends a tree gets at most, so that a child nobody kills comes to an end.
const APPENDS: u64 = 20_000;

/// Appends two events at a time, from where the tree is, and says what was
/// acknowledged.
async fn write(journal: Arc<Sqlite>, tree: String, appends: u64) {
    let mut seq = 0;
    while let Some(last) = journal.read(&tree, seq, 1000).await.unwrap().last() {
        seq = last.seq;
    }
    for _ in 0..appends {
        let delegation = format!("{tree}-{seq}");
        let append = Append {
            tree: tree.clone(),
            expected_seq: seq,
            events: vec![format!("{}", seq + 1), format!("{}", seq + 2)],
            rows: vec![
                key(&delegation, &delegation),
                Row::Delegation(ended(&delegation, &tree, "completed", 7)),
            ],
        };
        seq = journal.append(append).await.unwrap().seq;
        // One write each: a line is there as a whole or not at all.
        std::io::stdout().write_all(format!("ack {tree} {seq}\n").as_bytes()).unwrap();
    }
}

/// The child of the test below. On its own it writes a little and is never killed.
#[test]
fn a_process_writes_and_says_what_was_acknowledged() {
    let disk = OnDisk::new();
    let child_of = std::env::var_os(WRITE_TO);
    let appends = child_of.as_ref().map_or(3, |_| APPENDS);
    let path = child_of.map_or_else(|| disk.path(), Into::into);
    let journal = Arc::new(Sqlite::open(&path, &legation_store::Options::default()).unwrap());
    wait(async {
        let local = tokio::task::LocalSet::new();
        for tree in 0..TREES {
            local.spawn_local(write(Arc::clone(&journal), format!("t{tree}"), appends));
        }
        local.await;
        assert_eq!(journal.open_trees("", 10).await.unwrap().len(), 4);
    });
}

/// Starts the child, kills it after so many acknowledgements, and returns the last
/// ones it got out.
fn write_and_kill(disk: &OnDisk, after: usize) -> [u64; 4] {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "kill::a_process_writes_and_says_what_was_acknowledged"]);
    child.arg("--nocapture").env(WRITE_TO, disk.path());
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut acknowledged = [0; 4];
    let mut seen = 0;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let Some((_, ack)) = line.split_once("ack t") else { continue };
        let (tree, seq) = ack.split_once(' ').unwrap();
        acknowledged[tree.parse::<usize>().unwrap()] = seq.parse().unwrap();
        seen += 1;
        // What it still says between the signal and its end counts as well.
        if seen == after {
            child.kill().unwrap();
        }
    }
    assert!(!child.wait().unwrap().success());
    acknowledged
}

#[test]
fn nothing_acknowledged_is_lost_when_the_writer_is_killed() {
    let disk = OnDisk::new();
    let mut random = fastrand::Rng::new();
    for round in 0..8 {
        let after = random.usize(1..400);
        let acknowledged = write_and_kill(&disk, after);
        // Those who only read see it at once, before anybody repairs anything.
        let reader = Sqlite::open_read_only(&disk.path()).unwrap();
        wait(check(&reader, acknowledged, &format!("reader, round {round}, after {after}")));
        let writer = disk.open();
        wait(check(&writer, acknowledged, &format!("writer, round {round}, after {after}")));
    }
}

/// Nothing acknowledged is missing, nothing is torn, and rows and events agree.
async fn check(journal: &Sqlite, acknowledged: [u64; 4], when: &str) {
    for (tree, acknowledged) in acknowledged.into_iter().enumerate() {
        let tree = format!("t{tree}");
        let mut entries = Vec::new();
        loop {
            let after = entries.len();
            let more = journal.read(&tree, u64::try_from(after).unwrap(), 1000).await.unwrap();
            entries.extend(more);
            if entries.len() == after {
                break;
            }
        }
        assert!(entries.len() >= usize::try_from(acknowledged).unwrap(), "{when}");
        assert_eq!(entries.len() % 2, 0, "half an append, {when}");
        for (at, entry) in entries.iter().enumerate() {
            let seq = u64::try_from(at).unwrap() + 1;
            assert_eq!((entry.seq, &entry.event), (seq, &seq.to_string()), "{when}");
        }
        for seq in (0..entries.len()).step_by(2) {
            let id = format!("{tree}-{seq}");
            assert_eq!(journal.delegation_of_key("api", &id).await, Ok(Some(id.clone())), "{when}");
        }
        let next = format!("{tree}-{}", entries.len());
        assert_eq!(journal.delegation(&next).await, Ok(None), "{when}");
    }
    assert_eq!(journal.check().await, Ok(()), "{when}");
}
