//! What was measured as lines of the kernel's `io.cost.model` and `io.cost.qos`.

use fairdisk_core::{Span, Times};
use fairdisk_sim::device::MeasuredParams;

/// The lines for the disk with this number, after what they go by. Source of the keys:
/// Documentation/admin-guide/cgroup-v2.rst.
pub(in crate::commands) fn lines(
    number: &str,
    device: &MeasuredParams,
    doubts: &[String],
) -> String {
    let rate = |time: Span| 1_000_000_000 / time.as_ns().max(1);
    let bytes = |time: Span| rate(time).saturating_mul(Times::LARGE.bytes());
    let six = |of: &str, times: &Times| {
        let (sequential, random) = (rate(times.sequential), rate(times.random));
        let bytes = bytes(times.large_sequential);
        format!("{of}bps={bytes} {of}seqiops={sequential} {of}randiops={random}")
    };
    // When all places at the device are taken, a request waits for those before it.
    let full = |times: &Times| times.random.as_ns() * u64::from(device.depth) / 1_000;
    let (read_us, write_us) = (full(&device.read), full(&device.write));
    let (few_us, depth) = (device.qd1.as_ns() / 1_000, device.depth);
    let doubts: String = doubts.iter().map(|doubt| format!("# Doubt: {doubt}\n")).collect();
    format!(
        "{doubts}# {depth} requests at once: a random read of 4 KiB takes {read_us} us, a write \
         {write_us} us; alone a read takes {few_us} us.\n\
         # io.cost.model:\n{number} ctrl=user model=linear {} {}\n\
         # io.cost.qos: beyond these times the disk has more than it can do at once.\n\
         {number} enable=1 ctrl=user rpct=95.00 rlat={read_us} wpct=95.00 wlat={write_us} \
         min=50.00 max=150.00\n",
        six("r", &device.read),
        six("w", &device.write)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_sim::device::Pauses;

    #[test]
    fn the_kernel_gets_its_six_coefficients() {
        let us = Span::from_us;
        let read = Times {
            sequential: us(10),
            random: us(20),
            large_sequential: us(1000),
            large_random: us(1000),
        };
        let write = Times { sequential: us(40), random: us(50), ..read };
        let device = MeasuredParams {
            capacity_sectors: 1,
            depth: 32,
            rotational: false,
            read,
            write,
            qd1: us(100),
            qd2: us(50),
            pauses: Pauses::NONE,
            flush: us(0),
        };
        let text = lines("8:0", &device, &[]);
        let model = "8:0 ctrl=user model=linear rbps=262144000 rseqiops=100000 rrandiops=50000 \
                     wbps=262144000 wseqiops=25000 wrandiops=20000\n";
        let qos = "8:0 enable=1 ctrl=user rpct=95.00 rlat=640 wpct=95.00 wlat=1600 min=50.00 \
                   max=150.00\n";
        assert!(text.contains(model) && text.ends_with(qos), "{text}");
    }
}
