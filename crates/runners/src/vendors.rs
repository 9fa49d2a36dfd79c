//! What is known of each runner's program before it is started: what it is called, what
//! of the caller's environment it needs, where it keeps its state, and whether somebody
//! seems to be logged in.
//!
//! Only looks at files and variables. Nothing is started and no network is asked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use legation_core::agent::{Definition, Runner};

use crate::command::{is_executable_file, is_for_all};
use crate::servers;

/// What a runner's program is like.
#[derive(Clone, Copy, Debug)]
pub struct Vendor {
    /// Which runner.
    pub runner: Runner,
    /// The name of its program; empty where an agent has to name one.
    pub program: &'static str,
    /// Variables of the caller that it is given, in lists; those that end in `*` stand for
    /// all that begin so.
    pub variables: &'static [&'static [&'static str]],
    /// Variables any of which is a key.
    pub keys: &'static [&'static str],
    /// Folders that it writes to: from home, or where a variable says.
    pub state: &'static [Place],
    /// Files that show that somebody has logged in.
    pub logins: &'static [Place],
}

/// A place that a variable may move.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The variable that says where the first part is.
    pub variable: Option<&'static str>,
    /// Where that is otherwise, from home.
    pub from_home: &'static str,
    /// What comes after it.
    pub rest: &'static str,
}

const fn place(variable: &'static str, from_home: &'static str, rest: &'static str) -> Place {
    Place { variable: Some(variable), from_home, rest }
}

const fn at_home(from_home: &'static str) -> Place {
    Place { variable: None, from_home, rest: "" }
}

/// Keys of the providers that several programs can use.
pub(crate) const KEYS: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "GEMINI_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "DEEPSEEK_API_KEY",
    "XAI_API_KEY",
];

/// Where those providers are, if not where they usually are. Knowing that lets nobody in.
const ADDRESSES: &[&str] = &[
    "ANTHROPIC_BASE_URL",
    "OPENAI_BASE_URL",
    "OPENROUTER_BASE_URL",
    "GEMINI_BASE_URL",
    "GROQ_BASE_URL",
    "MISTRAL_BASE_URL",
    "DEEPSEEK_BASE_URL",
    "XAI_BASE_URL",
    "VLLM_BASE_URL",
    "OLLAMA_HOST",
];

/// Every runner that has an envoy, in the order in which one is chosen.
pub const VENDORS: &[Vendor] = &[
    Vendor {
        runner: Runner::ClaudeCode,
        program: "claude",
        variables: &[&["ANTHROPIC_*", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN"]],
        keys: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
        state: &[place("CLAUDE_CONFIG_DIR", ".claude", ""), at_home(".claude.json")],
        logins: &[place("CLAUDE_CONFIG_DIR", ".claude", ".credentials.json")],
    },
    Vendor {
        runner: Runner::Codex,
        program: "codex",
        variables: &[&["OPENAI_*", "CODEX_*"]],
        keys: &["OPENAI_API_KEY", "CODEX_API_KEY"],
        state: &[place("CODEX_HOME", ".codex", "")],
        logins: &[place("CODEX_HOME", ".codex", "auth.json")],
    },
    Vendor {
        runner: Runner::Gemini,
        program: "gemini",
        variables: &[&["GEMINI_*", "GOOGLE_*"]],
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        state: &[place("GEMINI_CLI_HOME", "", ".gemini")],
        logins: &[place("GEMINI_CLI_HOME", "", ".gemini/oauth_creds.json")],
    },
    Vendor {
        runner: Runner::OpenCode,
        program: "opencode",
        variables: &[
            KEYS,
            ADDRESSES,
            &["OPENCODE_*", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"],
        ],
        keys: KEYS,
        state: &[
            place("XDG_DATA_HOME", ".local/share", "opencode"),
            place("XDG_STATE_HOME", ".local/state", "opencode"),
            place("XDG_CONFIG_HOME", ".config", "opencode"),
            place("XDG_CACHE_HOME", ".cache", "opencode"),
        ],
        logins: &[place("XDG_DATA_HOME", ".local/share", "opencode/auth.json")],
    },
    Vendor { runner: Runner::Acp, program: "", variables: &[], keys: &[], state: &[], logins: &[] },
    Vendor {
        runner: Runner::Llm,
        program: "",
        variables: &[KEYS, ADDRESSES, &["LLM_MAX_TOKENS", servers::VARIABLES]],
        keys: KEYS,
        state: &[],
        logins: &[],
    },
];

impl Vendor {
    /// What is known of a runner; a command is known by itself.
    pub fn of(runner: Runner) -> Option<&'static Self> {
        VENDORS.iter().find(|vendor| vendor.runner == runner)
    }

    /// What is known of the program that is really run. One that speaks a protocol may be
    /// a known vendor's all the same: it then needs that vendor's keys and folders.
    pub fn behind(runner: Runner, command: &[String]) -> Option<&'static Self> {
        let speaks_for = |vendor: &&Self| {
            let names = command.iter().filter_map(|word| Path::new(word).file_name()?.to_str());
            !vendor.program.is_empty()
                && names.into_iter().any(|name| name.contains(vendor.program))
        };
        let known = VENDORS.iter().find(speaks_for).filter(|_| runner == Runner::Acp);
        known.or_else(|| Self::of(runner))
    }

    /// Whether its program is given this variable of whoever called.
    pub fn wants(&self, name: &str) -> bool {
        self.variables.iter().copied().flatten().any(|wanted| match wanted.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == *wanted,
        })
    }

    /// Where it writes, as far as that environment says.
    pub fn state(&self, env: &BTreeMap<String, String>) -> Vec<PathBuf> {
        self.state.iter().filter_map(|place| place.whole(env)).collect()
    }

    /// Its program, where that environment finds it.
    pub fn installed(&self, env: &BTreeMap<String, String>) -> Option<PathBuf> {
        let folders = env.get("PATH")?.split(':').map(Path::new);
        let files = folders.filter(|folder| folder.is_absolute());
        files
            .map(|folder| folder.join(self.program))
            .find(|file| !self.program.is_empty() && is_executable_file(file))
    }

    /// Whether there is a key in that environment, or a login on the disk.
    pub fn has_login(&self, env: &BTreeMap<String, String>) -> bool {
        let has_key = self.keys.iter().any(|key| env.get(*key).is_some_and(|key| !key.is_empty()));
        let logins = self.logins.iter().filter_map(|place| place.whole(env));
        has_key || logins.into_iter().any(|file| file.exists())
    }
}

