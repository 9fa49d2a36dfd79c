//! Which options each command has, and reading them.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde::de::value::{Error as ValueError, StrDeserializer};

use crate::text::shown;
use crate::text::slash::error::{Error, Problem};
use crate::text::slash::line::Line;

/// The longest reason or note.
pub(super) const REMARK_MAX_CHARS: usize = 500;

/// The longest id of anything.
pub(super) const ID_MAX_CHARS: usize = 200;

/// How a command is written.
pub(super) struct Form {
    /// What it begins with.
    pub(super) command: &'static str,
    /// The whole of it, for people.
    pub(super) usage: &'static str,
    /// Its options.
    pub(super) flags: &'static [Flag],
    /// The words it cannot do without.
    pub(super) needs: &'static [&'static str],
    /// How many words it takes at most.
    pub(super) most: usize,
}

impl Form {
    /// The rest of the line as the text or the id of a task.
    pub(super) fn task(&self, line: &Line<'_>) -> Result<String, Error> {
        match line.rest() {
            "" => Err(self.error(Problem::NoTask { command: self.command })),
            task => Ok(task.to_owned()),
        }
    }
}

/// An option.
pub(super) struct Flag {
    pub(super) long: &'static str,
    short: &'static str,
    /// What its value can be; empty if it has none.
    pub(super) takes: &'static str,
}

impl Flag {
    const fn with_value(long: &'static str, short: &'static str, takes: &'static str) -> Self {
        Self { long, short, takes }
    }

    const fn switch(long: &'static str) -> Self {
        Self { long, short: "", takes: "" }
    }
}

pub(super) const PATTERN: Flag = Flag::with_value(
    "--pattern",
    "-p",
    "parallel, parallel_streaming, sequential, dag, debate, review, ensemble or direct",
);
pub(super) const DEPTH: Flag = Flag::with_value("--depth", "-d", "a whole number from 1 to 5");
pub(super) const AGENTS: Flag =
    Flag::with_value("--agents", "-a", "a whole number from 1 to 100000");
pub(super) const BUDGET: Flag =
    Flag::with_value("--budget", "-b", "a whole number of tokens, 0 or more");
pub(super) const DRY_RUN: Flag = Flag::switch("--dry-run");
pub(super) const TEXT: Flag = Flag::switch("--text");
pub(super) const NOW: Flag = Flag::switch("--now");
pub(super) const ROLLBACK: Flag = Flag::switch("--rollback");
pub(super) const REASON: Flag =
    Flag::with_value("--reason", "", "1 to 500 characters, in \"…\" if there are blanks in it");
pub(super) const NOTE: Flag =
    Flag::with_value("--note", "", "1 to 500 characters, in \"…\" if there are blanks in it");
pub(super) const AGENT: Flag = Flag::with_value("--agent", "", "the id of an agent");
pub(super) const LIMIT: Flag = Flag::with_value("--limit", "", "a whole number from 1 to 10000");
pub(super) const STATUS: Flag = Flag::with_value(
    "--status",
    "",
    "pending, running, paused, completed, partial, failed, blocked, cancelled or all",
);
pub(super) const SINCE: Flag = Flag::with_value(
    "--since",
    "",
    "a span of time such as 90m or 7d, or a date such as 2026-01-31 or 2026-01-31T09:00:00Z",
);
pub(super) const MODE: Flag = Flag::with_value("--mode", "", "disabled, suggest, auto or smart");

pub(super) const DELEGATE: &Form = &Form {
    command: "/delegate",
    usage: "/delegate [-p PATTERN] [-d DEPTH] [-a AGENTS] [-b TOKENS] [--dry-run] [--text] [--] TASK",
    flags: &[PATTERN, DEPTH, AGENTS, BUDGET, DRY_RUN, TEXT],
    needs: &[],
    most: 0,
};
pub(super) const DIRECT: &Form = &Form {
    command: "/direct",
    usage: "/direct [--text] [--] TASK",
    flags: &[TEXT],
    needs: &[],
    most: 0,
};

/// The options and words that a line gave, taken out one by one.
pub(super) struct Given<'a> {
    form: &'static Form,
    values: Vec<(&'static str, Cow<'a, str>)>,
    words: std::vec::IntoIter<Cow<'a, str>>,
}

impl<'a> Given<'a> {
    /// Reads options up to where the text begins.
    pub(super) fn before_text(line: &mut Line<'a>, form: &'static Form) -> Result<Self, Error> {
        let mut given = Self::nothing(form);
        while !line.takes_end_of_options() && given.take_option(line)? {}
        Ok(given)
    }

