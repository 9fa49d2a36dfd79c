//! An index as it lies on the disk, with its order kept: whoever goes through folders one by
//! one finds the files of each together, and nothing is copied for that.

use std::fs::{self, Metadata};
use std::ops::Range;
use std::path::Path;

use super::super::Error;
use super::super::folders::Moment;
use super::{Entry, Listed, Times, Verdict, each, unreadable, word};

/// Where in an entry the time is when its file was written. The time of its last change
/// stands before it.
const MTIME_AT: usize = 8;

/// Every file of a base, in the order of their paths.
#[derive(Debug)]
pub(in super::super) struct Listing {
    bytes: Vec<u8>,
    items: Vec<Item>,
    /// Where the files end in the bytes.
    pub(super) end: usize,
    pub(super) hash_bytes: usize,
}

/// Where in the bytes a file is.
#[derive(Clone, Copy, Debug)]
struct Item {
    at: usize,
    name: (usize, usize),
    left_out: bool,
}

impl Listing {
    /// Reads an index file of ours.
    pub(in super::super) fn read(path: &Path, hash_bytes: usize) -> Result<Self, Error> {
        let bytes = fs::read(path).map_err(Error::files("reading", path))?;
        Self::of(bytes, hash_bytes).ok_or_else(|| unreadable(path))
    }

    /// The same from what was read; `None` if it cannot be understood.
    pub(in super::super) fn of(bytes: Vec<u8>, hash_bytes: usize) -> Option<Self> {
        let mut items: Vec<Item> = Vec::new();
        let place = |part: &[u8]| part.as_ptr().addr().checked_sub(bytes.as_ptr().addr());
        let read = each(&bytes, hash_bytes, |listed| {
            let from = place(listed.name)?;
            let name = (from, from.checked_add(listed.name.len())?);
            let (at, left_out) = (place(listed.bytes)?, listed.left_out);
            items.push(Item { at, name, left_out });
            Some(())
        });
        let end = read?;
        Some(Self { bytes, items, end, hash_bytes })
    }

    /// How many there are.
    pub(in super::super) fn len(&self) -> usize {
        self.items.len()
    }

