//! What an envoy passes on, read: bytes in, reports out.
//!
//! Pure, and the same for any way of cutting the bytes into pieces. Only an envoy is
//! read like this: what a program prints itself never gets here.

use std::collections::BTreeMap;

use legation_core::returns::Tokens;

use super::lines::Lines;
use super::told::Told;
use crate::command::{MAX_NOTES, Progress, Report, Usage};
use crate::tail::Tail;

/// Bytes of a line that an envoy may write.
pub const MAX_TOLD_BYTES: usize = 256 << 10;
/// Tools that are counted by name; more are counted together.
const MAX_NAMES: usize = 100;
/// The name under which they are.
const OTHERS: &str = "others";

/// Reads the standard output of one envoy.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    lines: Lines,
    heard: Heard,
}

/// Tokens that were used since the program last said what it cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unpriced {
    /// All of them.
    pub tokens: Tokens,
    /// The same by model, where the program says which.
    pub by_model: BTreeMap<String, Tokens>,
}

#[derive(Clone, Debug, Default)]
struct Heard {
    text: Tail,
    usage: Usage,
    by_model: BTreeMap<String, Tokens>,
    unpriced: Unpriced,
    tools: BTreeMap<String, u64>,
    denied: BTreeMap<String, String>,
    unavailable: BTreeMap<String, String>,
    conversation: Option<String>,
    is_cut_off: bool,
    ignored: u64,
}

impl Reader {
    /// Takes the next piece and says what it told.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Report> {
        let mut reports = Vec::new();
        let Self { lines, heard } = self;
        lines.push(bytes, |line| heard.take(line, &mut reports));
        reports
    }

    /// Takes the end of the output. A line that is not ended is no line.
    pub fn finish(&mut self) -> Vec<Report> {
        Vec::new()
    }

    /// What was used so far, in all.
    pub fn usage(&self) -> Usage {
        self.heard.usage
    }

    /// The same tokens by model, where the program says which.
    pub fn by_model(&self) -> &BTreeMap<String, Tokens> {
        &self.heard.by_model
    }

    /// What was used since the program last said what it cost.
    pub fn unpriced(&self) -> &Unpriced {
        &self.heard.unpriced
    }

    /// The newest of what the agent said.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(self.heard.text.newest()).into_owned()
    }

    /// Tool calls by name.
    pub fn tools(&self) -> &BTreeMap<String, u64> {
        &self.heard.tools
    }

    /// Tools that it wanted to use and was not allowed to, and why.
    pub fn denied(&self) -> &BTreeMap<String, String> {
        &self.heard.denied
    }

    /// Servers of tools that it was to have and could not use, and why.
    pub fn unavailable(&self) -> &BTreeMap<String, String> {
        &self.heard.unavailable
    }

    /// What the program calls the conversation.
    pub fn conversation(&self) -> Option<&str> {
        self.heard.conversation.as_deref()
    }

    /// Whether the program ended in the middle.
    pub fn is_cut_off(&self) -> bool {
        self.heard.is_cut_off
    }
}

impl Heard {
    fn take(&mut self, line: &[u8], reports: &mut Vec<Report>) {
        let told = serde_json::from_slice(line).ok().filter(|_| line.len() <= MAX_TOLD_BYTES);
        let Some(told) = told else {
            self.ignored += 1;
            if self.ignored <= MAX_NOTES {
                reports.push(Report::Ignored("a line of the envoy makes no sense".to_owned()));
            }
            return;
        };
        match told {
            Told::Text(text) => self.text.push(text.as_bytes()),
            Told::Tool { tool, what, count } => {
                let last_action =
                    if what.is_empty() { tool.clone() } else { format!("{tool}: {what}") };
                count_in(&mut self.tools, tool);
                reports.push(Report::Progress(Progress { current: count, total: 0, last_action }));
            }
            Told::Denied { tool, why } => {
                if self.denied.len() < MAX_NAMES {
                    self.denied.entry(tool).or_insert(why);
                }
            }
            Told::Unavailable { server, why } => {
                let last_action = format!("`{server}` cannot be used: {why}");
                if self.unavailable.len() < MAX_NAMES {
                    self.unavailable.entry(server).or_insert(why);
                }
                let current = self.tools.values().sum();
                reports.push(Report::Progress(Progress { current, total: 0, last_action }));
            }
            Told::Used { tokens, cost, model } => {
                self.usage = self.usage.plus(&Usage { tokens, cost });
                let model = model.filter(|_| self.by_model.len() < MAX_NAMES);
                if let Some(model) = &model {
                    add_to(&mut self.by_model, model, &tokens);
                }
                if cost.is_some() {
                    self.unpriced = Unpriced::default();
                } else {
                    self.unpriced.tokens = self.unpriced.tokens.plus(&tokens);
                    if let Some(model) = &model {
                        add_to(&mut self.unpriced.by_model, model, &tokens);
                    }
                }
                reports.push(Report::Usage(self.usage));
            }
            Told::Context(tokens) => reports.push(Report::Context(tokens)),
            Told::Conversation(name) => self.conversation = Some(name),
            Told::Stalled { .. } => reports.push(Report::Stalled),
            Told::CutOff => self.is_cut_off = true,
            Told::AskedAgain { .. } => {}
        }
    }
}

fn add_to(by_model: &mut BTreeMap<String, Tokens>, model: &str, tokens: &Tokens) {
    let so_far = by_model.entry(model.to_owned()).or_default();
    *so_far = so_far.plus(tokens);
}

fn count_in(tools: &mut BTreeMap<String, u64>, tool: String) {
    let is_known = tools.contains_key(&tool) || tools.len() < MAX_NAMES;
    let name = if is_known { tool } else { OTHERS.to_owned() };
    *tools.entry(name).or_default() += 1;
}
