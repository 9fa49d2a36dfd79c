//! A project of its own for a scenario, with agents of every vendor and a scripted model.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::install::Programs;
use super::model::{Model, Scripts, Seen};
use crate::process;

/// How long anything that is waited for may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often it is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Agents by name and runner, with the model each is told to use, or with the command.
const AGENTS: &[(&str, &str, &str)] = &[
    ("claude", "claude-code", "model: claude-sonnet-4-5"),
    ("codex", "codex", "model: gpt-5"),
    ("opencode", "opencode", "model: scripted/scripted\ntemperature: 0.5"),
    ("gemini", "gemini", "model: gemini-2.5-flash\ntemperature: 0.5"),
    ("anthropic-llm", "llm", "model: anthropic/claude-sonnet-4-5\ntemperature: 0.5"),
    ("openai-llm", "llm", "model: openai/gpt-5\ntemperature: 0.5"),
    ("opencode-acp", "acp", "command: [opencode, acp]"),
    ("gemini-acp", "acp", "command: [gemini, --acp]"),
];

/// A project in which a scenario is played.
pub(crate) struct Stage {
    root: PathBuf,
    path: OsString,
    model: Model,
}

impl Stage {
    /// Makes the project, its agents and a home in which nobody is logged in.
    pub(crate) fn set(programs: &Programs, (no, scripts): (usize, Scripts)) -> Result<Self> {
        // Not in the folder for temporary files: one of the programs refuses to work there.
        let root = std::env::current_dir()?.join(format!("target/agents/stage-{no}"));
        if root.exists() {
            fs::remove_dir_all(&root).context("clear the stage")?;
        }
        let own = std::env::current_dir()?.join("target/debug");
        let rest = std::env::var_os("PATH").unwrap_or_default();
        let folders = [programs.bin.clone(), own].into_iter().chain(std::env::split_paths(&rest));
        let stage =
            Self { root, path: std::env::join_paths(folders)?, model: Model::start(scripts)? };
        stage.furnish()?;
        Ok(stage)
    }

    fn furnish(&self) -> Result<()> {
        let url = self.model.url();
        for folder in ["home", "run", "codex", "config/opencode", "project/.legation/agents"] {
            fs::create_dir_all(self.root.join(folder))?;
        }
        self.write("project/README.md", "# A project\n")?;
        let env = serde_json::json!({
            "XDG_CONFIG_HOME": self.root.join("config"), "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_CLI_NO_RELAUNCH": "true",
        });
        let writable = serde_json::json!([self.root.join("home")]);
        self.write(
            "project/.legation/config.toml",
            &format!("[sandbox]\nwritable = {writable}\n"),
        )?;
        for (name, runner, more) in AGENTS {
            // Of a program that is only known by its command nothing else is known, either.
            let (model, command) = match more.strip_prefix("command: ") {
                Some(command) => (String::new(), format!("  command: {command}\n  env: {env}\n")),
                None => (format!("{more}\n"), String::new()),
            };
            let text = format!(
                "---\nname: {name}\ndescription: Works with {runner}.\n{model}\
                 tools: {{deny: [web]}}\nsubagents:\n  allow: [\"*\"]\nlegation:\n  runner: {runner}\n{command}---\n\
                 Be brief.\n"
            );
            self.write(&format!("project/.legation/agents/{name}.md"), &text)?;
        }
        let codex = format!(
            "model_provider = \"scripted\"\ncheck_for_update_on_startup = false\n\
             [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{url}/v1\"\n\
             env_key = \"OPENAI_API_KEY\"\nwire_api = \"responses\"\n"
        );
        self.write("codex/config.toml", &codex)?;
        let cost = serde_json::json!({"input": 3, "output": 15});
        let opencode = serde_json::json!({
            "autoupdate": false, "share": "disabled", "small_model": "scripted/scripted",
            "model": "scripted/scripted",
            "provider": {"scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": format!("{url}/v1"), "apiKey": "none"},
                "models": {"scripted": {
                    "limit": {"context": 128_000, "output": 8_000}, "cost": cost,
                    "temperature": true,
                }},
            }},
        });
        self.write("config/opencode/opencode.json", &opencode.to_string())?;
        for arguments in [
            &["init", "-q"][..],
            &["add", "-A"],
            &[
                "-c",
                "user.name=Stage",
                "-c",
                "user.email=stage@example.org",
                "commit",
                "-qm",
                "Begin",
            ],
        ] {
            process::run(Command::new("git").current_dir(self.project()).args(arguments))?;
        }
        Ok(())
    }

    /// The project.
    pub(crate) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// Writes a file below the stage's folder.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<()> {
        fs::write(self.root.join(name), text).with_context(|| format!("write {name}"))
    }

    /// What the model was asked so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.model.seen()
    }

    /// `legation` in the project, with an environment in which only the model is known.
    pub(crate) fn legation(&self, arguments: &[&str]) -> Result<Output> {
        let url = self.model.url();
        let folder = |name: &str| self.root.join(name);
        let mut command = Command::new(Path::new("target/debug/legation").canonicalize()?);
        command.args(arguments).current_dir(self.project()).env_clear();
        command.env("PATH", &self.path).env("HOME", folder("home"));
        command.env("XDG_RUNTIME_DIR", folder("run")).env("XDG_CONFIG_HOME", folder("config"));
        command.env("CODEX_HOME", folder("codex")).env("LANG", "C.UTF-8");
        command.env("ANTHROPIC_BASE_URL", &url).env("ANTHROPIC_API_KEY", "sk-ant-none");
        command.env("OPENAI_BASE_URL", format!("{url}/v1"));
        command.env("OPENAI_API_KEY", "none").env("OPENCODE_DISABLE_MODELS_FETCH", "1");
        command.env("GEMINI_API_KEY", "none").env("GOOGLE_GEMINI_BASE_URL", &url);
        Ok(command.output()?)
    }

    /// The JSON that `legation` prints, whatever its exit code.
    pub(crate) fn json(&self, arguments: &[&str]) -> Result<Value> {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        let output = self.legation(&arguments)?;
        serde_json::from_slice(&output.stdout).with_context(|| {
            let said = String::from_utf8_lossy(&output.stderr);
            format!("legation {} printed no JSON: {said}", arguments.join(" "))
        })
    }

    /// Whether a process runs whose command line contains this.
    pub(crate) fn is_running(words: &str) -> bool {
        let Ok(entries) = fs::read_dir("/proc") else { return false };
        entries.flatten().any(|entry| {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).replace('\0', " ").contains(words)
        })
    }

    /// Waits until something is so.
    pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) -> Result<()> {
        let begun = Instant::now();
        while !is_so() {
            if begun.elapsed() > PATIENCE {
                bail!("waited in vain until {what}");
            }
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }
}