impl Place {
    fn whole(&self, env: &BTreeMap<String, String>) -> Option<PathBuf> {
        let moved = self.variable.and_then(|name| env.get(name)).map(PathBuf::from);
        let moved = moved.filter(|folder| folder.is_absolute());
        let home = || Some(Path::new(env.get("HOME")?).join(self.from_home));
        let first = moved.or_else(home)?;
        Some(if self.rest.is_empty() { first } else { first.join(self.rest) })
    }
}

/// Whether children may see this variable of whoever called: every child, or those whose
/// runner wants it.
pub fn is_passed_on(name: &str) -> bool {
    is_for_all(name) || VENDORS.iter().any(|vendor| vendor.wants(name))
}

/// The runner for agents that name none, and why it is that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Which.
    pub runner: Runner,
    /// Why, in words that follow its name.
    pub because: &'static str,
}

/// The runner for an agent that names none: the first that is installed and has a key or
/// a login, else the first that is installed.
pub fn choose(env: &BTreeMap<String, String>) -> Option<Chosen> {
    let installed: Vec<&Vendor> =
        VENDORS.iter().filter(|vendor| vendor.installed(env).is_some()).collect();
    let chosen = |because| move |vendor: &&Vendor| Chosen { runner: vendor.runner, because };
    let ready = installed.iter().find(|vendor| vendor.has_login(env));
    let ready = ready.map(chosen("the first that is installed and has a key or a login"));
    ready.or_else(|| {
        let first = installed.first();
        first.map(chosen("the first that is installed; none of them has a key or a login"))
    })
}

/// The runner that an agent's file names, if only by naming a command.
pub fn named(definition: &Definition) -> Option<Runner> {
    let is_command = !definition.legation.command.is_empty();
    definition.legation.runner.or(is_command.then_some(Runner::Command))
}

/// What runs an agent: what its file says, else what is installed.
pub fn runner_of(definition: &Definition, env: &BTreeMap<String, String>) -> Option<Runner> {
    let named = definition.legation.runner;
    let is_command = !definition.legation.command.is_empty();
    let runner =
        named.or(is_command.then_some(Runner::Command)).or_else(|| Some(choose(env)?.runner))?;
    let can_run = match runner {
        Runner::Command | Runner::Acp => is_command,
        Runner::Llm => true,
        Runner::ClaudeCode | Runner::Codex | Runner::OpenCode | Runner::Gemini => {
            is_command || Vendor::of(runner).is_some_and(|vendor| vendor.installed(env).is_some())
        }
    };
    can_run.then_some(runner)
}

/// A wish in an agent's file that not every runner has a way to follow.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    /// Its key in the file.
    pub key: &'static str,
    /// Whether an agent has it.
    is_in: fn(&Definition) -> bool,
    /// Who follows it.
    pub followed_by: &'static [Runner],
}

const WISHES: &[Wish] = &[
    Wish {
        key: "maxTurns",
        is_in: |definition| definition.max_turns.is_some(),
        followed_by: &[Runner::ClaudeCode, Runner::OpenCode, Runner::Gemini, Runner::Llm],
    },
    Wish {
        key: "temperature",
        is_in: |definition| definition.temperature.is_some(),
        followed_by: &[Runner::OpenCode, Runner::Gemini, Runner::Llm],
    },
];

/// What an agent wishes for in vain where that runner runs it.
pub fn in_vain(
    runner: Runner,
    definition: &Definition,
) -> impl Iterator<Item = &'static Wish> + use<'_> {
    let in_vain =
        move |wish: &&Wish| (wish.is_in)(definition) && !wish.followed_by.contains(&runner);
    WISHES.iter().filter(in_vain)
}
