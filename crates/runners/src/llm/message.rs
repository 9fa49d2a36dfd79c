//! What was said so far, in no provider's words.

use legation_core::money::Usd;
use legation_core::returns::Tokens;
use serde_json::Value;

/// One thing that was said.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// By us.
    User(String),
    /// By the model.
    Model {
        /// Its words.
        text: String,
        /// The tools that it wants used.
        calls: Vec<Call>,
    },
    /// What came of the tools.
    Results(Vec<Answer>),
}

/// A tool that the model wants used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// What the answer refers to.
    pub id: String,
    /// Which tool.
    pub name: String,
    /// With what, as the model wrote it; it may be no JSON at all.
    pub arguments: String,
}

/// What came of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Which call it answers.
    pub id: String,
    /// What the model is told.
    pub text: String,
    /// Whether it did not work.
    pub is_error: bool,
}

/// A tool as the model is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// What the model calls it.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What it takes, as a JSON Schema.
    pub schema: Value,
}

/// Everything a request says.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What the provider calls the model.
    pub model: &'a str,
    /// The agent's instructions.
    pub instructions: &'a str,
    /// What was said so far.
    pub messages: &'a [Message],
    /// The tools.
    pub offers: &'a [Offer],
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// Tokens that the answer may have; absent means as the provider likes.
    pub max_tokens: Option<u64>,
}

/// What the model said, as far as it was heard.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// Its words.
    pub text: String,
    /// The tools that it wants used.
    pub calls: Vec<Call>,
    /// What it used; nothing where the provider does not say.
    pub tokens: Tokens,
    /// What it cost, where the provider says.
    pub cost: Option<Usd>,
    /// Why it ended; absent as long as it has not.
    pub stop: Option<Stop>,
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It has said what it had to say, or wants tools used.
    Done,
    /// It has said as much as it may at once.
    Length,
    /// It, or somebody for it, would not go on.
    Refused,
}

/// Bytes of words and arguments that one answer may have.
const MAX_REPLY_BYTES: usize = 8 << 20;
/// Tools that one answer may want used.
const MAX_CALLS: usize = 64;

impl Reply {
    /// Whether it is larger than anybody needs.
    pub fn is_too_large(&self) -> bool {
        let arguments = self.calls.iter().map(|call| call.arguments.len()).sum::<usize>();
        self.text.len() + arguments > MAX_REPLY_BYTES || self.calls.len() > MAX_CALLS
    }
}

/// What a provider said in the middle of an answer that makes it worthless.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What kind, in the provider's words.
    pub kind: String,
    /// The message.
    pub message: String,
}
