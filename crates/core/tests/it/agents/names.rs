use legation_core::agent::{is_valid_id, kebab_case};

#[test]
fn an_id_is_words_of_small_letters_and_digits_joined_by_hyphens() {
    for id in ["a", "code-reviewer", "l0", "us-007", "3d", &"x".repeat(64)] {
        assert!(is_valid_id(id), "{id}");
    }
    for id in [
        "",
        "-",
        "a-",
        "-a",
        "a--b",
        "A",
        "a_b",
        "a b",
        "ä",
        "a/b",
        "../a",
        "user",
        "global",
        "call",
        "a\n",
        &"x".repeat(65),
    ] {
        assert!(!is_valid_id(id), "{id:?}");
    }
}

#[test]
fn a_name_for_people_becomes_an_id() {
    for (name, id) in [
        ("Code Reviewer", Some("code-reviewer")),
        ("CodeReviewer", Some("code-reviewer")),
        ("code_reviewer", Some("code-reviewer")),
        ("  API: docs (v2)! ", Some("api-docs-v2")),
        ("GPT4Helper", Some("gpt4-helper")),
        ("already-kebab", Some("already-kebab")),
        ("Übersetzer", None),
        ("審査", None),
        ("!!!", None),
        ("", None),
        ("User", None),
    ] {
        assert_eq!(kebab_case(name).as_deref(), id, "{name}");
    }
    assert_eq!(kebab_case(&"long ".repeat(100_000)), None);
}
