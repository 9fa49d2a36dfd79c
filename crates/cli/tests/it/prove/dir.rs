//! Workspaces that lie where the configuration says.

use super::stage::{Stage, shown};

#[test]
fn agents_work_there_see_no_neighbours_and_leave_nothing() {
    let stage = Stage::new("[workspace]\ndir = \"../elsewhere\"\n");
    stage.agent(
        "w",
        "",
        "pwd > $OUT/where; ls .. > $OUT/around 2>&1; ls ../../.. >> $OUT/around 2>&1\n\
         echo x > made.txt; env -u LEGATION_TOKEN legation delegate --agent w again > $OUT/again 2>&1\n\
         legation submit --status completed --summary done",
    );
    let (code, view) = stage.json(&["delegate", "--agent", "w", "Work"]);
    assert_eq!((code, view["status"].as_str()), (0, Some("completed")), "{view}");
    let home = std::fs::canonicalize(stage.root()).unwrap().join("elsewhere/legation");
    let told = stage.told("where");
    assert!(told.starts_with(home.to_str().unwrap()), "{told}");
    let around = stage.told("around");
    assert_eq!(around.matches("Permission denied").count(), 2, "{around}");
    let again = stage.told("again");
    assert!(again.contains("PERMISSION_DENIED") || again.contains("ERROR:"), "{again}");
    let left = stage.shell("find ../elsewhere -name 'exec-*' -path '*workspaces*'");
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
    let log = std::fs::read_to_string(stage.project().join(".legation/logs/delegation.jsonl"));
    assert!(log.unwrap().contains(&format!("\"worktree_path\":\"{}", home.display())));
}

#[test]
fn a_folder_that_cannot_be_used_is_told_before_anything_starts() {
    let stage = Stage::new("[workspace]\ndir = \".git/work\"\n");
    stage.agent("w", "", "legation submit --status completed --summary done");
    let ran = stage.legation(&["delegate", "--agent", "w", "Work"]).output().unwrap();
    let said = shown(&ran);
    assert!(!ran.status.success() && said.contains("workspace.dir is"), "{said}");
    assert!(said.contains("that is inside a repository's own folder"), "{said}");
    let (code, report) = stage.json(&["doctor"]);
    assert_eq!(code, 1, "{report}");
    let problem = report["problems"][0].as_str().unwrap_or_default();
    assert!(problem.contains("that is inside a repository's own folder"), "{report}");
}

#[test]
fn another_folder_counts_at_once_for_an_engine_that_runs() {
    let stage = Stage::new("");
    let tells = "pwd >> $OUT/where; echo x > made.txt\n\
                 legation submit --status completed --summary done";
    stage.agent("w", "", tells);
    let works = || stage.json(&["delegate", "--agent", "w", "Work"]).1["status"].clone();
    assert_eq!(works(), "completed");
    let engine = stage.engine();
    let path = ".legation/config.toml";
    let before = std::fs::read_to_string(stage.project().join(path)).unwrap();
    stage.write(path, &format!("[workspace]\ndir = \"../elsewhere\"\n{before}"));
    assert_eq!(works(), "completed");
    stage.write(path, &before);
    assert_eq!(works(), "completed");
    assert_eq!(stage.engine(), engine, "it is the same one");
    let elsewhere = std::fs::canonicalize(stage.root()).unwrap().join("elsewhere/legation");
    let told = stage.told("where");
    let there: Vec<bool> =
        told.lines().map(|line| line.starts_with(elsewhere.to_str().unwrap())).collect();
    assert_eq!(there, [false, true, false], "{told}");
}
