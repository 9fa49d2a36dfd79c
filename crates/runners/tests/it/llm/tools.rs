//! The tools, and what they keep to.

use std::fs;
use std::os::unix::fs::symlink;

use legation_core::agent::Level;
use legation_runners::envoy::{Outcome, Told};
use serde_json::{Value, json};

use super::server::anthropic;
use super::stage::Stage;

/// What the model is told of each use.
fn results(prepare: impl FnOnce(&std::path::Path), uses: &[(&str, Value)]) -> Vec<(String, bool)> {
    results_with(&[], prepare, uses).0
}

/// The same where parts of the tools have rules of their own, and what was passed on.
fn results_with(
    parts: &[(&str, Level)],
    prepare: impl FnOnce(&std::path::Path),
    uses: &[(&str, Value)],
) -> (Vec<(String, bool)>, Stage) {
    let blocks: Vec<Value> =
        uses.iter().map(|(tool, input)| json!({"tool": tool, "input": input})).collect();
    let mut stage = Stage::new(vec![anthropic(&blocks), anthropic(&[json!({"text": "Ok."})])]);
    let parts = parts.iter().map(|(name, level)| ((*name).to_owned(), *level));
    stage.charge.tools.others.extend(parts);
    prepare(stage.folder.path());
    assert_eq!(stage.say("Go."), Outcome::Over);
    stage.asked.recv().unwrap();
    (stage.next_results(), stage)
}

/// A workspace with a secret in it, and ways around to it.
fn with_secret(folder: &std::path::Path) {
    fs::create_dir_all(folder.join("secrets/deep")).unwrap();
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("secrets/key.txt"), "hunter2").unwrap();
    fs::write(folder.join("secrets/deep/key.txt"), "hunter2").unwrap();
    fs::write(folder.join("src/a.rs"), "// hunter\n").unwrap();
    fs::write(folder.join("README.md"), "as it was").unwrap();
    symlink("secrets", folder.join("innocent")).unwrap();
    symlink("secrets/key.txt", folder.join("note")).unwrap();
    symlink("../README.md", folder.join("src/doc")).unwrap();
}

const CLOSED: &[(&str, Level)] =
    &[("read(secrets/*)", Level::Deny), ("edit(README.md)", Level::Deny)];

#[test]
fn a_part_that_is_denied_is_so_however_its_path_is_written() {
    let path = |path: &str| json!({"path": path});
    let write = |path: &str| json!({"path": path, "content": "x"});
    let mut uses: Vec<(&str, Value)> = Vec::new();
    for way in ["", "./", ".//", "src/../", "src/../././"] {
        uses.push(("read", path(&format!("{way}secrets/key.txt"))));
        uses.push(("read", path(&format!("{way}secrets//deep/key.txt"))));
        uses.push(("grep", json!({"pattern": "hunter2", "path": format!("{way}secrets/key.txt")})));
        uses.push(("write", write(&format!("{way}README.md"))));
        uses.push(("edit", json!({"path": format!("{way}README.md"), "old": "was", "new": "x"})));
    }
    // What may be changed but not read is not to be found out by guessing.
    uses.push(("edit", json!({"path": "secrets/key.txt", "old": "hunter", "new": "x"})));
    uses.extend([("read", path("innocent/key.txt")), ("read", path("note"))]);
    uses.push(("write", write("src/doc")));
    let count = uses.len();
    let (results, stage) = results_with(CLOSED, with_secret, &uses);
    for ((tool, input), (text, is_error)) in uses.iter().zip(&results) {
        assert!(*is_error && text.contains("was denied"), "{tool} {input}: {text}");
    }
    let denied = stage.told().into_iter().filter(|told| matches!(told, Told::Denied { .. }));
    assert_eq!(denied.count(), count);
    assert_eq!(fs::read_to_string(stage.folder.path().join("README.md")).unwrap(), "as it was");
}

