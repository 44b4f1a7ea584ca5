//! Virtual time: service divided by weight.

use fairdisk_core::Span;

/// Service divided by weight, in 1/1024 ns. A 64-bit counter would overflow within months if a
/// group of the smallest weight kept the disk busy.
pub(crate) type VirtualTime = u128;

/// Fraction of a nanosecond that virtual time resolves; rounding must not show at the largest
/// weight.
const SCALE: u64 = 1 << 10;

/// The virtual time of `service` at the given weight.
pub(crate) const fn virtual_time(service: Span, weight: u64) -> VirtualTime {
    if service.as_ns() == 0 {
        // Most charges replace none, and a division is slow.
        return 0;
    }
    (service.as_ns().saturating_mul(SCALE) / weight) as VirtualTime
}

/// The service that a virtual time stands for at the given weight.
pub(crate) const fn service(virtual_time: VirtualTime, weight: u64) -> Span {
    let ns = virtual_time.saturating_mul(weight as u128) / SCALE as u128;
    Span::from_ns(if ns > u64::MAX as u128 { u64::MAX } else { ns as u64 })
}
