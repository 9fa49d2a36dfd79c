//! `legation agents check`.

use std::process::ExitCode;

use legation_core::agent::Severity;
use serde_json::json;

use super::catalogue::{Catalogue, Counts};
use crate::error::CommandError;
use crate::output::Output;
use crate::page::count;

pub(super) fn run(output: &mut Output) -> Result<ExitCode, CommandError> {
    let catalogue = Catalogue::load(output)?;
    let of = |severity| {
        let found = catalogue.findings();
        catalogue.json(found.filter(move |finding| finding.severity == severity))
    };
    let counts = Counts::of(catalogue.findings());
    let agents = catalogue.loaded.agents.len();
    let answer = json!({
        "ok": counts.errors == 0, "agents": agents,
        "errors": of(Severity::Error), "warnings": of(Severity::Warning),
        "notes": of(Severity::Note),
    });
    output.answer(&answer, || {
        let found = catalogue.findings();
        let lines: String =
            found.map(|finding| catalogue.text(finding, finding.severity)).collect();
        format!(
            "{lines}{}: {}, {}, {}\n",
            count(agents, "agent"),
            count(counts.errors, "error"),
            count(counts.warnings, "warning"),
            count(counts.notes, "note")
        )
    });
    Ok(match counts.errors {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(1),
    })
}
