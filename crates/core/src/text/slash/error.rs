//! What is wrong with a slash command, in words for the person who typed it.

use crate::text::nearest::nearest;
use crate::text::shown;
use crate::text::slash::COMMANDS;
use crate::text::slash::flags::{Flag, Form};

/// How commands begin, for a line that begins with none.
const USAGE: &str = "/delegate [options] TASK, /direct TASK or /delegation ACTION";

const DELEGATION_USAGE: &str = "/delegation status|pause|resume|cancel|history|hint|config|retry|skip|approve|reject|tree|trace|cost";

/// A slash command that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct Error {
    /// What is wrong.
    pub problem: Problem,
    usage: &'static str,
}

/// What is wrong with a slash command. Texts are as a message shows them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// An empty line.
    #[error("there is no command: write {USAGE}")]
    NoCommand,
    /// It does not begin with one of the commands.
    #[error("{word} is not a slash command{meant}; there are {}", COMMANDS.join(", "))]
    UnknownCommand {
        /// What it begins with.
        word: String,
        /// A suggestion, or nothing.
        meant: String,
    },
    /// `/delegation` and then nothing that it can do.
    #[error("/delegation has no action {word}{meant}; there are {known}")]
    UnknownAction {
        /// What was asked for.
        word: String,
        /// A suggestion, or nothing.
        meant: String,
        /// What it can do.
        known: String,
    },
    /// `/delegation` and then nothing at all.
    #[error("/delegation needs an action: {known}")]
    NoAction {
        /// What it can do.
        known: String,
    },
    /// An option that the command does not have.
    #[error("{command} has no option {option}{meant}; {known}")]
    UnknownOption {
        /// The command.
        command: &'static str,
        /// The option as it was typed.
        option: String,
        /// A suggestion, or nothing.
        meant: String,
        /// What it has.
        known: String,
    },
    /// An option without its value.
    #[error("{option} needs a value: {accepted}")]
    NoValue {
        /// The option.
        option: String,
        /// What it takes.
        accepted: &'static str,
    },
    /// A value that the option does not take.
    #[error("{option} cannot be {value}; it takes {accepted}")]
    BadValue {
        /// The option.
        option: String,
        /// The value.
        value: String,
        /// What it takes.
        accepted: &'static str,
    },
    /// A value for an option that takes none.
    #[error("{option} takes no value")]
    NoValueTaken {
        /// The option.
        option: &'static str,
    },
    /// The same option or key twice.
    #[error("{option} is given twice")]
    Repeated {
        /// The option.
        option: String,
    },
    /// A quotation mark without its counterpart, or text right behind it.
    #[error("the quotation that begins with {start} does not end with a {mark} and a blank")]
    BadQuotation {
        /// How it begins.
        start: String,
        /// The mark.
        mark: char,
    },
    /// No text, and no id of a task.
    #[error("{command} needs a task: a text or the id of a task")]
    NoTask {
        /// The command.
        command: &'static str,
    },
    /// A word is missing.
    #[error("{command} needs {missing}")]
    NoWord {
        /// The command.
        command: &'static str,
        /// What is missing.
        missing: &'static str,
    },
    /// A word too many.
    #[error(
        "{command} does not know what to do with {word}; put a value of several words in \"…\""
    )]
    OneTooMany {
        /// The command.
        command: &'static str,
        /// The first such word.
        word: String,
    },
    /// An id that nothing can have.
    #[error("{word} is no id: an id has 1 to {max} visible characters")]
    BadId {
        /// The id.
        word: String,
        /// The most characters.
        max: usize,
    },
    /// Something that is not `key=value`.
    #[error("{word} is no setting; write it like limits.maxDepth=2")]
    BadSetting {
        /// The word.
        word: String,
    },
    /// More settings than there are keys.
    #[error("at most {max} settings can be given at once")]
    TooManySettings {
        /// The most.
        max: usize,
    },
}

impl Error {
    /// How the command is written.
    pub fn usage(&self) -> &'static str {
        self.usage
    }

    pub(super) fn no_command() -> Self {
        Self { problem: Problem::NoCommand, usage: USAGE }
    }

    pub(super) fn unknown_command(word: &str) -> Self {
        let meant = meant(nearest(word, COMMANDS));
        Self { problem: Problem::UnknownCommand { word: shown::quote(word), meant }, usage: USAGE }
    }

    pub(super) fn no_action(known: &[&'static str]) -> Self {
        Self { problem: Problem::NoAction { known: known.join(", ") }, usage: DELEGATION_USAGE }
    }

    pub(super) fn unknown_action(word: &str, known: &[&'static str]) -> Self {
        let meant = meant(nearest(word, known.iter().copied()));
        let (word, known) = (shown::quote(word), known.join(", "));
        Self { problem: Problem::UnknownAction { word, meant, known }, usage: DELEGATION_USAGE }
    }

    pub(super) fn unknown_option(form: &Form, option: &str) -> Self {
        let names = || form.flags.iter().map(|flag| flag.long);
        let known = match names().collect::<Vec<_>>().as_slice() {
            [] => "it has none".to_owned(),
            known => format!("it has {}", known.join(", ")),
        };
        form.error(Problem::UnknownOption {
            command: form.command,
            option: shown::quote(option),
            meant: meant(nearest(option, names())),
            known,
        })
    }
}

impl Form {
    pub(super) fn error(&self, problem: Problem) -> Error {
        Error { problem, usage: self.usage }
    }

    pub(super) fn bad_value(&self, flag: &Flag, value: &str) -> Error {
        self.error(Problem::BadValue {
            option: flag.long.to_owned(),
            value: shown::quote(value),
            accepted: flag.takes,
        })
    }
}

fn meant(name: Option<&str>) -> String {
    name.map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
}
