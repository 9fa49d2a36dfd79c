//! Conversations that are really held, with programs that only say what they were told to.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use legation_core::agent::Runner;
use legation_runners::envoy::{Charge, Reader};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;

use super::charge;

/// A program that plays a vendor's. It writes down how it is started and what it is told,
/// and says what is in the files `said-1`, `said-2`, … beside it.
struct Player {
    runner: Runner,
    script: &'static str,
    /// How it says something.
    says: fn(&str) -> String,
    /// How often it is started for three turns.
    starts: usize,
}

const PLAYERS: &[Player] = &[
    Player {
        runner: Runner::ClaudeCode,
        script: r#"
            echo "started $*" >> log; turn=0
            while read -r line; do
                echo "told $line" >> log
                case "$line" in *interrupt*) echo '{"type":"result","subtype":"error_during_execution","is_error":true}'; continue;; esac
                turn=$((turn + 1)); cat "said-$turn"
            done"#,
        says: |text| {
            let said = json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}});
            let over = json!({"type": "result", "subtype": "success", "is_error": false});
            format!("{said}\n{over}\n")
        },
        starts: 1,
    },
    Player {
        runner: Runner::Codex,
        script: r#"
            trap 'echo "told by a signal: interrupt" >> log; kill $! 2> /dev/null; exit 1' INT
            echo "started $*" >> log; turn=$(grep -c started log)
            echo "told $(cat)" >> log
            cat "said-$turn"
            case "$(cat said-$turn)" in *completed*) ;; *) sleep 1000 & wait;; esac"#,
        says: |text| {
            let begun = json!({"type": "thread.started", "thread_id": "t1"});
            let said =
                json!({"type": "item.completed", "item": {"type": "agent_message", "text": text}});
            let over = json!({"type": "turn.completed", "usage": {"input_tokens": 5}});
            format!("{begun}\n{said}\n{over}\n")
        },
        starts: 3,
    },
];

/// A return that nothing is wrong with.
pub(super) fn good_return() -> String {
    let known = charge().known;
    json!({"status": "completed", "summary": "Done.", "artifacts": [], "errors": [], "metadata": known})
        .to_string()
}

struct Stage {
    folder: TempDir,
}

impl Stage {
    /// A folder in which a program says these things, one a turn.
    fn new(said: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (no, said) in said.iter().enumerate() {
            fs::write(folder.path().join(format!("said-{}", no + 1)), said).unwrap();
        }
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn envoy(&self, player: &Player) -> Child {
        let words = ["/bin/sh", "-c", player.script, "player"].map(str::to_owned);
        let charge = Charge {
            runner: player.runner,
            program: words.to_vec(),
            scratch: self.path().join("scratch/tmp/envoy"),
            workspace: PathBuf::from(self.path()),
            ..charge()
        };
        let mut envoy = Command::new(env!("CARGO_BIN_EXE_keeper"))
            .arg("envoy")
            // Nothing of the user's own is read.
            .env("HOME", self.path())
            .env("CODEX_HOME", self.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = envoy.stdin.take().unwrap();
        stdin.write_all(&serde_json::to_vec(&charge).unwrap()).unwrap();
        envoy
    }

    fn log(&self, word: &str) -> Vec<String> {
        let log = fs::read_to_string(self.path().join("log")).unwrap();
        log.lines().filter(|line| line.starts_with(word)).map(str::to_owned).collect()
    }
}

/// What an envoy passed on until it ended.
fn heard(envoy: Child) -> Reader {
    let output = envoy.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut reader = Reader::default();
    reader.push(&output.stdout);
    reader
}

#[test]
fn who_is_asked_again_remembers_what_was_said() {
    for player in PLAYERS {
        let stage = Stage::new(&[(player.says)("I am done."), (player.says)(&good_return())]);
        let reader = heard(stage.envoy(player));
        assert!(reader.text().ends_with(&format!("{}\n", good_return())), "{}", reader.text());
        let told = stage.log("told");
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains("the brief") && !told[1].contains("the brief"), "{told:?}");
        let starts = stage.log("started");
        let is_gone_on_with = starts.len() == 1 || starts[1].contains("resume");
        assert!(is_gone_on_with, "{starts:?}");
    }
}

#[test]
fn nobody_is_asked_more_than_twice() {
    for player in PLAYERS {
        let said = (player.says)("I am done.");
        let stage = Stage::new(&[said.clone(), said.clone(), said.clone(), said]);
        let reader = heard(stage.envoy(player));
        assert_eq!(reader.text(), "I am done.\n".repeat(3));
        assert_eq!((stage.log("told").len(), stage.log("started").len()), (3, player.starts));
    }
}

#[test]
fn who_is_asked_to_stop_ends_and_has_not_failed() {
    for player in PLAYERS {
        // It says something, and not that it is over.
        let said = (player.says)("I am at work.");
        let until = said.trim_end().rsplit_once('\n').unwrap().0;
        let stage = Stage::new(&[format!("{until}\n")]);
        let mut envoy = stage.envoy(player);
        let mut output = BufReader::new(envoy.stdout.take().unwrap());
        let mut told = String::new();
        while !told.contains("I am at work.") {
            assert_ne!(output.read_line(&mut told).unwrap(), 0, "{told}");
        }
        let pid = Pid::from_raw(i32::try_from(envoy.id()).unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        output.read_to_string(&mut told).unwrap();
        assert!(envoy.wait().unwrap().success());
        assert!(!told.contains("failed"), "{told}");
        let last = stage.log("told").pop().unwrap();
        assert!(last.contains("interrupt"), "{last}");
    }
}
