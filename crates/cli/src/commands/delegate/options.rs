//! What can be said about every call.

use legation_core::agent::ContextMode;
use legation_core::call::Call;
use legation_core::money::Usd;

use crate::commands::values::{dollars, milliseconds, named, tokens};

/// What can be said about every call.
#[derive(clap::Args, Default)]
pub(crate) struct Options {
    /// Tokens that may be used; 0 means none.
    #[arg(short, long, value_name = "TOKENS", value_parser = tokens, allow_negative_numbers = true)]
    budget: Option<u64>,
    /// Dollars that may be spent, such as 0.50.
    #[arg(long, value_name = "USD", value_parser = dollars, allow_negative_numbers = true)]
    max_cost: Option<Usd>,
    /// Time for each subtask, such as 90s, 30m or 2h.
    #[arg(long = "timeout", value_name = "SPAN", value_parser = milliseconds, allow_negative_numbers = true)]
    timeout_ms: Option<u64>,
    /// What the agents are handed beside their task: task_only, summary or full.
    #[arg(long, value_name = "MODE", value_parser = named::<ContextMode>)]
    context: Option<ContextMode>,
    /// Let them start from your uncommitted changes, too.
    #[arg(long)]
    include_dirty: bool,
    /// The same key gives the same delegation, however often it is asked for.
    #[arg(long, value_name = "KEY", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    idempotency_key: Option<String>,
    /// Show what would be done, and do nothing.
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Print the id and do not wait.
    #[arg(long, conflicts_with = "dry_run")]
    detach: bool,
    /// Go ahead where you would be asked: before it starts, and before a large folder is copied.
    #[arg(long)]
    yes: bool,
    /// Take the task as text, even if it looks like the id of a task.
    #[arg(long)]
    pub(super) text: bool,
}

impl Options {
    /// The call that these make.
    pub(super) fn call(&self) -> Call {
        Call {
            budget: self.budget,
            max_cost: self.max_cost,
            timeout_ms: self.timeout_ms,
            context: self.context,
            include_dirty: self.include_dirty,
            idempotency_key: self.idempotency_key.clone(),
            detach: self.detach,
            yes: self.yes,
            ..Call::default()
        }
    }
}
