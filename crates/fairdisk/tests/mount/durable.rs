//! Writes that are durable when they return, on a disk with a write cache.

use crate::host::{Host, finish, lacks_something};

const WRITES: f64 = 60.0;

/// The disk only takes other writes into its cache. Each of these waits until the disk has written
/// what it was given, a whole turn after the one before.
#[test]
fn a_disk_with_a_cache_does_durable_writes_before_they_return() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.mount_well(&["--device-model", "hdd-7200-2007"]);
    host.make_file("file", 1);
    let group = [host.group("writer", "weight=100")];
    let ms_each = |flags: &str| {
        let before = host.device_time(&group)[0];
        let file = host.file("file");
        let write = format!("dd if=/dev/zero of={file} bs=4k count={WRITES} conv=notrunc");
        finish(host.start(&group[0], &format!("{write} oflag={flags}")));
        (host.device_time(&group)[0] - before) / WRITES
    };
    // A turn takes 8.3 ms. The heads may have to move for the first.
    for (flags, durable) in
        [("direct", false), ("dsync", true), ("direct,dsync", true), ("direct,sync", true)]
    {
        let ms = ms_each(flags);
        println!("{flags}: {ms:.2} ms each");
        assert_eq!((4.0..20.0).contains(&ms), durable, "{flags}: {ms} ms");
    }
    host.unmount();
}
