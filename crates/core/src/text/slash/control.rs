//! `/delegation …`: looking at and steering what is delegated already.

use crate::text::slash::error::Error;
use crate::text::slash::flags::{self, Form, Given};
use crate::text::slash::line::Line;
use crate::text::slash::{
    Action, CancelOptions, HintOptions, HistoryOptions, PauseOptions, ReasonOptions, RetryOptions,
    settings, since,
};

const ID: &str = "the id of a delegation";
const SUBTASK: &str = "the id of a subtask";

/// An action: its name, how it is written, and how the rest of its line is read.
struct Control {
    name: &'static str,
    form: Form,
    read: fn(&mut Line<'_>, &'static Form) -> Result<Action, Error>,
}

static CONTROLS: &[Control] = &[
    Control {
        name: "status",
        form: Form {
            command: "/delegation status",
            usage: "/delegation status [ID]",
            flags: &[],
            needs: &[],
            most: 1,
        },
        read: |line, form| {
            let mut given = Given::among_words(line, form)?;
            Ok(Action::Status { id: given.optional_id()? })
        },
    },
    Control {
        name: "pause",
        form: Form {
            command: "/delegation pause",
            usage: "/delegation pause ID [--now]",
            flags: &[flags::NOW],
            needs: &[ID],
            most: 1,
        },
        read: |line, form| {
            let mut given = Given::among_words(line, form)?;
            let options = PauseOptions { now: given.switch(&flags::NOW) };
            Ok(Action::Pause { id: given.id()?, options })
        },
    },
    Control {
        name: "resume",
        form: only_id("/delegation resume", "/delegation resume ID"),
        read: |line, form| Ok(Action::Resume { id: Given::among_words(line, form)?.id()? }),
    },
    Control {
        name: "cancel",
        form: Form {
            command: "/delegation cancel",
            usage: "/delegation cancel ID [--reason TEXT] [--rollback]",
            flags: &[flags::REASON, flags::ROLLBACK],
            needs: &[ID],
            most: 1,
        },
        read: |line, form| {
            let mut given = Given::among_words(line, form)?;
            let options = CancelOptions {
                reason: given.remark(&flags::REASON)?,
                rollback: given.switch(&flags::ROLLBACK),
            };
            Ok(Action::Cancel { id: given.id()?, options })
        },
    },
    Control {
        name: "history",
        form: Form {
            command: "/delegation history",
            usage: "/delegation history [--limit N] [--status STATUS] [--since TIME]",
            flags: &[flags::LIMIT, flags::STATUS, flags::SINCE],
            needs: &[],
            most: 0,
        },
        read: |line, form| {
            let mut given = Given::among_words(line, form)?;
            let options = HistoryOptions {
                limit: given.number(&flags::LIMIT, 1..=10_000)?,
                status: given.name(&flags::STATUS)?,
                since: given.parsed(&flags::SINCE, since::parse)?,
            };
            Ok(Action::History { options })
        },
    },
    Control {
        name: "hint",
        form: Form {
            command: "/delegation hint",
            usage: "/delegation hint [--text] [--] TASK",
            flags: &[flags::TEXT],
            needs: &[],
            most: 0,
        },
        read: |line, form| {
            let options =
                HintOptions { text: Given::before_text(line, form)?.switch(&flags::TEXT) };
            Ok(Action::Hint { options, task: form.task(line)? })
        },
    },
    Control {
        name: "config",
        form: Form {
            command: "/delegation config",
            usage: "/delegation config [--mode=MODE] [KEY=VALUE …]",
            flags: &[flags::MODE],
            needs: &[],
            most: 0,
        },
        read: |line, form| Ok(Action::Config { settings: settings::read(line, form)? }),
    },
    Control {
        name: "retry",
        form: Form {
            command: "/delegation retry",
            usage: "/delegation retry ID SUBTASK [--agent AGENT] [--note TEXT]",
            flags: &[flags::AGENT, flags::NOTE],
            needs: &[ID, SUBTASK],
            most: 2,
        },
        read: |line, form| {
            let mut given = Given::among_words(line, form)?;
            let agent = given.parsed(&flags::AGENT, flags::id)?;
            let options =
                RetryOptions { agent: agent.map(Into::into), note: given.remark(&flags::NOTE)? };
            Ok(Action::Retry { id: given.id()?, subtask: given.id()?, options })
        },
    },
    Control {
        name: "skip",
        form: Form {
            command: "/delegation skip",
            usage: "/delegation skip ID SUBTASK [--reason TEXT]",
            flags: &[flags::REASON],
            needs: &[ID, SUBTASK],
            most: 2,
        },
        read: |line, form| {
            let mut given = Given::among_words(line, form)?;
            let options = ReasonOptions { reason: given.remark(&flags::REASON)? };
            Ok(Action::Skip { id: given.id()?, subtask: given.id()?, options })
        },
    },
    Control {
        name: "approve",
        form: verdict("/delegation approve", "/delegation approve ID [SUBTASK] [--reason TEXT]"),
        read: |line, form| {
            let mut given = Given::among_words(line, form)?;
            let options = ReasonOptions { reason: given.remark(&flags::REASON)? };
            Ok(Action::Approve { id: given.id()?, subtask: given.optional_id()?, options })
        },
    },
    Control {
        name: "reject",
        form: verdict("/delegation reject", "/delegation reject ID [SUBTASK] [--reason TEXT]"),
        read: |line, form| {
            let mut given = Given::among_words(line, form)?;
            let options = ReasonOptions { reason: given.remark(&flags::REASON)? };
            Ok(Action::Reject { id: given.id()?, subtask: given.optional_id()?, options })
        },
    },
    Control {
        name: "tree",
        form: only_id("/delegation tree", "/delegation tree ID"),
        read: |line, form| Ok(Action::Tree { id: Given::among_words(line, form)?.id()? }),
    },
    Control {
        name: "trace",
        form: only_id("/delegation trace", "/delegation trace ID"),
        read: |line, form| Ok(Action::Trace { id: Given::among_words(line, form)?.id()? }),
    },
    Control {
        name: "cost",
        form: only_id("/delegation cost", "/delegation cost ID"),
        read: |line, form| Ok(Action::Cost { id: Given::among_words(line, form)?.id()? }),
    },
];

const fn only_id(command: &'static str, usage: &'static str) -> Form {
    Form { command, usage, flags: &[], needs: &[ID], most: 1 }
}

const fn verdict(command: &'static str, usage: &'static str) -> Form {
    Form { command, usage, flags: &[flags::REASON], needs: &[ID], most: 2 }
}

/// Reads what follows `/delegation`.
pub(super) fn action(line: &mut Line<'_>) -> Result<Action, Error> {
    let known = || CONTROLS.iter().map(|control| control.name).collect::<Vec<_>>();
    let Some(word) = line.word() else {
        return Err(Error::no_action(&known()));
    };
    let control = CONTROLS.iter().find(|control| control.name == word);
    let Some(control) = control else {
        return Err(Error::unknown_action(word, &known()));
    };
    (control.read)(line, &control.form)
}
