//! Writing a command as a line that parses to the same command.

use std::fmt;

use serde::Serialize;

use crate::text::slash::{Action, CallOptions, HistoryOptions, Since, SlashCommand};

impl fmt::Display for SlashCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Delegate { options, task } => write!(f, "/delegate{options}{}", Task(task)),
            Self::Direct { options, task } => write!(f, "/direct{options}{}", Task(task)),
            Self::Delegation(action) => write!(f, "/delegation {action}"),
        }
    }
}

impl fmt::Display for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        option(f, "--pattern", self.pattern.map(name).as_deref())?;
        option(f, "--depth", self.depth)?;
        option(f, "--agents", self.agents)?;
        option(f, "--budget", self.budget)?;
        switch(f, "--dry-run", self.dry_run)?;
        switch(f, "--text", self.text)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status { id } => {
                f.write_str("status")?;
                word(f, id.as_ref().map(|id| id.as_str()))
            }
            Self::Pause { id, options } => {
                write!(f, "pause {}", Word(id.as_str()))?;
                switch(f, "--now", options.now)
            }
            Self::Resume { id } => write!(f, "resume {}", Word(id.as_str())),
            Self::Cancel { id, options } => {
                write!(f, "cancel {}", Word(id.as_str()))?;
                option(f, "--reason", options.reason.as_deref().map(Word))?;
                switch(f, "--rollback", options.rollback)
            }
            Self::History { options } => write!(f, "history{options}"),
            Self::Hint { options, task } => {
                f.write_str("hint")?;
                switch(f, "--text", options.text)?;
                write!(f, "{}", Task(task))
            }
            Self::Config { settings } => {
                f.write_str("config")?;
                settings.iter().try_for_each(|setting| match setting.value.as_str() {
                    Some(text) => write!(f, " {}={}", setting.key, Quotation(text)),
                    None => write!(f, " {}={}", setting.key, setting.value),
                })
            }
            Self::Retry { id, subtask, options } => {
                write!(f, "retry {} {}", Word(id.as_str()), Word(subtask.as_str()))?;
                option(f, "--agent", options.agent.as_ref().map(|agent| Word(agent.as_str())))?;
                option(f, "--note", options.note.as_deref().map(Word))
            }
            Self::Skip { id, subtask, options } => {
                write!(f, "skip {} {}", Word(id.as_str()), Word(subtask.as_str()))?;
                option(f, "--reason", options.reason.as_deref().map(Word))
            }
            Self::Approve { id, subtask, options } => {
                write!(f, "approve {}", Word(id.as_str()))?;
                word(f, subtask.as_ref().map(|subtask| subtask.as_str()))?;
                option(f, "--reason", options.reason.as_deref().map(Word))
            }
            Self::Reject { id, subtask, options } => {
                write!(f, "reject {}", Word(id.as_str()))?;
                word(f, subtask.as_ref().map(|subtask| subtask.as_str()))?;
                option(f, "--reason", options.reason.as_deref().map(Word))
            }
            Self::Tree { id } => write!(f, "tree {}", Word(id.as_str())),
            Self::Trace { id } => write!(f, "trace {}", Word(id.as_str())),
            Self::Cost { id } => write!(f, "cost {}", Word(id.as_str())),
        }
    }
}

impl fmt::Display for HistoryOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        option(f, "--limit", self.limit)?;
        option(f, "--status", self.status.map(name).as_deref())?;
        match &self.since {
            Some(Since::AgoMs(ms)) => write!(f, " --since {ms}ms"),
            Some(Since::At(moment)) => write!(f, " --since {moment}"),
            None => Ok(()),
        }
    }
}

fn option(f: &mut fmt::Formatter<'_>, flag: &str, value: Option<impl fmt::Display>) -> fmt::Result {
    value.map_or(Ok(()), |value| write!(f, " {flag} {value}"))
}

fn switch(f: &mut fmt::Formatter<'_>, flag: &str, given: bool) -> fmt::Result {
    f.write_str(if given { " " } else { "" })?;
    f.write_str(if given { flag } else { "" })
}

fn word(f: &mut fmt::Formatter<'_>, word: Option<&str>) -> fmt::Result {
    word.map_or(Ok(()), |word| write!(f, " {}", Word(word)))
}

/// The name that a value of an enum has in files.
fn name(value: impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// The text of a task; `--` keeps a dash at its beginning from being an option.
struct Task<'a>(&'a str);

impl fmt::Display for Task<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends_options = if self.0.starts_with('-') { " --" } else { "" };
        write!(f, "{ends_options} {}", self.0)
    }
}

/// An id or a value, in quotation marks where it needs them.
struct Word<'a>(&'a str);

impl fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = !self.0.is_empty()
            && !self.0.starts_with(['-', '"', '\''])
            && !self.0.contains(char::is_whitespace);
        if is_plain { f.write_str(self.0) } else { Quotation(self.0).fmt(f) }
    }
}

struct Quotation<'a>(&'a str);

impl fmt::Display for Quotation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let escaped = self.0.replace('\\', "\\\\").replace('"', "\\\"");
        write!(f, "\"{escaped}\"")
    }
}
