//! The merge queue: work that fits alone and not together, work that conflicts, and what is
//! foreseen of both.

use serde_json::Value;

use super::stage::Stage;

const ONCE: &str = "[recovery]\nautoRetry = false\n";

fn status(subtask: &Value) -> &str {
    subtask["status"].as_str().unwrap_or_default()
}

/// An agent that writes, is verified, and may meet what somebody else wrote.
fn verified(stage: &Stage, id: &str, script: &str, check: &str) {
    stage.agent(id, "", &format!("{script}\nlegation submit --status completed --summary {id}"));
    let path = format!(".legation/agents/{id}.md");
    let text = std::fs::read_to_string(stage.project().join(&path)).unwrap();
    let verify = format!("timeout: 60s\n  verify: ['{check}']");
    stage.write(&path, &text.replace("timeout: 60s", &verify));
}

/// Delegates to both side by side; the view, and the one that was merged last.
fn both(stage: &Stage, names: [&str; 2]) -> (i32, Value) {
    let subtask = |name: &str| format!("{{\"id\":\"{name}\",\"agent\":\"{name}\"}}");
    let plan =
        format!("{{\"pattern\":\"parallel\",\"subtasks\":[{}]}}", names.map(subtask).join(","));
    let file = stage.out("plan.json");
    std::fs::write(&file, plan).unwrap();
    stage.json(&["delegate", "--plan", file.to_str().unwrap(), "Both"])
}

fn ended<'a>(view: &'a Value, how: &str) -> &'a Value {
    let subtasks = view["subtasks"].as_array().unwrap();
    subtasks.iter().find(|subtask| status(subtask) == how).unwrap_or(&Value::Null)
}

#[test]
fn what_passes_alone_and_not_together_does_not_move_the_result() {
    let stage = Stage::new(ONCE);
    // Each is fine by itself; only one of them may be there.
    let check = "pwd >> $OUT/where; test ! -e a.txt -o ! -e b.txt || exit 7";
    let check = check.replace("$OUT", stage.out("").to_str().unwrap());
    verified(&stage, "a", "echo a > a.txt", &check);
    verified(&stage, "b", "echo b > b.txt", &check);
    let (code, view) = both(&stage, ["a", "b"]);
    let blocked = ended(&view, "blocked");
    assert_eq!((code, status(&view)), (4, "blocked"), "{view}");
    assert_eq!(blocked["error"]["type"], "verification", "{blocked}");
    assert_eq!(blocked["error"]["details"]["verify"][0]["exitCode"], 7, "{blocked}");
    assert!(blocked["error"]["message"].as_str().unwrap().contains("ended with code 7"));
    // Once for each, and once for the second on the merged files, somewhere else.
    let told = stage.told("where");
    let mut places: Vec<&str> = told.lines().collect();
    assert_eq!(places.len(), 3, "{places:?}");
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), 3, "{places:?}");
    let id = view["delegationId"].as_str().unwrap();
    let files = stage.shell(&format!("git ls-tree --name-only legation/{id}/result"));
    let files = String::from_utf8(files.stdout).unwrap();
    let done = ended(&view, "completed")["id"].as_str().unwrap();
    assert_eq!(files, format!(".gitignore\nREADME.md\n{done}.txt\n"));
    let left = stage.shell("find \"$HOME\" -name 'exec-*-on-*' -path '*/workspaces/*'");
    assert_eq!(String::from_utf8(left.stdout).unwrap(), "", "the throw-away workspace is gone");
    let name = blocked["id"].as_str().unwrap();
    let (code, work) = stage.json(&["diff", id, name]);
    assert!(code == 0 && work.to_string().contains(&format!("{name}.txt")), "{work}");
}

#[test]
fn what_passes_together_is_merged_and_its_own_files_are_not_verified_twice() {
    let stage = Stage::new(ONCE);
    let check = format!("echo x >> {}", stage.out("ran").display());
    verified(&stage, "a", "echo a > a.txt", &check);
    verified(&stage, "b", "echo b > b.txt", &check);
    let (code, view) = both(&stage, ["a", "b"]);
    assert_eq!((code, status(&view)), (0, "completed"), "{view}");
    assert_eq!(stage.told("ran").lines().count(), 3);
}

