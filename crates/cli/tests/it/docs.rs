//! The documents, read as terminal sessions: what they say is typed, and what
//! they say comes back must come back.
//!
//! In a block marked `console` or `sh`, a line that opens with `$ ` is typed and
//! the lines below it are what is seen; a line `...` stands for any number of
//! lines, `…` in a line for any text, and no lines at all for anything. A command
//! ends with ` # exit N` where it is not meant to succeed. Only `legation` is run.
//! A block marked with `file=NAME` is put into the project before what follows it in
//! the document, and the examples of the repository are there from the start.
//!
//! Ids of delegations differ each time. One that a document shows stands for the one
//! that was really seen in its place, from then on, also where it is typed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::expect;

use crate::session::Session;

/// A piece of a document that means something to a terminal.
#[derive(Debug, PartialEq)]
enum Piece {
    /// A file to be there from now on.
    File { name: String, text: String },
    /// A command to be typed.
    Typed { line: usize, command: String, exit: i32, seen: Vec<String> },
}

/// The pieces of a document, in order.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((_, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        let block: Vec<(usize, &str)> =
            lines.by_ref().take_while(|(_, line)| !line.starts_with("```")).collect();
        if let Some((_, name)) = info.split_once("file=") {
            let text = block.iter().map(|(_, line)| format!("{line}\n")).collect();
            pieces.push(Piece::File { name: name.trim().to_owned(), text });
        } else if ["console", "sh"].contains(&info.trim()) {
            pieces.extend(typed(&block));
        }
    }
    pieces
}

fn typed(block: &[(usize, &str)]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for (at, line) in block {
        if let Some(command) = line.strip_prefix("$ ") {
            let (command, exit) = command.split_once(" # exit ").unwrap_or((command, "0"));
            pieces.push(Piece::Typed {
                line: at + 1,
                command: command.to_owned(),
                exit: exit.trim().parse().unwrap(),
                seen: Vec::new(),
            });
        } else if let Some(Piece::Typed { seen, .. }) = pieces.last_mut() {
            seen.push((*line).to_owned());
        }
    }
    pieces
}

/// Ids as a document shows them, and what they really were.
type Ids = BTreeMap<String, String>;

/// Letters and digits of a delegation's id.
const ID_CHARS: usize = 12;

/// The id that a text begins with, if it does, and the rest.
fn split_id(text: &str) -> Option<(&str, &str)> {
    let end = "del-".len() + ID_CHARS;
    let (id, rest) = text.strip_prefix("del-").and_then(|_| text.split_at_checked(end))?;
    let is_id = id.bytes().all(|byte| byte == b'-' || byte.is_ascii_alphanumeric());
    is_id.then_some((id, rest))
}

/// A typed command with the ids that were really seen.
fn translated(command: &str, ids: &Ids) -> String {
    let start = command.to_owned();
    ids.iter().fold(start, |command, (told, real)| command.replace(told, real))
}

/// Whether a line is what was expected, `…` standing for any text; the ids after it.
fn fits_line(expected: &str, seen: &str, ids: &Ids) -> Option<Ids> {
    if let Some(rest) = expected.strip_prefix('…') {
        let mut ends = seen.char_indices().map(|(at, _)| at).chain([seen.len()]);
        return ends.find_map(|at| fits_line(rest, seen.get(at..)?, ids));
    }
    if let (Some((told, rest)), Some((real, more))) = (split_id(expected), split_id(seen)) {
        let mut ids = ids.clone();
        let known = ids.entry(told.to_owned()).or_insert_with(|| real.to_owned());
        return if known == real { fits_line(rest, more, &ids) } else { None };
    }
    match (expected.chars().next(), seen.chars().next()) {
        (None, None) => Some(ids.clone()),
        (Some(told), Some(real)) if told == real => {
            fits_line(expected.get(told.len_utf8()..)?, seen.get(real.len_utf8()..)?, ids)
        }
        (Some(_) | None, _) => None,
    }
}

/// Whether what was seen is what was expected, `...` standing for any lines; the ids
/// after it.
fn fits(expected: &[String], seen: &[&str], ids: &Ids) -> Option<Ids> {
    match expected.split_first() {
        None => seen.is_empty().then(|| ids.clone()),
        Some((first, rest)) if first.trim() == "..." => {
            (0..=seen.len()).find_map(|skipped| fits(rest, &seen[skipped..], ids))
        }
        Some((first, rest)) => {
            let (line, more) = seen.split_first()?;
            fits(rest, more, &fits_line(first, line, ids)?)
        }
    }
}

/// The repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// Types a document into a session of its own; answers with all that went otherwise.
fn read_aloud(text: &str) -> String {
    let session = Session::new();
    for file in std::fs::read_dir(root().join("examples")).unwrap() {
        let file = file.unwrap().path();
        let name = Path::new("examples").join(file.file_name().unwrap());
        session.write(name, std::fs::read(&file).unwrap());
    }
    let mut complaints = String::new();
    let mut ids = Ids::new();
    for piece in pieces(text) {
        match piece {
            Piece::File { name, text } => session.write(name, text),
            Piece::Typed { line, command, exit, seen } if command.starts_with("legation") => {
                let (code, got) = type_in(&session, &translated(&command, &ids));
                let got: Vec<&str> = got.lines().collect();
                let fit = if seen.is_empty() { Some(ids.clone()) } else { fits(&seen, &got, &ids) };
                match fit.filter(|_| code == exit) {
                    Some(more) => ids = more,
                    None => {
                        let got = got.join("\n  ");
                        complaints +=
                            &format!("line {line}: {command}\n  {got}\n  [exit {code}]\n");
                    }
                }
            }
            Piece::Typed { .. } => {}
        }
    }
    complaints
}

