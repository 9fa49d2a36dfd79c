//! Numbered storage. Within a tree, delegations, subtasks and attempts are
//! called by small numbers, in the order in which they came to be: events stay
//! short and looking something up costs the same in a tree of any size.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

/// A number that names an item of an [`Arena`].
pub trait Number: Copy {
    /// The number of the item at this position.
    fn at(position: usize) -> Self;
    /// The position of the item with this number.
    fn position(self) -> usize;
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl Number for $name {
            fn at(position: usize) -> Self {
                Self(u32::try_from(position).unwrap_or(u32::MAX))
            }

            fn position(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "#{}", self.0)
            }
        }
    )*};
}

numbers! {
    /// A delegation of this tree; the root is 0.
    DelegationNo;
    /// A subtask of this tree, whichever delegation it belongs to.
    SubtaskNo;
    /// An attempt of this tree.
    AttemptNo;
}

/// Items by number. Nothing is ever taken out.
#[derive(Clone, PartialEq)]
pub struct Arena<N, T> {
    items: Vec<T>,
    number: PhantomData<N>,
}

impl<N: Number, T> Arena<N, T> {
    /// Adds an item and says its number.
    pub(crate) fn push(&mut self, item: T) -> N {
        self.items.push(item);
        N::at(self.items.len() - 1)
    }

    /// The number the next item will get.
    pub fn next(&self) -> N {
        N::at(self.items.len())
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether the number names an item.
    pub fn has(&self, number: N) -> bool {
        number.position() < self.items.len()
    }

    /// Every item with its number.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (N, &T)> {
        self.items.iter().enumerate().map(|(position, item)| (N::at(position), item))
    }
}

impl<N, T> Default for Arena<N, T> {
    fn default() -> Self {
        Self { items: Vec::new(), number: PhantomData }
    }
}

impl<N, T: fmt::Debug> fmt::Debug for Arena<N, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.items).finish()
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "numbers come from the arena, or were checked on entry"
)]
impl<N: Number, T> Index<N> for Arena<N, T> {
    type Output = T;

    fn index(&self, number: N) -> &T {
        &self.items[number.position()]
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "numbers come from the arena, or were checked on entry"
)]
impl<N: Number, T> IndexMut<N> for Arena<N, T> {
    fn index_mut(&mut self, number: N) -> &mut T {
        &mut self.items[number.position()]
    }
}
