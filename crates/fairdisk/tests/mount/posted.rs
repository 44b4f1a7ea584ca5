//! The four runs in the cover letter of the patch set (3 April 2008), with smaller files: two `dd`
//! read side by side, and which one is done first depends on the groups and, inside a group, on
//! `ionice`.

use crate::host::{Host, finish, lacks_something};
use crate::prediction::{self, Reader};
use std::process::Child;
use std::time::Duration;

/// The tolerance, in percentage points, for the favoured reader's share of the bytes compared with
/// the lab.
const POINTS: f64 = 5.0;
/// The tolerance if no reader is favoured. A reader that once comes back late loses a slice, which
/// is a fourteenth of the bytes, and the one that starts first has one more.
const POINTS_EQUAL: f64 = 10.0;

/// Runs two readers. Returns the seconds that each `dd` reports. Until the first is done they must
/// share the bytes as the lab predicts.
fn run(groups: &[(&str, &str)], readers: [Reader; 2]) -> [f64; 2] {
    let mut host = Host::new();
    for file in ["data1", "data2"] {
        host.make_file(file, MIB);
    }
    host.mount_well(&["--device-model", "wd2500js", "--scheduler", "two-layer-cfq"]);
    let paths: Vec<String> =
        groups.iter().map(|(name, setting)| host.group(name, setting)).collect();
    let path = |name: &str| paths.iter().find(|path| path.ends_with(&format!("/{name}"))).unwrap();
    let mut children =
        [("data1", readers[0]), ("data2", readers[1])].map(|(file, (group, level))| {
            let command =
                format!("ionice -c 2 -n {level} dd if={} of=/dev/null bs=1M", host.file(file));
            host.start(path(group), &command)
        });
    let share = share_while_both_run(&mut children);
    let seconds = children.map(|child| seconds(&finish(child)));
    let predicted = prediction::share(host.scratch(), groups, readers, MIB);
    println!("{share:.1} % of the bytes to the first while both ran, the lab says {predicted:.1}");
    let points = if (predicted - 50.0).abs() < 5.0 { POINTS_EQUAL } else { POINTS };
    assert!((share - predicted).abs() <= points, "{share:.1} %, the lab says {predicted:.1}");
    seconds
}

/// The first reader's share, in percent, of what both have read when one of them ends.
fn share_while_both_run(children: &mut [Child; 2]) -> f64 {
    let whole = (MIB << 20) as f64;
    loop {
        let read = children.each_ref().map(has_read);
        let ended = children.each_mut().map(|child| child.try_wait().unwrap().is_some());
        let read = match ended {
            [false, false] => {
                // Sleeps, in order not to keep either from its CPU.
                fairdisk_plane::pause(Duration::from_millis(5));
                continue;
            }
            [true, false] => [whole, read[1].unwrap()],
            [false, true] => [read[0].unwrap(), whole],
            [true, true] => [whole, whole],
        };
        return 100.0 * read[0] / (read[0] + read[1]);
    }
}

/// The number of bytes that a program has read; `None` if it has ended.
fn has_read(child: &Child) -> Option<f64> {
    let said = std::fs::read_to_string(format!("/proc/{}/io", child.id())).ok()?;
    said.lines().find_map(|line| line.strip_prefix("rchar: "))?.parse().ok()
}

fn seconds(said: &str) -> f64 {
    let line = said.lines().find(|line| line.contains("copied")).unwrap();
    let part = line.split(", ").find(|part| part.ends_with(" s")).unwrap();
    part.trim_end_matches(" s").parse().unwrap()
}

const MIB: usize = 96;

#[test]
fn in_one_group_equal_tasks_finish_together() {
    if lacks_something() {
        return;
    }
    let [first, second] = run(&[("test", "ioprio=4")], [("test", 3), ("test", 3)]);
    println!("{first} s, {second} s; published 27.8 and 28.8");
    assert!((first / second - 1.0).abs() < 0.25, "{first} and {second}");
}

#[test]
fn in_one_group_the_better_level_is_done_first() {
    if lacks_something() {
        return;
    }
    let [high, low] = run(&[("test", "ioprio=4")], [("test", 0), ("test", 7)]);
    println!("{high} s, {low} s; published 18.8 and 28.1");
    assert!(high < 0.85 * low, "{high} and {low}");
}

#[test]
fn levels_do_not_count_between_groups() {
    if lacks_something() {
        return;
    }
    let groups = [("test", "ioprio=4"), ("test2", "ioprio=4")];
    let [high, low] = run(&groups, [("test", 0), ("test2", 7)]);
    println!("{high} s, {low} s; published 28.2 and 28.8");
    assert!((high / low - 1.0).abs() < 0.25, "{high} and {low}");
}

#[test]
fn the_better_group_is_done_first_whatever_the_levels() {
    if lacks_something() {
        return;
    }
    let groups = [("test", "ioprio=7"), ("test2", "ioprio=0")];
    let [low, high] = run(&groups, [("test", 0), ("test2", 7)]);
    println!("{low} s, {high} s; published 27.4 and 17.4");
    assert!(high < 0.75 * low, "{low} and {high}");
}
