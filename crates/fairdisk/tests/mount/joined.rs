//! Several mounts on one disk, which share it, whichever partition each is on.

use crate::host::{Host, fairdisk, finish, lacks_something, text, wait_until};
use crate::loop_disk::LoopDisk;
use crate::process::{is_alive, process, signal};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::{panicking, yield_now};

/// A disk with two partitions, and places to mount them at. Mounts are removed before the disk.
pub(crate) struct Two {
    mounted: Vec<PathBuf>,
    /// The processes that serve or have served the mounts.
    processes: Vec<i32>,
    disk: LoopDisk,
    pub(crate) host: Host,
}

/// Sets up the disk; `None` if something is missing, such as loop devices with partitions.
pub(crate) fn two() -> Option<Two> {
    if lacks_something() {
        return None;
    }
    let host = Host::new();
    match LoopDisk::new(host.scratch()) {
        Ok(disk) => Some(Two { mounted: Vec::new(), processes: Vec::new(), disk, host }),
        Err(why) => {
            println!("skipped: {why}");
            None
        }
    }
}

impl Two {
    pub(crate) fn source(&self, part: u32) -> PathBuf {
        self.host.scratch().join(format!("part{part}"))
    }

    /// A place to mount at. The first one is where the host looks.
    pub(crate) fn place(&self, number: u32) -> PathBuf {
        let at = match number {
            1 => self.host.at(),
            _ => self.host.scratch().join(format!("mount{number}")),
        };
        let _ = fs::create_dir(&at);
        at
    }

    fn command(&mut self, (part, number): (u32, u32), args: &[&str]) -> Command {
        let at = self.place(number);
        let mut command = Command::new(env!("CARGO_BIN_EXE_fairdisk"));
        command.arg("mount").args([&self.source(part), &at]).args(args);
        if !self.mounted.contains(&at) {
            self.mounted.push(at);
        }
        command
    }

    fn try_mount(&mut self, what: (u32, u32), args: &[&str]) -> Output {
        self.command(what, args).output().unwrap()
    }

    /// Mounts a partition at a place. Returns the process that serves it.
    pub(crate) fn mount(&mut self, what: (u32, u32), args: &[&str]) -> i32 {
        let output = self.try_mount(what, args);
        assert!(output.status.success(), "{}", text(&output));
        let process = process(&text(&output));
        self.processes.push(process);
        process
    }