#[test]
fn a_conflict_is_shown_with_its_lines_and_nothing_is_lost() {
    let stage = Stage::new(ONCE);
    for name in ["a", "b"] {
        let script = format!("echo {name} > README.md");
        stage.agent(name, "", &format!("{script}\nlegation submit --status completed --summary x"));
    }
    let (code, view) = both(&stage, ["a", "b"]);
    assert_eq!((code, status(&view)), (4, "blocked"), "{view}");
    let (done, blocked) = (ended(&view, "completed"), ended(&view, "blocked"));
    let (done, name) = (done["id"].as_str().unwrap(), blocked["id"].as_str().unwrap());
    let hunk = &blocked["error"]["details"]["hunks"][0];
    assert_eq!((hunk["file"].as_str(), hunk["line"].as_u64()), (Some("README.md"), Some(1)));
    let lines = format!("<<<<<<< result\n{done}\n=======\n{name}\n>>>>>>> subtask");
    assert_eq!(hunk["text"].as_str(), Some(lines.as_str()));
    let id = view["delegationId"].as_str().unwrap();
    let page = stage.shell(&format!("legation status {id}"));
    let page = String::from_utf8(page.stdout).unwrap();
    assert!(page.contains("README.md, line 1:") && page.contains("<<<<<<< result"), "{page}");
    for next in ["diff", "retry", "skip"] {
        assert!(page.contains(&format!("legation {next} {id} {name}")), "{page}");
    }
    let (code, work) = stage.json(&["diff", id, name]);
    assert!(code == 0 && work.to_string().contains(&format!("+{name}")), "{work}");
}

#[test]
fn a_conflict_without_lines_says_what_it_is() {
    let stage = Stage::new(ONCE);
    let done = "legation submit --status completed --summary x";
    stage.agent("a", "", &format!("git rm -q README.md; printf '\\0a' > b.bin\n{done}"));
    stage.agent("b", "", &format!("echo b > README.md; printf '\\0b' > b.bin\n{done}"));
    let (code, view) = both(&stage, ["a", "b"]);
    assert_eq!((code, status(&view)), (4, "blocked"), "{view}");
    let error = &ended(&view, "blocked")["error"];
    let kind = |n: usize| error["details"]["hunks"][n]["kind"].as_str().unwrap_or_default();
    let deleted = ["first_deleted", "second_deleted"];
    assert!(deleted.contains(&kind(0)) && kind(1) == "binary", "{error}");
    let id = view["delegationId"].as_str().unwrap();
    let page = stage.shell(&format!("legation status {id} | tr -s ' \\n│' ' '"));
    let page = String::from_utf8_lossy(&page.stdout).into_owned();
    assert!(page.contains("b.bin (both changed it, and it is no text)"), "{page}");
    assert!(page.contains("README.md (the ") && !page.contains("same lines"), "{page}");
}

#[test]
fn two_that_declare_the_same_file_are_warned_of_before_anything_starts() {
    let stage = Stage::new(ONCE);
    stage.agent("a", "", "legation submit --status completed --summary looked");
    let plan = r#"{"pattern":"parallel","subtasks":[
        {"id":"x","agent":"a","files":["src/*.rs"]},{"id":"y","agent":"a","files":["src/lib.rs"]}]}"#;
    let file = stage.out("plan.json");
    std::fs::write(&file, plan).unwrap();
    let file = file.to_str().unwrap();
    let warning = "`x` and `y` run side by side and both mean to change src/*.rs; the second to \
                   end may conflict. Let one depend on the other.";
    for args in [
        &["delegate", "--plan", file, "--dry-run", "Both"][..],
        &["delegate", "--plan", file, "Both"],
    ] {
        let (code, view) = stage.json(args);
        assert_eq!((code, view["warnings"][0].as_str()), (0, Some(warning)), "{view}");
    }
    for args in [
        &["delegate", "--plan", file, "--dry-run", "Both"][..],
        &["delegate", "--plan", file, "Both"],
        &["delegate", "--plan", file, "--detach", "Both"],
    ] {
        let said = stage.legation(args).output().unwrap();
        let said = String::from_utf8(said.stderr).unwrap();
        assert!(said.contains(&format!("warning: {warning}")), "{said}");
    }
}

