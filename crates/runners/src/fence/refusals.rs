//! What the kernel's audit log says of the refusals of one fence.
//!
//! A refusal is told by the number of its fence, and whose fence that is by a record of
//! its own, behind the first refusal: there the process is named that raised it. Nothing
//! is read here but text that was received; nobody is asked.

use legation_core::returns::FenceRefusal;

/// The record of a refusal.
pub const ACCESS: u16 = 1423;
/// The record of a fence: that it stands, or that the last inside has gone.
pub const DOMAIN: u16 = 1424;

/// Refusals that are told, each once.
pub const MAX_TOLD: usize = 50;
/// Characters of what a refusal was about.
const MAX_TARGET_CHARS: usize = 1_000;
/// Refusals of fences of which nobody has said whose they are.
const MAX_WAITING: usize = 64;

/// The refusals of the fence that one process has raised.
#[derive(Clone, Debug)]
pub struct Refusals {
    raised_by: u32,
    domain: Option<String>,
    waiting: Vec<(String, FenceRefusal)>,
    told: Vec<FenceRefusal>,
    is_over: bool,
}

impl Refusals {
    /// Of a fence that this process raises.
    pub fn new(raised_by: u32) -> Self {
        Self { raised_by, domain: None, waiting: Vec::new(), told: Vec::new(), is_over: false }
    }

    /// Takes note of a record, whatever it is about.
    pub fn hear(&mut self, kind: u16, text: &str) {
        let Some(domain) = field(text, "domain") else { return };
        match kind {
            ACCESS => self.refused(domain, text),
            DOMAIN => self.stands(domain, text),
            _ => {}
        }
    }

    /// Whether anything was refused.
    pub fn any(&self) -> bool {
        self.domain.is_some()
    }

    /// Whether nothing more can come.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// What was refused, in order, each once.
    pub fn told(self) -> Vec<FenceRefusal> {
        self.told
    }

    fn refused(&mut self, domain: &str, text: &str) {
        let Some(what) = field(text, "blockers") else { return };
        let refusal = FenceRefusal { what: what.to_owned(), target: target(text) };
        match &self.domain {
            Some(own) if own == domain => self.tell(refusal),
            None if self.waiting.len() < MAX_WAITING => {
                self.waiting.push((domain.to_owned(), refusal));
            }
            Some(_) | None => {}
        }
    }

    fn stands(&mut self, domain: &str, text: &str) {
        let raised_by = field(text, "pid").and_then(|pid| pid.parse().ok());
        if raised_by == Some(self.raised_by) && self.domain.is_none() {
            self.domain = Some(domain.to_owned());
            for (of, refusal) in std::mem::take(&mut self.waiting) {
                if of == domain {
                    self.tell(refusal);
                }
            }
        }
        self.waiting.retain(|(of, _)| of != domain);
        let is_own = self.domain.as_deref() == Some(domain);
        self.is_over |= is_own && field(text, "status") == Some("deallocated");
    }

    fn tell(&mut self, refusal: FenceRefusal) {
        if self.told.len() < MAX_TOLD && !self.told.contains(&refusal) {
            self.told.push(refusal);
        }
    }
}

/// What a refusal was about: a path, a port or a process.
fn target(text: &str) -> Option<String> {
    let port = || field(text, "dest").or_else(|| field(text, "src"));
    let process = || {
        let name = field(text, "ocomm").and_then(plain).map(|name| format!(" ({name})"));
        Some(format!("process {}{}", field(text, "opid")?, name.unwrap_or_default()))
    };
    let target = field(text, "path").and_then(plain);
    let target = target.or_else(|| port().map(|port| format!("port {port}"))).or_else(process)?;
    Some(target.chars().take(MAX_TARGET_CHARS).collect())
}

/// The value of a field as it stands there. No value has a space in it: text that has one
/// is written in hexadecimal digits.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut fields = text.split_ascii_whitespace().filter_map(|word| word.split_once('='));
    fields.find_map(|(key, value)| (key == name).then_some(value))
}

/// Text that somebody else chose: between quotes, or in hexadecimal digits.
fn plain(value: &str) -> Option<String> {
    if let Some(quoted) = value.strip_prefix('"') {
        return quoted.strip_suffix('"').map(str::to_owned);
    }
    let digits = value.as_bytes().chunks(2);
    let bytes: Option<Vec<u8>> =
        digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect();
    bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}
