use std::os::unix::fs::symlink;

use expect_test::expect;

use crate::session::Session;

const SESSION: &str = "sess_1735460684_a1b2c3";
const CHECK: [&str; 4] = ["check-return", "--session-id", SESSION, "-"];

fn returned(status: &str, path: &str) -> String {
    format!(
        r#"{{"status":"{status}","summary":"Made it.","artifacts":[{{"type":"implementation","path":"{path}"}}],
            "metadata":{{"session_id":"{SESSION}","agent_type":"maker","delegation_depth":1,"delegation_path":["user","maker"]}},
            "data":{{"answer":42}}}}"#
    )
}

/// A project with a file, an empty one, folders, and links out.
fn project() -> Session {
    let session = Session::new();
    session.write("out.txt", "x");
    session.write("empty.txt", "");
    session.write("src/deep/a.rs", "x");
    std::fs::create_dir(session.dir().join("hollow")).unwrap();
    symlink("/etc/passwd", session.dir().join("link")).unwrap();
    symlink("../home", session.dir().join("up")).unwrap();
    session
}

#[test]
fn a_good_return_is_valid_and_comes_back_in_its_normal_form() {
    let session = project();
    let output = format!("Done.\n```json\n{}\n```\n", returned("completed", "./src/"));
    expect![[r#"
        valid
    "#]]
    .assert_eq(&session.run_with(&CHECK, output.as_bytes()));
    let json = ["check-return", "--json", "--session-id", SESSION, "--workspace", ".", "-"];
    expect![[r#"
        {
          "valid": true,
          "check": null,
          "code": null,
          "message": null,
          "hint": null,
          "return": {
            "status": "completed",
            "summary": "Made it.",
            "artifacts": [
              {
                "type": "implementation",
                "path": "src"
              }
            ],
            "metadata": {
              "session_id": "sess_1735460684_a1b2c3",
              "agent_type": "maker",
              "delegation_depth": 1,
              "delegation_path": [
                "user",
                "maker"
              ]
            },
            "errors": [],
            "data": {
              "answer": 42
            }
          }
        }
    "#]]
    .assert_eq(&session.run_with(&json, output.as_bytes()));
}

#[test]
fn the_disk_is_asked_about_artifacts() {
    let session = project();
    let paths = [
        "out.txt",
        "src",
        "missing.txt",
        "empty.txt",
        "hollow",
        "link",
        "up",
        "up/x",
        "../x",
        "/etc/passwd",
    ];
    let told: String = paths
        .map(|path| {
            format!(
                "$ {path}\n{}",
                session.run_with(&CHECK, returned("completed", path).as_bytes())
            )
        })
        .concat();
    expect![[r#"
        $ out.txt
        valid
        $ src
        valid
        $ missing.txt
        invalid: the check `artifacts` failed
          `artifacts[0].path` "missing.txt" does not exist in the workspace
          write the file, or take it off the list, or do not claim `completed`
        [exit 1]
        $ empty.txt
        invalid: the check `artifacts` failed
          `artifacts[0].path` "empty.txt" has no content
          write the file, or take it off the list, or do not claim `completed`
        [exit 1]
        $ hollow
        invalid: the check `artifacts` failed
          `artifacts[0].path` "hollow" has no content
          write the file, or take it off the list, or do not claim `completed`
        [exit 1]
        $ link
        invalid: the check `artifacts` failed
          `artifacts[0].path` "link" is a link that leads out of the workspace
          list files that lie in the workspace itself
        [exit 1]
        $ up
        invalid: the check `artifacts` failed
          `artifacts[0].path` "up" is a link that leads out of the workspace
          list files that lie in the workspace itself
        [exit 1]
        $ up/x
        invalid: the check `artifacts` failed
          `artifacts[0].path` "up/x" is a link that leads out of the workspace
          list files that lie in the workspace itself
        [exit 1]
        $ ../x
        invalid: the check `artifacts` failed
          `artifacts[0].path` "../x" has a `..` step, which could leave the workspace
          give the path of a file or folder inside the workspace, such as `src/lib.rs`
        [exit 1]
        $ /etc/passwd
        invalid: the check `artifacts` failed
          `artifacts[0].path` "/etc/passwd" is absolute; paths are relative to the workspace
          give the path of a file or folder inside the workspace, such as `src/lib.rs`
        [exit 1]
    "#]]
    .assert_eq(&told);
}

#[test]
fn the_workspace_is_where_it_is_said_to_be() {
    let session = project();
    session.write("return.txt", returned("completed", "a.rs"));
    let args = ["check-return", "--session-id", SESSION, "--workspace", "src/deep", "return.txt"];
    expect![[r#"
        valid
    "#]]
    .assert_eq(&session.run(&args));
}

#[test]
fn a_failure_in_json_names_the_check_the_code_and_what_to_do() {
    let session = project();
    let json = ["check-return", "--json", "--session-id", "sess_1_other", "-"];
    expect![[r#"
        {
          "valid": false,
          "check": "session",
          "code": "VALIDATION_FAILED",
          "message": "`metadata.session_id` is \"sess_1735460684_a1b2c3\", expected \"sess_1_other\"",
          "hint": "copy the session id from the brief"
        }
        [exit 1]
    "#]]
        .assert_eq(&session.run_with(&json, returned("completed", "out.txt").as_bytes()));
    expect![[r#"
        {
          "valid": false,
          "check": "json",
          "code": "VALIDATION_FAILED",
          "message": "Return is not valid JSON",
          "hint": "there is no JSON object in the output; end the output with one JSON object and nothing after it"
        }
        [exit 1]
    "#]].assert_eq(&session.run_with(&json, b"I am done, all is well."));
}

#[test]
fn data_is_held_against_a_schema() {
    let session = project();
    session.write("fits.json", r#"{"properties":{"answer":{"type":"integer"}}}"#);
    session.write("does-not.json", r#"{"properties":{"answer":{"type":"string"}}}"#);
    let output = returned("completed", "out.txt");
    let told = ["fits.json", "does-not.json"].map(|schema| {
        let args = ["check-return", "--session-id", SESSION, "--schema", schema, "-"];
        session.run_with(&args, output.as_bytes())
    });
    expect![[r#"
        valid
        invalid: the check `schema` failed
          `data/answer`: 42 is not of type "string"
          make `data` match the JSON Schema in the brief
        [exit 1]
    "#]]
    .assert_eq(&told.concat());
}

#[test]
fn input_that_is_not_text_or_too_long_fails_the_first_check() {
    let session = project();
    expect![[r#"
        invalid: the check `json` failed
          Return is not valid JSON
          byte 12 is not UTF-8; write the return in UTF-8
        [exit 1]
    "#]]
    .assert_eq(&session.run_with(&CHECK, b"{\"status\": \"\xff\xfe\"}"));
    session.write("huge.txt", vec![b' '; (16 << 20) + 1]);
    let args = ["check-return", "--session-id", SESSION, "huge.txt"];
    expect![[r#"
        invalid: the check `json` failed
          The output has more than 16777216 bytes
          check the end of it alone
        [exit 1]
    "#]]
    .assert_eq(&session.run(&args));
    session.write("deep.txt", "{\"a\":".repeat(200_000));
    let args = ["check-return", "--session-id", SESSION, "deep.txt"];
    expect![[r#"
        invalid: the check `json` failed
          Return is not valid JSON
          line 1, column 1000001: the output ends inside the object; end the output with one JSON object and nothing after it
        [exit 1]
    "#]].assert_eq(&session.run(&args));
}

#[test]
fn an_agents_words_do_not_reach_the_terminal_as_they_are() {
    let session = project();
    let output = returned("completed", "\\u001b[2J\\u202egone");
    expect![[r#"
        invalid: the check `artifacts` failed
          `artifacts[0].path` "\u{1b}[2J\u{202e}gone" contains a control character
          give the path of a file or folder inside the workspace, such as `src/lib.rs`
        [exit 1]
    "#]]
    .assert_eq(&session.run_with(&CHECK, output.as_bytes()));
}

#[test]
fn files_that_are_not_there_or_not_usable_are_named() {
    let session = project();
    session.write("not-json.json", "{");
    session.write("remote.json", r#"{"$ref":"https://example.com/schema.json"}"#);
    let lines: [&[&str]; 9] = [
        &["missing.txt"],
        &["src"],
        &["--workspace", "nowhere", "-"],
        &["--workspace", "out.txt", "-"],
        &["--schema", "nowhere.json", "-"],
        &["--schema", "not-json.json", "-"],
        &["--schema", "remote.json", "-"],
        &["--json", "--schema", "remote.json", "-"],
        &["--json", "missing.txt"],
    ];
    let told: String = lines
        .iter()
        .map(|line| {
            let args = [&["check-return", "--session-id", SESSION][..], line].concat();
            format!("$ {}\n{}", line.join(" "), session.run(&args))
        })
        .collect();
    expect![[r#"
        $ missing.txt
        ! ERROR: cannot read missing.txt: No such file or directory (os error 2)
        ! Suggestion: check the path, or write - to read from stdin
        [exit 1]
        $ src
        ! ERROR: cannot read src: Is a directory (os error 21)
        ! Suggestion: pass a file that you may read, or - for stdin
        [exit 1]
        $ --workspace nowhere -
        ! ERROR: cannot use the workspace nowhere: No such file or directory (os error 2)
        ! Suggestion: check the path; it is relative to the current folder
        [exit 1]
        $ --workspace out.txt -
        ! ERROR: the workspace out.txt is not a folder
        ! Suggestion: name the folder in which the agent worked
        [exit 2]
        $ --schema nowhere.json -
        ! ERROR: cannot read nowhere.json: No such file or directory (os error 2)
        ! Suggestion: check the path, or write - to read from stdin
        [exit 1]
        $ --schema not-json.json -
        ! ERROR: not-json.json is not a usable JSON Schema: EOF while parsing an object at line 1 column 1
        ! Suggestion: mend the file; references to other documents are not followed
        [exit 2]
        $ --schema remote.json -
        ! ERROR: remote.json is not a usable JSON Schema: #: Resource 'https://example.com/schema.json' is not present in a registry and retrieving it failed: Retrieval is disabled, cannot fetch https://example.com/schema.json
        ! Suggestion: mend the file; references to other documents are not followed
        [exit 2]
        $ --json --schema remote.json -
        {
          "error": {
            "code": "VALIDATION_FAILED",
            "message": "remote.json is not a usable JSON Schema: #: Resource 'https://example.com/schema.json' is not present in a registry and retrieving it failed: Retrieval is disabled, cannot fetch https://example.com/schema.json",
            "hint": "mend the file; references to other documents are not followed",
            "details": null
          }
        }
        [exit 2]
        $ --json missing.txt
        {
          "error": {
            "code": "FILE_NOT_FOUND",
            "message": "cannot read missing.txt: No such file or directory (os error 2)",
            "hint": "check the path, or write - to read from stdin",
            "details": {
              "file": "missing.txt"
            }
          }
        }
        [exit 1]
    "#]].assert_eq(&told);
}

#[test]
fn the_session_is_needed() {
    let session = project();
    expect![[r#"
        ! ERROR: the following required arguments were not provided: --session-id <S>
        ! Suggestion: write `legation check-return --session-id <S> <FILE>`; `legation check-return --help` tells what it takes
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["check-return", "-"]));
    expect![[r#"
        ! ERROR: --session-id is empty
        ! Suggestion: give the session id of the brief, such as sess_1735460684_a1b2c3
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["check-return", "--session-id", " ", "-"]));
}
