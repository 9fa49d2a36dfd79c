//! Which lines are prose: not in a code fence, and not quoted.
//!
//! Follows CommonMark as far as one line at a time can. A fence may stand at
//! any indentation and behind list markers, since the lists themselves are not
//! tracked; an entry in a code block inside a list is then still an example.

/// The shortest run of backquotes or tildes that opens a fence.
const FENCE_MIN: usize = 3;

/// How much further than its opening the closing fence may be indented.
const CLOSING_INDENT: usize = 3;

const TAB_STOP: usize = 4;

/// Where in the block structure of a text a reader stands.
#[derive(Default)]
pub(super) struct Blocks {
    open: Option<Fence>,
}

struct Fence {
    mark: u8,
    length: usize,
    column: usize,
}

impl Blocks {
    /// Takes the next line and says whether it is prose.
    pub(super) fn is_prose(&mut self, line: &str) -> bool {
        if let Some(fence) = &self.open {
            if fence.is_closed_by(line) {
                self.open = None;
            }
            return false;
        }
        let (rest, column) = behind_list_markers(line.as_bytes());
        match rest.first() {
            Some(b'>') => false,
            Some(&mark @ (b'`' | b'~')) => {
                self.open = Fence::opened_by(rest, mark, column);
                self.open.is_none()
            }
            Some(_) | None => true,
        }
    }
}

impl Fence {
    fn opened_by(rest: &[u8], mark: u8, column: usize) -> Option<Self> {
        let length = run_length(rest, mark);
        let info = rest.get(length..).unwrap_or_default();
        // Backquotes further on make it a code span that opens a line.
        let is_span = mark == b'`' && memchr::memchr(mark, info).is_some();
        (length >= FENCE_MIN && !is_span).then_some(Self { mark, length, column })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let (rest, column) = behind_blanks(line.as_bytes(), 0);
        let length = run_length(rest, self.mark);
        length >= self.length
            && column <= self.column + CLOSING_INDENT
            && rest.iter().skip(length).all(u8::is_ascii_whitespace)
    }
}

fn run_length(bytes: &[u8], mark: u8) -> usize {
    bytes.iter().take_while(|&&byte| byte == mark).count()
}

/// What follows the blanks, and the column it stands in.
fn behind_blanks(bytes: &[u8], mut column: usize) -> (&[u8], usize) {
    let mut blanks = 0;
    for byte in bytes {
        match byte {
            b' ' => column += 1,
            b'\t' => column += TAB_STOP - column % TAB_STOP,
            _ => break,
        }
        blanks += 1;
    }
    (bytes.get(blanks..).unwrap_or_default(), column)
}

/// What follows the blanks and list markers that a line begins with.
fn behind_list_markers(line: &[u8]) -> (&[u8], usize) {
    let (mut rest, mut column) = behind_blanks(line, 0);
    while let Some(length) = list_marker(rest) {
        let behind = rest.get(length..).unwrap_or_default();
        (rest, column) = behind_blanks(behind, column + length);
    }
    (rest, column)
}

/// The length of the list marker (`-`, `*`, `+`, `1.`, `1)`) that a text begins with.
fn list_marker(text: &[u8]) -> Option<usize> {
    let digits = text.iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
    let mark = text.get(digits)?;
    let is_mark = if digits == 0 { b"-*+".contains(mark) } else { b".)".contains(mark) };
    let is_set_off = matches!(text.get(digits + 1), Some(b' ' | b'\t'));
    (is_mark && is_set_off).then_some(digits + 1)
}
