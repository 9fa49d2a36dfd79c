//! `legation cost`.

use std::process::ExitCode;

use legation_core::prices::AS_OF;
use legation_core::tree::view;
use serde_json::json;

use crate::error::CommandError;
use crate::look;
use crate::output::Output;
use crate::reach::{Reach, block_on};
use crate::show::cost;

/// Shows what a delegation cost, failed and repeated attempts included.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The delegation, or the beginning of its id.
    pub(crate) id: String,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let reach = Reach::current()?;
    let found = block_on(look::find(&reach, &args.id))?;
    let tree = view::cost(&found.state, found.no);
    let value = json!({
        "delegationId": tree.id, "totalUsd": tree.total_usd, "unknown": tree.unknown,
        "tokens": tree.tokens, "pricesAsOf": AS_OF, "tree": tree,
    });
    output.answer(&value, || cost::page(&tree));
    Ok(ExitCode::SUCCESS)
}
