//! What every program is told of the server that is its way to us.

use crate::agents::Vendor;
use crate::agents::tool_name;

/// The server's name in every configuration.
pub const SERVER: &str = "legation";
/// Milliseconds that a call of ours may take: our own limits end it long before.
pub const CALL_MS: u64 = 24 * 3_600_000;
/// Its tools that start work or look after it.
pub const DELEGATING: &[&str] = &[
    "delegate",
    "delegate_batch",
    "delegate_wait",
    "delegate_status",
    "delegate_list",
    "delegate_cancel",
];

/// Our name for what a vendor calls a tool. `prefix` is what it puts before the names of
/// our own, whose underscores would else be taken for the end of a server's name.
pub(crate) fn canonical(vendor: Vendor, prefix: &str, theirs: &str) -> String {
    match theirs.strip_prefix(prefix) {
        Some(tool) => format!("mcp:{SERVER}/{tool}"),
        None => tool_name(vendor, theirs),
    }
}
