//! The write-back cache: writes that were acknowledged and are not yet on the medium.
//!
//! Its capacity is counted in places, not writes: data that continues other data shares a place
//! with it, as in a segment. Neighbouring writes are joined once their data has arrived, so that a
//! stream of small writes reaches the medium in few passes.

use super::command::Command;
use super::geometry::Extent;
use super::spec::{FlushPolicy, Order, WriteCacheParams};
use fairdisk_core::GroupId;
use fairdisk_core::request::SECTOR_BYTES;

/// A write in the cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dirty {
    /// The first sector.
    pub(super) start: u64,
    /// The sector after the last.
    pub(super) end: u64,
    /// The location on the medium.
    pub(super) extent: Extent,
    /// When all the data has arrived in the cache.
    pub(super) ready: u64,
    /// Sequence number, given when the write is accepted.
    pub(super) number: u64,
    /// The group that wrote the data.
    pub(super) group: GroupId,
}

impl Dirty {
    const fn overlaps(&self, start: u64, end: u64) -> bool {
        self.start < end && start < self.end
    }

    const fn holds(&self, start: u64, end: u64) -> bool {
        self.start <= start && end <= self.end
    }

    const fn touches(&self, start: u64, end: u64) -> bool {
        self.end == start || self.start == end
    }

    const fn sectors(&self) -> u64 {
        self.end - self.start
    }
}

/// The cached writes that a command waits for: those up to a sequence number, everywhere or only
/// where they overlap it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Barrier {
    /// Sequence number of the last write to wait for.
    up_to: u64,
    /// Whether to wait for writes that do not overlap the command, too.
    everywhere: bool,
}

impl Barrier {
    /// Waits for every write in the cache.
    pub(super) const EVERYTHING: Self = Self { up_to: u64::MAX, everywhere: true };

    /// Whether a command for the sectors `start..end` waits for `dirty`.
    pub(super) const fn needs(self, start: u64, end: u64, dirty: &Dirty) -> bool {
        dirty.number <= self.up_to && (self.everywhere || dirty.overlaps(start, end))
    }
}

/// The write cache; disabled if its depth is zero.
#[derive(Clone, Debug)]
pub(super) struct WriteCache {
    depth: usize,
    sectors_max: u64,
    /// The longest write to make by joining neighbours, as the time it passes under the head.
    rotation_ns: u64,
    order: Order,
    reads_wait_for_dirty: bool,
    flush_drains: bool,
    /// Writes waiting to be destaged, sorted by sector; they do not overlap.
    waiting: Vec<Dirty>,
    /// The write being destaged, which still occupies its place.
    destaging: Option<Dirty>,
    /// Total size of all cached writes, in sectors.
    sectors: u64,
    accepted: u64,
}

impl WriteCache {
    /// An empty cache for a disk with a rotation time of `rotation_ns`.
    pub(super) fn new(params: Option<WriteCacheParams>, rotation_ns: u64) -> Self {
        let depth = params.map_or(0, |p| p.depth as usize);
        Self {
            depth,
            sectors_max: params.map_or(0, |p| u64::from(p.kib) * 1024 / SECTOR_BYTES),
            rotation_ns,
            order: params.map_or(Order::Fifo, |p| p.order),
            reads_wait_for_dirty: params.is_some_and(|p| p.reads_wait_for_dirty),
            flush_drains: params.is_some_and(|p| p.flush == FlushPolicy::Drain),
            waiting: Vec::with_capacity(depth),
            destaging: None,
            sectors: 0,
            accepted: 0,
        }
    }

    /// Whether writes go through the cache.
    pub(super) const fn enabled(&self) -> bool {
        self.depth > 0
    }

    /// Whether any write waits to be destaged.
    #[inline]
    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The order in which writes are destaged.
    pub(super) const fn order(&self) -> Order {
        self.order
    }

    /// Whether the cache holds all of these sectors.
    #[inline]
    pub(super) fn holds(&self, start: u64, end: u64) -> bool {
        self.all().any(|dirty| dirty.holds(start, end))
    }

