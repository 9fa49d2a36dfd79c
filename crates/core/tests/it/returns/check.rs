use expect_test::expect;
use legation_core::Code;
use legation_core::ids::AgentId;
use legation_core::returns::{
    Artifact, Check, MAX_ARTIFACTS, MAX_ERRORS, MAX_NAME_CHARS, MAX_PATH_STEPS, MAX_TEXT_CHARS,
    Metadata, Return, ReturnError, ReturnStatus, Violation,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{SESSION, any_json, check, check_text, good, known, told};

/// Each line changes the good return and names the check that then fails. A
/// change is `/pointer=value`; `-` takes the field away.
const CASES: &str = r#"
/summary="Still fine." => valid
/extra={"anything":[1]} => valid
/next_steps="Deploy." => valid
/next_steps=null => valid
/data={"answer":42} => valid
/data=null => valid
/data="text" => valid
/errors=- => valid
/errors=null => valid
/errors=[{"type":"warning","message":"slow","recoverable":true,"recommendation":"r"}] => valid
/metadata/duration_seconds=1.5 => valid
/metadata/duration_seconds=0 => valid
/metadata/duration_seconds=null => valid
/metadata/delegation_depth=7 => valid
/metadata/delegation_path=[] => valid
/metadata/agent_type="somebody-else" => valid
/metadata/more="ignored" => valid
/artifacts=[] => valid

/status=- => required
/status=null => required
/status=1 => required
/status=["completed"] => required
/status={"is":"completed"} => required
/status=true => required
/summary=- => required
/summary=null => required
/summary=7 => required
/summary=["Made it."] => required
/artifacts=- => required
/artifacts=null => required
/artifacts="out.txt" => required
/artifacts={"type":"report","path":"out.txt"} => required
/artifacts=0 => required
/metadata=- => required
/metadata=null => required
/metadata={} => required
/metadata="sess_1735460684_a1b2c3" => required
/metadata=[] => required
/metadata/session_id=- => required
/metadata/session_id=null => required
/metadata/session_id=1735460684 => required
/metadata/agent_type=- => required
/metadata/agent_type=3 => required
/metadata/delegation_depth=- => required
/metadata/delegation_depth="1" => required
/metadata/delegation_depth=-1 => required
/metadata/delegation_depth=1.5 => required
/metadata/delegation_depth=1e300 => required
/metadata/delegation_path=- => required
/metadata/delegation_path="user" => required
/metadata/delegation_path=[1] => required
/metadata/delegation_path=["user",null] => required
/metadata/duration_seconds="1" => required
/metadata/duration_seconds=-1 => required
/errors={} => required
/errors="none" => required
/errors=false => required
/next_steps=["Deploy."] => required
/next_steps=1 => required

/status="" => status
/status="done" => status
/status="Completed" => status
/status=" completed" => status
/status="cancelled" => status
/status="completed|partial|failed|blocked" => status
/status="invalid_status" => status

/metadata/session_id="" => session
/metadata/session_id="sess_1_zzzzzz" => session
/metadata/session_id="SESS_1735460684_A1B2C3" => session
/metadata/session_id="sess_1735460684_a1b2c3 " => session

/summary="" => summary
/summary=" " => summary
/summary="\n\t\u00a0" => summary

/status="failed" => errors
/status="partial" => errors
/status="blocked" => errors
/status="failed" ; /errors=- => errors
/status="failed" ; /errors=null => errors
/status="failed" ; /errors=["timeout"] => errors
/status="failed" ; /errors=[null] => errors
/status="failed" ; /errors=[[]] => errors
/status="failed" ; /errors=[{}] => errors
/status="failed" ; /errors=[{"type":"timeout"}] => errors
/status="failed" ; /errors=[{"message":"m"}] => errors
/status="failed" ; /errors=[{"type":"","message":"m"}] => errors
/status="failed" ; /errors=[{"type":"t","message":" "}] => errors
/status="failed" ; /errors=[{"type":1,"message":"m"}] => errors
/status="failed" ; /errors=[{"type":"t","message":["m"]}] => errors
/status="failed" ; /errors=[{"type":"t","message":"m","recoverable":"yes","recommendation":"r"}] => errors
/status="failed" ; /errors=[{"type":"t","message":"m","recommendation":1}] => errors
/status="failed" ; /errors=[{"type":"t","message":"m","code":504,"recoverable":true,"recommendation":"r"}] => errors
/status="failed" ; /errors=[{"type":"t","message":"m"},{"type":"t"}] => errors
/errors=[{"type":"warning"}] => errors
/status="failed" ; /errors=[{"type":"t","message":"m","recoverable":true,"recommendation":"r"}] => valid
/status="failed" ; /errors=[{"type":"t","message":"m","code":null,"recoverable":false,"recommendation":""}] => valid
/status="failed" ; /errors=[{"type":"t","message":"m","recoverable":true,"recommendation":"r"}] => valid
/status="failed" ; /errors=[{"type":"t","message":"m","recommendation":"r"}] => errors
/status="failed" ; /errors=[{"type":"t","message":"m","recoverable":null,"recommendation":"r"}] => errors
/status="failed" ; /errors=[{"type":"t","message":"m","recoverable":true}] => errors
/status="failed" ; /errors=[{"type":"t","message":"m","recoverable":true,"recommendation":null}] => errors
/status="failed" ; /errors=[{"type":"t","message":"m","recoverable":true,"recommendation":1}] => errors
/status="partial" ; /errors=[{"type":"t","message":"m","code":"TIMEOUT","recoverable":true,"recommendation":"r"}] => valid
/status="blocked" ; /errors=[{"type":"t","message":"m","recoverable":true,"recommendation":"r","more":1}] => valid

/artifacts=["out.txt"] => artifacts
/artifacts=[null] => artifacts
/artifacts=[[]] => artifacts
/artifacts=[{}] => artifacts
/artifacts=[{"type":"report"}] => artifacts
/artifacts=[{"path":"out.txt"}] => artifacts
/artifacts=[{"type":"","path":"out.txt"}] => artifacts
/artifacts=[{"type":2,"path":"out.txt"}] => artifacts
/artifacts/0/path=7 => artifacts
/artifacts/0/path=null => artifacts
/artifacts/0/summary=["x"] => artifacts
/artifacts/0/path="" => artifacts
/artifacts/0/path=" " => artifacts
/artifacts/0/path="." => artifacts
/artifacts/0/path=".." => artifacts
/artifacts/0/path="../etc/passwd" => artifacts
/artifacts/0/path="a/../../etc/passwd" => artifacts
/artifacts/0/path="/etc/passwd" => artifacts
/artifacts/0/path="//etc/passwd" => artifacts
/artifacts/0/path="C:/Windows" => artifacts
/artifacts/0/path="..\\secret" => artifacts
/artifacts/0/path="a\\b" => artifacts
/artifacts/0/path="a\u0000b" => artifacts
/artifacts/0/path="a\nb" => artifacts
/artifacts/0/path="missing.txt" => artifacts
/artifacts/0/path="empty.txt" => artifacts
/artifacts/0/path="empty-folder/" => artifacts
/artifacts/0/path="locked.txt" => artifacts
/artifacts/0/path="link" => artifacts
/artifacts/0/path="x/../link" => artifacts
/artifacts=[{"type":"report","path":"ok"},{"type":"report","path":"missing"}] => artifacts
/artifacts/0/path="./src/../out.txt" => artifacts
/artifacts/0/path="folder/" => valid
/artifacts/0/path="ordner/ä.md" => valid
/artifacts/0/summary="About it." => valid
/artifacts/0/summary=null => valid

/status="partial" ; /errors=[{"type":"t","message":"m","recoverable":true,"recommendation":"r"}] ; /artifacts/0/path="missing.txt" => valid
/status="failed" ; /errors=[{"type":"t","message":"m","recoverable":true,"recommendation":"r"}] ; /artifacts/0/path="empty.txt" => valid
/status="blocked" ; /errors=[{"type":"t","message":"m","recoverable":true,"recommendation":"r"}] ; /artifacts/0/path="locked.txt" => valid
/status="failed" ; /errors=[{"type":"t","message":"m","recoverable":true,"recommendation":"r"}] ; /artifacts/0/path="link" => artifacts
/status="failed" ; /errors=[{"type":"t","message":"m","recoverable":true,"recommendation":"r"}] ; /artifacts/0/path="../x" => artifacts
/status="failed" ; /errors=[{"type":"t","message":"m","recoverable":true,"recommendation":"r"}] ; /artifacts/0/path="/x" => artifacts

/status="done" ; /metadata={} => required
/status="done" ; /summary="" ; /metadata/session_id="other" => status
/summary="" ; /metadata/session_id="other" => session
/status="failed" ; /summary="" => summary
/status="failed" ; /artifacts/0/path="../x" => errors
/next_steps=1 ; /status="done" => required
"#;

fn changed(changes: &str) -> Value {
    let mut value = good();
    for change in changes.split(" ; ") {
        let (pointer, new) = change.split_once('=').unwrap();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let parent = value.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        parent.shift_remove(name);
        if new != "-" {
            parent.insert(name.to_owned(), serde_json::from_str(new).unwrap());
        }
    }
    value
}

fn cases() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = CASES.lines().filter(|line| !line.is_empty());
    lines.map(|line| line.rsplit_once(" => ").unwrap())
}

