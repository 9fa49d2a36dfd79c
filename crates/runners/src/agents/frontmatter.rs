//! A Markdown file cut into what stands between the two `---` and what comes after.

/// Bytes a frontmatter may have at most.
pub(super) const MAX_FRONTMATTER_BYTES: usize = 128 * 1024;

/// The two parts of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    pub(super) front: &'a str,
    /// How many lines of the file stand before the frontmatter's first.
    pub(super) offset: u32,
    pub(super) body: &'a str,
}

/// Why a file has no two parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// It does not begin with `---`.
    Opening,
    /// The `---` on this line is never answered.
    Closing(u32),
}

/// Cuts a file apart. Blank lines and a byte order mark before the first `---` do no harm.
pub(super) fn split(text: &str) -> Result<Parts<'_>, Missing> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut offset = 0_u32;
    let mut start = 0;
    let mut opened = false;
    for line in text.split_inclusive('\n') {
        offset = offset.saturating_add(1);
        start += line.len();
        if line.trim_end() == "---" {
            opened = true;
            break;
        }
        if !line.trim().is_empty() {
            break;
        }
    }
    if !opened {
        return Err(Missing::Opening);
    }
    let rest = text.get(start..).unwrap_or_default();
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let (front, body) = rest.split_at_checked(end).unwrap_or((rest, ""));
            let body = body.get(line.len()..).unwrap_or_default();
            return Ok(Parts { front, offset, body });
        }
        end += line.len();
    }
    Err(Missing::Closing(offset))
}
