//! From a position in a text to its line and column.

/// Where the lines of a text begin.
pub(super) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Finds the lines of a text.
    pub(super) fn new(text: &'a str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(breaks.map(|(index, _)| index + 1));
        Self { text, starts: starts.collect() }
    }

    /// The line of a byte, from 1.
    pub(super) fn line(&self, offset: usize) -> u32 {
        let line = self.starts.partition_point(|start| *start <= offset);
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    /// The line and the column of a byte, both from 1; columns count characters.
    pub(super) fn at(&self, offset: usize) -> (u32, u32) {
        let line = self.line(offset);
        let start = self.starts.get(line.saturating_sub(1) as usize).copied();
        let before = self.text.get(start.unwrap_or_default()..offset);
        let column = before.map_or(0, |before| before.chars().count());
        (line, u32::try_from(column).unwrap_or(u32::MAX).saturating_add(1))
    }
}