/// Types one line into a shell that finds `legation`.
fn type_in(session: &Session, line: &str) -> (i32, String) {
    let binary = Path::new(env!("CARGO_BIN_EXE_legation"));
    let path = std::env::var_os("PATH").unwrap();
    let folders = std::iter::once(binary.parent().unwrap().to_owned());
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&path))).unwrap();
    let done = Command::new("sh")
        .args(["-c", line])
        .current_dir(session.dir())
        .env_clear()
        .env("PATH", path)
        .env("HOME", session.root().join("home"))
        .env("XDG_RUNTIME_DIR", session.root().join("run"))
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let mut seen = String::from_utf8(done.stdout).unwrap();
    seen += &String::from_utf8(done.stderr).unwrap();
    (done.status.code().unwrap(), seen)
}

/// Every document of the repository.
fn documents() -> Vec<PathBuf> {
    let root = root();
    let mut found = Vec::new();
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.extend(std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()));
    found.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    found.sort();
    found
}

#[test]
fn every_document_tells_what_really_happens() {
    let documents = documents();
    assert!(documents.iter().any(|path| path.ends_with("README.md")));
    for path in documents {
        let complaints = read_aloud(&std::fs::read_to_string(&path).unwrap());
        assert_eq!(complaints, "", "{}", path.display());
    }
}

#[test]
fn the_readme_types_something() {
    let readme = documents().into_iter().find(|path| path.ends_with("README.md")).unwrap();
    let pieces = pieces(&std::fs::read_to_string(readme).unwrap());
    let is_ours = |piece: &Piece| matches!(piece, Piece::Typed { command, .. } if command.starts_with("legation"));
    assert!(pieces.iter().any(is_ours));
}

const SAMPLE: &str = "\
Text with `$ legation nothing`.

```json file=tasks.json
{}
```
```console
$ legation --version
legation 0.1.0
$ legation explode # exit 2
error: ...
```
```rust
$ legation not-typed
```
";

#[test]
fn blocks_become_files_and_commands() {
    expect![[r#"
        [
            File {
                name: "tasks.json",
                text: "{}\n",
            },
            Typed {
                line: 7,
                command: "legation --version",
                exit: 0,
                seen: [
                    "legation 0.1.0",
                ],
            },
            Typed {
                line: 9,
                command: "legation explode",
                exit: 2,
                seen: [
                    "error: ...",
                ],
            },
        ]
    "#]]
    .assert_debug_eq(&pieces(SAMPLE));
}

#[test]
fn a_document_that_tells_the_truth_raises_no_complaint() {
    let sample = "```json file=a/b.txt\n12\n```\n```console\n\
        $ legation --version\nlegation 0.1.0\n$ legation --help | head -1\n\
        $ legation explode # exit 2\n...\n$ legation --version && cat a/b.txt\n...\n12\n\
        $ cargo explode\n```\n";
    assert_eq!(read_aloud(sample), "");
}

#[test]
fn a_wrong_exit_code_or_a_wrong_line_is_a_complaint() {
    let sample =
        "```console\n$ legation --version\nlegation 9\n$ legation --version # exit 1\n```\n";
    expect![[r#"
        line 2: legation --version
          legation 0.1.0
          [exit 0]
        line 4: legation --version
          legation 0.1.0
          [exit 0]
    "#]]
    .assert_eq(&read_aloud(sample));
}

#[test]
fn dots_stand_for_any_lines() {
    let cases = [
        ("a b c", "a b c", true),
        ("a ... c", "a x y c", true),
        ("... c", "c", true),
        ("a ...", "a", true),
        ("a ... c", "a x", false),
        ("a", "a b", false),
        ("a b", "a", false),
    ];
    for (expected, seen, answer) in cases {
        let words: Vec<String> = expected.split(' ').map(str::to_owned).collect();
        let seen: Vec<&str> = seen.split(' ').collect();
        assert_eq!(fits(&words, &seen, &Ids::new()).is_some(), answer, "{expected}");
    }
}

#[test]
fn dots_in_a_line_stand_for_any_text() {
    let cases = [
        ("took …", "took 12ms", true),
        ("… · done", "a · b · done", true),
        ("a…c…e", "abcde", true),
        ("a…c", "abcd", false),
        ("…", "", true),
    ];
    for (expected, seen, answer) in cases {
        assert_eq!(fits_line(expected, seen, &Ids::new()).is_some(), answer, "{expected}");
    }
}

#[test]
fn an_id_stands_for_the_one_that_was_seen_in_its_place() {
    let told = ["del-aaaaaaaaaaaa is here".to_owned(), "… del-aaaaaaaaaaaa".to_owned()];
    let seen = ["del-123456789xyz is here", "and del-123456789xyz"];
    let ids = fits(&told, &seen, &Ids::new()).unwrap();
    assert_eq!(translated("status del-aaaaaaaaaaaa", &ids), "status del-123456789xyz");
    let another = ["del-123456789xyz is here", "and del-000000000000"];
    assert_eq!(fits(&told, &another, &Ids::new()), None);
    assert_eq!(fits_line("del-7", "del-8", &Ids::new()), None);
}
