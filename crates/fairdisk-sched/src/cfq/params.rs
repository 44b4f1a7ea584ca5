//! CFQ's tunables and quirks, as set in the catalogue (spec: cfq, sections 2.1 and 2.17).

use super::Cfq;
use super::jiffies::Jiffies;
use super::switches::{SWITCHES, Switches};
use crate::family::Family;
use crate::honours::Honours;
use crate::switches::Switch;
use fairdisk_core::{IoPrio, Span, Weight};

/// The settings of one revision of CFQ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CfqParams {
    /// Timer ticks per second: 100, 250, 300 or 1000.
    pub hz: u32,
    /// The time since the last timer tick when the run begins.
    pub tick_phase: Span,
    /// The most requests of one queue dispatched in a round.
    pub quantum: u32,
    /// Age at which a synchronous request is overdue.
    pub fifo_expire_sync_ms: u32,
    /// Age at which an asynchronous request is overdue.
    pub fifo_expire_async_ms: u32,
    /// The longest backward seek considered, in KiB.
    pub back_seek_max_kib: u32,
    /// Factor by which a backward distance counts as longer than a forward one.
    pub back_seek_penalty: u32,
    /// Slice length of a synchronous queue at priority level 4.
    pub slice_sync_ms: u32,
    /// Slice length of an asynchronous queue at priority level 4.
    pub slice_async_ms: u32,
    /// Base from which the number of asynchronous requests per turn is computed.
    pub slice_async_rq: u32,
    /// How long the disk idles for a task's next request; 0 disables idling.
    pub slice_idle_ms: u32,
    /// How long the disk idles for a seeky task, at most `slice_idle_ms`. The historical value is
    /// the 2 ms of `CFQ_MIN_TT`.
    pub seeky_idle_ms: u32,
    /// The longest round over all busy queues before slices are shortened. 0 disables shortening,
    /// as in 2.6.25; later CFQ's `low_latency` uses 300.
    pub target_latency_ms: u32,
    /// Whether to serve the tasks of a group together on a device that is known to serve several
    /// requests at once. The disk then idles for a single task only if tasks of another class or
    /// level have requests, and otherwise for the group as a whole. On any device, this also
    /// applies to seeky tasks while no other task is present, as in later CFQ. Off in 2.6.25.
    pub serve_together: bool,
    /// Whether a queue that becomes busy is placed further back the more queues are busy and the
    /// lower its level. Turned off only to measure its effect.
    pub key_offset: bool,
    /// Whether the slice clock starts at the first completion of the turn rather than its first
    /// dispatch.
    pub slice_from_completion: bool,
    /// Whether the device was seen to queue commands before the run began, as on a machine that had
    /// been in use. It then counts as queueing until observed otherwise; with quirk Q6, for ever.
    pub queueing_seen: bool,
    /// Makes the switches that depend on it prefer low latency to throughput.
    pub low_latency: bool,
    /// Makes the switch `group_isolation` keep queues for which the disk does not idle in their
    /// group.
    pub group_isolation: bool,
    /// The historical quirks.
    pub quirks: Quirks,
    /// The changes made by later revisions. A change that fixes a quirk does so whatever `quirks`
    /// says.
    pub switches: Switches,
}

/// The quirks of 2.6.25 (spec: cfq, section 2.17). `true` selects the historical behaviour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quirks {
    /// Q1: the unused rest of a slice delays the next turn instead of advancing it.
    pub q1_residual_sign: bool,
    /// Q2: keys are compared as unsigned 32-bit numbers, and a preempting queue gets key 0.
    pub q2_unsigned_keys: bool,
    /// Q3: the budget of asynchronous requests is counted per round instead of per slice.
    pub q3_async_budget_per_round: bool,
    /// Q4: a request that absorbs an older one does not inherit its place in the FIFO.
    pub q4_no_fifo_inheritance: bool,
    /// Q5: the absolute position of a task's first request counts as a seek distance.
    pub q5_first_request_seeks: bool,
    /// Q6: once the device was seen to queue commands, it counts as queueing for ever.
    pub q6_queueing_latched: bool,
    /// Q7: the next request is chosen by its distance from the last request the driver took instead
    /// of the request just dispatched.
    pub q7_reference_is_driver: bool,
    /// Q8: the disk idles for a task even while the device still has requests.
    pub q8_idle_while_busy: bool,
}

impl Quirks {
    /// All quirks on, as in 2.6.25.
    pub const HISTORICAL: Self = Self {
        q1_residual_sign: true,
        q2_unsigned_keys: true,
        q3_async_budget_per_round: true,
        q4_no_fifo_inheritance: true,
        q5_first_request_seeks: true,
        q6_queueing_latched: true,
        q7_reference_is_driver: true,
        q8_idle_while_busy: true,
    };
}

