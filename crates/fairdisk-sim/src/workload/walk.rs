//! A task's walk over one file: the position of each I/O, until one does not fit.

use super::blocks::BlockSize;
use super::direction::PerOp;
use super::free_map::FreeMap;
use super::order::{IoOrder, Step, Zone, ZoneLength};
use super::skew::{Ranks, Skew};
use fairdisk_core::{Op, Prng};
use std::sync::Arc;

/// The walk over one file. Positions are in bytes from the start of the used part of the file.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) file: u32,
    extent: Extent,
    /// The parts that it goes through one after the other, if it is not free to go anywhere.
    strides: Option<Strides>,
    /// The used part of the file, of which `extent` is a stride.
    whole: Extent,
    hole: i64,
    skipped: u64,
    interleaved: Option<u64>,
    /// Where the walk last began to go through the file, if it is interleaved.
    lap: u64,
    /// Whether the walk starts again once every block was visited.
    endless: bool,
    /// Whether an operation that reaches the end of the file continues at its start.
    wraps: bool,
    places: Places,
    /// Where positions fall, if not anywhere.
    zones: Zones,
    /// The range of the last I/O of each operation.
    last: PerOp<Stretch>,
    /// Whether there was no I/O since the walk started, or started over.
    is_fresh: bool,
    /// Whether an I/O did not fit, so that this pass has no more in this file.
    pub(super) ended: bool,
}

/// The used part of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// The offset in the file at which the used part starts, in bytes.
    pub(super) start: u64,
    /// The length of the used part, in bytes.
    pub(super) bytes: u64,
}

/// Parts of a file to which I/Os keep for a while, one behind the other; from the last one the task
/// goes back to the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strides {
    /// Bytes of I/O in each part, over all files of the task.
    pub io_bytes: u64,
    /// The length of a part in bytes.
    pub bytes: u64,
    /// The distance from the end of a part to the start of the next one, in bytes.
    pub skip: u64,
}

impl Strides {
    /// The part of the file that begins at `start`, or else the first one. The last one may go
    /// beyond the file.
    const fn part(self, start: u64, whole: Extent) -> Extent {
        let start = if start < whole.start + whole.bytes { start } else { whole.start };
        Extent { start, bytes: self.bytes }
    }
}

/// The range of an I/O.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    at: u64,
    end: u64,
}

/// How positions are drawn.
#[derive(Debug)]
enum Places {
    /// Positions are not drawn.
    None,
    /// With replacement.
    Anywhere,
    /// Each block once, in units of the operation that draws.
    Once(FreeMap),
    /// By rank, with the ranks spread over the file. Passes do not reset its generator.
    Ranked { ranks: Arc<Ranks>, shift: u64, prng: Prng },
}

/// The percentage of positions in each zone of a file, and where the zone ends in bytes.
#[derive(Debug)]
struct Zones(Box<[(u64, u64)]>);

/// Properties that all files of a task have in common.
#[derive(Debug)]
pub(super) struct Style {
    pub(super) order: IoOrder,
    /// The smallest I/O of any operation.
    pub(super) unit: u64,
    /// The smallest read or write.
    pub(super) rank_unit: u64,
    pub(super) endless: bool,
    /// Whether the task has a single file.
    pub(super) alone: bool,
    pub(super) strides: Option<Strides>,
    /// The last distribution computed, which files of equal size share.
    pub(super) ranks: Option<Arc<Ranks>>,
}

/// 2^64 times the golden ratio, as its two's complement: its multiples are far apart from each
/// other. As in fio, some ranks map to the same block and some blocks have no rank.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15_u64.wrapping_neg();

impl Walk {
    pub(super) fn new(
        file: u32,
        whole: Extent,
        style: &mut Style,
        zones: &[Zone],
        seed: u64,
    ) -> Self {
        let strides = style.strides;
        let extent = strides.map_or(whole, |strides| strides.part(whole.start, whole));
        Self {
            file,
            extent,
            strides,
            whole,
            hole: style.order.hole(),
            skipped: style.order.skipped(),
            interleaved: style.order.interleaved(),
            lap: 0,
            endless: style.endless || strides.is_some(),
            wraps: style.endless && style.alone || strides.is_some(),
            places: Places::new(extent.bytes, style, seed),
            zones: Zones::new(extent.bytes, zones),
            last: PerOp::all(Stretch::default()),
            is_fresh: true,
            ended: false,
        }
    }

