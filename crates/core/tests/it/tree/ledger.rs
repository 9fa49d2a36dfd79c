//! The ledger under random use.

use legation_core::money::Usd;
use legation_core::tree::ledger::{Account, AccountNo, Amount, Ledger};
use proptest::prelude::*;

fn amount(tokens: u64, nanos: u64) -> Amount {
    Amount { tokens, cost: Usd::from_nanos(nanos) }
}

#[test]
fn an_amount_exceeds_another_in_either_kind() {
    let (small, large) = (amount(1, 1), amount(2, 2));
    assert!(large.exceeds(small) && !small.exceeds(large) && !small.exceeds(small));
    assert!(amount(2, 0).exceeds(small) && amount(0, 2).exceeds(small));
    assert_eq!(amount(5, 1).min(amount(2, 9)), amount(2, 1));
    assert_eq!(amount(7, 7).share(2), amount(3, 3));
    assert_eq!(amount(7, 7).share(0), amount(7, 7));
    assert_eq!(amount(1, 5) - amount(3, 2), amount(0, 3));
    assert_eq!(amount(u64::MAX, 1) + amount(1, 1), amount(u64::MAX, 2));
}

#[test]
fn an_overrun_counts_against_what_comes_after() {
    let mut ledger = Ledger::new(amount(100, 100));
    let first = ledger.reserve(Ledger::TREE, amount(50, 50));
    ledger.settle(first, amount(80, 10));
    assert_eq!(ledger.get(first).overrun(), amount(30, 0));
    assert_eq!(ledger.get(first).excess(), amount(30, 0));
    assert_eq!(ledger.get(Ledger::TREE).remainder(), amount(20, 50));
    let second = ledger.reserve(Ledger::TREE, amount(50, 50));
    assert_eq!(ledger.get(second).ceiling, amount(20, 50));
    ledger.release(first);
    assert_eq!(ledger.get(Ledger::TREE).remainder(), amount(0, 40));
}

#[test]
fn releasing_twice_or_the_tree_itself_changes_nothing() {
    let mut ledger = Ledger::new(amount(100, 100));
    let child = ledger.reserve(Ledger::TREE, amount(10, 10));
    ledger.release(child);
    let once = ledger.clone();
    ledger.release(child);
    ledger.release(Ledger::TREE);
    assert_eq!(ledger, once);
}

#[derive(Clone, Debug)]
enum Deed {
    Reserve(prop::sample::Index, Amount),
    Settle(prop::sample::Index, Amount),
    Release(prop::sample::Index),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let some = || (0u64..300, 0u64..300).prop_map(|(tokens, nanos)| amount(tokens, nanos));
    let which = any::<prop::sample::Index>;
    let deed = prop_oneof![
        3 => (which(), some()).prop_map(|(at, amount)| Deed::Reserve(at, amount)),
        3 => (which(), some()).prop_map(|(at, amount)| Deed::Settle(at, amount)),
        2 => which().prop_map(Deed::Release),
    ];
    prop::collection::vec(deed, 0..60)
}

/// The ledger, and beside it who reserved from whom and what each really spent.
struct World {
    ledger: Ledger,
    accounts: Vec<(AccountNo, Option<usize>, Amount)>,
}

impl World {
    fn account(&self, at: usize) -> &Account {
        self.ledger.get(self.accounts[at].0)
    }

    fn spent(&self, at: usize) -> Amount {
        self.account(at).settled() + self.account(at).overrun()
    }

    /// What is free, negative where more was spent than there is.
    fn free(&self, at: usize) -> (i128, i128) {
        let account = self.account(at);
        let [ceiling, reserved, spent] = [account.ceiling, account.reserved, self.spent(at)];
        let tokens = |a: Amount| i128::from(a.tokens);
        let nanos = |a: Amount| i128::from(a.cost.nanos());
        (
            tokens(ceiling) - tokens(reserved) - tokens(spent),
            nanos(ceiling) - nanos(reserved) - nanos(spent),
        )
    }

