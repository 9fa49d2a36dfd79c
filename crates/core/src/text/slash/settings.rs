//! `/delegation config`: settings for one session.

use serde_json::Value;

use crate::config::Mode;
use crate::text::shown;
use crate::text::slash::Setting;
use crate::text::slash::error::{Error, Problem};
use crate::text::slash::flags::{Form, ID_MAX_CHARS, MODE, named};
use crate::text::slash::line::Line;

/// More settings than there are keys to set.
const SETTINGS_MAX: usize = 100;

/// The key whose values are checked right here, because it is also an option.
const MODE_KEY: &str = "mode";

/// Reads `--mode=suggest`, `limits.maxDepth=2` and the like to the end of the line.
pub(super) fn read(line: &mut Line<'_>, form: &'static Form) -> Result<Vec<Setting>, Error> {
    let mut settings: Vec<Setting> = Vec::new();
    while !line.rest().is_empty() {
        let setting = setting(line).map_err(|problem| form.error(problem))?;
        if settings.iter().any(|other| other.key == setting.key) {
            return Err(form.error(Problem::Repeated { option: setting.key }));
        }
        if settings.len() == SETTINGS_MAX {
            return Err(form.error(Problem::TooManySettings { max: SETTINGS_MAX }));
        }
        settings.push(setting);
    }
    Ok(settings)
}

fn setting(line: &mut Line<'_>) -> Result<Setting, Problem> {
    let name = line.name();
    let key = name.strip_prefix("--").unwrap_or(name);
    let has_equals = line.takes_equals();
    // `--key value` is an option like any other, `key value` is two words.
    if !is_key(key) || !(has_equals || name.starts_with("--")) {
        return Err(Problem::BadSetting { word: shown::quote(name) });
    }
    if !has_equals {
        line.skip_blanks();
    }
    let accepted = if key == MODE_KEY { MODE.takes } else { "a word, a \"…\" or JSON" };
    let option = key.to_owned();
    let bad = |value: &str| Problem::BadValue {
        option: option.clone(),
        value: shown::quote(value),
        accepted,
    };
    let value = match line.peek() {
        Some('[' | '{') => {
            let start = line.rest();
            line.json().ok_or_else(|| bad(start))?
        }
        Some('"' | '\'') => line.value()?.map_or(Value::Null, |text| Value::String(text.into())),
        Some(_) | None => match line.value()? {
            Some(word) => {
                serde_json::from_str(&word).unwrap_or_else(|_| Value::String(word.into()))
            }
            None => return Err(Problem::NoValue { option, accepted }),
        },
    };
    if key == MODE_KEY && value.as_str().and_then(named::<Mode>).is_none() {
        return Err(bad(value.as_str().unwrap_or(&value.to_string())));
    }
    Ok(Setting { key: option, value })
}

fn is_key(key: &str) -> bool {
    let allowed = |symbol: char| symbol.is_ascii_alphanumeric() || symbol == '_' || symbol == '-';
    let is_part = |part: &str| !part.is_empty() && part.chars().all(allowed);
    key.len() <= ID_MAX_CHARS && key.split('.').all(is_part)
}
