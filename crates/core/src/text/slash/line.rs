//! Taking a line apart from left to right: words, option names, values, the rest.
//!
//! Quotation marks mean something only where a value or an id begins; in the
//! text of a task they are ordinary characters.

use std::borrow::Cow;

use serde_json::Value;

use crate::text::shown;
use crate::text::slash::error::Problem;

/// What is left of a line.
pub(super) struct Line<'a> {
    rest: &'a str,
}

impl<'a> Line<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self { rest: line.trim() }
    }

    /// What is left, without blanks around it.
    pub(super) fn rest(&self) -> &'a str {
        self.rest.trim_start()
    }

    /// Takes the next word.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        let word = self.until(char::is_whitespace);
        (!word.is_empty()).then_some(word)
    }

    /// Takes the `--` that says that no more options come, if it is next.
    pub(super) fn takes_end_of_options(&mut self) -> bool {
        let behind = self.rest().strip_prefix("--");
        let behind = behind.filter(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
        self.rest = behind.unwrap_or(self.rest);
        behind.is_some()
    }

    /// Takes the name of an option, if one is next; a dash alone is a word.
    pub(super) fn option_name(&mut self) -> Option<&'a str> {
        let behind_dash = self.rest().strip_prefix('-')?;
        if behind_dash.is_empty() || behind_dash.starts_with(char::is_whitespace) {
            return None;
        }
        Some(self.name())
    }

    /// Takes the next characters up to a `=` or a blank.
    pub(super) fn name(&mut self) -> &'a str {
        self.until(|symbol| symbol == '=' || symbol.is_whitespace())
    }

    /// Takes the `=` that follows a name, if it does.
    pub(super) fn takes_equals(&mut self) -> bool {
        let behind = self.rest.strip_prefix('=');
        self.rest = behind.unwrap_or(self.rest);
        behind.is_some()
    }

    /// Takes a value that begins right here; `None` if a blank or nothing is here.
    pub(super) fn value(&mut self) -> Result<Option<Cow<'a, str>>, Problem> {
        if let Some(mark @ ('"' | '\'')) = self.peek() {
            return self.quotation(mark).map(Some);
        }
        if self.peek().is_some_and(char::is_whitespace) {
            return Ok(None);
        }
        Ok(self.word().map(Cow::Borrowed))
    }

    /// Takes a value that begins behind blanks.
    pub(super) fn next_value(&mut self) -> Result<Option<Cow<'a, str>>, Problem> {
        self.skip_blanks();
        self.value()
    }

    /// Goes on behind the blanks, if any are next.
    pub(super) fn skip_blanks(&mut self) {
        self.rest = self.rest();
    }

    /// The character that is next.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Takes a JSON array or object; `None` if there is no whole one here.
    pub(super) fn json(&mut self) -> Option<Value> {
        let mut values = serde_json::Deserializer::from_str(self.rest).into_iter::<Value>();
        let value = values.next()?.ok()?;
        let behind = self.rest.get(values.byte_offset()..).unwrap_or_default();
        self.rest = behind;
        (behind.is_empty() || behind.starts_with(char::is_whitespace)).then_some(value)
    }

    fn until(&mut self, ends: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let (word, behind) =
            rest.split_at_checked(rest.find(ends).unwrap_or(rest.len())).unwrap_or((rest, ""));
        self.rest = behind;
        word
    }

    /// A quotation; in `"…"` a backslash keeps a `"` or a backslash from meaning anything.
    fn quotation(&mut self, mark: char) -> Result<Cow<'a, str>, Problem> {
        let mut content = String::new();
        let mut symbols = self.rest.char_indices().skip(1);
        while let Some((at, symbol)) = symbols.next() {
            if symbol == mark {
                let behind = self.rest.get(at + mark.len_utf8()..).unwrap_or_default();
                if !behind.is_empty() && !behind.starts_with(char::is_whitespace) {
                    break;
                }
                self.rest = behind;
                return Ok(Cow::Owned(content));
            }
            let escaped = (symbol == '\\' && mark == '"').then(|| symbols.clone().next());
            match escaped.flatten() {
                Some((_, next @ ('"' | '\\'))) => {
                    symbols.next();
                    content.push(next);
                }
                Some(_) | None => content.push(symbol),
            }
        }
        Err(Problem::BadQuotation { start: shown::quote(self.rest), mark })
    }
}
