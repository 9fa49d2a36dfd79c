//! The tables of the journal in memory. Everything is checked before anything is
//! changed, which is what a transaction is elsewhere.

use std::collections::{BTreeMap, BTreeSet, btree_map};
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::Arc;

use crate::append::{Append, Appended, Row};
use crate::error::Error;
use crate::record::{Delegation, Entry, MAX_PAGE, MAX_READ, MAX_READ_BYTES, Page, Past, PastPage};

/// Everything a journal knows.
#[derive(Debug, Default)]
pub(super) struct Tables {
    trees: BTreeMap<Arc<str>, Tree>,
    open: BTreeSet<Arc<str>>,
    /// Which event of which tree stands at a position.
    places: BTreeMap<u64, (Arc<str>, u64)>,
    last_position: u64,
    delegations: BTreeMap<String, Delegation>,
    active: BTreeSet<(i64, String)>,
    ended: BTreeSet<(i64, String)>,
    keys: BTreeMap<(String, String), String>,
}

/// What belongs to one tree, and goes with it.
#[derive(Debug, Default)]
struct Tree {
    entries: Vec<Entry>,
    ended_at: Option<i64>,
    delegations: BTreeSet<String>,
    keys: BTreeSet<(String, String)>,
}

impl Tables {
    pub(super) fn append(&mut self, append: Append) -> Result<Appended, Error> {
        let actual = self.trees.get(append.tree.as_str()).map_or(0, Tree::last_seq);
        if actual != append.expected_seq {
            let expected = append.expected_seq;
            return Err(Error::Conflict { tree: append.tree, expected, actual });
        }
        self.check_rows(&append)?;
        let name: Arc<str> = Arc::from(append.tree);
        if !self.trees.contains_key(&name) {
            self.open.insert(Arc::clone(&name));
        }
        let mut tree = self.trees.remove(&name).unwrap_or_default();
        for event in append.events {
            self.last_position += 1;
            let seq = tree.last_seq() + 1;
            tree.entries.push(Entry { position: self.last_position, seq, event });
            self.places.insert(self.last_position, (Arc::clone(&name), seq));
        }
        for row in append.rows {
            self.write(&name, &mut tree, row);
        }
        let seq = tree.last_seq();
        self.trees.insert(name, tree);
        Ok(Appended { seq, position: self.last_position })
    }

    fn check_rows(&self, append: &Append) -> Result<(), Error> {
        let mut new_keys = BTreeMap::new();
        for row in &append.rows {
            match row {
                Row::Key { scope, key, delegation } => {
                    let name = (scope.clone(), key.clone());
                    let taken = self.keys.get(&name).unwrap_or(delegation);
                    let taken = *new_keys.entry(name).or_insert(taken);
                    if taken != delegation {
                        return Err(Error::DuplicateKey { delegation: taken.clone() });
                    }
                }
                Row::Delegation(new) => match self.delegations.get(&new.id) {
                    Some(old) if old.tree != append.tree => {
                        return Err(new.of_another_tree(&append.tree));
                    }
                    Some(_) | None => {}
                },
                Row::Tree { .. } => {}
            }
        }
        Ok(())
    }

    fn write(&mut self, name: &Arc<str>, tree: &mut Tree, row: Row) {
        match row {
            Row::Tree { ended_at } => {
                tree.ended_at = ended_at;
                match ended_at {
                    Some(_) => self.open.remove(name),
                    None => self.open.insert(Arc::clone(name)),
                };
            }
            Row::Delegation(delegation) => {
                self.take_delegation(&delegation.id);
                let id = delegation.id.clone();
                match delegation.ended_at {
                    Some(at) => self.ended.insert((at, id.clone())),
                    None => self.active.insert((delegation.accepted_at, id.clone())),
                };
                tree.delegations.insert(id.clone());
                self.delegations.insert(id, delegation);
            }
            Row::Key { scope, key, delegation } => {
                if let btree_map::Entry::Vacant(place) = self.keys.entry((scope, key)) {
                    tree.keys.insert(place.key().clone());
                    place.insert(delegation);
                }
            }
        }
    }

    fn take_delegation(&mut self, id: &str) {
        if let Some(old) = self.delegations.remove(id) {
            self.active.remove(&(old.accepted_at, old.id.clone()));
            self.ended.remove(&(old.ended_at.unwrap_or_default(), old.id));
        }
    }

