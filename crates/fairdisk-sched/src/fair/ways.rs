//! Two ways of doing something, of which the better one is found by trying both.
//!
//! A [look](super::looks) at the one and a look at the other make a *pair*, which tells by how much
//! the second way is better. A pair begins with the way that the one before ended with, so that
//! each change of ways serves two pairs.
//!
//! A pair costs something, as one of the two ways is the worse one. So it is tried only if there
//! is a token for it. There is one after each sixteen looks, and there are eight at most: a new
//! case is soon known, and one that changes all the time is tried in an eighth of it.

/// The unit of logarithms.
pub(super) const ONE: i64 = 1 << 10;
/// A pair of looks counts with an eighth at most: a larger difference is of the host.
const DIFFERENCE_MOST: i64 = ONE / 8;
/// Which one is better is known once the sum exceeds twice what it is by chance, the root of the
/// sum of the squares: after four pairs at the least.
const CHANCE_FACTOR: i64 = 2;
/// Pairs after which all of them count half.
const PAIRS: u32 = 64;
/// Pairs that follow each other.
const PAIRS_FIRST: u32 = 8;
const LOOKS_PER_TOKEN: u32 = 16;
const TOKENS_MOST: u32 = 8;

/// What is known of two ways, and which of them the current look is at. With `WAITS` the first way
/// is taken until the second one is known to be better; the first pairs follow each other then.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ways<const WAITS: bool> {
    better: Better,
    is_second: bool,
    pair: Pair,
    looks: u32,
    tokens: u32,
    /// How good the look before was, where looks are compared by one figure.
    before: i64,
}

/// What the current look is of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Pair {
    #[default]
    None,
    Begins,
    Ends,
}

impl<const WAITS: bool> Ways<WAITS> {
    /// Whether the current look is at the second way.
    pub(super) const fn is_second(&self) -> bool {
        self.is_second
    }

    /// Whether the current look is one of a pair.
    pub(super) fn is_tried(&self) -> bool {
        self.pair != Pair::None
    }

    /// Whether the current look ends a pair.
    pub(super) fn ends_pair(&self) -> bool {
        self.pair == Pair::Ends
    }

    /// By how much the second way is better, once that is more than chance.
    pub(super) fn better(&self) -> Option<i64> {
        self.better.is_known().then_some(self.better.sum)
    }

    /// By how much the second way is better according to a look that was as good as `good` and the
    /// one before.
    pub(super) const fn compare(&mut self, good: i64) -> i64 {
        let before = core::mem::replace(&mut self.before, good);
        if self.is_second { good - before } else { before - good }
    }

    /// Ends a look. `better` says by how much the second way was better in the pair, if the look
    /// ends one, and is `None` if the look tells nothing; `may_try` says whether a pair may begin.
    pub(super) fn end_look(&mut self, better: Option<i64>, may_try: bool) {
        if self.looks.is_multiple_of(LOOKS_PER_TOKEN) {
            self.tokens = (self.tokens + 1).min(TOKENS_MOST);
        }
        self.looks = self.looks.wrapping_add(1);
        let is_new = match WAITS {
            true => self.better.pairs < PAIRS_FIRST,
            false => !self.better.is_known() && self.tokens > 0,
        };
        let is_due = is_new || self.tokens == TOKENS_MOST;
        if !self.go_on(better, may_try && is_due) || self.pair != Pair::Begins {
            return;
        }
        // What is not new is tried again once in as many looks as all tokens take.
        self.tokens = if is_new { self.tokens.saturating_sub(1) } else { 0 };
    }

    /// Ends a look where the two ways are close together, so that pairs cost nothing.
    pub(super) fn end_look_of_close(&mut self, better: i64) {
        self.go_on(Some(better), true);
    }

    /// Goes on to the next look, which begins a pair if that `is_due`. Returns whether a pair could
    /// have begun.
    fn go_on(&mut self, better: Option<i64>, is_due: bool) -> bool {
        if self.pair == Pair::Begins && better.is_some() {
            (self.pair, self.is_second) = (Pair::Ends, !self.is_second);
            return false;
        }
        if let Some(better) = better.filter(|_| self.pair == Pair::Ends) {
            self.better.note_pair(better);
        }
        self.pair = if is_due { Pair::Begins } else { Pair::None };
        if !is_due {
            self.is_second = self.prefers_second();
        }
        true
    }

    /// Whether the second way is better as far as pairs tell.
    pub(super) const fn prefers_second(&self) -> bool {
        self.better.sum > 0 && (!WAITS || self.better.is_known())
    }

