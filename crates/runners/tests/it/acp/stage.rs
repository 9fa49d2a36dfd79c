//! An agent that says what a recording has, and writes down what it is told.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use legation_runners::acp::Acp;
use legation_runners::envoy::{Charge, Dialogue as _, Ear, Outcome};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::watch;

use crate::talked::{Heard, charge};

pub(super) struct Stage {
    folder: TempDir,
    pub(super) charge: Charge,
    pub(super) heard: Heard,
    pub(super) stop: watch::Sender<bool>,
    ear: Ear,
    acp: Acp,
}

impl Stage {
    /// Plays a recording: an answer of ours is waited for after each question, and after
    /// the first two replies, which only lead up to the conversation.
    pub(super) fn playing(recording: &str, last: &str) -> Self {
        let mut script =
            "#!/bin/sh\nhear() { IFS= read -r x && printf '%s\\n' \"$x\" >> said; }\nhear\n"
                .to_owned();
        for line in recording.lines() {
            let message: Value = serde_json::from_str(line).unwrap();
            script.push_str(&format!("cat <<'END'\n{line}\nEND\n"));
            let is_question = message.get("method").is_some() && message.get("id").is_some();
            let leads_up = message.get("result").is_some() && message["id"].as_i64() < Some(3);
            if is_question || leads_up {
                script.push_str("hear\n");
            }
        }
        script.push_str(last);
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("agent");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let heard = Heard::default();
        let (stop, stopped) = watch::channel(false);
        let mut charge = charge(folder.path());
        charge.program = vec![program.to_string_lossy().into_owned()];
        charge.model = None;
        let ear = Ear::new(heard.clone(), stopped);
        Self { folder, charge, heard, stop, ear, acp: Acp::default() }
    }

    pub(super) fn say(&mut self, text: &str) -> Outcome {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        self.ear.begin();
        runtime.block_on(self.acp.turn(&self.charge, text, &mut self.ear))
    }

    /// What the agent was told, in order.
    pub(super) fn said(&self) -> Vec<Value> {
        let said = fs::read_to_string(self.folder.path().join("said")).unwrap_or_default();
        said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(super) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }
}
