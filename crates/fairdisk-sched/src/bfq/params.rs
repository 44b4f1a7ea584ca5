//! The tunables of BFQ. Names and values are those of its documentation where it gives them; the
//! catalogue marks the assumed values.

use super::Bfq;
use super::schedule::GROUP_WEIGHT_MAX;
use super::switches::{SWITCHES, Switches};
use crate::family::Family;
use crate::honours::{Honours, Nesting};
use crate::switches::Switch;
use fairdisk_core::{Span, Weight};

/// The tunables of one BFQ scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BfqParams {
    /// How long the disk is kept idle for the queue in service once it has run empty; zero disables
    /// it.
    pub slice_idle: Span,
    /// How long it is kept idle for a queue that seeks, while all queues are due the same: at most
    /// `slice_idle`.
    pub seeky_idle: Span,
    /// The longest turn of a queue (`timeout_sync`).
    pub timeout: Span,
    /// The most sectors a queue may transfer in a turn. 0 means as many as the device transfers in
    /// `timeout` at the highest rate seen.
    pub max_budget_sectors: u32,
    /// The longest backward seek considered when the next request of a queue is chosen, in KiB.
    pub back_seek_max_kib: u32,
    /// Factor by which a backward distance counts as longer than a forward one.
    pub back_seek_penalty: u32,
    /// Age after which a synchronous request is served first in its queue.
    pub fifo_expire_sync: Span,
    /// Age after which an asynchronous request is served first in its queue.
    pub fifo_expire_async: Span,
    /// Whether to idle for every synchronous queue, dispatch one request at a time and charge
    /// sectors only.
    pub strict_guarantees: bool,
    /// Whether to raise the weights of tasks that seem interactive or soft real-time.
    pub low_latency: bool,
    /// Settings of the weight raising done by `low_latency`.
    pub raising: RaisingParams,
    /// Which of the changes since BFQ-v0 are on.
    pub switches: Switches,
}

/// Settings of the weight raising heuristics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaisingParams {
    /// Weight factor of a queue that seems interactive.
    pub interactive_factor: u32,
    /// Additional weight factor of a queue that seems soft real-time.
    pub soft_real_time_factor: u32,
    /// How long the weight of an interactive queue stays raised.
    pub interactive_span: Span,
    /// How long the weight of a soft real-time queue stays raised, counted from each of its
    /// batches.
    pub soft_real_time_span: Span,
    /// Idle time after which a queue counts as interactive when it becomes busy again.
    pub idle_min: Span,
    /// The highest rate, in sectors per second, at which a queue may count as soft real-time.
    pub soft_real_time_rate_max: u32,
}

impl Default for BfqParams {
    /// BFQ as its documentation describes it.
    fn default() -> Self {
        Self {
            slice_idle: Span::from_ms(8),
            seeky_idle: Span::ZERO,
            timeout: Span::from_ms(125),
            max_budget_sectors: 0,
            back_seek_max_kib: 16 * 1024,
            back_seek_penalty: 2,
            fifo_expire_sync: Span::from_ms(124),
            fifo_expire_async: Span::from_ms(248),
            strict_guarantees: false,
            low_latency: true,
            raising: RaisingParams::default(),
            switches: Switches {
                budget_feedback: true,
                slow_by_time: true,
                interactive_raising: true,
                soft_real_time: true,
                raised_keep_device: true,
                seeky_in_symmetry: true,
                flash_in_symmetry: true,
                random_in_symmetry: true,
                ..Switches::NONE
            },
        }
    }
}

impl Family for BfqParams {
    const NAME: &'static str = "bfq";
    const SWITCHES: &'static [Switch] = SWITCHES;
    type Scheduler = Bfq;

    fn honours(&self) -> Honours {
        let weights = [Weight::MIN, GROUP_WEIGHT_MAX as u32];
        let nesting = Nesting::Deep;
        Honours { shares: true, weights, nesting, priorities: true, ..Honours::NONE }
    }

    fn switch(&self, name: &str) -> Option<bool> {
        self.switches.get(name)
    }

    fn build(&self) -> Bfq {
        Bfq::new(self)
    }
}

impl Default for RaisingParams {
    fn default() -> Self {
        Self {
            interactive_factor: 30,
            soft_real_time_factor: 100,
            interactive_span: Span::from_s(10),
            soft_real_time_span: Span::from_ms(300),
            idle_min: Span::from_s(2),
            soft_real_time_rate_max: 7000,
        }
    }
}

/// The weight of a task within its group: 10 × (8 - level) (Documentation/block/bfq-iosched.rst,
/// per-process ioprio and weight).
pub(super) const fn weight_of_level(level: u8) -> u32 {
    10 * (8 - level as u32)
}
