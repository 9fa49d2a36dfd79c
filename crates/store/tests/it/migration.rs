//! Files of other versions.

use legation_store::{Error, Journal, Options, Sqlite};
use rusqlite::Connection;

use crate::samples::{OnDisk, events, texts, wait};

fn pragma(disk: &OnDisk, name: &str) -> i64 {
    let connection = Connection::open(disk.path()).unwrap();
    connection.pragma_query_value(None, name, |row| row.get(0)).unwrap()
}

fn set(disk: &OnDisk, name: &str, value: i64) {
    Connection::open(disk.path()).unwrap().pragma_update(None, name, value).unwrap();
}

#[test]
fn a_new_file_is_ours_and_of_the_newest_version() {
    let disk = OnDisk::new();
    drop(disk.open());
    assert_eq!(pragma(&disk, "application_id"), 0x4c67_746e);
    assert_eq!(pragma(&disk, "user_version"), 1);
}

#[test]
fn a_file_of_version_0_is_brought_up_to_date_once() {
    let disk = OnDisk::new();
    std::fs::write(disk.path(), "").unwrap();
    let older = Error::OlderSchema { path: disk.path(), found: 0, known: 1 };
    assert_eq!(Sqlite::open_read_only(&disk.path()).unwrap_err(), older);
    set(&disk, "application_id", 0x4c67_746e);
    assert_eq!(Sqlite::open_read_only(&disk.path()).unwrap_err(), older);
    wait(async {
        disk.open().append(events("t", 0, &["a"])).await.unwrap();
        assert_eq!(pragma(&disk, "user_version"), 1);
        // The second time there is nothing to do, and nothing is lost.
        assert_eq!(texts(&disk.open(), "t").await, ["a"]);
    });
}

#[test]
fn a_file_of_a_newer_release_is_refused_and_not_touched() {
    let disk = OnDisk::new();
    drop(disk.open());
    set(&disk, "user_version", 2);
    let before = std::fs::read(disk.path()).unwrap();
    let newer = Error::NewerSchema { path: disk.path(), found: 2, known: 1 };
    assert_eq!(disk.try_open(&Options::default()).unwrap_err(), newer);
    assert_eq!(Sqlite::open_read_only(&disk.path()).unwrap_err(), newer);
    let words = newer.to_string();
    assert!(words.contains("version 2") && words.contains("up to 1"), "{words}");
    assert_eq!(std::fs::read(disk.path()).unwrap(), before);
}

#[test]
fn a_version_that_never_was_is_refused() {
    let disk = OnDisk::new();
    drop(disk.open());
    set(&disk, "user_version", -1);
    let refused = disk.try_open(&Options::default()).unwrap_err();
    assert_eq!(refused, Error::NotAJournal { path: disk.path() });
}

#[test]
fn two_who_open_a_new_file_at_once_both_get_it() {
    for _ in 0..10 {
        let disk = OnDisk::new();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| disk.open())).collect();
            for thread in threads {
                drop(thread.join().unwrap());
            }
        });
        assert_eq!(pragma(&disk, "user_version"), 1);
    }
}
