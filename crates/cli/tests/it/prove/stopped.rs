//! A journal that cannot be written: nothing is accepted, and it is said why.

use super::stage::Stage;

#[test]
fn a_journal_without_permission_accepts_nothing_and_says_so() {
    let stage = Stage::new("");
    stage.agent("w", "", "legation submit --status completed --summary ok");
    // A folder where the file should be stops even somebody who may do everything.
    std::fs::create_dir(stage.project().join(".legation/legation.db")).unwrap();
    let (code, said) = stage.json(&["delegate", "--agent", "w", "Work"]);
    assert_eq!(code, 1, "{said}");
    let message = said["error"]["message"].as_str().unwrap();
    assert!(message.contains("legation.db"), "{message}");
    assert!(said["error"]["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{said}");
}

#[test]
fn a_full_disk_stops_the_engine_and_loses_nothing_that_was_acknowledged() {
    let stage = Stage::new("");
    stage.agent("w", "", "legation submit --status completed --summary ok");
    let (code, first) = stage.json(&["delegate", "--agent", "w", "Before"]);
    assert_eq!(code, 0, "{first}");
    let id = first["delegationId"].as_str().unwrap();
    // The limit on file sizes stands for a disk that is full: writes beyond it fail.
    stage.kill();
    let line = "ulimit -f 1; legation delegate --json --agent w 'With no room'";
    let ran = stage.shell(line);
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(!ran.status.success(), "{said}");
    assert!(said.contains("\"error\""), "{said}");
    stage.kill();
    let (code, again) = stage.json(&["status", id]);
    assert_eq!((code, again["status"].as_str()), (0, Some("completed")));
    let (code, after) = stage.json(&["delegate", "--agent", "w", "Afterwards"]);
    assert_eq!(code, 0, "{after}");
}

/// What is done in a project whose state lies on a small disk of its own, which fills up
/// while an attempt runs. The disk is gone with the processes that see it.
const FILLS_UP: &str = r#"
set -e
cp -r .legation "$OUT/kept"
mount -t tmpfs -o size=2m none .legation
cp -r "$OUT/kept/." .legation
ask() { legation delegate --json --agent "$1" "$2" > "$OUT/$3.json" 2> "$OUT/$3.err"; }
ask quick Before before
legation delegate --json --detach --agent slow 'In the middle' > "$OUT/slow.json"
until [ -e "$OUT/up" ]; do :; done
dd if=/dev/zero of=.legation/fill bs=1k 2> "$OUT/dd" || true
n=0
while [ $n -lt 50 ] && ask quick "With no room" full; do n=$((n+1)); done
touch "$OUT/go"
until [ -e "$OUT/ended" ]; do :; done
rm .legation/fill
# An engine that can write nothing goes away, and the next one has room again.
while kill -0 $(head -1 .legation/engine.lock) 2> /dev/null; do :; done
first=$(sed -n 's/.*"delegationId": *"\([^"]*\)".*/\1/p' "$OUT/before.json" | head -1)
slow=$(sed -n 's/.*"delegationId": *"\([^"]*\)".*/\1/p' "$OUT/slow.json" | head -1)
legation status --json "$first" > "$OUT/first.json"
legation resume --json --wait "$slow" > "$OUT/slow.json"
ask quick Afterwards after
legation status --json --all > "$OUT/all.json"
kill $(head -1 .legation/engine.lock) && while kill -0 $(head -1 .legation/engine.lock); do :; done 2> /dev/null
echo finished > "$OUT/finished"
"#;

#[test]
fn a_disk_that_fills_up_while_an_attempt_runs_costs_nothing_that_was_acknowledged() {
    let stage = Stage::new("[recovery]\nmaxRetries = 0\n");
    stage.agent("quick", "", "legation submit --status completed --summary ok");
    let slow = "echo x >> $OUT/ran; touch $OUT/up; until [ -e $OUT/go ]; do :; done\n\
                legation submit --status completed --summary 'came through'; touch $OUT/ended";
    stage.agent("slow", "", slow);
    let apart = stage.shell("unshare -m true && echo -m || { unshare -rm true && echo -rm; }");
    let apart = String::from_utf8_lossy(&apart.stdout).trim().to_owned();
    if apart.is_empty() {
        eprintln!("SKIPPED: nobody may mount anything here, so no disk can be filled up");
        return;
    }
    std::fs::write(stage.out("fills-up.sh"), FILLS_UP).unwrap();
    let out = stage.out("");
    let line = format!("OUT='{0}' unshare {apart} sh '{0}fills-up.sh'", out.display());
    let ran = stage.shell(&line);
    let all: Vec<String> = ["before", "full", "first", "slow", "after"]
        .iter()
        .map(|name| format!("{name}: {}", stage.told(&format!("{name}.json"))))
        .collect();
    assert_eq!(stage.told("finished"), "finished\n", "{} {all:#?}", super::stage::shown(&ran));
    let said = |name: &str| -> serde_json::Value {
        serde_json::from_str(&stage.told(&format!("{name}.json"))).unwrap()
    };
    let full = said("full")["error"].clone();
    assert!(full["message"].as_str().is_some_and(|text| text.contains("no room")), "{full}");
    assert_eq!(said("first")["status"], "completed");
    assert_eq!(said("slow")["subtasks"][0]["return"]["summary"], "came through");
    assert_eq!(said("after")["status"], "completed");
    assert_eq!(stage.told("ran"), "x\n");
}
