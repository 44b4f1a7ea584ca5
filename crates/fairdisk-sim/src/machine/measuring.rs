//! Tasks that do something about what they measure of themselves.

use super::task::{Call, Task};
use crate::workload::Outcome;
use fairdisk_core::{Instant, Span};

impl Task {
    /// Keeps so many I/Os in flight from now on.
    pub(super) const fn keep(&mut self, depth: u32) {
        (self.depth, self.refill_at) = (depth, depth.saturating_sub(1));
    }

    /// Begins to measure.
    pub(super) fn begin_measures(&mut self, now: Instant) {
        let ramp = self.ramp;
        let depth = self.watching.as_mut().and_then(|watching| watching.begin(now, ramp));
        if let Some(depth) = depth {
            self.keep(depth);
        }
    }

    /// Ends, or changes how many I/Os are in flight, as what was measured asks for.
    #[inline]
    pub(super) fn heed_measures(&mut self, now: Instant, call: Call, latency: Span) {
        let Some(watching) = &mut self.watching else { return };
        match watching.note(now, call.op, call.bytes, latency) {
            Outcome::Nothing => {}
            Outcome::Depth(depth) => self.keep(depth),
            Outcome::End(verdict) => {
                self.report.verdict.get_or_insert(verdict);
                self.stream.finish();
            }
        }
    }
}
