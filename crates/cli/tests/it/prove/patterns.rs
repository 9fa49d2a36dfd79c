//! Every pattern with real agents: who is told what, who sees whose files, in which order,
//! and what comes of it.

mod ensemble;
mod rounds;

use std::fs;

use expect_test::{Expect, expect};
use serde_json::Value;

use super::stage::{Stage, wait_for};

const ONCE: &str = "[recovery]\nmaxRetries = 0\n";

/// What every agent does first: it keeps its brief, and finds out its round.
const HEARS: &str = "B=$OUT/brief-$LEGATION_SESSION_ID; cat > $B\n\
                     ROUND=$(sed -n 's/.*\"round\":\\([0-9]*\\),\"instructions\".*/\\1/p' $B)\n\
                     submit() { legation submit --summary \"$@\"; }\n\
                     meet() { touch $OUT/$1-$ROUND; until [ -e $OUT/$2-$ROUND ]; do :; done; }\n";

fn agent(stage: &Stage, id: &str, script: &str) {
    stage.agent(id, "", &format!("{HEARS}{script}"));
}

/// One part that ends at once, and one that ends when it is let.
const STREAMED: &str = "{\"pattern\":\"parallel_streaming\",\"subtasks\":[{\"id\":\"p\",\
                        \"agent\":\"quick\"},{\"id\":\"q\",\"agent\":\"slow\"}]}";

/// A stage with those two, and their plan in `plan.json`.
fn streaming() -> Stage {
    let stage = Stage::new(ONCE);
    agent(&stage, "quick", "echo q > q.txt; submit 'was quick' --status completed");
    agent(
        &stage,
        "slow",
        "until [ -e $OUT/go ]; do :; done; echo s > s.txt; submit 'was slow' --status completed",
    );
    fs::write(stage.out("plan.json"), STREAMED).unwrap();
    stage
}

/// Delegates a plan; answers with the exit code and what came of it.
fn plan(stage: &Stage, plan: &str) -> (i32, Value) {
    let file = stage.out("plan.json");
    fs::write(&file, plan).unwrap();
    stage.json(&["delegate", "--plan", file.to_str().unwrap(), "The whole task"])
}

/// How it went, a line for each subtask: its part, what its brief said of that, what it was
/// told of others' work, and what came of it.
fn course(stage: &Stage, view: &Value) -> String {
    let mut lines = vec![format!("{}: {}", text(&view["pattern"]), text(&view["status"]))];
    for subtask in view["subtasks"].as_array().unwrap() {
        let session = text(&subtask["sessionId"]);
        let brief: Value =
            serde_json::from_str(&stage.told(&format!("brief-{session}"))).unwrap_or_default();
        let told = brief["context"]["results"].as_array().cloned().unwrap_or_default();
        let told: Vec<String> = told.iter().map(|it| text(&it["subtask"]).to_owned()).collect();
        let part = |of: &Value| format!("{} {}", text(&of["role"]), of["round"]);
        let (shown, said) = (part(subtask), part(&brief));
        let heard = if brief.is_null() { "nothing".to_owned() } else { said };
        lines.push(format!(
            "{}: {shown}, heard {heard} after [{}]: {}",
            text(&subtask["id"]),
            told.join(" "),
            text(&subtask["status"]),
        ));
    }
    lines.push(format!("result: {}", view["result"]["summary"]));
    for what in ["data", "history", "votes", "findings"] {
        let found = &view["result"][what];
        if let Some(list) = found.as_array() {
            lines.extend(list.iter().map(|entry| format!("{what}: {entry}")));
        } else if !found.is_null() {
            lines.push(format!("{what}: {found}"));
        }
    }
    lines.join("\n") + "\n"
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("nothing")
}

/// The files of a result, each with its first line.
fn files(stage: &Stage, id: &str) -> String {
    let line = format!(
        "for f in $(git ls-tree -r --name-only legation/{id}/result | grep txt); do \
         printf '%s=%s, ' $f \"$(git show legation/{id}/result:$f | head -1)\"; done"
    );
    String::from_utf8_lossy(&stage.shell(&line).stdout).trim_end_matches([' ', ',']).to_owned()
}

