//! A megabyte of each shape that invites going over the same text again and
//! again. Each is done in milliseconds; in quadratic time each would take
//! minutes to hours, and the test run would never end.

use legation_core::text::delegate::parse;
use legation_core::text::story::StoryId;

const MEGABYTE: usize = 1_000_000;

fn counts(text: &str) -> (usize, usize) {
    let parsed = parse(text, &StoryId::default(), 0);
    (parsed.delegations.len(), parsed.rejected.len())
}

#[test]
fn a_megabyte_of_the_same_piece_is_read_in_one_pass() {
    let cases = [
        ("[delegate:", "a:1]", (1, 0)),
        ("[delegate:[[[[[", "", (0, 0)),
        ("[delegate:a:1]", "", (71_428, 0)),
        ("a` [delegate:a:1] ", "", (27_778, 0)),
        ("`", " [delegate:a:1]", (0, 0)),
        ("\\", "` [delegate:a:1]", (1, 0)),
        ("- ", "[delegate:a:1]", (1, 0)),
    ];
    for (piece, end, expected) in cases {
        let text = format!("{}{end}", piece.repeat(MEGABYTE / piece.len()));
        assert_eq!(counts(&text), expected, "{piece:?} … {end:?}");
    }
}

#[test]
fn a_tenth_of_a_megabyte_of_other_pieces_is_read_in_one_pass() {
    let cases = [
        ("[delegate:", "", (0, 0)),
        ("[delegate:a[", "]", (0, 0)),
        ("[delegate:a:1", "", (0, 0)),
        ("[delegate:a:x]", "", (0, 7_142)),
        ("[delegate:]", "", (0, 9_090)),
        ("[delegate:`", "", (0, 0)),
        ("a`` ` ", " [delegate:a:1]", (1, 0)),
        ("\\`", " [delegate:a:1]", (1, 0)),
        ("]", " [delegate:a:1]", (1, 0)),
        ("[", "[delegate:a:1]", (1, 0)),
        ("1. ", "> [delegate:a:1]", (0, 0)),
        ("\n", "[delegate:a:1]", (1, 0)),
        ("\t", "[delegate:a:1]", (1, 0)),
        ("```\n", "[delegate:a:1]", (1, 0)),
        ("~~~\n[delegate:a:1]\n", "", (2_631, 0)),
        ("[delegate:a:1]\n```\n", "", (2_632, 0)),
        ("> [delegate:a:1]\n", "", (0, 0)),
    ];
    for (piece, end, expected) in cases {
        let text = format!("{}{end}", piece.repeat(MEGABYTE / 10 / piece.len()));
        assert_eq!(counts(&text), expected, "{piece:?} … {end:?}");
    }
}

#[test]
fn runs_of_backquotes_that_never_match_are_each_looked_up_once() {
    let mut text = String::from("a");
    for length in 1.. {
        text.push_str(&"`".repeat(length));
        text.push_str("[delegate:a:1]");
        if text.len() > MEGABYTE {
            break;
        }
    }
    assert_eq!(counts(&text), (1_400, 0));
}

#[test]
fn one_entry_of_a_megabyte_is_rejected_at_once() {
    let text = format!("[delegate:{}:1]", "x:".repeat(MEGABYTE / 2));
    assert_eq!(counts(&text), (0, 1));
    let text = format!("[delegate:a:{}]", "9".repeat(MEGABYTE));
    assert_eq!(counts(&text), (0, 1));
}
