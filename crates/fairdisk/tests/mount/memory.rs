//! The memory of the process that serves mounts.

use crate::host::{Host, lacks_something, text, wait_until};
use crate::joined::two;
use crate::process::{is_alive, process};
use fairdisk_plane::buffer::Buffer;
use rustix::fs::OFlags;
use rustix::process::Uid;
use rustix::thread::set_thread_res_uid;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// What the process may have at rest, whatever has been done, in KiB.
const AT_REST_KIB: u64 = 24 << 10;

const MIB: usize = 1 << 20;

/// The resident memory of a process in KiB.
fn resident_kib(process: i32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim_end_matches("kB").trim().parse().unwrap()
}

#[test]
fn memory_of_mounts_that_are_gone_goes_back() {
    let Some(mut two) = two() else { return };
    let process = two.mount((1, 1), &[]);
    for _ in 0..25 {
        assert_eq!(two.mount((2, 2), &[]), process);
        two.works(2);
        two.unmount(2);
    }
    wait_until(|| resident_kib(process) <= AT_REST_KIB);
}

/// A memory cgroup with a limit, removed when dropped.
struct Small(PathBuf);

impl Small {
    /// `None` where there is no controller.
    fn of(mib: u64) -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let place = |line: &str| Path::new(line.split(' ').nth(4).unwrap()).to_owned();
        let is_version1 = |line: &&str| {
            line.contains(" - cgroup ") && line.rsplit(' ').next().unwrap().contains("memory")
        };
        let version1 = mounts.lines().find(is_version1).map(|line| (place(line), "limit_in_bytes"));
        let version2 = mounts.lines().find(|line| line.contains(" - cgroup2 "));
        let (root, limit) = version1.or_else(|| version2.map(|line| (place(line), "max")))?;
        let small = Self(root.join(format!("fairdisk-test-memory-{}", std::process::id())));
        fs::create_dir(&small.0).unwrap();
        let limited = fs::write(small.0.join(format!("memory.{limit}")), (mib << 20).to_string());
        limited.is_ok().then_some(small)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        // After a failure the process may still be in there.
        if !std::thread::panicking() {
            wait_until(|| fs::remove_dir(&self.0).is_ok());
        }
    }
}

/// Writes `mib` MiB to a file with direct I/O, all at once and as the user nobody.
fn write_at_once(path: &Path, mib: usize) {
    let direct = OFlags::DIRECT.bits() as i32;
    let file = File::options().write(true).custom_flags(direct).open(path).unwrap();
    std::thread::scope(|scope| {
        for at in 0..mib {
            let file = &file;
            scope.spawn(move || {
                let nobody = Uid::from_raw(65534);
                set_thread_res_uid(nobody, nobody, nobody).unwrap();
                let mut data = Buffer::zeroed(MIB);
                data.bytes_mut().fill(at as u8);
                file.write_all_at(data.bytes(), (at * MIB) as u64).unwrap();
            });
        }
    });
}

#[test]
fn many_writes_at_once_end_no_process_that_has_little_memory() {
    if lacks_something() {
        return;
    }
    let Some(small) = Small::of(40) else { return println!("skipped: no memory controller") };
    let mut host = Host::new();
    let said = host.mount(&["--device-model", "wd2500js"]);
    let process = process(&text(&said));
    fs::write(small.0.join("cgroup.procs"), process.to_string()).unwrap();
    let (path, mib) = (host.at().join("large"), 80);
    // Written within its size, since writes that make a file longer go one after the other.
    File::create(&path).unwrap().set_len((mib * MIB) as u64).unwrap();
    write_at_once(&path, mib);
    let data = fs::read(&path).unwrap();
    let is_right = |(at, part): (usize, &[u8])| part.iter().all(|byte| *byte == at as u8);
    assert!(data.chunks(MIB).enumerate().all(is_right));
    wait_until(|| resident_kib(process) <= AT_REST_KIB);
    host.unmount();
    wait_until(|| !is_alive(process));
}
