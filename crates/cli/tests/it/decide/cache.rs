//! Answers that are kept for a minute.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::session::Session;

/// The files of the cache.
fn kept(session: &Session) -> Vec<PathBuf> {
    let folder = session.dir().join("../home/.cache/legation/decisions");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn an_equal_question_gets_the_same_answer_for_a_minute() {
    let session = Session::new();
    let ask = |args: &[&str]| -> Value { serde_json::from_str(&session.run(args)).unwrap() };
    let first = ask(&["decide", "--json", "Ship it"]);
    assert_eq!(first["metadata"].get("cached"), None);
    let again = ask(&["decide", "--json", "Ship it"]);
    assert_eq!(again["metadata"]["cached"], true);
    assert_eq!(again["metadata"]["timestamp"], first["metadata"]["timestamp"]);
    assert_eq!(again["reasoning"], first["reasoning"]);
    assert!(session.run(&["decide", "Ship it"]).contains("Cached      answer of 2"));
    for other in [
        &["decide", "--json", "Ship it now"][..],
        &["decide", "--json", "Ship it", "--agent-load", "1"],
        &["decide", "--json", "Ship it", "--no-subtasks"],
        &["decide", "--json", "Ship it", "--agent", "general-purpose"],
        &["decide", "--json", "Ship it", "--no-cache"],
    ] {
        assert_eq!(ask(other)["metadata"].get("cached"), None, "{other:?}");
    }
    let files = kept(&session);
    assert_eq!(files.len(), 5, "one for each question but the last");
    for file in &files {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let folder = files[0].parent().unwrap();
    assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn no_cache_neither_reads_nor_writes() {
    let session = Session::new();
    session.run(&["decide", "--no-cache", "Ship it"]);
    assert!(kept(&session).is_empty());
    session.run(&["decide", "Ship it"]);
    let seen = session.run(&["decide", "--json", "--no-cache", "Ship it"]);
    assert!(!seen.contains("cached"));
}

#[test]
fn an_old_broken_or_future_answer_is_no_answer() {
    let session = Session::new();
    session.run(&["decide", "Ship it"]);
    let file = kept(&session).pop().unwrap();
    let good = fs::read_to_string(&file).unwrap();
    let answer: Value = serde_json::from_str(&good).unwrap();
    let made = answer["metadata"]["timestamp"].as_str().unwrap();
    for bad in [
        good.replace(made, "2020-01-01T00:00:00Z"),
        good.replace(made, "2120-01-01T00:00:00Z"),
        good.replace(made, "yesterday"),
        "{".to_owned(),
        String::new(),
    ] {
        fs::write(&file, bad).unwrap();
        assert!(!session.run(&["decide", "Ship it"]).contains("Cached"));
        assert!(session.run(&["decide", "Ship it"]).contains("Cached"), "it was written anew");
    }
}

#[test]
fn old_answers_are_cleared_away_and_there_are_never_too_many() {
    let session = Session::new();
    session.run(&["decide", "Ship it"]);
    let first = kept(&session).pop().unwrap();
    let folder = first.parent().unwrap().to_owned();
    let old = SystemTime::now() - Duration::from_secs(61);
    fs::File::options().write(true).open(&first).unwrap().set_modified(old).unwrap();
    for n in 0..300 {
        fs::write(folder.join(format!("{n}.json")), "").unwrap();
    }
    session.run(&["decide", "Ship something else"]);
    assert!(!first.exists());
    assert_eq!(kept(&session).len(), 256);
}

#[test]
fn a_cache_that_cannot_be_had_is_done_without() {
    let session = Session::new();
    fs::write(session.dir().join("../home/.cache"), "a file").unwrap();
    for _ in 0..2 {
        let seen = session.run(&["decide", "Ship it"]);
        assert!(seen.starts_with("DIRECT") && !seen.contains("Cached") && !seen.contains('!'));
    }
}
