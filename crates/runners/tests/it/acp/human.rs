//! Files through us where a human has to be asked.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;
use std::sync::mpsc::{Receiver, channel};

use legation_core::agent::Level;
use legation_runners::envoy::{Outcome, Told};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::stage::Stage;

/// An agent that asks these things, one after another, where edits have to be asked for.
struct Asked {
    stage: Stage,
    /// What the human was asked.
    questions: Receiver<String>,
    _home: TempDir,
}

impl Asked {
    fn of(questions: &[Value], approved: bool) -> Self {
        let begin = json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1}});
        let session = json!({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "s"}});
        let end = json!({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn"}});
        let mut lines = vec![begin.to_string(), session.to_string()];
        lines.extend(questions.iter().map(Value::to_string));
        lines.push(end.to_string());
        let mut stage = Stage::playing(&lines.join("\n"), "cat > /dev/null\n");
        stage.charge.tools.edit = Level::Ask;
        let home = tempfile::tempdir().unwrap();
        let socket = home.path().join("socket");
        let listener = UnixListener::bind(&socket).unwrap();
        let (tell, questions) = channel();
        std::thread::spawn(move || {
            for line in listener.incoming() {
                let mut line = line.unwrap();
                let mut asked = String::new();
                BufReader::new(&line).read_line(&mut asked).unwrap();
                let asked: Value = serde_json::from_str(&asked).unwrap();
                let what = asked["wish"]["ask"]["what"].as_str().unwrap().to_owned();
                // Before the answer: whoever has that looks at what was asked.
                if tell.send(what).is_err() {
                    return;
                }
                let answer = json!({"done": {"approved": approved}});
                line.write_all(format!("{answer}\n").as_bytes()).unwrap();
            }
        });
        let socket = socket.to_string_lossy().into_owned();
        stage.charge.env.insert("LEGATION_SOCKET".to_owned(), socket);
        stage.charge.env.insert("LEGATION_TOKEN".to_owned(), "t".to_owned());
        assert_eq!(stage.say("Go."), Outcome::Over);
        Self { stage, questions, _home: home }
    }

    /// What the human was asked, what was denied, and what is in the file then.
    fn seen(&self) -> (Vec<String>, Vec<String>, Option<String>) {
        let denied = self.stage.heard.told().into_iter().filter_map(|told| {
            if let Told::Denied { tool, why } = told {
                Some(format!("{tool}: {why}"))
            } else {
                None
            }
        });
        let text = fs::read_to_string(self.stage.folder().join("a.txt")).ok();
        (self.questions.try_iter().collect(), denied.collect(), text)
    }
}

fn write(id: &str) -> Value {
    let params = json!({"sessionId": "s", "path": "./a.txt", "content": "new"});
    json!({"jsonrpc": "2.0", "id": id, "method": "fs/write_text_file", "params": params})
}

#[test]
fn a_file_that_has_to_be_asked_for_is_written_when_a_human_says_yes() {
    let (asked, denied, text) = Asked::of(&[write("q")], true).seen();
    assert_eq!((asked, denied), (vec!["edit: a.txt".to_owned()], Vec::new()));
    assert_eq!(text.as_deref(), Some("new"));
}

#[test]
fn a_file_that_a_human_declines_is_not_written_and_that_is_told() {
    let all = Asked::of(&[write("q")], false);
    let (asked, denied, text) = all.seen();
    assert_eq!(asked, ["edit: a.txt"]);
    assert_eq!(denied, ["edit: a human said no"]);
    assert_eq!(text, None);
    let answer = all.stage.said().into_iter().find(|said| said["id"] == "q").unwrap();
    assert_eq!(answer["error"]["message"], "`edit` was denied: a human said no");
}

#[test]
fn a_human_who_granted_a_file_is_not_asked_for_it_again_and_only_once() {
    let call = json!({"toolCallId": "t", "kind": "edit", "locations": [{"path": "a.txt"}]});
    let options = json!([{"optionId": "once", "kind": "allow_once"}]);
    let params = json!({"sessionId": "s", "toolCall": call, "options": options});
    let method = "session/request_permission";
    let first = json!({"jsonrpc": "2.0", "id": "p", "method": method, "params": params});
    let (asked, ..) = Asked::of(&[first.clone(), write("q")], true).seen();
    assert_eq!(asked, ["edit: a.txt"]);
    let (asked, ..) = Asked::of(&[first, write("q"), write("r")], true).seen();
    assert_eq!(asked, ["edit: a.txt", "edit: a.txt"]);
}
