//! Conflicts that an agent resolves, and merges that are broken off or cut short.

use serde_json::Value;

use super::stage::{Stage, wait_for};

const CONFIG: &str = "[recovery]\nautoRetry = false\n[agents]\nresolver = \"mender\"\n";

fn status(subtask: &Value) -> &str {
    subtask["status"].as_str().unwrap_or_default()
}

/// Two agents that write the same line. The second waits for the first to be merged.
fn rivals(stage: &Stage, check: &str) {
    for name in ["a", "b"] {
        let script = format!("echo {name} > README.md; echo {name} > {name}.txt");
        let done = "legation submit --status completed --summary";
        stage.agent(name, "", &format!("{script}\n{done} 'wrote {name}'"));
        let path = format!(".legation/agents/{name}.md");
        let text = std::fs::read_to_string(stage.project().join(&path)).unwrap();
        let verify = format!("timeout: 60s\n  verify: ['{check}']");
        stage.write(&path, &text.replace("timeout: 60s", &verify));
    }
}

fn plan(stage: &Stage) -> String {
    let file = stage.out("plan.json");
    let plan = r#"{"pattern":"parallel","subtasks":[
        {"id":"a","agent":"a"},{"id":"b","agent":"b"}]}"#;
    std::fs::write(&file, plan).unwrap();
    file.to_str().unwrap().to_owned()
}

fn ended<'a>(view: &'a Value, how: &str) -> Vec<&'a Value> {
    let subtasks = view["subtasks"].as_array().unwrap();
    subtasks.iter().filter(|subtask| status(subtask) == how).collect()
}

