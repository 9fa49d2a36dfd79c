//! How much of what children returned enters their parent's context.

use expect_test::expect;
use legation_core::returns::told_to_parent;
use serde_json::{Value, json};

fn view(subtasks: usize, summary: &str, data: &Value) -> Value {
    let subtask = |no: usize| {
        json!({
            "id": format!("s{no}"), "status": "completed", "failure": null,
            "return": {
                "status": "completed", "summary": summary, "artifacts": [], "errors": [],
                "metadata": {"session_id": "sess_1_abcdef"}, "data": data,
            },
            "delegations": [],
        })
    };
    json!({
        "delegationId": "del-1", "status": "completed",
        "subtasks": (1..=subtasks).map(subtask).collect::<Vec<_>>(),
        "result": {"summary": summary, "data": data, "artifacts": []},
    })
}

/// Characters of the result and of all returns.
fn returned(view: &Value) -> usize {
    let subtasks = view["subtasks"].as_array().unwrap();
    let returns = subtasks.iter().map(|subtask| subtask["return"].to_string());
    returns.chain([view["result"].to_string()]).map(|text| text.chars().count()).sum()
}

#[test]
fn what_fits_is_told_as_it_is() {
    let all = view(3, "fine", &json!({"n": [1, 2, 3]}));
    assert_eq!(told_to_parent(all.clone()), all);
}

#[test]
fn all_of_it_together_is_held_to_two_thousand_tokens() {
    let datas = [
        json!("y".repeat(20_000)),
        json!((0..5_000).collect::<Vec<_>>()),
        (0..100).map(|n| (n.to_string(), json!("y".repeat(1_000)))).collect(),
        json!({"small": true}),
    ];
    for subtasks in [1, 5, 64] {
        for data in &datas {
            for summary in ["s", &"\u{1}ü\n".repeat(160)] {
                let told = told_to_parent(view(subtasks, summary, data));
                assert!(returned(&told) <= 8_000, "{subtasks}: {}", returned(&told));
            }
        }
    }
}

#[test]
fn words_stay_before_data_and_data_goes_whole() {
    let told = told_to_parent(view(1, "done", &json!({"long": "y".repeat(9_000)})));
    expect![[r#"
        {
          "delegationId": "del-1",
          "status": "completed",
          "subtasks": [
            {
              "id": "s1",
              "status": "completed",
              "failure": null,
              "return": {
                "status": "completed",
                "summary": "done",
                "artifacts": [],
                "errors": [],
                "metadata": {
                  "session_id": "sess_1_abcdef"
                },
                "data": "[9011 characters of JSON left out]"
              },
              "delegations": []
            }
          ],
          "result": {
            "summary": "done",
            "data": "[9011 characters of JSON left out]",
            "artifacts": []
          },
          "shortened": "17950 characters left out; all of it: legation status del-1 --full"
        }"#]]
    .assert_eq(&format!("{told:#}"));
}

#[test]
fn each_child_has_its_share_of_the_words() {
    let told = told_to_parent(view(40, &"word ".repeat(100), &Value::Null));
    let of = |no: usize| told["subtasks"][no]["return"]["summary"].as_str().unwrap().len();
    assert!(of(0) > 20 && of(39) > 20, "{} {}", of(0), of(39));
    assert!(told["subtasks"][39]["return"]["summary"].as_str().unwrap().ends_with('…'));
}

#[test]
fn of_what_lies_below_only_how_it_ended_is_left() {
    let mut all = view(1, "done", &json!({"n": 1}));
    let mut below = view(1, "below", &json!({"long": "y".repeat(9_000)}));
    below["title"] = json!("A part");
    all["subtasks"][0]["delegations"] = json!([below]);
    let told = told_to_parent(all);
    assert_eq!(told["result"]["data"], json!({"n": 1}));
    let left = json!([{"delegationId": "del-1", "title": "A part", "status": "completed"}]);
    assert_eq!(told["subtasks"][0]["delegations"], left);
}
