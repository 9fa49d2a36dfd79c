//! The lines of a text that can matter: those with an opening or a fence mark.
//!
//! All others neither hold an entry nor change what the lines behind them are,
//! so they are only counted. That is what keeps long texts cheap.

use memchr::memmem::Finder;

use super::OPENING;

const FENCE_MARKS: [&str; 2] = ["```", "~~~"];

/// Goes through the lines that matter and ends behind the last opening.
pub(super) struct Lines<'t> {
    text: &'t str,
    offset: usize,
    number: usize,
    openings: Places<'t>,
    fence_marks: [Places<'t>; 2],
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            offset: 0,
            number: 0,
            openings: Places::new(text, OPENING),
            fence_marks: FENCE_MARKS.map(|mark| Places::new(text, mark)),
        }
    }
}

impl<'t> Iterator for Lines<'t> {
    /// The number of a line, from 1, and the line with its end.
    type Item = (usize, &'t str);

    fn next(&mut self) -> Option<(usize, &'t str)> {
        let opening = self.openings.from(self.offset)?;
        let marks = self.fence_marks.iter_mut();
        let place = marks.filter_map(|places| places.from(self.offset)).fold(opening, usize::min);
        let before = self.text.as_bytes().get(self.offset..place)?;
        let start = memchr::memrchr(b'\n', before).map_or(self.offset, |at| self.offset + at + 1);
        let behind = self.text.as_bytes().get(place..)?;
        let end = memchr::memchr(b'\n', behind).map_or(self.text.len(), |at| place + at + 1);
        self.number += memchr::memchr_iter(b'\n', before).count() + 1;
        self.offset = end;
        Some((self.number, self.text.get(start..end)?))
    }
}

/// Where a piece of text occurs, searched no further than somebody asked.
struct Places<'t> {
    text: &'t [u8],
    finder: Finder<'static>,
    /// The answer to the last question; none has been asked at first.
    known: Option<Option<usize>>,
}

impl<'t> Places<'t> {
    fn new(text: &'t str, wanted: &'static str) -> Self {
        let (text, finder) = (text.as_bytes(), Finder::new(wanted));
        Self { text, finder, known: None }
    }

    /// The first place at or behind `offset`, which never goes back.
    fn from(&mut self, offset: usize) -> Option<usize> {
        if let Some(known) = self.known
            && known.is_none_or(|place| place >= offset)
        {
            return known;
        }
        let behind = self.text.get(offset..)?;
        let next = self.finder.find(behind).map(|place| place + offset);
        self.known = Some(next);
        next
    }
}
