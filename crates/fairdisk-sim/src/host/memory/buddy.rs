//! Free blocks of 2^order frames: split when they are too large for what is asked for, and joined
//! with their neighbour, the buddy, as soon as both are free (spec: memory, 1.2).
//!
//! Blocks are taken from the heads of the lists, and the lower half of a split block is used first.
//! So single frames come out of a large block in ascending order.

use super::frames::{End, Frames, List, Place};

/// Orders of blocks: up to 1024 frames.
pub(super) const ORDERS: usize = 11;
const ORDER_MAX: u8 = ORDERS as u8 - 1;

#[derive(Debug)]
pub(super) struct Buddies {
    lists: [List; ORDERS],
    /// Frames in free blocks.
    frames: u64,
    /// Whether a block that may soon join a larger one goes to the tail of its list.
    kept: bool,
}

impl Buddies {
    /// All frames free, in blocks as large as fit, returned in ascending order.
    pub(super) fn new(frames: &mut Frames, kept: bool) -> Self {
        let mut this = Self { lists: [List::EMPTY; ORDERS], frames: 0, kept };
        let end = frames.len();
        let mut at = 0;
        while at < end {
            let fits = (end - at).ilog2().min(u32::from(ORDER_MAX));
            let order = fits.min(at.trailing_zeros()) as u8;
            this.give(frames, at, order);
            at += 1 << order;
        }
        this
    }

    /// Frames in free blocks.
    pub(super) const fn frames(&self) -> u64 {
        self.frames
    }

    /// The number of free blocks of each order.
    pub(super) fn blocks(&self) -> [u32; ORDERS] {
        self.lists.map(|list| list.len())
    }

    /// The mean order of the block that a free frame is in, in hundredths.
    pub(super) fn mean_order_hundredths(&self) -> u64 {
        let frames = |order: usize| u64::from(self.lists[order].len()) << order;
        let orders: u64 = (0..ORDERS).map(|order| frames(order) * order as u64).sum();
        orders * 100 / self.frames.max(1)
    }

    /// Takes a block of 2^order frames. Returns its first frame.
    pub(super) fn take(&mut self, frames: &mut Frames, order: u8) -> Option<u32> {
        let found = (order..=ORDER_MAX).find(|at| !self.lists[usize::from(*at)].is_empty())?;
        let at = frames.pop(&mut self.lists[usize::from(found)], End::Head)?;
        frames[at].place = Place::InBlock;
        self.frames -= 1 << order;
        for half in (order..found).rev() {
            self.push(frames, End::Head, at + (1 << half), half);
        }
        Some(at)
    }

    /// Takes one frame that is free.
    pub(super) fn take_frame(&mut self, frames: &mut Frames, wanted: u32) {
        let first = |order: u8| wanted >> order << order;
        let is_block = |order: &u8| {
            let frame = &frames[first(*order)];
            frame.place == Place::Block && frame.order_or_type == *order
        };
        let order = (0..=ORDER_MAX).find(is_block);
        let order = order.unwrap_or_else(|| panic!("frame {wanted} is not free"));
        self.unlink(frames, first(order), order);
        self.frames -= 1;
        for half in (0..order).rev() {
            // The half without the wanted frame stays free.
            self.push(frames, End::Head, first(half) ^ (1 << half), half);
        }
    }

    /// Returns a block of 2^order frames.
    pub(super) fn give(&mut self, frames: &mut Frames, at: u32, order: u8) {
        self.frames += 1 << order;
        let (mut at, mut order) = (at, order);
        while order < ORDER_MAX && Self::is_free(frames, at ^ (1 << order), order) {
            self.unlink(frames, at ^ (1 << order), order);
            at &= !(1 << order);
            order += 1;
        }
        let end = match self.kept && Self::joins_soon(frames, at, order) {
            true => End::Tail,
            false => End::Head,
        };
        self.push(frames, end, at, order);
    }

    /// Whether a block that `at` may become part of has a free buddy.
    fn joins_soon(frames: &Frames, at: u32, order: u8) -> bool {
        let larger = at & !(1 << order);
        order + 2 <= ORDER_MAX && Self::is_free(frames, larger ^ (2 << order), order + 1)
    }

    fn is_free(frames: &Frames, at: u32, order: u8) -> bool {
        at < frames.len() && {
            let frame = &frames[at];
            frame.place == Place::Block && frame.order_or_type == order
        }
    }

    fn push(&mut self, frames: &mut Frames, end: End, at: u32, order: u8) {
        (frames[at].place, frames[at].order_or_type) = (Place::Block, order);
        frames.push(&mut self.lists[usize::from(order)], end, at);
    }

