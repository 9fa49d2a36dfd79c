//! One file into one definition.

use std::collections::BTreeSet;
use std::path::Path;

use legation_core::agent::{
    Definition, MAX_ID_CHARS, RESERVED_IDS, Runner, Severity, Subagents, is_valid_id, kebab_case,
};
use legation_core::config::Pattern;
use legation_core::ids::AgentId;

use super::entries::{At, Notes, shortened};
use super::node::{Entry, Node, Shape};
use super::policy::Policy;
use super::{AgentFile, Reference, Vendor, codex, document, known, legation, servers, tools};
use crate::vendors;

/// Turns an agent may take at most, and agents of its own that may run at once.
const MAX_COUNT: u32 = 100_000;

const PATTERNS: [(&str, Pattern); 8] = [
    ("parallel", Pattern::Parallel),
    ("parallel_streaming", Pattern::ParallelStreaming),
    ("sequential", Pattern::Sequential),
    ("dag", Pattern::Dag),
    ("debate", Pattern::Debate),
    ("review", Pattern::Review),
    ("ensemble", Pattern::Ensemble),
    ("direct", Pattern::Direct),
];

/// A file that is being read.
struct Draft<'a> {
    vendor: Vendor,
    definition: Definition,
    references: Vec<Reference>,
    id: Option<(String, u32)>,
    policy: Policy,
    notes: &'a mut Notes,
}

/// Reads a file's text. No agent means that the notes say why.
pub(super) fn read(
    vendor: Vendor,
    file: &Path,
    text: &str,
    notes: &mut Notes,
) -> Option<AgentFile> {
    let (node, body) = match vendor {
        Vendor::Codex => (document::toml(text, notes)?, String::new()),
        Vendor::Legation | Vendor::Claude | Vendor::OpenCode | Vendor::Gemini => {
            document::markdown(text, notes)?
        }
    };
    let mut draft = Draft {
        vendor,
        definition: Definition { prompt: body, ..Definition::default() },
        references: Vec::new(),
        id: None,
        policy: Policy::new(vendor),
        notes,
    };
    match &node.shape {
        Shape::Map(entries) => entries.iter().for_each(|entry| draft.entry(entry)),
        Shape::Null => {}
        Shape::Bool(_) | Shape::Number(..) | Shape::Text(_) | Shape::List(_) => {
            let at = At { line: node.line, key: "" };
            let message =
                format!("the frontmatter must be keys with values, and is {}", node.kind());
            draft.notes.error(at, message, "write `key: value` on each line");
        }
    }
    draft.finish(file)
}

