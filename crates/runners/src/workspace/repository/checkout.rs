//! How the files of a workspace get there, and how changes to them are found.
//!
//! A plain checkout: git writes every file once, with an index beside it that
//! remembers each file's times. Another way to fill a folder (a layer over a
//! pinned checkout, a folder kept warm) has these two functions to offer.

use super::super::changes::{Changes, compare, settle};
use super::super::folders::{Made, Moment};
use super::super::index::{self, Index};
use super::super::{Error, Place};
use super::Repository;

impl Repository {
    /// Fills a workspace with the files of its base; answers when that was done.
    pub(super) fn fill(&self, place: &Place) -> Result<Moment, Error> {
        self.on_place("read-tree", place).args(["--reset", "-u", &place.base]).run()?;
        let own = self.folders.own(&place.attempt);
        let ours = own.join("index");
        let theirs = place.root.join(".git/index");
        index::copy(&ours, &theirs)?;
        settle(&theirs, &own.join("clock"), Index::read(&ours, self.user.hash_bytes)?.newest())
    }

    /// Compares a workspace with its base. `None` if there is no folder any more.
    pub(super) fn changes(&self, made: &Made) -> Result<Option<Changes>, Error> {
        let index = self.folders.own(&made.place.attempt).join("index");
        compare(&made.place.root, Index::read(&index, self.user.hash_bytes)?, made.settled)
    }
}
