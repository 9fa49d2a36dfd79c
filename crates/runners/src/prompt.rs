//! The brief in words, for agents that read rather than parse.
//!
//! What is said comes from a template that a project may replace. Whatever other agents
//! said stands in it as data: it was made harmless when the brief was put together.

use legation_core::tree::brief::Brief;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Value};

/// The template that is used where a project has none.
const BUILT_IN: &str = include_str!("prompt/brief.md.jinja");
/// What that is called in messages.
const BUILT_IN_NAME: &str = "brief.md";
/// How much work a template may make: rendering ends here, whatever is in it.
const FUEL: u64 = 1_000_000;

/// A template of a project's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// What it is called in messages.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// Why a template cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("The template of the brief cannot be used; mend it, or remove it: {0}")]
pub struct Error(String);

/// The brief in words.
pub fn render(template: Option<&Template>, brief: &Brief) -> Result<String, Error> {
    let problem = |problem: minijinja::Error| Error(format!("{problem:#}"));
    let (name, text) = match template {
        Some(template) => (template.name.as_str(), template.text.as_str()),
        None => (BUILT_IN_NAME, BUILT_IN),
    };
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.map_err(problem)?);
    environment.set_fuel(Some(FUEL));
    environment.add_template(name, text).map_err(problem)?;
    let rendered = environment
        .get_template(name)
        .and_then(|template| template.render(Value::from(Serde(brief))));
    rendered.map_err(problem)
}
