//! The settings of a group other than its share, in the form in which experiments and mounts write
//! them.

use fairdisk_core::{Qos, Span};

/// The settings of a group other than its share, as keys and values.
pub(crate) fn limits(qos: &Qos) -> impl Iterator<Item = (&'static str, String)> + use<> {
    let Qos { floor, ceiling, burst, latency_p99 } = *qos;
    let ms = |span: Span| format!("{}", span.as_ns() as f64 / 1e6);
    let has_burst = !ceiling.is_none() && burst != Qos::NONE.burst;
    let all = [
        ("min_iops", floor.iops.map(|rate| rate.to_string())),
        ("min_bps", floor.bytes_per_s.map(|rate| rate.to_string())),
        ("max_iops", ceiling.iops.map(|rate| rate.to_string())),
        ("max_bps", ceiling.bytes_per_s.map(|rate| rate.to_string())),
        ("burst_ms", has_burst.then(|| ms(burst))),
        ("latency_p99_ms", latency_p99.map(ms)),
    ];
    all.into_iter().filter_map(|(key, value)| Some((key, value?)))
}
