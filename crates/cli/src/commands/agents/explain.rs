//! `legation agents explain`.

use std::process::ExitCode;

use legation_core::agent::{Account, Explained, Level, Refusal, Runner};
use legation_core::ids::AgentId;
use legation_engine::client::passed_on;
use legation_runners::envoy::Tools;
use legation_runners::permissions::{Row, told};
use legation_runners::vendors::{in_vain, runner_of};
use serde_json::json;

use super::catalogue::Catalogue;
use crate::error::CommandError;
use crate::output::Output;
use crate::page::{block, clipped, row};

/// What a root is called where an agent's id could stand.
const ROOT: &str = "user";

/// Columns a tool's name may take in a table.
const MAX_TOOL_COLUMNS: usize = 30;

#[derive(clap::Args)]
pub(super) struct Args {
    /// The agent that delegates; `user` is you. With all who stand above it, from the root
    /// down: user/lead/writer, or several `--parent`. The strictest of them decides.
    #[arg(long = "parent", value_name = "PATH", required = true, value_parser = path)]
    parents: Vec<Path>,
    /// The agent that is delegated to.
    #[arg(long, value_name = "ID")]
    child: String,
    /// Explain these tools only, by their canonical names.
    #[arg(long = "tool", value_name = "NAME")]
    tools: Vec<String>,
}

/// Agents from the root down, the root itself left out.
#[derive(Clone)]
struct Path(Vec<AgentId>);

fn path(text: &str) -> Result<Path, String> {
    let names: Vec<&str> = text.split('/').map(str::trim).collect();
    if names.iter().any(|name| name.is_empty()) {
        return Err("expected names with / between them, such as user/lead/writer".to_owned());
    }
    let below = names.iter().enumerate().filter(|(at, name)| *at > 0 || **name != ROOT);
    Ok(Path(below.map(|(_, name)| AgentId::new(name)).collect()))
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let catalogue = Catalogue::load(output)?;
    let roster = &catalogue.roster;
    let child = AgentId::new(&args.child);
    let callers: Vec<AgentId> = args.parents.iter().flat_map(|path| path.0.clone()).collect();
    let Account { answer, reason, permissions } = roster.account(&callers, &child)?;
    let tools = match args.tools.as_slice() {
        [] => permissions.tools(),
        tools => tools.to_vec(),
    };
    let rows = permissions.explain(&tools);
    let definition = roster.resolve(callers.last(), &child)?;
    let runner = runner_of(&definition, &passed_on());
    let told = runner.map_or_else(Vec::new, |runner| told(runner, &Tools::of(&permissions)));
    let wishes = runner.into_iter().flat_map(|runner| in_vain(runner, &definition));
    let in_vain: Vec<&str> = wishes.map(|wish| wish.key).collect();
    let names = || [ROOT].into_iter().chain(callers.iter().map(AgentId::as_str));
    let value = json!({
        "allowed": answer.is_ok(), "reason": reason,
        "code": answer.as_ref().err().map(|refusal| refusal.code),
        "hint": answer.as_ref().err().map(|refusal| &refusal.hint),
        "parent": names().next_back(), "path": names().collect::<Vec<_>>(),
        "child": args.child, "tools": rows,
        "runner": runner, "told": told, "inVain": in_vain,
    });
    output.answer(&value, || {
        let parent = match callers.as_slice() {
            [] | [_] => names().next_back().unwrap_or(ROOT).to_owned(),
            _ => names().collect::<Vec<_>>().join(" → "),
        };
        text((&parent, &args.child), &answer, &reason, &rows) + &as_told(runner, &told, &in_vain)
    });
    Ok(ExitCode::SUCCESS)
}

fn text(
    (parent, child): (&str, &str),
    answer: &Result<Level, Refusal>,
    reason: &str,
    rows: &[Explained],
) -> String {
    let may = if answer.is_ok() { "may" } else { "may not" };
    let mut text = block(&format!("{parent} {may} delegate to {child}."), 0);
    text.push_str(&block(reason, 2));
    if let Err(refusal) = answer {
        text.push_str(&block(&format!("Suggestion: {}", refusal.hint), 2));
    }
    let longest = rows.iter().map(|row| row.tool.chars().count()).max();
    let columns = longest.unwrap_or_default().clamp(4, MAX_TOOL_COLUMNS);
    let line = |tool: &str, effective: &str, rest: &str| {
        let tool = clipped(tool, columns);
        row(&format!("{tool:<columns$}  {effective:<5}  "), rest)
    };
    text.push('\n');
    text.push_str(&line("TOOL", "LEVEL", "DECIDED BY"));
    for explained in rows {
        let rest = format!("{}: {}", explained.decided_by, explained.because);
        text.push_str(&line(&explained.tool, explained.effective.as_str(), &rest));
    }
    text
}

/// What the program that runs the child is told of it.
fn as_told(runner: Option<Runner>, told: &[Row], in_vain: &[&str]) -> String {
    let Some(runner) = runner else {
        return "\nNothing is installed that could run it; see `legation doctor`.\n".to_owned();
    };
    let mut text = format!("\nTold to {}:\n", runner.as_str());
    let longest = told.iter().map(|row| row.tool.chars().count()).max();
    let columns = longest.unwrap_or_default().clamp(4, MAX_TOOL_COLUMNS);
    for Row { tool, told, .. } in told {
        text.push_str(&row(&format!("{:<columns$}  ", clipped(tool, columns)), told));
    }
    if !in_vain.is_empty() {
        let keys = in_vain.join(", ");
        text.push('\n');
        text.push_str(&block(&format!("It has no way to follow: {keys}"), 0));
    }
    text
}
