//! A model that answers with the story. A command is a tool that it wants used.

use serde_json::{Value, json};

use super::super::story::{End, Part, Turn};
use super::Played;
use crate::llm::server::{Script, anthropic_events, serve};

pub(super) fn play(turns: &[Turn]) -> Played {
    let (address, asked) = serve(turns.iter().flat_map(scripts).collect());
    Played { address, asked: Some(asked) }
}

fn scripts(turn: &Turn) -> Vec<Script> {
    let mut scripts = Vec::new();
    let mut blocks = Vec::new();
    let mut before = turn.before.clone();
    let mut body = |blocks: &[Value], is_whole: bool| {
        let mut events = anthropic_events(blocks);
        if turn.is_unused {
            events.iter_mut().for_each(|event| {
                event.as_object_mut().unwrap().remove("usage");
                if let Some(message) = event.get_mut("message") {
                    *message = json!({});
                }
            });
        }
        if !is_whole {
            events.truncate(events.len() - 2);
        }
        let data = events.iter().map(|event| format!("data: {event}\n\n"));
        let mut body = std::mem::take(&mut before);
        body.extend(data.collect::<String>().into_bytes());
        Script::raw(body)
    };
    for part in &turn.parts {
        match part {
            Part::Says(text) => blocks.push(json!({ "text": text })),
            Part::Runs(command) | Part::IsDenied(command) => {
                blocks.push(json!({"tool": "shell", "input": {"command": command}}));
                scripts.push(body(&blocks, true));
                blocks.clear();
            }
        }
    }
    match turn.end {
        End::Over => scripts.push(body(&blocks, true)),
        // It is asked for again.
        End::Breaks => scripts.extend((0..3).map(|_| body(&blocks, false).cut())),
        End::Hangs => scripts.push(body(&blocks, false).held()),
        End::Limited => scripts.push(Script::refusal(429, "retry-after: 77\r\n", "busy")),
    }
    scripts
}
