use expect_test::expect;
use legation_core::returns::{Absent, Check, MAX_ASKS, Violation, ask_again, instruction};
use serde_json::{Value, json};

use super::{SESSION, check_text, good, known};

#[test]
fn the_instruction_shows_the_form_with_the_session_filled_in() {
    let text = instruction(&known(), None);
    let (words, _) = text.split_once("JSON Schema of the return: ").unwrap();
    expect![[r###"
        ## How to finish

        Your last output is your return: exactly one JSON object. No prose before or after it, no Markdown, no plain-text report. If you were given the tool `submit_result`, or can run `legation submit`, hand it in that way instead; the last one handed in counts.

        The form, with your session filled in:

        {"status":"<completed | partial | failed | blocked>","summary":"<what you did and found>","artifacts":[{"type":"<implementation | report | …>","path":"<path in the workspace>","summary":"<what it is>"}],"metadata":{"session_id":"sess_1735460684_a1b2c3","agent_type":"maker","delegation_depth":1,"delegation_path":["user","maker"]},"errors":[],"next_steps":"<what should happen next>"}

        - `status`: `completed` when everything is done, `partial` when part of it is, `failed` when nothing usable came of it, `blocked` when you cannot go on without somebody else.
        - `summary`: two to five sentences, at most 500 characters.
        - `artifacts`: the files and folders you made or changed, relative to the workspace. With `completed`, each must exist and have content. Use [] for none.
        - `metadata`: copy it as it stands above; another session id is refused.
        - `errors`: needed unless `completed`; each is {"type", "message", "recoverable", "recommendation"}, `code` optional.

        The return is checked by a program, and so is the disk. Anything but JSON is answered with "Return is not valid JSON", and a `completed` that the disk does not bear out is not believed.

    "###]].assert_eq(words);
}

#[test]
fn the_schema_in_the_instruction_describes_a_return() {
    let text = instruction(&known(), None);
    let (_, schema) = text.split_once("JSON Schema of the return: ").unwrap();
    let schema: Value = serde_json::from_str(schema).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    assert!(schema.is_valid(&good()));
    for (field, value) in
        [("status", json!("done")), ("summary", json!("")), ("artifacts", json!("x"))]
    {
        let mut bad = good();
        bad[field] = value;
        assert!(!schema.is_valid(&bad), "{field}");
    }
    assert!(text.len() < 8_000, "{} bytes", text.len());
}

#[test]
fn an_agent_that_only_repeats_the_instruction_has_not_returned() {
    let violation = check_text(&instruction(&known(), None)).unwrap_err();
    assert!(violation.check <= Check::Status, "{violation:?}");
}

#[test]
fn an_agents_own_schema_is_part_of_the_instruction() {
    let schema = json!({"type": "object", "required": ["verdict"]});
    let text = instruction(&known(), Some(&schema));
    assert!(text.contains(&schema.to_string()), "{text}");
    assert!(!instruction(&known(), None).contains("- `data`"));
}

#[test]
fn asking_again_repeats_the_exact_failure() {
    let blank = Violation::new(Check::Summary, "`summary` is blank").hint("say what was done");
    let prose = Violation::from(Absent::NoObject);
    let bare = Violation::new(Check::Status, "`status` is \"done\"");
    let told = [
        ask_again(&blank, &known(), MAX_ASKS),
        ask_again(&prose, &known(), 1),
        ask_again(&bare, &known(), 0),
    ];
    expect![[r#"
        Your return was not accepted. It failed the check `summary`: `summary` is blank.
        To mend it: say what was done.

        Do no further work. Send the whole return again as exactly one JSON object and nothing else, with "session_id": "sess_1735460684_a1b2c3" in `metadata`. You can be asked 2 more times after this.
        ---
        Your return was not accepted. It failed the check `json`: Return is not valid JSON.
        To mend it: there is no JSON object in the output; end the output with one JSON object and nothing after it.

        Do no further work. Send the whole return again as exactly one JSON object and nothing else, with "session_id": "sess_1735460684_a1b2c3" in `metadata`. You can be asked once more after this.
        ---
        Your return was not accepted. It failed the check `status`: `status` is "done".

        Do no further work. Send the whole return again as exactly one JSON object and nothing else, with "session_id": "sess_1735460684_a1b2c3" in `metadata`. This is the last time you are asked.
    "#]].assert_eq(&told.join("---\n"));
    assert!(told.iter().all(|text| text.contains(SESSION)));
}
