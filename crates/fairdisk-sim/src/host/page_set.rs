//! A set of pages of a file: a bitmap, above it a bitmap of its non-empty words, and so on. The
//! time to find the next page does not depend on how far away it is.

#[derive(Debug, Default)]
pub(crate) struct PageSet {
    /// A set bit stands for a page of the set, and on higher levels for a non-empty word.
    /// Zero-filled memory costs nothing until it is written to.
    levels: Vec<Vec<u64>>,
}

const WORD: u64 = u64::BITS as u64;

impl PageSet {
    /// An empty set for a file of `pages` pages.
    pub(crate) fn new(pages: u64) -> Self {
        let mut levels = Vec::new();
        let mut bits = pages;
        while levels.is_empty() || bits > 1 {
            bits = bits.div_ceil(WORD);
            levels.push(vec![0; bits as usize]);
        }
        Self { levels }
    }

    pub(crate) fn contains(&self, page: u64) -> bool {
        let word = self.levels.first().and_then(|words| words.get((page / WORD) as usize));
        word.is_some_and(|word| word >> (page % WORD) & 1 == 1)
    }

    /// Adds a page. Returns whether it is new.
    pub(crate) fn insert(&mut self, page: u64) -> bool {
        let mut at = page;
        for (number, level) in self.levels.iter_mut().enumerate() {
            let word = &mut level[(at / WORD) as usize];
            let bit = 1 << (at % WORD);
            if *word & bit != 0 {
                return number > 0;
            }
            *word |= bit;
            at /= WORD;
        }
        true
    }

    /// Removes a page. Returns whether it was in the set.
    pub(crate) fn remove(&mut self, page: u64) -> bool {
        if !self.contains(page) {
            return false;
        }
        let mut at = page;
        for level in &mut self.levels {
            let word = &mut level[(at / WORD) as usize];
            *word &= !(1 << (at % WORD));
            if *word != 0 {
                break;
            }
            at /= WORD;
        }
        true
    }

    /// The first page of the set at or after `from`.
    pub(crate) fn next(&self, from: u64) -> Option<u64> {
        let mut at = from;
        for (number, level) in self.levels.iter().enumerate() {
            let word = at / WORD;
            let bits = level.get(word as usize)? & (u64::MAX << (at % WORD));
            if bits != 0 {
                let found = word * WORD + u64::from(bits.trailing_zeros());
                return Some(self.first_under(number, found));
            }
            at = word + 1;
        }
        None
    }

    /// The first page below bit `at` of `level`.
    fn first_under(&self, level: usize, mut at: u64) -> u64 {
        for level in self.levels[..level].iter().rev() {
            at = at * WORD + u64::from(level[at as usize].trailing_zeros());
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::Prng;
    use std::collections::BTreeSet;

    #[test]
    fn agrees_with_a_sorted_set() {
        for pages in [1, 63, 64, 65, 4096, 4097, 300_000] {
            let (mut set, mut sorted) = (PageSet::new(pages), BTreeSet::new());
            let mut prng = Prng::new(pages);
            for _ in 0..5_000 {
                let page = prng.below(pages);
                match prng.below(3) {
                    0 => assert_eq!(set.insert(page), sorted.insert(page)),
                    1 => assert_eq!(set.remove(page), sorted.remove(&page)),
                    _ => assert_eq!(set.next(page), sorted.range(page..).next().copied()),
                }
                assert_eq!(set.contains(page), sorted.contains(&page));
            }
            assert_eq!(set.next(pages), None);
        }
        assert_eq!(PageSet::new(0).next(0), None);
        assert!(!PageSet::default().contains(7));
    }
}
