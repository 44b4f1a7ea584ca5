//! Sets of factors: which changes are made in a mixture of good and bad.

use std::fmt;

const WORDS: usize = 4;
/// The largest number of factors.
pub const FACTORS_MAX: usize = WORDS * 64;

/// A set of factors. Factors in the set have their bad value, all others their good one.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FactorSet([u64; WORDS]);

impl FactorSet {
    /// No factor: the good end.
    pub const EMPTY: Self = Self([0; WORDS]);

    /// The factors `0..count`; with the number of all factors, the bad end.
    #[must_use]
    pub fn first(count: usize) -> Self {
        (0..count).collect()
    }

    /// Whether the set contains `factor`.
    #[must_use]
    pub const fn contains(&self, factor: usize) -> bool {
        self.0[factor / 64] >> (factor % 64) & 1 == 1
    }

    /// This set with `factor` added.
    #[must_use]
    pub const fn with(mut self, factor: usize) -> Self {
        self.0[factor / 64] |= 1 << (factor % 64);
        self
    }

    /// This set with `factor` removed.
    #[must_use]
    pub const fn without(mut self, factor: usize) -> Self {
        self.0[factor / 64] &= !(1 << (factor % 64));
        self
    }

    /// The factors in either of the two sets.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    /// The factors in this set and not in `other`.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    fn zip(self, other: Self, word: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|at| word(self.0[at], other.0[at])))
    }

    /// The number of factors in the set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::EMPTY
    }

    /// The factors in the set, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + use<> {
        let set = *self;
        (0..FACTORS_MAX).filter(move |factor| set.contains(*factor))
    }
}

impl FromIterator<usize> for FactorSet {
    fn from_iter<I: IntoIterator<Item = usize>>(factors: I) -> Self {
        factors.into_iter().fold(Self::EMPTY, |set, factor| set.with(factor))
    }
}

impl fmt::Debug for FactorSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// Formats the set as a hexadecimal number whose lowest bit is factor 0.
impl fmt::Display for FactorSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits: String = self.0.iter().rev().map(|word| format!("{word:016x}")).collect();
        let digits = digits.trim_start_matches('0');
        f.write_str(if digits.is_empty() { "0" } else { digits })
    }
}

impl FactorSet {
    /// Parses the output of [`Display`](fmt::Display).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut set = Self::EMPTY;
        for (at, digit) in text.chars().rev().enumerate() {
            let digit = u64::from(digit.to_digit(16)?);
            *set.0.get_mut(at / 16)? |= digit << (at % 16 * 4);
        }
        Some(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_sets() {
        let some: FactorSet = [0, 63, 64, 200].into_iter().collect();
        assert_eq!(some.iter().collect::<Vec<_>>(), [0, 63, 64, 200]);
        assert_eq!(some.len(), 4);
        assert_eq!(some.without(64).with(1).len(), 4);
        assert_eq!(some.minus(FactorSet::first(64)).iter().collect::<Vec<_>>(), [64, 200]);
        assert_eq!(FactorSet::first(64).union(some).len(), 66);
        assert!(FactorSet::EMPTY.is_empty() && !some.is_empty());
    }

    #[test]
    fn what_is_written_can_be_read() {
        for set in [FactorSet::EMPTY, FactorSet::first(5), FactorSet::first(FACTORS_MAX)] {
            assert_eq!(FactorSet::parse(&set.to_string()), Some(set));
        }
        assert_eq!(FactorSet::first(5).to_string(), "1f");
        assert_eq!(FactorSet::parse("1g"), None);
        assert_eq!(FactorSet::parse(&"1".repeat(65)), None);
    }
}
