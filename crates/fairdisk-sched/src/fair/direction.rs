//! The direction of a group: whether it mostly reads or mostly writes.

use fairdisk_core::Op;

/// The recent requests of a group that tell its direction, and how many of them may be of the
/// other.
const RECENT: u32 = u64::BITS;
const OTHERS_MOST: u32 = RECENT / 16;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Direction {
    #[default]
    Reads,
    Writes,
}

/// Whether a group reads or writes: a bit for each recent request, set for a write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recent(u64);

impl Recent {
    /// A group that was not seen yet counts as one that does both.
    pub(super) const NONE: Self = Self(u64::MAX / 3);
    /// A group that only reads, and one that only writes.
    #[cfg(test)]
    pub(super) const READS: Self = Self(0);
    #[cfg(test)]
    pub(super) const WRITES: Self = Self(u64::MAX);

    pub(super) const fn add(&mut self, op: Op) {
        self.0 = self.0 << 1 | op.is_write() as u64;
    }

    /// What the group mostly does; `None` if it does both.
    pub(super) const fn direction(self) -> Option<Direction> {
        match self.0.count_ones() {
            0..=OTHERS_MOST => Some(Direction::Reads),
            writes if writes >= RECENT - OTHERS_MOST => Some(Direction::Writes),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_both_has_no_direction() {
        assert_eq!(Recent::NONE.direction(), None);
        let direction = |writes: u32| {
            let mut recent = Recent::NONE;
            (0..RECENT).for_each(|at| recent.add(if at < writes { Op::Write } else { Op::Read }));
            recent.direction()
        };
        assert_eq!([0, 4, 5, 59, 60, 64].map(direction), {
            let [reads, writes] = [Direction::Reads, Direction::Writes].map(Some);
            [reads, reads, None, None, writes, writes]
        });
    }
}
