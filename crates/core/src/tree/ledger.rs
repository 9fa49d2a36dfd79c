//! The budget of a tree: reserve, settle, release.
//!
//! Every subtask has an account; the first account is the tree's own. What a
//! child may spend is reserved from its parent before it starts, so however
//! many run at once, reserved and settled together never exceed a bound. What
//! was already in flight when a ceiling was reached is booked as overrun and
//! counts against everything after it.

use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

use crate::money::Usd;

/// Tokens and money together: every check is made on both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// Tokens that count.
    pub tokens: u64,
    /// Dollars.
    pub cost: Usd,
}

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self { tokens: 0, cost: Usd::ZERO };

    /// The smaller of the two, kind by kind.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        Self { tokens: self.tokens.min(other.tokens), cost: self.cost.min(other.cost) }
    }

    /// Whether this exceeds `other` in tokens or in money.
    pub fn exceeds(self, other: Self) -> bool {
        self.tokens > other.tokens || self.cost > other.cost
    }

    /// An equal share for each of `parts`.
    #[must_use]
    pub fn share(self, parts: u64) -> Self {
        Self { tokens: self.tokens / parts.max(1), cost: self.cost.share(parts) }
    }
}

impl Add for Amount {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { tokens: self.tokens.saturating_add(other.tokens), cost: self.cost + other.cost }
    }
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Never below zero.
impl Sub for Amount {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { tokens: self.tokens.saturating_sub(other.tokens), cost: self.cost - other.cost }
    }
}

/// The number of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccountNo(usize);

/// What one subtask, or the whole tree, may spend and has spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    parent: Option<AccountNo>,
    /// What may be spent here and below.
    pub ceiling: Amount,
    /// What is reserved for children whose accounts are open.
    pub reserved: Amount,
    /// What was really spent, here and below.
    pub used: Amount,
    /// Whether the reservation still stands.
    pub open: bool,
    /// Spent here, by children that are closed, and by open ones beyond their ceilings.
    spent: Amount,
}

impl Account {
    /// What was spent within the ceiling, beside what is reserved.
    pub fn settled(&self) -> Amount {
        self.spent.min(self.ceiling - self.reserved)
    }

    /// What was spent although it was reserved for others, or beyond the ceiling: it was in
    /// flight. It counts against everything after it.
    pub fn overrun(&self) -> Amount {
        self.spent - self.settled()
    }

    /// What can still be reserved or settled.
    pub fn remainder(&self) -> Amount {
        self.ceiling - self.reserved - self.spent
    }

    /// What was really spent beyond the ceiling.
    pub fn excess(&self) -> Amount {
        self.used - self.ceiling
    }
}

/// All accounts of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    accounts: Vec<Account>,
}

impl Ledger {
    /// The tree's own account.
    pub const TREE: AccountNo = AccountNo(0);

    /// A ledger whose tree may spend this much.
    pub fn new(ceiling: Amount) -> Self {
        Self { accounts: vec![Self::account(None, ceiling)] }
    }

    fn account(parent: Option<AccountNo>, ceiling: Amount) -> Account {
        Account {
            parent,
            ceiling,
            reserved: Amount::ZERO,
            used: Amount::ZERO,
            open: true,
            spent: Amount::ZERO,
        }
    }

    /// The account with this number.
    #[expect(clippy::indexing_slicing, reason = "only the ledger makes account numbers")]
    pub fn get(&self, no: AccountNo) -> &Account {
        &self.accounts[no.0]
    }

    #[expect(clippy::indexing_slicing, reason = "only the ledger makes account numbers")]
    fn get_mut(&mut self, no: AccountNo) -> &mut Account {
        &mut self.accounts[no.0]
    }

    /// Every account, the tree's own first.
    pub fn accounts(&self) -> &[Account] {
        &self.accounts
    }

    /// Opens an account below `parent` with what can be reserved of `ceiling`.
    pub fn reserve(&mut self, parent: AccountNo, ceiling: Amount) -> AccountNo {
        let ceiling = ceiling.min(self.get(parent).remainder());
        self.get_mut(parent).reserved += ceiling;
        self.accounts.push(Self::account(Some(parent), ceiling));
        AccountNo(self.accounts.len() - 1)
    }

    /// Books what was really spent. A parent has reserved a child's ceiling; only what goes
    /// beyond it is news to the parent.
    pub fn settle(&mut self, no: AccountNo, amount: Amount) {
        let mut news = amount;
        let mut next = Some(no);
        while let Some(no) = next {
            let account = self.get_mut(no);
            let before = account.excess();
            account.used += amount;
            account.spent += news;
            news = account.excess() - before;
            next = account.parent;
        }
    }

    /// Takes back a part of what was settled: it turns out that it was not spent. What is
    /// left is as if it had never been booked.
    pub fn take_back(&mut self, no: AccountNo, amount: Amount) {
        let mut news = amount;
        let mut next = Some(no);
        while let Some(no) = next {
            let account = self.get_mut(no);
            let before = account.excess();
            account.used = account.used - amount;
            account.spent = account.spent - news;
            news = before - account.excess();
            next = account.parent;
        }
    }

    /// Closes an account: what it did not spend is the parent's again.
    pub fn release(&mut self, no: AccountNo) {
        let account = *self.get(no);
        let Some(parent) = account.parent.filter(|_| account.open) else {
            return;
        };
        self.get_mut(no).open = false;
        let above = self.get_mut(parent);
        above.reserved = above.reserved - account.ceiling;
        above.spent += account.used.min(account.ceiling);
    }

    /// What an account could still reserve if one below it were closed.
    pub fn remainder_without(&self, no: AccountNo, closed: Option<AccountNo>) -> Amount {
        let mut account = *self.get(no);
        if let Some(below) = closed.map(|no| self.get(no)).filter(|below| below.open) {
            account.reserved = account.reserved - below.ceiling;
            account.spent += below.used.min(below.ceiling);
        }
        account.remainder()
    }

    /// What is left for an account in its own ceiling and in every one above, by what was really spent.
    pub fn left(&self, no: AccountNo) -> Amount {
        let mut left = Amount { tokens: u64::MAX, cost: Usd::MAX };
        let mut next = Some(no);
        while let Some(no) = next {
            let account = self.get(no);
            left = left.min(account.ceiling - account.used);
            next = account.parent;
        }
        left
    }
}