    /// Mounts in the foreground. Returns the process that serves the mount, and the foreground
    /// process.
    pub(crate) fn foreground(&mut self, what: (u32, u32)) -> (i32, Child) {
        let mut command = self.command(what, &["--foreground"]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        // Keeps reading, so that the process never blocks on a full pipe.
        std::thread::spawn(move || said.lines().for_each(drop));
        let process = process(&line);
        self.processes.push(process);
        (process, child)
    }

    pub(crate) fn unmount(&self, number: u32) {
        assert!(Command::new("umount").arg(self.place(number)).status().unwrap().success());
    }

    fn ctl(&self, number: u32, args: &[&str]) -> Output {
        let at = self.place(number);
        fairdisk(&[&["ctl", "--at", at.to_str().unwrap()], args].concat())
    }

    fn status(&self, number: u32) -> Value {
        let output = self.ctl(number, &["list", "--json"]);
        assert!(output.status.success(), "{}", text(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The mount points that the process behind a place serves.
    fn places(&self, number: u32) -> Vec<PathBuf> {
        let status = self.status(number);
        let mounts = status["mounts"].as_array().unwrap();
        mounts.iter().map(|mount| PathBuf::from(mount["mountpoint"].as_str().unwrap())).collect()
    }

    pub(crate) fn works(&self, number: u32) {
        let file = self.place(number).join("works");
        fs::write(&file, "yes").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "yes");
    }

    fn load(&self, group: &str, number: u32, seconds: u32) -> Child {
        let file = self.place(number).join("data");
        let command = format!(
            "fio --name=job --filename={} --size=64M --bs=4k --rw=randread --direct=1 \
             --ioengine=psync --numjobs=4 --runtime={seconds} --time_based --minimal",
            file.display()
        );
        self.host.start(group, &command)
    }
}

impl Drop for Two {
    fn drop(&mut self) {
        for at in &self.mounted {
            let _ = Command::new("umount").args(["-l", "-q"]).arg(at).output();
        }
        // These processes hold the disk until they have ended.
        if !panicking() {
            wait_until(|| !self.processes.iter().any(|process| is_alive(*process)));
        }
    }
}

fn is_mounted(at: &Path) -> bool {
    let at = format!(" {} ", at.display());
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
    table.lines().any(|line| line.contains(&at) && line.contains("fuse.fairdisk"))
}

#[test]
fn groups_share_the_disk_across_its_partitions() {
    let Some(mut two) = two() else { return };
    for part in [1, 2] {
        fs::write(two.source(part).join("data"), vec![b'x'; 64 << 20]).unwrap();
    }
    let model = ["--device-model", "wd2500js"];
    let process = two.mount((1, 1), &model);
    assert_eq!(two.mount((2, 2), &model), process);
    assert_eq!(two.status(2)["disk"], two.disk.name());
    let groups = [two.host.group("heavy", "weight=800"), two.host.group("light", "weight=100")];
    let loads = [two.load(&groups[0], 1, 10), two.load(&groups[1], 2, 10)];
    // Counted only while both are working.
    let mut before = two.host.device_time(&groups);
    while before.contains(&0.0) {
        before = two.host.device_time(&groups);
    }
    let mut time = vec![0.0; 2];
    while time.iter().sum::<f64>() < 6000.0 {
        let now = two.host.device_time(&groups);
        time = now.iter().zip(&before).map(|(now, before)| now - before).collect();
        yield_now();
    }
    loads.into_iter().for_each(|load| drop(finish(load)));
    let share = 100.0 * time[0] / time.iter().sum::<f64>();
    println!("heavy {share:.1} %, asked for 88.9 %");
    assert!((share - 88.9).abs() < 5.0, "{share}");
}

#[test]
fn mounts_come_and_go_one_by_one() {
    let Some(mut two) = two() else { return };
    let first = two.mount((1, 1), &[]);
    assert_eq!(two.mount((2, 2), &["--read-only"]), first);
    let joined = two.try_mount((1, 3), &[]);
    assert_eq!(process(&text(&joined)), first, "the same source once more");
    assert_eq!(joined.stderr, b"", "what becomes of it is told where the first one tells it");
    for number in [1, 2, 3] {
        let at = [1, 2, 3].map(|number| two.place(number));
        assert_eq!(two.places(number), at, "asked at {number}");
    }
    let refused = fs::write(two.place(2).join("a"), "x").unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(30), "each has its own options: {refused}");
    two.unmount(1);
    two.works(3);
    wait_until(|| two.places(3).len() == 2);
    assert!(!two.ctl(1, &["list"]).status.success(), "there is nothing mounted any more");
    assert_eq!(two.mount((2, 1), &[]), first, "somebody is still there");
    two.works(1);
    for number in [3, 2, 1] {
        two.unmount(number);
    }
    // The next mount has the disk to itself, however soon it comes.
    assert_ne!(two.mount((1, 1), &["--scheduler", "noop"]), first);
    two.works(1);
    wait_until(|| !is_alive(first));
}

#[test]
fn who_wants_other_settings_is_told_what_differs() {
    let Some(mut two) = two() else { return };
    let first = two.mount((1, 1), &["--device-model", "wd2500js"]);
    for (args, says) in [
        (&["--device-model", "wd2500js", "--scheduler", "noop"][..], "--scheduler is fair"),
        (&[], "--device-model is wd2500js, asked for is the disk's own pace"),
        (&["--device-model", "wd2500js", "--depth", "8"], "--depth is what suits the disk"),
    ] {
        let output = two.try_mount((2, 2), args);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        for part in [says, two.disk.name(), "--separate"] {
            assert!(text(&output).contains(part), "{part}: {}", text(&output));
        }
    }
    let separate = two.mount((2, 2), &["--separate", "--scheduler", "noop"]);
    assert_ne!(separate, first);
    assert_eq!(two.places(2), [two.place(2)]);
    assert_eq!(two.places(1), [two.place(1)]);
    let unscheduled = two.mount((2, 3), &["--unscheduled"]);
    assert!(![first, separate].contains(&unscheduled));
}

#[test]
fn mounts_on_a_disk_go_by_the_costs_of_the_first() {
    let Some(mut two) = two() else { return };
    let first = two.mount((1, 1), &["--costs", "nvme"]);
    assert_eq!(two.mount((2, 2), &[]), first);
    assert_eq!(two.mount((2, 3), &["--costs", "nvme"]), first);
    let output = two.try_mount((1, 4), &["--costs", "sata-ssd"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("--costs is nvme, asked for is sata-ssd"), "{}", text(&output));
}

#[test]
fn mounts_that_start_at_once_meet_in_one_process() {
    let Some(mut two) = two() else { return };
    let started: Vec<Child> = (1..=6)
        .map(|number| {
            let mut command = two.command((1 + number % 2, number), &[]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    two.processes = started
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", text(&output));
            process(&text(&output))
        })
        .collect();
    let processes = &two.processes;
    assert!(processes.iter().all(|process| *process == processes[0]), "{processes:?}");
    assert_eq!(two.places(4).len(), 6);
}

#[test]
fn of_those_that_start_at_once_at_one_place_one_is_mounted() {
    let Some(mut two) = two() else { return };
    let at = two.place(1);
    // Most of them join, which is quick; with --separate, each has a process of its own.
    two.mount((1, 2), &[]);
    for (rounds, options) in [(30, &[][..]), (10, &["--separate"])] {
        for _ in 0..rounds {
            let mut command = || {
                let mut command = two.command((1, 1), options);
                command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
            };
            let all = [(); 4].map(|()| command());
            let done = all.into_iter().filter_map(|mut child| child.wait().ok());
            assert_eq!(done.filter(|status| status.success()).count(), 1, "{options:?}");
            two.unmount(1);
            assert!(!is_mounted(&at));
        }
    }
}

#[test]
fn a_process_that_was_killed_is_in_nobodys_way() {
    let Some(mut two) = two() else { return };
    let first = two.mount((1, 1), &[]);
    two.mount((2, 2), &[]);
    signal(first, Signal::KILL);
    wait_until(|| !is_alive(first));
    let second = two.mount((2, 2), &[]);
    assert_ne!(second, first);
    assert_eq!(two.mount((1, 1), &[]), second);
    for number in [1, 2] {
        two.works(number);
        assert_eq!(two.places(number).len(), 2);
    }
}

#[test]
fn a_mount_joins_and_leaves_under_load() {
    let Some(mut two) = two() else { return };
    fs::write(two.source(1).join("data"), vec![b'x'; 64 << 20]).unwrap();
    let first = two.mount((1, 1), &[]);
    let group = two.host.group("tenant", "weight=100");
    let load = two.load(&group, 1, 3);
    while two.host.device_time(std::slice::from_ref(&group))[0] == 0.0 {}
    for _ in 0..3 {
        assert_eq!(two.mount((2, 2), &[]), first);
        two.works(2);
        two.unmount(2);
    }
    finish(load);
    two.works(1);
}

/// A process that was told to end, but waits for open files, accepts no more mounts, and its mounts
/// end with their users.
#[test]
fn who_comes_while_a_process_ends_has_the_disk_to_itself() {
    let Some(mut two) = two() else { return };
    let first = two.mount((1, 1), &[]);
    let (served_by, mut joined) = two.foreground((1, 3));
    assert_eq!(served_by, first);
    let open = fs::File::create(two.place(1).join("open")).unwrap();
    signal(first, Signal::TERM);
    wait_until(|| !is_mounted(&two.place(1)));
    let second = two.mount((2, 2), &[]);
    assert_ne!(second, first);
    assert_eq!((&two.status(2)["scheduler"], two.places(2)), (&"fair".into(), vec![two.place(2)]));
    assert!(joined.wait().unwrap().success());
    assert!(is_alive(first), "somebody has a file open");
    drop(open);
    wait_until(|| !is_alive(first));
    two.works(2);
}

/// What its last mount has written keeps a process alive, and so the disk's scheduler: whoever
/// comes meanwhile and asks for nothing else shares the disk with that.
#[test]
fn who_comes_while_the_last_mount_is_written_out_joins() {
    let Some(mut two) = two() else { return };
    let first = two.mount((1, 1), &[]);
    let group = two.host.group("slow", "max_bps=256K");
    let data = two.place(1).join("data");
    let write = format!("dd if=/dev/zero of={} bs=1M count=8", data.display());
    finish(two.host.start(&group, &write));
    two.unmount(1);
    let other = two.try_mount((1, 1), &["--scheduler", "noop"]);
    assert_eq!(other.status.code(), Some(2), "{}", text(&other));
    assert!(text(&other).contains("wait for what its last mount still writes"), "{}", text(&other));
    assert_eq!(two.mount((2, 2), &[]), first);
    two.works(2);
    assert_eq!(two.mount((1, 1), &[]), first);
    assert_eq!(fs::metadata(&data).unwrap().len(), 8 << 20);
    signal(first, Signal::TERM);
    wait_until(|| !is_mounted(&two.place(2)));
    assert_ne!(two.mount((2, 2), &[]), first, "it was told to end");
    wait_until(|| !is_alive(first));
}

/// A copy of a mount serves its files for as long as it exists, and delays no new mount.
#[test]
fn a_copy_of_a_mount_elsewhere_is_in_nobodys_way() {
    let Some(mut two) = two() else { return };
    let first = two.mount((1, 1), &[]);
    two.works(1);
    let (at, copy) = (two.place(1), two.place(4));
    assert!(Command::new("mount").arg("--bind").args([&at, &copy]).status().unwrap().success());
    signal(first, Signal::TERM);
    wait_until(|| !is_mounted(&at));
    assert_eq!(fs::read_to_string(copy.join("works")).unwrap(), "yes");
    let second = two.mount((2, 2), &[]);
    assert_ne!(second, first);
    two.works(2);
    assert!(is_alive(first), "the copy is there");
    assert!(Command::new("umount").arg(&copy).status().unwrap().success());
    wait_until(|| !is_alive(first));
}

/// Nor does a copy delay the unmounting of a mount that has joined.
#[test]
fn who_unmounts_does_not_wait_for_a_copy() {
    let Some(mut two) = two() else { return };
    let first = two.mount((1, 1), &[]);
    let (_, mut joined) = two.foreground((2, 2));
    let (at, copy) = (two.place(2), two.place(4));
    assert!(Command::new("mount").arg("--bind").args([&at, &copy]).status().unwrap().success());
    signal(joined.id() as i32, Signal::TERM);
    assert!(joined.wait().unwrap().success());
    assert!(!is_mounted(&at) && is_mounted(&copy));
    assert_eq!(two.places(1), [two.place(1)]);
    assert!(Command::new("umount").arg(&copy).status().unwrap().success());
    two.unmount(1);
    wait_until(|| !is_alive(first));
}

/// Users of a detached mount keep their files, but the place is free for another mount at once,
/// which is the one that is found and unmounted there.
#[test]
fn a_place_that_was_unmounted_in_use_can_be_used_again() {
    let Some(mut two) = two() else { return };
    let first = two.mount((1, 1), &[]);
    let open = fs::File::create(two.place(1).join("open")).unwrap();
    assert!(Command::new("umount").arg("-l").arg(two.place(1)).status().unwrap().success());
    assert_eq!(two.mount((2, 1), &[]), first);
    assert_eq!(two.places(1), [two.place(1)]);
    two.works(1);
    assert!(two.source(2).join("works").exists());
    signal(first, Signal::TERM);
    wait_until(|| !is_mounted(&two.place(1)));
    assert!(is_alive(first), "somebody has a file open");
    drop(open);
    wait_until(|| !is_alive(first));
}

#[test]
fn in_the_foreground_each_stays_for_its_own_mount() {
    let Some(mut two) = two() else { return };
    let (first, mut owner) = two.foreground((1, 1));
    let (second, mut joined) = two.foreground((2, 2));
    assert_eq!((first, second), (owner.id() as i32, first));
    // A signal to the joined foreground process ends its mount and nothing else.
    signal(joined.id() as i32, Signal::TERM);
    assert!(joined.wait().unwrap().success());
    assert!(!is_mounted(&two.place(2)) && is_mounted(&two.place(1)));
    two.works(1);
    // So does unmounting it.
    let (_, mut joined) = two.foreground((2, 2));
    two.unmount(2);
    assert!(joined.wait().unwrap().success());
    // A signal ends the owner's own mount, while the other one is served on.
    let (_, mut joined) = two.foreground((2, 2));
    signal(first, Signal::INT);
    wait_until(|| !is_mounted(&two.place(1)));
    two.works(2);
    assert!(owner.try_wait().unwrap().is_none());
    signal(joined.id() as i32, Signal::INT);
    assert!(joined.wait().unwrap().success());
    assert!(owner.wait().unwrap().success());
    assert!(!is_mounted(&two.place(2)));
}
