//! What every journal promises, written once and asked of each of them.

use legation_store::{
    Appended, Delegation, Error, Journal, MAX_EVENTS, MAX_READ_BYTES, Memory, Page, Past, Row,
};

use crate::samples::{OnDisk, ended, events, key, rows, running, texts, wait};

/// Makes a test of each promise for each journal.
macro_rules! promises {
    ($($promise:ident)*) => {
        mod memory {
            $(#[test] fn $promise() { super::wait(super::$promise(&super::Memory::new())); })*
        }
        mod sqlite {
            $(#[test] fn $promise() { super::wait(super::$promise(&super::OnDisk::new().open())); })*
        }
    };
}

promises! {
    events_come_back_in_order_and_numbered_from_one
    an_append_to_a_stale_sequence_is_refused_with_the_actual_one
    a_tree_that_does_not_exist_has_no_events
    a_read_starts_after_a_number_and_stops_at_its_limit
    a_read_stops_after_so_many_bytes_but_never_before_the_first_event
    positions_order_the_events_of_all_trees
    a_tree_is_read_whole_however_many_appends_it_took
    any_text_is_kept_as_it_is
    a_refused_row_takes_its_events_and_the_other_rows_with_it
    a_key_is_taken_once
    a_key_may_be_written_again_for_the_same_delegation
    a_delegation_belongs_to_one_tree
    a_row_of_another_tree_is_refused
    an_append_without_events_or_beyond_the_limits_is_refused
    a_delegation_is_as_its_last_row_says
    active_delegations_come_newest_first
    history_comes_newest_first_with_the_total
    history_is_one_list_however_many_have_ended
    a_delegation_that_goes_on_leaves_the_history
    trees_are_open_until_they_are_said_to_have_ended
    a_forgotten_tree_leaves_nothing_behind
    an_open_tree_is_not_forgotten
    only_trees_that_ended_before_the_time_are_forgotten
    positions_are_not_given_twice
}

async fn events_come_back_in_order_and_numbered_from_one(journal: &impl Journal) {
    let appended = journal.append(events("t", 0, &["a", "b"])).await;
    assert_eq!(appended, Ok(Appended { seq: 2, position: 2 }));
    let appended = journal.append(events("t", 2, &["c"])).await;
    assert_eq!(appended, Ok(Appended { seq: 3, position: 3 }));
    let entries = journal.read("t", 0, 10).await.unwrap();
    let numbered: Vec<_> = entries.iter().map(|e| (e.seq, e.event.as_str())).collect();
    assert_eq!(numbered, [(1, "a"), (2, "b"), (3, "c")]);
}

async fn an_append_to_a_stale_sequence_is_refused_with_the_actual_one(journal: &impl Journal) {
    journal.append(events("t", 0, &["a", "b"])).await.unwrap();
    for expected in [0, 1, 3, u64::MAX] {
        let refused = journal.append(events("t", expected, &["x"])).await;
        let tree = "t".to_owned();
        assert_eq!(refused, Err(Error::Conflict { tree, expected, actual: 2 }));
    }
    let refused = journal.append(events("new", 1, &["x"])).await;
    let tree = "new".to_owned();
    assert_eq!(refused, Err(Error::Conflict { tree, expected: 1, actual: 0 }));
    assert_eq!(texts(journal, "t").await, ["a", "b"]);
    assert_eq!(journal.open_trees("", 10).await.unwrap(), ["t"]);
}

async fn a_tree_that_does_not_exist_has_no_events(journal: &impl Journal) {
    assert_eq!(journal.read("nobody", 0, 10).await, Ok(Vec::new()));
    assert_eq!(journal.read_all(0, 10).await, Ok(Vec::new()));
    assert_eq!(journal.delegation("nobody").await, Ok(None));
    assert_eq!(journal.forget("nobody").await, Ok(false));
}

async fn a_read_starts_after_a_number_and_stops_at_its_limit(journal: &impl Journal) {
    journal.append(events("t", 0, &["a", "b", "c", "d"])).await.unwrap();
    let read = async |after, limit| {
        let entries = journal.read("t", after, limit).await.unwrap();
        entries.into_iter().map(|entry| entry.event).collect::<String>()
    };
    assert_eq!(read(1, 2).await, "bc");
    assert_eq!(read(3, 9).await, "d");
    assert_eq!(read(4, 9).await, "");
    assert_eq!(read(u64::MAX, usize::MAX).await, "");
    assert_eq!(read(0, 0).await, "");
}

async fn a_read_stops_after_so_many_bytes_but_never_before_the_first_event(journal: &impl Journal) {
    let (small, large) = ("x".repeat(MAX_READ_BYTES - 1), "y".repeat(MAX_READ_BYTES + 1));
    journal.append(events("t", 0, &[&small, "1", "2"])).await.unwrap();
    journal.append(events("t", 3, &[&large, "3"])).await.unwrap();
    let lengths = async |after| {
        let entries = journal.read("t", after, 10).await.unwrap();
        let all = journal.read_all(after, 10).await.unwrap();
        let all: Vec<_> = all.into_iter().map(|(_, entry)| entry).collect();
        assert_eq!(entries, all);
        entries.iter().map(|entry| entry.event.len()).collect::<Vec<_>>()
    };
    assert_eq!(lengths(0).await, [MAX_READ_BYTES - 1, 1]);
    assert_eq!(lengths(2).await, [1]);
    assert_eq!(lengths(3).await, [MAX_READ_BYTES + 1]);
    assert_eq!(lengths(4).await, [1]);
}

async fn positions_order_the_events_of_all_trees(journal: &impl Journal) {
    journal.append(events("a", 0, &["a1"])).await.unwrap();
    journal.append(events("b", 0, &["b1", "b2"])).await.unwrap();
    journal.append(events("a", 1, &["a2"])).await.unwrap();
    let all = async |after, limit| {
        let entries = journal.read_all(after, limit).await.unwrap();
        let words =
            entries.into_iter().map(|(tree, e)| format!("{}:{tree}:{}", e.position, e.event));
        words.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(all(0, 10).await, "1:a:a1 2:b:b1 3:b:b2 4:a:a2");
    assert_eq!(all(1, 2).await, "2:b:b1 3:b:b2");
    assert_eq!(all(4, 10).await, "");
}

async fn a_tree_is_read_whole_however_many_appends_it_took(journal: &impl Journal) {
    // More than are entered at once where the rows of a tree are looked up.
    let appends = 530;
    journal.append(events("other", 0, &["first"])).await.unwrap();
    for seq in 0..appends {
        journal.append(events("t", seq, &[&seq.to_string()])).await.unwrap();
    }
    journal.append(events("other", 1, &["last"])).await.unwrap();
    let expected: Vec<String> = (0..appends).map(|seq| seq.to_string()).collect();
    assert_eq!(texts(journal, "t").await, expected);
    assert_eq!(texts(journal, "other").await, ["first", "last"]);
    for after in [0, 500, 510, 511, 512, 529] {
        let entries = journal.read("t", after, 3).await.unwrap();
        let found: Vec<_> = entries.iter().map(|entry| entry.event.clone()).collect();
        let expected = (after..appends).take(3).map(|seq| seq.to_string());
        assert_eq!(found, expected.collect::<Vec<_>>());
    }
    let over = vec![Row::Tree { ended_at: Some(1) }];
    journal.append(rows("t", appends, over)).await.unwrap();
    assert_eq!(journal.forget("t").await, Ok(true));
    let left = journal.read_all(0, 1000).await.unwrap();
    let left: Vec<_> = left.iter().map(|(_, entry)| entry.event.as_str()).collect();
    assert_eq!(left, ["first", "last"]);
}

async fn any_text_is_kept_as_it_is(journal: &impl Journal) {
    let long = "long ".repeat(200_000);
    let odd = ["", "\0", "not json", "{\"ä\":\"\u{1f980}\"}", "'; DROP TABLE events; --", &long];
    journal.append(events("t'\0\u{1f980}", 0, &odd)).await.unwrap();
    assert_eq!(texts(journal, "t'\0\u{1f980}").await, odd);
    assert_eq!(journal.open_trees("", 10).await.unwrap(), ["t'\0\u{1f980}"]);
}

async fn a_refused_row_takes_its_events_and_the_other_rows_with_it(journal: &impl Journal) {
    journal.append(rows("one", 0, vec![key("k", "del-1")])).await.unwrap();
    let delegation = Row::Delegation(running("del-2", "two", 1));
    let both = vec![delegation, key("free", "del-2"), key("k", "del-2")];
    let refused = journal.append(rows("two", 0, both)).await;
    assert_eq!(refused, Err(Error::DuplicateKey { delegation: "del-1".into() }));
    assert_eq!(journal.read("two", 0, 10).await, Ok(Vec::new()));
    assert_eq!(journal.open_trees("", 10).await.unwrap(), ["one"]);
    assert_eq!(journal.delegation("del-2").await, Ok(None));
    assert_eq!(journal.delegation_of_key("api", "free").await, Ok(None));
    assert_eq!(journal.append(events("two", 0, &["x"])).await.map(|done| done.seq), Ok(1));
}

async fn a_key_is_taken_once(journal: &impl Journal) {
    journal.append(rows("t", 0, vec![key("k", "del-1")])).await.unwrap();
    let refused = journal.append(rows("t", 1, vec![key("k", "del-2")])).await;
    assert_eq!(refused, Err(Error::DuplicateKey { delegation: "del-1".into() }));
    let twice = vec![key("new", "del-3"), key("new", "del-4")];
    let refused = journal.append(rows("t", 1, twice)).await;
    assert_eq!(refused, Err(Error::DuplicateKey { delegation: "del-3".into() }));
    let found = journal.delegation_of_key("api", "k").await.unwrap();
    assert_eq!(found.as_deref(), Some("del-1"));
    assert_eq!(journal.delegation_of_key("api", "new").await, Ok(None));
    assert_eq!(journal.delegation_of_key("other", "k").await, Ok(None));
}

async fn a_key_may_be_written_again_for_the_same_delegation(journal: &impl Journal) {
    journal.append(rows("t", 0, vec![key("k", "del-1")])).await.unwrap();
    let again = journal.append(rows("t", 1, vec![key("k", "del-1"), key("k", "del-1")])).await;
    assert_eq!(again.map(|done| done.seq), Ok(2));
}

async fn a_delegation_belongs_to_one_tree(journal: &impl Journal) {
    journal.append(rows("a", 0, vec![Row::Delegation(running("del-1", "a", 1))])).await.unwrap();
    let thief = vec![Row::Delegation(running("del-1", "b", 2))];
    let refused = journal.append(rows("b", 0, thief)).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the journal does not take a row of `b` for `del-1`, which is not part of it"
    );
    let found = journal.delegation("del-1").await.unwrap();
    assert_eq!(found, Some(running("del-1", "a", 1)));
}

async fn a_row_of_another_tree_is_refused(journal: &impl Journal) {
    let stray = vec![Row::Delegation(running("del-1", "b", 1))];
    let refused = journal.append(rows("a", 0, stray)).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the journal does not take a row of `a` for `del-1`, which is not part of it"
    );
}

async fn an_append_without_events_or_beyond_the_limits_is_refused(journal: &impl Journal) {
    let many = vec![""; MAX_EVENTS + 1];
    let open = Row::Tree { ended_at: None };
    let huge = "x".repeat(33 << 20);
    let cases = [
        (events("t", 0, &[]), "an append without events"),
        (events("", 0, &["x"]), "a tree without an id"),
        (events("t", 0, &many), "16385 events at once, and at most 16384 are taken"),
        (rows("t", 0, vec![open; 16385]), "16385 rows at once, and at most 16384 are taken"),
        (events("t", 0, &[&huge, &huge]), "69206016 bytes at once, and at most 67108864 are taken"),
    ];
    for (append, what) in cases {
        let refused = journal.append(append).await;
        assert_eq!(refused, Err(Error::Invalid { what: what.into() }));
    }
    assert_eq!(journal.read("t", 0, 10).await, Ok(Vec::new()));
}

async fn a_delegation_is_as_its_last_row_says(journal: &impl Journal) {
    let first = running("del-1", "t", 10);
    let last = Delegation {
        parent: Some("del-0".into()),
        started_at: Some(11),
        tokens_used: i64::MAX,
        cost_nanos: Some(3_700_000_000),
        ..ended("del-1", "t", "completed", 20)
    };
    let both = vec![Row::Delegation(first), Row::Delegation(last.clone())];
    journal.append(rows("t", 0, both)).await.unwrap();
    assert_eq!(journal.delegation("del-1").await, Ok(Some(last)));
}

/// The ids of a list, in its order.
fn ids(delegations: &[Delegation]) -> String {
    delegations.iter().map(|found| found.id.as_str()).collect::<Vec<_>>().join(" ")
}

async fn active_delegations_come_newest_first(journal: &impl Journal) {
    let mut all: Vec<Row> = Vec::new();
    for (id, at) in [("b", 5), ("a", 5), ("old", 1), ("new", 9)] {
        all.push(Row::Delegation(running(id, "t", at)));
    }
    all.push(Row::Delegation(ended("gone", "t", "failed", 7)));
    journal.append(rows("t", 0, all)).await.unwrap();
    let active = async |page| ids(&journal.active(page).await.unwrap());
    assert_eq!(active(Page::first(10)).await, "new b a old");
    assert_eq!(active(Page { skip: 1, limit: 2 }).await, "b a");
    assert_eq!(active(Page { skip: 9, limit: 2 }).await, "");
    assert_eq!(active(Page { skip: usize::MAX, limit: usize::MAX }).await, "");
}

async fn history_comes_newest_first_with_the_total(journal: &impl Journal) {
    // Far enough apart to fall into different spans of the table of counts.
    const DAY: i64 = 86_400_000;
    let mut all = vec![Row::Delegation(running("active", "t", 1))];
    for day in 1..=6 {
        let status = ["completed", "failed"][usize::try_from(day % 2).unwrap()];
        all.push(Row::Delegation(ended(&format!("d{day}"), "t", status, day * DAY)));
    }
    all.push(Row::Delegation(ended("d6b", "t", "completed", 6 * DAY + 1)));
    journal.append(rows("t", 0, all)).await.unwrap();
    let past = async |status: Option<&str>, since, page| {
        let past = Past { status: status.map(Into::into), since, page };
        let found = journal.history(past).await.unwrap();
        format!("{} of {}", ids(&found.delegations), found.total)
    };
    let page = Page::first;
    assert_eq!(past(None, None, page(9)).await, "d6b d6 d5 d4 d3 d2 d1 of 7");
    assert_eq!(past(None, None, Page { skip: 2, limit: 2 }).await, "d5 d4 of 7");
    assert_eq!(past(Some("failed"), None, page(2)).await, "d5 d3 of 3");
    assert_eq!(past(Some("nonsense"), None, page(2)).await, " of 0");
    assert_eq!(past(None, Some(5 * DAY), page(9)).await, "d6b d6 d5 of 3");
    assert_eq!(past(None, Some(5 * DAY + 1), page(9)).await, "d6b d6 of 2");
    assert_eq!(past(None, Some(6 * DAY + 1), page(1)).await, "d6b of 1");
    assert_eq!(past(Some("completed"), Some(4 * DAY), page(1)).await, "d6b of 3");
    assert_eq!(past(None, Some(i64::MAX), page(1)).await, " of 0");
    assert_eq!(past(None, Some(i64::MIN), page(0)).await, " of 7");
}

async fn history_is_one_list_however_many_have_ended(journal: &impl Journal) {
    // More than are put away at once, and the last of them only just ended.
    for at in 1..=300 {
        let (tree, status) = (format!("t{at}"), ["completed", "failed"][at % 2]);
        let at = i64::try_from(at).unwrap();
        let ended = Row::Delegation(ended(&format!("d{at}"), &tree, status, at));
        journal
            .append(rows(&tree, 0, vec![ended, Row::Tree { ended_at: Some(at) }]))
            .await
            .unwrap();
    }
    let past = async |status: Option<&str>, skip| {
        let past =
            Past { status: status.map(Into::into), since: None, page: Page { skip, limit: 2 } };
        let found = journal.history(past).await.unwrap();
        format!("{} of {}", ids(&found.delegations), found.total)
    };
    assert_eq!(past(None, 0).await, "d300 d299 of 300");
    assert_eq!(past(None, 150).await, "d150 d149 of 300");
    assert_eq!(past(Some("failed"), 0).await, "d299 d297 of 150");
    assert_eq!(past(Some("failed"), 148).await, "d3 d1 of 150");
    // One that was put away goes on, and one that was not.
    for at in [1, 300] {
        let (id, tree) = (format!("d{at}"), format!("t{at}"));
        let again = vec![Row::Delegation(running(&id, &tree, at)), Row::Tree { ended_at: None }];
        journal.append(rows(&tree, 1, again)).await.unwrap();
    }
    assert_eq!(past(None, 0).await, "d299 d298 of 298");
    assert_eq!(ids(&journal.active(Page::first(9)).await.unwrap()), "d300 d1");
    assert_eq!(journal.open_trees("", 9).await.unwrap(), ["t1", "t300"]);
    assert_eq!(texts(journal, "t1").await.len(), 2);
}

async fn a_delegation_that_goes_on_leaves_the_history(journal: &impl Journal) {
    let history = async || {
        let past = Past { status: None, since: None, page: Page::first(9) };
        let found = journal.history(past).await.unwrap();
        let active = journal.active(Page::first(9)).await.unwrap();
        format!("{} of {}, active {}", ids(&found.delegations), found.total, ids(&active))
    };
    let then = ended("d", "t", "partial", 5);
    journal.append(rows("t", 0, vec![Row::Delegation(then)])).await.unwrap();
    assert_eq!(history().await, "d of 1, active ");
    journal.append(rows("t", 1, vec![Row::Delegation(running("d", "t", 1))])).await.unwrap();
    assert_eq!(history().await, " of 0, active d");
    let again = ended("d", "t", "completed", 9);
    journal.append(rows("t", 2, vec![Row::Delegation(again)])).await.unwrap();
    assert_eq!(history().await, "d of 1, active ");
}

async fn trees_are_open_until_they_are_said_to_have_ended(journal: &impl Journal) {
    for tree in ["c", "a", "b"] {
        journal.append(events(tree, 0, &["x"])).await.unwrap();
    }
    journal.append(rows("b", 1, vec![Row::Tree { ended_at: Some(5) }])).await.unwrap();
    assert_eq!(journal.open_trees("", 10).await.unwrap(), ["a", "c"]);
    assert_eq!(journal.open_trees("a", 10).await.unwrap(), ["c"]);
    assert_eq!(journal.open_trees("", 1).await.unwrap(), ["a"]);
    journal.append(rows("b", 2, vec![Row::Tree { ended_at: None }])).await.unwrap();
    assert_eq!(journal.open_trees("", 10).await.unwrap(), ["a", "b", "c"]);
}

/// A tree that has ended, with one of everything.
async fn full_tree(journal: &impl Journal, tree: &str, ended_at: i64) {
    let delegation = format!("del-{tree}");
    let all = vec![
        Row::Delegation(ended(&delegation, tree, "completed", ended_at)),
        key(&format!("key-{tree}"), &delegation),
        Row::Tree { ended_at: Some(ended_at) },
    ];
    journal.append(rows(tree, 0, all)).await.unwrap();
}

async fn a_forgotten_tree_leaves_nothing_behind(journal: &impl Journal) {
    full_tree(journal, "one", 5).await;
    full_tree(journal, "two", 5).await;
    assert_eq!(journal.forget("one").await, Ok(true));
    assert_eq!(journal.read("one", 0, 10).await, Ok(Vec::new()));
    assert_eq!(journal.delegation("del-one").await, Ok(None));
    assert_eq!(journal.delegation_of_key("api", "key-one").await, Ok(None));
    let past = Past { status: None, since: None, page: Page::first(9) };
    let history = journal.history(past).await.unwrap();
    assert_eq!((ids(&history.delegations).as_str(), history.total), ("del-two", 1));
    let all = journal.read_all(0, 10).await.unwrap();
    assert_eq!(all.iter().map(|(tree, _)| tree.as_str()).collect::<Vec<_>>(), ["two"]);
    assert_eq!(journal.forget("one").await, Ok(false));
    // The name is free again.
    full_tree(journal, "one", 6).await;
    assert_eq!(texts(journal, "one").await, ["{}"]);
}

async fn an_open_tree_is_not_forgotten(journal: &impl Journal) {
    journal.append(events("t", 0, &["a"])).await.unwrap();
    let refused = journal.forget("t").await.unwrap_err();
    let words = "the journal does not take a wish to forget `t`, which has not ended";
    assert_eq!(refused.to_string(), words);
    assert_eq!(journal.forget_before(i64::MAX).await, Ok(0));
    assert_eq!(texts(journal, "t").await, ["a"]);
}

async fn only_trees_that_ended_before_the_time_are_forgotten(journal: &impl Journal) {
    // More than one step takes.
    for at in 0..150 {
        full_tree(journal, &format!("t{at}"), at).await;
    }
    let many = vec!["x"; 2500];
    journal.append(events("t7", 1, &many)).await.unwrap();
    assert_eq!(journal.forget_before(140).await, Ok(140));
    assert_eq!(journal.forget_before(140).await, Ok(0));
    let left = journal.read_all(0, 1000).await.unwrap();
    assert_eq!(left.len(), 10);
    assert_eq!(texts(journal, "t140").await, ["{}"]);
    assert_eq!(journal.read("t139", 0, 1).await, Ok(Vec::new()));
}

async fn positions_are_not_given_twice(journal: &impl Journal) {
    full_tree(journal, "one", 1).await;
    journal.forget("one").await.unwrap();
    let appended = journal.append(events("two", 0, &["x"])).await.unwrap();
    assert_eq!(appended.position, 2);
}