    fn has_open_children(&self, at: usize) -> bool {
        let mut all = self.accounts.iter().enumerate();
        all.any(|(n, (_, parent, _))| *parent == Some(at) && self.account(n).open)
    }

    fn act(&mut self, deed: &Deed) -> Result<(), TestCaseError> {
        match deed {
            Deed::Reserve(at, asked) => {
                let at = at.index(self.accounts.len());
                if self.account(at).open {
                    let left = self.account(at).remainder();
                    let no = self.ledger.reserve(self.accounts[at].0, *asked);
                    prop_assert_eq!(self.ledger.get(no).ceiling, asked.min(left));
                    self.accounts.push((no, Some(at), Amount::ZERO));
                }
            }
            Deed::Settle(at, amount) => {
                let at = at.index(self.accounts.len());
                if self.account(at).open {
                    self.ledger.settle(self.accounts[at].0, *amount);
                    let mut other = self.ledger.clone();
                    other.settle(self.accounts[at].0, amount.share(3));
                    other.take_back(self.accounts[at].0, amount.share(3));
                    prop_assert_eq!(&other, &self.ledger, "as if it had never been booked");
                    let mut next = Some(at);
                    while let Some(at) = next {
                        self.accounts[at].2 += *amount;
                        next = self.accounts[at].1;
                    }
                }
            }
            Deed::Release(at) => {
                let at = at.index(self.accounts.len());
                let parent = self.accounts[at].1.filter(|_| self.account(at).open);
                if let Some(parent) = parent.filter(|_| !self.has_open_children(at)) {
                    let unspent = self.account(at).ceiling - self.account(at).used;
                    let before = self.free(parent);
                    self.ledger.release(self.accounts[at].0);
                    let (tokens, nanos) = self.free(parent);
                    prop_assert_eq!(tokens - before.0, i128::from(unspent.tokens));
                    prop_assert_eq!(nanos - before.1, i128::from(unspent.cost.nanos()));
                }
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), TestCaseError> {
        for (at, (no, parent, spent)) in self.accounts.iter().enumerate() {
            let account = self.account(at);
            let committed = account.settled() + account.reserved;
            prop_assert!(!committed.exceeds(account.ceiling), "{:?}", account);
            prop_assert_eq!(committed + account.remainder(), account.ceiling);
            prop_assert_eq!(account.used, *spent);
            prop_assert_eq!(account.excess(), account.used - account.ceiling);
            let left = self.ledger.left(*no);
            prop_assert!(!left.exceeds(account.ceiling - account.used));
            if let Some(parent) = parent {
                prop_assert!(!left.exceeds(self.ledger.left(self.accounts[*parent].0)));
                prop_assert!(!account.ceiling.exceeds(self.account(*parent).ceiling));
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn reserved_and_settled_never_exceed_a_bound_and_everything_adds_up(deeds in deeds()) {
        let ledger = Ledger::new(amount(1_000, 1_000));
        let mut world =
            World { ledger, accounts: vec![(Ledger::TREE, None, Amount::ZERO)] };
        for deed in &deeds {
            world.act(deed)?;
            world.check()?;
        }
        prop_assert_eq!(world.ledger.accounts().len(), world.accounts.len());
    }

    #[test]
    fn once_all_is_released_the_tree_has_spent_what_was_spent(deeds in deeds()) {
        let ledger = Ledger::new(amount(1_000, 1_000));
        let mut world =
            World { ledger, accounts: vec![(Ledger::TREE, None, Amount::ZERO)] };
        for deed in &deeds {
            world.act(deed)?;
        }
        // Children first.
        for at in (0..world.accounts.len()).rev() {
            world.ledger.release(world.accounts[at].0);
        }
        prop_assert_eq!(world.account(0).reserved, Amount::ZERO);
        prop_assert_eq!(world.spent(0), world.accounts[0].2);
    }
}