impl Draft<'_> {
    fn entry(&mut self, entry: &Entry) {
        let (key, value) = (entry.key.as_str(), &entry.value);
        let definition = &mut self.definition;
        let notes = &mut *self.notes;
        match key {
            "id" => self.id = notes.text(key, value).map(|id| (id, entry.line)),
            "name" => definition.name = notes.text(key, value).unwrap_or_default(),
            "description" => definition.description = notes.text(key, value).unwrap_or_default(),
            "model" => definition.model = notes.text(key, value).filter(|model| model != "inherit"),
            "temperature" => definition.temperature = notes.number(key, value, (0.0, 2.0)),
            "maxTurns" | "max_turns" | "steps" | "maxSteps" => {
                definition.max_turns = notes.count(key, value, (1, MAX_COUNT));
            }
            "color" | "accentColor" => definition.color = notes.text(key, value),
            "icon" => definition.icon = notes.text(key, value),
            "version" => definition.version = notes.text(key, value),
            "disable" | "disabled" => {
                definition.disabled |= notes.flag(key, value).unwrap_or_default();
            }
            "legation" => legation::read(entry, &mut definition.legation, notes),
            "developer_instructions" if self.vendor == Vendor::Codex => {
                definition.prompt = notes.text(key, value).unwrap_or_default();
            }
            "timeout_mins" if self.vendor == Vendor::Gemini => {
                let minutes = notes.count(key, value, (1, MAX_COUNT)).map(u64::from);
                let own = &mut definition.legation.timeout_ms;
                *own = own.or(minutes.map(|minutes| minutes * 60_000));
            }
            "kind" if self.vendor == Vendor::Gemini => {
                if notes.text(key, value).as_deref() == Some("remote") {
                    let at = At { line: entry.line, key };
                    let message = "a remote agent; there is no runner for those yet";
                    notes.warning(at, message, "give it a `legation.runner` of its own");
                }
            }
            "mcpServers" | "mcp_servers" => servers::read(entry, definition, notes),
            "subagents" => self.subagents(entry),
            _ => self.permission(entry),
        }
    }

    /// Keys that open or close tools. What is none of them is nobody's, or the vendor's own.
    fn permission(&mut self, entry: &Entry) {
        let (key, value) = (entry.key.as_str(), &entry.value);
        let rules = &mut self.definition.tools;
        let notes = &mut *self.notes;
        match key {
            "tools" => tools::read(self.vendor, value, rules, notes),
            "disallowedTools" | "disallowed_tools" | "disallowed-tools" | "excludeTools"
            | "exclude_tools" | "deniedTools" | "denied_tools" => {
                tools::read_denied(self.vendor, entry, rules, notes);
            }
            "permissions" if self.vendor == Vendor::Codex => {}
            "permission" | "permissions" => self.policy.read(entry, notes),
            "permissionMode" => {
                // The other modes only open things, and that is not theirs to do.
                if notes.text(key, value).as_deref() == Some("plan") {
                    rules.deny.push("edit".to_owned());
                }
            }
            _ if codex::read_permission(entry, rules, notes) => {}
            _ if known::is_known(self.vendor, key) => {}
            _ => {
                let known: Vec<&str> = known::keys(self.vendor).collect();
                notes.unknown_key(At { line: entry.line, key }, &known);
            }
        }
    }

    fn subagents(&mut self, entry: &Entry) {
        const KEYS: &[&str] = &["allow", "deny", "execution", "max_concurrent", "recursive"];
        let mut subagents = Subagents::default();
        for entry in self.notes.map("subagents", &entry.value) {
            let key = format!("subagents.{}", entry.key);
            let value = &entry.value;
            match entry.key.as_str() {
                "allow" => subagents.allow = self.references("subagents.allow", value),
                "deny" => subagents.deny = self.references("subagents.deny", value),
                "execution" => subagents.execution = self.notes.choice(&key, value, &PATTERNS),
                "max_concurrent" => {
                    subagents.max_concurrent = self.notes.count(&key, value, (1, MAX_COUNT));
                }
                "recursive" => {
                    subagents.recursive = self.notes.flag(&key, value).unwrap_or_default();
                }
                _ => self.notes.unknown_key(At { line: entry.line, key: &key }, KEYS),
            }
        }
        self.definition.subagents = Some(subagents);
    }

    fn references(&mut self, key: &'static str, node: &Node) -> Vec<String> {
        let mut names = Vec::new();
        for (text, line) in self.notes.texts(key, node) {
            let found = text.split(',').map(str::trim).filter(|name| !name.is_empty());
            for name in found {
                if name.len() > MAX_ID_CHARS {
                    let message = format!("`{}` is too long for an agent", shortened(name));
                    self.notes.error(At { line, key }, message, "correct the name");
                    continue;
                }
                self.references.push(Reference { key, name: name.to_owned(), line });
                names.push(name.to_owned());
            }
        }
        names
    }

    fn finish(mut self, file: &Path) -> Option<AgentFile> {
        let policy = std::mem::replace(&mut self.policy, Policy::new(self.vendor));
        policy.apply(&mut self.definition.tools, self.notes);
        let rules = &mut self.definition.tools;
        for list in rules.allow.iter_mut().chain([&mut rules.ask, &mut rules.deny]) {
            let mut seen = BTreeSet::new();
            list.retain(|name| seen.insert(name.clone()));
        }
        if self.definition.description.is_empty() {
            let message = "no description, so it is never chosen by what it is good for";
            self.notes.whole(Severity::Warning, message, "add `description: …`");
        }
        let runner = vendors::named(&self.definition);
        for wish in runner.iter().flat_map(|runner| vendors::in_vain(*runner, &self.definition)) {
            let runner = runner.map_or("", Runner::as_str);
            let message =
                format!("`{}` has no effect: `{runner}` has no way to follow it", wish.key);
            let others: Vec<&str> = wish.followed_by.iter().map(|runner| runner.as_str()).collect();
            let hint = format!("leave it out, or choose one of {}", others.join(", "));
            self.notes.whole(Severity::Warning, &message, &hint);
        }
        let id = AgentId::from(self.choose_id(file)?);
        self.definition.id = Some(id.clone());
        if self.definition.name.is_empty() {
            self.definition.name = id.to_string();
        }
        Some(AgentFile {
            id,
            definition: self.definition,
            file: file.to_owned(),
            vendor: self.vendor,
            references: self.references,
        })
    }

    /// The id that is written, else the name as an id, else the file's name as one.
    fn choose_id(&mut self, file: &Path) -> Option<String> {
        if let Some((id, line)) = self.id.take() {
            if is_valid_id(&id) {
                return Some(id);
            }
            let hint = match kebab_case(&id) {
                Some(better) => format!("write `{better}`"),
                None => id_rule(),
            };
            let message = format!("`{}` cannot be an id", shortened(&id));
            self.notes.error(At { line, key: "id" }, message, &hint);
            return None;
        }
        let stem = file.file_stem().and_then(|stem| stem.to_str());
        let id = kebab_case(&self.definition.name).or_else(|| stem.and_then(kebab_case));
        if id.is_none() {
            let message = "neither its name nor the file's name makes an id";
            self.notes.whole(Severity::Error, message, &id_rule());
        }
        id
    }
}

fn id_rule() -> String {
    format!(
        "add `id:` with a–z, 0–9 and single hyphens, at most {MAX_ID_CHARS} characters, and none of {}",
        RESERVED_IDS.join(", ")
    )
}
