//! Chat completions: what is asked, and what the stream says.
//!
//! Pure. Several providers speak this with small differences; what is taken for granted
//! here is what they have in common.

use legation_core::money::Usd;
use legation_core::returns::Tokens;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::message::{Call, Message, Reply, Request, Stop, Trouble};

/// What ends a stream.
const DONE: &[u8] = b"[DONE]";

/// The body of a request.
pub(super) fn body(request: &Request<'_>) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    body.insert("stream".to_owned(), json!(true));
    body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    if let Some(temperature) = request.temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(tokens) = request.max_tokens {
        body.insert("max_completion_tokens".to_owned(), json!(tokens));
    }
    let tools: Vec<Value> = request
        .offers
        .iter()
        .map(|offer| {
            let function = json!({
                "name": offer.name, "description": offer.description, "parameters": offer.schema,
            });
            json!({"type": "function", "function": function})
        })
        .collect();
    if !tools.is_empty() {
        body.insert("tools".to_owned(), tools.into());
    }
    let mut messages = Vec::new();
    if !request.instructions.is_empty() {
        messages.push(json!({"role": "system", "content": request.instructions}));
    }
    request.messages.iter().for_each(|message| add(&mut messages, message));
    body.insert("messages".to_owned(), messages.into());
    body.into()
}

fn add(messages: &mut Vec<Value>, message: &Message) {
    match message {
        Message::User(text) => messages.push(json!({"role": "user", "content": text})),
        Message::Model { text, calls } if calls.is_empty() => {
            messages.push(json!({"role": "assistant", "content": text}));
        }
        Message::Model { text, calls } => {
            let calls: Vec<Value> = calls
                .iter()
                .map(|call| {
                    // Some servers refuse a conversation with arguments that are no JSON.
                    let is_json =
                        serde_json::from_str::<serde::de::IgnoredAny>(&call.arguments).is_ok();
                    let arguments = if is_json { call.arguments.as_str() } else { "{}" };
                    let function = json!({"name": call.name, "arguments": arguments});
                    json!({"id": call.id, "type": "function", "function": function})
                })
                .collect();
            let words = (!text.is_empty()).then_some(text);
            messages.push(json!({"role": "assistant", "content": words, "tool_calls": calls}));
        }
        Message::Results(answers) => messages.extend(answers.iter().map(
            |answer| json!({"role": "tool", "tool_call_id": answer.id, "content": answer.text}),
        )),
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Chunk {
    choices: Vec<Choice>,
    usage: Option<Usage>,
    error: Option<Wrong>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Choice {
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Delta {
    content: Option<String>,
    tool_calls: Option<Vec<Piece>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Piece {
    index: Option<u64>,
    id: Option<String>,
    function: Option<Function>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Function {
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Usage {
    prompt_tokens: u64,
    completion_tokens: u64,
    prompt_tokens_details: Option<InputDetails>,
    completion_tokens_details: Option<OutputDetails>,
    /// Dollars, which one provider tells.
    cost: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Wrong {
    #[serde(rename = "type")]
    kind: Option<String>,
    code: Option<Value>,
    message: String,
}

/// Listens to one answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream {
    /// What was heard.
    pub(super) reply: Reply,
    /// Which call each one is, in the provider's count.
    places: Vec<u64>,
    stop: Option<Stop>,
}

impl Stream {
    /// Takes the data of one event. What makes no sense is passed over: if it mattered,
    /// the answer never ends.
    pub(super) fn take(&mut self, data: &[u8]) -> Result<(), Trouble> {
        if data.trim_ascii() == DONE {
            self.reply.stop = self.stop.or(Some(Stop::Done));
            return Ok(());
        }
        let Some(chunk) = super::stream::lenient::<Chunk>(data) else { return Ok(()) };
        if let Some(error) = chunk.error {
            let code = error.code.map(|code| code.as_str().map_or(code.to_string(), str::to_owned));
            let kind = code.or(error.kind).unwrap_or_default();
            return Err(Trouble { kind, message: error.message });
        }
        if let Some(usage) = &chunk.usage {
            self.count(usage);
        }
        for choice in chunk.choices {
            if let Some(delta) = choice.delta {
                self.hear(delta);
            }
            self.stop = match choice.finish_reason.as_deref() {
                Some("length") => Some(Stop::Length),
                Some("content_filter") => Some(Stop::Refused),
                Some(_) => Some(Stop::Done),
                None => self.stop,
            };
        }
        Ok(())
    }

    /// The stream has ended. Not every server says so.
    pub(super) fn finish(&mut self) {
        self.reply.stop = self.reply.stop.or(self.stop);
    }

    fn hear(&mut self, delta: Delta) {
        self.reply.text.push_str(&delta.content.unwrap_or_default());
        for piece in delta.tool_calls.unwrap_or_default() {
            let index = piece.index.unwrap_or(0);
            let id = piece.id.filter(|id| !id.is_empty());
            let known = self.places.iter().rposition(|place| *place == index);
            // Some count every call as the first; another name makes it another call.
            let known = known.filter(|at| {
                let known = self.reply.calls.get(*at).map(|call| &call.id);
                id.is_none() || known == id.as_ref()
            });
            let at = known.unwrap_or_else(|| {
                let made = format!("call_{}", self.reply.calls.len());
                let id = id.unwrap_or(made);
                self.reply.calls.push(Call { id, ..Call::default() });
                self.places.push(index);
                self.places.len() - 1
            });
            let (Some(call), Some(function)) = (self.reply.calls.get_mut(at), piece.function)
            else {
                continue;
            };
            call.name.push_str(&function.name.unwrap_or_default());
            call.arguments.push_str(&function.arguments.unwrap_or_default());
        }
    }

    fn count(&mut self, usage: &Usage) {
        let input = usage.prompt_tokens_details.as_ref();
        let cache_read = input.and_then(|input| input.cached_tokens).unwrap_or(0);
        let cache_write = input.and_then(|input| input.cache_write_tokens).unwrap_or(0);
        let output = usage.completion_tokens_details.as_ref();
        let reasoning = output.and_then(|output| output.reasoning_tokens).unwrap_or(0);
        let cached = cache_read.saturating_add(cache_write);
        self.reply.tokens = Tokens {
            input: usage.prompt_tokens.saturating_sub(cached),
            output: usage.completion_tokens.saturating_sub(reasoning),
            reasoning,
            cache_read,
            cache_write,
        };
        self.reply.cost = usage.cost.and_then(Usd::from_dollars).or(self.reply.cost);
    }
}
