//! Texts made to be slow or to overflow. Anything but linear time would not end.

use legation_core::returns::{MAX_RETURN_BYTES, extract, neutralise};

use super::{check_text, good};

const MB: usize = 1 << 20;
/// Large enough for anything quadratic to be noticed, small enough for many cases.
const LARGE: usize = MB / 8;

/// What the check says about a text of about `bytes` bytes made by repeating `unit`.
fn check_of(unit: &str, bytes: usize) -> String {
    let output = unit.repeat(bytes / unit.len());
    let violation = check_text(&output).unwrap_err();
    format!("{}: {}", violation.check, violation.message)
}

#[test]
fn a_megabyte_of_openings_is_an_ordinary_error() {
    for unit in ["{", "{\"a\":", "[", "{\""] {
        assert_eq!(check_of(unit, MB), "json: Return is not valid JSON", "{unit:?}");
    }
}

#[test]
fn openings_of_every_kind_are_an_ordinary_error() {
    let units = [
        "{",
        "[",
        "{[",
        "{\"a\":",
        "{\"a\":[",
        "[{\"a\":",
        "{\"",
        "\"",
        "{\"a\":\"",
        "{\"a\\",
        "\\",
        "{ ",
        "{\"a\":1,",
        "{\"status\":\"{",
        "{\"a\":{}",
        "[[],",
        "```json\n",
        "{\n",
        "{ \"",
        "\"{",
        "[\"",
        "{\"[",
        "\"[ {",
        "{\" ",
        "[1 ",
        "{\"a{ \"",
        "{\"\n",
    ];
    for unit in units {
        assert_eq!(check_of(unit, LARGE), "json: Return is not valid JSON", "{unit:?}");
    }
}

#[test]
fn many_small_objects_is_an_ordinary_error() {
    for unit in ["{}", "{\"a\":1}", "{\"a\":{\"b\":[]}} "] {
        assert_eq!(check_of(unit, LARGE), "required: `status` is missing", "{unit:?}");
    }
}

#[test]
fn a_line_of_ten_megabytes_before_the_return_is_passed_over() {
    for (filler, bytes) in
        [("x", 10 * MB), ("é{", LARGE), ("{\"a\":x", LARGE), ("[]", LARGE), ("{}", LARGE)]
    {
        let output = format!("{}\n{}", filler.repeat(bytes / filler.len()), good());
        assert_eq!(extract(&output).map(|found| found.value), Ok(good()), "{filler:?}");
    }
}

#[test]
fn a_return_inside_a_megabyte_of_unclosed_objects_is_a_part_of_them() {
    let output = format!("{}{}", "{\"a\":".repeat(MB / 5), good());
    assert!(extract(&output).is_err());
}

#[test]
fn a_return_nested_too_deeply_is_an_ordinary_error() {
    for depth in [200, 100_000] {
        let data = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let output = format!("{{\"status\":\"completed\",\"data\":{data}}}");
        let violation = check_text(&output).unwrap_err();
        assert_eq!(violation.message, "Return is not valid JSON");
        assert!(violation.hint.unwrap().contains("recursion limit exceeded"));
    }
}

#[test]
fn a_return_of_more_than_a_mebibyte_is_refused_and_one_byte_less_is_not() {
    let frame = |fill: usize| {
        let mut value = good();
        value["data"] = "x".repeat(fill).into();
        value
    };
    let fill = MAX_RETURN_BYTES - frame(0).to_string().len();
    assert!(check_text(&frame(fill).to_string()).is_ok());
    assert!(super::check(&frame(fill)).is_ok());
    let too_large = "the return has 1048577 bytes; at most 1048576 are allowed";
    assert_eq!(check_text(&frame(fill + 1).to_string()).unwrap_err().message, too_large);
    assert_eq!(super::check(&frame(fill + 1)).unwrap_err().message, too_large);
}

#[test]
fn neutralising_takes_one_pass() {
    let units =
        ["<", "[", "<|", "\n", "\nSystem", "[ ", "< ", "*", "System ", "\u{200b}", "\u{1b}"];
    for unit in units {
        let text = unit.repeat(LARGE / unit.len());
        let made = neutralise(&text);
        assert!(made.len() <= 4 * text.len(), "{unit:?}");
    }
}
