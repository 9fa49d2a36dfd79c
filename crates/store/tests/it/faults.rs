//! What the disk does to a journal, and what the journal says about it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use legation_store::{Error, Journal, Options, Sqlite};
use rusqlite::Connection;

use crate::samples::{OnDisk, events, texts, wait};

#[test]
fn a_full_disk_ends_all_writing_and_loses_nothing_acknowledged() {
    let disk = OnDisk::new();
    let options = Options { max_pages: Some(60), ..Options::default() };
    let journal = disk.try_open(&options).unwrap();
    let path = disk.path();
    let large = "x".repeat(5000);
    let acknowledged = wait(async {
        let mut seq = 0;
        let error = loop {
            match journal.append(events("t", seq, &[&large])).await {
                Ok(done) => seq = done.seq,
                Err(error) => break error,
            }
        };
        assert_eq!(error, Error::DiskFull { path: path.clone() });
        assert!(seq > 10, "{seq}");
        // A small one would fit, but the journal does not go on.
        let reason = Box::new(error.clone());
        let stopped = Error::Stopped { reason };
        assert_eq!(journal.append(events("u", 0, &["x"])).await, Err(stopped.clone()));
        assert_eq!(journal.forget_before(9).await, Err(stopped));
        assert_eq!(journal.stopped(), Some(&error));
        // Reading goes on.
        assert_eq!(texts(&journal, "t").await.len(), usize::try_from(seq).unwrap());
        seq
    });
    drop(journal);
    wait(async {
        let journal = disk.open();
        let kept = journal.read("t", 0, 1000).await.unwrap();
        assert_eq!(kept.last().map(|entry| entry.seq), Some(acknowledged));
        assert_eq!(journal.append(events("t", acknowledged, &["y"])).await.map(|_| ()), Ok(()));
    });
}

#[test]
fn a_full_disk_fails_the_whole_group() {
    let disk = OnDisk::new();
    let journal = disk.try_open(&Options { max_pages: Some(40), ..Options::default() }).unwrap();
    wait(async {
        let large = "x".repeat(400_000);
        let (one, two, three) = tokio::join!(
            journal.append(events("a", 0, &[&large])),
            journal.append(events("b", 0, &[&large])),
            journal.append(events("c", 0, &[&large])),
        );
        assert!(matches!(one, Err(Error::DiskFull { .. })), "{one:?}");
        // Those of the same group hear the reason, later ones that it is over.
        for answer in [two, three] {
            let error = answer.unwrap_err();
            assert!(matches!(error, Error::DiskFull { .. } | Error::Stopped { .. }), "{error:?}");
        }
        assert_eq!(journal.read_all(0, 10).await, Ok(Vec::new()));
    });
}

#[test]
fn a_journal_opened_for_reading_takes_nothing() {
    let disk = OnDisk::new();
    drop(disk.open());
    let journal = Sqlite::open_read_only(&disk.path()).unwrap();
    wait(async {
        let refused = Err(Error::ReadOnly { path: disk.path() });
        assert_eq!(journal.append(events("t", 0, &["x"])).await, refused);
        assert_eq!(journal.forget("t").await.map(|_| ()), refused.clone().map(|_| ()));
        assert_eq!(journal.forget_before(1).await.map(|_| ()), refused.map(|_| ()));
    });
}

#[test]
fn where_there_is_no_journal_there_is_nothing_to_read() {
    let disk = OnDisk::new();
    let missing = Sqlite::open_read_only(&disk.path()).unwrap_err();
    assert_eq!(missing, Error::Missing { path: disk.path() });
    let nowhere = disk.folder.path().join("no/such/folder.db");
    let error = Sqlite::open(&nowhere, &Options::default()).unwrap_err();
    assert!(matches!(&error, Error::Io { path, .. } if *path == nowhere), "{error:?}");
    let folder = Sqlite::open_read_only(disk.folder.path()).unwrap_err();
    assert!(matches!(folder, Error::Io { .. }), "{folder:?}");
}

#[test]
fn what_another_program_wrote_is_left_alone() {
    let disk = OnDisk::new();
    fs::write(disk.path(), "these are the notes of somebody else\n".repeat(100)).unwrap();
    let refused = disk.try_open(&Options::default()).unwrap_err();
    assert_eq!(refused, Error::NotAJournal { path: disk.path() });
    assert!(fs::read_to_string(disk.path()).unwrap().starts_with("these are"));

    let disk = OnDisk::new();
    let other = Connection::open(disk.path()).unwrap();
    other.execute_batch("CREATE TABLE theirs (x)").unwrap();
    drop(other);
    let before = fs::read(disk.path()).unwrap();
    let not_ours = Error::NotAJournal { path: disk.path() };
    assert_eq!(disk.try_open(&Options::default()).unwrap_err(), not_ours);
    assert_eq!(Sqlite::open_read_only(&disk.path()).unwrap_err(), not_ours);
    assert_eq!(fs::read(disk.path()).unwrap(), before);
}

