//! Spans of time as people write them: `90m`, `1.5h`, `2d`, `2 hours`, `1h30m`.
//!
//! There are two readings, and they differ on purpose. Effort is a person's
//! working time: a day is 8 hours, a week 5 days, a bare number means hours. A
//! timeout is time on the wall: a day is 24 hours, a bare number means seconds.
//! Nothing here knows what time it is.

use crate::text::shown;

/// The most effort that anything may be said to take.
pub const EFFORT_MAX_HOURS: u32 = 1_000_000;

/// The longest timeout: a hundred years.
pub const TIMEOUT_MAX_MS: u64 = 36_500 * 24 * MS_PER_HOUR;

/// No sensible span needs more characters.
const SPAN_MAX_CHARS: usize = 100;

const MS_PER_SECOND: u64 = 1_000;
const MS_PER_MINUTE: u64 = 60 * MS_PER_SECOND;
const MS_PER_HOUR: u64 = 60 * MS_PER_MINUTE;
const MS_PER_DAY: u64 = 24 * MS_PER_HOUR;
const HOURS_PER_WORKING_DAY: u64 = 8;

/// Why a text is no span of time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text} is no span of time: {reason}; write it like 90m, 1.5h, 2d, 1h30m or 2 hours")]
pub struct Error {
    /// The text, as a message shows it.
    text: String,
    /// What is wrong with it.
    reason: Reason,
}

/// What is wrong with a span of time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Reason {
    #[error("it is empty")]
    Empty,
    #[error("it has more than {SPAN_MAX_CHARS} characters")]
    TooManyChars,
    #[error("it is negative")]
    Negative,
    #[error("a number is missing before {0}")]
    NoNumber(String),
    #[error("{0} is not a number")]
    BadNumber(String),
    #[error("{0} is not a unit (ms, s, m, h, d, w)")]
    UnknownUnit(String),
    #[error("the number {0} has no unit")]
    NoUnit(String),
    #[error("its units do not go from large to small, each at most once")]
    Order,
    #[error("it is longer than {0}")]
    TooLong(&'static str),
    #[error("it is shorter than a millisecond")]
    TooShort,
}

/// The hours of work that a text speaks of; a day is 8 hours, a bare number hours.
pub fn effort_hours(text: &str) -> Result<f64, Error> {
    let ms = total_ms(text, Reading::Effort)?;
    let hours = ms / MS_PER_HOUR as f64;
    if hours > f64::from(EFFORT_MAX_HOURS) {
        return Err(fault(text, Reason::TooLong("1000000 hours")));
    }
    Ok(hours)
}

/// The milliseconds that a text speaks of; a day is 24 hours, a bare number seconds.
pub fn timeout_ms(text: &str) -> Result<u64, Error> {
    let ms = total_ms(text, Reading::Timeout)?;
    if ms > TIMEOUT_MAX_MS as f64 {
        return Err(fault(text, Reason::TooLong("36500 days")));
    }
    // A span that is there must not become none by rounding.
    if ms > 0.0 && ms < 0.5 {
        return Err(fault(text, Reason::TooShort));
    }
    Ok(ms.round() as u64)
}

/// Time on the wall for people: `500ms`, `2.5s`, `1h 30m`, `2d 3h`; rounded down.
pub fn show_ms(ms: u64) -> String {
    match ms {
        ..MS_PER_SECOND => format!("{ms}ms"),
        MS_PER_SECOND..MS_PER_MINUTE => {
            let tenths = ms % MS_PER_SECOND / 100;
            let fraction = if tenths == 0 { String::new() } else { format!(".{tenths}") };
            format!("{}{fraction}s", ms / MS_PER_SECOND)
        }
        MS_PER_MINUTE..MS_PER_HOUR => {
            pair((ms / MS_PER_MINUTE, "m"), (ms % MS_PER_MINUTE / MS_PER_SECOND, "s"))
        }
        MS_PER_HOUR..MS_PER_DAY => {
            pair((ms / MS_PER_HOUR, "h"), (ms % MS_PER_HOUR / MS_PER_MINUTE, "m"))
        }
        MS_PER_DAY.. => pair((ms / MS_PER_DAY, "d"), (ms % MS_PER_DAY / MS_PER_HOUR, "h")),
    }
}

