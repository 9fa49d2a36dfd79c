//! A second try for frontmatter that is not quite YAML.
//!
//! People write `description: Use when: reviewing` and mean one text. Texts that
//! stand plainly after a key are put in quotes, tabs in front of a line become
//! blanks, and nothing moves to another line.

/// The text with plain values in quotes, and the first line that needed it.
///
/// `None` if there is nothing to mend.
pub(super) fn mend(text: &str) -> Option<(String, u32)> {
    let mut mended = String::with_capacity(text.len() + 64);
    let mut first = None;
    let mut lines = text.lines().zip(1_u32..).peekable();
    while let Some((line, number)) = lines.next() {
        let Line { start, value, indent } = Line::new(line);
        let mut more = Vec::new();
        // Whatever lies deeper than a key that has a value belongs to the value.
        while !value.is_empty() && !value.starts_with('#') {
            let deeper = |next: &str| self::indent(next) > indent && !next.trim().is_empty();
            match lines.next_if(|(next, _)| deeper(next)) {
                Some((line, _)) => more.push(line),
                None => break,
            }
        }
        let plain = is_plain(value);
        let quote = needs_quotes(value) || (plain && more.iter().any(|line| has_colon(line)));
        if quote || start.contains('\t') {
            first.get_or_insert(number);
        }
        mended.push_str(&start.replace('\t', "  "));
        let written = |text: &str| match quote {
            true => text.trim_end().replace('\'', "''"),
            false => text.to_owned(),
        };
        mended.push_str(if quote { "'" } else { "" });
        mended.push_str(&written(value));
        for line in more {
            let (blanks, rest) = line.split_at_checked(self::indent(line)).unwrap_or(("", line));
            mended.push('\n');
            mended.push_str(&blanks.replace('\t', "  "));
            mended.push_str(&written(rest));
        }
        mended.push_str(if quote { "'\n" } else { "\n" });
    }
    first.map(|line| (mended, line))
}

/// A line cut where its value begins: after `key: ` or after `- `.
struct Line<'a> {
    start: &'a str,
    value: &'a str,
    /// Where the key begins, or the hyphen if there is no key.
    indent: usize,
}

impl<'a> Line<'a> {
    fn new(line: &'a str) -> Self {
        let outer = indent(line);
        let trimmed = line.trim_start();
        let item = trimmed.strip_prefix("- ").map(str::trim_start);
        let rest = item.unwrap_or(trimmed);
        let (key, value) = match rest.split_once(": ") {
            Some((key, value)) if is_key(key) => (true, value.trim_start()),
            _ if rest.trim_end().strip_suffix(':').is_some_and(is_key) => (true, ""),
            // Neither a key nor an item: not a line that anything is known about.
            _ if item.is_none() => (false, ""),
            _ => (false, rest),
        };
        let cut = line.len() - value.len();
        let (start, value) = line.split_at_checked(cut).unwrap_or((line, ""));
        Self { start, value, indent: if key { line.len() - rest.len() } else { outer } }
    }
}

fn is_key(text: &str) -> bool {
    let mut letters = text.bytes();
    letters.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && letters.all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

/// Whether a value begins as nothing but text.
fn is_plain(value: &str) -> bool {
    !matches!(
        value.bytes().next(),
        None | Some(b'"' | b'\'' | b'[' | b'{' | b'|' | b'>' | b'#' | b'&' | b'!')
    )
}

/// Whether a value is a text that YAML would take apart or refuse.
fn needs_quotes(value: &str) -> bool {
    let value = value.trim_end();
    let goes_on = |close: char| {
        let mut rest = value.rsplit(close);
        let rest = rest.next().map(str::trim).unwrap_or_default();
        let closed = value.get(1..).is_some_and(|value| value.contains(close));
        closed && !rest.is_empty() && !rest.starts_with('#')
    };
    match value.bytes().next() {
        // A quotation or a list at the beginning of a longer text.
        Some(b'"') => goes_on('"'),
        Some(b'\'') => goes_on('\''),
        Some(b'[') => goes_on(']'),
        Some(b'{') => goes_on('}'),
        Some(b'@' | b'`' | b'%' | b'*') => true,
        Some(_) => is_plain(value) && has_colon(value),
        None => false,
    }
}

fn has_colon(text: &str) -> bool {
    text.contains(": ") || text.trim_end().ends_with(':')
}

fn indent(line: &str) -> usize {
    let blanks = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
    blanks.count()
}
