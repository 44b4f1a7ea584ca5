//! Contradictory group settings: the one check that experiments, advice and running mounts share.

use crate::qos::{Qos, Rates};
use crate::qos_key::QosKey;
use core::fmt;
use core::num::NonZeroU64;

/// Two settings of a group that cannot both hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contradiction {
    /// The group has both a weight and a priority; each alone defines its share.
    Shares {
        /// The name of the priority setting at the place where it was given.
        priority: &'static str,
    },
    /// A ceiling is below the floor of the same rate.
    Ceiling {
        /// The ceiling setting.
        key: QosKey,
        /// The ceiling, in I/Os or bytes per second.
        ceiling: NonZeroU64,
        /// The floor, in the unit of the ceiling.
        floor: NonZeroU64,
    },
    /// A burst is given without a ceiling that it could apply to.
    Burst,
    /// The rate of bursts is not above that of a ceiling.
    Peak {
        /// The setting of that rate.
        key: QosKey,
        /// The setting of the ceiling.
        ceiling: QosKey,
    },
    /// The duration of bursts is given without a rate for them.
    PeakFor,
}

impl Contradiction {
    /// The name of the setting to report as the faulty one.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Shares { .. } => "weight",
            Self::Ceiling { key, .. } => key.name(),
            Self::Burst => QosKey::Burst.name(),
            Self::Peak { key, .. } => key.name(),
            Self::PeakFor => QosKey::BurstFor.name(),
        }
    }
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shares { priority } => {
                write!(f, "`{priority}` and `weight` exclude each other; drop one of them")
            }
            Self::Ceiling { key, ceiling, floor } => write!(
                f,
                "`{}` is {ceiling}; allowed: {floor} or more, which the group is to get at least",
                key.name()
            ),
            Self::Burst => f.write_str(
                "`burst_ms` is about a ceiling; add `max_iops` or `max_bps`, or drop it",
            ),
            Self::Peak { key, ceiling } => write!(
                f,
                "`{}` is a rate above that of a ceiling; add a `{}` below it, or drop it",
                key.name(),
                ceiling.name()
            ),
            Self::PeakFor => f.write_str(
                "`burst_for` is about a rate of bursts; add `burst_iops` or `burst_bps`, or drop \
                 it",
            ),
        }
    }
}

impl Qos {
    /// Checks that the settings do not contradict each other. Every [`Qos`] contains a burst, so
    /// `has_burst` says whether the user set one.
    ///
    /// # Errors
    /// Returns the first contradiction found.
    pub fn check(&self, has_burst: bool) -> Result<(), Contradiction> {
        let Rates { iops, bytes_per_s } = self.floor;
        let pairs = [
            (QosKey::MaxIops, self.ceiling.iops, iops),
            (QosKey::MaxBps, self.ceiling.bytes_per_s, bytes_per_s),
        ];
        for (key, ceiling, floor) in pairs {
            if let (Some(ceiling), Some(floor)) = (ceiling, floor)
                && ceiling < floor
            {
                return Err(Contradiction::Ceiling { key, ceiling, floor });
            }
        }
        let peaks = [
            (QosKey::BurstIops, self.peak.iops, QosKey::MaxIops, self.ceiling.iops),
            (QosKey::BurstBps, self.peak.bytes_per_s, QosKey::MaxBps, self.ceiling.bytes_per_s),
        ];
        for (key, peak, ceiling, rate) in peaks {
            if peak.is_some_and(|peak| rate.is_none_or(|rate| peak <= rate)) {
                return Err(Contradiction::Peak { key, ceiling });
            }
        }
        if self.peak_for != Self::NONE.peak_for && self.peak.is_none() {
            return Err(Contradiction::PeakFor);
        }
        if has_burst && self.is_unlimited() { Err(Contradiction::Burst) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;
    use std::string::ToString as _;

    #[test]
    fn a_burst_at_a_rate_is_above_a_ceiling() {
        let iops = |rate| Rates { iops: NonZeroU64::new(rate), ..Rates::NONE };
        let check = |ceiling, peak, s| {
            let qos = Qos { ceiling, peak, peak_for: Span::from_s(s), ..Qos::NONE };
            qos.check(false).map_err(|it| it.key())
        };
        assert_eq!(check(iops(10), iops(11), 5), Ok(()));
        assert_eq!(check(iops(10), iops(10), 5), Err("burst_iops"));
        assert_eq!(check(Rates::NONE, iops(10), 5), Err("burst_iops"));
        assert_eq!(check(iops(10), Rates::NONE, 5), Err("burst_for"));
    }

    #[test]
    fn a_ceiling_leaves_room_for_the_floor_and_a_burst_has_a_ceiling() {
        let rates = |iops, bytes| Rates {
            iops: NonZeroU64::new(iops),
            bytes_per_s: NonZeroU64::new(bytes),
        };
        let check = |floor, ceiling, has_burst| {
            let qos = Qos { floor, ceiling, ..Qos::NONE };
            qos.check(has_burst).map_err(|it| (it.key(), it.to_string()))
        };
        assert_eq!(check(rates(10, 0), rates(10, 5), true), Ok(()));
        assert_eq!(check(rates(10, 9), Rates::NONE, false), Ok(()));
        for (floor, ceiling, key, says) in [
            (rates(10, 0), rates(9, 0), "max_iops", "`max_iops` is 9; allowed: 10 or more"),
            (rates(1, 6), rates(1, 5), "max_bps", "`max_bps` is 5; allowed: 6 or more"),
            (rates(10, 0), Rates::NONE, "burst_ms", "`burst_ms` is about a ceiling"),
        ] {
            let (at, text) = check(floor, ceiling, true).unwrap_err();
            assert!(at == key && text.starts_with(says), "{at}: {text}");
        }
    }
}