    fn listed(&self, item: &Item) -> Listed<'_> {
        let name = self.name(item);
        let bytes = self.bytes.get(item.at..).unwrap_or_default();
        Listed { bytes, name, left_out: item.left_out }
    }

    fn name(&self, item: &Item) -> &[u8] {
        self.bytes.get(item.name.0..item.name.1).unwrap_or_default()
    }

    /// The numbers of all files whose paths begin so.
    pub(in super::super) fn beginning(&self, with: &[u8], among: Range<usize>) -> Range<usize> {
        let items = self.items.get(among.clone()).unwrap_or_default();
        let cut = |item: &Item| {
            let name = self.name(item);
            name.get(..with.len()).unwrap_or(name)
        };
        let start = items.partition_point(|item| cut(item) < with);
        let rest = items.get(start..).unwrap_or_default();
        let count = rest.partition_point(|item| cut(item) <= with);
        let start = among.start.saturating_add(start);
        start..start.saturating_add(count)
    }

    /// The number of a file.
    pub(in super::super) fn find(&self, path: &[u8], among: Range<usize>) -> Option<usize> {
        let items = self.items.get(among.clone())?;
        let found = items.binary_search_by(|item| self.name(item).cmp(path)).ok()?;
        among.start.checked_add(found)
    }

    /// The numbers of all files that another one does not have.
    pub(in super::super) fn not_in(&self, other: &Self) -> Vec<Range<usize>> {
        let mut theirs = other.items.iter().map(|item| other.name(item)).peekable();
        let mut found = Vec::new();
        for (number, item) in (0_usize..).zip(&self.items) {
            let name = self.name(item);
            while theirs.next_if(|their| *their < name).is_some() {}
            if theirs.peek() != Some(&name) {
                found.push(number..number.saturating_add(1));
            }
        }
        found
    }

    /// Whether a file is there and as it was; see [`Entry::verdict`].
    pub(in super::super) fn verdict(
        &self,
        number: usize,
        now: &Metadata,
        settled: Moment,
    ) -> Verdict {
        let item = self.items.get(number).filter(|item| !item.left_out);
        let entry = item.and_then(|item| self.listed(item).stat());
        entry.map_or(Verdict::Different, |entry| entry.verdict(now, settled))
    }

    /// Whether any of these is to be there, as a file or as another repository's place.
    pub(in super::super) fn are_meant(&self, numbers: Range<usize>) -> bool {
        self.items.get(numbers).is_some_and(|items| items.iter().any(|item| !item.left_out))
    }

    /// Whether this is another repository's place.
    pub(in super::super) fn is_link_to_repository(&self, number: usize) -> bool {
        let entry = self.items.get(number).and_then(|item| self.listed(item).stat());
        entry.is_some_and(|entry: Entry| entry.is_link_to_repository())
    }

    /// The places of all other repositories.
    pub(in super::super) fn links_to_repositories(&self) -> Vec<&[u8]> {
        let links =
            (0..).zip(&self.items).filter(|(number, _)| self.is_link_to_repository(*number));
        links.map(|(_, item)| self.name(item)).collect()
    }

    /// What git calls a file's kind, and its content.
    pub(in super::super) fn content(&self, number: usize) -> (u32, String) {
        let item = self.items.get(number);
        let entry = item.and_then(|item| self.listed(item).entry(self.hash_bytes));
        entry.map(|entry| (entry.mode, entry.object)).unwrap_or_default()
    }

    /// The path of a file.
    pub(super) fn path(&self, number: usize) -> &[u8] {
        self.items.get(number).map_or(&[], |item| self.name(item))
    }

    /// The path of a file, or of another repository's place, that is to be there.
    pub(in super::super) fn expected(&self, number: usize) -> Option<Vec<u8>> {
        let item = self.items.get(number).filter(|item| !item.left_out)?;
        Some(self.name(item).to_vec())
    }

    /// The numbers of all files that were written in this second or later.
    pub(in super::super) fn since(&self, second: i64) -> Vec<usize> {
        let written = |item: &Item| {
            let bytes = self.bytes.get(item.at..).unwrap_or_default();
            i64::from(word(bytes, MTIME_AT).unwrap_or_default())
        };
        let young = (0..).zip(&self.items).filter(|(_, item)| written(item) >= second);
        young.map(|(number, _)| number).collect()
    }

    /// Remembers the times that a file has now.
    pub(in super::super) fn restamp(&mut self, number: usize, now: &Metadata) {
        let Some(at) = self.items.get(number).map(|item| item.at) else { return };
        let Entry { ctime, mtime, .. } = Entry::of(now);
        let words = [ctime.0, ctime.1, mtime.0, mtime.1].map(u32::to_be_bytes).concat();
        let place = self.bytes.get_mut(at..).and_then(|bytes| bytes.get_mut(..words.len()));
        if let Some(place) = place {
            place.copy_from_slice(&words);
        }
    }

    /// All of it, as it is written.
    pub(in super::super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same with one more part, and without a sum at its end.
    pub(in super::super) fn with(&self, part: &[u8]) -> Vec<u8> {
        let kept = self.bytes.len().saturating_sub(self.hash_bytes);
        let no_sum = vec![0; self.hash_bytes];
        [self.bytes.get(..kept).unwrap_or_default(), part, &no_sum].concat()
    }

    /// The path of a file that is to be there.
    pub(in super::super) fn meant(&self, number: usize) -> Option<&[u8]> {
        let item = self.items.get(number).filter(|item| !item.left_out)?;
        (!self.is_link_to_repository(number)).then(|| self.name(item))
    }

    /// The times of all of it.
    pub(in super::super) fn times(&self) -> Times {
        let mut times = Times::default();
        for item in &self.items {
            let bytes = self.bytes.get(item.at..).unwrap_or_default();
            let number = |at| i64::from(word(bytes, at).unwrap_or_default());
            times.add((number(0), number(4)), number(8));
        }
        times
    }
}