#[test]
fn an_absolute_path_to_a_part_that_is_denied_is_denied() {
    let mut stage = Stage::new(Vec::new());
    with_secret(stage.folder.path());
    let key = stage.folder.path().join("secrets/key.txt");
    let call = [json!({"tool": "read", "input": {"path": key}})];
    let (address, asked) =
        super::server::serve(vec![anthropic(&call), anthropic(&[json!({"text": "Ok."})])]);
    stage.charge.env.insert("ANTHROPIC_BASE_URL".to_owned(), address);
    stage.asked = asked;
    stage.charge.tools.others.insert("read(secrets/*)".to_owned(), Level::Deny);
    assert_eq!(stage.say("Go."), Outcome::Over);
    stage.asked.recv().unwrap();
    let results = stage.next_results();
    assert!(results[0].1 && results[0].0.contains("was denied"), "{results:?}");
}

#[test]
fn what_may_not_be_read_is_neither_found_nor_listed() {
    let uses = [
        ("grep", json!({"pattern": "hunter"})),
        ("grep", json!({"pattern": "hunter", "path": "./"})),
        ("grep", json!({"pattern": "hunter", "path": "secrets"})),
        ("grep", json!({"pattern": "hunter", "path": "innocent"})),
        ("list", json!({"path": "secrets"})),
        ("list", json!({"path": "src/.."})),
    ];
    let texts = |parts: &[(&str, Level)]| -> Vec<String> {
        let (results, _) = results_with(parts, with_secret, &uses);
        results.into_iter().map(|(text, _)| text).collect()
    };
    let left_out = "\n[2 left out: the agent may not read them]";
    let found = format!("src/a.rs:1:// hunter\n{left_out}");
    let none = format!("(no match){left_out}");
    let listed = "README.md\ninnocent\nnote\nsecrets/\nsrc/";
    assert_eq!(texts(CLOSED), [&found, &found, &none, &none, "(empty)", listed]);
    // A folder that is named whole, and one that would have to be asked for each time.
    for part in ["read(secrets)", "read(./secrets/)", "read(/secrets/**)"] {
        let texts = texts(&[(part, Level::Ask)]);
        assert!(!texts.concat().contains("hunter2"), "{part}: {texts:?}");
    }
}

#[test]
fn paths_stay_in_the_workspace() {
    let secret = tempfile::tempdir().unwrap();
    fs::write(secret.path().join("key"), "secret").unwrap();
    let outside = secret.path().to_owned();
    let prepare = |folder: &std::path::Path| {
        fs::create_dir(folder.join("sub")).unwrap();
        symlink(&outside, folder.join("out")).unwrap();
        symlink(outside.join("missing"), folder.join("dangling")).unwrap();
        symlink("loop", folder.join("loop")).unwrap();
        symlink("sub", folder.join("in")).unwrap();
    };
    let path = |path: &str| json!({"path": path});
    let write = |path: &str| json!({"path": path, "content": "x"});
    let key = outside.join("key").to_string_lossy().into_owned();
    let uses = [
        ("read", path("../../../etc/passwd")),
        ("read", path("/etc/passwd")),
        ("read", path("out/key")),
        ("read", path(&key)),
        ("read", path("sub/../out/key")),
        ("read", path("loop")),
        ("read", path("a\0b")),
        ("read", path("sub")),
        ("read", path("nothing")),
        ("list", path("out")),
        ("grep", json!({"pattern": "s", "path": "out"})),
        ("write", write("dangling")),
        ("write", write("out/new")),
        ("write", write("sub")),
        ("write", write("../escaped")),
        ("edit", json!({"path": "out/key", "old": "secret", "new": "x"})),
    ];
    for ((tool, input), (text, is_error)) in uses.iter().zip(results(prepare, &uses)) {
        assert!(
            is_error && !text.contains("root:") && !text.contains("secret"),
            "{tool} {input}: {text}"
        );
    }
    assert_eq!(fs::read_dir(secret.path()).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(secret.path().join("key")).unwrap(), "secret");
    let inside =
        results(prepare, &[("write", write("in/new/file")), ("read", path("sub/new/file"))]);
    assert_eq!(
        inside,
        [("Wrote 1 bytes to in/new/file.".to_owned(), false), ("x".to_owned(), false)]
    );
}

