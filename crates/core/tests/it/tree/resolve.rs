//! Conflicts that are handed to an agent named for them.

use expect_test::expect;
use legation_core::Code;
use legation_core::agent::Refusal;
use legation_core::tree::Command;
use legation_core::tree::brief::{Manner, brief};
use legation_core::tree::event::{Clash, Hunk, MergeOutcome};

use crate::story::{
    ROOT, Story, completed, dag, ensemble, failed, parallel, partial, review, sequential,
};

/// `a` is merged, and `b` meets it in a file that both have changed.
fn conflict(plan: crate::story::Plan) -> Story {
    let mut story = Story::new(plan);
    story.run("a b").returns("a", completed("made it red").files(&["x"])).merged("a");
    story.returns("b", completed("made it blue").files(&["x"])).so_far();
    story.conflicts("b", "x");
    story
}

#[test]
fn a_conflict_is_handed_to_the_resolver_and_the_subtask_waits() {
    let mut story = conflict(parallel("a b").resolved_by("mender"));
    story.events(expect![[r#"
        b conflicts in x
        del-1 grows: resolve-b
    "#]]);
    story.tree(expect![[r#"
        del-1 running
          a completed
          b merging
          resolve-b queued
    "#]]);
    story.owed(expect!["start resolve-b, wake +3600s"]);
}

#[test]
fn what_the_resolver_merged_completes_the_subtask() {
    let mut story = conflict(dag("a b c<b").resolved_by("mender"));
    story.so_far().run("resolve-b").returns("resolve-b", completed("made it purple").files(&["x"]));
    story.merged("resolve-b").events(expect![[r#"
        resolve-b starts, until +600s
        resolve-b#1 runs
        resolve-b#1 ended completed: made it purple
        resolve-b waits for its merge
        resolve-b merged
        resolve-b is completed
        b merged
        b is completed
    "#]]);
    story.run("c").returns("c", completed("on top")).tree(expect![[r#"
        del-1 completed
          a completed
          b completed
          c completed
          resolve-b completed
    "#]]);
    story.result(ROOT, expect![[r#"
        completed {
          "summary": "a: made it red\nb: made it blue\nb: its conflict was resolved by mender: made it purple\nc: on top",
          "data": null,
          "artifacts": []
        }
    "#]]);
}

#[test]
fn both_sides_and_the_lines_between_them_are_in_its_brief() {
    let mut story = Story::new(parallel("a b c").resolved_by("mender"));
    story.run("a b c").returns("a", completed("made it red").files(&["x"])).merged("a");
    story.returns("c", completed("wrote about it").files(&["y"])).merged("c");
    story.returns("b", completed("made it blue").files(&["x"]));
    let text = "<<<<<<< result\nred\n=======\nblue\n>>>>>>> subtask".to_owned();
    let hunks = vec![
        Hunk { file: "x".to_owned(), line: 7, text, kind: None },
        Hunk::without_lines("logo.png", Clash::Binary),
        Hunk::without_lines("old.txt", Clash::SecondDeleted),
    ];
    let files = ["logo.png", "old.txt", "x"].map(str::to_owned).to_vec();
    story.merge_ends("b", MergeOutcome::Conflict { files, hunks });
    story.run("resolve-b");
    let told =
        brief(&story.state, story.attempt_no("resolve-b"), Manner::default(), (story.now, 1));
    assert_eq!(told.task_context.files, ["logo.png", "old.txt", "x"]);
    expect![[r#"
        Two pieces of work do not fit together, and your workspace has both: what is in the result already, and the work of subtask `b`. Where they fit they are merged. Where they do not, both stand between conflict markers, first the result's side, then the subtask's; a file that cannot be marked is as one side has it. Keep what both were for, and leave no marker. If everything is right as it stands, commit it all the same: work that changes nothing is not taken.

        Files in conflict: logo.png (both changed it, and it is no text), old.txt (the subtask deleted it, the result changed it), x

        In the result already:
        - a (a): made it red

        To be brought together with it:
        - b (b): made it blue

        x, line 7:
        <<<<<<< result
        red
        =======
        blue
        >>>>>>> subtask"#]].assert_eq(&told.task);
}

#[test]
fn whatever_comes_to_nothing_leaves_the_conflict_as_it_was_and_is_told() {
    let end = |answer| {
        let mut story = conflict(parallel("a b").resolved_by("mender"));
        story.so_far().run("resolve-b").returns("resolve-b", answer);
        story
    };
    end(failed("too hard")).events(expect![[r#"
        resolve-b starts, until +600s
        resolve-b#1 runs
        resolve-b#1 ended failed: too hard
        resolve-b is failed
        b is blocked: Its changes and earlier ones touch the same lines of: x. `mender`, which was asked to resolve it, ended failed: too hard
        del-1 ended blocked
    "#]]);
    end(partial("half").files(&["x"]))
        .events(expect![[r#"
            resolve-b starts, until +600s
            resolve-b#1 runs
            resolve-b#1 ended partial: half
            resolve-b is partial
            b is blocked: Its changes and earlier ones touch the same lines of: x. `mender`, which was asked to resolve it, ended partial: half
            del-1 ended blocked
        "#]]);
    // It says that it is done, and did nothing.
    end(completed("fine")).events(expect![[r#"
        resolve-b starts, until +600s
        resolve-b#1 runs
        resolve-b#1 ended completed: fine
        resolve-b is failed: It left both sides as they were.
        b is blocked: Its changes and earlier ones touch the same lines of: x. `mender`, which was asked to resolve it, ended failed: It left both sides as they were.
        del-1 ended blocked
    "#]]);
    let message = "Conflict markers are left in: x.".to_owned();
    let marked = MergeOutcome::Failed { code: Code::Conflict, message };
    let mut story = end(completed("fine").files(&["x"]));
    story.merge_ends("resolve-b", marked).events(expect![[r#"
        resolve-b starts, until +600s
        resolve-b#1 runs
        resolve-b#1 ended completed: fine
        resolve-b waits for its merge
        resolve-b cannot merge: CONFLICT Conflict markers are left in: x.
        resolve-b is failed: Conflict markers are left in: x.
        b is blocked: Its changes and earlier ones touch the same lines of: x. `mender`, which was asked to resolve it, ended failed: Conflict markers are left in: x.
        del-1 ended blocked
    "#]]);
    // Its own conflict is nobody else's.
    end(completed("fine").files(&["x"])).conflicts("resolve-b", "y").events(expect![[r#"
        resolve-b starts, until +600s
        resolve-b#1 runs
        resolve-b#1 ended completed: fine
        resolve-b waits for its merge
        resolve-b conflicts in y
        resolve-b is blocked: Its changes and earlier ones touch the same lines of: y.
        b is blocked: Its changes and earlier ones touch the same lines of: x. `mender`, which was asked to resolve it, ended blocked: Its changes and earlier ones touch the same lines of: y.
        del-1 ended blocked
    "#]]);
}

#[test]
fn it_is_tried_once_unless_somebody_asks_for_more() {
    let mut story = conflict(parallel("a b").resolved_by("mender"));
    story.run("resolve-b").returns("resolve-b", failed("too hard"));
    assert_eq!(story.status(), "blocked");
    story.so_far().retry("resolve-b").run("resolve-b");
    story.returns("resolve-b", completed("made it purple").files(&["x"])).merged("resolve-b");
    story.events(expect![[r#"
        del-1 reopened
        resolve-b is tried again (request) at +0s, told "The attempt before this one ended failed: too hard"
        resolve-b starts, until +600s
        resolve-b#2 runs
        resolve-b#2 ended completed: made it purple
        resolve-b waits for its merge
        resolve-b merged
        resolve-b is completed
        b merged
        b is completed
        del-1 ended completed
    "#]]);
    assert_eq!(story.status(), "completed");
}

#[test]
fn a_retry_of_the_subtask_meets_a_conflict_of_its_own() {
    let mut story = conflict(parallel("a b").resolved_by("mender"));
    story.run("resolve-b").returns("resolve-b", failed("too hard"));
    story.retry("b").run("b").returns("b", completed("bluish").files(&["x"])).so_far();
    story.conflicts("b", "x").retry("resolve-b").events(expect![[r#"
        b conflicts in x
        del-1 grows: resolve-b-2
        ! CONFLICT What `resolve-b` was to resolve has moved on.
    "#]]);
}

#[test]
fn one_that_is_lost_with_the_runtime_is_started_again() {
    let mut story = conflict(parallel("a b").resolved_by("mender"));
    story
        .run("resolve-b")
        .so_far()
        .tell(Command::Lose { attempt: "exec-resolve-b-1".into() })
        .events(expect![[r#"
        resolve-b#1 ended failed: Operation was lost when the runtime stopped
        resolve-b is tried again (lost) at +0s
    "#]]);
}

#[test]
fn a_resolver_that_may_not_be_used_is_told_of_and_nothing_else_changes() {
    let refused = Refusal {
        code: Code::AgentNotAllowed,
        message: "Agent `mender` is disabled.".to_owned(),
        hint: String::new(),
    };
    let plan = parallel("a b").resolved_by("mender").with(|call| {
        let resolver = call.resolver.as_mut();
        resolver.expect("one is named").permitted = Err(refused);
    });
    conflict(plan).events(expect![[r#"
        b conflicts in x
        b is blocked: Its changes and earlier ones touch the same lines of: x. `mender` could not be asked to resolve it: Agent `mender` is disabled.
        del-1 ended blocked
    "#]]);
}

#[test]
fn a_resolver_is_bounded_like_any_other() {
    let mut story = Story::bounded(parallel("a b").resolved_by("mender"), |s| {
        s.limits.max_agents_per_tree = 2;
    });
    story.run("a b").returns("b", completed("blue").files(&["x"])).so_far();
    story.conflicts("b", "x").events(expect![[r#"
        b conflicts in x
        b is blocked: Its changes and earlier ones touch the same lines of: x. `mender` could not be asked to resolve it: Delegation count limit (2) exceeded. Nothing was started.
    "#]]);
    // It counts in the tree, and not among what the caller asked for.
    let mut story = Story::bounded(parallel("a b").resolved_by("mender"), |s| {
        s.limits.max_delegations_per_task = 2;
    });
    story.run("a b").returns("b", completed("blue").files(&["x"])).conflicts("b", "x");
    story.run("resolve-b").accounts(expect![[r#"
        tree: 0 tokens and $0.00 of 2000000 tokens and $20.00 used, 400000 tokens and $20.00 reserved
        a: 0 tokens and $0.00 of 200000 tokens and $10.00 used, 0 tokens and $0.00 reserved
        b: 0 tokens and $0.00 of 200000 tokens and $10.00 used, 0 tokens and $0.00 reserved, closed
        resolve-b: 0 tokens and $0.00 of 200000 tokens and $10.00 used, 0 tokens and $0.00 reserved
    "#]]);
    assert_eq!(story.state.count, 3);
}

#[test]
fn a_human_may_have_to_say_yes() {
    let plan = parallel("a b").resolved_by("mender").with(|call| {
        let resolver = call.resolver.as_mut();
        resolver.expect("one is named").needs_approval = true;
    });
    conflict(plan).tree(expect![[r#"
        del-1 running
          a completed
          b merging
          resolve-b awaiting_approval
    "#]]);
}

#[test]
fn a_cancel_reaches_the_resolver_and_the_subtask_ends_with_it() {
    let mut story = conflict(parallel("a b").resolved_by("mender"));
    story.run("resolve-b").so_far().cancel(ROOT).stops("resolve-b").events(expect![[r#"
        del-1 cancelled by ana: enough
        resolve-b#1 has to stop: cancelled
        resolve-b#1 ended failed: Operation was cancelled
        resolve-b is cancelled
        b is cancelled
        del-1 ended cancelled
    "#]]);
}

#[test]
fn cancelling_the_subtask_stops_its_resolver() {
    let mut story = conflict(parallel("a b").resolved_by("mender"));
    story.run("resolve-b").so_far().cancel_one("b").stops("resolve-b").events(expect![[r#"
        resolve-b#1 has to stop: cancelled
        resolve-b#1 ended failed: Operation was cancelled
        resolve-b is cancelled
        b is blocked: Its changes and earlier ones touch the same lines of: x. `mender`, which was asked to resolve it, ended cancelled: Somebody cancelled it
        del-1 ended blocked
    "#]]);
}

#[test]
fn skipping_the_resolver_leaves_the_conflict() {
    let mut story = conflict(parallel("a b").resolved_by("mender"));
    story.so_far().skip("resolve-b").events(expect![[r#"
        resolve-b is skipped: not needed
        b is blocked: Its changes and earlier ones touch the same lines of: x. `mender`, which was asked to resolve it, ended skipped: not needed
        del-1 ended blocked
    "#]]);
}

#[test]
fn patterns_do_not_see_it() {
    let mut story = Story::new(review("ann ben").resolved_by("mender"));
    story.run("create").returns("create", completed("draft").files(&["x"]));
    story.conflicts("create", "x").run("resolve-create").so_far();
    story.returns("resolve-create", completed("both").files(&["x"])).merged("resolve-create");
    story.events(expect![[r#"
        resolve-create#1 ended completed: both
        resolve-create waits for its merge
        resolve-create merged
        resolve-create is completed
        create merged
        create is completed
        del-1 grows: review-1-1
    "#]]);
    let mut story = Story::new(sequential("a b").resolved_by("mender"));
    story.run("a").returns("a", completed("one").files(&["x"])).conflicts("a", "x");
    story.run("resolve-a").returns("resolve-a", completed("both").files(&["x"]));
    story.merged("resolve-a").run("b").returns("b", completed("two")).result(
        ROOT,
        expect![[r#"
        completed {
          "summary": "two",
          "data": null,
          "artifacts": []
        }
    "#]],
    );
}

#[test]
fn the_chosen_member_of_an_ensemble_may_need_it() {
    let vote = legation_core::tree::plan::Aggregate::Vote;
    let mut story = Story::new(ensemble("ann", vote).resolved_by("mender"));
    story.run("member-1 member-2 member-3");
    for member in ["member-1", "member-2", "member-3"] {
        story.returns(member, completed("same").files(&["x"]));
    }
    story.conflicts("member-1", "x").run("resolve-member-1").so_far();
    story.returns("resolve-member-1", completed("both").files(&["x"])).merged("resolve-member-1");
    story.events(expect![[r#"
        resolve-member-1#1 ended completed: both
        resolve-member-1 waits for its merge
        resolve-member-1 merged
        resolve-member-1 is completed
        member-1 merged
        member-1 is completed
        del-1 ended completed
    "#]]);
}

#[test]
fn a_merge_that_is_cancelled_is_broken_off() {
    let mut story = Story::new(parallel("a"));
    story.run("a").returns("a", completed("done").files(&["x"])).cancel(ROOT);
    story.owed(expect!["merge a#1, break off the merge of a#1, wake +3600s"]);
    story.so_far().merge_ends("a", MergeOutcome::Unverified { verify: Vec::new() });
    story.events(expect![[r#"
        a does not pass when merged
        a is cancelled
        del-1 ended cancelled
    "#]]);
}
