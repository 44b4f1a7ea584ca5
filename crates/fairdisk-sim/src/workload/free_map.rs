//! Which blocks have not been visited yet, when requests differ in size: a bitmap with a bitmap of
//! its words on top, and so on, so that finding the next free block does not depend on how few are
//! left.

#[derive(Debug)]
pub(super) struct FreeMap {
    blocks: u64,
    /// A set bit is a free block, or on higher levels a word with one below.
    levels: Vec<Vec<u64>>,
}

const WORD: u64 = u64::BITS as u64;

impl FreeMap {
    /// `blocks` free blocks.
    pub(super) fn new(blocks: u64) -> Self {
        let mut levels = Vec::new();
        let mut bits = blocks.max(1);
        loop {
            let words = bits.div_ceil(WORD);
            levels.push(vec![0; words as usize]);
            if words == 1 {
                break;
            }
            bits = words;
        }
        let mut map = Self { blocks, levels };
        map.free_all();
        map
    }

    /// Every block is free again.
    pub(super) fn free_all(&mut self) {
        let mut bits = self.blocks;
        for level in &mut self.levels {
            level.fill(u64::MAX);
            if !bits.is_multiple_of(WORD) {
                let last = level.len() - 1;
                level[last] = (1 << (bits % WORD)) - 1;
            }
            bits = bits.div_ceil(WORD);
        }
    }

    /// Takes up to `count` free blocks in a row, the first at `from` or the next after it, going on
    /// from the start at the end. Their first and number; `None` when no block is free.
    pub(super) fn take(&mut self, from: u64, count: u64) -> Option<(u64, u64)> {
        let first = self.next_free(from).or_else(|| self.next_free(0))?;
        let mut taken = 0;
        while taken < count.max(1) && self.is_free(first + taken) {
            self.clear(first + taken);
            taken += 1;
        }
        Some((first, taken))
    }

    /// Whether any block is free.
    pub(super) fn has_free(&self) -> bool {
        self.levels.last().is_some_and(|top| top[0] != 0)
    }

    fn is_free(&self, block: u64) -> bool {
        block < self.blocks && self.levels[0][(block / WORD) as usize] >> (block % WORD) & 1 == 1
    }

    fn clear(&mut self, block: u64) {
        let mut at = block;
        for level in &mut self.levels {
            let word = &mut level[(at / WORD) as usize];
            *word &= !(1 << (at % WORD));
            if *word != 0 {
                return;
            }
            at /= WORD;
        }
    }

    fn next_free(&self, from: u64) -> Option<u64> {
        let mut at = from;
        let mut level = 0;
        loop {
            let word = at / WORD;
            let bits = self.levels.get(level)?.get(word as usize).copied().unwrap_or(0);
            let bits = bits & (u64::MAX << (at % WORD));
            if bits != 0 {
                return Some(self.down(level, word * WORD + u64::from(bits.trailing_zeros())));
            }
            level += 1;
            at = word + 1;
        }
    }

    /// The first free block under bit `at` of `level`.
    fn down(&self, level: usize, mut at: u64) -> u64 {
        for level in (0..level).rev() {
            at = at * WORD + u64::from(self.levels[level][at as usize].trailing_zeros());
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
                while let Some((first, count)) = map.take(prng.below(blocks), prng.between(1, 9)) {
                    for block in first..first + count {
                        assert!(!std::mem::replace(&mut seen[block as usize], true), "{block}");
                    }
                }
                assert!(seen.iter().all(|seen| *seen) && !map.has_free());
                map.free_all();
                assert!(map.has_free());
            }
        }
    }
}
