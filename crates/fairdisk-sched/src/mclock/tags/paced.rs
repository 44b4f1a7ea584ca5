//! A reservation or limit tag, for rates in I/Os, in bytes or in both. The paper has one rate; with
//! both, each keeps a tag of its own, so that small requests and large ones that alternate reach
//! both rates. With a single tag, each request would take the longer of its two times.
//!
//! A floor is due when either tag is, because both rates are promised; a ceiling when both are. The
//! rate that does not decide stays within a span of the other one, the burst of the group.

use crate::groups::Amount;
use fairdisk_core::{Instant, Rates, Span};

/// The tags of one request for both rates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paced {
    ios: Instant,
    bytes: Instant,
}

/// Which of the two tags decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decides {
    /// The earlier one, for floors.
    Earlier,
    /// The later one, for ceilings.
    Later,
}

impl Paced {
    /// Tags that are due at `at`.
    pub(super) const fn from(at: Instant) -> Self {
        Self { ios: at, bytes: at }
    }

    /// When the request is due; `None` without a rate.
    pub(super) fn due(&self, rates: &Rates, decides: Decides) -> Option<Instant> {
        let ios = rates.iops.map(|_| self.ios);
        let bytes = rates.bytes_per_s.map(|_| self.bytes);
        match (ios, bytes) {
            (Some(ios), Some(bytes)) if decides == Decides::Earlier => Some(ios.min(bytes)),
            _ => ios.max(bytes),
        }
    }

    /// The tags of a request that came at `came`. Time in which the group was below its rates earns
    /// nothing: both tags move by as much.
    pub(super) fn not_before(self, came: Instant, rates: &Rates, decides: Decides) -> Self {
        let late = self.due(rates, decides).map_or(Span::ZERO, |due| came.since(due));
        Self { ios: self.ios + late, bytes: self.bytes + late }
    }

    /// The tags of the next request after one of this size, at most `apart` from each other.
    pub(super) fn after(
        self,
        amount: Amount,
        rates: &Rates,
        decides: Decides,
        apart: Span,
    ) -> Self {
        let next = Self {
            ios: self.ios + rates.time_of_ios(amount.ios),
            bytes: self.bytes + rates.time_of_bytes(amount.bytes),
        };
        let Some(due) = next.due(rates, decides) else { return next };
        let bound = |tag: Instant| match decides {
            Decides::Earlier => tag.min(due + apart),
            Decides::Later => tag.max(Instant::from_ns(due.as_ns().saturating_sub(apart.as_ns()))),
        };
        Self { ios: bound(next.ios), bytes: bound(next.bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use core::num::NonZeroU64;

    fn rates(iops: u64, kib: u64) -> Rates {
        Rates { iops: NonZeroU64::new(iops), bytes_per_s: NonZeroU64::new(kib << 10) }
    }

    /// When each of these requests, in KiB, is due, in ms.
    fn due(rates: &Rates, decides: Decides, kib: &[u64]) -> Vec<u64> {
        let mut tags = Paced::from(Instant::ZERO);
        let mut next = |kib: &u64| {
            let at = tags.due(rates, decides).expect("there is a rate").as_ns() / 1_000_000;
            let amount = Amount { ios: 1, bytes: kib << 10, ..Amount::NONE };
            tags = tags.after(amount, rates, decides, Span::from_ms(100));
            at
        };
        kib.iter().map(&mut next).collect()
    }

    #[test]
    fn requests_that_alternate_reach_both_rates() {
        // 10 ms each by their number; 1 ms and 19 ms by their length.
        let rates = rates(100, 1000);
        assert_eq!(due(&rates, Decides::Later, &[1, 19, 1, 19, 1]), [0, 10, 20, 30, 40]);
        assert_eq!(due(&rates, Decides::Earlier, &[1, 19, 1, 19, 1]), [0, 1, 20, 21, 40]);
    }

    #[test]
    fn what_the_other_rate_leaves_is_kept_for_a_burst_at_most() {
        // Large requests take 100 ms by their length. Then small ones may make up for 100 ms.
        let rates = rates(100, 1000);
        let mut kib = alloc::vec![100; 20];
        kib.extend([1; 15]);
        let due = due(&rates, Decides::Later, &kib);
        assert_eq!(due[19..22], [1900, 2000, 2001]);
        assert_eq!(due[30..], [2010, 2011, 2020, 2030, 2040]);
    }

    #[test]
    fn a_group_that_was_away_earned_nothing() {
        let rates = rates(100, 1000);
        let amount = Amount { ios: 1, bytes: 1 << 10, ..Amount::NONE };
        let tags =
            Paced::from(Instant::ZERO).after(amount, &rates, Decides::Later, Span::from_ms(100));
        let back = Instant::ZERO + Span::from_s(1);
        let tags = tags.not_before(back, &rates, Decides::Later);
        assert_eq!((tags.ios, back - tags.bytes), (back, Span::from_ms(9)));
    }

    #[test]
    fn one_rate_alone_decides() {
        for decides in [Decides::Earlier, Decides::Later] {
            let only = Rates { bytes_per_s: None, ..rates(100, 1) };
            assert_eq!(due(&only, decides, &[1, 19, 1]), [0, 10, 20]);
            let only = Rates { iops: None, ..rates(1, 1000) };
            assert_eq!(due(&only, decides, &[1, 19, 1]), [0, 1, 20]);
            assert_eq!(Paced::from(Instant::ZERO).due(&Rates::NONE, decides), None);
        }
    }
}
