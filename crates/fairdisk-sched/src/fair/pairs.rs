//! Comparing two ways of doing something by trying them in turn.
//!
//! A *look* takes a while in one way and ends with a time: how long a certain amount of work took.
//! Looks come in pairs, one in each way. Pairs in which the second way was slower are counted,
//! rather than a mean taken: a few pairs in which other things changed, too, do not matter.

use fairdisk_core::Span;

/// The cost for which the time is noted: large enough that nanoseconds are fine enough.
const COST_UNIT: u64 = 1 << 16;
/// Pairs for a first result.
const FIRST: u32 = 8;
/// Pairs that are remembered.
pub(super) const MOST: u32 = u16::BITS;

/// One of the two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    First,
    Second,
}

/// The current look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Look {
    /// Between pairs, in the way that was found to be right.
    #[default]
    Usual,
    /// In the first way.
    First,
    /// In the second way, after a look in the first in which `COST_UNIT` of work took this long.
    Second(Span),
}

/// The last pairs, and the current look. The second way is slower if it takes longer by one in
/// `SLOWER_PARTS`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pairs<const SLOWER_PARTS: u64> {
    look: Look,
    /// Looks since the last pair.
    looks: u32,
    /// The number of remembered pairs, and in which of them the second way was slower.
    pairs: u32,
    slower: u16,
    /// Whether the last pair was put off.
    is_put_off: bool,
}

impl<const SLOWER_PARTS: u64> Pairs<SLOWER_PARTS> {
    /// The way that the current look tries; `None` if it is none of a pair.
    pub(super) const fn tried(&self) -> Option<Way> {
        match self.look {
            Look::Usual => None,
            Look::First => Some(Way::First),
            Look::Second(_) => Some(Way::Second),
        }
    }

    /// Whether there have been enough pairs for a result.
    pub(super) const fn is_known(&self) -> bool {
        self.pairs >= FIRST
    }

    /// Whether the second way was slower in at least so many quarters of the last pairs, as many as
    /// are remembered or `most`.
    pub(super) const fn is_slower_in(&self, quarters: u32, most: u32) -> bool {
        let pairs = if self.pairs < most { self.pairs } else { most };
        let last = (1_u32 << pairs) - 1;
        4 * (self.slower as u32 & last).count_ones() >= quarters * pairs
    }

    /// Breaks the current look off.
    pub(super) const fn break_off(&mut self) {
        self.look = Look::Usual;
    }

    /// Breaks a pair off, for another one not to begin at once.
    pub(super) const fn put_off(&mut self) {
        if !matches!(self.look, Look::Usual) {
            (self.look, self.looks, self.is_put_off) = (Look::Usual, 0, true);
        }
    }

    /// Ends the current look, of which the time and the cost of the work are given, or `None` if
    /// nothing can be learned from it. After the first result there are `between` looks from one
    /// pair to the next.
    pub(super) fn end_look(&mut self, look: Option<(Span, Span)>, between: u32) {
        let took = look.map(|(took, cost)| took.scaled(COST_UNIT, cost.as_ns().max(1)));
        self.look = match (self.look, took) {
            (Look::Usual, _) => {
                self.looks += 1;
                let is_due = !self.is_known() && !self.is_put_off || self.looks >= between;
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

    const fn note_pair(&mut self, is_slower: bool) {
        self.slower = self.slower << 1 | is_slower as u16;
        self.pairs += (self.pairs < MOST) as u32;
        (self.looks, self.is_put_off) = (0, false);
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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// What each of as many looks tried, where looks take as long as given in the first and second
    /// way, or nothing can be learned.
    fn looks(pairs: &mut Pairs<16>, looks: u32, took: Option<[u64; 2]>) -> Vec<Option<Way>> {
        let look = |_| {
            let tried = pairs.tried();
            let is_second = tried == Some(Way::Second);
            let took = took.map(|[first, second]| if is_second { second } else { first });
            pairs.end_look(took.map(|took| (Span::from_us(took), Span::from_us(1))), 3);
            tried
        };
        (0..looks).map(look).collect()
    }

    #[test]
    fn after_the_first_eight_there_is_a_pair_now_and_then() {
        let mut pairs = Pairs::default();
        let tried = looks(&mut pairs, 27, Some([100, 110]));
        let seconds: Vec<usize> = (0..27).filter(|at| tried[*at] == Some(Way::Second)).collect();
        assert_eq!(seconds, [2, 4, 6, 8, 10, 12, 14, 16, 21, 26]);
        assert!(pairs.is_known() && pairs.is_slower_in(4, MOST));
    }

    #[test]
    fn what_is_a_little_slower_counts_as_fast() {
        let mut pairs = Pairs::default();
        looks(&mut pairs, 17, Some([160, 170]));
        assert!(pairs.is_known() && !pairs.is_slower_in(1, MOST));
    }

    #[test]
    fn where_nothing_can_be_learned_nothing_is_tried() {
        let mut pairs = Pairs::default();
        assert!(looks(&mut pairs, 100, None).iter().all(Option::is_none));
        assert!(!pairs.is_known());
    }

    #[test]
    fn a_pair_put_off_comes_later() {
        let mut pairs = Pairs::<16>::default();
        looks(&mut pairs, 1, Some([100, 110]));
        assert_eq!(pairs.tried(), Some(Way::First));
        pairs.put_off();
        assert_eq!(pairs.tried(), None);
        looks(&mut pairs, 2, Some([100, 110]));
        assert_eq!(pairs.tried(), None);
        looks(&mut pairs, 1, Some([100, 110]));
        assert_eq!(pairs.tried(), Some(Way::First));
    }

    #[test]
    fn old_pairs_are_forgotten_and_few_may_be_asked_for() {
        let mut pairs = Pairs::<16>::known(true);
        (0..5).for_each(|_| pairs.note_pair(false));
        assert!(pairs.is_slower_in(2, MOST) && !pairs.is_slower_in(2, 8));
        (0..11).for_each(|_| pairs.note_pair(false));
        assert!(!pairs.is_slower_in(1, MOST));
    }
}
