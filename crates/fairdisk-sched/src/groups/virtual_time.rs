//! Service by weight.

use fairdisk_core::Span;

/// Service divided by weight. 64 bits of it would be used up within months by a busy group of the
/// smallest.
pub(crate) type VirtualTime = u128;

/// Parts of a nanosecond: rounding must not show at the largest weight.
const SCALE: u64 = 1 << 10;

/// Service of one of this weight.
pub(crate) const fn virtual_time(service: Span, weight: u64) -> VirtualTime {
    (service.as_ns().saturating_mul(SCALE) / weight) as VirtualTime
}

/// And back.
pub(crate) const fn service(virtual_time: VirtualTime, weight: u64) -> Span {
    let ns = virtual_time.saturating_mul(weight as u128) / SCALE as u128;
    Span::from_ns(if ns > u64::MAX as u128 { u64::MAX } else { ns as u64 })
}