    fn unlink(&mut self, frames: &mut Frames, at: u32, order: u8) {
        frames.remove(&mut self.lists[usize::from(order)], at);
        frames[at].place = Place::InBlock;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::Prng;

    fn new(frames: u32, kept: bool) -> (Frames, Buddies) {
        let mut frames = Frames::new(frames);
        let buddies = Buddies::new(&mut frames, kept);
        (frames, buddies)
    }

    fn take(frames: &mut Frames, buddies: &mut Buddies, order: u8) -> Option<u32> {
        let at = buddies.take(frames, order)?;
        frames[at].place = Place::Fixed;
        Some(at)
    }

    #[test]
    fn single_frames_come_out_of_a_block_in_ascending_order() {
        let (mut frames, mut buddies) = new(1024, false);
        assert_eq!(buddies.blocks()[10], 1);
        let all: Vec<_> = (0..1024).map_while(|_| take(&mut frames, &mut buddies, 0)).collect();
        assert!(all.into_iter().eq(0..1024));
        assert_eq!(take(&mut frames, &mut buddies, 0), None);
    }

    #[test]
    fn memory_is_cut_into_blocks_as_large_as_fit() {
        let (_, buddies) = new(64_640, false);
        // 63 of 1024 frames, and 128.
        assert_eq!(buddies.blocks(), [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 63]);
        assert_eq!(buddies.frames(), 64_640);
    }

    #[test]
    fn the_upper_half_of_a_split_block_stays_free() {
        let (mut frames, mut buddies) = new(16, false);
        assert_eq!(take(&mut frames, &mut buddies, 1), Some(0));
        assert_eq!(buddies.blocks()[..5], [0, 1, 1, 1, 0]);
        assert_eq!(take(&mut frames, &mut buddies, 2), Some(4));
        assert_eq!(take(&mut frames, &mut buddies, 3), Some(8));
        assert_eq!(take(&mut frames, &mut buddies, 2), None);
        buddies.give(&mut frames, 0, 1);
        assert_eq!(buddies.blocks()[..5], [0, 0, 1, 0, 0], "joined");
    }

    #[test]
    fn the_block_returned_last_is_taken_first_unless_it_may_soon_join_another() {
        for (kept, expected) in [(false, 1), (true, 7)] {
            let (mut frames, mut buddies) = new(8, kept);
            while take(&mut frames, &mut buddies, 0).is_some() {}
            // 7 has nothing free beside it. 1 has the free pair 2 and 3 beside its own pair.
            for at in [2, 3, 7, 1] {
                buddies.give(&mut frames, at, 0);
            }
            assert_eq!(take(&mut frames, &mut buddies, 0), Some(expected), "kept: {kept}");
        }
    }

    #[test]
    fn a_given_frame_can_be_taken() {
        let (mut frames, mut buddies) = new(16, false);
        buddies.take_frame(&mut frames, 5);
        assert_eq!(buddies.blocks()[..5], [1, 1, 1, 1, 0]);
        frames[5].place = Place::Fixed;
        let rest: Vec<_> = (0..16).map_while(|_| take(&mut frames, &mut buddies, 0)).collect();
        assert_eq!(rest, [4, 6, 7, 0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15]);
    }

    #[test]
    fn the_mean_order_is_that_of_frames_not_of_blocks() {
        let (mut frames, mut buddies) = new(1024, false);
        assert_eq!(buddies.mean_order_hundredths(), 1000);
        take(&mut frames, &mut buddies, 9);
        assert_eq!(buddies.mean_order_hundredths(), 900);
        take(&mut frames, &mut buddies, 0);
        let orders: u64 = (0..9).map(|order| order << order).sum();
        assert_eq!(buddies.mean_order_hundredths(), orders * 100 / 511);
    }

    /// Blocks against a set of free frames: what is taken was free and aligned, no two free blocks
    /// that are buddies are left apart, and all of memory comes together again.
    #[test]
    fn blocks_agree_with_a_set_of_free_frames() {
        for (seed, kept) in (0..20).flat_map(|seed| [(seed, false), (seed, true)]) {
            let pages = 300 + seed as u32 * 37;
            let (mut frames, mut buddies) = new(pages, kept);
            let whole = buddies.blocks();
            let (mut prng, mut taken) = (Prng::new(seed), Vec::<(u32, u8)>::new());
            let mut free = vec![true; pages as usize];
            for _ in 0..2_000 {
                let order = prng.below(5) as u8;
                if prng.chance(1, 2) {
                    let Some(at) = take(&mut frames, &mut buddies, order) else { continue };
                    assert_eq!(at & ((1 << order) - 1), 0);
                    for frame in at..at + (1 << order) {
                        assert!(std::mem::replace(&mut free[frame as usize], false));
                    }
                    taken.push((at, order));
                } else if !taken.is_empty() {
                    let (at, order) = taken.swap_remove(prng.below(taken.len() as u64) as usize);
                    buddies.give(&mut frames, at, order);
                    free[at as usize..at as usize + (1 << order)].fill(true);
                }
                let count = free.iter().filter(|is_free| **is_free).count();
                assert_eq!(buddies.frames(), count as u64);
                let blocks = (0..).zip(buddies.blocks());
                let in_blocks: u32 =
                    blocks.map(|(order, blocks): (u32, u32)| blocks << order).sum();
                assert_eq!(in_blocks, count as u32);
            }
            for (at, order) in taken {
                buddies.give(&mut frames, at, order);
            }
            assert_eq!(buddies.blocks(), whole);
        }
    }
}
