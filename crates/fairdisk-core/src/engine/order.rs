//! A counting filter over the bios in flight: says quickly that a bio conflicts with none.

use crate::prng::mix;
use crate::request::{Bio, Op};
use alloc::boxed::Box;

const CELLS: usize = 1024;
/// 1 MiB: large enough that most bios touch one cell.
const CHUNK_SHIFT: u32 = 11;
/// A bio over more chunks than this counts as touching everything.
const CHUNKS_MAX: u64 = 8;

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    reads: u32,
    writes: u32,
}

#[derive(Debug)]
pub(super) struct OrderGuard {
    cells: Box<[Cell; CELLS]>,
    wide: Cell,
    writes: u32,
}

impl OrderGuard {
    pub(super) fn new() -> Self {
        Self { cells: Box::new([Cell::default(); CELLS]), wide: Cell::default(), writes: 0 }
    }

    pub(super) fn add(&mut self, bio: &Bio) {
        self.count(bio, 1);
    }

    pub(super) fn remove(&mut self, bio: &Bio) {
        self.count(bio, u32::MAX);
    }

    /// Whether another bio in flight may conflict with `bio`, which is counted itself.
    pub(super) fn may_conflict(&self, bio: &Bio) -> bool {
        match bio.op {
            Op::Flush => self.writes > 0,
            Op::Read if self.writes == 0 => false,
            op => {
                let own = u32::from(op.is_write());
                let others = |cell: &Cell| cell.writes > own || (op.is_write() && cell.reads > 0);
                let Some((first, last)) = chunks(bio) else { return true };
                self.wide.writes + self.wide.reads > 0
                    || (first..=last).any(|chunk| others(&self.cells[cell_of(chunk)]))
            }
        }
    }

    /// Adds `delta` (1, or -1 by wrapping) wherever `bio` counts.
    fn count(&mut self, bio: &Bio, delta: u32) {
        if bio.op == Op::Flush {
            return;
        }
        let write = bio.op.is_write();
        if write {
            self.writes = self.writes.wrapping_add(delta);
        }
        let Some((first, last)) = chunks(bio) else {
            bump(&mut self.wide, write, delta);
            return;
        };
        for chunk in first..=last {
            bump(&mut self.cells[cell_of(chunk)], write, delta);
        }
    }
}

const fn bump(cell: &mut Cell, write: bool, delta: u32) {
    let counter = if write { &mut cell.writes } else { &mut cell.reads };
    *counter = counter.wrapping_add(delta);
}

const fn chunks(bio: &Bio) -> Option<(u64, u64)> {
    let first = bio.start.0 >> CHUNK_SHIFT;
    let last = (bio.end().0 - 1) >> CHUNK_SHIFT;
    if last - first < CHUNKS_MAX { Some((first, last)) } else { None }
}

const fn cell_of(chunk: u64) -> usize {
    mix(chunk) as usize % CELLS
}
