use std::borrow::Cow;

use legation_core::text::words::{found, normalise, words};
use proptest::prelude::*;

#[test]
fn words_are_runs_of_plain_letters_digits_and_underscores() {
    let cases: [(&str, &[&str]); 14] = [
        ("", &[]),
        ("…", &[]),
        ("one", &["one"]),
        ("One TWO", &["one", "two"]),
        ("plan-b", &["plan", "b"]),
        ("snake_case x2", &["snake_case", "x2"]),
        ("authentication", &["authentication"]),
        ("a.b,c;d", &["a", "b", "c", "d"]),
        ("naïve", &["na", "ve"]),
        ("日本go語", &["go"]),
        ("5 \u{212a}", &["5", "k"]),
        ("\u{212a}ey", &["key"]),
        ("a\u{130}b", &["ai", "b"]),
        ("\u{130}", &["i"]),
    ];
    for (text, expected) in cases {
        assert_eq!(words(text).collect::<Vec<_>>(), expected, "{text}");
    }
}

#[test]
fn words_in_lower_case_are_slices_of_the_text() {
    let borrowed = words("all small_1 Not").map(|word| matches!(word, Cow::Borrowed(_)));
    assert_eq!(borrowed.collect::<Vec<_>>(), [true, true, false]);
}

#[test]
fn known_words_are_found_once_each_and_only_as_whole_words() {
    let known = ["then", "after", "api", "go"];
    let cases: [(&str, &[&str]); 6] = [
        ("", &[]),
        ("Authentication thereafter", &[]),
        ("API, then api", &["then", "api"]),
        ("THEN", &["then"]),
        ("after-then", &["then", "after"]),
        ("ago go", &["go"]),
    ];
    for (text, expected) in cases {
        assert_eq!(found(text, &known), expected, "{text}");
    }
}

#[test]
fn normal_text_has_no_case_and_single_blanks() {
    let cases = [
        ("", ""),
        ("  \n\t ", ""),
        ("Fix  the\n\tBUG ", "fix the bug"),
        ("ÄÖ\u{a0}Ü", "äö ü"),
        ("ΟΔΟΣ", "οδος"),
        ("a\u{2003}b", "a b"),
        ("already normal", "already normal"),
    ];
    for (text, expected) in cases {
        assert_eq!(normalise(text), expected, "{text:?}");
    }
}

proptest! {
    #[test]
    fn words_are_those_of_the_text_in_lower_case(text in "\\PC{0,40}|[a-zA-Z\u{212a}\u{130}Ω _9.]{0,20}") {
        let lowered = text.to_lowercase();
        let expected = lowered.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let expected: Vec<&str> = expected.filter(|word| !word.is_empty()).collect();
        prop_assert_eq!(words(&text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn normalising_twice_changes_nothing_more(text in "\\PC{0,40}|[ \t\nA-ZσΣς]{0,20}") {
        let once = normalise(&text);
        prop_assert_eq!(&normalise(&once), &once);
        let expected = text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
        prop_assert_eq!(once, expected);
    }
}
