//! The setting `idle`: how long the disk is kept idle for a group that has nothing queued.

use crate::host::{Host, finish, lacks_something, text};

fn set(host: &Host, group: &str, idle: &str) {
    let done = host.ctl(&["set", group, &format!("idle={idle}")]);
    assert!(done.status.success(), "{}", text(&done));
    let wanted: Option<u64> = idle.parse().ok();
    assert_eq!(host.entry(group)["idle_ms"].as_u64(), wanted);
}

/// The first group's share, in percent, of the disk's time in the next 1.5 s.
fn share(host: &Host, groups: &[String]) -> f64 {
    let before = host.device_time(groups);
    loop {
        let now = host.device_time(groups);
        let got: Vec<f64> = now.iter().zip(&before).map(|(now, before)| now - before).collect();
        let all: f64 = got.iter().sum();
        if all >= 1500.0 {
            return 100.0 * got[0] / all;
        }
    }
}

/// A reader that thinks for 5 ms after every read competes with four that never pause. With idling
/// it gets most of the disk's time, as its weight says; without, at most every other read.
#[test]
fn a_group_that_thinks_keeps_the_disk_if_it_is_waited_for() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.make_file("a", 64);
    host.make_file("b", 64);
    host.mount_well(&["--device-model", "hdd-7200-2007"]);
    let groups = [host.group("thinks", "weight=800"), host.group("rests-not", "weight=100")];
    let fio = |name: &str, more: &str| {
        format!(
            "fio --name=job --filename={} --size=64M --bs=4k --rw=randread --direct=1 \
             --runtime=8 --time_based --minimal {more}",
            host.file(name)
        )
    };
    let thinks = host.start(&groups[0], &fio("a", "--thinktime=5000 --thinktime_spin=0"));
    let other = host.start(&groups[1], &fio("b", "--numjobs=4"));
    while host.device_time(&groups).iter().any(|time| *time < 100.0) {}
    set(&host, &groups[0], "0");
    let never = share(&host, &groups);
    set(&host, &groups[0], "30");
    let waited_for = share(&host, &groups);
    set(&host, &groups[0], "default");
    println!("never waited for {never:.1} %, waited for {waited_for:.1} %, asked for 89 %");
    assert!(never < 55.0, "{never:.1} % though it is never waited for");
    assert!(waited_for > never + 15.0, "{waited_for:.1} % with, {never:.1} % without waiting");
    let got = host.ctl(&["set", &groups[0], "idle=2000"]);
    assert!(text(&got).contains("0 to 1000, or default"), "{}", text(&got));
    finish(thinks);
    finish(other);
    host.unmount();
}
