//! A first glance, ids, kinds and keys.

use expect_test::expect;
use legation_core::config::{Config, Mode};
use legation_core::decision::{Record, Request, cache_key, kind, quick_hint, task_id};
use legation_core::task::{Task, TaskConfig};

use super::{Question, strings, strong};

fn glance(task: &Task, config: &Config) -> String {
    serde_json::to_string(&quick_hint(task, config)).unwrap_or_default()
}

#[test]
fn a_glance_says_whether_a_decision_is_worth_asking_for() {
    let mut config = Config::default();
    let mut task = Task::from_text("Fix the typo");
    expect![[r#"{"shouldConsiderDelegation":false,"quickFactors":{"complexity":5,"subtaskPotential":0},"hint":"The task is small enough to be done directly"}"#]].assert_eq(&glance(&task, &config));
    task.acceptance_criteria = strings(3);
    expect![[r#"{"shouldConsiderDelegation":true,"quickFactors":{"complexity":11,"subtaskPotential":3},"hint":"The task may benefit from delegation"}"#]].assert_eq(&glance(&task, &config));
    task.acceptance_criteria = strings(1);
    task.title = "Rework the api, database security and async performance of all".to_owned();
    task.dependencies = strings(4);
    task.effort = Some("8h".to_owned());
    expect![[r#"{"shouldConsiderDelegation":true,"quickFactors":{"complexity":64,"subtaskPotential":1},"hint":"The task is complex; name its parts, and it can be delegated"}"#]].assert_eq(&glance(&task, &config));
    task.child_task_ids = strings(1);
    expect![[r#"{"shouldConsiderDelegation":false,"quickFactors":{"complexity":64,"subtaskPotential":1},"hint":"The task was split already; follow its child tasks"}"#]].assert_eq(&glance(&task, &config));
    config.mode = Mode::Disabled;
    expect![[r#"{"shouldConsiderDelegation":false,"quickFactors":{"complexity":64,"subtaskPotential":1},"hint":"Delegation is switched off"}"#]].assert_eq(&glance(&task, &config));
    task.delegation_config = Some(TaskConfig { mode: Some(Mode::Auto), ..TaskConfig::default() });
    assert!(glance(&task, &config).contains("split already"));
    config.enabled = false;
    assert!(glance(&task, &config).contains("switched off"));
}

#[test]
fn a_task_without_an_id_is_named_after_its_text() {
    let made = |text: &str| task_id(&Task::from_text(text)).to_string();
    expect!["task-d1b2c50fcdbf"].assert_eq(&made("Fix the typo"));
    assert_eq!(made("Fix the typo"), made("Fix the typo\n"));
    assert_ne!(made("Fix the typo"), made("Fix the\ntypo"));
    let with = |id: &str| Task { id: Some(id.into()), ..Task::from_text("Fix the typo") };
    assert_eq!(task_id(&with("T-1")).as_str(), "T-1");
    assert_eq!(task_id(&with(" ")).to_string(), made("Fix the typo"));
}

#[test]
fn outcomes_are_recorded_under_the_phase() {
    let of =
        |phase: Option<&str>| kind(&Task { phase: phase.map(str::to_owned), ..Task::default() });
    assert_eq!([of(None), of(Some("  ")), of(Some(" Design"))], ["general", "general", "design"]);
}

#[test]
fn equal_questions_have_equal_keys_and_others_do_not() {
    let base = strong();
    let key = |question: &Question| cache_key(&question.inputs());
    assert_eq!(key(&base), key(&base.clone()));
    let later = {
        let mut inputs = base.inputs();
        inputs.stamp.timestamp = "2027-01-01T00:00:00Z";
        cache_key(&inputs)
    };
    assert_eq!(key(&base), later, "the time of the question is no part of it");
    let changes: [fn(&mut Question); 22] = [
        |q| q.task.title.push('x'),
        |q| q.task.description.push('x'),
        |q| q.task.acceptance_criteria = strings(1),
        |q| q.task.dependencies = strings(1),
        |q| q.task.effort = None,
        |q| q.task.phase = Some("design".to_owned()),
        |q| q.task.child_task_ids = strings(1),
        |q| q.task.id = Some("t".into()),
        |q| q.task.delegation_config = Some(TaskConfig::default()),
        |q| q.config.enabled = false,
        |q| q.config.mode = Mode::Smart,
        |q| q.config.thresholds.effort_hours = 4.5,
        |q| q.config.limits.max_depth = 2,
        |q| q.config.patterns.hints.debate = strings(1),
        |q| q.known.agent = Some("a".into()),
        |q| q.known.agent_load = None,
        |q| q.known.agent_load = Some(f64::NAN),
        |q| q.known.record = Some(Record::default()),
        |q| q.known.child_agents = Some(0),
        |q| q.request = Request::Delegate,
        |q| q.include.subtasks = false,
        |q| q.include.reasoning = false,
    ];
    let mut keys = vec![key(&base)];
    for change in changes {
        let mut question = base.clone();
        change(&mut question);
        keys.push(key(&question));
    }
    let versioned = {
        let mut inputs = base.inputs();
        inputs.stamp.config_version = "other";
        cache_key(&inputs)
    };
    keys.push(versioned);
    let all = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), all);
    assert!(keys.iter().all(|key| key.len() == 64 && key.bytes().all(|b| b.is_ascii_hexdigit())));
}
