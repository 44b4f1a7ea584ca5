//! The tags of a group's first request. Those of later ones follow from them, so that they need not
//! be kept.

use crate::groups::{Amount, VirtualTime};
use fairdisk_core::{Instant, Qos, Span, Weight};

/// What a thousandth of an I/O adds to the proportion tag at weight 1.
const SCALE: u64 = Weight::MAX as u64;

/// Three tags. Before a request has got its own, they are the earliest it may get.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tags {
    reservation: Instant,
    limit: Instant,
    pub(super) proportion: VirtualTime,
}

/// What a group asks for, and the tags of its first request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Client {
    pub(super) weight: Weight,
    qos: Qos,
    pub(super) tags: Tags,
    /// What the tags of the next request are at least.
    next: Tags,
    /// When the request with these tags came.
    arrived: Instant,
}

impl Client {
    /// A group whose proportion tags begin at `proportion`.
    pub(super) const fn new(weight: Weight, proportion: VirtualTime) -> Self {
        let tags = Tags { reservation: Instant::ZERO, limit: Instant::ZERO, proportion };
        Self { weight, qos: Qos::NONE, tags, next: tags, arrived: Instant::ZERO }
    }

    /// A new floor and a new ceiling count from now on.
    pub(super) fn set_qos(&mut self, now: Instant, qos: Qos) {
        self.qos = qos;
        for tags in [&mut self.tags, &mut self.next] {
            tags.reservation = tags.reservation.min(now);
            tags.limit = tags.limit.min(now);
        }
    }

    /// Gives the first request its tags: what those before allow, and not earlier than it came. A
    /// group that was away starts at `least`, the smallest proportion tag of the others
    /// (section 3.2).
    pub(super) fn tag(&mut self, arrived: Instant, least: VirtualTime, anticipation: Span) {
        let came = self.came(arrived, anticipation);
        self.tags = Tags {
            reservation: self.next.reservation.max(came),
            limit: self.next.limit.max(came),
            proportion: self.next.proportion.max(least),
        };
        self.arrived = arrived;
    }

    /// When a request counts as arrived: one that follows soon counts as if it had not been waited
    /// for.
    fn came(&self, arrived: Instant, anticipation: Span) -> Instant {
        if arrived - self.arrived > anticipation {
            return arrived;
        }
        Instant::from_ns(arrived.as_ns().saturating_sub(anticipation.as_ns()))
    }

    /// The request with these tags is served. What is served by weight is not taken from the
    /// floor: the next reservation tag comes so much earlier (section 3.1). Rates count bios; the
    /// weight pays for what the device does, and that is one I/O, however many were merged.
    pub(super) fn serve(&mut self, amount: Amount, by_weight: bool, io_bytes: u32) {
        let Amount { ios, bytes } = amount;
        let reserved = if by_weight { Span::ZERO } else { self.qos.floor.time_of(ios, bytes) };
        let ios_milli = 1_000 + bytes.saturating_mul(1_000) / u64::from(io_bytes.max(1));
        let cost = ios_milli.saturating_mul(SCALE) / u64::from(self.weight.get());
        self.next = Tags {
            reservation: self.tags.reservation + reserved,
            limit: self.tags.limit + self.qos.ceiling.time_of(ios, bytes),
            proportion: self.tags.proportion + VirtualTime::from(cost),
        };
    }

    pub(super) fn reservation(&self) -> Option<Instant> {
        (!self.qos.floor.is_none()).then_some(self.tags.reservation)
    }

    pub(super) fn limit(&self) -> Option<Instant> {
        (!self.qos.ceiling.is_none()).then_some(self.tags.limit)
    }
}