    /// Whether the part of the file is a multiple of so many bytes.
    pub(super) const fn is_whole(&self, bytes: u64) -> bool {
        self.whole.bytes.is_multiple_of(bytes)
    }

    /// Whether the I/O just drawn is the first since the walk started, or started over. Clears the
    /// flag.
    pub(super) const fn take_fresh(&mut self) -> bool {
        std::mem::replace(&mut self.is_fresh, false)
    }

    /// Starts another pass.
    pub(super) fn restart(&mut self) {
        if let Some(strides) = self.strides {
            self.extent = strides.part(self.whole.start, self.whole);
        }
        self.start_over();
        self.is_fresh = true;
    }

    /// Goes on to the next of its parts, if there are any.
    pub(super) fn next_part(&mut self) {
        let Some(strides) = self.strides else { return };
        let next = self.extent.start.saturating_add(strides.bytes).saturating_add(strides.skip);
        self.extent = strides.part(next, self.whole);
        self.start_over();
    }

    /// Goes through the present part of the file anew.
    fn start_over(&mut self) {
        self.last = PerOp::all(Stretch::default());
        self.lap = 0;
        self.ended = false;
        self.is_fresh |= self.strides.is_none();
        self.places.free_all();
    }

    /// The offset in the file and the length of the next I/O; `None` if it does not fit any more.
    /// Drawn positions are multiples of `align`.
    pub(super) fn step(
        &mut self,
        step: Step,
        op: Op,
        (size, align): (&BlockSize, u64),
        prng: &mut Prng,
        sizes: &mut Prng,
    ) -> Option<(u64, u64)> {
        let at = match step {
            Step::Draw => self.draw(align, prng)?,
            Step::Follow => match self.follow(op) {
                Some(at) => at,
                None => self.draw(align, prng)?,
            },
            Step::Stay => self.last.of(op).at,
        };
        let behind = self.whole.start + self.whole.bytes - self.extent.start;
        let room = self.extent.bytes.min(behind).checked_sub(at)?;
        let mut bytes = size.draw_within(room, sizes)?;
        // Only drawn blocks are marked as visited, not those that follow.
        if let (Step::Draw, Places::Once(map)) = (step, &mut self.places) {
            bytes = bytes.min(map.take(at / align, bytes.div_ceil(align)) * align);
        }
        *self.last.of_mut(op) = Stretch { at, end: at + bytes };
        Some((self.extent.start + at, bytes))
    }

    /// The position after the last I/O of `op`; `None` at the end of the file.
    fn follow(&mut self, op: Op) -> Option<u64> {
        let last = self.last.of_mut(op);
        if let Some(gap) = self.interleaved {
            let last = *last;
            return Some(self.interleave(last, gap));
        }
        if self.wraps && last.end >= self.extent.bytes {
            *last = Stretch::default();
            self.is_fresh |= self.strides.is_none();
        }
        let end = last.end;
        if end >= self.extent.bytes {
            return None;
        }
        match (self.hole, end) {
            (0, 0) => Some(0),
            (0, _) => Some(end.saturating_add(self.skipped)),
            _ => self.skip(end),
        }
    }

    /// The position at the gap's distance after the last I/O, or the start of the next lap.
    const fn interleave(&mut self, last: Stretch, gap: u64) -> u64 {
        let block = last.end - last.at;
        if block == 0 {
            return self.lap;
        }
        let next = last.end.saturating_add(gap);
        if next.saturating_add(block) <= self.extent.bytes {
            return next;
        }
        self.lap = (self.lap + block) % gap.saturating_add(block);
        self.lap
    }

