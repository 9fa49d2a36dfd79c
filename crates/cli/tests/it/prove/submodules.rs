//! Work inside a submodule, which no result can hold.

use serde_json::Value;

use super::stage::{Stage, shown};

#[test]
fn work_inside_a_submodule_is_told_and_found_again() {
    let stage = Stage::new("[recovery]\nmaxRetries = 0\n");
    let git = "git -c user.name=a -c user.email=a@b.c -c protocol.file.allow=always";
    let made = stage.shell(&format!(
        "git init -q -b main ../inner && echo old > ../inner/inside.txt && \
         git -C ../inner add -A && {git} -C ../inner commit -qm inner && \
         {git} submodule --quiet add ../inner sub && {git} commit -qm sub"
    ));
    assert!(made.status.success(), "{}", shown(&made));
    stage.agent(
        "w",
        "",
        "cat sub/inside.txt > $OUT/seen; git -C sub log --format=%s >> $OUT/seen\n\
         echo new > sub/inside.txt; legation submit --status completed --summary done",
    );
    let (code, view) = stage.json(&["delegate", "--agent", "w", "Work"]);
    assert_eq!((code, stage.told("seen").as_str()), (0, "old\ninner\n"), "{view}");
    let files = Value::from(vec!["sub/inside.txt"]);
    assert_eq!(view["subtasks"][0]["receipt"]["inSubmodules"], files, "{view}");
    let id = view["delegationId"].as_str().unwrap();
    let (_, diff) = stage.json(&["diff", id, "sub-1"]);
    assert_eq!((&diff["inSubmodules"], &diff["diff"]), (&files, &Value::from("")), "{diff}");
    let told = shown(&stage.legation(&["diff", id]).output().unwrap());
    assert!(told.contains("not merged") && told.contains("sub/inside.txt"), "{told}");
    let (_, listed) = stage.json(&["workspaces", "list"]);
    let attempt = listed["kept"][0]["attempt"].as_str().unwrap_or_else(|| panic!("{listed}"));
    let (_, about) = stage.json(&["workspaces", "show", attempt]);
    assert_eq!(about["files"], files, "{about}");
    let restored = stage.legation(&["workspaces", "restore", attempt, "../back"]).output().unwrap();
    assert!(restored.status.success(), "{}", shown(&restored));
    let back = std::fs::read_to_string(stage.root().join("back/sub/inside.txt")).unwrap();
    assert_eq!(back, "new\n");
}
