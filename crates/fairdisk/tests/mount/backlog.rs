//! Direct I/O beside buffered writes of their own group that wait for the disk.

use crate::host::{Host, finish, lacks_something, wait_until};
use fairdisk_core::Span;
use fairdisk_plane::{Clock as _, MonotonicClock};

const WRITES: u64 = 8;

/// Nobody waits for buffered writes, so direct ones go first, wherever they go: into blocks that
/// the file system has yet to mark as written, or over pages that wait to be written out, which
/// then go first as well. Each of these waited for all 32 MiB, which takes this disk 20 s. Nor do
/// they wait for an `fsync` of all that.
#[test]
fn a_direct_write_does_not_wait_for_the_buffered_ones_of_its_group() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.mount_well(&["--device-model", "wd2500js"]);
    host.make_file("buffered", 64);
    let group = host.group("both", "weight=100");
    let (buffered, reserved) = (host.file("buffered"), host.file("reserved"));
    finish(host.start(&group, &format!("fallocate -l 1M {reserved}")));
    let fill = format!(
        "fio --name=fill --filename={buffered} --size=64m --rw=randwrite --bs=4k --ioengine=psync \
         --direct=0 --fallocate=none --thread --time_based --runtime=60"
    );
    let mut filling = host.start(&group, &fill);
    // By then as much is dirty as a group may have.
    wait_until(|| host.device_time(std::slice::from_ref(&group))[0] > 500.0);
    let timed = |file: &str, flags: &str| {
        let dd = format!("dd {file} bs=4k count={WRITES} {flags} status=none");
        let clock = MonotonicClock::start();
        let begun = clock.now();
        finish(host.start(&group, &dd));
        let each = clock.now().since(begun) / WRITES;
        println!("{file}, {flags}: {each} each");
        assert!(each < Span::from_ms(500), "{file}, {flags}: {each} each");
    };
    let write = |file: &str| {
        timed(&format!("if=/dev/zero of={file}"), "conv=notrunc oflag=direct");
    };
    let read = || timed(&format!("if={buffered} of=/dev/null"), "iflag=direct");
    write(&reserved);
    write(&buffered);
    read();
    // All of the backlog is waited for now, but not by these. The kernel has writes to the file
    // itself wait.
    let mut syncing = host.start(&group, &format!("sync {buffered}"));
    wait_until(|| host.device_time(std::slice::from_ref(&group))[0] > 1500.0);
    write(&reserved);
    read();
    assert!(syncing.try_wait().unwrap().is_none(), "it still waits");
    syncing.kill().unwrap();
    syncing.wait().unwrap();
    filling.kill().unwrap();
    filling.wait().unwrap();
    host.unmount();
}