impl Quirks {
    /// The quirks that remain after the fixes among the given switches.
    pub(crate) const fn mended_by(self, on: &Switches) -> Self {
        Self {
            q1_residual_sign: self.q1_residual_sign && !on.residual_advances,
            q2_unsigned_keys: self.q2_unsigned_keys && !on.signed_keys,
            q3_async_budget_per_round: self.q3_async_budget_per_round && !on.dispatch_one,
            q4_no_fifo_inheritance: self.q4_no_fifo_inheritance && !on.fifo_inheritance,
            q5_first_request_seeks: self.q5_first_request_seeks && !on.first_request_no_seek,
            q6_queueing_latched: self.q6_queueing_latched && !on.queueing_sampled,
            q7_reference_is_driver: self.q7_reference_is_driver && !on.next_from_removed,
            q8_idle_while_busy: self.q8_idle_while_busy && !on.idle_when_drained,
        }
    }
}

impl Default for CfqParams {
    /// CFQ of 2.6.25 at HZ 1000.
    fn default() -> Self {
        Self {
            hz: 1000,
            tick_phase: Span::ZERO,
            quantum: 4,
            fifo_expire_sync_ms: 125,
            fifo_expire_async_ms: 250,
            back_seek_max_kib: 16 * 1024,
            back_seek_penalty: 2,
            slice_sync_ms: 100,
            slice_async_ms: 40,
            slice_async_rq: 2,
            slice_idle_ms: 8,
            seeky_idle_ms: 2,
            target_latency_ms: 0,
            serve_together: false,
            key_offset: true,
            slice_from_completion: true,
            queueing_seen: false,
            low_latency: true,
            group_isolation: false,
            quirks: Quirks::HISTORICAL,
            switches: Switches::NONE,
        }
    }
}

impl Family for CfqParams {
    const NAME: &'static str = "cfq";
    const SWITCHES: &'static [Switch] = SWITCHES;
    type Scheduler = Cfq;

    fn honours(&self) -> Honours {
        let shares = self.switches.effective().cgroup_groups;
        let weights = Weight::BLKIO_RANGE.map(|weight| weight / Weight::BLKIO_SCALE);
        Honours { shares, weights, priorities: true, ..Honours::NONE }
    }

    fn switch(&self, name: &str) -> Option<bool> {
        self.switches.get(name)
    }

    fn build(&self) -> Cfq {
        Cfq::new(self)
    }
}

/// `CFQ_SLICE_SCALE`: each priority level changes the slice by a fifth of the base slice.
const SLICE_SCALE: Jiffies = 5;

/// The tunables converted to jiffies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tunables {
    pub(crate) hz: Jiffies,
    pub(crate) quantum: u32,
    fifo_expire: [Jiffies; 2],
    pub(crate) back_max_sectors: u64,
    pub(crate) back_penalty: u64,
    slice: [Jiffies; 2],
    /// By how much one level changes the slice: a fifth of the base slice, in whole jiffies.
    slice_step: [Jiffies; 2],
    slice_async_rq: u32,
    pub(crate) slice_idle: Jiffies,
    pub(crate) seeky_idle: Jiffies,
    pub(crate) idle_delay: Jiffies,
    target_latency: Jiffies,
    pub(crate) serve_together: bool,
    pub(crate) key_offset: bool,
    pub(crate) slice_from_completion: bool,
    pub(crate) queueing_seen: bool,
    pub(crate) quirks: Quirks,
}

impl Tunables {
    pub(crate) fn new(params: &CfqParams) -> Self {
        let hz = Jiffies::from(params.hz);
        let down = |ms: u32| Jiffies::from(ms) * hz / 1000;
        let at_least_one = |ms: u32| if ms == 0 { 0 } else { down(ms).max(1) };
        let slice_idle = at_least_one(params.slice_idle_ms);
        let slice = [down(params.slice_async_ms).max(1), down(params.slice_sync_ms).max(1)];
        let seeky_idle = (Jiffies::from(params.seeky_idle_ms) * hz + 999) / 1000;
        Self {
            hz,
            quantum: params.quantum.max(1),
            fifo_expire: [
                down(params.fifo_expire_async_ms).max(1),
                down(params.fifo_expire_sync_ms).max(1),
            ],
            back_max_sectors: u64::from(params.back_seek_max_kib) * 2,
            back_penalty: u64::from(params.back_seek_penalty.max(1)),
            slice,
            slice_step: slice.map(|base| base / SLICE_SCALE),
            slice_async_rq: params.slice_async_rq.max(1),
            slice_idle,
            seeky_idle: slice_idle.min(seeky_idle.max(1)),
            idle_delay: hz / 5,
            target_latency: down(params.target_latency_ms),
            serve_together: params.serve_together,
            key_offset: params.key_offset,
            slice_from_completion: params.slice_from_completion,
            queueing_seen: params.queueing_seen,
            quirks: params.quirks.mended_by(&params.switches),
        }
    }

    /// Whether the device counts as queueing commands before detection has seen it.
    pub(crate) const fn queues_at_first(&self) -> bool {
        self.queueing_seen || !self.quirks.q6_queueing_latched
    }

