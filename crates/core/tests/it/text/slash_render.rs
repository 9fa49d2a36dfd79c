use legation_core::config::Pattern;
use legation_core::text::slash::{
    Action, CallOptions, CancelOptions, HintOptions, HistoryOptions, PauseOptions, ReasonOptions,
    RetryOptions, Setting, Since, SlashCommand, StatusFilter, parse,
};
use proptest::prelude::*;
use serde_json::{Value, json};

#[test]
fn a_command_shows_itself_in_its_shortest_clear_form() {
    let cases = [
        (
            "/delegate   -p=debate -b 0   Compare  it",
            "/delegate --pattern debate --budget 0 Compare  it",
        ),
        ("/delegate --text --dry-run -- -x", "/delegate --dry-run --text -- -x"),
        ("/direct x", "/direct x"),
        ("/delegation status", "/delegation status"),
        ("/delegation approve 'a b' -- -c", "/delegation approve \"a b\" \"-c\""),
        (
            "/delegation cancel --reason 'say \"no\"' d",
            "/delegation cancel d --reason \"say \\\"no\\\"\"",
        ),
        (
            "/delegation history --since 1h --limit=5",
            "/delegation history --limit 5 --since 3600000ms",
        ),
        ("/delegation config --mode auto a=[1, 2]", "/delegation config mode=\"auto\" a=[1,2]"),
        ("/delegation hint --text Do it", "/delegation hint --text Do it"),
    ];
    for (line, shown) in cases {
        assert_eq!(parse(line).unwrap().to_string(), shown, "{line}");
    }
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof!["del-[a-z0-9]{1,6}", "[\"'\\\\ a-z=-]{1,8}"]
        .prop_map(|id| id.trim().to_owned())
        .prop_filter("not empty", |id| !id.is_empty())
}

fn text() -> impl Strategy<Value = String> {
    "[-\"'\\\\=a-zß \n]{1,20}"
        .prop_map(|text| text.trim().to_owned())
        .prop_filter("not empty", |text| !text.is_empty())
}

fn remark() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(text())
}

fn call_options() -> impl Strategy<Value = CallOptions> {
    let patterns = [
        Pattern::Parallel,
        Pattern::ParallelStreaming,
        Pattern::Sequential,
        Pattern::Dag,
        Pattern::Debate,
        Pattern::Review,
        Pattern::Ensemble,
        Pattern::Direct,
    ];
    let pattern = proptest::option::of(proptest::sample::select(patterns.to_vec()));
    let depth = proptest::option::of(1_u32..=5);
    let agents = proptest::option::of(1_u32..=100_000);
    let budget = proptest::option::of(any::<u64>());
    (pattern, depth, agents, budget, any::<bool>(), any::<bool>()).prop_map(
        |(pattern, depth, agents, budget, dry_run, text)| CallOptions {
            pattern,
            depth,
            agents,
            budget,
            dry_run,
            text,
        },
    )
}

fn history_options() -> impl Strategy<Value = HistoryOptions> {
    let states = vec![StatusFilter::Pending, StatusFilter::Blocked, StatusFilter::All];
    let since = prop_oneof![
        (0_u64..1_000_000_000_000).prop_map(Since::AgoMs),
        Just(Since::At("2026-01-31T09:00:00Z".to_owned())),
    ];
    let status = proptest::option::of(proptest::sample::select(states));
    let limit = proptest::option::of(1_u32..=10_000);
    (limit, status, proptest::option::of(since)).prop_map(|(limit, status, since)| HistoryOptions {
        limit,
        status,
        since,
    })
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
        "[-\"'\\\\=\\[{a-z0-9 ]{0,8}".prop_map(Value::from),
        "[a-z \"]{0,5}".prop_map(|text| json!([text, {"k y": 1}])),
    ]
}

fn settings() -> impl Strategy<Value = Vec<Setting>> {
    let values = proptest::collection::btree_map("[a-z]{1,5}\\.[a-zA-Z_-]{1,8}", value(), 0..4);
    values.prop_map(|settings| {
        let settings = settings.into_iter();
        settings.map(|(key, value)| Setting { key, value }).collect()
    })
}

fn action() -> impl Strategy<Value = Action> {
    let one_id = || id().prop_map(Into::into);
    prop_oneof![
        proptest::option::of(one_id()).prop_map(|id| Action::Status { id }),
        (one_id(), any::<bool>())
            .prop_map(|(id, now)| Action::Pause { id, options: PauseOptions { now } }),
        one_id().prop_map(|id| Action::Resume { id }),
        (one_id(), remark(), any::<bool>()).prop_map(|(id, reason, rollback)| {
            Action::Cancel { id, options: CancelOptions { reason, rollback } }
        }),
        history_options().prop_map(|options| Action::History { options }),
        (any::<bool>(), text())
            .prop_map(|(text, task)| Action::Hint { options: HintOptions { text }, task }),
        settings().prop_map(|settings| Action::Config { settings }),
        (one_id(), id(), proptest::option::of(id()), remark()).prop_map(
            |(id, subtask, agent, note)| {
                let options = RetryOptions { agent: agent.map(Into::into), note };
                Action::Retry { id, subtask: subtask.into(), options }
            }
        ),
        (one_id(), id(), remark()).prop_map(|(id, subtask, reason)| {
            Action::Skip { id, subtask: subtask.into(), options: ReasonOptions { reason } }
        }),
        (one_id(), proptest::option::of(id()), remark()).prop_map(|(id, subtask, reason)| {
            Action::Approve {
                id,
                subtask: subtask.map(Into::into),
                options: ReasonOptions { reason },
            }
        }),
        (one_id(), proptest::option::of(id()), remark()).prop_map(|(id, subtask, reason)| {
            Action::Reject {
                id,
                subtask: subtask.map(Into::into),
                options: ReasonOptions { reason },
            }
        }),
        one_id().prop_map(|id| Action::Tree { id }),
        one_id().prop_map(|id| Action::Trace { id }),
        one_id().prop_map(|id| Action::Cost { id }),
    ]
}

fn command() -> impl Strategy<Value = SlashCommand> {
    prop_oneof![
        (call_options(), text())
            .prop_map(|(options, task)| SlashCommand::Delegate { options, task }),
        (any::<bool>(), text()).prop_map(|(text, task)| {
            let options = CallOptions { text, ..CallOptions::default() };
            SlashCommand::Direct { options, task }
        }),
        action().prop_map(SlashCommand::Delegation),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_command_that_is_shown_reads_as_the_same_command(command in command()) {
        let line = command.to_string();
        prop_assert_eq!(parse(&line), Ok(command), "{}", line);
    }

    #[test]
    fn whatever_is_typed_is_a_command_or_an_error_with_its_usage(
        start in prop_oneof![
            Just("/delegate "), Just("/direct "), Just("/delegation config "),
            Just("/delegation cancel "), Just("/delegation history "), Just(""),
        ],
        rest in "(--?[a-z]{0,8}|=|[ \"'\\\\]|[0-9a-zé]{1,4}|\\[|\\{){0,12}",
    ) {
        let usage = parse(&format!("{start}{rest}")).err().map(|error| error.usage());
        prop_assert!(usage.is_none_or(|usage| usage.starts_with('/')));
    }
}