    /// The position at the hole's distance after `end`, as in fio. A walk that leaves the file
    /// forwards continues at twice the offset, because the offset is added to itself; one that
    /// leaves it backwards continues a hole's distance before the end. With an offset, a backward
    /// walk starts there too.
    fn skip(&self, end: u64) -> Option<u64> {
        let hole = i128::from(self.hole);
        let (start, bytes) = (i128::from(self.extent.start), i128::from(self.extent.bytes));
        let from = match end {
            0 if hole < 0 && start > 0 => bytes - start,
            0 => return Some(0),
            end => i128::from(end),
        };
        let place = match from + hole {
            place if (0..start + bytes).contains(&place) => place,
            _ if hole > 0 => start,
            _ => bytes + hole,
        };
        u64::try_from(place).ok()
    }

    /// A random multiple of `align`; `None` if all blocks were visited or there is none.
    #[inline]
    fn draw(&mut self, align: u64, prng: &mut Prng) -> Option<u64> {
        let blocks = self.extent.bytes / align;
        if blocks == 0 {
            return None;
        }
        let block = match self.places {
            Places::Anywhere => {
                let (first, count) = self.zones.draw(blocks, align, prng);
                first + prng.below(count)
            }
            _ => self.draw_block(blocks, prng)?,
        };
        block.checked_mul(align)
    }

    /// A random block out of `blocks`.
    #[inline(never)]
    fn draw_block(&mut self, blocks: u64, prng: &mut Prng) -> Option<u64> {
        match &mut self.places {
            Places::None => None,
            Places::Anywhere => Some(prng.below(blocks)),
            Places::Ranked { ranks, shift, prng } => {
                let spread = ranks.draw(prng).wrapping_mul(SPREAD).wrapping_add(*shift);
                Some(spread % ranks.blocks())
            }
            Places::Once(map) => {
                let from = prng.below(blocks);
                match map.next_free(from) {
                    Some(block) => Some(block),
                    None if self.endless => {
                        self.start_over();
                        Some(prng.below(blocks))
                    }
                    None => None,
                }
            }
        }
    }
}

impl Zones {
    fn new(bytes: u64, zones: &[Zone]) -> Self {
        let mut end = 0_u64;
        let mut end_of = |zone: &Zone| {
            let length = match zone.length {
                ZoneLength::Percent(percent) => {
                    (u128::from(bytes) * u128::from(percent) / 100) as u64
                }
                ZoneLength::Bytes(length) => length,
            };
            end = bytes.min(end.saturating_add(length));
            (u64::from(zone.percent), end)
        };
        Self(zones.iter().map(&mut end_of).collect())
    }

    /// The first block of the zone for the next position, and how many it has; of one without a
    /// whole block, all blocks.
    #[inline]
    fn draw(&self, blocks: u64, align: u64, prng: &mut Prng) -> (u64, u64) {
        if self.0.is_empty() {
            return (0, blocks);
        }
        let (mut at, mut first) = (prng.below(100), 0);
        for (percent, end) in &self.0 {
            let next = end / align;
            if at < *percent {
                return if next > first { (first, next - first) } else { (0, blocks) };
            }
            at -= percent;
            first = next;
        }
        (0, blocks)
    }
}

impl Places {
    fn new(bytes: u64, style: &mut Style, seed: u64) -> Self {
        let Some(order) = style.order.random() else { return Self::None };
        // As in fio, an incomplete last block has a rank, although no I/O fits there.
        let blocks = bytes.div_ceil(style.rank_unit).max(1);
        if order.skew != Skew::Uniform {
            let known = style.ranks.take().filter(|ranks| ranks.blocks() == blocks);
            style.ranks = known.or_else(|| Ranks::new(order.skew, blocks).map(Arc::new));
        }
        match &style.ranks {
            Some(ranks) => {
                let mut prng = Prng::new(seed);
                Self::Ranked { ranks: Arc::clone(ranks), shift: prng.next_u64(), prng }
            }
            None if order.every_block_once => Self::Once(FreeMap::new(bytes / style.unit)),
            None => Self::Anywhere,
        }
    }

    fn free_all(&mut self) {
        if let Self::Once(map) = self {
            map.free_all();
        }
    }
}
