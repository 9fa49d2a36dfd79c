//! What children see of the environment of whoever called, and of nobody else's.

use super::stage::{Stage, wait_for};

const TELLS: &str = "echo \"$TZ|$HTTPS_PROXY|$SECRET|$LEGATION_MAX\" >> $OUT/seen\n";

fn seen(stage: &Stage) -> Vec<String> {
    stage.told("seen").lines().map(str::to_owned).collect()
}

#[test]
fn a_child_sees_its_callers_environment_and_not_that_of_who_started_the_engine() {
    let stage = Stage::new("[recovery]\nmaxRetries = 0\n");
    stage.agent("w", "", &format!("{TELLS}legation submit --status completed --summary ok"));
    for zone in ["Europe/Berlin", "Asia/Tokyo"] {
        let mut call = stage.legation(&["delegate", "--json", "--agent", "w", zone]);
        call.env("TZ", zone).env("HTTPS_PROXY", format!("http://me:pass@{zone}"));
        assert!(call.env("SECRET", "key").output().unwrap().status.success());
    }
    let wanted =
        ["Europe/Berlin|http://me:pass@Europe/Berlin||", "Asia/Tokyo|http://me:pass@Asia/Tokyo||"];
    assert_eq!(seen(&stage), wanted);
    // A password is in nothing that others read.
    let found = stage.shell("grep -l 'me:pass' -r .legation ~/.local/state/legation/*/attempts");
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
    // Nothing of it stays when all is over.
    let left = stage.shell("ls ~/.local/state/legation/*/callers");
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
}

#[test]
fn nested_calls_and_the_time_after_a_crash_keep_the_first_callers_environment() {
    let stage = Stage::new("[recovery]\nmaxRetries = 0\n");
    let nests = format!(
        "{TELLS}touch $OUT/up; until [ -e $OUT/second ]; do :; done\n\
         TZ=Mars/Base legation delegate --json --agent leaf 'A part' > /dev/null\n\
         [ -e $OUT/third ] || exit 1\nlegation submit --status completed --summary ok"
    );
    stage.agent("top", "subagents:\n  allow: ['*']\n", &nests);
    stage.agent("leaf", "", &format!("{TELLS}legation submit --status completed --summary ok"));
    let mut call = stage.legation(&["delegate", "--detach", "--json", "--agent", "top", "Both"]);
    let said = call.env("TZ", "Asia/Tokyo").output().unwrap();
    let view: serde_json::Value = serde_json::from_slice(&said.stdout).unwrap();
    let id = view["delegationId"].as_str().unwrap();
    wait_for("it to start", || stage.out("up").exists().then_some(()));
    let modes = stage.shell("stat -c %a ~/.local/state/legation/*/callers/*");
    assert_eq!(String::from_utf8_lossy(&modes.stdout), "600\n");
    assert!(stage.kill());
    std::fs::write(stage.out("second"), "").unwrap();
    let from_berlin = |args: &[&str]| {
        let said = stage.legation(args).env("TZ", "Europe/Berlin").output().unwrap();
        serde_json::from_slice::<serde_json::Value>(&said.stdout).unwrap()
    };
    let view = from_berlin(&["resume", id, "--wait", "--json"]);
    assert_eq!(view["status"], "failed", "{view}");
    assert_eq!(seen(&stage), ["Asia/Tokyo|||"; 2]);

    // That is over. Whoever has it go on again lends an environment.
    std::fs::write(stage.out("third"), "").unwrap();
    let subtask = view["subtasks"][0]["id"].as_str().unwrap();
    let view = from_berlin(&["retry", id, subtask, "--wait", "--json"]);
    assert_eq!(view["status"], "completed", "{view}");
    assert_eq!(seen(&stage)[2..], ["Europe/Berlin|||"; 2]);
    let left = stage.shell("ls ~/.local/state/legation/*/callers");
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
}
