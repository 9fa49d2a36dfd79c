use legation_core::text::shown::{clip, quote, visible, wrap};

#[test]
fn clipping_counts_characters_and_says_that_it_clipped() {
    let cases =
        [("", 3, ""), ("abc", 3, "abc"), ("abcd", 3, "abc…"), ("äöüß", 3, "äöü…"), ("a", 0, "…")];
    for (text, most, expected) in cases {
        assert_eq!(clip(text, most), expected, "{text}");
    }
}

#[test]
fn what_would_move_the_cursor_or_not_be_seen_becomes_visible() {
    let cases = [
        ("plain ü 日本", "plain ü 日本"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\u{1b}[2J", "\\u{1b}[2J"),
        ("a\u{202e}b\u{2066}c\u{200f}", "a\\u{202e}b\\u{2066}c\\u{200f}"),
        ("\u{9b}x\u{7f}", "\\u{9b}x\\u{7f}"),
        ("pay\u{200b}load", "pay\\u{200b}load"),
        ("a\u{200d}b\u{2060}c\u{feff}d", "a\\u{200d}b\\u{2060}c\\u{feff}d"),
        ("so\u{ad}ft\u{61c}\u{2028}", "so\\u{ad}ft\\u{61c}\\u{2028}"),
        ("tag\u{e0041}", "tag\\u{e0041}"),
    ];
    for (text, expected) in cases {
        assert_eq!(visible(text), expected);
    }
}

#[test]
fn a_quoted_word_is_short_and_visible() {
    assert_eq!(quote("a\u{7}"), "`a\\u{7}`");
    assert_eq!(quote(&"x".repeat(1_000_000)), format!("`{}…`", "x".repeat(60)));
}

#[test]
fn wrapping_breaks_at_blanks_and_inside_words_that_are_too_long() {
    let cases = [
        ("", 10, 2, ""),
        ("one", 10, 2, "  one"),
        ("one two three", 10, 2, "  one two\n  three"),
        ("one  two\nthree", 80, 0, "one two three"),
        ("one\u{1b}[2J two", 80, 0, "one\\u{1b}[2J two"),
        ("abcdefghij", 4, 0, "abcd\nefgh\nij"),
        ("ab abcdefgh x", 6, 2, "  ab\n  abcd\n  efgh\n  x"),
        ("日本語日本", 3, 0, "日本語\n日本"),
        ("ab", 1, 4, "    a\n    b"),
    ];
    for (text, width, indent, expected) in cases {
        assert_eq!(wrap(text, width, indent), expected, "{text}");
    }
}

#[test]
fn a_megabyte_in_one_word_is_wrapped_in_one_pass() {
    let lines = wrap(&"x".repeat(1_000_000), 80, 0);
    assert_eq!(lines.lines().count(), 12_500);
}