    /// A wait of `span` in jiffies: zero for a zero span, else at least one.
    pub(crate) fn wait(&self, span: Span) -> Jiffies {
        let jiffies = span.as_ms() as Jiffies * self.hz / 1000;
        if span == Span::ZERO { 0 } else { jiffies.max(1) }
    }

    /// The slice of a queue at `level` (spec: cfq, section 2.4).
    pub(crate) const fn slice(&self, sync: bool, level: u8) -> Jiffies {
        self.slice[sync as usize] + self.slice_step[sync as usize] * (4 - level as Jiffies)
    }

    /// The slice of a queue that is one of `busy`. It is shortened if a round of them would exceed
    /// the target latency, but stays long enough to idle for the task twice (spec: cfq, section
    /// 4.5).
    pub(crate) fn slice_among(&self, busy: u32, sync: bool, level: u8) -> Jiffies {
        let slice = self.slice(sync, level);
        if self.target_latency == 0 {
            return slice;
        }
        self.slice_in_round(slice, busy, self.target_latency).max(1)
    }

    /// The length of `slice` scaled down so that a round of `busy` queues takes at most `target`.
    pub(crate) fn slice_in_round(&self, slice: Jiffies, busy: u32, target: Jiffies) -> Jiffies {
        let round = self.slice[1] * Jiffies::from(busy);
        if round <= target {
            return slice;
        }
        let least = slice.min(2 * self.slice_idle * slice / self.slice[1]);
        (slice * target / round).max(least)
    }

    /// How far back to place a queue that becomes busy beside `busy - 1` others (spec: cfq, section
    /// 2.5).
    pub(crate) fn key_offset(&self, busy: u32, sync: bool, level: u8) -> Jiffies {
        self.key_offset_behind(Jiffies::from(busy) - 1, sync, level)
    }

    /// How far back to place a queue behind `others` queues.
    pub(crate) const fn key_offset_behind(
        &self,
        others: Jiffies,
        sync: bool,
        level: u8,
    ) -> Jiffies {
        if !self.key_offset {
            return 0;
        }
        others * (self.slice(true, 0) - self.slice(sync, level))
    }

    pub(crate) const fn fifo_expire(&self, sync: bool) -> Jiffies {
        self.fifo_expire[sync as usize]
    }

    /// The number of asynchronous requests per turn: 32 at level 0, 4 at level 7 (spec: cfq,
    /// section 2.8).
    pub(crate) const fn async_budget(&self, level: u8) -> u32 {
        2 * self.slice_async_rq * (IoPrio::LEVELS - level) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tunables(hz: u32) -> Tunables {
        Tunables::new(&CfqParams { hz, ..CfqParams::default() })
    }

    /// Spec: cfq, sections 2.4 and 8.
    #[test]
    fn golden_slices_offsets_and_budgets() {
        let t = tunables(1000);
        let slices = |sync| [0, 1, 2, 3, 4, 5, 6, 7].map(|level| t.slice(sync, level));
        assert_eq!(slices(true), [180, 160, 140, 120, 100, 80, 60, 40]);
        assert_eq!(slices(false), [72, 64, 56, 48, 40, 32, 24, 16]);
        assert_eq!([0, 4, 7].map(|p| t.key_offset(2, true, p)), [0, 80, 140]);
        assert_eq!([0, 4, 7].map(|p| t.key_offset(2, false, p)), [108, 140, 164]);
        assert_eq!([4, 0, 7].map(|p| t.key_offset(4, true, p)), [240, 0, 420]);
        let budgets = [0, 1, 2, 3, 4, 5, 6, 7].map(|level| t.async_budget(level));
        assert_eq!(budgets, [32, 28, 24, 20, 16, 12, 8, 4]);
    }

    /// Spec: cfq, section 4.5.
    #[test]
    fn golden_slices_with_a_target_latency() {
        let t = Tunables::new(&CfqParams { target_latency_ms: 300, ..CfqParams::default() });
        let slices = [1, 3, 4, 8, 16, 18, 1000].map(|busy| t.slice_among(busy, true, 4));
        assert_eq!(slices, [100, 100, 75, 37, 18, 16, 16]);
        assert_eq!([0, 7].map(|level| t.slice_among(1000, true, level)), [28, 6]);
        assert_eq!(tunables(1000).slice_among(1000, true, 4), 100, "off");
    }

    /// Spec: cfq, section 2.1: the defaults at common tick rates.
    #[test]
    fn golden_defaults_in_jiffies() {
        let (t250, t100) = (tunables(250), tunables(100));
        assert_eq!((t250.fifo_expire(true), t250.fifo_expire(false)), (31, 62));
        assert_eq!((t250.slice_idle, t250.seeky_idle), (2, 1));
        assert_eq!((t100.slice(false, 0), t100.slice(false, 7)), (4, 4));
        assert_eq!((t100.fifo_expire(true), t100.fifo_expire(false)), (12, 25));
    }
}
