//! Putting an entry into the text of a JSON file, and taking it out again. Every other byte
//! stays as it is.

use std::ops::Range;

use serde_json::Value;

use super::in_toml::with;

/// The section and the name in it.
type At<'a> = (&'a str, &'a str);

/// How far a line is indented below another, where the text does not show it.
const INDENT: &str = "  ";

/// The text with the entry.
pub(super) fn put(text: &str, (section, name): At<'_>, entry: &Value) -> Result<String, String> {
    if text.trim().is_empty() {
        let whole = serde_json::json!({section: {name: entry}});
        return Ok(format!("{whole:#}\n"));
    }
    let before: Value = serde_json::from_str(text).map_err(|problem| unreadable(text, &problem))?;
    let expected = with(before, (section, name), entry);
    let expected = expected.ok_or_else(|| format!("has no place for a section `{section}`"))?;
    // Whatever the text looks like: if it does not say what it should, it is not written.
    let after = placed(text, (section, name), entry).filter(|after| says(after, &expected));
    after.ok_or_else(|| "is written in a way that cannot be added to".to_owned())
}

/// The text without the entry.
pub(super) fn take_out(text: &str, (section, name): At<'_>) -> Option<String> {
    let mut expected: Value = serde_json::from_str(text).ok()?;
    expected.get_mut(section)?.as_object_mut()?.shift_remove(name)?;
    let servers = Object::at(text, Object::root(text)?.find(section)?.value.start)?;
    servers.without(text, name).filter(|after| says(after, &expected))
}

/// The text without the section, if that is empty.
pub(super) fn take_out_empty(text: &str, section: &str) -> Option<String> {
    let mut expected: Value = serde_json::from_str(text).ok()?;
    let gone = expected.as_object_mut()?.shift_remove(section)?;
    let after = Object::root(text)?.without(text, section).filter(|it| says(it, &expected))?;
    gone.as_object()?.is_empty().then_some(after)
}

fn says(text: &str, expected: &Value) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|said| said == *expected)
}

fn unreadable(text: &str, problem: &serde_json::Error) -> String {
    let has_comments = text.contains("//") || text.contains("/*");
    match has_comments {
        true => "has comments, which would be lost".to_owned(),
        false => format!("is not JSON ({problem})"),
    }
}

fn placed(text: &str, (section, name): At<'_>, entry: &Value) -> Option<String> {
    let root = Object::root(text)?;
    let unit = root.members.first().and_then(|first| margin(text, first.start));
    let unit = unit.filter(|unit| !unit.is_empty()).unwrap_or(INDENT);
    let Some(there) = root.find(section) else {
        let section_entry = serde_json::json!({name: entry});
        return root.with(text, (section, &section_entry), unit);
    };
    let servers = Object::at(text, there.value.start)?;
    match servers.find(name) {
        Some(old) => {
            let margin = margin(text, old.start).unwrap_or_default();
            replaced(text, old.value.clone(), &written(entry, margin, unit))
        }
        None => servers.with(text, (name, entry), unit),
    }
}

/// An object in a text: where it opens and closes, and what is in it.
struct Object {
    open: usize,
    members: Vec<Member>,
    close: usize,
}

struct Member {
    name: String,
    start: usize,
    value: Range<usize>,
}

impl Object {
    fn root(text: &str) -> Option<Self> {
        Self::at(text, after_blanks(text, 0))
    }

    /// The object that opens here. The text is JSON; that was seen before.
    fn at(text: &str, open: usize) -> Option<Self> {
        let byte = |at: usize| text.as_bytes().get(at).copied();
        if byte(open)? != b'{' {
            return None;
        }
        let mut members = Vec::new();
        let mut at = after_blanks(text, open + 1);
        while byte(at)? != b'}' {
            let end = value_end(text, at)?;
            let name = serde_json::from_str(text.get(at..end)?).ok()?;
            let colon = after_blanks(text, end);
            let start = after_blanks(text, colon + 1);
            let value = start..value_end(text, start)?;
            let next = after_blanks(text, value.end);
            members.push(Member { name, start: at, value });
            at = if byte(next)? == b',' { after_blanks(text, next + 1) } else { next };
        }
        Some(Self { open, members, close: at })
    }

    fn find(&self, name: &str) -> Option<&Member> {
        self.members.iter().rfind(|member| member.name == name)
    }

    /// The text without a member.
    fn without(&self, text: &str, name: &str) -> Option<String> {
        let at = self.members.iter().position(|member| member.name == name)?;
        let member = self.members.get(at)?;
        let before = at.checked_sub(1).and_then(|at| self.members.get(at));
        let cut = match (before, self.members.get(at + 1)) {
            (Some(before), _) => before.value.end..member.value.end,
            (None, Some(next)) => member.start..next.start,
            (None, None) => self.open + 1..self.close,
        };
        replaced(text, cut, "")
    }

    /// The text with one more member, at the end.
    fn with(&self, text: &str, (name, value): (&str, &Value), unit: &str) -> Option<String> {
        let name = Value::from(name);
        let Some(last) = self.members.last() else {
            let outer = line_margin(text, self.open);
            let inner = format!("{outer}{unit}");
            let member = format!("{name}: {}", written(value, &inner, unit));
            let new = format!("\n{inner}{member}\n{outer}");
            return replaced(text, self.open + 1..self.close, &new);
        };
        let new = match margin(text, last.start) {
            Some(margin) => {
                format!(",\n{margin}{name}: {}", written(value, margin, unit))
            }
            None => format!(", {name}: {value}"),
        };
        replaced(text, last.value.end..last.value.end, &new)
    }
}

/// The value over several lines, each as far to the right as it should be.
fn written(value: &Value, margin: &str, unit: &str) -> String {
    let text = format!("{value:#}");
    let lines = text.lines().map(|line| {
        let words = line.trim_start();
        let depth = (line.len() - words.len()) / INDENT.len();
        format!("{}{words}", unit.repeat(depth))
    });
    lines.collect::<Vec<_>>().join(&format!("\n{margin}"))
}

/// The blanks before what stands at a place, if nothing else does on its line.
fn margin(text: &str, at: usize) -> Option<&str> {
    let before = text.get(..at)?;
    let margin = before.get(before.rfind('\n')? + 1..)?;
    margin.trim().is_empty().then_some(margin)
}

/// The blanks that the line of a place begins with.
fn line_margin(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    let words = line.trim_start();
    line.strip_suffix(words).unwrap_or_default()
}

fn after_blanks(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().iter().skip(at);
    at + rest.take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Where the value ends that begins here.
fn value_end(text: &str, start: usize) -> Option<usize> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate().skip(start) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => {
                in_text = !in_text;
                if !in_text && depth == 0 {
                    return Some(at + 1);
                }
            }
            _ if in_text => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' if depth == 0 => return Some(at),
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            byte if depth == 0 && byte.is_ascii_whitespace() => return Some(at),
            _ => {}
        }
    }
    (depth == 0 && !in_text).then_some(text.len())
}

fn replaced(text: &str, cut: Range<usize>, new: &str) -> Option<String> {
    Some(format!("{}{new}{}", text.get(..cut.start)?, text.get(cut.end..)?))
}
