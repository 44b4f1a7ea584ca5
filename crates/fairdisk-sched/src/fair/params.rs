//! What can be set.

use super::Fair;
use crate::family::Family;
use crate::honours::Honours;
use crate::registry::Scheduler;
use fairdisk_core::Span;

/// The few settings of `fair`. What else it needs to know it measures, or is told of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairParams {
    /// On a disk with a head: how long the groups that want it take, all together, to have a turn
    /// each, up to four times as long where much is lost between turns; no turn is shorter than an
    /// eighth of it. Longer turns save seeks, shorter ones make others wait less.
    pub round: Span,
    /// The longest that the disk is kept free for whoever will be back soon.
    pub idle_max: Span,
    /// How long a group may be away without losing its place, and how much service it may catch up
    /// on if it was away for longer.
    pub credit: Span,
    /// Past this time a request goes before others of its task that lie better, and tasks of a
    /// lower `ionice` class have one of their requests served, if 32 of better ones went before.
    pub expire: Span,
}

impl Default for FairParams {
    fn default() -> Self {
        Self {
            round: Span::from_ms(200),
            idle_max: Span::from_ms(8),
            credit: Span::from_ms(20),
            expire: Span::from_ms(500),
        }
    }
}

impl Family for FairParams {
    const NAME: &'static str = "fair";

    fn honours(&self) -> Honours {
        Honours::ALL
    }

    fn build(&self) -> Scheduler {
        Scheduler::Fair(Fair::new(self))
    }
}
