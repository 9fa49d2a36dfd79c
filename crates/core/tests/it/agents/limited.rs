//! Who waits when a provider asks somebody to wait.

use std::collections::BTreeMap;

use expect_test::expect;
use legation_core::agent::{Definition, LegationKey, Runner};
use legation_core::ids::AgentId;

/// Agents as `id runner model program`, a line each; those that wait together, a line each.
fn together(agents: &str) -> String {
    let mut sharing: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for line in agents.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [id, runner, model, program] = words.as_slice() else { panic!("{line}") };
        let runner: Runner = serde_json::from_value((*runner).into()).unwrap();
        let legation =
            LegationKey { command: vec![(*program).to_owned()], ..LegationKey::default() };
        let model = Some((*model).to_owned());
        let definition = Definition { model, legation, ..Definition::default() };
        sharing.entry(runner.limited_as(&AgentId::new(id), &definition)).or_default().push(id);
    }
    sharing.values().map(|agents| agents.join(" ") + "\n").collect()
}

#[test]
fn agents_of_one_login_provider_or_program_wait_together() {
    let told = together(
        "ann   claude-code  opus             -
         ben   claude-code  haiku            -
         cleo  codex        gpt              -
         dan   gemini       flash            -
         eve   opencode     anthropic/opus   -
         finn  opencode     openai/gpt       -
         gus   opencode     anthropic/haiku  -
         hal   llm          anthropic/opus   -
         ida   llm          anthropic/haiku  -
         joe   llm          openai/gpt       -
         kim   acp          -                goose
         lea   acp          -                goose
         max   acp          -                other
         nia   command      -                ./same.sh
         oda   command      -                ./same.sh",
    );
    expect![[r#"
        kim lea
        max
        ann ben
        cleo
        nia
        oda
        dan
        hal ida
        joe
        eve gus
        finn
    "#]]
    .assert_eq(&told);
}
