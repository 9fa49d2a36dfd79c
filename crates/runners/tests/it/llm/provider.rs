//! Which provider a name means.

use std::collections::BTreeMap;

use expect_test::expect;
use legation_runners::llm::Provider;

/// A model and an environment.
type Case<'a> = (Option<&'a str>, &'a [(&'a str, &'a str)]);

fn told(model: Option<&str>, env: &[(&str, &str)]) -> String {
    let env: BTreeMap<String, String> =
        env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    match Provider::of(model, &env) {
        Ok(provider) => {
            let key = provider.key.as_ref().map_or("no key", |(name, _)| name);
            let local = if provider.is_local() { ", local" } else { "" };
            format!("{} at {} ({key}{local})\n", provider.model, provider.url)
        }
        Err(fault) => format!("{}: {}\n", fault.kind.as_str(), fault.message),
    }
}

#[test]
fn a_name_says_whose_model_it_is() {
    let keys = [
        ("ANTHROPIC_API_KEY", "a"),
        ("OPENAI_API_KEY", "o"),
        ("OPENROUTER_API_KEY", "r"),
        ("GEMINI_API_KEY", "g"),
    ];
    let names = [
        "anthropic/claude-opus-4-5",
        "claude-haiku-4-5",
        "openai/gpt-5",
        "o3-mini",
        "openrouter/meta/llama-4",
        "ollama/llama3.2",
        "vllm/qwen",
        "gemini-2.5-flash",
        "groq/llama",
        "qwen3",
        "nobody/x",
    ];
    let all: String = names.iter().map(|name| told(Some(name), &keys)).collect();
    expect![[r#"
        claude-opus-4-5 at https://api.anthropic.com/v1/messages (x-api-key)
        claude-haiku-4-5 at https://api.anthropic.com/v1/messages (x-api-key)
        gpt-5 at https://api.openai.com/v1/chat/completions (authorization)
        o3-mini at https://api.openai.com/v1/chat/completions (authorization)
        meta/llama-4 at https://openrouter.ai/api/v1/chat/completions (authorization)
        llama3.2 at http://127.0.0.1:11434/v1/chat/completions (no key, local)
        qwen at http://127.0.0.1:8000/v1/chat/completions (no key, local)
        gemini-2.5-flash at https://generativelanguage.googleapis.com/v1beta/openai/chat/completions (authorization)
        login: There is no key for `groq/llama`: set GROQ_API_KEY.
        not_started: Nobody knows whose model `qwen3` is; write it as `provider/model`.
        not_started: Nobody knows whose model `nobody/x` is; write it as `provider/model`.
    "#]]
    .assert_eq(&all);
}

#[test]
fn the_environment_says_where_it_is() {
    let cases: [Case<'_>; 8] = [
        (Some("qwen3"), &[("OPENAI_BASE_URL", "http://10.0.0.5:8000/v1/")]),
        (
            Some("claude-x"),
            &[("ANTHROPIC_BASE_URL", "http://localhost:8900"), ("ANTHROPIC_AUTH_TOKEN", "t")],
        ),
        (Some("claude-x"), &[("ANTHROPIC_BASE_URL", "https://proxy.example/v1")]),
        (Some("ollama/x"), &[("OLLAMA_HOST", "gpu:11434")]),
        (Some("ollama/x"), &[("OLLAMA_HOST", "https://gpu/v1")]),
        (Some("openai/x"), &[("OPENAI_BASE_URL", "ftp://x")]),
        (Some("openai/x"), &[("OPENAI_API_KEY", " ")]),
        (None, &[]),
    ];
    let all: String = cases.iter().map(|(model, env)| told(*model, env)).collect();
    expect![[r#"
        qwen3 at http://10.0.0.5:8000/v1/chat/completions (no key)
        claude-x at http://localhost:8900/v1/messages (authorization, local)
        claude-x at https://proxy.example/v1/messages (no key)
        x at http://gpu:11434/v1/chat/completions (no key)
        x at https://gpu/v1/chat/completions (no key)
        not_started: `OPENAI_BASE_URL` is no address of a provider: ftp://x
        login: There is no key for `openai/x`: set OPENAI_API_KEY.
        not_started: The agent names no `model`; write `anthropic/…`, `openai/…` or `ollama/…`.
    "#]]
    .assert_eq(&all);
}
