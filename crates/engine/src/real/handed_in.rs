//! The return that a child handed in with `legation submit`.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::time::UNIX_EPOCH;

use legation_core::money::Usd;
use legation_core::returns::{MAX_RETURN_BYTES, Tokens};
use legation_core::time::Now;
use legation_runners::command::{HAND_IN, RETURN_FILE};
use legation_runners::wary;
use serde::Deserialize;
use serde_json::Value;

/// What was handed in.
#[derive(Debug, Deserialize)]
pub(super) struct HandedIn {
    /// Whose it is.
    token: String,
    /// The return, not checked yet.
    #[serde(rename = "return")]
    pub(super) returned: Value,
    /// What the child says it used.
    #[serde(default)]
    pub(super) usage: Used,
    /// When it was handed in.
    #[serde(skip)]
    pub(super) at: Option<Now>,
}

/// What a child says it used.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Used {
    input: Option<u64>,
    output: Option<u64>,
    cost_usd: Option<f64>,
}

impl Used {
    /// Tokens, where it says any.
    pub(super) fn tokens(self) -> Option<Tokens> {
        let said = self.input.is_some() || self.output.is_some();
        let (input, output) = (self.input.unwrap_or(0), self.output.unwrap_or(0));
        said.then(|| Tokens { input, output, ..Tokens::default() })
    }

    /// Dollars, where it says any that make sense.
    pub(super) fn cost(self) -> Option<Usd> {
        self.cost_usd.and_then(Usd::from_dollars)
    }
}

/// What was handed in under this token, if anything was.
pub(super) fn read(folder: &Path, token: &str) -> Option<HandedIn> {
    let path = folder.join(HAND_IN).join(RETURN_FILE);
    let file = wary::open(&path).ok()?;
    let mut text = String::new();
    // Room for the token and the figures beside the return itself.
    let limit = 2 * MAX_RETURN_BYTES as u64;
    file.take(limit).read_to_string(&mut text).ok()?;
    let mut handed_in: HandedIn = serde_json::from_str(&text).ok()?;
    handed_in.at = written_at(&path);
    (handed_in.token == token).then_some(handed_in)
}

/// When a file was last written to.
pub(super) fn written_at(path: &Path) -> Option<Now> {
    let at = fs::metadata(path).and_then(|file| file.modified()).ok()?;
    let since = at.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok().map(Now)
}