/// Overwrites a part of every page but the first, in which the tables are named.
fn damage(path: &std::path::Path) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    for page in 1..file.metadata().unwrap().size() / 4096 {
        file.write_all_at(&[0xa5; 600], page * 4096).unwrap();
    }
}

#[test]
fn a_damaged_file_is_found_out_when_it_is_opened() {
    let disk = OnDisk::new();
    wait(async {
        disk.open().append(events("t", 0, &["x"; 500])).await.unwrap();
    });
    damage(&disk.path());
    let error = disk.try_open(&Options::default()).unwrap_err();
    assert!(matches!(&error, Error::Corrupt { path, .. } if *path == disk.path()), "{error:?}");
}

/// A damaged file that is too large to be looked through before it is opened.
async fn large_and_damaged() -> OnDisk {
    let disk = OnDisk::new();
    let megabyte = "x".repeat(1 << 20);
    let journal = disk.open();
    journal.append(events("t", 0, &[megabyte.as_str(); 40])).await.unwrap();
    assert_eq!(journal.check().await, Ok(()));
    drop(journal);
    damage(&disk.path());
    disk
}

#[test]
fn a_large_file_that_nobody_closed_is_looked_through_while_work_goes_on() {
    wait(async {
        let disk = large_and_damaged().await;
        // Whoever is killed leaves the log behind.
        fs::write(disk.path().with_extension("db-wal"), "no more than this").unwrap();
        let journal = disk.try_open(&Options::default()).unwrap();
        for _ in 0..1000 {
            let found = journal.check().await.unwrap_err();
            assert!(matches!(found, Error::Corrupt { .. }), "{found:?}");
            if journal.stopped().is_some() {
                break;
            }
        }
        let error = journal.append(events("u", 0, &["x"])).await.unwrap_err();
        assert!(matches!(error, Error::Stopped { .. }), "{error:?}");
    });
}

#[test]
fn damage_in_a_large_file_that_was_closed_is_found_by_who_meets_it() {
    wait(async {
        let disk = large_and_damaged().await;
        let journal = disk.try_open(&Options::default()).unwrap();
        let found = journal.check().await.unwrap_err();
        assert!(matches!(found, Error::Corrupt { .. }), "{found:?}");
        let error = journal.append(events("t", 40, &["x"])).await.unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");
        let again = journal.append(events("t", 40, &["x"])).await.unwrap_err();
        assert!(matches!(again, Error::Stopped { .. }), "{again:?}");
    });
}

#[test]
fn a_file_that_is_held_is_locked_and_then_free_again() {
    let disk = OnDisk::new();
    let options = Options { busy_timeout: Duration::from_millis(20), ..Options::default() };
    let journal = disk.try_open(&options).unwrap();
    let other = Connection::open(disk.path()).unwrap();
    wait(async {
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let locked = Err(Error::Locked { path: disk.path() });
        assert_eq!(journal.append(events("t", 0, &["x"])).await, locked);
        assert_eq!(journal.stopped(), None);
        other.execute_batch("ROLLBACK").unwrap();
        assert_eq!(journal.append(events("t", 0, &["x"])).await.map(|done| done.seq), Ok(1));
    });
}

#[test]
fn only_its_owner_can_read_a_journal() {
    let disk = OnDisk::new();
    let journal = disk.open();
    wait(async { journal.append(events("t", 0, &["x"])).await.unwrap() });
    let files: Vec<_> = fs::read_dir(disk.folder.path()).unwrap().map(Result::unwrap).collect();
    assert_eq!(files.len(), 3);
    for file in files {
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600, "{file:?}");
    }
}

/// Where the child below looks, and what it should find.
const LOOK_AT: &str = "STORE_TEST_LOOK_AT";

/// What opening the path for reading and for writing leads to, in few words.
fn look(path: &std::path::Path) -> String {
    let word = |result: Result<Sqlite, Error>| match result {
        Ok(_) => "opens".to_owned(),
        Err(error) => error.to_string().replace(&path.display().to_string(), "it"),
    };
    let read = word(Sqlite::open_read_only(path));
    let write = word(Sqlite::open(path, &Options::default()));
    format!("read: {read}\nwrite: {write}\n")
}