    /// Accepts a write whose data is complete at `ready`, if there is room; returns whether it did.
    /// The write is joined with the waiting writes it overlaps. The result belongs to the latest
    /// writer but keeps the number of the oldest write, so that nothing that waits for that one is
    /// released early.
    pub(super) fn take(
        &mut self,
        command: &Command,
        now: u64,
        ready: u64,
        extent_of: impl Fn(u64, u64) -> Extent,
    ) -> bool {
        let &Command { start, end, extent, group, .. } = command;
        let from = self.waiting.partition_point(|dirty| dirty.end <= start);
        let to = self.waiting.partition_point(|dirty| dirty.start < end);
        let mut dirty = Dirty { start, end, extent, ready, number: self.accepted + 1, group };
        let mut held = 0;
        for old in &self.waiting[from..to] {
            dirty.start = dirty.start.min(old.start);
            dirty.end = dirty.end.max(old.end);
            dirty.ready = dirty.ready.max(old.ready);
            dirty.number = dirty.number.min(old.number);
            held += old.sectors();
        }
        let grows = dirty.sectors() - held;
        // A write larger than the whole cache passes through it alone.
        if self.sectors > 0 && self.sectors + grows > self.sectors_max {
            return false;
        }
        let goes_on = self.all().any(|dirty| dirty.touches(start, end));
        if held > 0 {
            dirty.extent = extent_of(dirty.start, dirty.end);
        } else if !goes_on && self.places() >= self.depth {
            return false;
        }
        self.accepted += 1;
        self.sectors += grows;
        self.waiting.splice(from..to, [dirty]);
        if goes_on {
            self.gather(now);
        }
        true
    }

    /// Places in use: one for each contiguous range of sectors.
    fn places(&self) -> usize {
        let gaps = self.waiting.windows(2).filter(|pair| pair[0].end != pair[1].start).count();
        let touched =
            |dirty: &Dirty| self.waiting.iter().any(|one| one.touches(dirty.start, dirty.end));
        let alone = self.destaging.is_some_and(|dirty| !touched(&dirty));
        usize::from(self.has_waiting()) + gaps + usize::from(alone)
    }

    /// Joins neighbouring writes whose data has arrived, up to one rotation at a time: a longer one
    /// would let a stream occupy the arm and delay commands that wait for the stream's oldest
    /// write. A disk knows no groups, so a joined write counts for the group that wrote its first
    /// piece, or a piece larger than all before it.
    pub(super) fn gather(&mut self, now: u64) {
        let longest = self.rotation_ns;
        self.waiting.dedup_by(|next, run| {
            let joins = run.end == next.start
                && run.ready.max(next.ready) <= now
                && next.extent.to - run.extent.from <= longest;
            if joins {
                if next.sectors() > run.sectors() {
                    run.group = next.group;
                }
                run.end = next.end;
                run.extent = Extent { to: next.extent.to, last: next.extent.last, ..run.extent };
                run.number = run.number.min(next.number);
            }
            joins
        });
    }

    /// The barrier of a read from the medium.
    pub(super) const fn read_barrier(&self) -> Barrier {
        Barrier { up_to: self.accepted, everywhere: self.reads_wait_for_dirty }
    }

    /// The barrier of a write that bypasses the cache.
    pub(super) const fn write_barrier(&self) -> Barrier {
        Barrier { up_to: self.accepted, everywhere: false }
    }

    /// The barrier of a flush.
    pub(super) const fn flush_barrier(&self) -> Barrier {
        let up_to = if self.flush_drains { self.accepted } else { 0 };
        Barrier { up_to, everywhere: true }
    }

    /// Whether a command for the sectors `start..end` still has to wait behind `barrier`.
    #[inline]
    pub(super) fn blocks(&self, barrier: Barrier, start: u64, end: u64) -> bool {
        self.all().any(|dirty| barrier.needs(start, end, dirty))
    }

    /// The writes waiting to be destaged, sorted by sector.
    pub(super) fn waiting(&self) -> &[Dirty] {
        &self.waiting
    }

    /// Starts to destage the waiting write number `index`.
    pub(super) fn start_destage(&mut self, index: usize) -> Dirty {
        let dirty = self.waiting.remove(index);
        assert!(self.destaging.replace(dirty).is_none(), "one write at a time");
        dirty
    }

    /// Removes the write being destaged, which has reached the medium.
    pub(super) fn finish_destage(&mut self) {
        let dirty = self.destaging.take().expect("a write was on its way");
        self.sectors -= dirty.sectors();
    }

    fn all(&self) -> impl Iterator<Item = &Dirty> {
        self.waiting.iter().chain(&self.destaging)
    }
}
