//! `legation agents list`.

use std::process::ExitCode;

use legation_core::agent::{Definition, Runner, Severity};
use legation_core::ids::AgentId;
use serde_json::{Value, json};

use super::catalogue::Catalogue;
use crate::error::CommandError;
use crate::output::Output;
use crate::page::{clipped, width};

pub(super) fn run(output: &mut Output) -> Result<ExitCode, CommandError> {
    let catalogue = Catalogue::load(output)?;
    let rows: Vec<Row> = rows(&catalogue)?;
    let of = |severity| {
        let files = catalogue.loaded.findings.iter();
        files.filter(move |finding| finding.severity == severity)
    };
    // A name of an agent that is not there is an error for `check`; the rest still works.
    let warnings = || of(Severity::Warning).chain(&catalogue.references);
    let answer = json!({
        "agents": rows.iter().map(Row::json).collect::<Vec<_>>(),
        "errors": catalogue.json(of(Severity::Error)),
        "warnings": catalogue.json(warnings()),
        "notes": catalogue.json(of(Severity::Note)),
    });
    output.answer(&answer, || rows.iter().map(Row::text).collect());
    if !output.wants_json() {
        for finding in of(Severity::Error) {
            output.note(catalogue.text(finding, Severity::Error).trim_end());
        }
        for finding in warnings() {
            output.note(catalogue.text(finding, Severity::Warning).trim_end());
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// An agent in the list.
struct Row {
    id: AgentId,
    definition: Definition,
    source: String,
    enabled: bool,
}

fn rows(catalogue: &Catalogue) -> Result<Vec<Row>, CommandError> {
    let mut rows = Vec::new();
    for name in catalogue.roster.names() {
        let id = AgentId::new(name);
        let definition = catalogue.roster.resolve(None, &id);
        rows.push(Row {
            definition: definition?.into_owned(),
            source: catalogue.source(name),
            enabled: catalogue.roster.is_enabled(name),
            id,
        });
    }
    rows.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(rows)
}

impl Row {
    fn json(&self) -> Value {
        json!({
            "id": self.id, "name": self.definition.name,
            "description": self.definition.description, "source": self.source,
            "runner": self.definition.legation.runner, "model": self.definition.model,
            "enabled": self.enabled, "delegates": self.definition.subagents.is_some(),
        })
    }

    fn text(&self) -> String {
        let runner = self.definition.legation.runner.map_or("any runner", Runner::as_str);
        let off = if self.enabled { "" } else { " (disabled)" };
        let first = format!("{}{off} · {runner} · {}", self.id, self.source);
        let second = match self.definition.description.as_str() {
            "" => "(no description)",
            description => description,
        };
        format!("{}\n    {}\n", clipped(&first, width()), clipped(second, width() - 4))
    }
}
