//! What is drawn on a terminal of 60 columns and 8 rows.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::Command;

use expect_test::expect;
use legation_core::config::Pattern;
use legation_engine::news::{Run, What};
use legation_engine::protocol::{Reply, Told};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::fake_engine::{FakeEngine, Step, answer, news, run, say};
use crate::session::Session;

const COLUMNS: u16 = 60;
const ROWS: u16 = 8;
/// Times that a paused tree is drawn before its clock is believed to stand still.
const PAUSED_FRAMES: usize = 15;

/// A terminal: the end of whoever looks at it, and that of programs.
pub(crate) fn terminal() -> (File, File) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let size = Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
    let terminal = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    tcsetwinsize(&terminal, size).unwrap();
    (File::from(master), terminal)
}

/// Runs a command with a terminal for its stdout; answers with all that was written to it.
fn on_terminal(command: &mut Command) -> String {
    let (mut master, terminal) = terminal();
    let mut child = command.stdout(terminal.try_clone().unwrap()).spawn().unwrap();
    // The command holds it too; `Command` itself does until it is given another.
    command.stdout(std::process::Stdio::null());
    drop(terminal);
    let mut bytes = Vec::new();
    // Reading from a terminal that nobody holds any more is an error, not an end.
    let _ = master.read_to_end(&mut bytes);
    child.wait().unwrap();
    String::from_utf8(bytes).unwrap().replace('\r', "")
}

/// What can be seen after each time something was written: rows of text, cursor moves obeyed.
fn screens(text: &str) -> Vec<String> {
    let mut rows: Vec<String> = vec![String::new()];
    let mut at = 0;
    let mut seen = Vec::new();
    let mut rest = text;
    while let Some(symbol) = rest.chars().next() {
        rest = rest.split_at(symbol.len_utf8()).1;
        if symbol == '\n' {
            at += 1;
            rows.resize(rows.len().max(at + 1), String::new());
        } else if symbol == '\u{1b}' {
            let end = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap();
            let (order, behind) = rest.split_at(end + 1);
            rest = behind;
            match order {
                "[2K" => rows[at].clear(),
                "[J" => {
                    rows.truncate(at + 1);
                    rows[at].clear();
                    seen.push(rows.join("\n"));
                }
                "[?7l" | "[?7h" => {}
                up if up.ends_with('A') => {
                    at -= up.trim_matches(['[', 'A']).parse::<usize>().unwrap();
                }
                colour => assert!(colour.ends_with('m'), "{order:?}"),
            }
        } else {
            rows[at].push(symbol);
        }
    }
    seen.push(rows.join("\n"));
    seen
}

fn told(id: &str) -> Told {
    Told {
        subtask: id.into(),
        title: format!("the part {id} of the work"),
        agent: "linter".into(),
        reason: "named".to_owned(),
    }
}

fn part(id: &str) -> Run {
    let attempt = format!("exec-{id}");
    Run { subtask: id.into(), attempt: attempt.as_str().into(), ..run() }
}

/// A conversation about a delegation with these parts.
fn script(parts: &[&str]) -> Vec<Step> {
    let chosen = parts.iter().map(|id| told(id)).collect();
    let accepted = Reply::Accepted {
        delegation: "del-1".into(),
        again: false,
        pattern: Pattern::Parallel,
        chosen,
    };
    let progress = What::Progress {
        run: part("b"),
        current: 1,
        total: 2,
        last_action: "reading a very long file with a very long name".to_owned(),
    };
    vec![
        say(accepted),
        news(What::Started(part("a"))),
        news(What::Started(part("b"))),
        news(What::SubtaskEnded { subtask: "a".into(), status: "completed".to_owned() }),
        news(progress),
        answer("completed"),
    ]
}

fn drawn(parts: &[&str]) -> (Vec<String>, String) {
    let session = Session::new();
    let _engine = FakeEngine::start(&session.paths().socket, vec![script(parts)]);
    let mut command = session.command(&session.dir(), &["delegate", "Look after it"]);
    let text = on_terminal(command.env("TERM", "xterm"));
    (screens(&text), text)
}