    /// Reads options and words in any order, to the end of the line.
    pub(super) fn among_words(line: &mut Line<'a>, form: &'static Form) -> Result<Self, Error> {
        let mut given = Self::nothing(form);
        let mut words = Vec::new();
        let mut only_words = false;
        loop {
            only_words = only_words || line.takes_end_of_options();
            if !only_words && given.take_option(line)? {
                continue;
            }
            let Some(word) = line.next_value().map_err(|problem| form.error(problem))? else {
                break;
            };
            if words.len() == form.most {
                let word = shown::quote(&word);
                return Err(form.error(Problem::OneTooMany { command: form.command, word }));
            }
            words.push(word);
        }
        if let Some(missing) = form.needs.get(words.len()) {
            return Err(form.error(Problem::NoWord { command: form.command, missing }));
        }
        given.words = words.into_iter();
        Ok(given)
    }

    fn nothing(form: &'static Form) -> Self {
        Self { form, values: Vec::new(), words: Vec::new().into_iter() }
    }

    /// Takes one option, if the line goes on with one.
    fn take_option(&mut self, line: &mut Line<'a>) -> Result<bool, Error> {
        let Some(name) = line.option_name() else {
            return Ok(false);
        };
        let form = self.form;
        let known = form.flags.iter().find(|flag| flag.long == name || flag.short == name);
        let Some(flag) = known else {
            return Err(Error::unknown_option(form, name));
        };
        if self.values.iter().any(|(given, _)| *given == flag.long) {
            return Err(form.error(Problem::Repeated { option: flag.long.to_owned() }));
        }
        let has_equals = line.takes_equals();
        if flag.takes.is_empty() {
            if has_equals {
                return Err(form.error(Problem::NoValueTaken { option: flag.long }));
            }
            self.values.push((flag.long, Cow::Borrowed("")));
            return Ok(true);
        }
        let value = if has_equals { line.value() } else { line.next_value() };
        let value = value.map_err(|problem| form.error(problem))?;
        let value = value.ok_or_else(|| {
            form.error(Problem::NoValue { option: flag.long.to_owned(), accepted: flag.takes })
        })?;
        self.values.push((flag.long, value));
        Ok(true)
    }

    fn take(&mut self, flag: &Flag) -> Option<Cow<'a, str>> {
        let at = self.values.iter().position(|(given, _)| *given == flag.long)?;
        Some(self.values.swap_remove(at).1)
    }

    /// Whether a switch was given.
    pub(super) fn switch(&mut self, flag: &Flag) -> bool {
        self.take(flag).is_some()
    }

    /// A number in a range: digits and nothing else.
    pub(super) fn number<N: FromStr + PartialOrd>(
        &mut self,
        flag: &Flag,
        range: RangeInclusive<N>,
    ) -> Result<Option<N>, Error> {
        self.parsed(flag, |value| {
            let digits = value.bytes().all(|byte| byte.is_ascii_digit());
            value.parse().ok().filter(|number| digits && range.contains(number))
        })
    }

    /// One of the names of an enum.
    pub(super) fn name<T: DeserializeOwned>(&mut self, flag: &Flag) -> Result<Option<T>, Error> {
        self.parsed(flag, named)
    }

    /// A reason or a note.
    pub(super) fn remark(&mut self, flag: &Flag) -> Result<Option<String>, Error> {
        self.parsed(flag, |value| {
            let value = value.trim();
            let fits = (1..=REMARK_MAX_CHARS).contains(&value.chars().count());
            fits.then(|| value.to_owned())
        })
    }

    /// A value that `parse` understands, if the option was given.
    pub(super) fn parsed<T>(
        &mut self,
        flag: &Flag,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.take(flag) else {
            return Ok(None);
        };
        let parsed = parse(&value).ok_or_else(|| self.form.bad_value(flag, &value))?;
        Ok(Some(parsed))
    }

    /// The next word as an id, if there is one.
    pub(super) fn optional_id<T: From<String>>(&mut self) -> Result<Option<T>, Error> {
        self.words.next().map(|word| self.id_from(&word)).transpose()
    }

    /// The next word as an id; which words there must be was checked before.
    pub(super) fn id<T: From<String>>(&mut self) -> Result<T, Error> {
        let word = self.words.next().unwrap_or_default();
        self.id_from(&word)
    }

    fn id_from<T: From<String>>(&self, word: &str) -> Result<T, Error> {
        id(word).map(T::from).ok_or_else(|| {
            self.form.error(Problem::BadId { word: shown::quote(word), max: ID_MAX_CHARS })
        })
    }
}

/// The word as an id, if it can be one.
pub(super) fn id(word: &str) -> Option<String> {
    let fits = (1..=ID_MAX_CHARS).contains(&word.chars().count());
    (fits && !word.chars().any(char::is_control) && word.trim() == word).then(|| word.to_owned())
}

/// The value of an enum that has this name in files.
pub(super) fn named<T: DeserializeOwned>(name: &str) -> Option<T> {
    T::deserialize(StrDeserializer::<ValueError>::new(name)).ok()
}