/// Holds what came of a call, and the files of its result, against what should have.
fn went(stage: &Stage, (code, view): &(i32, Value), expected: &Expect) {
    let files = files(stage, text(&view["delegationId"]));
    expected.assert_eq(&format!("exit code {code}\n{}files: {files}\n", course(stage, view)));
}

/// The brief of a subtask's last attempt.
fn brief(stage: &Stage, view: &Value, id: &str) -> Value {
    let subtasks = view["subtasks"].as_array().unwrap();
    let subtask = subtasks.iter().find(|it| it["id"] == id).unwrap();
    let session = text(&subtask["sessionId"]);
    serde_json::from_str(&stage.told(&format!("brief-{session}"))).unwrap()
}

#[test]
fn parallel_runs_all_at_once_and_merges_what_they_made() {
    let stage = Stage::new(ONCE);
    // Neither ends before the other has begun.
    agent(&stage, "x", "meet x y; echo x > x.txt; submit 'x is done' --status completed");
    agent(&stage, "y", "meet y x; echo y > y.txt; submit 'y is done' --status completed");
    let ran = plan(
        &stage,
        "{\"pattern\":\"parallel\",\"subtasks\":[{\"id\":\"p\",\"agent\":\"x\"},\
         {\"id\":\"q\",\"agent\":\"y\"}]}",
    );
    went(
        &stage,
        &ran,
        &expect![[r#"
            exit code 0
            parallel: completed
            p: worker 0, heard worker 0 after []: completed
            q: worker 0, heard worker 0 after []: completed
            result: "p: x is done\nq: y is done"
            files: x.txt=x, y.txt=y
        "#]],
    );
}

#[test]
fn parallel_streaming_tells_each_end_while_others_still_work() {
    let stage = streaming();
    let said = fs::File::create(stage.out("said")).unwrap();
    let mut asks = stage.legation(&["delegate", "--plan", "../out/plan.json", "Both"]);
    asks.stdout(said.try_clone().unwrap()).stderr(said);
    let mut asks = asks.spawn().unwrap();
    wait_for("the first end to be told", || stage.told("said").contains("was quick").then_some(()));
    fs::write(stage.out("go"), "").unwrap();
    let code = asks.wait().unwrap().code().unwrap();
    let (_, all) = stage.json(&["history"]);
    let id = all["delegations"][0]["delegationId"].as_str().unwrap().to_owned();
    let (_, view) = stage.json(&["status", &id]);
    went(
        &stage,
        &(code, view),
        &expect![[r#"
            exit code 0
            parallel_streaming: completed
            p: worker 0, heard worker 0 after []: completed
            q: worker 0, heard worker 0 after []: completed
            result: "p: was quick\nq: was slow"
            files: q.txt=q, s.txt=s
        "#]],
    );
}

#[test]
fn an_attempt_is_told_each_end_of_what_it_streams_while_others_still_work() {
    let stage = streaming();
    let nests = "legation delegate --plan $OUT/plan.json Both > $OUT/said\n\
                 legation submit --status completed --summary both";
    stage.agent("lead", "subagents:\n  allow: [quick, slow]\n", nests);
    let (_, begun) = stage.json(&["delegate", "--detach", "--agent", "lead", "All of it"]);
    wait_for("the first end to be told", || {
        stage.told("said").contains("p completed").then_some(())
    });
    assert!(stage.told("said").contains("was quick"));
    assert!(!stage.told("said").contains("was slow"));
    fs::write(stage.out("go"), "").unwrap();
    let root = begun["delegationId"].as_str().unwrap();
    assert_eq!(stage.json(&["resume", root, "--wait"]).1["status"], "completed");
    // What its parts came to, and nothing of what happened on the way.
    let said = stage.told("said");
    let events = said.lines().filter(|line| line.contains("Z del-"));
    let told: Vec<&str> = events.filter_map(|line| line.split_whitespace().nth(2)).collect();
    assert_eq!(told, ["completed", "ended", "completed", "ended"], "{said}");
}

#[test]
fn sequential_hands_on_words_and_files_and_stops_at_the_first_failure() {
    let stage = Stage::new(ONCE);
    agent(&stage, "x", "echo one > one.txt; submit 'made one' --status completed");
    agent(
        &stage,
        "y",
        "echo \"$(cat one.txt) and two\" > two.txt; submit 'made two' --status completed",
    );
    agent(
        &stage,
        "z",
        "cat two.txt > $OUT/seen; submit 'cannot' --status failed --error 'other:no idea'",
    );
    agent(&stage, "never", "touch $OUT/ran; submit 'ran' --status completed");
    let part = |id: &str, agent: &str| format!("{{\"id\":\"{id}\",\"agent\":\"{agent}\"}}");
    let parts = [part("p", "x"), part("q", "y"), part("r", "z"), part("s", "never")].join(",");
    let ran = plan(&stage, &format!("{{\"pattern\":\"sequential\",\"subtasks\":[{parts}]}}"));
    went(
        &stage,
        &ran,
        &expect![[r#"
            exit code 3
            sequential: partial
            p: worker 0, heard worker 0 after []: completed
            q: worker 0, heard worker 0 after [p]: completed
            r: worker 0, heard worker 0 after [p q]: failed
            s: worker 0, heard nothing after []: blocked
            result: "made two"
            files: one.txt=one, two.txt=one and two
        "#]],
    );
    let summaries = &brief(&stage, &ran.1, "r")["context"]["results"];
    assert_eq!(summaries[0]["summary"], "made one", "{summaries}");
    assert_eq!(summaries[1]["summary"], "made two", "{summaries}");
    assert_eq!(stage.told("seen"), "one and two\n");
    assert!(!stage.out("ran").exists());
}

#[test]
fn in_a_dag_a_failure_blocks_what_depends_on_it_and_nothing_else() {
    let stage = Stage::new(ONCE);
    agent(&stage, "a", "echo a > a.txt; submit 'a' --status completed");
    agent(&stage, "b", "echo b > b.txt; submit 'b' --status completed");
    agent(&stage, "bad", "submit 'cannot' --status failed --error 'other:no idea'");
    agent(&stage, "c", "cat a.txt b.txt | tr '\\n' ' ' > c.txt; submit 'c' --status completed");
    agent(&stage, "never", "touch $OUT/ran; submit 'ran' --status completed");
    let ran = plan(
        &stage,
        "{\"pattern\":\"dag\",\"subtasks\":[{\"id\":\"a\",\"agent\":\"a\"},\
         {\"id\":\"b\",\"agent\":\"b\"},{\"id\":\"bad\",\"agent\":\"bad\"},\
         {\"id\":\"c\",\"agent\":\"c\",\"dependsOn\":[\"a\",\"b\"]},\
         {\"id\":\"d\",\"agent\":\"never\",\"dependsOn\":[\"a\",\"bad\"]},\
         {\"id\":\"e\",\"agent\":\"never\",\"dependsOn\":[\"d\"]}]}",
    );
    went(
        &stage,
        &ran,
        &expect![[r#"
            exit code 3
            dag: partial
            a: worker 0, heard worker 0 after []: completed
            b: worker 0, heard worker 0 after []: completed
            bad: worker 0, heard worker 0 after []: failed
            c: worker 0, heard worker 0 after [a b]: completed
            d: worker 0, heard nothing after []: blocked
            e: worker 0, heard nothing after []: blocked
            result: "a: a\nb: b\nbad: cannot\nc: c"
            files: a.txt=a, b.txt=b, c.txt=a b
        "#]],
    );
    assert!(!stage.out("ran").exists());
}

#[test]
fn direct_is_one_agent_in_a_workspace_at_depth_one() {
    let stage = Stage::new(ONCE);
    agent(&stage, "w", "pwd > $OUT/where; echo w > w.txt; submit 'did it' --status completed");
    let ran = stage.json(&["direct", "--agent", "w", "Do all of it"]);
    went(
        &stage,
        &ran,
        &expect![[r#"
            exit code 0
            direct: completed
            task-85c348b8a6f2-sub-1: worker 0, heard worker 0 after []: completed
            result: "did it"
            files: w.txt=w
        "#]],
    );
    let session = text(&ran.1["subtasks"][0]["sessionId"]);
    let brief: Value = serde_json::from_str(&stage.told(&format!("brief-{session}"))).unwrap();
    assert_eq!((&brief["task"], &brief["delegation_depth"]), (&"Do all of it".into(), &1.into()));
    assert!(stage.told("where").contains("/workspaces/"), "{}", stage.told("where"));
    assert!(!stage.project().join("w.txt").exists());
}
