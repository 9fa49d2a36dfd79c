use legation_core::text::nearest::nearest;
use proptest::prelude::*;

const NAMES: [&str; 7] = ["status", "pause", "resume", "cancel", "history", "hint", "maxDepth"];

#[test]
fn a_slip_of_the_keys_is_recognised() {
    let cases = [
        ("status", Some("status")),
        ("statsu", Some("status")),
        ("sttaus", Some("status")),
        ("paus", Some("pause")),
        ("pauze", Some("pause")),
        ("resumee", Some("resume")),
        ("CANCEL", Some("cancel")),
        ("cansell", Some("cancel")),
        ("maxdepth", Some("maxDepth")),
        ("maxDetph", Some("maxDepth")),
        ("max_depth", Some("maxDepth")),
        ("hin", Some("hint")),
        ("hitn", Some("hint")),
        ("hist", Some("hint")),
        ("histo", Some("history")),
        ("max", Some("maxDepth")),
        ("ma", None),
        ("", None),
        ("x", None),
        ("explode", None),
        ("statusquo", Some("status")),
        ("statusquoted", None),
    ];
    for (word, expected) in cases {
        assert_eq!(nearest(word, NAMES), expected, "{word}");
    }
}

#[test]
fn a_beginning_stands_for_a_name_only_if_it_fits_no_other() {
    assert_eq!(nearest("maxd", ["maxDepth", "minDepth"]), Some("maxDepth"));
    assert_eq!(nearest("maxDep", ["maxDepthOfTree", "maxDependencies"]), None);
    assert_eq!(nearest("maxDep", ["maxDepthA1", "maxDepthB2", "maxDepthC3"]), None);
}

#[test]
fn of_equals_the_first_wins_and_the_closest_beats_it() {
    assert_eq!(nearest("cat", ["bat", "hat"]), Some("bat"));
    assert_eq!(nearest("cat", ["bat", "hat", "cats", "cat"]), Some("cat"));
}

#[test]
fn one_letter_names_are_never_guessed_from_another_letter() {
    assert_eq!(nearest("a", ["b"]), None);
    assert_eq!(nearest("A", ["a"]), Some("a"));
}

#[test]
fn absurdly_long_words_have_no_neighbours() {
    let long = "x".repeat(1_000_000);
    assert_eq!(nearest(&long, NAMES), None);
    assert_eq!(nearest("status", [long.as_str(), "status"]), Some("status"));
    let (word, name) = ("x".repeat(64), format!("{}y", "x".repeat(63)));
    assert_eq!(nearest(&word, [name.as_str()]), Some(name.as_str()));
    assert_eq!(nearest(&"x".repeat(65), [name.as_str()]), None);
}

proptest! {
    #[test]
    fn a_name_is_nearest_to_itself_and_found_after_any_single_slip(
        name in "[a-z]{6,20}",
        at in 0_usize..6,
        letter in "[a-z]",
    ) {
        let others = ["0000000", "11111111111", "222222222222222"];
        let names = || others.into_iter().chain([name.as_str()]);
        prop_assert_eq!(nearest(&name, names()), Some(name.as_str()));
        let mut added = name.clone();
        added.insert_str(at, &letter);
        prop_assert_eq!(nearest(&added, names()), Some(name.as_str()));
        let mut dropped = name.clone();
        dropped.remove(at);
        prop_assert_eq!(nearest(&dropped, names()), Some(name.as_str()));
    }
}
