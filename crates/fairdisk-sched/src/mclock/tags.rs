//! The tags of each group's first request. The tags of later requests follow from them, so they
//! need not be stored.

mod paced;

use crate::groups::{Amount, Ceiling, VirtualTime};
use fairdisk_core::{Instant, Qos, Span, Weight};
use paced::{Decides, Paced};

/// How much a thousandth of an I/O adds to the proportion tag at weight 1.
const SCALE: u64 = Weight::MAX as u64;

/// The three tags of a request. In `next`, the earliest values that the next request may get.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tags {
    reservation: Paced,
    limit: Paced,
    pub(super) proportion: VirtualTime,
}

/// The settings of a group and the tags of its first request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Client {
    pub(super) weight: Weight,
    qos: Qos,
    pub(super) tags: Tags,
    /// Lower bounds for the tags of the next request.
    next: Tags,
    /// When the request with these tags arrived.
    arrived: Instant,
}

impl Client {
    /// A group whose proportion tags start at `proportion`.
    pub(super) const fn new(weight: Weight, proportion: VirtualTime) -> Self {
        let at_once = Paced::from(Instant::ZERO);
        let tags = Tags { reservation: at_once, limit: at_once, proportion };
        Self { weight, qos: Qos::NONE, tags, next: tags, arrived: Instant::ZERO }
    }

    /// Sets a new floor and a new ceiling, effective from `now`. The tags of one that changes begin
    /// now, however old the queued requests are: time before a floor earns no service, and time
    /// before a ceiling no burst.
    pub(super) fn set_qos(&mut self, now: Instant, qos: Qos) {
        let (floor, ceiling) = (qos.floor != self.qos.floor, qos.ceiling != self.qos.ceiling);
        self.qos = qos;
        for tags in [&mut self.tags, &mut self.next] {
            if floor {
                tags.reservation = Paced::from(now);
            }
            if ceiling {
                tags.limit = Paced::from(now);
            }
        }
    }

    /// Tags the first request: not before the previous request allows and not before its arrival. A
    /// group that was away starts at `least`, the smallest proportion tag of the others (section
    /// 3.2).
    pub(super) fn tag(&mut self, arrived: Instant, least: VirtualTime, anticipation: Span) {
        let came = self.came(arrived, anticipation);
        let Qos { floor, ceiling, .. } = &self.qos;
        self.tags = Tags {
            reservation: self.next.reservation.not_before(came, floor, Decides::Earlier),
            limit: self.next.limit.not_before(came, ceiling, Decides::Later),
            proportion: self.next.proportion.max(least),
        };
        self.arrived = arrived;
    }

    /// When a request counts as having arrived: a request that follows the previous one soon enough
    /// counts as earlier by the anticipation time.
    fn came(&self, arrived: Instant, anticipation: Span) -> Instant {
        if arrived - self.arrived > anticipation {
            return arrived;
        }
        Instant::from_ns(arrived.as_ns().saturating_sub(anticipation.as_ns()))
    }

    /// Accounts for serving the tagged request. Service by weight is not taken from the floor, so
    /// the next reservation tag comes earlier by as much (section 3.1). Rates count bios; the
    /// weight pays for device work, which is one I/O however many bios were merged.
    pub(super) fn serve(&mut self, amount: Amount, by_weight: bool, io_bytes: u32) {
        let ios_milli = 1_000 + amount.bytes.saturating_mul(1_000) / u64::from(io_bytes.max(1));
        let cost = ios_milli.saturating_mul(SCALE) / u64::from(self.weight.get());
        let (Qos { floor, ceiling, burst, .. }, tags) = (&self.qos, self.tags);
        let reserved = || tags.reservation.after(amount, floor, Decides::Earlier, *burst);
        self.next = Tags {
            reservation: if by_weight { tags.reservation } else { reserved() },
            limit: tags.limit.after(amount, ceiling, Decides::Later, *burst),
            proportion: tags.proportion + VirtualTime::from(cost),
        };
    }

    pub(super) fn reservation(&self) -> Option<Instant> {
        self.tags.reservation.due(&self.qos.floor, Decides::Earlier)
    }

    /// Whether the ceiling lets a request become this large by merging.
    pub(super) fn may_grow_to(&self, amount: Amount) -> bool {
        Ceiling::may_grow_to(&self.qos.summed(), amount)
    }

    pub(super) fn limit(&self) -> Option<Instant> {
        self.tags.limit.due(&self.qos.ceiling, Decides::Later)
    }
}
