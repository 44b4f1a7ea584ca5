//! What CFQ remembers about a task: its think time and its seek distance (spec: cfq, section 2.11).

use super::jiffies::Jiffies;
use super::queue::NIL;
use fairdisk_core::{IoPrio, Lba, TaskId};

/// Mean seek distance, in sectors, above which a task counts as seeky.
pub(crate) const SEEKY_SECTORS: u64 = 8 * 1024;

/// A decaying mean in the original's integer arithmetic. The first few means are biased upwards.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DecayingMean {
    samples: u64,
    total: u64,
    mean: u64,
}

impl DecayingMean {
    /// A mean without samples.
    pub(crate) const fn new() -> Self {
        Self { samples: 0, total: 0, mean: 0 }
    }

    /// Whether there are enough samples for the mean to be used; true from the third sample on.
    pub(crate) const fn is_valid(&self) -> bool {
        self.samples > 80
    }

    pub(crate) const fn mean(&self) -> u64 {
        self.mean
    }

    const fn weigh(&mut self, value: u64) {
        self.samples = (7 * self.samples + 256) / 8;
        self.total = (7 * self.total + 256 * value) / 8;
    }

    /// Adds a think time, in jiffies.
    pub(crate) const fn add_think_time(&mut self, jiffies: u64) {
        self.weigh(jiffies);
        self.mean = (self.total + 128) / self.samples;
    }

    /// Adds a seek distance, in sectors, clamped to four times the mean plus a slack.
    pub(crate) const fn add_seek(&mut self, sectors: u64) {
        let slack = if self.samples <= 60 { 2 * 1024 * 1024 } else { 2 * 64 * 1024 };
        let most = 4 * self.mean + slack;
        self.weigh(if sectors < most { sectors } else { most });
        self.mean = (self.total + self.samples / 2) / self.samples;
    }
}

/// The distances between successive requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seeks {
    last: Lba,
    distance: DecayingMean,
}

impl Seeks {
    /// The mean distance, in sectors.
    pub(crate) const fn mean(&self) -> u64 {
        self.distance.mean()
    }

    /// Whether there are enough samples for the mean to be used.
    pub(crate) const fn is_valid(&self) -> bool {
        self.distance.is_valid()
    }

    /// Whether the mean is above [`SEEKY_SECTORS`].
    pub(crate) const fn seeks(&self) -> bool {
        self.distance.mean() > SEEKY_SECTORS
    }

    /// The distance from the end of the previous request to `start`. For the first request it is 0,
    /// or with `first_seeks` its absolute position.
    pub(crate) fn distance_to(&self, start: Lba, first_seeks: bool) -> u64 {
        let first = self.last == Lba(0) && !first_seeks;
        if first { 0 } else { start.distance(self.last) }
    }

    /// Adds the distance of a request that covers `start` to `end`.
    pub(crate) fn observe(&mut self, start: Lba, end: Lba, first_seeks: bool) {
        let distance = self.distance_to(start, first_seeks);
        self.distance.add_seek(distance);
        self.last = end;
    }
}

/// A task's state in one layer of CFQ.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) task: TaskId,
    pub(crate) layer: u32,
    /// The task's priority at its last request.
    pub(crate) ioprio: IoPrio,
    /// Whether the priority has changed since the task's own queue was last used.
    priority_due: bool,
    /// The task's own queue, for its synchronous requests; [`NIL`] if it has none.
    pub(crate) sync_queue: u32,
    /// The shared queue for the task's asynchronous requests; [`NIL`] until it is looked up.
    pub(crate) async_queue: u32,
    /// Whether the task still exists in this layer and may submit requests.
    pub(crate) alive: bool,
    /// The number of requests that refer to this context.
    pub(crate) requests: u32,
    last_end: Jiffies,
    pub(crate) think: DecayingMean,
    pub(crate) seek: Seeks,
}

