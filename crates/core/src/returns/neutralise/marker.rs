//! The markers with which prompts are cut into turns, tool answers and commands.
//!
//! Each function looks at what follows a place in the text and says whether a
//! marker begins there. A backslash never belongs to a marker, which is what
//! makes a broken one stay broken.

/// Who speaks in a prompt.
const ROLES: [&str; 10] = [
    "system",
    "human",
    "user",
    "assistant",
    "developer",
    "tool",
    "function",
    "ai",
    "instruction",
    "instructions",
];

/// What may stand between a role and its colon: "System prompt:", "Tool result:".
const UTTERANCES: [&str; 14] = [
    "message",
    "prompt",
    "instruction",
    "instructions",
    "reminder",
    "note",
    "turn",
    "call",
    "calls",
    "result",
    "results",
    "output",
    "response",
    "update",
];

/// First words of tag names that mean a turn or a tool.
const TAG_WORDS: [&str; 14] = [
    "system",
    "sys",
    "human",
    "user",
    "assistant",
    "developer",
    "tool",
    "tools",
    "function",
    "functions",
    "invoke",
    "antml",
    "parameter",
    "instructions",
];

/// Tag names that mean something only as a whole.
const TAG_NAMES: [&str; 6] = ["s", "start_of_turn", "end_of_turn", "start_of_image", "bos", "eos"];

/// First words of names in square brackets.
const BRACKET_WORDS: [&str; 10] = [
    "inst",
    "system",
    "human",
    "user",
    "assistant",
    "developer",
    "tool",
    "available",
    "function",
    "delegate",
];

/// Longer names are no marker of anybody's; this also bounds the look ahead.
const MAX_NAME_BYTES: usize = 64;
/// Blanks that may stand before a name.
const MAX_BLANKS: usize = 16;

/// Whether `<` with this after it opens a tag or a special token.
pub(super) fn is_tag(rest: &str) -> bool {
    if rest.starts_with(['|', '｜']) {
        return true;
    }
    let (name, _) = name(rest);
    let is = |known: &&str| name.eq_ignore_ascii_case(known);
    TAG_NAMES.iter().any(is) || starts_with_any(name, &TAG_WORDS)
}

/// Whether `[` with this after it opens a marker in square brackets.
pub(super) fn is_bracketed(rest: &str) -> bool {
    let (name, after) = name(rest);
    let after = after.trim_start_matches([' ', '\t']);
    after.starts_with([']', ':', '：']) && starts_with_any(name, &BRACKET_WORDS)
}

/// Where the colon is, if this is the start of a line that begins a turn.
pub(super) fn role_colon(line: &str) -> Option<usize> {
    let begins = |c: char| c == '\n' || c.is_alphanumeric();
    let start = line.find(begins)?;
    let (role, after) = word(line.get(start..)?);
    if !is_one_of(role, &ROLES) {
        return None;
    }
    let after = after.trim_start_matches(FILLER);
    let (utterance, later) = word(after);
    let after =
        if is_one_of(utterance, &UTTERANCES) { later.trim_start_matches(FILLER) } else { after };
    after.starts_with([':', '：']).then(|| line.len() - after.len())
}

/// Emphasis and blanks between a role and its colon: `**System** :`.
const FILLER: [char; 11] = [' ', '\t', '*', '_', '`', '"', '\'', ')', ']', '>', '|'];

/// The letters that the text begins with, and what follows them.
fn word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or_default()
}

/// The name after an opening bracket, a slash before it passed over, and what follows it.
fn name(rest: &str) -> (&str, &str) {
    let rest = skip_blanks(rest);
    let rest = skip_blanks(rest.strip_prefix('/').unwrap_or(rest));
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let bytes = rest.as_bytes().iter().take(MAX_NAME_BYTES);
    rest.split_at_checked(bytes.take_while(|b| is_part(b)).count()).unwrap_or_default()
}

fn skip_blanks(text: &str) -> &str {
    let blanks = text.bytes().take(MAX_BLANKS).take_while(|b| matches!(b, b' ' | b'\t')).count();
    text.get(blanks..).unwrap_or_default()
}

/// Whether the first word of a name like `tool_results` or `system-reminder` is one of these.
fn starts_with_any(name: &str, words: &[&str]) -> bool {
    let first = name.split(['_', '-', '.']).next().unwrap_or_default();
    is_one_of(first, words)
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}
