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
/// What a template is called in messages.
const NAME: &str = "brief.md";
/// How much work a template may make: rendering ends here, whatever is in it.
const FUEL: u64 = 1_000_000;

/// Why a template cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the template of the brief cannot be used: {0}")]
pub struct Error(String);

/// The brief in words.
pub fn render(template: Option<&str>, brief: &Brief) -> Result<String, Error> {
    let problem = |problem: minijinja::Error| Error(format!("{problem:#}"));
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.map_err(problem)?);
    environment.set_fuel(Some(FUEL));
    environment.add_template(NAME, template.unwrap_or(BUILT_IN)).map_err(problem)?;
    let rendered = environment
        .get_template(NAME)
        .and_then(|template| template.render(Value::from(Serde(brief))));
    rendered.map_err(problem)
}
