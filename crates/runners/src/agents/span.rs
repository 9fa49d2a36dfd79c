//! Lengths of time as files write them: `30m`, `2s`, `1h30m`, `1.5h`.

/// The milliseconds of a length of time; `None` if it is none, or absurdly long.
pub(super) fn parse_ms(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    let mut total = 0.0_f64;
    while !rest.is_empty() {
        let digits = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_digit() || *byte == b'.');
        let (number, after) = rest.split_at_checked(digits.count())?;
        let after = after.trim_start();
        let letters = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (unit, after) = after.split_at_checked(letters)?;
        let unit_ms = match unit {
            "ms" => 1.0,
            "s" => 1_000.0,
            "m" => 60_000.0,
            "h" => 3_600_000.0,
            "d" => 86_400_000.0,
            _ => return None,
        };
        total += number.parse::<f64>().ok()? * unit_ms;
        rest = after.trim_start();
    }
    // A year is more than anybody waits for.
    (1.0..=366.0 * 86_400_000.0)
        .contains(&total)
        .then_some(total.round() as u64)
}
