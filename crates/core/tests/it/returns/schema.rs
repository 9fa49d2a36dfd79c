use expect_test::expect;
use legation_core::returns::{CompiledSchema, Expectation, MAX_SCHEMA_BYTES};
use serde_json::{Value, json};

use super::{SESSION, disk, good, told};

/// What the checks say about this data under this schema.
fn under(schema: &Value, data: Value) -> String {
    let schema = &CompiledSchema::compile(schema).unwrap();
    let mut value = good();
    value["data"] = data;
    outcome(schema, &value)
}

fn outcome(schema: &CompiledSchema, value: &Value) -> String {
    let expect = Expectation { session_id: &SESSION.into(), schema: Some(schema) };
    told(legation_core::returns::check(value, &expect, &disk))
}

fn nested(levels: usize, leaf: Value) -> Value {
    (0..levels).fold(leaf, |inner, _| json!({"a": inner}))
}

#[test]
fn data_has_to_match_the_schema() {
    let schema = json!({
        "type": "object",
        "properties": {
            "decision": {"enum": ["A", "B"]},
            "scores": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        },
        "required": ["decision"],
        "additionalProperties": false,
    });
    let data = [
        json!({"decision": "A"}),
        json!({"decision": "A", "scores": [1, 2]}),
        json!({}),
        json!({"decision": "C"}),
        json!({"decision": "A", "scores": [1, "two"]}),
        json!({"decision": "A", "scores": [-1]}),
        json!({"decision": "A", "other": 1}),
        json!("A"),
        json!([]),
        json!({"decision": "x".repeat(2_000)}),
    ];
    let told: String = data.map(|data| format!("{}\n", under(&schema, data))).concat();
    expect![[r#"
        valid
        valid
        schema: `data`: "decision" is a required property
            make `data` match the JSON Schema in the brief
        schema: `data/decision`: "C" is not one of "A" or "B"
            make `data` match the JSON Schema in the brief
        schema: `data/scores/1`: "two" is not of type "integer"
            make `data` match the JSON Schema in the brief
        schema: `data/scores/0`: -1 is less than the minimum of 0
            make `data` match the JSON Schema in the brief
        schema: `data`: Additional properties are not allowed ('other' was unexpected)
            make `data` match the JSON Schema in the brief
        schema: `data`: "A" is not of type "object"
            make `data` match the JSON Schema in the brief
        schema: `data`: [] is not of type "object"
            make `data` match the JSON Schema in the brief
        schema: `data/decision`: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
            make `data` match the JSON Schema in the brief
    "#]].assert_eq(&told);
}

#[test]
fn data_is_needed_only_if_completed() {
    let schema = &CompiledSchema::compile(&json!({"type": "object"})).unwrap();
    let mut value = good();
    expect![[r#"
        schema: `data` is missing
            make `data` match the JSON Schema in the brief"#]]
    .assert_eq(&outcome(schema, &value));
    value["status"] = json!("failed");
    value["errors"] =
        json!([{"type": "t", "message": "m", "recoverable": true, "recommendation": ""}]);
    assert_eq!(outcome(schema, &value), "valid");
    value["data"] = json!(1);
    assert!(outcome(schema, &value).starts_with("schema: "));
}

#[test]
fn other_checks_come_before_the_schema() {
    let schema = &CompiledSchema::compile(&json!(false)).unwrap();
    let mut value = good();
    value["data"] = json!(1);
    assert!(outcome(schema, &value).starts_with("schema: "));
    value["artifacts"][0]["path"] = json!("missing");
    assert!(outcome(schema, &value).starts_with("artifacts: "));
}

#[test]
fn a_schema_that_cannot_be_used_says_why() {
    let deep = (0..200).fold(json!({}), |inner, _| json!({"properties": {"a": inner}}));
    let chain: Value = (0..300)
        .map(|n| (format!("d{n}"), json!({"$ref": format!("#/$defs/d{}", n + 1)})))
        .collect();
    let doubling: Value = (0..40)
        .map(|n| {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            (format!("d{n}"), json!({"allOf": [next, next]}))
        })
        .collect();
    let schemas = [
        json!(3),
        json!("string"),
        json!(null),
        json!({"type": "nonsense"}),
        json!({"properties": {"a": {"minimum": "one"}}}),
        json!({"pattern": "("}),
        json!({"pattern": "(a)\\1"}),
        json!({"pattern": "(((a{1,100}){1,100}){1,100})"}),
        json!({"$ref": "#/$defs/nowhere"}),
        json!({"$ref": "http://127.0.0.1:9/schema.json"}),
        json!({"$ref": "file:///etc/hostname"}),
        json!({"$ref": "other.json"}),
        json!({"$schema": "http://example.com/own"}),
        deep.clone(),
        json!({"$defs": {"unused": deep}}),
        json!({"$ref": "#/$defs/d0", "$defs": chain}),
        json!({"$ref": "#/$defs/d0", "$defs": doubling}),
        json!({"description": "x".repeat(MAX_SCHEMA_BYTES)}),
    ];
    let told: String = schemas
        .iter()
        .map(|schema| format!("{}\n", CompiledSchema::compile(schema).unwrap_err()))
        .collect();
    expect![[r##"
        #: 3 is not of types "boolean", "object"
        #: "string" is not of types "boolean", "object"
        #: null is not of types "boolean", "object"
        #/type: "nonsense" is not valid under any of the schemas listed in the 'anyOf' keyword
        #/properties/a/minimum: "one" is not of type "number"
        #/pattern: "(" is not a "regex"
        #/pattern: "(a)\\1" is not a "regex"
        #/pattern: "(((a{1,100}){1,100}){1,100})" is not a "regex"
        #: Pointer '/$defs/nowhere' does not exist
        #: Resource 'http://127.0.0.1:9/schema.json' is not present in a registry and retrieving it failed: Retrieval is disabled, cannot fetch http://127.0.0.1:9/schema.json
        #: Resource 'file:///etc/hostname' is not present in a registry and retrieving it failed: Retrieval is disabled, cannot fetch file:///etc/hostname
        #: Resource 'other.json' is not present in a registry and retrieving it failed: No base URI is available
        #: Unknown meta-schema: 'http://example.com/own'. Custom meta-schemas must be registered in the registry before use
        the schema is nested more than 128 levels deep
        the schema is nested more than 128 levels deep
        the schema is nested more than 128 levels deep
        the schema has more than 20000 parts once its references are followed
        the schema has 262162 bytes; at most 262144 are allowed
    "##]].assert_eq(&told);
}

#[test]
fn schemas_that_refer_to_themselves_end() {
    let schemas = [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"$dynamicAnchor": "x", "allOf": [{"$dynamicRef": "#x"}]}),
        json!({"$id": "https://example.com/me", "properties": {"a": {"$ref": "me"}}}),
        json!({"$defs": {"n": {"$anchor": "n", "properties": {"a": {"$ref": "#n"}}}}, "$ref": "#n"}),
        json!({"properties": {"a": {"$ref": "#"}}}),
    ];
    for schema in schemas {
        assert_eq!(under(&schema, nested(100, json!(1))), "valid", "{schema}");
    }
}

#[test]
fn data_made_to_try_every_branch_is_answered_at_once() {
    // Both branches fit every level, so that naming the mismatch would try 2^100 ways.
    let branch = json!({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]});
    let schema = json!({"anyOf": [{"type": "integer"}, branch, branch]});
    assert_eq!(under(&schema, nested(100, json!(1))), "valid");
    expect![[r#"
        schema: `data` does not match the agent's schema
            make `data` match the JSON Schema in the brief"#]]
    .assert_eq(&under(&schema, nested(100, json!("bad"))));
    assert!(under(&schema, nested(2, json!("bad"))).contains("is not valid under any"));
}

#[test]
fn a_pattern_runs_in_linear_time() {
    let schema = json!({"pattern": "^(a+)+$"});
    let text = format!("{}b", "a".repeat(100_000));
    assert!(under(&schema, json!(text)).starts_with("schema: "));
}

#[test]
fn a_compiled_schema_can_be_shown_and_shared() {
    fn shared<T: Send + Sync>(_: &T) {}
    let schema = CompiledSchema::compile(&json!(true)).unwrap();
    shared(&schema);
    assert_eq!(format!("{schema:?}"), "CompiledSchema { .. }");
}
