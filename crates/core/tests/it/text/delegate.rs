use expect_test::expect;
use legation_core::text::delegate::{Entry, Parsed, parse};
use legation_core::text::story::StoryId;
use proptest::prelude::*;

use crate::matching;

/// One line per entry: `number hours description`, or `line N: reason`.
fn read(text: &str) -> String {
    shown(&parse(text, &StoryId::default(), 0))
}

fn shown(parsed: &Parsed) -> String {
    let good = parsed.delegations.iter().map(|entry| {
        let number = entry.child_story_id.as_str().trim_start_matches("TASK-DEL-");
        format!("{number} {}h {}", entry.estimated_hours, entry.description)
    });
    let bad = parsed.rejected.iter();
    let bad = bad.map(|entry| format!("line {}: {}", entry.line, entry.reason));
    good.chain(bad).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_agents_answer_gives_numbered_parts_of_its_story() {
    let text = "Two parts will do:\n\n\
        [delegate:Issue and check session tokens:4]\n\
        and [delegate:Mend x: y in list[0]:2] too\n\
        [delegate:no hours]\n";
    let story = StoryId::new("US-007").unwrap();
    let json = serde_json::to_string_pretty(&parse(text, &story, 1)).unwrap();
    expect![[r#"
        {
          "delegations": [
            {
              "description": "Issue and check session tokens",
              "estimated_hours": 4,
              "parent_story_id": "US-007",
              "child_story_id": "US-007-DEL-001",
              "depth": 2
            },
            {
              "description": "Mend x: y in list[0]",
              "estimated_hours": 2,
              "parent_story_id": "US-007",
              "child_story_id": "US-007-DEL-002",
              "depth": 2
            }
          ],
          "rejected": [
            {
              "text": "[delegate:no hours]",
              "reason": "the hours are missing: write [delegate:description:hours]",
              "line": 5
            }
          ]
        }"#]]
    .assert_eq(&json);
}

#[test]
fn entries_are_found_wherever_prose_has_them() {
    let cases = [
        ("[delegate:a:1]", "001 1h a"),
        ("before [delegate:a:1] behind", "001 1h a"),
        ("[delegate:a:1][delegate:b:2]", "001 1h a\n002 2h b"),
        ("[delegate:a:1]\n[delegate:b:2]\n", "001 1h a\n002 2h b"),
        ("[delegate:a:1]\r\n[delegate:b:2]\r\n", "001 1h a\n002 2h b"),
        ("- [delegate:a:1]\n  * [delegate:b:2]", "001 1h a\n002 2h b"),
        ("1. [delegate:a:1]", "001 1h a"),
        ("    [delegate:a:1]", "001 1h a"),
        ("**[delegate:a:1]**", "001 1h a"),
        ("[[delegate:a:1]]", "001 1h a"),
        ("][delegate:a:1]", "001 1h a"),
        ("a > b [delegate:a:1]", "001 1h a"),
        ("-> [delegate:a:1]", "001 1h a"),
        ("日本 [delegate:日本語:1]", "001 1h 日本語"),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn an_entry_splits_at_its_last_colon_and_ends_at_its_own_bracket() {
    let cases = [
        ("[delegate:Fix a: b:2]", "001 2h Fix a: b"),
        ("[delegate:see http://x.org/:2]", "001 2h see http://x.org/"),
        ("[delegate:arr[0]:2]", "001 2h arr[0]"),
        ("[delegate:a[b[c]]d:2]", "001 2h a[b[c]]d"),
        ("[delegate:[x]:2]", "001 2h [x]"),
        ("[delegate:  a b \t: 2 ]", "001 2h a b"),
        ("[delegate:a\u{a0}:\u{2003}2]", "001 2h a"),
        ("[delegate:a::2]", "001 2h a:"),
        ("[delegate:a:1] b:2]", "001 1h a"),
        ("[delegate:a:007]", "001 7h a"),
        ("[delegate:a:1000000]", "001 1000000h a"),
        ("[delegate:out [delegate:in:2] more:3]", "001 3h out [delegate:in:2] more"),
        ("[delegate:use `a[0]`:3]", "001 3h use `a[0]`"),
        ("[delegate:it's ` odd:3] and ` [delegate:b:1]", "001 3h it's ` odd\n002 1h b"),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn bad_entries_are_reported_with_their_line_and_use_no_number() {
    let missing = "the hours are missing: write [delegate:description:hours]";
    let cases = [
        ("[delegate:]", missing.to_owned()),
        ("[delegate:no hours]", missing.to_owned()),
        ("[delegate:a:]", missing.to_owned()),
        ("[delegate:a: ]", missing.to_owned()),
        ("[delegate:half:1.5]", "`1.5` is not a whole number of hours".to_owned()),
        ("[delegate:a:-1]", "`-1` is not a whole number of hours".to_owned()),
        ("[delegate:a:+1]", "`+1` is not a whole number of hours".to_owned()),
        ("[delegate:a:4h]", "`4h` is not a whole number of hours".to_owned()),
        ("[delegate:a:1 2]", "`1 2` is not a whole number of hours".to_owned()),
        ("[delegate:a:١]", "`١` is not a whole number of hours".to_owned()),
        ("[delegate:a:0x1]", "`0x1` is not a whole number of hours".to_owned()),
        ("[delegate:a:\u{1b}]", "`\\u{1b}` is not a whole number of hours".to_owned()),
        ("[delegate:zero:0]", "the hours must be at least 1".to_owned()),
        ("[delegate:zero:000]", "the hours must be at least 1".to_owned()),
        ("[delegate:a:1000001]", "the hours must be at most 1000000".to_owned()),
        ("[delegate:a:99999999999999999999]", "the hours must be at most 1000000".to_owned()),
        ("[delegate::3]", "the description is empty".to_owned()),
        ("[delegate: \t:3]", "the description is empty".to_owned()),
    ];
    for (entry, reason) in cases {
        let text = format!("[delegate:first:1]\n{entry}\n[delegate:last:2]");
        let expected = format!("001 1h first\n002 2h last\nline 2: {reason}");
        assert_eq!(read(&text), expected, "{entry}");
    }
}

#[test]
fn a_description_has_at_most_500_characters() {
    let cases = [
        ("x".repeat(500), 1),
        ("ü".repeat(500), 1),
        (format!("  {}  ", "x".repeat(500)), 1),
        ("x".repeat(501), 0),
        ("ü".repeat(501), 0),
    ];
    for (description, good) in cases {
        let parsed = parse(&format!("[delegate:{description}:1]"), &StoryId::default(), 0);
        assert_eq!(parsed.delegations.len(), good, "{description}");
        assert_eq!(parsed.rejected.len(), 1 - good, "{description}");
    }
    let text = format!("[delegate:{}:1]", "x".repeat(501));
    assert_eq!(read(&text), "line 1: the description has 501 characters, at most 500 are allowed");
}

#[test]
fn a_long_rejected_entry_is_cut_in_the_report() {
    let text = format!("[delegate:{}:1]", "ü".repeat(5_000));
    let parsed = parse(&text, &StoryId::default(), 0);
    let lengths: Vec<usize> = parsed.rejected.iter().map(|bad| bad.text.chars().count()).collect();
    assert_eq!(lengths, [1_001]);
}

#[test]
fn an_unclosed_entry_is_text() {
    let cases = [
        ("[delegate:a:1", ""),
        ("[delegate:a:1\n]", ""),
        ("[delegate:a[0:1]", ""),
        ("[delegate:", ""),
        ("[delegate", ""),
        ("[Delegate:a:1]", ""),
        ("[ delegate:a:1]", ""),
        ("[delegate :a:1]", ""),
        ("[delegate:a [delegate:b:2]", "001 2h b"),
        ("[delegate:a [delegate:b:2] [delegate:c:3]", "001 2h b\n002 3h c"),
        ("[delegate:a ` [delegate:b:2] ` [delegate:c:3]", "001 3h c"),
        ("[delegate:a:1\n[delegate:b:2]", "001 2h b"),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text), expected, "{text}");
    }
}

/// Which of the entries that single capital letters stand for are read.
fn kept(shape: &str) -> String {
    let entry = |symbol: char| match symbol {
        'A'..='C' => format!("[delegate:{symbol}:1]"),
        symbol => symbol.to_string(),
    };
    let text: String = shape.chars().map(entry).collect();
    let parsed = parse(&text, &StoryId::default(), 0);
    assert_eq!(parsed.rejected, [], "{shape:?}");
    let kept = parsed.delegations.into_iter();
    kept.map(|entry| entry.description).collect()
}

#[test]
fn entries_in_code_fences_are_text() {
    let cases = [
        ("```\nA\n```", ""),
        ("```\nA\n```\nB", "B"),
        ("A\n```\nB\n```\nC", "AC"),
        ("~~~\nA\n~~~\nB", "B"),
        ("```rust\nA\n```\nB", "B"),
        ("~~~ `a` ~\nA\n~~~\nB", "B"),
        ("````\n```\nA\n````\nB", "B"),
        ("```\nA\n`````\nB", "B"),
        ("```\n~~~\nA\n```\nB", "B"),
        ("~~~\n```\nA\n~~~\nB", "B"),
        ("```\nA", ""),
        ("```\nA\n``\nB", ""),
        ("```\nA\n``` no\nB", ""),
        ("```\nA\n```  \t\r\nB", "B"),
        ("```\n> ```\nA\n```\nB", "B"),
        ("``\nA\n``\nB", "AB"),
        ("~~\nA\n~~\nB", "AB"),
        ("   ```\nA\n   ```\nB", "B"),
        ("- ```\n  A\n  ```\nB", "B"),
        ("1. ```sh\n   A\n   ```\nB", "B"),
        ("10) * ~~~\nA\n~~~\nB", "B"),
        ("\t```\n\tA\n\t```\nB", "B"),
        ("```\n    ```\nA\n```\nB", "B"),
        ("```\n\t```\nA\n```\nB", "B"),
        ("```\nA\n   ```\nB", "B"),
        ("      ```\nA\n         ```\nB", "B"),
        ("      ```\nA\n          ```\nB", ""),
        ("```\n- ```\nA\n```\nB", "B"),
        ("a ```\nA", "A"),
        ("-```\nA\n", "A"),
        ("1.```\nA\n", "A"),
        ("1234567890. ```\nA\n", "A"),
        ("```A\nB\n```\nC", "C"),
        ("~~~A\nB\n~~~\nC", "C"),
        ("```A```\nB", "B"),
        ("```a`\nA", "A"),
        ("", ""),
        ("```", ""),
    ];
    for (shape, expected) in cases {
        assert_eq!(kept(shape), expected, "{shape:?}");
    }
}

#[test]
fn entries_in_inline_code_are_text() {
    let cases = [
        ("`A`", ""),
        ("`A` B", "B"),
        ("A `B` C", "AC"),
        ("`` A ` B ``", ""),
        ("`` A ` B", "AB"),
        ("` A", "A"),
        ("` A `` B", "AB"),
        ("` A `` B ` C", "C"),
        ("a ```A``` B", "B"),
        ("` A\n` B", "AB"),
        (r"\` A `", "A"),
        (r"\`` A ` B", "B"),
        (r"\\` A ` B", "B"),
        (r"` A \` B", "B"),
        ("`a` A `b`", "A"),
        ("`a A` B", "B"),
        ("` ` A ` `", "A"),
    ];
    for (shape, expected) in cases {
        assert_eq!(kept(shape), expected, "{shape:?}");
    }
}

#[test]
fn entries_in_quoted_lines_are_text() {
    let cases = [
        ("> A", ""),
        (">A", ""),
        (">> A", ""),
        ("  > A", ""),
        ("\t> A", ""),
        ("- > A", ""),
        ("> A\nB", "B"),
        ("> ```\nA", "A"),
        ("> ` \nA `", "A"),
        ("A > B", "AB"),
    ];
    for (shape, expected) in cases {
        assert_eq!(kept(shape), expected, "{shape:?}");
    }
}

#[test]
fn lines_are_counted_across_everything_that_is_skipped() {
    let text = "one\n\n```\n[delegate:code:x]\n```\n> [delegate:quoted:x]\n\nX `a` [delegate:b:x]\n\n\n[delegate:c:x]";
    expect![[r#"
        line 8: `x` is not a whole number of hours
        line 11: `x` is not a whole number of hours"#]]
    .assert_eq(&read(text));
}

#[test]
fn numbers_grow_past_three_digits() {
    let parsed = parse(&"[delegate:a:1]\n".repeat(1_001), &StoryId::default(), 0);
    let last: Vec<&str> =
        parsed.delegations.iter().skip(998).map(|e| e.child_story_id.as_str()).collect();
    assert_eq!(last, ["TASK-DEL-999", "TASK-DEL-1000", "TASK-DEL-1001"]);
}

#[test]
fn depth_stops_at_its_largest_value() {
    let parsed = parse("[delegate:a:1]", &StoryId::default(), u32::MAX);
    let depths: Vec<u32> = parsed.delegations.iter().map(|entry| entry.depth).collect();
    assert_eq!(depths, [u32::MAX]);
}

/// Words with colons, balanced brackets, quotes and letters of several alphabets.
fn description() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        matching("[a-zA-Z0-9äßλ日:'\",.>#*~-]{1,8}"),
        matching("[a-z]{1,4}\\[[0-9:]{0,3}\\]"),
        matching("`[a-z\\[]{0,2}[a-z\\]]{0,2}`").prop_filter("balanced", |code| {
            let mut depth = 0_i32;
            let kept = code.chars().all(|symbol| {
                depth += i32::from(symbol == '[') - i32::from(symbol == ']');
                depth >= 0
            });
            kept && depth == 0
        }),
    ];
    proptest::collection::vec(word, 1..12).prop_map(|words| words.join(" "))
}

/// What the syntax is made of, to be thrown together at random.
const PIECES: &[&str] = &[
    "[delegate:",
    "]",
    "[",
    ":",
    "1",
    "a",
    "`",
    "``",
    "```",
    "~~~",
    "\n",
    " ",
    ">",
    "\\",
    "- ",
    "é",
    "\t",
    "0",
];

proptest! {
    #[test]
    fn what_is_written_as_entries_is_read_as_the_same_entries(
        entries in proptest::collection::vec((description(), 1_u32..10_000), 0..8),
        between in prop_oneof![Just("\n"), Just(" "), Just("\r\n"), Just("\n\n- ")],
    ) {
        let story = StoryId::default();
        let entries: Vec<Entry> = (1..).zip(entries).map(|(number, (description, hours))| Entry {
            description,
            estimated_hours: hours,
            parent_story_id: story.clone(),
            child_story_id: story.part(number),
            depth: 4,
        }).collect();
        let text: Vec<String> = entries.iter().map(Entry::to_string).collect();
        let parsed = parse(&text.join(between), &story, 3);
        prop_assert_eq!(parsed, Parsed { delegations: entries, rejected: vec![] });
    }

    #[test]
    fn whatever_comes_in_every_entry_that_comes_out_keeps_the_rules(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..50),
    ) {
        let text = pieces.concat();
        let parsed = parse(&text, &StoryId::default(), 0);
        let openings = text.matches("[delegate:").count();
        prop_assert!(parsed.delegations.len() + parsed.rejected.len() <= openings);
        for (index, entry) in parsed.delegations.iter().enumerate() {
            prop_assert!((1..=500).contains(&entry.description.chars().count()));
            prop_assert!(entry.estimated_hours >= 1);
            let number = format!("-{:03}", index + 1);
            prop_assert!(entry.child_story_id.as_str().ends_with(&number));
            prop_assert!(!entry.description.contains('\n'));
        }
        for bad in &parsed.rejected {
            let line = text.split('\n').nth(bad.line - 1).unwrap_or_default();
            prop_assert!(line.contains(&bad.text), "{:?} in {:?}", bad, line);
        }
        // A quoted line in front changes nothing but the line numbers.
        let moved = parse(&format!("> [delegate:quoted:1]\n{text}"), &StoryId::default(), 0);
        prop_assert_eq!(moved.delegations, parsed.delegations);
    }
}
