//! Streams, cut into any pieces.

use legation_runners::llm::{Dialect, Reply, Stream};
use proptest::prelude::*;
use serde_json::json;

use super::server::anthropic_events;

fn whole() -> Vec<u8> {
    let events = anthropic_events(&[
        json!({"text": "Grüße, 世界"}),
        json!({"tool": "read", "input": {"path": "a"}}),
        json!({"tool": "read", "input": {"path": "b"}}),
    ]);
    events
        .iter()
        .map(|event| format!("event: x\r\ndata: {event}\r\n\r\n"))
        .collect::<String>()
        .into_bytes()
}

fn heard(pieces: &[&[u8]]) -> Reply {
    let mut stream = Stream::new(Dialect::Anthropic);
    pieces.iter().for_each(|piece| stream.push(piece).unwrap());
    stream.finish()
}

proptest! {
    #[test]
    fn any_cutting_gives_the_same_answer(cuts in prop::collection::vec(0_usize..2_000, 0..20)) {
        let whole = whole();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(whole.len())).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut from = 0;
        for cut in cuts {
            pieces.push(&whole[from..cut]);
            from = cut;
        }
        pieces.push(&whole[from..]);
        prop_assert_eq!(heard(&pieces), heard(&[&whole]));
    }

    #[test]
    fn no_bytes_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for dialect in [Dialect::Anthropic, Dialect::OpenAi] {
            let mut stream = Stream::new(dialect);
            let _ = stream.push(b"data: ");
            let _ = stream.push(&bytes);
            let _ = stream.push(b"\n\n");
            prop_assert_eq!(stream.finish().calls.len(), 0);
        }
    }
}

#[test]
fn calls_are_told_apart_by_place_or_by_name() {
    let piece = |index: u64, id: Option<&str>, name: &str, arguments: &str| {
        json!({"choices": [{"delta": {"tool_calls": [{
            "index": index, "id": id, "function": {"name": name, "arguments": arguments},
        }]}}]})
    };
    let events = [
        piece(0, Some("a"), "one", ""),
        piece(1, Some("b"), "two", "{\"x\""),
        piece(0, None, "", "{}"),
        piece(1, Some("b"), "", ":1}"),
        // Some count every call as the first.
        piece(0, Some("c"), "three", "{}"),
    ];
    let mut stream = Stream::new(Dialect::OpenAi);
    events.iter().for_each(|event| stream.push(format!("data: {event}\n\n").as_bytes()).unwrap());
    let calls = stream.finish().calls;
    let all: Vec<String> =
        calls.iter().map(|call| format!("{} {} {}", call.id, call.name, call.arguments)).collect();
    assert_eq!(all, ["a one {}", "b two {\"x\":1}", "c three {}"]);
}