#[test]
fn a_nested_result_that_meets_its_parents_own_changes_is_blocked_and_kept() {
    let stage = Stage::new(ONCE);
    let done = "legation submit --status completed --summary ok";
    let top = "echo parent > README.md\n\
               legation delegate --json --agent leaf 'A part' > $OUT/nested; echo $? > $OUT/code\n\
               cat README.md > $OUT/mine\n\
               git commit -q -a -m mine\n\
               $(grep -o 'git merge [0-9a-f]*' $OUT/nested | head -n 1)\n\
               git ls-files -u > $OUT/unmerged; git merge --abort";
    stage.agent("top", "subagents:\n  allow: ['*']\n", &format!("{top}\n{done}"));
    stage.agent("leaf", "", &format!("echo leaf > README.md\n{done}"));
    let (_, view) = stage.json(&["delegate", "--agent", "top", "Both"]);
    // What it was told to do can be done in there.
    assert_eq!(stage.told("unmerged").lines().count(), 3, "{}", stage.told("nested"));
    let nested: Value = serde_json::from_str(&stage.told("nested")).unwrap();
    assert_eq!((status(&nested), stage.told("code").trim()), ("blocked", "4"), "{nested}");
    assert_eq!(nested["details"]["files"], serde_json::json!(["README.md"]), "{nested}");
    let hunk = nested["details"]["hunks"][0]["text"].as_str().unwrap_or_default();
    assert!(hunk.contains("parent\n") && hunk.contains("leaf\n"), "{nested}");
    assert!(nested["reason"].as_str().unwrap().contains("both sides changed README.md"));
    assert_eq!(stage.told("mine"), "parent\n");
    let id = nested["delegationId"].as_str().unwrap();
    let kept = stage.shell(&format!("git show legation/{id}/result:README.md"));
    assert_eq!(String::from_utf8_lossy(&kept.stdout), "leaf\n", "{view}");
    // It stays so: the journal has it.
    let (_, again) = stage.json(&["status", id]);
    assert_eq!((status(&again), &again["details"]), ("blocked", &nested["details"]), "{again}");
}

#[test]
fn what_verify_commands_leave_is_no_work_of_the_agents() {
    for mechanism in ["auto", "copy"] {
        let stage = Stage::new(&format!("{ONCE}[workspace]\nmechanism = \"{mechanism}\"\n"));
        let check = "mkdir cache && echo x > cache/junk && echo other > a.txt && rm README.md";
        verified(&stage, "a", "echo a > a.txt", check);
        let (code, view) = stage.json(&["delegate", "--agent", "a", "Write"]);
        assert_eq!((code, status(&view)), (0, "completed"), "{view}");
        let receipt = &view["subtasks"][0]["receipt"];
        assert_eq!(receipt["verify"][0]["exitCode"], 0, "{receipt}");
        assert_eq!(receipt["filesChanged"], serde_json::json!(["a.txt"]));
        let id = view["delegationId"].as_str().unwrap();
        assert!(stage.legation(&["apply", "--yes", id]).output().unwrap().status.success());
        let read = |file: &str| std::fs::read_to_string(stage.project().join(file)).ok();
        assert_eq!(read("a.txt").as_deref(), Some("a\n"), "{mechanism}");
        assert_eq!(read("README.md").as_deref(), Some("hello\n"), "{mechanism}");
        assert!(!stage.project().join("cache").exists(), "{mechanism}");
    }
}
