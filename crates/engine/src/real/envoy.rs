//! Attempts of agents that are talked to: which runner it is, and what its envoy is told.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use legation_core::Code;
use legation_core::agent::{Definition, McpServer, Permissions, Reach, Runner};
use legation_core::ids::AgentId;
use legation_core::returns::Metadata;
use legation_runners::command::{Folders, TEMPORARY, resolve};
use legation_runners::envoy::{self, Charge, Door, Tools};
use legation_runners::llm::hand;
use legation_runners::prompt::{self, Template};
use legation_runners::servers::{self, MAX_FILE_BYTES, PROJECT_FILE, Servers, Sources};
use legation_runners::vendors::Vendor;
use legation_runners::workspace::Place;

use super::Inner;
use super::attempt::Obstacle;
use crate::world::Job;

/// Where a project keeps templates of its own.
const TEMPLATES: &str = ".legation/templates";
/// Bytes that a template may have.
const MAX_TEMPLATE: u64 = 1 << 20;
/// The folder for files that a program wants to read, in the attempt's own temporary one.
const SCRATCH: &str = "envoy";

/// What an envoy needs beside what every attempt does.
pub(super) struct Mission {
    /// What it is told.
    pub(super) charge: Charge,
    /// Where its program keeps its state.
    pub(super) state: Vec<PathBuf>,
}

impl Inner {
    /// What the envoy of an attempt is told.
    pub(super) fn mission(
        &self,
        job: &Job,
        place: &Place,
        (definition, file): (&Definition, Option<&Path>),
        (runner, env): (Runner, &BTreeMap<String, String>),
    ) -> Result<Mission, Obstacle> {
        let unavailable = |why: String| Obstacle::new(Code::ToolUnavailable, why);
        let vendor = Vendor::of(runner)
            .ok_or_else(|| unavailable(format!("There is no envoy for `{}`.", runner.as_str())))?;
        let mut command = definition.legation.command.clone();
        if command.is_empty() && !vendor.program.is_empty() {
            command.push(vendor.program.to_owned());
        }
        let folders = Folders {
            workspace: &place.cwd,
            beside: file.and_then(Path::parent),
            search: env.get("PATH").map(String::as_str),
        };
        let program = match runner {
            Runner::Llm => command,
            Runner::Command
            | Runner::ClaudeCode
            | Runner::Codex
            | Runner::OpenCode
            | Runner::Gemini
            | Runner::Acp => {
                resolve(&command, &folders).map_err(|error| unavailable(error.to_string()))?
            }
        };
        let tools = self.tools(&job.brief.delegation_path)?;
        let servers = match runner {
            Runner::Llm => self.servers(definition, &tools.layers, (env, &folders)),
            // The others are given nothing but our own.
            Runner::Command
            | Runner::ClaudeCode
            | Runner::Codex
            | Runner::OpenCode
            | Runner::Gemini
            | Runner::Acp => Servers::new(),
        };
        let template = self.template(&job.agent, runner)?;
        let mut brief = job.brief.clone();
        let instructions = std::mem::take(&mut brief.instructions);
        let prompt = prompt::render(template.as_ref(), &brief)
            .map_err(|error| Obstacle::new(Code::ValidationFailed, error.to_string()))?;
        let behind = Vendor::behind(runner, &definition.legation.command).unwrap_or(vendor);
        let state = behind.state(env);
        state.iter().for_each(|folder| make_folder(folder));
        let charge = Charge {
            runner,
            program,
            model: definition.model.clone().filter(|model| model != "inherit"),
            temperature: definition.temperature,
            max_turns: definition.max_turns,
            max_cost: Some(job.cost_left),
            instructions,
            prompt,
            known: Metadata {
                session_id: job.session.clone(),
                agent_type: job.agent.clone(),
                delegation_depth: job.brief.delegation_depth,
                delegation_path: job.brief.delegation_path.clone(),
                duration_seconds: None,
            },
            schema: definition.legation.schema.clone(),
            tools,
            is_fenced: false,
            door: Door { exe: self.keeper.exe.clone(), env: BTreeMap::new() },
            servers,
            scratch: self.folder(&job.attempt).join(TEMPORARY).join(SCRATCH),
            workspace: place.cwd.clone(),
            env: BTreeMap::new(),
        };
        Ok(Mission { charge, state })
    }

    /// A template of the project: the agent's own, the runner's, or the one for all. One
    /// that is there and cannot be read is not passed over.
    fn template(&self, agent: &AgentId, runner: Runner) -> Result<Option<Template>, Obstacle> {
        for stem in [agent.as_str(), runner.as_str(), "brief"] {
            let name = format!("{TEMPLATES}/{stem}.md");
            match read_template(&self.options.project.join(&name)) {
                Ok(text) => return Ok(Some(Template { name, text })),
                Err(problem) if problem.kind() == io::ErrorKind::NotFound => {}
                Err(problem) => {
                    let why = format!("The template {name} cannot be read: {problem}");
                    return Err(Obstacle::new(Code::ValidationFailed, why));
                }
            }
        }
        Ok(None)
    }

    /// The servers of tools that an agent gets beside ours, their programs found already.
    fn servers(
        &self,
        definition: &Definition,
        permissions: &Permissions,
        (caller, folders): (&BTreeMap<String, String>, &Folders<'_>),
    ) -> Servers {
        let mut env = caller.clone();
        env.extend(definition.legation.env.clone());
        // The project's own file, and not what an agent may have made of it.
        let file = fs::File::open(self.options.project.join(PROJECT_FILE));
        let text = file.and_then(|file| io::read_to_string(file.take(MAX_FILE_BYTES))).ok();
        let mut servers = servers::wanted(&Sources {
            own: &definition.mcp_servers,
            project: text.as_deref(),
            permissions,
            env: &env,
        });
        for server in servers.values_mut() {
            if let Ok(McpServer { reach: Reach::Stdio { command, .. }, .. }) = server {
                match resolve(command, folders) {
                    Ok(found) => *command = found,
                    Err(error) => *server = Err(error.to_string()),
                }
            }
        }
        servers
    }

    /// What an agent at the end of a path may use.
    fn tools(&self, path: &[AgentId]) -> Result<Tools, Obstacle> {
        let path = path.get(1..).unwrap_or_default();
        let permissions = self.home().roster.permissions(path, None);
        let permissions =
            permissions.map_err(|no| Obstacle::new(Code::PermissionDenied, no.message))?;
        Ok(Tools::of(&permissions))
    }
}

fn read_template(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    fs::File::open(path)?.take(MAX_TEMPLATE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_TEMPLATE {
        return Err(io::Error::other(format!("it has more than {MAX_TEMPLATE} bytes")));
    }
    Ok(text)
}

/// The words by which this binary becomes an envoy, or what uses a tool for a model that
/// is talked to elsewhere.
pub(super) fn command(exe: &Path, runner: Runner) -> Vec<String> {
    let verb = match runner {
        Runner::Llm => hand::VERB,
        Runner::Command
        | Runner::ClaudeCode
        | Runner::Codex
        | Runner::OpenCode
        | Runner::Gemini
        | Runner::Acp => envoy::VERB,
    };
    vec![exe.to_string_lossy().into_owned(), verb.to_owned()]
}

/// A folder that a program will write to, so that the fence can leave it open. Where it
/// cannot be made the program will say so itself.
fn make_folder(folder: &Path) {
    if folder.extension().is_none_or(|end| end != "json") {
        let _ = fs::create_dir_all(folder);
    }
}
