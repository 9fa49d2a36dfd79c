//! Many writers at once, and readers beside them.

use std::sync::Arc;

use legation_store::{Error, Journal, Page, Row, Sqlite};
use rusqlite::Connection;

use crate::samples::{OnDisk, events, key, rows, running, texts, wait};

#[test]
fn of_many_who_append_at_the_same_place_one_wins_and_the_others_hear_of_it() {
    let disk = OnDisk::new();
    let journal = Arc::new(disk.open());
    wait(async {
        let local = tokio::task::LocalSet::new();
        let rivals: Vec<_> = (0..200)
            .map(|rival| {
                let journal = Arc::clone(&journal);
                let append = events("t", 0, &[&rival.to_string()]);
                local.spawn_local(async move { journal.append(append).await })
            })
            .collect();
        local.await;
        let mut won = 0;
        for rival in rivals {
            match rival.await.unwrap() {
                Ok(done) => won += done.seq,
                Err(error) => {
                    let tree = "t".to_owned();
                    assert_eq!(error, Error::Conflict { tree, expected: 0, actual: 1 });
                }
            }
        }
        assert_eq!(won, 1);
        assert_eq!(texts(&*journal, "t").await.len(), 1);
    });
}

#[test]
fn a_refusal_in_a_group_takes_nothing_from_the_others() {
    let disk = OnDisk::new();
    let journal = Arc::new(disk.open());
    wait(async {
        journal.append(rows("first", 0, vec![key("k", "del-0")])).await.unwrap();
        let local = tokio::task::LocalSet::new();
        let appends: Vec<_> = (0..300)
            .map(|number| {
                let journal = Arc::clone(&journal);
                let tree = format!("t{number}");
                // Every third wants a key that is taken, after rows that would do.
                let delegation = Row::Delegation(running(&format!("d{number}"), &tree, number));
                let name = if number % 3 == 0 { "k".into() } else { format!("k{number}") };
                let append = rows(&tree, 0, vec![delegation, key(&name, &format!("d{number}"))]);
                local.spawn_local(async move { journal.append(append).await })
            })
            .collect();
        local.await;
        for (number, append) in appends.into_iter().enumerate() {
            let answer = append.await.unwrap();
            let taken = Err(Error::DuplicateKey { delegation: "del-0".into() });
            let expected = if number % 3 == 0 { taken } else { Ok(1) };
            assert_eq!(answer.map(|done| done.seq), expected);
        }
        assert_eq!(journal.active(Page::first(1000)).await.unwrap().len(), 200);
        assert_eq!(journal.open_trees("", 1000).await.unwrap().len(), 201);
    });
}

#[test]
fn what_is_asked_for_while_the_writer_is_busy_is_committed_together() {
    let disk = OnDisk::new();
    let journal = Arc::new(disk.open());
    let other = Connection::open(disk.path()).unwrap();
    wait(async {
        // The writer is held up until all are in the queue.
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let local = tokio::task::LocalSet::new();
        let appends: Vec<_> = (0..100)
            .map(|number| {
                let journal = Arc::clone(&journal);
                let append = events(&format!("t{number}"), 0, &["x"]);
                local.spawn_local(async move { journal.append(append).await })
            })
            .collect();
        local.run_until(tokio::task::yield_now()).await;
        other.execute_batch("COMMIT").unwrap();
        local.await;
        for append in appends {
            append.await.unwrap().unwrap();
        }
    });
    // Each commit writes at least four pages, and these were changed by all of them.
    let pages = "PRAGMA wal_checkpoint(PASSIVE)";
    let pages: i64 = other.query_row(pages, [], |row| row.get(1)).unwrap();
    assert!(pages < 100, "{pages} pages for 100 appends");
}

#[test]
fn who_is_alone_and_finds_the_file_held_waits_without_keeping_its_thread() {
    let disk = OnDisk::new();
    let journal = disk.open();
    let other = Connection::open(disk.path()).unwrap();
    wait(async {
        journal.append(events("t", 0, &["a"])).await.unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        // On one thread: the second gets its turn only if the first lets it.
        let append = journal.append(events("t", 1, &["b"]));
        let (append, ()) = tokio::join!(append, async {
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
            other.execute_batch("COMMIT").unwrap();
        });
        append.unwrap();
        journal.append(events("t", 2, &["c"])).await.unwrap();
        assert_eq!(texts(&journal, "t").await, ["a", "b", "c"]);
    });
}

#[test]
fn what_nobody_waits_for_any_more_keeps_nobody_from_writing() {
    let disk = OnDisk::new();
    let journal = disk.open();
    wait(async {
        let mut left = Box::pin(journal.append(events("t", 0, &["a"])));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(left.as_mut().poll(&mut context).is_pending());
        drop(left);
        journal.append(events("u", 0, &["b"])).await.unwrap();
        assert_eq!(texts(&journal, "t").await, ["a"]);
    });
}

#[test]
fn reads_do_not_wait_for_a_writer() {
    let disk = OnDisk::new();
    let journal = disk.open();
    wait(async {
        journal.append(events("t", 0, &["a"])).await.unwrap();
        let other = Connection::open(disk.path()).unwrap();
        other.execute_batch("BEGIN IMMEDIATE; DELETE FROM events").unwrap();
        assert_eq!(texts(&journal, "t").await, ["a"]);
        other.execute_batch("ROLLBACK").unwrap();
    });
}

#[test]
fn a_reader_needs_no_writer_and_sees_what_one_adds() {
    let disk = OnDisk::new();
    wait(async {
        disk.open().append(events("t", 0, &["a"])).await.unwrap();
        let reader = Sqlite::open_read_only(&disk.path()).unwrap();
        assert_eq!(texts(&reader, "t").await, ["a"]);
        disk.open().append(events("t", 1, &["b"])).await.unwrap();
        assert_eq!(texts(&reader, "t").await, ["a", "b"]);
    });
}

#[test]
fn two_journals_on_one_file_never_both_win() {
    let disk = OnDisk::new();
    let (one, two) = (disk.open(), disk.open());
    wait(async {
        for seq in 0..50 {
            let [a, b] = [events("t", seq, &["one"]), events("t", seq, &["two"])];
            let answers = tokio::join!(one.append(a), two.append(b));
            assert_ne!(answers.0.is_ok(), answers.1.is_ok());
        }
        assert_eq!(texts(&one, "t").await.len(), 50);
    });
}

#[test]
fn closing_waits_for_what_was_asked_for() {
    let disk = OnDisk::new();
    wait(async {
        let journal = disk.open();
        let mut append = Box::pin(journal.append(events("t", 0, &["a"])));
        // Polled once, so that it is in the queue, and then given up.
        let waker = std::task::Waker::noop();
        let poll = append.as_mut().poll(&mut std::task::Context::from_waker(waker));
        drop(append);
        drop(journal);
        assert!(poll.is_pending() || poll.is_ready());
        assert_eq!(texts(&disk.open(), "t").await, ["a"]);
    });
    let left: Vec<_> = std::fs::read_dir(disk.folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}