    pub(super) fn read(&self, tree: &str, after: u64, limit: usize) -> Vec<Entry> {
        let entries = self.trees.get(tree).map(|tree| tree.entries.as_slice()).unwrap_or_default();
        let after = usize::try_from(after).unwrap_or(usize::MAX);
        let mut room = MAX_READ_BYTES;
        let entries = entries.iter().skip(after).take(limit.min(MAX_READ));
        entries.take_while(|entry| fits(entry, &mut room)).cloned().collect()
    }

    pub(super) fn read_all(&self, after: u64, limit: usize) -> Vec<(String, Entry)> {
        let mut room = MAX_READ_BYTES;
        let places = self.places.range((Excluded(after), Unbounded)).map(|(_, place)| place);
        let entries = places.filter_map(|(name, seq)| {
            let at = usize::try_from(seq.saturating_sub(1)).ok()?;
            Some((name, self.trees.get(name)?.entries.get(at)?))
        });
        let entries = entries.take(limit.min(MAX_READ));
        let entries = entries.take_while(|(_, entry)| fits(entry, &mut room));
        entries.map(|(name, entry)| (name.to_string(), entry.clone())).collect()
    }

    pub(super) fn open_trees(&self, after: &str, limit: usize) -> Vec<String> {
        let names = self.open.range::<str, _>((Excluded(after), Unbounded));
        names.take(limit.min(MAX_PAGE)).map(ToString::to_string).collect()
    }

    pub(super) fn delegation(&self, id: &str) -> Option<Delegation> {
        self.delegations.get(id).cloned()
    }

    pub(super) fn active(&self, page: Page) -> Vec<Delegation> {
        let ids = self.active.iter().rev().map(|(_, id)| id);
        let found = ids.filter_map(|id| self.delegations.get(id));
        found.skip(page.skip).take(page.limit.min(MAX_PAGE)).cloned().collect()
    }

    pub(super) fn history(&self, past: &Past) -> PastPage {
        let since = (past.since.unwrap_or(i64::MIN), String::new());
        let ids = self.ended.range(since..).rev().map(|(_, id)| id);
        let found = ids.filter_map(|id| self.delegations.get(id));
        let wanted =
            |found: &&Delegation| past.status.as_ref().is_none_or(|status| *status == found.status);
        let mut found = found.filter(wanted);
        let skipped = found.by_ref().take(past.page.skip).count();
        let limit = past.page.limit.min(MAX_PAGE);
        let delegations: Vec<Delegation> = found.by_ref().take(limit).cloned().collect();
        let total = skipped + delegations.len() + found.count();
        PastPage { delegations, total: u64::try_from(total).unwrap_or(u64::MAX) }
    }

    pub(super) fn delegation_of_key(&self, scope: &str, key: &str) -> Option<String> {
        self.keys.get(&(scope.to_owned(), key.to_owned())).cloned()
    }

    pub(super) fn forget(&mut self, name: &str) -> Result<bool, Error> {
        if self.open.contains(name) {
            return Err(Error::still_open(name));
        }
        let Some(tree) = self.trees.remove(name) else { return Ok(false) };
        for entry in tree.entries {
            self.places.remove(&entry.position);
        }
        for id in tree.delegations {
            self.take_delegation(&id);
        }
        for key in tree.keys {
            self.keys.remove(&key);
        }
        Ok(true)
    }

    pub(super) fn forget_before(&mut self, time: i64) -> u64 {
        let is_old = |tree: &Tree| tree.ended_at.is_some_and(|at| at < time);
        let old = self.trees.iter().filter(|(_, tree)| is_old(tree));
        let old: Vec<Arc<str>> = old.map(|(name, _)| Arc::clone(name)).collect();
        old.iter().map(|name| u64::from(matches!(self.forget(name), Ok(true)))).sum()
    }
}

impl Tree {
    fn last_seq(&self) -> u64 {
        self.entries.last().map_or(0, |entry| entry.seq)
    }
}

/// Whether an event still fits into a read; the first always does.
fn fits(entry: &Entry, room: &mut usize) -> bool {
    let is_first = *room == MAX_READ_BYTES;
    match room.checked_sub(entry.event.len()) {
        Some(left) => *room = left,
        None if is_first => *room = 0,
        None => return false,
    }
    true
}
