//! For whom BFQ keeps the disk free, and what that does to shares and throughput.

#[path = "support/device.rs"]
mod device;

use device::{Device, Serves};
use fairdisk_core::Span;
use fairdisk_sched::bfq::{Bfq, BfqParams};

const FLASH: Serves = Serves { depth: 32, time: Span::from_us(100), one_by_one: false };

fn bfq(low_latency: bool) -> Bfq {
    Bfq::new(&BfqParams { low_latency, ..BfqParams::default() })
}

/// Requests per second of eight readers that started one after the other.
fn eight_readers(low_latency: bool) -> (u32, u32) {
    let mut disk = Device::new(bfq(low_latency), FLASH, false);
    for _ in 0..8 {
        disk.add_task(0, 1);
        disk.run(Span::from_ms(150));
    }
    disk.run(Span::from_s(1));
    let raised = disk.of_group(0);
    disk.run(Span::from_s(11));
    disk.run(Span::from_s(1));
    (raised, disk.of_group(0))
}

#[test]
fn nobody_is_waited_for_once_all_weights_are_what_they_were() {
    let all = eight_readers(false).0;
    let (raised, later) = eight_readers(true);
    println!("{all}, raised {raised}, later {later}");
    assert!(raised < all / 4, "one after the other: {raised} of {all}");
    assert!(later >= all / 10 * 9, "all of them at once: {later} of {all}");
}
