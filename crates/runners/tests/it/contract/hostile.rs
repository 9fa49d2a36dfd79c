//! Output that was made to mislead or to hurt.

use std::time::{Duration, Instant};

use legation_runners::envoy::{Event, Outcome};

use super::columns::COLUMNS;
use super::stage::Said;

/// Far more than any machine needs for what is done here, far less than anything that
/// grows with the square of the output would.
const SOON: Duration = Duration::from_secs(20);

#[test]
fn results_of_tools_that_nobody_called_are_nothing() {
    for column in COLUMNS {
        let output = format!("{}\n{}", column.fake_result, column.tools);
        let heard = (column.hear)(&[Said::at_once(output.as_bytes(), 0)]);
        let honest = (column.hear)(&[Said::at_once(column.tools.as_bytes(), 0)]);
        let told = |heard: &[(Vec<Event>, Outcome)]| {
            let (events, outcome) = heard.first().unwrap().clone();
            let told: Vec<Event> =
                events.into_iter().filter(|event| *event != Event::Alive).collect();
            (told, outcome)
        };
        assert_eq!(told(&heard), told(&honest), "{}", column.name);
    }
}

#[test]
fn lines_that_make_no_sense_are_passed_over() {
    let deep = format!("{{\"type\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let long = format!("{{\"type\":\"{}\"}}", "x".repeat(10 << 20));
    let odd: [&[u8]; 9] = [
        b"\xff\xfe\x00{\"type\":\"\xc3\x28\"}",
        b"{\"type\":7}",
        b"{\"type\":\"result\",\"stats\":{\"total_tokens\":-1}}",
        b"{\"type\":\"step_finish\",\"part\":{\"tokens\":{\"input\":1e400}}}",
        b"{\"type\":\"result\",\"status\":\"success\"",
        b"[]",
        b"null",
        deep.as_bytes(),
        long.as_bytes(),
    ];
    for column in COLUMNS {
        for line in odd {
            let began = Instant::now();
            let mut output = line.to_vec();
            output.push(b'\n');
            output.extend_from_slice(column.tools.as_bytes());
            let pieces = output.chunks(64 << 10).collect();
            let heard = (column.hear)(&[Said { pieces, code: 0 }]);
            let (events, outcome) = heard.first().unwrap();
            assert_eq!(*outcome, Outcome::Over, "{}", column.name);
            let tools = events.iter().filter(|event| matches!(event, Event::Tool { .. })).count();
            assert_eq!(tools, 2, "{}", column.name);
            assert!(began.elapsed() < SOON, "{}", column.name);
        }
    }
}

#[test]
fn a_tool_loop_is_told_call_by_call() {
    for column in COLUMNS {
        let output = column.tools.repeat(500);
        let heard = (column.hear)(&[Said::at_once(output.as_bytes(), 0)]);
        let (events, _) = heard.first().unwrap();
        let tools = events.iter().filter(|event| matches!(event, Event::Tool { .. })).count();
        assert_eq!(tools, 1000, "{}", column.name);
    }
}