#[test]
fn files_are_read_in_parts() {
    let prepare = |folder: &std::path::Path| {
        let lines = (1..=5_000).map(|no| format!("line {no}\n")).collect::<String>();
        fs::write(folder.join("long"), lines).unwrap();
        fs::write(folder.join("wide"), "x".repeat(1 << 20)).unwrap();
    };
    let results = results(
        prepare,
        &[
            ("read", json!({"path": "long"})),
            ("read", json!({"path": "long", "offset": 4999, "limit": 5})),
            ("read", json!({"path": "wide"})),
        ],
    );
    assert!(results[0].0.ends_with("line 2000\n\n[lines 1 to 2000 of 5000]"));
    assert_eq!(results[1].0, "line 4999\nline 5000\n\n[lines 4999 to 5000 of 5000]");
    assert!(results[2].0.ends_with("[49152 of 1048576 bytes are shown]"));
}

#[test]
fn text_is_replaced_where_it_is_unmistakable() {
    let prepare = |folder: &std::path::Path| fs::write(folder.join("a"), "one two one").unwrap();
    let edit = |old: &str, all: bool| json!({"path": "a", "old": old, "new": "X", "all": all});
    let results = results(
        prepare,
        &[
            ("edit", edit("one", false)),
            ("edit", edit("three", false)),
            ("edit", edit("", true)),
            ("edit", edit("two", false)),
            ("edit", edit("one", true)),
            ("read", json!({"path": "a"})),
        ],
    );
    let texts: Vec<&str> = results.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "`old` occurs 2 times in `a`; give more of it.",
            "`old` does not occur in `a`.",
            "`old` does not occur in `a`.",
            "Changed a in 1 place.",
            "Changed a in 2 places.",
            "X X X",
        ]
    );
}

#[test]
fn files_are_searched_and_listed() {
    let prepare = |folder: &std::path::Path| {
        fs::create_dir_all(folder.join("src/.git")).unwrap();
        fs::write(folder.join("src/a.rs"), "fn one() {}\nfn two() {}\n").unwrap();
        fs::write(folder.join("src/.git/x"), "fn hidden() {}\n").unwrap();
    };
    let results = results(
        prepare,
        &[
            ("grep", json!({"pattern": "fn (two|three)"})),
            ("grep", json!({"pattern": "nowhere", "path": "src"})),
            ("grep", json!({"pattern": "("})),
            ("grep", json!({"pattern": "--help"})),
            ("list", json!({})),
            ("list", json!({"path": "src"})),
        ],
    );
    assert_eq!(results[0], ("./src/a.rs:2:fn two() {}\n".to_owned(), false));
    assert_eq!(results[1], ("(no match)".to_owned(), false));
    assert!(results[2].1);
    assert_eq!(results[3], ("(no match)".to_owned(), false));
    assert_eq!(results[4].0, "src/");
    assert_eq!(results[5].0, ".git/\na.rs");
}

#[test]
fn commands_have_limits() {
    let results = results(
        |_| {},
        &[
            ("shell", json!({"command": "echo out; echo err >&2"})),
            ("shell", json!({"command": "sleep 100", "timeout": 1})),
            ("shell", json!({"command": "head -c 1000000 /dev/zero | tr '\\0' x; echo end"})),
            ("shell", json!({"command": "sleep 1000 & echo started"})),
            ("shell", json!({"command": "kill -9 $$"})),
            ("shell", json!({"command": "cat"})),
        ],
    );
    assert_eq!(results[0], ("out\nerr\n".to_owned(), false));
    assert_eq!(results[1], ("\n[ended after 1 s: it took too long]".to_owned(), true));
    assert!(
        results[2].0.len() < 50_000
            && results[2].0.ends_with("end\n")
            && results[2].0.contains("bytes are left out")
    );
    assert_eq!(results[3], ("started\n".to_owned(), false));
    assert_eq!(results[4], ("\n[ended by a signal]".to_owned(), true));
    assert_eq!(results[5], ("(nothing)".to_owned(), false));
}
