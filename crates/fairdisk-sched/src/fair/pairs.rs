//! Comparing two ways of doing something by trying them in turn.
//!
//! A *look* takes a while in one way and ends with a time: how long a certain amount of work took.
//! Looks come in pairs, one in each way. Pairs in which the second way was slower are counted,
//! rather than a mean taken: a few pairs in which other things changed, too, do not matter.

use fairdisk_core::Span;

/// Pairs for a first result.
const FIRST: u32 = 8;
/// Pairs that are remembered.
const MOST: u32 = u16::BITS;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Look {
    /// Between pairs, in the way that was found to be right.
    #[default]
    Usual,
    First,
    /// After a look in the first way that took this long.
    Second(Span),
}

/// The last pairs, and the current look. The second way is slower if it takes longer by one in
/// `SLOWER_PARTS`; after the first result there are `BETWEEN` looks from one pair to the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pairs<const SLOWER_PARTS: u64, const BETWEEN: u32> {
    look: Look,
    /// Looks since the last pair.
    looks: u32,
    /// The number of remembered pairs, and in which of them the second way was slower.
    pairs: u32,
    slower: u16,
}

impl<const SLOWER_PARTS: u64, const BETWEEN: u32> Pairs<SLOWER_PARTS, BETWEEN> {
    /// Whether the current look is in the first way; `usual` tells, if it is none of a pair.
    pub(super) const fn is_first(&self, usual: bool) -> bool {
        match self.look {
            Look::Usual => usual,
            Look::First => true,
            Look::Second(_) => false,
        }
    }

    /// Whether there have been enough pairs for a result.
    pub(super) const fn is_known(&self) -> bool {
        self.pairs >= FIRST
    }

    /// Whether the second way was slower in at least `parts` of four pairs.
    pub(super) const fn is_slower_in(&self, parts: u32) -> bool {
        4 * self.slower.count_ones() >= parts * self.pairs
    }

    /// Breaks the current look off.
    pub(super) const fn break_off(&mut self) {
        self.look = Look::Usual;
    }

    /// Ends the current look. `took` is `None` if nothing can be learned from it.
    pub(super) fn end_look(&mut self, took: Option<Span>) {
        self.look = match (self.look, took) {
            (Look::Usual, _) => {
                self.looks += 1;
                let is_due = !self.is_known() || self.looks >= BETWEEN;
                if is_due && took.is_some() { Look::First } else { Look::Usual }
            }
            (_, None) => Look::Usual,
            (Look::First, Some(took)) => Look::Second(took),
            (Look::Second(first), Some(took)) => {
                self.note_pair(took > first + first / SLOWER_PARTS);
                if self.is_known() { Look::Usual } else { Look::First }
            }
        };
    }

    fn note_pair(&mut self, is_slower: bool) {
        self.slower = self.slower << 1 | u16::from(is_slower);
        (self.pairs, self.looks) = ((self.pairs + 1).min(MOST), 0);
    }

    /// What is known after as many pairs as are remembered, in all or none of which the second way
    /// was slower.
    #[cfg(test)]
    pub(super) fn known(is_slower: bool) -> Self {
        let mut pairs = Self::default();
        (0..MOST).for_each(|_| pairs.note_pair(is_slower));
        pairs
    }
}
