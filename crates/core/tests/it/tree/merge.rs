//! Merging: a subtask ends only after its merge; a conflict is a result, not a crash.

use expect_test::expect;
use legation_core::Code;
use legation_core::returns::Verification;
use legation_core::time::Now;
use legation_core::tree::event::{Clash, Hunk, MergeOutcome, NotBrought};
use legation_core::tree::{Command, view};

use crate::story::{ROOT, Story, completed, dag, failed, parallel, partial, sequential};

#[test]
fn a_subtask_with_work_ends_after_its_merge() {
    let mut story = Story::new(parallel("a"));
    story.run("a").returns("a", completed("done").files(&["a.txt"])).tree(expect![[r#"
        del-1 running
          a merging
    "#]]);
    story.so_far().merged("a").events(expect![[r#"
        a merged
        a is completed
        del-1 ended completed
    "#]]);
}

#[test]
fn one_without_work_needs_no_merge() {
    let mut story = Story::new(parallel("a"));
    story.run("a").so_far().returns("a", completed("looked around")).events(expect![[r#"
        a#1 ended completed: looked around
        a is completed
        del-1 ended completed
    "#]]);
}

#[test]
fn merges_queue_one_at_a_time_in_the_order_the_work_was_done() {
    let mut story = Story::new(parallel("a b c"));
    story.run("a b c");
    for name in ["c", "a", "b"] {
        story.returns(name, completed("done").files(&["x"]));
    }
    story.owed(expect!["merge c#1, wake +3600s"]);
    story.merged("c").owed(expect!["merge a#1, wake +3600s"]);
    story.merged("a").owed(expect!["merge b#1, wake +3600s"]);
}

#[test]
fn each_delegation_merges_into_its_own_result() {
    let mut story = Story::new(parallel("a b"));
    story.run("a b").nested("a", parallel("c")).run("c");
    story.returns("c", completed("done").files(&["x"]));
    story
        .returns("b", completed("done").files(&["y"]))
        .owed(expect!["merge b#1, merge c#1, wake +600s"]);
}

#[test]
fn a_conflict_blocks_the_subtask_and_what_depends_on_it() {
    let mut story = Story::new(dag("a b c<b"));
    story.run("a b").returns("a", completed("one").files(&["x"])).merged("a").so_far();
    story.returns("b", completed("two").files(&["x"])).conflicts("b", "x").events(expect![[r#"
        b#1 ended completed: two
        b waits for its merge
        b conflicts in x
        b is blocked: Its changes and earlier ones touch the same lines of: x.
        del-1 ended blocked
    "#]]);
    story.tree(expect![[r#"
        del-1 blocked
          a completed
          b blocked: Its changes and earlier ones touch the same lines of: x.
          c blocked
    "#]]);
}

#[test]
fn a_retry_after_a_conflict_knows_of_it_and_merges_anew() {
    let mut story = Story::new(parallel("a b"));
    story.run("a b").returns("b", completed("two").files(&["x"])).conflicts("b", "x").so_far();
    story.retry("b").run("b").returns("b", completed("again").files(&["x"])).merged("b");
    story.events(expect![[r#"
        b is tried again (request) at +0s, told "It ended blocked before: Its changes and earlier ones touch the same lines of: x."
        b starts, until +600s
        b#2 runs
        b#2 ended completed: again
        b waits for its merge
        b merged
        b is completed
    "#]]);
    story.returns("a", completed("one"));
    assert_eq!(story.status(), "completed");
}

#[test]
fn a_retry_is_told_what_stands_against_what() {
    let mut story = Story::new(parallel("a"));
    story.run("a").returns("a", completed("two").files(&["x"]));
    let text = "<<<<<<< result\none\n=======\ntwo\n>>>>>>> subtask".to_owned();
    let hunks = vec![Hunk { file: "x".to_owned(), line: 7, text, kind: None }];
    story.merge_ends("a", MergeOutcome::Conflict { files: vec!["x".to_owned()], hunks }).so_far();
    story.retry("a").events(expect![[r#"
        del-1 reopened
        a is tried again (request) at +0s, told "It ended blocked before: Its changes and earlier ones touch the same lines of: x.\nx, line 7:\n<<<<<<< result\none\n=======\ntwo\n>>>>>>> subtask"
    "#]]);
}

#[test]
fn what_is_not_a_matter_of_lines_is_told_as_what_it_is() {
    let mut story = Story::new(parallel("a"));
    story.run("a").returns("a", completed("two").files(&["x"])).so_far();
    let files = ["b.bin", "r.txt", "x"].map(str::to_owned).to_vec();
    let hunks = vec![
        Hunk::without_lines("b.bin", Clash::Binary),
        Hunk::without_lines("r.txt", Clash::FirstDeleted),
        Hunk { file: "x".to_owned(), line: 7, text: "<<<".to_owned(), kind: None },
    ];
    story.merge_ends("a", MergeOutcome::Conflict { files, hunks });
    story.events(expect![[r#"
        a conflicts in b.bin, r.txt, x
        a is blocked: Its changes and earlier ones do not fit together in: b.bin (both changed it, and it is no text), r.txt (the result deleted it, the subtask changed it), x.
        del-1 ended blocked
    "#]]);
    let view = view::status(&story.state, story.delegation("del-1"), Now(0));
    let error = view.subtasks[0].error.as_ref().unwrap();
    let kinds = error.details.as_ref().unwrap().hunks.iter().flatten().map(|hunk| hunk.kind);
    let kinds: Vec<_> = kinds.collect();
    assert_eq!(kinds, [Some(Clash::Binary), Some(Clash::FirstDeleted), None]);
    story.retry("a").events(expect![[r#"
        del-1 reopened
        a is tried again (request) at +0s, told "It ended blocked before: Its changes and earlier ones do not fit together in: b.bin (both changed it, and it is no text), r.txt (the result deleted it, the subtask changed it), x.\nx, line 7:\n<<<"
    "#]]);
}

#[test]
fn a_conflict_always_has_its_hunks_even_one_that_was_stored_without() {
    let mut story = Story::new(parallel("a"));
    story.run("a").returns("a", completed("two").files(&["x"])).conflicts("a", "x");
    let view = view::status(&story.state, story.delegation("del-1"), Now(0));
    let json = serde_json::to_value(&view.subtasks[0].error).unwrap();
    assert_eq!(json["details"], serde_json::json!({"files": ["x"], "hunks": []}));
}

#[test]
fn what_fails_only_when_merged_is_blocked_and_says_which_command_failed() {
    let mut story = Story::new(dag("a b<a"));
    story.run("a").returns("a", completed("done").files(&["x"])).so_far();
    let check = |command: &str, exit_code| Verification { command: command.to_owned(), exit_code };
    let verify = vec![check("fmt", Some(0)), check("test -q", Some(101)), check("slow", None)];
    story.merge_ends("a", MergeOutcome::Unverified { verify });
    story.events(expect![[r#"
        a does not pass when merged
        a is blocked: Its changes pass alone, and not with those merged before: `test -q` ended with code 101, `slow` did not end by itself.
        del-1 ended blocked
    "#]]);
    story.retry("a").run("a").so_far().returns("a", completed("again").files(&["x"])).merged("a");
    story.events(expect![[r#"
        a#2 ended completed: again
        a waits for its merge
        a merged
        a is completed
    "#]]);
}

#[test]
fn a_merge_that_could_not_be_made_is_a_failure() {
    let mut story = Story::new(parallel("a"));
    story.run("a").returns("a", completed("done").files(&["x"])).so_far();
    let message = "the build fails after the merge".to_owned();
    story.merge_ends("a", MergeOutcome::Failed { code: Code::BuildError, message });
    story.events(expect![[r#"
        a cannot merge: BUILD_ERROR the build fails after the merge
        a is failed: the build fails after the merge
        del-1 ended failed
    "#]]);
}

#[test]
fn a_result_that_the_user_holds_blocks_what_would_move_it() {
    let mut story = Story::new(parallel("a"));
    story.run("a").returns("a", completed("done").files(&["x"])).so_far();
    let message = "it is checked out".to_owned();
    story.merge_ends("a", MergeOutcome::Failed { code: Code::WorkspaceFailed, message });
    story.events(expect![[r#"
        a cannot merge: WORKSPACE_FAILED it is checked out
        a is blocked: it is checked out
        del-1 ended blocked
    "#]]);
}

#[test]
fn a_delegation_whose_files_could_not_be_brought_to_who_asked_is_blocked() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("b")).run("b");
    story.returns("b", completed("done").files(&["x"])).merged("b").so_far();
    let hunk = Hunk { file: "x".into(), line: 1, text: "<<<<<<< 1\n".into(), kind: None };
    let (why, files, hunks) = ("both changed x".to_owned(), vec!["x".to_owned()], vec![hunk]);
    let not_brought = Some(NotBrought { why, files, hunks: hunks.clone() });
    let delivered = Command::Delivered { delegation: "del-a".into(), not_brought };
    story.tell(delivered).events(expect![[r#"
        del-a told: both changed x
    "#]]);
    let view = view::status(&story.state, story.delegation("del-a"), Now(0));
    assert_eq!((view.status, view.reason.as_deref()), ("blocked", Some("both changed x")));
    let details = view.details.unwrap();
    assert_eq!((details.files, details.hunks), (vec!["x".to_owned()], Some(hunks)));
    story.returns("a", completed("done")).tree(expect![[r#"
        del-1 completed
          a completed
            del-a blocked
              b completed
    "#]]);
}

#[test]
fn what_is_not_completed_is_not_merged() {
    let mut story = Story::bounded(parallel("a b"), |s| s.recovery.auto_retry = false);
    story.run("a b").so_far().returns("a", partial("half").files(&["x"]));
    story.returns("b", failed("broke").files(&["y"])).events(expect![[r#"
        a#1 ended partial: half
        a is partial
        b#1 ended failed: broke
        b is failed
        del-1 ended partial
    "#]]);
}

#[test]
fn a_failed_delegation_with_nothing_merged_has_nothing_to_roll_back() {
    let mut story = Story::bounded(sequential("a b"), |s| {
        s.recovery.auto_retry = false;
        s.recovery.rollback_on_failure = true;
    });
    story.run("a").returns("a", failed("broke")).owed(expect!["deliver del-1"]);
}

#[test]
fn a_failure_takes_back_what_was_merged_where_the_configuration_says_so() {
    let fails = |rollback_on_failure| {
        let mut story = Story::bounded(sequential("a b"), |s| {
            s.recovery.auto_retry = false;
            s.recovery.rollback_on_failure = rollback_on_failure;
        });
        story.run("a").returns("a", completed("one").files(&["x"])).merged("a");
        story.run("b").returns("b", failed("broke"));
        story
    };
    fails(false).owed(expect!["deliver del-1"]);
    let mut story = fails(true);
    story.owed(expect!["deliver del-1, roll back del-1"]);
    story.so_far().go().retry("b").skip("b").events(expect![[r#"
        del-1 told
        del-1 rolled back
        ! CONFLICT What `del-1` had merged was taken back.
        ! CONFLICT What `del-1` had merged was taken back.
    "#]]);
    story.refusal(expect![[r#"
        What `del-1` had merged was taken back.

        Suggestion: Start a new delegation.
    "#]]);
}

#[test]
fn what_is_only_partial_is_not_taken_back() {
    let mut story = Story::bounded(parallel("a b"), |s| s.recovery.rollback_on_failure = true);
    story.run("a b").returns("a", completed("one").files(&["x"])).merged("a");
    story.returns("b", partial("half")).owed(expect!["deliver del-1"]);
}

#[test]
fn what_was_not_merged_cleanly_is_not_rolled_back() {
    let mut story = Story::new(parallel("a b"));
    story.run("a b").returns("a", completed("done").files(&["x"])).conflicts("a", "x");
    story.cancel_with_rollback(ROOT).stops("b").owed(expect!["deliver del-1"]);
}

#[test]
fn a_cancelled_root_takes_back_what_was_merged_below_too() {
    let mut story = Story::new(parallel("a"));
    story.run("a").nested("a", parallel("b c")).run("b c");
    story.returns("b", completed("done").files(&["x"])).merged("b");
    story
        .cancel_with_rollback(ROOT)
        .stops("c")
        .stops("a")
        .owed(expect!["deliver del-1, roll back del-a"]);
}

#[test]
fn late_word_of_an_earlier_attempts_merge_says_nothing_about_the_next() {
    let mut story = Story::new(parallel("a"));
    story.run("a").returns("a", completed("one").files(&["x"])).conflicts("a", "x");
    story.retry("a").run("a").returns("a", completed("two").files(&["x"])).so_far();
    story.conflicts("a#1", "x").events(expect![[r#"
        ! stale
    "#]]);
    story.merged("a").events(expect![[r#"
        a merged
        a is completed
        del-1 ended completed
    "#]]);
}
