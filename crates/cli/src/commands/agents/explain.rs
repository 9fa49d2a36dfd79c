//! `legation agents explain`.

use std::process::ExitCode;

use legation_core::agent::{Explained, Level, Refusal, may_delegate};
use legation_core::code::Code;
use legation_core::ids::AgentId;
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
    /// The agent that delegates; `user` is you.
    #[arg(long, value_name = "ID")]
    parent: String,
    /// The agent that is delegated to.
    #[arg(long, value_name = "ID")]
    child: String,
    /// Explain these tools only, by their canonical names.
    #[arg(long = "tool", value_name = "NAME")]
    tools: Vec<String>,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let catalogue = Catalogue::load(output)?;
    let roster = &catalogue.roster;
    let child = AgentId::new(&args.child);
    let parent = Some(AgentId::new(&args.parent)).filter(|parent| parent.as_str() != ROOT);
    let callers: Vec<AgentId> = parent.iter().cloned().collect();
    let answer = may_delegate(roster, &callers, &child);
    if let Err(refusal) = &answer
        && refusal.code == Code::AgentNotFound
    {
        return Err(refusal.clone().into());
    }
    let path: Vec<AgentId> = callers.into_iter().chain([child]).collect();
    let permissions = roster.permissions(&path, None)?;
    let tools = match args.tools.as_slice() {
        [] => permissions.tools(),
        tools => tools.to_vec(),
    };
    let rows = permissions.explain(&tools);
    let reason = reason(parent.as_ref(), &answer);
    let value = json!({
        "allowed": answer.is_ok(), "reason": reason,
        "code": answer.as_ref().err().map(|refusal| refusal.code),
        "hint": answer.as_ref().err().map(|refusal| &refusal.hint),
        "parent": args.parent, "child": args.child, "tools": rows,
    });
    output.answer(&value, || text(args, &answer, &reason, &rows));
    Ok(ExitCode::SUCCESS)
}

fn reason(parent: Option<&AgentId>, answer: &Result<Level, Refusal>) -> String {
    match (answer, parent) {
        (Err(refusal), _) => refusal.message.clone(),
        (Ok(_), None) => "A root may delegate to every enabled agent.".to_owned(),
        (Ok(level), Some(parent)) => {
            let asked = if *level == Level::Ask { " A human is asked each time." } else { "" };
            format!("The `subagents` of `{parent}` allow it.{asked}")
        }
    }
}

fn text(args: &Args, answer: &Result<Level, Refusal>, reason: &str, rows: &[Explained]) -> String {
    let may = if answer.is_ok() { "may" } else { "may not" };
    let mut text = block(&format!("{} {may} delegate to {}.", args.parent, args.child), 0);
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
