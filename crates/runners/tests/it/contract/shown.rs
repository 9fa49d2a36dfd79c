//! Events as text, a line each.

use std::fmt::Write as _;

use legation_runners::envoy::Event;

/// What was heard, in words; signs of life are left out.
pub(crate) fn shown(events: &[Event]) -> String {
    let mut text = String::new();
    for event in events {
        let _ = match event {
            Event::Text(said) => writeln!(text, "said {said:?}"),
            Event::Tool { tool, what } => writeln!(text, "uses {tool}: {what}"),
            Event::ToolOver => writeln!(text, "a tool came back"),
            Event::Denied { tool, why } => {
                writeln!(text, "denied {tool}: {}", why.chars().take(60).collect::<String>())
            }
            Event::Unavailable { server, why } => writeln!(text, "without {server}: {why}"),
            Event::Used { usage, model } => {
                let tokens = usage.tokens;
                let cost = usage.cost.map_or("unknown".to_owned(), |cost| cost.to_string());
                let model = model.as_deref().unwrap_or("some model");
                writeln!(
                    text,
                    "used {} in, {} out, {} reasoning, {} read, {} written, {cost} by {model}",
                    tokens.input,
                    tokens.output,
                    tokens.reasoning,
                    tokens.cache_read,
                    tokens.cache_write
                )
            }
            Event::Context(tokens) => writeln!(text, "{tokens} in its context"),
            Event::Conversation(name) => writeln!(text, "calls it {name}"),
            Event::Alive => Ok(()),
        };
    }
    text
}
