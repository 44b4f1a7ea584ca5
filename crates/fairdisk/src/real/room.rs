//! Whether the disk of a sparse file has room for what a run will write to it.
//!
//! A file at the pace of a modelled disk is made of holes, and takes up what is written. How much
//! that is depends on how far the model lets the tasks come; so where the file could outgrow its
//! disk, the same runs take place in the lab first, and what they write is counted.

use super::{Target, cells, setup};
use crate::failure::Failure;
use fairdisk_core::{Instant, Op, Request, SECTOR_BYTES, Span};
use fairdisk_lab::plan::Plan;
use fairdisk_lab::run::RUN_MAX;
use fairdisk_plane::TargetError;
use fairdisk_plane::file::TargetProblem;
use fairdisk_sim::World;
use std::sync::atomic::{AtomicBool, Ordering};

/// What file systems give space out in.
const BLOCK_BYTES: u64 = 4096;
const BLOCK_SECTORS: u64 = BLOCK_BYTES / SECTOR_BYTES;
/// How much of a run passes between looks at the stop flag.
const STOP_CHECK: Span = Span::from_s(1);

/// What a disk has room for of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// The bytes that are free, and those that the file has taken already.
    pub(super) bytes: u64,
    /// Whether a mark of Fairdisk's takes a block of them.
    pub(super) is_marked: bool,
}

/// Demands that what `plan` writes to a file that reaches to `sectors` fits the `room` there is.
/// Not, if somebody interrupts: then nothing runs.
///
/// # Errors
/// It does not.
pub(super) fn demand(
    plan: &Plan,
    target: &Target,
    sectors: u64,
    Room { bytes: room, is_marked }: Room,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let mark = if is_marked { BLOCK_BYTES } else { 0 };
    if sectors.saturating_mul(SECTOR_BYTES).saturating_add(mark) <= room {
        return Ok(());
    }
    let mut written = Written::new(sectors);
    for cell in cells(plan) {
        run(plan, cell, &mut written, stop)?;
    }
    let need = written.most_blocks * BLOCK_BYTES + mark;
    if need <= room || stop.load(Ordering::Relaxed) {
        return Ok(());
    }
    let error = TargetError::new(&target.path, TargetProblem::NoRoom { room, need });
    Err(Failure::BadInput(error.to_string()))
}

/// Lets a row take place in the lab, as it will on the file.
fn run(
    plan: &Plan,
    cell: (usize, usize),
    written: &mut Written,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let setup = setup(plan, cell)?;
    let mut world = World::new(setup.machine, setup.jbod);
    let end = Instant::ZERO + plan.rows[cell.1].duration.unwrap_or(RUN_MAX);
    let mut next = Instant::ZERO;
    while next < end && !world.machine().is_done() && !stop.load(Ordering::Relaxed) {
        next = (next + STOP_CHECK).min(end);
        world.run_watched(next, |request| written.note(request));
    }
    Ok(())
}

/// Which blocks of a file are no holes.
#[derive(Debug)]
struct Written {
    /// A bit each.
    blocks: Vec<u64>,
    now_blocks: u64,
    most_blocks: u64,
}

impl Written {
    fn new(sectors: u64) -> Self {
        let words = sectors.div_ceil(BLOCK_SECTORS).div_ceil(u64::from(u64::BITS));
        Self { blocks: vec![0; words as usize], now_blocks: 0, most_blocks: 0 }
    }

    fn note(&mut self, request: &Request) {
        let (start, end) = (request.start.0, request.start.0 + u64::from(request.sectors.0));
        match request.op {
            Op::Write | Op::WriteZeroes => {
                let touched = start / BLOCK_SECTORS..end.div_ceil(BLOCK_SECTORS);
                touched.for_each(|at| self.set(at, true));
                self.most_blocks = self.most_blocks.max(self.now_blocks);
            }
            // Of a block that is discarded in part nothing is given back.
            Op::Discard => {
                let inside = start.div_ceil(BLOCK_SECTORS)..end / BLOCK_SECTORS;
                inside.for_each(|at| self.set(at, false));
            }
            Op::Read | Op::Flush => {}
        }
    }

    fn set(&mut self, at: u64, is_full: bool) {
        let bits = u64::from(u64::BITS);
        let (word, bit) = (&mut self.blocks[(at / bits) as usize], 1 << (at % bits));
        match (*word & bit != 0, is_full) {
            (false, true) => self.now_blocks += 1,
            (true, false) => self.now_blocks -= 1,
            _ => return,
        }
        *word ^= bit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::{Flags, GroupId, IoPrio, Lba, RequestId, Sectors, TaskId};

    fn request(op: Op, start: u64, sectors: u32) -> Request {
        Request {
            id: RequestId(0),
            task: TaskId(0),
            group: GroupId::ROOT,
            op,
            start: Lba(start),
            sectors: Sectors(sectors),
            sync: true,
            flags: Flags::NONE,
            ioprio: IoPrio::UNSET,
            arrived: Instant::ZERO,
        }
    }

    #[test]
    fn what_is_written_twice_counts_once_and_what_is_discarded_no_more() {
        let mut written = Written::new(8 * 100);
        let mut note = |op, start, sectors| {
            written.note(&request(op, start, sectors));
            (written.now_blocks, written.most_blocks)
        };
        assert_eq!(note(Op::Write, 7, 2), (2, 2), "two blocks are touched");
        assert_eq!(note(Op::Write, 0, 16), (2, 2), "again");
        assert_eq!(note(Op::Read, 80, 8), (2, 2));
        assert_eq!(note(Op::Discard, 4, 12), (1, 2), "one of them whole");
        assert_eq!(note(Op::WriteZeroes, 792, 8), (2, 2), "the last");
    }
}
