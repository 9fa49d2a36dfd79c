//! Servers of tools beside our own: how they are written in files, and which an agent gets.
//!
//! Pure: text and rules in, servers out. A server is only there for what permissions leave
//! of it; naming one opens nothing. Nothing is started here.

use std::collections::BTreeMap;

use legation_core::agent::{Level, McpServer, Permissions, Reach};
use serde::Deserialize;
use serde_json::Value;

use crate::door;

/// The file in which a project names its servers.
pub const PROJECT_FILE: &str = ".mcp.json";
/// Bytes that it may have.
pub const MAX_FILE_BYTES: u64 = 1 << 20;
/// Variables of whoever calls that are there for servers: those that begin so.
pub const VARIABLES: &str = "MCP_*";
/// Servers that one agent may have.
const MAX_SERVERS: usize = 16;
/// Bytes that the name of one may have.
const MAX_NAME_BYTES: usize = 64;

/// The servers of an agent, each ready to be reached or with the reason why it cannot be.
pub type Servers = BTreeMap<String, Result<McpServer, String>>;

/// Everything that decides which servers an agent gets.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// What its own file names.
    pub own: &'a BTreeMap<String, Option<McpServer>>,
    /// The text of the project's file.
    pub project: Option<&'a str>,
    /// What it may use.
    pub permissions: &'a Permissions,
    /// What `${…}` may stand for.
    pub env: &'a BTreeMap<String, String>,
}

/// The servers that an agent gets: its own, and those of the project, as far as anything
/// of them may be used.
pub fn wanted(sources: &Sources<'_>) -> Servers {
    let mut all = of_project(sources.project);
    for (name, server) in sources.own {
        match server {
            Some(server) => drop(all.insert(name.clone(), Ok(server.clone()))),
            None => {
                let missing = || Err(format!("`{PROJECT_FILE}` has no server of that name"));
                all.entry(name.clone()).or_insert_with(missing);
            }
        }
    }
    let is_wanted = |name: &String| {
        let tools = if name == PROJECT_FILE { "mcp:*".to_owned() } else { format!("mcp:{name}/*") };
        sources.permissions.freest(&tools) != Level::Deny
    };
    let wanted = all.into_iter().filter(|(name, _)| is_wanted(name)).enumerate();
    let ready = |(place, (name, server)): (usize, (String, Result<McpServer, String>))| {
        let server = server.and_then(|server| match place < MAX_SERVERS {
            true => filled_in(&server, sources.env),
            false => Err(format!("an agent can have {MAX_SERVERS} servers")),
        });
        (name, server)
    };
    wanted.map(ready).collect()
}

/// Whether a server may be called so: rules have to be able to speak of it.
pub fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    (1..=MAX_NAME_BYTES).contains(&name.len()) && name.bytes().all(is_plain) && name != door::SERVER
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProjectFile {
    #[serde(default)]
    mcp_servers: BTreeMap<String, Value>,
}

fn of_project(text: Option<&str>) -> Servers {
    let Some(text) = text else { return Servers::new() };
    let file: ProjectFile = match serde_json::from_str(text) {
        Ok(file) => file,
        Err(problem) => {
            let why = format!("the file cannot be read: {problem}");
            return Servers::from([(PROJECT_FILE.to_owned(), Err(why))]);
        }
    };
    // What no rule can name is for nobody; our own is there anyhow.
    let named = file.mcp_servers.into_iter().filter(|(name, _)| is_name(name));
    named.filter_map(|(name, written)| Some((name, read(&written).transpose()?))).collect()
}

/// A server in the words of any vendor.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Written {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<Words>,
    args: Vec<Value>,
    env: BTreeMap<String, Value>,
    #[serde(alias = "httpUrl", alias = "serverUrl")]
    url: Option<String>,
    #[serde(alias = "http_headers")]
    headers: BTreeMap<String, Value>,
    bearer_token_env_var: Option<String>,
    timeout: Option<u64>,
    tool_timeout_sec: Option<f64>,
    enabled: Option<bool>,
    disabled: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    One(String),
    Many(Vec<String>),
}

