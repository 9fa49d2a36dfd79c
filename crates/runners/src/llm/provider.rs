//! Whose model it is and how its provider is reached, from the name of the model and the
//! environment.
//!
//! Pure. A name such as `openrouter/meta/llama-4` says both; one without a provider is
//! told by how it begins.

use std::collections::BTreeMap;

use super::http;
use crate::envoy::{Fault, FaultKind};

/// How a provider is talked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Anthropic's Messages.
    Anthropic,
    /// Chat completions, as OpenAI began them and most others offer.
    OpenAi,
}

/// A provider, and the model that is wanted of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    /// How it is talked to.
    pub dialect: Dialect,
    /// Where requests go.
    pub url: String,
    /// The header that lets us in.
    pub key: Option<(&'static str, String)>,
    /// What the provider calls the model.
    pub model: String,
    /// What the agent calls it, provider included where it says so.
    pub full_name: String,
}

struct Known {
    name: &'static str,
    dialect: Dialect,
    /// The variable that says where it is.
    place: &'static str,
    /// Where it is otherwise; empty where nobody can know.
    base: &'static str,
    /// Variables any of which is a key; none where none is needed.
    keys: &'static [&'static str],
    /// How names of its models begin, where nobody says whose they are.
    starts: &'static [&'static str],
}

const KNOWN: &[Known] = &[
    Known {
        name: "anthropic",
        dialect: Dialect::Anthropic,
        place: "ANTHROPIC_BASE_URL",
        base: "https://api.anthropic.com",
        keys: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
        starts: &["claude"],
    },
    Known {
        name: "openai",
        dialect: Dialect::OpenAi,
        place: "OPENAI_BASE_URL",
        base: "https://api.openai.com/v1",
        keys: &["OPENAI_API_KEY"],
        starts: &["gpt-", "chatgpt-", "o1", "o3", "o4"],
    },
    Known {
        name: "ollama",
        dialect: Dialect::OpenAi,
        place: "OLLAMA_HOST",
        base: "http://127.0.0.1:11434",
        keys: &[],
        starts: &[],
    },
    Known {
        name: "vllm",
        dialect: Dialect::OpenAi,
        place: "VLLM_BASE_URL",
        base: "http://127.0.0.1:8000/v1",
        keys: &[],
        starts: &[],
    },
    Known {
        name: "openrouter",
        dialect: Dialect::OpenAi,
        place: "OPENROUTER_BASE_URL",
        base: "https://openrouter.ai/api/v1",
        keys: &["OPENROUTER_API_KEY"],
        starts: &[],
    },
    Known {
        name: "gemini",
        dialect: Dialect::OpenAi,
        place: "GEMINI_BASE_URL",
        base: "https://generativelanguage.googleapis.com/v1beta/openai",
        keys: &["GEMINI_API_KEY"],
        starts: &["gemini-"],
    },
    Known {
        name: "groq",
        dialect: Dialect::OpenAi,
        place: "GROQ_BASE_URL",
        base: "https://api.groq.com/openai/v1",
        keys: &["GROQ_API_KEY"],
        starts: &[],
    },
    Known {
        name: "mistral",
        dialect: Dialect::OpenAi,
        place: "MISTRAL_BASE_URL",
        base: "https://api.mistral.ai/v1",
        keys: &["MISTRAL_API_KEY"],
        starts: &["mistral-", "codestral-", "devstral-"],
    },
    Known {
        name: "deepseek",
        dialect: Dialect::OpenAi,
        place: "DEEPSEEK_BASE_URL",
        base: "https://api.deepseek.com/v1",
        keys: &["DEEPSEEK_API_KEY"],
        starts: &["deepseek-"],
    },
    Known {
        name: "xai",
        dialect: Dialect::OpenAi,
        place: "XAI_BASE_URL",
        base: "https://api.x.ai/v1",
        keys: &["XAI_API_KEY"],
        starts: &["grok-"],
    },
];

impl Provider {
    /// The provider of a model, as far as that environment says where it is.
    pub fn of(model: Option<&str>, env: &BTreeMap<String, String>) -> Result<Self, Fault> {
        let unknown = |why: String| Fault::new(FaultKind::NotStarted, why);
        let full_name =
            model.map(str::trim).filter(|model| !model.is_empty()).ok_or_else(|| {
                unknown(
                    "The agent names no `model`; write `anthropic/…`, `openai/…` or `ollama/…`."
                        .to_owned(),
                )
            })?;
        let variable =
            |name: &str| env.get(name).map(|value| value.trim()).filter(|v| !v.is_empty());
        let (known, model) = known(full_name)
            .or_else(|| {
                // Whoever says where an OpenAI-like server is means its models.
                let local = KNOWN.iter().find(|known| known.name == "openai")?;
                variable(local.place).map(|_| (local, full_name))
            })
            .ok_or_else(|| {
                unknown(format!(
                    "Nobody knows whose model `{full_name}` is; write it as `provider/model`."
                ))
            })?;
        let base = variable(known.place).unwrap_or(known.base);
        let url = address(known, base).ok_or_else(|| {
            unknown(format!("`{}` is no address of a provider: {base}", known.place))
        })?;
        let found = known.keys.iter().find_map(|name| Some((*name, variable(name)?)));
        let is_moved = variable(known.place).is_some();
        let key = match found {
            Some(("ANTHROPIC_API_KEY", key)) => Some(("x-api-key", key.to_owned())),
            Some((_, key)) => Some(("authorization", format!("Bearer {key}"))),
            // A server of one's own may not want any.
            None if known.keys.is_empty() || is_moved => None,
            None => {
                let why =
                    format!("There is no key for `{full_name}`: set {}.", known.keys.join(" or "));
                return Err(Fault::new(FaultKind::Login, why));
            }
        };
        Ok(Self {
            dialect: known.dialect,
            url,
            key,
            model: model.to_owned(),
            full_name: full_name.to_owned(),
        })
    }

    /// Whether it is on this machine, so that no proxy may stand between.
    pub fn is_local(&self) -> bool {
        http::is_local(&self.url)
    }
}

fn known(full_name: &str) -> Option<(&'static Known, &str)> {
    let named = full_name.split_once('/').and_then(|(provider, model)| {
        let known = KNOWN.iter().find(|known| known.name == provider)?;
        (!model.is_empty()).then_some((known, model))
    });
    let begins = |known: &&Known| known.starts.iter().any(|start| full_name.starts_with(start));
    named.or_else(|| KNOWN.iter().find(begins).map(|known| (known, full_name)))
}

fn address(known: &Known, base: &str) -> Option<String> {
    let is_whole = base.starts_with("http://") || base.starts_with("https://");
    let base = match known.name {
        // Ollama's own variable may be no more than a host and a port.
        "ollama" if !is_whole => format!("http://{base}"),
        _ if !is_whole => return None,
        _ => base.to_owned(),
    };
    let base = base.trim_end_matches('/');
    let bare = base.strip_suffix("/v1").unwrap_or(base);
    Some(match known.dialect {
        Dialect::Anthropic => format!("{bare}/v1/messages"),
        Dialect::OpenAi if known.name == "ollama" => format!("{bare}/v1/chat/completions"),
        Dialect::OpenAi => format!("{base}/chat/completions"),
    })
}
