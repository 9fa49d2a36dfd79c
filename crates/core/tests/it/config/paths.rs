use legation_core::config::{BadPath, KeyPath, get, put};
use serde_json::{Value, json};

#[test]
fn a_dotted_name_is_a_path_and_prints_as_it_was_written() {
    for text in ["mode", "limits.maxDepth", "prices.\"gpt-5.1\".input", "prices.a-b_c.input"] {
        assert_eq!(KeyPath::parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn a_leading_delegation_is_dropped() {
    let path = KeyPath::parse("delegation.limits.maxDepth").unwrap();
    assert_eq!(path, KeyPath::of(["limits", "maxDepth"]));
    assert_eq!(KeyPath::parse("delegation").unwrap(), KeyPath::of(["delegation"]));
}

#[test]
fn names_that_are_no_paths_are_refused() {
    for (text, problem) in [
        ("", BadPath::EmptyPart),
        (".", BadPath::EmptyPart),
        ("limits.", BadPath::EmptyPart),
        ("a..b", BadPath::EmptyPart),
        ("\"\".x", BadPath::EmptyPart),
        ("\"open", BadPath::Quotes),
        ("\"a\"b.c", BadPath::Quotes),
    ] {
        assert_eq!(KeyPath::parse(text), Err(problem), "{text:?}");
    }
}

#[test]
fn a_name_with_odd_characters_is_quoted_and_escaped() {
    let path = KeyPath::of(["prices", "a\nb", ""]);
    assert_eq!(path.to_string(), r#"prices."a\nb".""#.to_owned() + "\"");
}

#[test]
fn values_are_put_and_found_again() {
    let path = KeyPath::of(["limits", "maxDepth"]);
    for mut value in [Value::Null, json!({"limits": 5}), json!({"limits": {"x": 1}}), json!([1])] {
        put(&mut value, &path, json!(2));
        assert_eq!(get(&value, &path), Some(&json!(2)));
    }
    let mut value = json!({"limits": {"x": 1}});
    put(&mut value, &path, json!(2));
    assert_eq!(value, json!({"limits": {"x": 1, "maxDepth": 2}}));
    assert_eq!(get(&value, &KeyPath::of(["limits", "y"])), None);
    assert_eq!(get(&value, &KeyPath::default()), Some(&value));
}

#[test]
fn a_path_lies_within_itself_and_its_sections() {
    let path = KeyPath::of(["patterns", "hints", "debate"]);
    let mut above = Some(path.clone());
    while let Some(section) = above {
        assert!(path.is_within(&section));
        above = section.parent();
    }
    assert!(!path.is_within(&KeyPath::of(["hints"])));
    assert!(!KeyPath::of(["patterns"]).is_within(&path));
}
