//! Plans of debates, reviews and ensembles: their ids and words are kept.

use expect_test::expect;
use legation_core::tree::plan::Aggregate;
use serde_json::json;

use crate::story::{Answer, Plan, Story, completed, debate, ensemble, review};

fn planned(plan: Plan) -> Plan {
    let plan = plan.about("Ship it");
    plan.each(|part| {
        part.planned = true;
        part.task = format!("look at {}", part.id);
    })
}

fn revise() -> Answer {
    completed("no").data(json!({"verdict": "revise"}))
}

/// Every subtask in a line: its id, its title and its task.
fn told(story: &Story) -> String {
    let line = |(_, subtask): (_, &legation_core::tree::state::Subtask)| {
        format!("{} ({}): {:?}\n", subtask.id, subtask.title, subtask.task)
    };
    story.state.subtasks.iter().map(line).collect()
}

#[test]
fn members_have_the_ids_and_the_words_of_the_plan() {
    let story = Story::new(planned(ensemble("x@ann y@ben judge@cleo", Aggregate::Vote)));
    expect![[r#"
        x (Do x): "Ship it\n\nYour part in it:\nlook at x"
        y (Do y): "Ship it\n\nYour part in it:\nlook at y"
        judge (Do judge): "Ship it\n\nYour part in it:\nlook at judge"
    "#]]
    .assert_eq(&told(&story));
}

#[test]
fn one_part_of_a_plan_stands_for_all_members() {
    let story = Story::new(planned(ensemble("x@ann", Aggregate::Vote)));
    let ids: Vec<&str> = story.state.subtasks.iter().map(|(_, it)| it.id.as_str()).collect();
    assert_eq!(ids, ["x", "x-2", "x-3"]);
}

#[test]
fn whoever_judges_gets_an_id_that_no_member_has() {
    let plan = planned(ensemble("judge@ann y@ben", Aggregate::Best)).judged_by("cleo");
    let mut story = Story::new(plan);
    story.go().returns("judge", completed("a")).so_far().returns("y", completed("b"));
    story.events(expect![[r#"
        y#1 ended completed: b
        y is completed
        del-1 grows: judge-2
    "#]]);
}

#[test]
fn a_debate_keeps_the_ids_of_its_plan_and_derives_those_of_later_rounds() {
    let mut story = Story::new(planned(debate("x@ann y@ben y-2@cleo")));
    story.go().returns("x", completed("draft")).go();
    story.returns("y", revise()).returns("y-2", revise()).go();
    story.returns("x-synthesise-1", completed("second draft")).go();
    expect![[r#"
        x (Do x): "Ship it\n\nYour part in it:\nlook at x"
        y (Do y): "Ship it\n\nYour part in it:\nlook at y"
        y-2 (Do y-2): "Ship it\n\nYour part in it:\nlook at y-2"
        x-synthesise-1 (Do x): "Ship it\n\nYour part in it:\nlook at x"
        y-2-2 (Do y): "Ship it\n\nYour part in it:\nlook at y"
        y-2-2-2 (Do y-2): "Ship it\n\nYour part in it:\nlook at y-2"
    "#]]
    .assert_eq(&told(&story));
}

#[test]
fn a_plan_of_one_reviews_its_own_work() {
    let mut story = Story::new(planned(review("x@ann")));
    story.go().returns("x", completed("made")).go();
    let ids: Vec<&str> = story.state.subtasks.iter().map(|(_, it)| it.id.as_str()).collect();
    assert_eq!(ids, ["x", "x-review"]);
}

#[test]
fn a_part_that_says_nothing_of_its_own_has_the_task_of_all() {
    let plan = ensemble("x@ann y@ben", Aggregate::Vote).about("Ship it");
    let story = Story::new(plan.each(|part| part.planned = true));
    let tasks: Vec<&str> = story.state.subtasks.iter().map(|(_, it)| &*it.task).collect();
    assert_eq!(tasks, ["Ship it"; 2]);
}
