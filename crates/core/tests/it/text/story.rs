use legation_core::text::story::{Error, StoryId};
use proptest::prelude::*;

#[test]
fn parts_are_numbered_under_their_story() {
    let story = StoryId::new("US-007").unwrap();
    let part = story.part(1);
    assert_eq!(part.as_str(), "US-007-DEL-001");
    assert_eq!(part.part(2).as_str(), "US-007-DEL-001-DEL-002");
    assert_eq!(story.part(999).as_str(), "US-007-DEL-999");
    assert_eq!(story.part(1_000).as_str(), "US-007-DEL-1000");
    assert_eq!(StoryId::default().part(1).as_str(), "TASK-DEL-001");
}

#[test]
fn an_id_tells_whose_part_it_is_and_how_deep_it_stands() {
    let cases = [
        ("US-007", None, 0),
        ("US-007-DEL-001", Some(("US-007", 1)), 1),
        ("US-007-DEL-001-DEL-002", Some(("US-007-DEL-001", 2)), 2),
        ("US-007-DEL-1000", Some(("US-007", 1_000)), 1),
        ("US-007-DEL-000", None, 0),
        ("US-007-DEL-01", None, 0),
        ("US-007-DEL-0001", None, 0),
        ("US-007-DEL-", None, 0),
        ("US-007-DEL-key", None, 0),
        ("US-007-DEL-1e3", None, 0),
        ("-DEL-001", None, 0),
        ("X-DEL-99999999999", None, 0),
        ("X-DEL-001-DEL-x", None, 0),
    ];
    for (id, whole, depth) in cases {
        let story = StoryId::new(id).unwrap();
        let found = story.whole();
        let found = found.as_ref().map(|(whole, number)| (whole.as_str(), *number));
        assert_eq!((found, story.depth()), (whole, depth), "{id}");
    }
}

#[test]
fn ids_from_outside_are_checked() {
    for id in ["a", "US-007", "epic.1_b", "-", &"x".repeat(100)] {
        assert_eq!(StoryId::new(id).map(|id| id.to_string()), Ok(id.to_owned()));
    }
    let cases = [
        ("", "a story id has at least one character; write it like US-007"),
        (
            "a b",
            "`a b` is no story id: ' ' is not one of A-Z, a-z, 0-9, `_`, `-` and `.`; write it like US-007",
        ),
        (
            "a/b",
            "`a/b` is no story id: '/' is not one of A-Z, a-z, 0-9, `_`, `-` and `.`; write it like US-007",
        ),
        (
            "\u{1b}x",
            "`\\u{1b}x` is no story id: '\\u{1b}' is not one of A-Z, a-z, 0-9, `_`, `-` and `.`; write it like US-007",
        ),
    ];
    for (id, message) in cases {
        assert_eq!(StoryId::new(id).unwrap_err().to_string(), message);
    }
    let long = "x".repeat(101);
    assert_eq!(StoryId::new(&long), Err(Error::TooLong { chars: 101 }));
    let id = "`ü`".to_owned();
    assert_eq!("ü".parse::<StoryId>(), Err(Error::BadSymbol { id, symbol: 'ü' }));
}

#[test]
fn an_id_shows_itself() {
    let id = StoryId::new("US-007").unwrap();
    assert_eq!(format!("{id} {id:?}"), "US-007 \"US-007\"");
}

proptest! {
    #[test]
    fn a_part_leads_back_to_its_story(story in "[A-Za-z0-9_.-]{1,40}", number in 1_u32..) {
        let story = StoryId::new(&story).unwrap();
        let part = story.part(number);
        prop_assert_eq!(part.depth(), story.depth() + 1);
        prop_assert_eq!(part.whole(), Some((story, number)));
    }
}
