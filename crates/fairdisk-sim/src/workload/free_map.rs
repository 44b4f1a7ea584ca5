//! The blocks that have not been visited yet: a bitmap, above it a bitmap of its full words, and so
//! on. The time to find the next free block does not depend on how few are left.

#[derive(Debug)]
pub(super) struct FreeMap {
    blocks: u64,
    /// A set bit stands for a taken block, and on higher levels for a word without a free block.
    /// Zero-filled memory costs nothing until it is written to.
    levels: Vec<Vec<u64>>,
}

const WORD: u64 = u64::BITS as u64;

impl FreeMap {
    /// A map of `blocks` free blocks.
    pub(super) fn new(blocks: u64) -> Self {
        let mut levels = Vec::new();
        let mut bits = blocks;
        while levels.is_empty() || bits > 1 {
            let words = bits.div_ceil(WORD).max(1);
            levels.push(vec![0; words as usize]);
            bits = words;
        }
        let mut map = Self { blocks, levels };
        map.end_levels();
        map
    }

    /// Frees every block.
    pub(super) fn free_all(&mut self) {
        self.levels.iter_mut().for_each(|level| level.fill(0));
        self.end_levels();
    }

    /// Marks the bits after the last block of each level as taken.
    fn end_levels(&mut self) {
        let mut bits = self.blocks;
        for level in &mut self.levels {
            let words = level.len() as u64;
            if bits < words * WORD {
                level[words as usize - 1] = u64::MAX << (bits % WORD);
            }
            bits = words;
        }
    }

    /// The first free block at or after `from`, wrapping around at the end.
    pub(super) fn next_free(&self, from: u64) -> Option<u64> {
        self.free_behind(from).or_else(|| self.free_behind(0))
    }

    /// Takes up to `count` consecutive free blocks from `first` on. Returns how many were taken.
    pub(super) fn take(&mut self, first: u64, count: u64) -> u64 {
        let mut taken = 0;
        while taken < count && self.is_free(first + taken) {
            self.mark(first + taken);
            taken += 1;
        }
        taken
    }

    fn is_free(&self, block: u64) -> bool {
        let word = self.levels[0].get((block / WORD) as usize);
        word.is_some_and(|word| word >> (block % WORD) & 1 == 0)
    }

    fn mark(&mut self, block: u64) {
        let mut at = block;
        for level in &mut self.levels {
            let word = &mut level[(at / WORD) as usize];
            *word |= 1 << (at % WORD);
            if *word != u64::MAX {
                return;
            }
            at /= WORD;
        }
    }

    fn free_behind(&self, from: u64) -> Option<u64> {
        let mut at = from;
        let mut level = 0;
        loop {
            let word = at / WORD;
            let taken = self.levels.get(level)?.get(word as usize).copied().unwrap_or(u64::MAX);
            let free = !taken & (u64::MAX << (at % WORD));
            if free != 0 {
                return Some(self.down(level, word * WORD + u64::from(free.trailing_zeros())));
            }
            level += 1;
            at = word + 1;
        }
    }

    /// The first free block below bit `at` of `level`.
    fn down(&self, level: usize, mut at: u64) -> u64 {
        for level in (0..level).rev() {
            at = at * WORD + u64::from((!self.levels[level][at as usize]).trailing_zeros());
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::Prng;

    #[test]
    fn takes_every_block_once_in_pieces_that_do_not_overlap() {
        for blocks in [1, 63, 64, 65, 1000, 4096, 300_000] {
            let mut map = FreeMap::new(blocks);
            let mut prng = Prng::new(blocks);
            for _ in 0..2 {
                let mut seen = vec![false; blocks as usize];
                while let Some(first) = map.next_free(prng.below(blocks)) {
                    let taken = map.take(first, prng.between(1, 9));
                    assert!(taken > 0);
                    for block in first..first + taken {
                        assert!(!std::mem::replace(&mut seen[block as usize], true), "{block}");
                    }
                }
                assert!(seen.iter().all(|seen| *seen));
                map.free_all();
            }
        }
        assert_eq!(FreeMap::new(0).next_free(0), None);
    }
}
