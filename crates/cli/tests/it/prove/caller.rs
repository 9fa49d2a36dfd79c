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
    let modes = stage.shell("stat -c %a ~/.local/state/legation/*/callers/*");
    assert_eq!(String::from_utf8_lossy(&modes.stdout), "600\n600\n");
}

#[test]
fn nested_calls_retries_and_the_time_after_a_crash_keep_the_first_callers_environment() {
    let stage = Stage::new("[recovery]\nmaxRetries = 0\n");
    let nests = format!(
        "{TELLS}TZ=Mars/Base legation delegate --json --agent leaf 'A part' > /dev/null\n\
         [ -e $OUT/second ] || exit 1\nlegation submit --status completed --summary ok"
    );
    stage.agent("top", "subagents:\n  allow: ['*']\n", &nests);
    stage.agent("leaf", "", &format!("{TELLS}legation submit --status completed --summary ok"));
    let mut call = stage.legation(&["delegate", "--json", "--agent", "top", "Both"]);
    let said = call.env("TZ", "Asia/Tokyo").output().unwrap();
    let view: serde_json::Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(view["status"], "failed", "{view}");
    let id = view["delegationId"].as_str().unwrap();
    let subtask = view["subtasks"][0]["id"].as_str().unwrap();
    stage.kill();
    wait_for("the engine to be gone", || stage.engine().is_none().then_some(()));
    std::fs::write(stage.out("second"), "").unwrap();
    let mut again = stage.legation(&["retry", id, subtask, "--wait", "--json"]);
    let said = again.env("TZ", "Europe/Berlin").output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stdout));
    assert_eq!(seen(&stage), vec!["Asia/Tokyo|||"; 4]);
    // Where what was kept is gone, there is still the engine's own.
    assert!(stage.shell("rm ~/.local/state/legation/*/callers/*").status.success());
    stage.agent("top", "", &format!("{TELLS}legation submit --status completed --summary ok"));
    std::fs::remove_file(stage.out("second")).unwrap();
    let (_, other) = stage.json(&["delegate", "--agent", "top", "Once more"]);
    assert_eq!(other["status"], "completed", "{other}");
}
