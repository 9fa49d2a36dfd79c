//! An answer as it comes in, whichever way its provider says it.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::message::{Reply, Request, Trouble};
use super::provider::Dialect;
use super::sse::Sse;
use super::{anthropic, openai};

/// Listens to one answer: bytes in, the reply out.
#[derive(Clone, Debug)]
pub struct Stream {
    sse: Sse,
    words: Words,
}

#[derive(Clone, Debug)]
enum Words {
    Anthropic(anthropic::Stream),
    OpenAi(openai::Stream),
}

impl Stream {
    /// Nothing heard yet.
    pub fn new(dialect: Dialect) -> Self {
        let words = match dialect {
            Dialect::Anthropic => Words::Anthropic(anthropic::Stream::default()),
            Dialect::OpenAi => Words::OpenAi(openai::Stream::default()),
        };
        Self { sse: Sse::default(), words }
    }

    /// Takes the next piece of what the provider sends.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        let Self { sse, words } = self;
        let mut heard = Ok(());
        sse.push(bytes, |data| {
            if heard.is_ok() {
                heard = match words {
                    Words::Anthropic(stream) => stream.take(data),
                    Words::OpenAi(stream) => stream.take(data),
                };
            }
        });
        heard?;
        if self.reply().is_too_large() || self.sse.has_passed_over() {
            let message = "the answer is longer than anybody needs".to_owned();
            return Err(Trouble { kind: "too_large".to_owned(), message });
        }
        Ok(())
    }

    /// What was heard so far.
    pub fn reply(&self) -> &Reply {
        match &self.words {
            Words::Anthropic(stream) => &stream.reply,
            Words::OpenAi(stream) => &stream.reply,
        }
    }

    /// The provider has hung up: what was heard, whole or not.
    pub fn finish(self) -> Reply {
        match self.words {
            Words::Anthropic(stream) => stream.reply,
            Words::OpenAi(mut stream) => {
                stream.finish();
                stream.reply
            }
        }
    }
}

/// The body of a request in a provider's words.
pub fn body(dialect: Dialect, request: &Request<'_>) -> Value {
    match dialect {
        Dialect::Anthropic => anthropic::body(request),
        Dialect::OpenAi => openai::body(request),
    }
}

/// A value from bytes that may be no text everywhere.
pub(super) fn lenient<T: DeserializeOwned>(data: &[u8]) -> Option<T> {
    serde_json::from_slice(data)
        .or_else(|_| serde_json::from_str(&String::from_utf8_lossy(data)))
        .ok()
}
