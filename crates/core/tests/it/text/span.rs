use legation_core::text::span::{TIMEOUT_MAX_MS, effort_hours, show_effort, show_ms, timeout_ms};
use proptest::prelude::*;

#[test]
fn effort_is_working_time_in_hours() {
    let cases = [
        ("90m", 1.5),
        ("1.5h", 1.5),
        ("2d", 16.0),
        ("2 hours", 2.0),
        ("1h30m", 1.5),
        ("1h 30m", 1.5),
        (" 1 h  30 min ", 1.5),
        ("1 day", 8.0),
        ("1d4h", 12.0),
        ("0.5d", 4.0),
        ("1w", 40.0),
        ("2 weeks 1 day", 88.0),
        ("1 hour 30 minutes", 1.5),
        ("1 HOUR", 1.0),
        ("3Hrs", 3.0),
        ("45s", 0.0125),
        ("1800 seconds", 0.5),
        ("0m", 0.0),
        ("4", 4.0),
        ("0.25", 0.25),
        (".5h", 0.5),
        ("1000000", 1_000_000.0),
    ];
    for (text, hours) in cases {
        assert_eq!(effort_hours(text), Ok(hours), "{text}");
    }
}

#[test]
fn a_timeout_is_time_on_the_wall_in_milliseconds() {
    let cases = [
        ("500ms", 500),
        ("45s", 45_000),
        ("90m", 5_400_000),
        ("1.5h", 5_400_000),
        ("1h30m", 5_400_000),
        ("1 day", 86_400_000),
        ("2d", 172_800_000),
        ("1w", 604_800_000),
        ("30", 30_000),
        ("0.1", 100),
        ("0", 0),
        ("0ms", 0),
        ("1.4ms", 1),
        ("1.5ms", 2),
        ("2 sec", 2_000),
        ("1m 5s 20ms", 65_020),
        ("36500d", TIMEOUT_MAX_MS),
        ("5\u{a0}minutes", 300_000),
    ];
    for (text, ms) in cases {
        assert_eq!(timeout_ms(text), Ok(ms), "{text}");
    }
}

#[test]
fn what_is_no_span_of_time_says_why() {
    let long = "1".repeat(101);
    let cases = [
        ("", "it is empty"),
        (" \t", "it is empty"),
        ("-5m", "it is negative"),
        ("−5m", "it is negative"),
        ("+5m", "a number is missing before `+5m`"),
        ("soon", "a number is missing before `soon`"),
        ("h", "a number is missing before `h`"),
        ("NaN", "a number is missing before `NaN`"),
        ("inf", "a number is missing before `inf`"),
        ("5x", "`x` is not a unit (ms, s, m, h, d, w)"),
        ("1e3h", "`e` is not a unit (ms, s, m, h, d, w)"),
        ("5 fortnights", "`fortnights` is not a unit (ms, s, m, h, d, w)"),
        ("1,5h", "`,5h` is not a unit (ms, s, m, h, d, w)"),
        ("1h, 30m", "a number is missing before `, 30m`"),
        ("1h and 30m", "a number is missing before `and`"),
        ("1h30", "the number `30` has no unit"),
        ("1 2", "`2` is not a unit (ms, s, m, h, d, w)"),
        ("1.2.3h", "`1.2.3` is not a number"),
        ("1.h", "`1.` is not a number"),
        (".", "`.` is not a number"),
        ("30m1h", "its units do not go from large to small, each at most once"),
        ("1h1h", "its units do not go from large to small, each at most once"),
        ("٣h", "a number is missing before `٣h`"),
        (long.as_str(), "it has more than 100 characters"),
        ("\u{1b}[2J", "a number is missing before `\\u{1b}[2J`"),
    ];
    for (text, reason) in cases {
        for message in
            [effort_hours(text).unwrap_err().to_string(), timeout_ms(text).unwrap_err().to_string()]
        {
            assert!(message.contains(&format!(" is no span of time: {reason}; ")), "{message}");
            assert!(
                message.ends_with("write it like 90m, 1.5h, 2d, 1h30m or 2 hours"),
                "{message}"
            );
        }
    }
}

#[test]
fn absurd_spans_are_refused_by_each_reading_at_its_own_limit() {
    let too_long = |message: String| message.split(": ").nth(1).unwrap().to_owned();
    let forms = "; write it like 90m, 1.5h, 2d, 1h30m or 2 hours";
    for text in ["1000001h", "125001d", "99999999999999999999999w"] {
        let message = effort_hours(text).unwrap_err().to_string();
        assert_eq!(too_long(message), format!("it is longer than 1000000 hours{forms}"), "{text}");
    }
    for text in ["36501d", "876000h1ms", "99999999999999999999999w"] {
        let message = timeout_ms(text).unwrap_err().to_string();
        assert_eq!(too_long(message), format!("it is longer than 36500 days{forms}"), "{text}");
    }
    let message = timeout_ms("0.4ms").unwrap_err().to_string();
    assert_eq!(too_long(message), format!("it is shorter than a millisecond{forms}"));
}

#[test]
fn a_megabyte_is_no_span_of_time() {
    let text = "1h".repeat(500_000);
    let message = timeout_ms(&text).unwrap_err().to_string();
    assert!(message.len() < 300, "{message}");
}

#[test]
fn spans_are_shown_in_two_units_at_most() {
    let cases = [
        (0, "0ms"),
        (500, "500ms"),
        (999, "999ms"),
        (1_000, "1s"),
        (2_500, "2.5s"),
        (2_599, "2.5s"),
        (59_999, "59.9s"),
        (60_000, "1m"),
        (61_999, "1m 1s"),
        (3_599_999, "59m 59s"),
        (3_600_000, "1h"),
        (5_400_000, "1h 30m"),
        (86_399_999, "23h 59m"),
        (86_400_000, "1d"),
        (97_200_000, "1d 3h"),
        (u64::MAX, "213503982334d 14h"),
    ];
    for (ms, shown) in cases {
        assert_eq!(show_ms(ms), shown);
    }
}

#[test]
fn effort_is_shown_in_hours_and_minutes() {
    let cases = [
        (0.0, "0m"),
        (0.75, "45m"),
        (1.0, "1h"),
        (1.5, "1h 30m"),
        (16.0, "16h"),
        (0.999, "1h"),
        (-3.0, "0m"),
        (f64::NAN, "0m"),
    ];
    for (hours, shown) in cases {
        assert_eq!(show_effort(hours), shown, "{hours}");
    }
}

proptest! {
    #[test]
    fn a_shown_span_reads_as_the_same_span_rounded_down(ms in 0..TIMEOUT_MAX_MS) {
        let read = timeout_ms(&show_ms(ms)).unwrap();
        prop_assert!(read <= ms);
        let unit = match ms {
            ..1_000 => 1,
            1_000..60_000 => 100,
            60_000..3_600_000 => 1_000,
            3_600_000..86_400_000 => 60_000,
            86_400_000.. => 3_600_000,
        };
        prop_assert!(ms - read < unit, "{} read as {}", ms, read);
    }

    #[test]
    fn what_is_read_lies_within_the_limits(text in "[0-9.]{0,9}[ a-z]{0,4}[0-9.hms -]{0,6}") {
        let hours = effort_hours(&text).unwrap_or_default();
        prop_assert!((0.0..=1e6).contains(&hours), "{}", hours);
        prop_assert!(timeout_ms(&text).unwrap_or_default() <= TIMEOUT_MAX_MS);
    }
}
