//! Whatever is done to them, the journal on disk and the one in memory agree.

use legation_store::{Append, Delegation, Journal, Memory, Options, Page, Past, Row};
use proptest::prelude::*;

use crate::samples::{OnDisk, wait};

const DAY: i64 = 86_400_000;

/// Something done to both.
#[derive(Clone, Debug)]
enum Act {
    /// The sequence is off by this much from the one that would be accepted.
    Append {
        tree: u8,
        off_by: u64,
        events: usize,
        rows: Vec<Row>,
    },
    Forget(u8),
    ForgetBefore(i64),
}

fn name(tree: u8) -> String {
    format!("t{tree}")
}

/// Days near one another, at the edges of the spans in which the ended are counted.
fn time() -> impl Strategy<Value = i64> {
    (0..6_i64, -1..=1_i64).prop_map(|(span, off)| (span << 22) + off)
}

/// A row of a tree. Delegations of one tree may collide with those of others.
fn row(tree: u8) -> impl Strategy<Value = Row> {
    let status = prop::sample::select(vec!["completed", "failed", "partial"]);
    let delegation = (0..6_u8, time(), prop::option::of(time()), status, any::<Option<i64>>());
    let delegation = delegation.prop_map(move |(id, accepted_at, ended_at, status, cost_nanos)| {
        let (id, status) = (format!("d{id}"), status.to_owned());
        let tree = name(tree);
        Row::Delegation(Delegation {
            id,
            tree,
            status,
            accepted_at,
            ended_at,
            cost_nanos,
            ..Delegation::default()
        })
    });
    let key = (0..4_u8, 0..3_u8).prop_map(|(key, id)| {
        let [key, delegation] = [format!("k{key}"), format!("d{id}")];
        Row::Key { scope: "api".into(), key, delegation }
    });
    let ended = prop::option::of(time()).prop_map(|ended_at| Row::Tree { ended_at });
    prop_oneof![3 => delegation, 2 => key, 1 => ended]
}

fn act() -> impl Strategy<Value = Act> {
    let off_by = prop_oneof![9 => Just(0_u64), 1 => 1..3_u64];
    let append = (0..4_u8, off_by, 1..4_usize).prop_flat_map(|(tree, off_by, events)| {
        let rows = prop::collection::vec(row(tree), 0..4);
        rows.prop_map(move |rows| Act::Append { tree, off_by, events, rows })
    });
    let forget = (0..4_u8).prop_map(Act::Forget);
    prop_oneof![8 => append, 1 => forget, 1 => time().prop_map(Act::ForgetBefore)]
}

/// Does it, and says what the journal answered.
async fn perform(journal: &impl Journal, act: Act) -> String {
    match act {
        Act::Append { tree, off_by, events, rows } => {
            let tree = name(tree);
            let last = journal.read(&tree, 0, usize::MAX).await.unwrap().len();
            let expected_seq = u64::try_from(last).unwrap() + off_by;
            let events = (0..events).map(|event| format!("{tree}/{event}")).collect();
            format!("{:?}", journal.append(Append { tree, expected_seq, events, rows }).await)
        }
        Act::Forget(tree) => format!("{:?}", journal.forget(&name(tree)).await),
        Act::ForgetBefore(time) => format!("{:?}", journal.forget_before(time).await),
    }
}

/// Everything that can be asked.
async fn everything(journal: &impl Journal) -> Vec<String> {
    let mut seen = vec![
        format!("{:?}", journal.read_all(0, 1000).await),
        format!("{:?}", journal.open_trees("", 10).await),
        format!("{:?}", journal.active(Page::first(3)).await),
    ];
    for number in 0..6_u8 {
        seen.push(format!("{:?}", journal.read(&name(number), 1, 3).await));
        seen.push(format!("{:?}", journal.delegation(&format!("d{number}")).await));
        seen.push(format!("{:?}", journal.delegation_of_key("api", &format!("k{number}")).await));
    }
    for status in [None, Some("failed".to_owned())] {
        for since in [None, Some(0), Some((1 << 22) - 1), Some(2 << 22), Some(DAY)] {
            let past = Past { status: status.clone(), since, page: Page { skip: 1, limit: 3 } };
            seen.push(format!("{:?}", journal.history(past).await));
        }
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn both_journals_answer_alike(acts in prop::collection::vec(act(), 1..24)) {
        let disk = OnDisk::new();
        let options = Options { durability: legation_store::Durability::Off, ..Options::default() };
        let (memory, sqlite) = (Memory::new(), disk.try_open(&options).unwrap());
        wait(async {
            for act in acts {
                let answers = (
                    perform(&memory, act.clone()).await,
                    perform(&sqlite, act).await,
                );
                prop_assert_eq!(answers.0, answers.1);
                prop_assert_eq!(everything(&memory).await, everything(&sqlite).await);
            }
            Ok(())
        })?;
    }
}