#[test]
fn a_tree_is_drawn_in_place_and_the_last_one_stays() {
    let (screens, text) = drawn(&["a", "b", "c"]);
    let tree = screens.iter().rfind(|screen| screen.contains("[#####.....]")).unwrap();
    let tree = tree.split('\n').filter(|row| row.contains("─ ") || row.contains(" of "));
    let tree: Vec<&str> = tree.collect();
    assert_eq!(tree.len(), 4, "{tree:?}");
    for (row, start) in tree.iter().zip([
        "running    [###.......] 1 of 3",
        "completed  ├─ a",
        "running    ├─ b",
        "queued     └─ c",
    ]) {
        assert!(row.starts_with(start) && row.chars().count() <= usize::from(COLUMNS), "{row:?}");
    }
    expect![[r#"
        Look after it
        del-1 · completed · parallel · 1 of 1 · 1.6s · 1,200 tokens · $0.02
        └─ completed  a lint · linter · 1.5s · 1,200 tokens · $0.02…
             Found \u{1b}[31mnothing.
        Result: All is well.
          a.txt  report
        Next: legation diff del-1, then legation apply del-1
    "#]]
    .assert_eq(screens.last().unwrap());
    assert!(!text.contains("\u{1b}[3"), "no colour where none is wanted");
}

#[test]
fn a_subtask_whose_attempt_is_done_has_not_ended_before_it_is_told_so() {
    let session = Session::new();
    let mut steps = script(&["a"]);
    steps.truncate(2);
    steps.push(news(What::Ended {
        run: part("a"),
        status: "completed".to_owned(),
        summary: "made it".to_owned(),
        duration_ms: 70,
        tokens: None,
        cost_usd: None,
        files_changed: Vec::new(),
        errors: Vec::new(),
        refused: Vec::new(),
    }));
    steps.push(answer("completed"));
    let _engine = FakeEngine::start(&session.paths().socket, vec![steps]);
    let mut command = session.command(&session.dir(), &["delegate", "Look after it"]);
    let text = on_terminal(command.env("TERM", "xterm"));
    let screens = screens(&text);
    let last = screens.iter().rfind(|screen| screen.contains("made it")).unwrap();
    assert!(last.contains("merging    └─ a") && last.contains("0 of 1"), "{last}");
}

#[test]
fn the_clock_stands_still_while_everything_is_paused() {
    let session = Session::new();
    let mut first = script(&["a"]);
    let end = first.split_off(3);
    first.push(news(What::Paused { reason: "lunch".to_owned() }));
    first.push(Step::Until(2));
    first.extend(end);
    let engine = FakeEngine::start(&session.paths().socket, vec![first, Vec::new()]);
    let mut command = session.command(&session.dir(), &["delegate", "Look after it"]);
    let (mut master, terminal) = terminal();
    let mut child = command.env("TERM", "xterm").stdout(terminal).spawn().unwrap();
    command.stdout(std::process::Stdio::null());
    let mut seen = String::new();
    let mut bytes = [0; 4096];
    while seen.matches("paused").count() < PAUSED_FRAMES {
        let count = master.read(&mut bytes).unwrap();
        seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    // Said again, what it was asked first lets the engine go on.
    let again = serde_json::to_string(&engine.heard()).unwrap() + "\n";
    let mut other = UnixStream::connect(session.paths().socket).unwrap();
    other.write_all(again.as_bytes()).unwrap();
    let _ = master.read_to_end(&mut Vec::new());
    child.wait().unwrap();
    // Frames from before the pause say less, and what was read last may be half a frame.
    let frames = seen.split_once("paused").unwrap().1.rsplit_once("paused").unwrap().0;
    for part in ["paused", "─ a", "─ b"] {
        let mut rows = frames.lines().filter_map(|row| row.split_once(part)).map(|(_, rest)| rest);
        let first = rows.next().unwrap();
        assert!(first.contains('.'), "there is a time: {first}");
        assert!(rows.all(|row| row == first), "{seen}");
    }
}

#[test]
fn a_tree_that_is_higher_than_the_screen_is_cut_and_not_scrolled() {
    let parts = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    let (screens, text) = drawn(&parts);
    let most =
        text.split("\u{1b}[").filter_map(|order| order.split_once('A')?.0.parse::<u16>().ok());
    assert_eq!(most.max(), Some(ROWS - 1));
    assert!(screens.iter().any(|screen| screen.contains("… 4 more")), "{screens:?}");
}

#[test]
fn a_dumb_terminal_gets_lines() {
    let session = Session::new();
    let _engine = FakeEngine::start(
        &session.paths().socket,
        vec![vec![news(What::Resumed), answer("completed")]],
    );
    let mut command = session.command(&session.dir(), &["delegate", "Look after it"]);
    let text = on_terminal(command.env("TERM", "dumb"));
    assert!(text.starts_with("2026-01-02T03:04:05Z del-1 resumed\n"), "{text:?}");
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn who_sits_at_a_terminal_is_told_of_what_agents_do_not_see() {
    let session = crate::engine::repository();
    session.write("draft.txt", "not committed\n");
    let mut call = session.command(&session.dir(), &["delegate", "--agent", "nobody", "Read it"]);
    let (master, terminal) = terminal();
    let mut child = call.stdout(std::process::Stdio::null()).stderr(terminal).spawn().unwrap();
    call.stderr(std::process::Stdio::null());
    let mut bytes = Vec::new();
    // Reading from a terminal that nobody holds any more is an error, not an end.
    let _ = master.take(10_000).read_to_end(&mut bytes);
    child.wait().unwrap();
    let seen = String::from_utf8(bytes).unwrap().replace('\r', "");
    expect![[r#"
        note: 1 change of yours is not committed: agents do not see it without
          --include-dirty
        ERROR: There is no agent `nobody`.
        Suggestion: `legation agents list` shows all agents
    "#]]
    .assert_eq(&seen);
}
