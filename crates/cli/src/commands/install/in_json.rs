//! Putting an entry into the text of a JSON file, and taking it out again. Every other byte
//! stays as it is.

use std::ops::Range;

use serde_json::Value;

use super::dialect::Dialect;
use super::in_toml::with;

/// The section and the name in it.
type At<'a> = (&'a str, &'a str);

/// How far a line is indented below another, where the text does not show it.
const INDENT: &str = "  ";

/// The text with the entry.
pub(super) fn put(
    text: &str,
    (section, name): At<'_>,
    entry: &Value,
    dialect: Dialect,
) -> Result<String, String> {
    if text.trim().is_empty() {
        let whole = serde_json::json!({section: {name: entry}});
        return Ok(format!("{whole:#}\n"));
    }
    let before = dialect.read(text).map_err(|problem| unreadable(text, &problem))?;
    let expected = with(before, (section, name), entry);
    let expected = expected.ok_or_else(|| format!("has no place for a section `{section}`"))?;
    let page = Page { text, plain: dialect.plain(text) };
    // Whatever the text looks like: if it does not say what it should, it is not written.
    let after = page.placed((section, name), entry);
    let after = after.filter(|after| says(dialect, after, &expected));
    after.ok_or_else(|| "is written in a way that cannot be added to".to_owned())
}

/// The text without the entry.
pub(super) fn take_out(text: &str, (section, name): At<'_>, dialect: Dialect) -> Option<String> {
    let mut expected = dialect.read(text).ok()?;
    expected.get_mut(section)?.as_object_mut()?.shift_remove(name)?;
    let page = Page { text, plain: dialect.plain(text) };
    let servers = page.object(page.root()?.find(section)?.value.start)?;
    page.without(&servers, name).filter(|after| says(dialect, after, &expected))
}

/// The text without the section, if that is empty.
pub(super) fn take_out_empty(text: &str, section: &str, dialect: Dialect) -> Option<String> {
    let mut expected = dialect.read(text).ok()?;
    let gone = expected.as_object_mut()?.shift_remove(section)?;
    let page = Page { text, plain: dialect.plain(text) };
    let after = page.without(&page.root()?, section);
    let after = after.filter(|after| says(dialect, after, &expected))?;
    gone.as_object()?.is_empty().then_some(after)
}

fn says(dialect: Dialect, text: &str, expected: &Value) -> bool {
    dialect.read(text).is_ok_and(|said| said == *expected)
}

fn unreadable(text: &str, problem: &serde_json::Error) -> String {
    let has_comments = text.contains("//") || text.contains("/*");
    let why = if has_comments { ", and its program allows no comments" } else { "" };
    format!("is not JSON ({problem}){why}")
}

/// A text, and the same with everything blank that is no JSON.
struct Page<'a> {
    text: &'a str,
    plain: String,
}

/// An object in a text: where it opens and closes, and what is in it.
struct Object {
    open: usize,
    members: Vec<Member>,
    close: usize,
}

impl Object {
    fn find(&self, name: &str) -> Option<&Member> {
        self.members.iter().rfind(|member| member.name == name)
    }
}

struct Member {
    name: String,
    start: usize,
    value: Range<usize>,
}

impl Page<'_> {
    fn root(&self) -> Option<Object> {
        self.object(after_blanks(&self.plain, 0))
    }

    /// The object that opens here. The text is JSON; that was seen before.
    fn object(&self, open: usize) -> Option<Object> {
        let text = self.plain.as_str();
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
        Some(Object { open, members, close: at })
    }

    fn placed(&self, (section, name): At<'_>, entry: &Value) -> Option<String> {
        let root = self.root()?;
        let unit = root.members.first().and_then(|first| margin(self.text, first.start));
        let unit = unit.filter(|unit| !unit.is_empty()).unwrap_or(INDENT);
        let Some(there) = root.find(section) else {
            let section_entry = serde_json::json!({name: entry});
            return self.with(&root, (section, &section_entry), unit);
        };
        let servers = self.object(there.value.start)?;
        match servers.find(name) {
            Some(old) => {
                let margin = margin(self.text, old.start).unwrap_or_default();
                replaced(self.text, old.value.clone(), &written(entry, margin, unit))
            }
            None => self.with(&servers, (name, entry), unit),
        }
    }

    /// The text with one more member, at the end. A comment stays with what it is about.
    fn with(&self, object: &Object, (name, value): (&str, &Value), unit: &str) -> Option<String> {
        let (text, name) = (self.text, Value::from(name));
        let from = object.members.last().map_or(object.open + 1, |last| last.value.end);
        let tail = text.get(from..object.close)?;
        // What stands on the same line is about what stands before it.
        let line = tail.find('\n').filter(|_| !tail.trim().is_empty());
        let Some(last) = object.members.last() else {
            let outer = line_margin(text, object.open);
            let inner = format!("{outer}{unit}");
            let member = format!("\n{inner}{name}: {}", written(value, &inner, unit));
            if tail.trim().is_empty() {
                return replaced(text, from..object.close, &format!("{member}\n{outer}"));
            }
            let at = from + line.unwrap_or_default();
            return replaced(text, at..at, &member);
        };
        let new = match margin(text, last.start) {
            Some(margin) => format!("\n{margin}{name}: {}", written(value, margin, unit)),
            None => format!(" {name}: {value}"),
        };
        // A comma that is no JSON is blank in the copy, and there in the text.
        let commented = Dialect::Comments.plain(text);
        let comma = if commented.get(from..object.close)?.contains(',') { "" } else { "," };
        let Some(line) = line else {
            let at = if comma.is_empty() { from + tail.find(',')? + 1 } else { from };
            return replaced(text, at..at, &format!("{comma}{new}"));
        };
        let at = from + line;
        replaced(&replaced(text, at..at, &new)?, from..from, comma)
    }

    /// The text without a member.
    fn without(&self, object: &Object, name: &str) -> Option<String> {
        let members = &object.members;
        let at = members.iter().position(|member| member.name == name)?;
        let member = members.get(at)?;
        let line = margin(self.text, member.start).map(|margin| member.start - margin.len() - 1);
        let own = line.unwrap_or(member.start)..member.value.end;
        let comma_after = |from: usize| Some(from + self.plain.get(from..)?.find(',')?);
        let before = at.checked_sub(1).and_then(|at| members.get(at));
        match (before, members.get(at + 1)) {
            (Some(before), _) => {
                let comma = comma_after(before.value.end)?;
                let own = if line.is_some() { own } else { comma + 1..own.end };
                replaced(&replaced(self.text, own, "")?, comma..comma + 1, "")
            }
            (None, Some(next)) => {
                let comma = comma_after(member.value.end)?;
                let end = if line.is_some() { comma + 1 } else { next.start };
                replaced(self.text, own.start..end, "")
            }
            (None, None) => {
                let around = object.open + 1..object.close;
                let is_alone = self.text.get(around.start..member.start)?.trim().is_empty()
                    && self.text.get(member.value.end..around.end)?.trim().is_empty();
                replaced(self.text, if is_alone { around } else { own }, "")
            }
        }
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
