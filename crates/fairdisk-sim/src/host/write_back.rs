//! Write-back policy: when the flusher writes dirty pages back, and what a writer must do when
//! there are too many of them (spec: memory, section 7.1).

use super::ownership::Payer;
use fairdisk_core::{Instant, Span, Ticks};

/// Pages between a writer's checks once the last check found too many dirty pages.
const CLOSE_LOOK_PAGES: u64 = 8;
/// The lower bound of the limit, in percent of memory.
const LIMIT_PERCENT_MIN: u64 = 5;

/// The write-back settings of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteBackSpec {
    /// Percentage of memory above which the flusher starts to write.
    pub background_percent: u32,
    /// The largest percentage of memory that may be dirty.
    pub limit_percent: u32,
    /// How often the flusher checks for old data.
    pub interval: Span,
    /// The age at which dirty data counts as old.
    pub age: Span,
    /// Who is charged, and that it is counted who would have been by the other rules; `None` leaves
    /// it to the scheduler's defect D5.
    pub payer: Option<Payer>,
    /// What each group may have dirty, besides the limits of the machine.
    pub of_group: Option<GroupLimits>,
}

/// What a group may have dirty or on its way to the disk, in pages. Each group then has a flusher
/// of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupLimits {
    /// Its flusher writes while more than this is dirty.
    pub background: u64,
    /// Its writers wait while it has more than this.
    pub limit: u64,
}

impl WriteBackSpec {
    /// When the flusher next checks for old data.
    pub(crate) fn next_look(&self, now: Instant) -> Instant {
        let interval = self.interval.as_ns();
        Instant::from_ns((now.as_ns() / interval + 1) * interval)
    }

    /// Data dirty since before this time is old; `None` while no data can be old yet.
    pub(crate) fn old(&self, now: Instant) -> Option<Instant> {
        now.as_ns().checked_sub(self.age.as_ns()).map(Instant::from_ns)
    }
}

/// Limits on the number of dirty pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Thresholds {
    /// The flusher writes above this number.
    pub(crate) background: u64,
    /// Writers are throttled above this number.
    pub(crate) throttle: u64,
}

impl Thresholds {
    /// The limits for a memory of `pages` pages.
    pub(crate) fn new(spec: &WriteBackSpec, pages: u64) -> Self {
        let limit = pages * u64::from(spec.limit_percent).max(LIMIT_PERCENT_MIN) / 100;
        let background = match pages * u64::from(spec.background_percent) / 100 {
            background if background < limit => background,
            _ => limit / 2,
        };
        Self { background, throttle: background.midpoint(limit) }
    }
}

/// Counts the pages dirtied on each CPU, and tells when the writer must check the limits.
#[derive(Debug)]
pub(crate) struct Dirtying {
    /// Pages dirtied on each CPU since the last check there.
    on_cpu: Vec<u64>,
    /// Pages between two checks.
    every: u64,
    /// Whether the last check found too many dirty pages.
    pub(crate) is_exceeded: bool,
}

impl Dirtying {
    pub(crate) fn new(cpus: u32, memory_pages: u64) -> Self {
        let cpus = cpus.max(1);
        let every = (memory_pages / (32 * u64::from(cpus))).max(CLOSE_LOOK_PAGES);
        Self { on_cpu: vec![0; cpus as usize], every, is_exceeded: false }
    }

    /// Counts pages dirtied on `cpu`. If a check is due, returns how many pages the writer must
    /// write back if there are too many dirty.
    pub(crate) fn count(&mut self, cpu: u32, pages: u64) -> Option<u64> {
        let at = cpu as usize % self.on_cpu.len();
        self.on_cpu[at] += pages;
        let every = if self.is_exceeded { CLOSE_LOOK_PAGES } else { self.every };
        if self.on_cpu[at] < every {
            return None;
        }
        let dirtied = std::mem::take(&mut self.on_cpu[at]).max(self.every);
        Some(dirtied + dirtied / 2)
    }
}

/// The state of a throttled writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Throttle {
    /// Pages that the writer must still write back.
    pub(crate) left: u64,
    /// The length of its next sleep, in ticks.
    ticks: u64,
}

impl Throttle {
    pub(crate) const fn new(pages: u64) -> Self {
        Self { left: pages, ticks: 1 }
    }

    /// Sends the writer, which has found nothing to write back, to sleep until the returned time.
    /// Each sleep is twice as long as the previous one, up to a tenth of a second.
    pub(crate) fn sleep(&mut self, now: Instant, ticks: Ticks) -> Instant {
        let until = ticks.after(now, self.ticks);
        self.ticks = (2 * self.ticks).min(ticks.whole(Span::from_ms(100)));
        until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINUX: WriteBackSpec = WriteBackSpec {
        background_percent: 10,
        limit_percent: 20,
        interval: Span::from_s(5),
        age: Span::from_s(30),
        payer: None,
        of_group: None,
    };

    #[test]
    fn thresholds_are_parts_of_memory() {
        let of = |background_percent, limit_percent| {
            let spec = WriteBackSpec { background_percent, limit_percent, ..LINUX };
            let Thresholds { background, throttle } = Thresholds::new(&spec, 1000);
            (background, throttle)
        };
        assert_eq!(of(10, 20), (100, 150));
        assert_eq!(of(40, 20), (100, 150), "half the limit if it is not below");
        assert_eq!(of(0, 1), (0, 25), "the limit is 5 percent at least");
    }

    #[test]
    fn the_flusher_looks_at_set_times() {
        let s = |s| Instant::ZERO + Span::from_s(s);
        assert_eq!(LINUX.next_look(s(0)), s(5));
        assert_eq!(LINUX.next_look(s(14)), s(15));
        assert_eq!(LINUX.next_look(s(15)), s(20));
        assert_eq!((LINUX.old(s(29)), LINUX.old(s(31))), (None, Some(s(1))));
    }

    #[test]
    fn writers_look_often_once_there_were_too_many_and_write_half_as_much_again() {
        let mut dirtying = Dirtying::new(2, 64 * 100);
        assert_eq!(dirtying.count(0, 99), None);
        assert_eq!(dirtying.count(1, 99), None, "each CPU counts for itself");
        assert_eq!(dirtying.count(2, 1), Some(150));
        assert_eq!(dirtying.count(1, 301), Some(600));
        dirtying.is_exceeded = true;
        assert_eq!(dirtying.count(0, 7), None);
        assert_eq!(dirtying.count(0, 1), Some(150));
    }

    #[test]
    fn a_throttled_writer_sleeps_twice_as_long_each_time() {
        let mut throttle = Throttle::new(1);
        let mut now = Instant::ZERO + Span::from_ms(3);
        let mut ends = Vec::new();
        for _ in 0..6 {
            now = throttle.sleep(now, Ticks::new(100, Span::ZERO));
            ends.push(now.as_ns() / 1_000_000);
        }
        assert_eq!(ends, [10, 30, 70, 150, 250, 350]);
    }
}
