//! The four runs of the patch set's cover letter (3 April 2008), with smaller files: two `dd` read
//! side by side, and who is done first is decided by the group, and inside a group by `ionice`.

use crate::host::{Host, finish, lacks_something};

/// A `dd`: its group, its level inside the best-effort class.
type Reader = (&'static str, u8);

/// Seconds that each `dd` says it took.
fn run(groups: &[(&str, &str)], readers: [Reader; 2], mib: usize) -> [f64; 2] {
    let mut host = Host::new();
    for file in ["data1", "data2"] {
        host.make_file(file, mib);
    }
    host.mount_well(&["--device-model", "wd2500js"]);
    let paths: Vec<String> =
        groups.iter().map(|(name, setting)| host.group(name, setting)).collect();
    let path = |name: &str| paths.iter().find(|path| path.ends_with(&format!("/{name}"))).unwrap();
    let children = [("data1", readers[0]), ("data2", readers[1])].map(|(file, (group, level))| {
        let command =
            format!("ionice -c 2 -n {level} dd if={} of=/dev/null bs=1M", host.file(file));
        host.start(path(group), &command)
    });
    children.map(|child| seconds(&finish(child)))
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
    let [first, second] = run(&[("test", "ioprio=4")], [("test", 3), ("test", 3)], MIB);
    println!("{first} s, {second} s; published 27.8 and 28.8");
    assert!((first / second - 1.0).abs() < 0.25, "{first} and {second}");
}

#[test]
fn in_one_group_the_better_level_is_done_first() {
    if lacks_something() {
        return;
    }
    let [high, low] = run(&[("test", "ioprio=4")], [("test", 0), ("test", 7)], MIB);
    println!("{high} s, {low} s; published 18.8 and 28.1");
    assert!(high < 0.85 * low, "{high} and {low}");
}

#[test]
fn levels_do_not_count_between_groups() {
    if lacks_something() {
        return;
    }
    let groups = [("test", "ioprio=4"), ("test2", "ioprio=4")];
    let [high, low] = run(&groups, [("test", 0), ("test2", 7)], MIB);
    println!("{high} s, {low} s; published 28.2 and 28.8");
    assert!((high / low - 1.0).abs() < 0.25, "{high} and {low}");
}

#[test]
fn the_better_group_is_done_first_whatever_the_levels() {
    if lacks_something() {
        return;
    }
    let groups = [("test", "ioprio=7"), ("test2", "ioprio=0")];
    let [low, high] = run(&groups, [("test", 0), ("test2", 7)], MIB);
    println!("{low} s, {high} s; published 27.4 and 17.4");
    assert!(high < 0.75 * low, "{low} and {high}");
}
