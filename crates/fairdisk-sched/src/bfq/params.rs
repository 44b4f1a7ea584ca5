//! The tunables of BFQ, with the names and values of its documentation where it gives them; the
//! catalogue says which values are assumed.

use super::Bfq;
use crate::family::Family;
use crate::honours::{Honours, Nesting};
use crate::registry::Scheduler;
use fairdisk_core::Span;

/// How BFQ is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BfqParams {
    /// How long the disk is kept for a queue that has it and has run empty; zero: never.
    pub slice_idle: Span,
    /// The longest a queue has the disk (`timeout_sync`).
    pub timeout: Span,
    /// The most sectors a queue may have in a turn; 0: what the device does in `timeout` at the
    /// highest rate seen.
    pub max_budget_sectors: u32,
    /// The sequence of requests in a queue: furthest backward position considered, in KiB.
    pub back_seek_max_kib: u32,
    /// What a backward distance counts for.
    pub back_seek_penalty: u32,
    /// Age after which a synchronous request goes first in its queue.
    pub fifo_expire_sync: Span,
    /// Age after which an asynchronous request does.
    pub fifo_expire_async: Span,
    /// Waits for every synchronous queue, hands over one request at a time, and charges sectors
    /// alone.
    pub strict_guarantees: bool,
    /// Raises the weights of tasks that seem interactive or soft real-time.
    pub low_latency: bool,
    /// The heuristics behind `low_latency`.
    pub raising: RaisingParams,
}

/// How weights are raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaisingParams {
    /// What the weight of an interactive queue is multiplied by.
    pub interactive_factor: u32,
    /// What that of a soft real-time queue is multiplied by besides.
    pub soft_real_time_factor: u32,
    /// How long an interactive queue stays raised.
    pub interactive_span: Span,
    /// How long a soft real-time queue does, from each of its batches on.
    pub soft_real_time_span: Span,
    /// A queue that was idle for so long is taken for interactive when it is back.
    pub idle_min: Span,
    /// A queue that asks for more sectors a second is not soft real-time.
    pub soft_real_time_rate_max: u32,
}

impl Default for BfqParams {
    fn default() -> Self {
        Self {
            slice_idle: Span::from_ms(8),
            timeout: Span::from_ms(125),
            max_budget_sectors: 0,
            back_seek_max_kib: 16 * 1024,
            back_seek_penalty: 2,
            fifo_expire_sync: Span::from_ms(124),
            fifo_expire_async: Span::from_ms(248),
            strict_guarantees: false,
            low_latency: true,
            raising: RaisingParams::default(),
        }
    }
}

impl Family for BfqParams {
    const NAME: &'static str = "bfq";

    fn honours(&self) -> Honours {
        Honours { shares: true, nesting: Nesting::Deep, priorities: true, ..Honours::NONE }
    }

    fn build(&self) -> Scheduler {
        Scheduler::Bfq(Bfq::new(self))
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

/// The weight a task has in its group: ten for each level above the lowest
/// (Documentation/block/bfq-iosched.rst, per-process ioprio and weight).
pub(super) const fn weight_of_level(level: u8) -> u32 {
    10 * (8 - level as u32)
}
