//! The beginning of a stretch of history.

use crate::text::shown;
use crate::text::slash::Since;
use crate::text::span;

/// Why a text names no time to begin from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no time to begin from; write it like 2h, 7d, 2026-01-31 or 2026-01-31T09:30:00Z")]
pub struct BadSince(String);

impl std::str::FromStr for Since {
    type Err = BadSince;

    fn from_str(text: &str) -> Result<Self, BadSince> {
        parse(text).ok_or_else(|| BadSince(shown::quote(text)))
    }
}

/// A span before now, or a date with or without a time.
///
/// A bare number is neither: it could be seconds, days or an epoch.
pub(super) fn parse(text: &str) -> Option<Since> {
    if is_moment(text) {
        return Some(Since::At(text.to_owned()));
    }
    let has_unit = text.chars().any(char::is_alphabetic);
    let ago_ms = span::timeout_ms(text).ok().filter(|_| has_unit)?;
    Some(Since::AgoMs(ago_ms))
}

/// `2026-01-31`, or with a time as in RFC 3339; the offset may be left out.
fn is_moment(text: &str) -> bool {
    let (date, time) = match text.split_once(['T', 't']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    is_date(date) && time.is_none_or(is_time_with_offset)
}

fn is_date(text: &str) -> bool {
    let mut parts = text.split('-').map(digits);
    let (Some(Some((4, year))), Some(Some((2, month))), Some(Some((2, day))), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

fn is_time_with_offset(text: &str) -> bool {
    if let Some(time) = text.strip_suffix(['Z', 'z']) {
        return is_time(time);
    }
    match text.split_once(['+', '-']) {
        Some((time, offset)) => is_time(time) && offset.len() == 5 && is_time(offset),
        None => is_time(text),
    }
}

/// `09:30`, `09:30:15` or `09:30:15.123`.
fn is_time(text: &str) -> bool {
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };
    let mut parts = clock.split(':');
    let hours = parts.next().is_some_and(|part| is_below(part, 24));
    let minutes = parts.next().is_some_and(|part| is_below(part, 60));
    let seconds = parts.next();
    let fraction_fits = fraction
        .is_none_or(|part| seconds.is_some() && digits(part).is_some_and(|(count, _)| count <= 9));
    hours
        && minutes
        && seconds.is_none_or(|part| is_below(part, 60))
        && parts.next().is_none()
        && fraction_fits
}

fn is_below(part: &str, end: u32) -> bool {
    digits(part).is_some_and(|(count, number)| count == 2 && number < end)
}

/// How many digits there are, and their value; `None` if there is anything else.
fn digits(part: &str) -> Option<(usize, u32)> {
    let plain = part.bytes().all(|byte| byte.is_ascii_digit());
    let number = part.parse().ok().filter(|_| plain)?;
    Some((part.len(), number))
}