impl Context {
    pub(crate) const fn new(task: TaskId, layer: u32, ioprio: IoPrio, now: Jiffies) -> Self {
        Self {
            task,
            layer,
            ioprio,
            priority_due: false,
            sync_queue: NIL,
            async_queue: NIL,
            alive: true,
            requests: 0,
            last_end: now,
            think: DecayingMean::new(),
            seek: Seeks { last: Lba(0), distance: DecayingMean::new() },
        }
    }

    /// The queue for the task's synchronous or asynchronous requests, or [`NIL`].
    pub(crate) const fn queue(&self, sync: bool) -> u32 {
        if sync { self.sync_queue } else { self.async_queue }
    }

    /// Applies a changed priority with the task's next request: at once to the choice of the
    /// asynchronous queue, and to its own queue when that is next used (spec: cfq, section 2.3).
    pub(crate) fn reprioritise(&mut self, ioprio: IoPrio) {
        if self.ioprio != ioprio {
            self.ioprio = ioprio;
            self.async_queue = NIL;
            self.priority_due = true;
        }
    }

    /// The task's own queue, if it has yet to take on a changed priority. Call when the queue is
    /// used.
    pub(crate) fn take_priority_due(&mut self) -> Option<u32> {
        let due = core::mem::take(&mut self.priority_due);
        (due && self.sync_queue != NIL).then_some(self.sync_queue)
    }

    pub(crate) const fn completed_sync(&mut self, now: Jiffies) {
        self.last_end = now;
    }

    /// Adds the time since the task's last completion as a think time of at most `most`.
    pub(crate) fn observe_think(&mut self, now: Jiffies, most: Jiffies) {
        let think = (now - self.last_end).clamp(0, most);
        self.think.add_think_time(think as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn think_means(gaps: &[u64]) -> Vec<u64> {
        let mut mean = DecayingMean::default();
        let add = |gap: &u64| {
            mean.add_think_time((*gap).min(16));
            mean.mean()
        };
        gaps.iter().map(add).collect()
    }

    /// Spec: cfq, section 8, with a slice_idle of 8 jiffies.
    #[test]
    fn golden_think_times() {
        assert_eq!(think_means(&[1; 8]), [5, 3, 2, 2, 2, 1, 1, 1]);
        assert_eq!(think_means(&[8; 8]), [12, 10, 9, 9, 9, 9, 8, 8]);
        assert_eq!(think_means(&[9; 6]), [13, 11, 10, 10, 10, 10]);
        assert_eq!(think_means(&[100, 1, 1, 1, 1, 1, 1, 1]), [20, 10, 6, 5, 4, 3, 3, 2]);
        assert_eq!(
            think_means(&[0, 0, 0, 0, 0, 16, 16, 16, 16, 16]),
            [4, 2, 1, 1, 1, 4, 7, 8, 10, 11]
        );
    }

    fn seek_means(distances: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let mut mean = DecayingMean::default();
        let add = |distance| {
            mean.add_seek(distance);
            mean.mean()
        };
        distances.into_iter().map(add).collect()
    }

    /// Spec: cfq, section 8.
    #[test]
    fn golden_seeks() {
        let once = seek_means(core::iter::once(1_000_000).chain([0; 30]));
        assert_eq!(
            once[..8],
            [1_000_000, 466_667, 291_667, 204_167, 152_503, 118_080, 93_866, 76_159]
        );
        assert_eq!(once.iter().position(|mean| *mean <= SEEKY_SECTORS), Some(21));
        let late = seek_means([0, 0, 0, 0, 1_000_000, 1_000_000, 1_000_000]);
        assert_eq!(late, [0, 0, 0, 0, 34_100, 87_979, 170_955]);
        assert_eq!(seek_means([1_000_000_000]), [2_097_152]);
    }

    #[test]
    fn a_mean_is_believed_from_the_third_sample() {
        let mut mean = DecayingMean::default();
        let valid: Vec<bool> = (0..3)
            .map(|_| {
                mean.add_seek(1);
                mean.is_valid()
            })
            .collect();
        assert_eq!(valid, [false, false, true]);
    }
}
