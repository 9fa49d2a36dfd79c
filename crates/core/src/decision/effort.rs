//! Hours from words like `90m`, `1.5h`, `2d` or `1h30m`.

/// Hours of work in a day.
const DAY_HOURS: f64 = 8.0;

/// The effort in hours; nothing where the text is no effort.
pub(super) fn effort_hours(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    let mut hours = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let (figure, after) = split_where(rest, |c| !(c.is_ascii_digit() || c == '.'));
        let (unit, after) = split_where(after.trim_start(), |c| !c.is_ascii_alphabetic());
        hours += figure.parse::<f64>().ok()? * unit_hours(unit)?;
        rest = after.trim_start();
    }
    hours.is_finite().then_some(hours)
}

fn split_where(text: &str, stop: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(stop).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn unit_hours(unit: &str) -> Option<f64> {
    let is = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(unit));
    if is(&["m", "min", "mins", "minute", "minutes"]) {
        Some(1.0 / 60.0)
    } else if is(&["h", "hr", "hrs", "hour", "hours"]) {
        Some(1.0)
    } else if is(&["d", "day", "days"]) {
        Some(DAY_HOURS)
    } else {
        None
    }
}
