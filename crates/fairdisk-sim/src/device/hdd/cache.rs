//! The write-back cache: writes that were acknowledged and are not on the medium yet.

use super::command::Command;
use super::geometry::Extent;
use super::spec::{FlushPolicy, Order, WriteCacheParams};
use fairdisk_core::GroupId;

/// A write in the cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dirty {
    /// First sector.
    pub(super) start: u64,
    /// The sector after the last.
    pub(super) end: u64,
    /// Where that is on the medium.
    pub(super) extent: Extent,
    /// When its data has arrived.
    pub(super) ready: u64,
    /// Writes are numbered as they are accepted.
    pub(super) number: u64,
    /// Who wrote it.
    pub(super) group: GroupId,
}

impl Dirty {
    const fn overlaps(&self, start: u64, end: u64) -> bool {
        self.start < end && start < self.end
    }

    const fn holds(&self, start: u64, end: u64) -> bool {
        self.start <= start && end <= self.end
    }
}

/// What a command waits for: writes up to a number, all of them or those that overlap it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Barrier {
    /// The last write that matters.
    up_to: u64,
    /// Whether writes elsewhere on the disk matter too.
    everywhere: bool,
}

impl Barrier {
    /// Behind every write there is.
    pub(super) const EVERYTHING: Self = Self { up_to: u64::MAX, everywhere: true };

    /// Whether a command for the sectors `start..end` waits for `dirty`.
    pub(super) const fn needs(self, start: u64, end: u64, dirty: &Dirty) -> bool {
        dirty.number <= self.up_to && (self.everywhere || dirty.overlaps(start, end))
    }
}

/// The cache; with a depth of zero it is switched off.
#[derive(Clone, Debug)]
pub(super) struct WriteCache {
    depth: usize,
    order: Order,
    reads_wait_for_dirty: bool,
    flush_drains: bool,
    waiting: Vec<Dirty>,
    /// On its way to the medium; still takes a place.
    destaging: Option<Dirty>,
    accepted: u64,
}

impl WriteCache {
    /// An empty cache.
    pub(super) fn new(params: Option<WriteCacheParams>) -> Self {
        let depth = params.map_or(0, |p| p.depth as usize);
        Self {
            depth,
            order: params.map_or(Order::Fifo, |p| p.order),
            reads_wait_for_dirty: params.is_some_and(|p| p.reads_wait_for_dirty),
            flush_drains: params.is_some_and(|p| p.flush == FlushPolicy::Drain),
            waiting: Vec::with_capacity(depth),
            destaging: None,
            accepted: 0,
        }
    }

    /// Whether writes go through it.
    pub(super) const fn enabled(&self) -> bool {
        self.depth > 0
    }

    /// Whether it takes another write.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.len() + usize::from(self.destaging.is_some()) < self.depth
    }

    /// Whether writes wait to be taken to the medium.
    #[inline]
    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// In which order writes go to the medium.
    pub(super) const fn order(&self) -> Order {
        self.order
    }

    /// Whether all of these sectors can be read from it.
    #[inline]
    pub(super) fn holds(&self, start: u64, end: u64) -> bool {
        self.all().any(|dirty| dirty.holds(start, end))
    }

    /// Accepts a write, its data complete at `ready`; the caller has checked for room.
    pub(super) fn insert(&mut self, command: &Command, ready: u64) {
        assert!(self.has_room(), "a write needs a place");
        self.accepted += 1;
        self.waiting.push(Dirty {
            start: command.start,
            end: command.end,
            extent: command.extent,
            ready,
            number: self.accepted,
            group: command.group,
        });
    }

    /// Replaces or joins waiting writes with a write to these sectors, if it overlaps any: they
    /// become one write of the newest writer, numbered like the oldest so that nothing waiting for
    /// it is let go early.
    pub(super) fn join(
        &mut self,
        command: &Command,
        ready: u64,
        extent_of: impl Fn(u64, u64) -> Extent,
    ) -> bool {
        let (start, end, group) = (command.start, command.end, command.group);
        let mut joined: Option<(u64, u64, u64)> = None;
        // Waiting writes never overlap each other, so one pass finds all that belong together.
        self.waiting.retain(|dirty| {
            let joins = dirty.overlaps(start, end);
            if joins {
                let (from, to, number) = joined.unwrap_or((start, end, u64::MAX));
                joined = Some((from.min(dirty.start), to.max(dirty.end), number.min(dirty.number)));
            }
            !joins
        });
        let Some((start, end, number)) = joined else { return false };
        let extent = extent_of(start, end);
        let dirty = Dirty { start, end, extent, ready, number, group };
        let at = self.waiting.partition_point(|other| other.number < number);
        self.waiting.insert(at, dirty);
        true
    }

    /// What a read from the medium waits for.
    pub(super) const fn read_barrier(&self) -> Barrier {
        Barrier { up_to: self.accepted, everywhere: self.reads_wait_for_dirty }
    }

    /// What a write past the cache waits for.
    pub(super) const fn write_barrier(&self) -> Barrier {
        Barrier { up_to: self.accepted, everywhere: false }
    }

    /// What a flush waits for.
    pub(super) const fn flush_barrier(&self) -> Barrier {
        let up_to = if self.flush_drains { self.accepted } else { 0 };
        Barrier { up_to, everywhere: true }
    }

    /// Whether a command for the sectors `start..end` still has to wait behind `barrier`.
    #[inline]
    pub(super) fn blocks(&self, barrier: Barrier, start: u64, end: u64) -> bool {
        self.all().any(|dirty| barrier.needs(start, end, dirty))
    }

    /// The waiting writes, oldest first.
    pub(super) fn waiting(&self) -> &[Dirty] {
        &self.waiting
    }

    /// Write number `index` of the waiting ones is on its way to the medium.
    pub(super) fn start_destage(&mut self, index: usize) -> Dirty {
        let dirty = self.waiting.remove(index);
        assert!(self.destaging.replace(dirty).is_none(), "one write at a time");
        dirty
    }

    /// The write on its way is on the medium.
    pub(super) fn finish_destage(&mut self) {
        assert!(self.destaging.take().is_some(), "a write was on its way");
    }

    fn all(&self) -> impl Iterator<Item = &Dirty> {
        self.waiting.iter().chain(&self.destaging)
    }
}
