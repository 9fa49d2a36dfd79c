//! What is heard of every vendor's program: text, tools, tokens, and how it ended.

use legation_core::returns::Tokens;
use legation_runners::envoy::{Event, FaultKind, Outcome};

use super::columns::COLUMNS;
use super::stage::Said;

fn used(events: &[Event]) -> Tokens {
    events.iter().fold(Tokens::default(), |sum, event| match event {
        Event::Used { usage, .. } => sum.plus(&usage.tokens),
        _ => sum,
    })
}

fn tools(events: &[Event]) -> Vec<&str> {
    let names = events.iter().filter_map(|event| match event {
        Event::Tool { tool, .. } => Some(tool.as_str()),
        _ => None,
    });
    names.collect()
}

#[test]
fn text_tools_and_tokens_are_told_by_our_own_names() {
    for column in COLUMNS {
        let heard = (column.hear)(&[Said::at_once(column.tools.as_bytes(), 0)]);
        let (events, outcome) = heard.first().unwrap();
        assert_eq!(*outcome, Outcome::Over, "{}", column.name);
        assert!(events.contains(&Event::Text("All done.".to_owned())), "{}", column.name);
        assert_eq!(tools(events), ["shell", "mcp:legation/delegate_batch"], "{}", column.name);
        let over = events.iter().filter(|event| **event == Event::ToolOver).count();
        assert_eq!(over, 2, "{}", column.name);
        let tokens = used(events);
        assert_eq!((tokens.input, tokens.cache_read), (2400, 600), "{}", column.name);
        assert_eq!(tokens.reasoning, 21, "{}", column.name);
    }
}

#[test]
fn denied_tools_are_told_with_a_reason() {
    for column in COLUMNS {
        let heard = (column.hear)(&[Said::at_once(column.denied.as_bytes(), 0)]);
        let (events, outcome) = heard.first().unwrap();
        assert_eq!(*outcome, Outcome::Over, "{}", column.name);
        let denied: Vec<(&str, bool)> = events
            .iter()
            .filter_map(|event| match event {
                Event::Denied { tool, why } => Some((tool.as_str(), why.is_empty())),
                _ => None,
            })
            .collect();
        assert_eq!(denied, [("shell", false), ("web", false)], "{}", column.name);
    }
}

#[test]
fn an_exit_code_of_0_is_no_success() {
    for column in COLUMNS {
        for output in [column.cut, "", "All done.\n"] {
            let heard = (column.hear)(&[Said::at_once(output.as_bytes(), 0)]);
            let (_, outcome) = heard.first().unwrap();
            let Outcome::Broken(fault) = outcome else { panic!("{} is over", column.name) };
            assert_eq!(fault.kind, FaultKind::Cut, "{}", column.name);
            assert!(fault.message.contains("its last words"), "{}", fault.message);
        }
    }
}

#[test]
fn a_conversation_that_goes_on_counts_each_turn_once() {
    for column in COLUMNS {
        let turn = || Said::at_once(column.tools.as_bytes(), 0);
        let heard = (column.hear)(&[turn(), turn(), turn()]);
        let each: Vec<Tokens> = heard.iter().map(|(events, _)| used(events)).collect();
        let first = *each.first().unwrap();
        assert_eq!(each, [first; 3], "{}", column.name);
        let names = |(events, _): &(Vec<Event>, Outcome)| {
            events.iter().filter(|event| matches!(event, Event::Conversation(_))).count()
        };
        let names: Vec<usize> = heard.iter().map(names).collect();
        assert_eq!(names, [1, 0, 0], "{}: the same conversation is told once", column.name);
    }
}

#[test]
fn a_turn_that_broke_off_says_nothing_about_the_next() {
    for column in COLUMNS {
        let turns = [
            Said::at_once(column.cut.as_bytes(), 1),
            Said::at_once(column.tools.as_bytes(), 0),
            Said::at_once(column.cut.as_bytes(), 0),
        ];
        let heard = (column.hear)(&turns);
        let over: Vec<bool> = heard.iter().map(|(_, outcome)| *outcome == Outcome::Over).collect();
        assert_eq!(over, [false, true, false], "{}", column.name);
    }
}

#[test]
fn what_nobody_counted_is_not_told_as_nothing() {
    for column in COLUMNS {
        let output = format!("{}\n", column.uncounted);
        let heard = (column.hear)(&[Said::at_once(output.as_bytes(), 0)]);
        let (events, _) = heard.first().unwrap();
        assert!(
            !events.iter().any(|event| matches!(event, Event::Used { .. })),
            "{}: {events:?}",
            column.name
        );
    }
}
