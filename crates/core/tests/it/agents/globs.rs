use legation_core::agent::Tool;
use legation_core::agent::glob::{is_pattern, matches, overlap};
use proptest::prelude::*;

#[test]
fn a_star_stands_for_any_run_of_characters() {
    for (pattern, name, expected) in [
        ("read", "read", true),
        ("read", "reader", false),
        ("*", "", true),
        ("*", "anything", true),
        ("data-*", "data-analyst", true),
        ("data-*", "data-", true),
        ("data-*", "data", false),
        ("*-checker", "citation-checker", true),
        ("mcp:*", "mcp:github/list", true),
        ("mcp:github/*", "mcp:gitlab/list", false),
        ("mcp:*/list", "mcp:github/list", true),
        ("a*b*c", "a-b-b-c", true),
        ("a*b*c", "a-c-b", false),
        ("a*a", "a", false),
        ("a*a", "aa", true),
        ("ab*ba", "aba", false),
        ("**", "x", true),
        ("*x*", "x", true),
        ("*xy*yx*", "xyx", false),
        ("", "", true),
        ("", "x", false),
        ("ä*", "äö", true),
    ] {
        assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
    }
}

#[test]
fn two_patterns_overlap_if_one_name_fits_both() {
    for (one, other, expected) in [
        ("read", "read", true),
        ("read", "edit", false),
        ("mcp:*", "mcp:github/*", true),
        ("mcp:*/delete", "mcp:github/*", true),
        ("mcp:git*", "mcp:hub*", false),
        ("*.env", "*.rs", false),
        ("*.env", "config*", true),
        ("a*b", "a*c*b", true),
        ("*", "x", true),
        ("x*", "y", false),
        ("git push", "git *", true),
    ] {
        assert_eq!(overlap(one, other), expected, "{one} {other}");
        assert_eq!(overlap(other, one), expected, "{other} {one}");
    }
}

#[test]
fn only_text_with_a_star_is_a_pattern() {
    assert!(is_pattern("data-*"));
    assert!(!is_pattern("data-analyst"));
}

#[test]
fn a_pattern_of_a_million_stars_is_no_slower_than_its_length() {
    let pattern = "a*".repeat(500_000) + "b";
    let name = "a".repeat(1_000_000);
    // A matcher that goes back would not come to an end in anybody's lifetime.
    assert!(!matches(&pattern, &name));
    assert!(overlap(&pattern, &("*".repeat(1_000_000) + "b")));
}

#[test]
fn a_bare_name_is_the_whole_tool_and_brackets_name_a_part() {
    for (rule, name, covers, touches) in [
        ("shell", "shell", true, true),
        ("shell", "shell(git push)", true, true),
        ("shell(*)", "shell", true, true),
        ("shell(git *)", "shell", false, true),
        ("shell(git *)", "shell(git push)", true, true),
        ("shell(git *)", "shell(rm -rf /)", false, false),
        ("shell(git push)", "shell(git *)", false, true),
        ("*", "shell(git push)", true, true),
        ("sh*", "shell", true, true),
        ("read", "shell", false, false),
        ("read(a(b))", "read(a(b))", true, true),
        ("(odd)", "(odd)", true, true),
        ("odd(", "odd(", true, true),
        (" shell ", "shell", true, true),
    ] {
        let (taken, asked) = (Tool::new(rule), Tool::new(name));
        assert_eq!(taken.covers(&asked), covers, "{rule} covers {name}");
        assert_eq!(taken.touches(&asked), touches, "{rule} touches {name}");
    }
    assert_eq!(Tool::new("shell(git *)").part(), Some("git *"));
    assert_eq!(Tool::new("shell(*)").part(), None);
}

/// The definition of a match, one step at a time and going back; slow and plainly right.
fn plainly_matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            plainly_matches(rest, name)
                || name.split_first().is_some_and(|(_, less)| plainly_matches(pattern, less))
        }
        (Some((one, rest)), Some((other, less))) => one == other && plainly_matches(rest, less),
        (Some(_), None) | (None, Some(_)) => false,
    }
}

proptest! {
    #[test]
    fn the_quick_match_is_the_plain_one(pattern in "[ab*]{0,8}", name in "[ab]{0,10}") {
        prop_assert_eq!(
            matches(&pattern, &name),
            plainly_matches(pattern.as_bytes(), name.as_bytes())
        );
    }

    #[test]
    fn what_fits_both_patterns_proves_an_overlap(
        one in "[ab*]{0,6}", other in "[ab*]{0,6}", name in "[ab]{0,6}",
    ) {
        let both = matches(&one, &name) && matches(&other, &name);
        prop_assert!(!both || overlap(&one, &other));
    }

    #[test]
    fn an_overlap_has_a_name_that_fits_both(one in "[ab*]{0,4}", other in "[ab*]{0,4}") {
        // Both have at most four letters, so eight are enough for a name in common.
        let fits = |name: &str| matches(&one, name) && matches(&other, name);
        let found = (0..=8_u32).any(|length| {
            (0..1_u32 << length).any(|bits| {
                let letter = |place: u32| if bits & (1_u32 << place) == 0 { 'a' } else { 'b' };
                fits(&(0..length).map(letter).collect::<String>())
            })
        });
        prop_assert_eq!(overlap(&one, &other), found);
    }
}