/// Effort for people, to the minute: `45m`, `2h`, `12h 30m`. Never in days,
/// because a reader cannot see how long such a day is.
pub fn show_effort(hours: f64) -> String {
    let minutes = (hours * 60.0).round().max(0.0) as u64;
    match minutes {
        0..60 => format!("{minutes}m"),
        60.. => pair((minutes / 60, "h"), (minutes % 60, "m")),
    }
}

fn pair(large: (u64, &str), small: (u64, &str)) -> String {
    let rest = match small {
        (0, _) => String::new(),
        (count, unit) => format!(" {count}{unit}"),
    };
    format!("{}{}{rest}", large.0, large.1)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Effort,
    Timeout,
}

/// From small to large, so that the order of a span's parts can be compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
}

impl Unit {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => Self::Millisecond,
            "s" | "sec" | "secs" | "second" | "seconds" => Self::Second,
            "m" | "min" | "mins" | "minute" | "minutes" => Self::Minute,
            "h" | "hr" | "hrs" | "hour" | "hours" => Self::Hour,
            "d" | "day" | "days" => Self::Day,
            "w" | "wk" | "wks" | "week" | "weeks" => Self::Week,
            _ => return None,
        })
    }

    fn ms(self, reading: Reading) -> u64 {
        let (hours_per_day, days_per_week) = match reading {
            Reading::Effort => (HOURS_PER_WORKING_DAY, 5),
            Reading::Timeout => (24, 7),
        };
        match self {
            Self::Millisecond => 1,
            Self::Second => MS_PER_SECOND,
            Self::Minute => MS_PER_MINUTE,
            Self::Hour => MS_PER_HOUR,
            Self::Day => hours_per_day * MS_PER_HOUR,
            Self::Week => days_per_week * hours_per_day * MS_PER_HOUR,
        }
    }
}

fn total_ms(text: &str, reading: Reading) -> Result<f64, Error> {
    sum_of_parts(text, reading).map_err(|reason| fault(text, reason))
}

fn fault(text: &str, reason: Reason) -> Error {
    Error { text: shown::quote(text), reason }
}

fn sum_of_parts(text: &str, reading: Reading) -> Result<f64, Reason> {
    if text.chars().nth(SPAN_MAX_CHARS).is_some() {
        return Err(Reason::TooManyChars);
    }
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(Reason::Empty);
    }
    if rest.starts_with(['-', '−']) {
        return Err(Reason::Negative);
    }
    let mut total = 0.0;
    let mut smallest: Option<Unit> = None;
    while !rest.is_empty() {
        let (digits, behind) = split_where(rest, |symbol| !is_number(symbol));
        let (name, behind) = split_where(behind.trim_start(), |symbol| !symbol.is_alphabetic());
        let number = number(digits, if name.is_empty() { behind } else { name })?;
        let unit = match (name, smallest) {
            ("", None) if behind.is_empty() => bare_unit(reading),
            ("", _) if behind.is_empty() => return Err(Reason::NoUnit(shown::quote(digits))),
            ("", _) => return Err(Reason::UnknownUnit(shown::quote(behind))),
            (name, _) => {
                Unit::from_name(name).ok_or_else(|| Reason::UnknownUnit(shown::quote(name)))?
            }
        };
        if smallest.is_some_and(|smallest| unit >= smallest) {
            return Err(Reason::Order);
        }
        total += number * unit.ms(reading) as f64;
        smallest = Some(unit);
        rest = behind.trim_start();
    }
    Ok(total)
}

fn bare_unit(reading: Reading) -> Unit {
    match reading {
        Reading::Effort => Unit::Hour,
        Reading::Timeout => Unit::Second,
    }
}

/// Digits with at most one point between or before them: no sign, no exponent,
/// no `inf`, all of which the standard parser would take.
fn number(digits: &str, before: &str) -> Result<f64, Reason> {
    if digits.is_empty() {
        return Err(Reason::NoNumber(shown::quote(before)));
    }
    let bad = || Reason::BadNumber(shown::quote(digits));
    if digits.ends_with('.') {
        return Err(bad());
    }
    digits.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or_else(bad)
}

fn is_number(symbol: char) -> bool {
    symbol.is_ascii_digit() || symbol == '.'
}

fn split_where(text: &str, ends: impl Fn(char) -> bool) -> (&str, &str) {
    let at = text.find(ends).unwrap_or(text.len());
    text.split_at_checked(at).unwrap_or((text, ""))
}
