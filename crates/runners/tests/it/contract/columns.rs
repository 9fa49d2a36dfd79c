//! The vendors whose programs are held to the contract.

use legation_runners::envoy::{Event, Outcome, Program};
use legation_runners::gemini::Gemini;
use legation_runners::opencode::OpenCode;

use super::stage::{Said, hear};

/// All that the contract has to know of a vendor.
pub(super) struct Column {
    pub(super) name: &'static str,
    /// A shell command, a call of our own server and an answer: three calls of a model.
    pub(super) tools: &'static str,
    /// A shell command and the web, both denied.
    pub(super) denied: &'static str,
    /// Nothing but a beginning.
    pub(super) cut: &'static str,
    /// A result of a tool that nobody has called.
    pub(super) fake_result: &'static str,
    /// A turn in which nothing was counted.
    pub(super) uncounted: &'static str,
    pub(super) hear: fn(&[Said<'_>]) -> Vec<(Vec<Event>, Outcome)>,
}

const fn of<P: Program + Default>() -> fn(&[Said<'_>]) -> Vec<(Vec<Event>, Outcome)> {
    hear::<P>
}

pub(super) const COLUMNS: &[Column] = &[
    Column {
        name: "gemini",
        tools: include_str!("../gemini/fixtures/tools.jsonl"),
        denied: include_str!("../gemini/fixtures/denied.jsonl"),
        cut: include_str!("../gemini/fixtures/cut.jsonl"),
        fake_result: r#"{"type":"tool_result","tool_id":"never","status":"success","output":"{}"}"#,
        uncounted: r#"{"type":"result","status":"success","stats":{"total_tokens":0,"models":{}}}"#,
        hear: of::<Gemini>(),
    },
    Column {
        name: "opencode",
        tools: include_str!("../opencode/fixtures/tools.jsonl"),
        denied: include_str!("../opencode/fixtures/denied.jsonl"),
        cut: include_str!("../opencode/fixtures/cut.jsonl"),
        fake_result: r#"{"type":"tool_result","part":{"tool":"bash","state":{"output":"{}"}}}"#,
        uncounted: r#"{"type":"step_finish","part":{"reason":"stop","tokens":{},"cost":0}}"#,
        hear: of::<OpenCode>(),
    },
];
