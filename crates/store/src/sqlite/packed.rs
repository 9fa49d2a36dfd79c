//! The events of one append as one row: their texts side by side, and how long each
//! is but the last, which is the rest.

/// The lengths and the texts of a row.
pub(super) fn pack(events: &[String]) -> (String, String) {
    let mut lengths = String::new();
    for event in events.iter().take(events.len().saturating_sub(1)) {
        if !lengths.is_empty() {
            lengths.push(',');
        }
        lengths.push_str(&event.len().to_string());
    }
    (lengths, events.concat())
}

/// The texts of a row again; nothing if the lengths are not those of these texts.
pub(super) fn unpack<'a>(lengths: &str, texts: &'a str) -> Option<Vec<&'a str>> {
    let mut rest = texts;
    let mut events = Vec::new();
    for length in lengths.split(',').filter(|length| !length.is_empty()) {
        let (event, after) = rest.split_at_checked(length.parse().ok()?)?;
        events.push(event);
        rest = after;
    }
    events.push(rest);
    Some(events)
}