/// What somebody has written of a server; nothing means that it is switched off.
pub fn read(written: &Value) -> Result<Option<McpServer>, String> {
    if !written.is_object() {
        return Err("it must be a map".to_owned());
    }
    let written = Written::deserialize(written).map_err(|problem| problem.to_string())?;
    if written.disabled || written.enabled == Some(false) {
        return Ok(None);
    }
    if written.kind.as_deref() == Some("sse") {
        return Err("servers of the type `sse` are not spoken to; use `http`".to_owned());
    }
    let seconds = written.tool_timeout_sec.filter(|seconds| (0.001..1e9).contains(seconds));
    let timeout_ms = written.timeout.or(seconds.map(|seconds| (seconds * 1000.0) as u64));
    let reach = match (written.command, written.url) {
        (Some(command), None) => {
            let mut command = match command {
                Words::One(program) => vec![program],
                Words::Many(words) => words,
            };
            if command.first().is_none_or(|program| program.trim().is_empty()) {
                return Err("its `command` is empty".to_owned());
            }
            for argument in &written.args {
                command.push(scalar(argument).ok_or("`args` must be a list of texts")?);
            }
            Reach::Stdio { command, env: texts("env", written.env)? }
        }
        (None, Some(url)) => {
            let mut headers = texts("headers", written.headers)?;
            if let Some(variable) = written.bearer_token_env_var {
                headers.insert("Authorization".to_owned(), format!("Bearer ${{{variable}}}"));
            }
            Reach::Http { url, headers }
        }
        (Some(_), Some(_)) => return Err("it has both a `command` and a `url`".to_owned()),
        (None, None) => return Err("it has neither a `command` nor a `url`".to_owned()),
    };
    Ok(Some(McpServer { reach, timeout_ms }))
}

fn texts(key: &str, map: BTreeMap<String, Value>) -> Result<BTreeMap<String, String>, String> {
    let each = map.into_iter().map(|(name, value)| match scalar(&value) {
        Some(value) if !name.is_empty() && !name.contains(['=', '\0']) => Ok((name, value)),
        Some(_) | None => Err(format!("`{key}.{name}` must be text")),
    });
    each.collect()
}

fn scalar(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    Some(text).filter(|text| !text.contains('\0'))
}

/// The same server with what its variables stand for.
fn filled_in(server: &McpServer, env: &BTreeMap<String, String>) -> Result<McpServer, String> {
    let fill = |text: &String| fill(text, env);
    let fill_all = |map: &BTreeMap<String, String>| {
        let each = map.iter().map(|(name, value)| Ok((name.clone(), fill(value)?)));
        each.collect::<Result<_, String>>()
    };
    let reach = match &server.reach {
        Reach::Stdio { command, env } => {
            let command = command.iter().map(fill).collect::<Result<_, _>>()?;
            Reach::Stdio { command, env: fill_all(env)? }
        }
        Reach::Http { url, headers } => {
            Reach::Http { url: fill(url)?, headers: fill_all(headers)? }
        }
    };
    Ok(McpServer { reach, timeout_ms: server.timeout_ms })
}

/// A text in which `${NAME}` and `${NAME:-otherwise}` are what they stand for.
fn fill(text: &str, env: &BTreeMap<String, String>) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, after)) = after.split_once('}') else { break };
        let (name, otherwise) = match inside.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (inside, None),
        };
        let value = env.get(name).map(String::as_str).or(otherwise).ok_or_else(|| {
            format!(
                "`{name}` is not set, or not for agents to see; put it into the agent's \
                 `legation.env`, or give it a name that begins with `MCP_`"
            )
        })?;
        filled.push_str(before);
        filled.push_str(value);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}
