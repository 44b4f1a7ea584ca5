//! The settings of the `fair` scheduler.

use super::{Fair, Rules};
use crate::family::Family;
use crate::honours::Honours;
use fairdisk_core::Span;

/// The settings of `fair`. Everything else is measured, or stated by the device's cost model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairParams {
    /// On a disk with a head, the time in which all groups that want it have a turn; up to four
    /// times as much if a lot is lost between turns, and less for latency targets. No turn is
    /// shorter than an eighth of it.
    /// Longer turns save seeks, shorter ones make others wait less.
    pub round: Span,
    /// The longest that the disk is kept free for a group that will be back soon.
    pub idle_max: Span,
    /// How long a group may be away without losing its place, and how much service it may catch up
    /// on after a longer absence.
    pub credit: Span,
    /// How long a request may be passed over for others of its task that lie better. A class of
    /// `ionice` is passed over for at most this long, once 32 requests of better ones went before.
    pub expire: Span,
    /// Which rules are on.
    pub rules: Rules,
}

impl FairParams {
    /// How much of everybody's service a group may catch up on its part after a short absence: two
    /// rounds, or the credit on a device without a head that serves several requests, as there are
    /// no turns to miss.
    pub(super) fn lag(&self, has_rounds: bool) -> Span {
        if has_rounds { self.round + self.round } else { self.credit }
    }
}

impl Default for FairParams {
    fn default() -> Self {
        Self {
            round: Span::from_ms(200),
            idle_max: Span::from_ms(8),
            credit: Span::from_ms(20),
            expire: Span::from_ms(500),
            rules: Rules::ALL,
        }
    }
}

impl Family for FairParams {
    const NAME: &'static str = "fair";
    type Scheduler = Fair;

    fn honours(&self) -> Honours {
        Honours { flush_targets: false, ..Honours::ALL }
    }

    fn build(&self) -> Fair {
        Fair::new(self)
    }
}