fn name_of(outcome: &Result<Return, Violation>) -> &'static str {
    outcome.as_ref().map_or_else(|violation| violation.check.as_str(), |_| "valid")
}

#[test]
fn the_first_check_that_fails_is_named() {
    let mut count = 0;
    for (changes, expected) in cases() {
        let value = changed(changes);
        let outcome = check(&value);
        assert_eq!(name_of(&outcome), expected, "{changes}: {outcome:?}");
        assert_eq!(outcome, check_text(&value.to_string()), "{changes}");
        assert_eq!(outcome, check_text(&format!("Done:\n```json\n{value:#}\n```\n")), "{changes}");
        count += 1;
    }
    assert!(count >= 120, "{count} cases");
}

#[test]
fn every_failure_has_the_code_a_place_and_advice() {
    for (changes, expected) in cases().filter(|(_, expected)| *expected != "valid") {
        let violation = check(&changed(changes)).unwrap_err();
        assert_eq!(violation.code, Code::ValidationFailed, "{changes}");
        assert!(violation.message.contains('`'), "{changes}: {expected}: {violation}");
        assert!(violation.hint.is_some(), "{changes}: {violation}");
        assert!(!violation.message.contains(char::is_control), "{changes}: {violation}");
    }
}

#[test]
fn messages_say_what_is_wrong_and_where() {
    let told: String = [
        "/status=-",
        "/summary=7",
        "/artifacts=null",
        "/metadata={}",
        "/metadata/delegation_depth=-1",
        "/metadata/delegation_path=[1]",
        "/errors=\"none\"",
        "/status=\"done\"",
        "/metadata/session_id=\"sess_1_zzzzzz\"",
        "/summary=\" \"",
        "/status=\"failed\"",
        "/errors=[{\"type\":\"t\",\"message\":\"m\"},{\"type\":\"t\"}]",
        "/artifacts=[7]",
        "/artifacts/0/path=\"../etc/passwd\"",
        "/artifacts/0/path=\"a\\u001b[31m\"",
        "/artifacts/0/path=\"missing.txt\"",
        "/artifacts/0/path=\"link\"",
    ]
    .iter()
    .map(|changes| format!("{changes}\n  {}\n", told(check(&changed(changes)))))
    .collect();
    expect![[r#"
        /status=-
          required: `status` is missing
            a return has `status`, `summary`, `artifacts` and `metadata` with `session_id`, `agent_type`, `delegation_depth` and `delegation_path`
        /summary=7
          required: `summary` must be text, found the number 7
            a return has `status`, `summary`, `artifacts` and `metadata` with `session_id`, `agent_type`, `delegation_depth` and `delegation_path`
        /artifacts=null
          required: `artifacts` is null
            a return has `status`, `summary`, `artifacts` and `metadata` with `session_id`, `agent_type`, `delegation_depth` and `delegation_path`
        /metadata={}
          required: `metadata.session_id` is missing
            a return has `status`, `summary`, `artifacts` and `metadata` with `session_id`, `agent_type`, `delegation_depth` and `delegation_path`
        /metadata/delegation_depth=-1
          required: `metadata.delegation_depth` must be a whole number from 0, found the number -1
            a return has `status`, `summary`, `artifacts` and `metadata` with `session_id`, `agent_type`, `delegation_depth` and `delegation_path`
        /metadata/delegation_path=[1]
          required: `metadata.delegation_path` has a step that is not the name of an agent
            a return has `status`, `summary`, `artifacts` and `metadata` with `session_id`, `agent_type`, `delegation_depth` and `delegation_path`
        /errors="none"
          required: `errors` must be a list, found text
            a return has `status`, `summary`, `artifacts` and `metadata` with `session_id`, `agent_type`, `delegation_depth` and `delegation_path`
        /status="done"
          status: `status` must be completed, partial, failed or blocked, found "done"
            use one of the four words exactly as it stands
        /metadata/session_id="sess_1_zzzzzz"
          session: `metadata.session_id` is "sess_1_zzzzzz", expected "sess_1735460684_a1b2c3"
            copy the session id from the brief
        /summary=" "
          summary: `summary` is blank
            say in 2 to 5 sentences what was done
        /status="failed"
          errors: `errors` is empty, but the status is not completed
            list at least one error with `type`, `message`, `recoverable` and `recommendation`
        /errors=[{"type":"t","message":"m"},{"type":"t"}]
          errors: `errors[0].recoverable` is missing
            an error has `type`, `message`, `recoverable` and `recommendation`; `code` may be left out
        /artifacts=[7]
          artifacts: `artifacts[0]` must be an object, found the number 7
            an artifact has `type`, `path` and maybe `summary`
        /artifacts/0/path="../etc/passwd"
          artifacts: `artifacts[0].path` "../etc/passwd" has a `..` step, which could leave the workspace
            give the path of a file or folder inside the workspace, such as `src/lib.rs`
        /artifacts/0/path="a\u001b[31m"
          artifacts: `artifacts[0].path` "a\u{1b}[31m" contains a control character
            give the path of a file or folder inside the workspace, such as `src/lib.rs`
        /artifacts/0/path="missing.txt"
          artifacts: `artifacts[0].path` "missing.txt" does not exist in the workspace
            write the file, or take it off the list, or do not claim `completed`
        /artifacts/0/path="link"
          artifacts: `artifacts[0].path` "link" is a link that leads out of the workspace
            list files that lie in the workspace itself
    "#]].assert_eq(&told);
}

#[test]
fn what_is_not_an_object_fails_the_first_check() {
    for value in [json!([1]), json!("x"), json!(1), json!(null), json!(true), json!([good()])] {
        let violation = check(&value).unwrap_err();
        assert_eq!(violation.check, Check::Json);
        assert_eq!(violation.message, "Return is not valid JSON");
        assert_eq!(check_text(&value.to_string()).unwrap_err().check, Check::Json);
    }
}

#[test]
fn lengths_are_counted_in_characters_and_limits_are_inclusive() {
    let with = |pointer: &str, value: Value| {
        let mut made = good();
        made["errors"] = json!([{"type": "t", "message": "m", "code": "c", "recoverable": true, "recommendation": "r"}]);
        made["next_steps"] = json!("n");
        made["artifacts"][0]["summary"] = json!("s");
        *made.pointer_mut(pointer).unwrap() = value;
        made
    };
    let texts = [
        ("/summary", 500, "summary"),
        ("/next_steps", MAX_TEXT_CHARS, "required"),
        ("/metadata/agent_type", MAX_NAME_CHARS, "required"),
        ("/errors/0/type", MAX_NAME_CHARS, "errors"),
        ("/errors/0/message", MAX_TEXT_CHARS, "errors"),
        ("/errors/0/code", MAX_NAME_CHARS, "errors"),
        ("/errors/0/recommendation", MAX_TEXT_CHARS, "errors"),
        ("/artifacts/0/type", MAX_NAME_CHARS, "artifacts"),
        ("/artifacts/0/summary", MAX_TEXT_CHARS, "artifacts"),
    ];
    for (pointer, max, expected) in texts {
        let text = |chars: usize| with(pointer, json!("é".repeat(chars)));
        assert_eq!(name_of(&check(&text(max))), "valid", "{pointer}");
        let outcome = check(&text(max + 1));
        assert_eq!(name_of(&outcome), expected, "{pointer}");
        let message = outcome.unwrap_err().message;
        assert!(message.contains(&format!("{} characters; at most {max}", max + 1)), "{message}");
    }
    let lists = [
        ("/artifacts", MAX_ARTIFACTS, "artifacts"),
        ("/errors", MAX_ERRORS, "errors"),
        ("/metadata/delegation_path", MAX_PATH_STEPS, "required"),
    ];
    for (pointer, max, expected) in lists {
        let entry = match pointer {
            "/artifacts" => json!({"type": "report", "path": "x"}),
            "/errors" => {
                json!({"type": "t", "message": "m", "recoverable": true, "recommendation": "r"})
            }
            _ => json!("agent"),
        };
        let list = |entries: usize| with(pointer, vec![entry.clone(); entries].into());
        assert_eq!(name_of(&check(&list(max))), "valid", "{pointer}");
        let outcome = check(&list(max + 1));
        assert_eq!(name_of(&outcome), expected, "{pointer}");
        assert!(outcome.unwrap_err().message.contains(&format!("at most {max} are allowed")));
    }
}

#[test]
fn a_long_word_of_a_child_is_repeated_only_in_part() {
    let violation = check(&changed(&format!("/status=\"{}\"", "x".repeat(5_000)))).unwrap_err();
    assert_eq!(
        violation.message,
        format!(
            "`status` must be completed, partial, failed or blocked, found \"{}…\"",
            "x".repeat(80)
        )
    );
}

#[test]
fn a_valid_return_is_read_whole_and_its_paths_are_normal() {
    let value = json!({
        "status": "partial",
        "summary": "Half.",
        "artifacts": [{"type": "report", "path": "./a//b.md", "summary": "s"}],
        "metadata": {
            "session_id": SESSION, "agent_type": "x", "delegation_depth": 4_294_967_296_u64,
            "delegation_path": ["root", "x"], "duration_seconds": 2,
        },
        "errors": [{"type": "t", "message": "m", "code": "C", "recoverable": true, "recommendation": "r"}],
        "next_steps": "n",
        "data": {"k": [1]},
        "unknown": true,
    });
    let expected = Return {
        status: ReturnStatus::Partial,
        summary: "Half.".to_owned(),
        artifacts: vec![Artifact {
            kind: "report".to_owned(),
            path: "a/b.md".to_owned(),
            summary: Some("s".to_owned()),
        }],
        metadata: Metadata {
            session_id: SESSION.into(),
            agent_type: "x".into(),
            delegation_depth: u32::MAX,
            delegation_path: vec!["root".into(), "x".into()],
            duration_seconds: Some(2.0),
        },
        errors: vec![ReturnError {
            kind: "t".to_owned(),
            message: "m".to_owned(),
            code: Some("C".to_owned()),
            recoverable: true,
            recommendation: "r".to_owned(),
        }],
        next_steps: Some("n".to_owned()),
        data: Some(json!({"k": [1]})),
    };
    assert_eq!(check(&value), Ok(expected));
}

#[test]
fn what_a_child_says_of_its_place_is_replaced_by_what_is_known() {
    let forged = changed(
        "/metadata/delegation_depth=0 ; /metadata/delegation_path=[] ; /metadata/agent_type=\"root\"",
    );
    let attested = check(&forged).unwrap().attested(known());
    assert_eq!(attested.metadata.delegation_depth, 1);
    assert_eq!(attested.metadata.agent_type, AgentId::new("maker"));
    assert_eq!(attested.metadata.delegation_path, ["user", "maker"].map(AgentId::new));
    assert_eq!(attested.metadata.duration_seconds, Some(1.5));
}

#[test]
fn a_path_without_agents_is_at_depth_zero() {
    let nobody = Metadata::known(SESSION.into(), &[], None);
    assert_eq!((nobody.delegation_depth, nobody.agent_type.as_str()), (0, ""));
}

#[test]
fn the_names_of_the_checks_are_the_ones_in_json() {
    for check in Check::ALL {
        assert_eq!(serde_json::to_value(check).unwrap(), check.to_string());
    }
}

#[test]
fn where_a_name_stands_twice_the_last_one_counts() {
    let text = good().to_string();
    let twice = text.replacen('{', r#"{"summary": 1, "data": 1, "sum\u006dary": "First.", "#, 1);
    let claimed = check_text(&twice).unwrap();
    assert_eq!((claimed.summary.as_str(), claimed.data), ("Made it.", Some(json!(1))));
    let open = text.strip_suffix('}').unwrap();
    let later = format!(r#"{open}, "sum\u006dary": "Last.", "data": 2, "data": null}}"#);
    let claimed = check_text(&later).unwrap();
    assert_eq!((claimed.summary.as_str(), claimed.data), ("Last.", None));
}

proptest! {
    #[test]
    fn any_value_anywhere_has_an_answer(
        place in prop::sample::select(vec![
            "/status", "/summary", "/artifacts", "/artifacts/0", "/artifacts/0/path",
            "/artifacts/0/type", "/metadata", "/metadata/session_id",
            "/metadata/delegation_path", "/metadata/delegation_depth", "/errors",
        ]),
        value in any_json(),
    ) {
        let mut made = good();
        *made.pointer_mut(place).unwrap() = value;
        let outcome = check(&made);
        prop_assert_eq!(&outcome, &check_text(&made.to_string()));
        // What was accepted once is accepted as it was written down.
        let again = outcome.clone().and_then(|read| check(&serde_json::to_value(read).unwrap()));
        prop_assert_eq!(again, outcome);
    }
}
