//! Templates of a project's own: which of them is used, and what is told of a broken one.

use serde_json::json;

use super::models::{agent, listening_model, submit};
use super::stage::Stage;

/// A project whose model is asked what its templates say.
fn asked(templates: &[(&str, &str)]) -> String {
    let stage = Stage::new("");
    let (address, asked) = listening_model(vec![submit()]);
    agent(&stage, "", &address);
    std::fs::create_dir(stage.project().join(".legation/templates")).unwrap();
    for (name, text) in templates {
        stage.write(&format!(".legation/templates/{name}"), text);
    }
    let (_, view) = stage.json(&["delegate", "--agent", "m", "Count the ships"]);
    match asked.try_recv() {
        Ok(request) => request["messages"].to_string(),
        Err(_) => view["subtasks"][0]["return"]["errors"].to_string(),
    }
}

#[test]
fn the_template_of_the_agent_comes_before_its_runners_and_the_one_for_all() {
    let all = [
        ("m.md", "Own words: {{ task }}"),
        ("llm.md", "The runner's: {{ task }}"),
        ("brief.md", "For all: {{ task }}"),
    ];
    for (from, said) in
        ["Own words: Count the ships", "The runner's: Count the ships", "For all: Count the ships"]
            .into_iter()
            .enumerate()
    {
        let seen = asked(&all[from..]);
        assert!(seen.contains(said), "{seen}");
    }
    let built_in = asked(&[]);
    assert!(built_in.contains("Count the ships") && !built_in.contains("For all"), "{built_in}");
}

#[test]
fn a_broken_template_is_named_and_nobody_is_asked_anything() {
    let broken = asked(&[("m.md", "fine\n{% if task %}\nno end"), ("brief.md", "{{ task }}")]);
    assert!(broken.contains("cannot be used; mend it, or remove it"), "{broken}");
    assert!(broken.contains(".legation/templates/m.md:3"), "{broken}");
    assert!(broken.contains("VALIDATION_FAILED"), "{broken}");
    let endless = "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}";
    assert!(asked(&[("llm.md", endless)]).contains("fuel"));
    let long = "x".repeat((1 << 20) + 1);
    assert!(asked(&[("brief.md", &long)]).contains("more than 1048576 bytes"));
}

#[test]
fn agents_templates_and_configuration_can_be_committed_and_nothing_else() {
    let stage = Stage::new("");
    stage.agent("a", "", "legation submit --status completed --summary done");
    stage.write(".gitignore", "");
    std::fs::create_dir(stage.project().join(".legation/templates")).unwrap();
    stage.write(".legation/templates/a.md", "{{ task }}");
    let (_, view) = stage.json(&["delegate", "--agent", "a", "Do it"]);
    assert_eq!(view["status"], json!("completed"), "{view}");
    let seen = stage.shell("git add -A && git ls-files .legation");
    let files = ".gitignore agents/a.md config.toml templates/a.md";
    let files = files.split(' ').map(|file| format!(".legation/{file}\n")).collect::<String>();
    assert_eq!(String::from_utf8_lossy(&seen.stdout), files);
}
