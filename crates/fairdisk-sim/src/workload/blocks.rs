//! Block sizes: how large each I/O is.

use super::direction::PerOp;
use fairdisk_core::Prng;

/// How often a size is drawn until one fits.
const DRAWS_MAX: u32 = 10_000;

/// The sizes of I/Os of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockSize {
    /// All I/Os have this size in bytes.
    Fixed(u64),
    /// From the smaller to the larger number of bytes: a uniform number up to the larger, rounded
    /// up to a multiple of the smaller but not above the larger. All multiples are equally likely;
    /// a larger end that is not a multiple is less likely in proportion to its distance from the
    /// multiple below.
    Range(u64, u64),
    /// These sizes, each with its percentage; the percentages sum to 100.
    Split(Vec<(u64, u8)>),
}

/// The sizes of I/Os, by operation.
pub type Blocks = PerOp<BlockSize>;

impl Blocks {
    /// All I/Os have this size.
    #[must_use]
    pub fn fixed(bytes: u64) -> Self {
        Self::all(BlockSize::Fixed(bytes))
    }

    /// The smallest I/O of any operation, whether the operation is used or not.
    pub(super) fn smallest(&self) -> u64 {
        let Self { read, write, trim } = self;
        read.smallest().min(write.smallest()).min(trim.smallest())
    }
}

impl BlockSize {
    /// The largest I/O, 1 GiB: more than any program asks for at once, and few enough parts to
    /// number.
    pub const BYTES_MAX: u64 = 1 << 30;

    /// Draws the size of the next I/O.
    pub(super) fn draw(&self, prng: &mut Prng) -> u64 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Range(min, max) => {
                prng.between(1, *max).next_multiple_of((*min).max(1)).min(*max)
            }
            Self::Split(sizes) => {
                let mut at = prng.below(100);
                let hit = sizes.iter().find(|(_, percent)| {
                    let hit = at < u64::from(*percent);
                    at = at.saturating_sub(u64::from(*percent));
                    hit
                });
                hit.or(sizes.last()).map_or(1, |(bytes, _)| *bytes)
            }
        }
    }

    /// Draws the size of the next I/O until it fits into `room` bytes; `None` if no size fits. If
    /// hardly any size fits, draws from those that do.
    pub(super) fn draw_within(&self, room: u64, prng: &mut Prng) -> Option<u64> {
        match self {
            Self::Fixed(bytes) => Some(*bytes).filter(|_| self.smallest() <= room),
            _ => self.draw_until_it_fits(room, prng),
        }
    }

    #[inline(never)]
    fn draw_until_it_fits(&self, room: u64, prng: &mut Prng) -> Option<u64> {
        if self.smallest() > room {
            return None;
        }
        let fits = |bytes: &u64| *bytes <= room;
        let drawn = (0..DRAWS_MAX).map(|_| self.draw(prng)).find(fits);
        Some(drawn.unwrap_or_else(|| self.fitting(room).draw(prng)))
    }

    /// The sizes that fit into `room` bytes, in their original proportions.
    fn fitting(&self, room: u64) -> Self {
        match self {
            Self::Range(min, _) => Self::Range(*min, room - room % (*min).max(1)),
            // A size with one percent or more has been drawn by now.
            other => other.clone(),
        }
    }

    /// The smallest possible size; positions are multiples of it.
    pub(super) fn smallest(&self) -> u64 {
        let smallest = match self {
            Self::Fixed(bytes) | Self::Range(bytes, _) => *bytes,
            Self::Split(sizes) => {
                let drawn = sizes.iter().filter(|(_, percent)| *percent > 0);
                drawn.map(|(bytes, _)| *bytes).min().unwrap_or(1)
            }
        };
        smallest.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn drawn(size: &BlockSize) -> BTreeMap<u64, u32> {
        let mut prng = Prng::new(3);
        let mut counts = BTreeMap::new();
        (0..100_000).for_each(|_| *counts.entry(size.draw(&mut prng)).or_default() += 1);
        counts
    }

    #[test]
    fn a_range_has_the_multiples_of_its_smaller_end() {
        let counts = drawn(&BlockSize::Range(4096, 16_384));
        assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [4096, 8192, 12_288, 16_384]);
        assert!(counts.values().all(|count| (24_000..26_000).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_larger_end_that_is_no_multiple_is_rarer() {
        let counts = drawn(&BlockSize::Range(4096, 18_432));
        let ends: Vec<u64> = counts.keys().copied().collect();
        assert_eq!(ends, [4096, 8192, 12_288, 16_384, 18_432]);
        assert!((10_500..11_700).contains(&counts[&18_432]), "{counts:?}");
        assert!((21_500..23_000).contains(&counts[&16_384]), "{counts:?}");
    }

    #[test]
    fn a_split_keeps_its_percentages() {
        let counts = drawn(&BlockSize::Split(vec![(512, 10), (4096, 0), (65_536, 90)]));
        assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [512, 65_536]);
        assert!((9_500..10_500).contains(&counts[&512]), "{counts:?}");
    }

    #[test]
    fn sizes_are_drawn_until_they_fit() {
        let split = BlockSize::Split(vec![(4096, 50), (16_384, 50)]);
        let mut prng = Prng::new(3);
        assert!((0..100).all(|_| split.draw_within(16_383, &mut prng) == Some(4096)));
        assert_eq!(split.draw_within(4095, &mut prng), None);
        // One in a thousand million fits.
        let range = BlockSize::Range(1, 1 << 30);
        assert_eq!(range.draw_within(1, &mut prng), Some(1));
        assert!((0..100).all(|_| range.draw_within(3, &mut prng).is_some_and(|it| it <= 3)));
        let blocks = Blocks { trim: split, ..Blocks::fixed(8192) };
        assert_eq!(blocks.smallest(), 4096);
    }
}