fn said(stage: &Stage, line: &str) -> String {
    let ran = stage.shell(line);
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

#[test]
fn a_resolver_brings_both_sides_together_and_the_whole_is_verified() {
    let stage = Stage::new(CONFIG);
    let check = format!("pwd >> {}", stage.out("where").display());
    rivals(&stage, &check);
    stage.agent(
        "mender",
        "",
        "cat README.md > $OUT/marked; ls > $OUT/files; cat > $OUT/brief\n\
         grep -v '^[<=>]' README.md | sort > both; mv both README.md\n\
         legation submit --status completed --summary 'kept both'",
    );
    // Whoever comes after them sees what came of both.
    stage.agent("c", "", "cat README.md > $OUT/c\nlegation submit --status completed --summary c");
    let after = r#"{"id":"c","agent":"c","dependsOn":["a","b"]}]}"#;
    let three = plan(&stage);
    let text = std::fs::read_to_string(&three).unwrap().replace("parallel", "dag");
    std::fs::write(&three, text.replace("]}", &format!(",{after}"))).unwrap();
    let (code, view) = stage.json(&["delegate", "--plan", &three, "Both"]);
    assert_eq!((code, status(&view)), (0, "completed"), "{view}");
    assert_eq!(ended(&view, "completed").len(), 4, "{view}");
    assert_eq!(stage.told("c"), "a\nb\n");
    let marked = stage.told("marked");
    assert!(marked.contains("<<<<<<< ") && marked.contains("\n=======\n"), "{marked}");
    assert_eq!(stage.told("files"), "README.md\na.txt\nb.txt\n");
    let brief: Value = serde_json::from_str(&stage.told("brief")).unwrap();
    let task = brief["task"].as_str().unwrap();
    for part in ["Files in conflict: README.md", "wrote a", "wrote b", "README.md, line 1:"] {
        assert!(task.contains(part), "{part} is missing in {task}");
    }
    assert_eq!(brief["role"], "resolver");
    let id = view["delegationId"].as_str().unwrap();
    assert_eq!(said(&stage, &format!("git show legation/{id}/result:README.md")), "a\nb\n");
    let files = said(&stage, &format!("git ls-tree --name-only legation/{id}/result"));
    assert_eq!(files, ".gitignore\nREADME.md\na.txt\nb.txt\n");
    // Nobody ever sees the markers in a history.
    let log = said(&stage, &format!("git log -p --format=%H legation/{id}/result"));
    assert!(!log.contains("<<<<<<<"), "{log}");
    // Each on its own files, and once on what came of both.
    assert_eq!(stage.told("where").lines().count(), 3);
    let (code, applied) = stage.json(&["apply", id, "--yes"]);
    assert_eq!(code, 0, "{applied}");
    assert_eq!(std::fs::read_to_string(stage.project().join("README.md")).unwrap(), "a\nb\n");
}

#[test]
fn one_that_leaves_markers_is_not_believed() {
    let stage = Stage::new(CONFIG);
    rivals(&stage, "true");
    stage.agent(
        "mender",
        "",
        "echo more >> README.md\nlegation submit --status completed --summary 'all is well'",
    );
    let (code, view) = stage.json(&["delegate", "--plan", &plan(&stage), "Both"]);
    assert_eq!((code, status(&view)), (4, "blocked"), "{view}");
    let blocked = ended(&view, "blocked")[0];
    let message = blocked["error"]["message"].as_str().unwrap();
    assert!(message.contains("touch the same lines of: README.md."), "{message}");
    assert!(
        message.contains("ended failed: Conflict markers are left in: README.md."),
        "{message}"
    );
    let id = view["delegationId"].as_str().unwrap();
    let result = said(&stage, &format!("git show legation/{id}/result:README.md"));
    assert!(["a\n", "b\n"].contains(&result.as_str()), "{result}");
    // What it did is kept like any other work.
    let name = format!("resolve-{}", blocked["id"].as_str().unwrap());
    let (code, work) = stage.json(&["diff", id, &name]);
    assert!(code == 0 && work.to_string().contains("+more"), "{work}");
}

#[test]
fn what_was_resolved_has_to_pass_what_the_subtask_has_to() {
    let stage = Stage::new(CONFIG);
    // Fine as long as only one side is there.
    rivals(&stage, "test ! -e a.txt -o ! -e b.txt || exit 7");
    stage.agent(
        "mender",
        "",
        "echo both > README.md\nlegation submit --status completed --summary 'kept both'",
    );
    let (code, view) = stage.json(&["delegate", "--plan", &plan(&stage), "Both"]);
    assert_eq!((code, status(&view)), (4, "blocked"), "{view}");
    let told = view.to_string();
    assert!(told.contains("`mender`, which was asked to resolve it, ended blocked"), "{told}");
    assert!(told.contains("ended with code 7"), "{told}");
}

/// Two agents whose files fit, and a command that takes its time on both together.
fn slow_together(stage: &Stage, slow: &str) {
    for name in ["a", "b"] {
        let done = "legation submit --status completed --summary x";
        stage.agent(name, "", &format!("echo {name} > {name}.txt\n{done}"));
        let path = format!(".legation/agents/{name}.md");
        let text = std::fs::read_to_string(stage.project().join(&path)).unwrap();
        let verify = format!("timeout: 60s\n  verify: ['test ! -e a.txt -o ! -e b.txt || {slow}']");
        stage.write(&path, &text.replace("timeout: 60s", &verify));
    }
}

fn detached(stage: &Stage) -> String {
    let (code, view) = stage.json(&["delegate", "--detach", "--plan", &plan(stage), "Both"]);
    assert_eq!(code, 0, "{view}");
    view["delegationId"].as_str().unwrap().to_owned()
}

#[test]
fn a_cancel_breaks_off_what_verifies_merged_files() {
    let stage = Stage::new("");
    let begun = stage.out("begun");
    slow_together(&stage, &format!("{{ echo x > {}; sleep 3000; }}", begun.display()));
    let id = detached(&stage);
    wait_for("the merged files to be verified", || begun.exists().then_some(()));
    let (code, view) = stage.json(&["cancel", &id, "--wait"]);
    assert_eq!((code, status(&view)), (5, "cancelled"), "{view}");
    assert_eq!((ended(&view, "completed").len(), ended(&view, "cancelled").len()), (1, 1));
    wait_for("every process to end", || stage.processes().is_empty().then_some(()));
    let files = said(&stage, &format!("git ls-tree --name-only legation/{id}/result"));
    assert_eq!(files.lines().count(), 3, "{files}");
}

#[test]
fn a_crash_between_the_trial_and_the_merge_loses_nothing_and_leaves_nothing() {
    let stage = Stage::new("");
    let (begun, ran) = (stage.out("begun"), stage.out("ran"));
    let go = stage.out("go");
    // It waits to be let on, so that the engine can be killed in the middle.
    let wait = format!(
        "{{ echo x >> {}; while ! test -e {}; do sleep 0.05; done; echo x >> {}; }}",
        begun.display(),
        go.display(),
        ran.display()
    );
    slow_together(&stage, &wait);
    let id = detached(&stage);
    wait_for("the merged files to be verified", || begun.exists().then_some(()));
    assert!(stage.kill());
    std::fs::write(&go, "").unwrap();
    let (code, view) = stage.json(&["resume", &id, "--wait"]);
    assert_eq!((code, status(&view)), (0, "completed"), "{view}");
    let files = said(&stage, &format!("git ls-tree --name-only legation/{id}/result"));
    assert_eq!(files, ".gitignore\nREADME.md\na.txt\nb.txt\n");
    // What ran on when the engine died is what counts: it is not begun again.
    assert_eq!((stage.told("begun").lines().count(), stage.told("ran").lines().count()), (1, 1));
    let left = "find \"$HOME\" -name 'exec-*-on-*' -path '*/workspaces/*'";
    wait_for("the rehearsal to be gone", || said(&stage, left).is_empty().then_some(()));
}
