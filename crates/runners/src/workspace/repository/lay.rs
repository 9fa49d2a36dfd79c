//! How the files of a workspace get there, and how changes to them are found.
//!
//! However it is done, afterwards the files are those of the base, an index beside
//! our own repository remembers what each was like, and the child's repository
//! has one that its git can trust.

use std::fs;
use std::path::PathBuf;

use super::super::changes::{Changes, compare, settle};
use super::super::choice::Way;
use super::super::folders::{Laid, Made, Moment};
use super::super::index::{self, Index, Listing};
use super::super::overlay::{Overlay, is_laid};
use super::super::turn::{self, Turn};
use super::super::upper::compare_written;
use super::super::{Error, Place};
use super::{Repository, own};

/// What is wanted where.
#[derive(Debug)]
pub(super) struct Site<'a> {
    pub(super) place: &'a Place,
    /// The base of the delegation, which other workspaces share.
    pub(super) shared: &'a str,
    /// The branch that the child works on.
    pub(super) branch: &'a str,
}

impl Repository {
    /// Puts the files of a workspace in place, and its repository.
    ///
    /// The turn is to be held until the workspace is on record.
    pub(super) fn lay(&self, site: &Site<'_>) -> Result<(Laid, Moment, Turn), Error> {
        match self.choice().way {
            Way::Overlay => self.lay_over(site),
            Way::Pool => {
                let turn = turn::together(&self.folders.state)?;
                let settled = match self.take_from_pool(site)? {
                    Some(settled) => settled,
                    None => self.check_out(site)?,
                };
                Ok((Laid::Pool, settled, turn))
            }
            Way::Worktree | Way::Copy => {
                let turn = turn::together(&self.folders.state)?;
                Ok((Laid::Checkout, self.check_out(site)?, turn))
            }
        }
    }

    /// Writes the child's repository.
    pub(super) fn equip(&self, site: &Site<'_>) -> Result<(), Error> {
        let folder = site.place.root.join(".git");
        own::write_common(&folder, &self.user, &self.lent())?;
        own::put_on_branch(&folder, (site.branch, &site.place.base), &self.lent_names())
    }

    /// Writes every file once.
    fn check_out(&self, site: &Site<'_>) -> Result<Moment, Error> {
        let place = site.place;
        fs::create_dir_all(&place.root).map_err(Error::files("making", &place.root))?;
        self.equip(site)?;
        let call = self.on_place("read-tree", place).unhurried();
        call.args(["--reset", "-u", &place.base]).run()?;
        self.share_index(place)
    }

    /// Gives the child a copy of our index; answers when the files were all there.
    pub(super) fn share_index(&self, place: &Place) -> Result<Moment, Error> {
        let own = self.folders.own(&place.attempt);
        let ours = own.join("index");
        let theirs = place.root.join(".git/index");
        index::copy(&ours, &theirs)?;
        let newest = index::times(&ours, self.user.hash_bytes)?.newest;
        settle(&theirs, &own.join("clock"), newest)
    }

    /// Lays an empty folder over a checkout that all workspaces of the base share.
    fn lay_over(&self, site: &Site<'_>) -> Result<(Laid, Moment, Turn), Error> {
        let place = site.place;
        let (pin, turn) = self.pinned(site.shared)?;
        let lower = Self::below(&pin);
        fs::create_dir_all(&place.root).map_err(Error::files("making", &place.root))?;
        self.lay_again(place, &lower)?;
        // The rest of its repository is seen through the overlay, like every other file.
        let branch = (site.branch, &*place.base);
        own::put_on_branch(&place.root.join(".git"), branch, &self.lent_names())?;
        let ours = self.folders.own(&place.attempt).join("index");
        let settled = if pin.commit == place.base {
            let index = self.pinned_index(&pin);
            if fs::hard_link(&index, &ours).is_err() {
                index::copy(&index, &ours)?;
            }
            pin.settled
        } else {
            index::copy(&self.pinned_index(&pin), &ours)?;
            let call = self.on_place("read-tree", place).unhurried();
            call.args(["-m", "-u", &pin.commit, &place.base]).run()?;
            self.share_index(place)?
        };
        Ok((Laid::Overlay { lower }, settled, turn))
    }

    /// Lays the overlay of a workspace over these folders.
    pub(super) fn lay_again(&self, place: &Place, lower: &[String]) -> Result<(), Error> {
        let pins = self.pins();
        let lower: Vec<PathBuf> = lower.iter().map(|name| pins.join(name)).collect();
        let layer = self.folders.layer(&place.attempt);
        let overlay = Overlay { lower: &lower, layer: &layer, target: &place.root };
        overlay.lay().map_err(Error::files("mounting", &place.root))
    }

    /// Lays an overlay that has gone with a restart of the machine, or with its namespace.
    pub(super) fn restore(&self, made: &Made) -> Result<(), Error> {
        let Laid::Overlay { lower } = &made.laid else { return self.share_again(made) };
        let root = &made.place.root;
        let written = self.folders.layer(&made.place.attempt).join("upper");
        if is_laid(root) || !written.is_dir() {
            return self.share_again(made);
        }
        fs::create_dir_all(root).map_err(Error::files("making", root))?;
        self.lay_again(&made.place, lower)?;
        self.share_again(made)
    }

    /// Compares the files of a workspace with those of its base. `None` if there is no
    /// folder any more.
    fn compared(&self, made: &Made) -> Result<Option<Changes>, Error> {
        let index = self.folders.own(&made.place.attempt).join("index");
        if let Laid::Overlay { lower } = &made.laid {
            let upper = self.folders.layer(&made.place.attempt).join("upper");
            let base = Listing::read(&index, self.user.hash_bytes)?;
            let lower = self.index_below(lower, &made.place.base);
            let lower = lower.map(|path| Listing::read(&path, self.user.hash_bytes)).transpose()?;
            let indexes = (&base, lower.as_ref());
            let written = compare_written(&upper, indexes, (made.settled, &made.shared));
            if let Some(changes) = written.map_err(Error::files("reading", &upper))? {
                return Ok(Some(changes));
            }
        }
        let shared: Vec<PathBuf> =
            made.shared.iter().map(|name| made.place.root.join(name)).collect();
        self.looked_at(&self.ground(&made.place), |skip| {
            let index = Index::read(&index, self.user.hash_bytes)?;
            let skip = [&shared, skip].concat();
            compare(&made.place.root, index, (made.settled, &skip))
        })
    }

    /// Compares a workspace with its base. `None` if there is no folder any more.
    pub(super) fn changes(&self, made: &Made) -> Result<Option<Changes>, Error> {
        self.restore(made)?;
        let is_overlay = matches!(made.laid, Laid::Overlay { .. });
        if is_overlay && fs::read_dir(&made.place.root).is_ok_and(|mut all| all.next().is_none()) {
            // The top itself cannot be deleted; with everything in it gone it counts as such.
            return Ok(None);
        }
        let Some(changes) = self.compared(made)? else { return Ok(None) };
        changes.unplug(&made.place.root);
        let changes = self.without_fetched(made, self.without_included(made, changes)?)?;
        self.with_submodules(made, changes).map(Some)
    }
}