/// The other side of the tests below, which run it as a user without rights.
#[test]
fn a_journal_is_looked_at() {
    let disk = OnDisk::new();
    drop(disk.open());
    let path = std::env::var_os(LOOK_AT).map_or_else(|| disk.path(), Into::into);
    let seen = look(&path);
    std::io::stdout().write_all(seen.as_bytes()).unwrap();
    assert!(seen.contains("read: "));
}

/// What somebody without special rights sees of a file and folder with these modes.
fn seen_by_nobody(file_mode: u32, folder_mode: u32) -> String {
    let disk = OnDisk::new();
    drop(disk.open());
    let public = tempfile::TempDir::new().unwrap();
    let program = public.path().join("it");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let set = |path: &std::path::Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    set(public.path(), 0o755);
    set(&program, 0o755);
    set(&disk.path(), file_mode);
    set(disk.folder.path(), folder_mode);
    let mut child = Command::new(&program);
    child.args(["--exact", "faults::a_journal_is_looked_at", "--nocapture"]);
    child.env(LOOK_AT, disk.path());
    // The superuser may do everything, so somebody else has to look.
    if fs::metadata(disk.folder.path()).unwrap().uid() == 0 {
        child.uid(65534).gid(65534);
    }
    let output = child.output().unwrap();
    set(disk.folder.path(), 0o755);
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter_map(|line| {
        // The harness writes the name of the test before the first line.
        let read = line.rsplit_once("read: ").map(|(_, seen)| format!("read: {seen}"));
        read.or_else(|| line.starts_with("write: ").then(|| line.to_owned()))
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_file_that_may_not_be_opened_says_so() {
    expect_test::expect![[r#"
        read: no permission to open it; give it and its folder to this user
        write: no permission to open it; give it and its folder to this user"#]]
    .assert_eq(&seen_by_nobody(0o000, 0o755));
}

#[test]
fn a_file_that_may_only_be_read_says_so() {
    expect_test::expect![[r#"
        read: opens
        write: it can only be read; make the file and its folder writable"#]]
    .assert_eq(&seen_by_nobody(0o444, 0o755));
}

#[test]
fn a_folder_that_may_not_be_entered_says_so() {
    expect_test::expect![[r#"
        read: no permission to open it; give it and its folder to this user
        write: no permission to open it; give it and its folder to this user"#]]
    .assert_eq(&seen_by_nobody(0o644, 0o000));
}

#[test]
fn errors_say_what_happened_where_and_what_to_do() {
    let path = std::path::PathBuf::from("p/legation.db");
    let all = [
        Error::Conflict { tree: "t".into(), expected: 1, actual: 2 },
        Error::DuplicateKey { delegation: "del-1".into() },
        Error::Invalid { what: "an append without events".into() },
        Error::Missing { path: path.clone() },
        Error::DiskFull { path: path.clone() },
        Error::ReadOnly { path: path.clone() },
        Error::PermissionDenied { path: path.clone() },
        Error::Corrupt { path: path.clone(), detail: "page 7".into() },
        Error::NotAJournal { path: path.clone() },
        Error::Locked { path: path.clone() },
        Error::NewerSchema { path: path.clone(), found: 2, known: 1 },
        Error::OlderSchema { path: path.clone(), found: 0, known: 1 },
        Error::Io { path: path.clone(), detail: "disk I/O error".into() },
        Error::Stopped { reason: Box::new(Error::DiskFull { path }) },
        Error::Closed,
    ];
    let text: Vec<String> = all.iter().map(ToString::to_string).collect();
    expect_test::expect![[r#"
        the journal of `t` is at 2, not at 1; read on and decide again
        the key is taken by `del-1`; use that delegation, or another key
        the journal does not take an append without events
        there is no journal at p/legation.db; nothing was delegated here yet
        there is no room to write p/legation.db; make some and start again
        p/legation.db can only be read; make the file and its folder writable
        no permission to open p/legation.db; give it and its folder to this user
        p/legation.db is damaged (page 7); keep a copy, then restore it from a backup or move it away
        p/legation.db is not a journal of Legation; move it away, or choose another place
        p/legation.db is locked by another program; end it, or try again later
        p/legation.db has version 2, and this release knows versions up to 1; use a newer one
        p/legation.db has the older version 0; start the engine once to bring it to 1
        cannot use p/legation.db: disk I/O error; check the disk, then start again
        the journal takes nothing more since writing failed: there is no room to write p/legation.db; make some and start again
        the journal is closed"#]].assert_eq(&text.join("\n"));
    assert_eq!(all.iter().filter(|error| error.is_answer()).count(), 3);
}