    /// Breaks a pair off.
    pub(super) fn break_off(&mut self) {
        if self.pair != Pair::None {
            (self.pair, self.is_second) = (Pair::None, self.prefers_second());
        }
    }

    /// Forgets which way is better, as something else is done in both.
    pub(super) fn forget(&mut self) {
        (self.better, self.pair) = (Better::default(), Pair::None);
    }
}

/// By how much the second way is better.
#[derive(Clone, Copy, Debug, Default)]
struct Better {
    /// The sum over all pairs, and that of the squares.
    sum: i64,
    squares: i64,
    pairs: u32,
}

impl Better {
    fn note_pair(&mut self, by: i64) {
        let by = by.clamp(-DIFFERENCE_MOST, DIFFERENCE_MOST);
        (self.sum, self.squares, self.pairs) =
            (self.sum + by, self.squares + by * by, self.pairs + 1);
        if self.pairs == PAIRS {
            (self.sum, self.squares, self.pairs) = (self.sum / 2, self.squares / 4, PAIRS / 2);
        }
    }

    const fn is_known(&self) -> bool {
        let by_chance = CHANCE_FACTOR * CHANCE_FACTOR * self.squares;
        self.squares > 0 && self.sum * self.sum >= by_chance
    }
}

/// The natural logarithm, in parts of `ONE`, within six thousandths.
pub(super) fn logarithm(of: u64) -> i64 {
    let whole = of.ilog2();
    let rest = ((u128::from(of) << 10 >> whole) as i64) - ONE;
    // The binary logarithm of 1 + x is about x + 0.344 x (1 - x).
    let binary = i64::from(whole) * ONE + rest + 352 * (rest * (ONE - rest) / ONE) / ONE;
    binary * 710 / ONE
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::Prng;

    /// In how many of so many looks the second way is taken, which is better by `better`, give or
    /// take `noise`.
    fn looks(ways: &mut Ways<false>, looks: u32, better: i64, noise: u64) -> u32 {
        let mut prng = Prng::new(1);
        let look = |_| {
            let second = ways.is_second();
            let by = better + prng.below(2 * noise + 1) as i64 - noise as i64;
            ways.end_look(Some(by), true);
            u32::from(second)
        };
        (0..looks).map(look).sum()
    }

    #[test]
    fn the_better_way_is_taken_and_the_other_one_tried_now_and_then() {
        for (better, range) in [(40, 990..=1000), (-40, 0..=10)] {
            let mut ways = Ways::<false>::default();
            looks(&mut ways, 500, better, 60);
            assert_eq!(ways.better().map(i64::signum), Some(i64::signum(better)));
            let second = looks(&mut ways, 1000, better, 60);
            assert!(range.contains(&second), "{better}: {second}");
        }
    }

    #[test]
    fn a_way_that_has_become_better_is_taken() {
        let mut ways = Ways::<false>::default();
        looks(&mut ways, 500, -40, 60);
        looks(&mut ways, 20_000, 40, 60);
        assert!(looks(&mut ways, 1000, 40, 60) > 980);
    }

    #[test]
    fn a_new_case_is_tried_as_often_as_there_are_tokens() {
        let mut ways = Ways::<false>::default();
        let tries = |ways: &mut Ways<false>| {
            let try_pair = |_| {
                ways.forget();
                ways.end_look(Some(0), true);
                u32::from(ways.pair == Pair::Begins)
            };
            (0..1600).map(try_pair).sum::<u32>()
        };
        assert_eq!(tries(&mut ways), 100, "one in each sixteen looks");
        (0..200).for_each(|_| ways.end_look(Some(0), false));
        assert_eq!(tries(&mut ways), 108, "and those that were saved up");
    }

    #[test]
    fn a_look_that_tells_nothing_ends_its_pair() {
        let mut ways = Ways::<false>::default();
        ways.end_look(Some(0), true);
        ways.end_look(None, false);
        ways.end_look(Some(ONE), false);
        assert!(!ways.is_second() && ways.better().is_none());
    }

    #[test]
    fn logarithms_are_as_exact_as_looks() {
        for of in [1, 2, 3, 5, 7, 10, 100, 1000, 12345, 1 << 40] {
            let exact = (of as f64).ln();
            let ours = logarithm(of) as f64 / ONE as f64;
            assert!((ours - exact).abs() < 0.006 + exact * 0.0005, "{of}: {ours} {exact}");
        }
    }
}
