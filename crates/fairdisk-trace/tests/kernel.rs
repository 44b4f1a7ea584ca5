//! A device under the kernel is recorded while fio works on it.

use fairdisk_core::{Instant, Op};
use fairdisk_trace::kernel::{DeviceNumber, Kernel, KernelError, Kind};
use fairdisk_trace::{Request, Traits};
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A loop device over a file, detached when dropped.
struct Loop(PathBuf);

impl Loop {
    /// `None` if there are no loop devices here.
    fn new(directory: &Path) -> Option<Self> {
        let file = directory.join("disk");
        File::create(&file).and_then(|file| file.set_len(64 << 20)).ok()?;
        let made = Command::new("losetup").args(["--find", "--show"]).arg(&file).output().ok()?;
        let name = String::from_utf8(made.stdout).ok()?;
        made.status.success().then(|| Self(name.trim().into()))
    }

    fn number(&self) -> DeviceNumber {
        let number = self.0.metadata().unwrap_or_else(|error| panic!("{error}")).rdev();
        DeviceNumber { major: (number >> 8 & 0xfff) as u32, minor: (number & 0xff) as u32 }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
    }
}

fn fio(device: &Loop, name: &str, more: &[&str]) {
    let file = format!("--filename={}", device.0.display());
    let common =
        ["--direct=1", "--bs=4k", "--minimal", "--ioengine=psync", "--allow_file_create=0"];
    let mut fio = Command::new("fio");
    let fio = fio.arg(format!("--name={name}")).arg(file).args(common).args(more);
    let output = fio.output().unwrap_or_else(|error| panic!("fio: {error}"));
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn what_fio_does_on_a_device_is_recorded() {
    let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    if Command::new("fio").arg("--version").output().is_err() {
        return println!("skipped: fio is not installed");
    }
    let Some(device) = Loop::new(dir.path()) else {
        return println!("skipped: there are no loop devices");
    };
    let mut kernel = match Kernel::begin(device.number(), Kind::Requests, Instant::ZERO) {
        Err(error @ (KernelError::NotRoot | KernelError::Missing(_))) => {
            return println!("skipped: {error}");
        }
        begun => begun.unwrap_or_else(|error| panic!("{error}")),
    };
    let mut all: Vec<Request> = Vec::new();
    fio(&device, "reads", &["--rw=randread", "--number_ios=500", "--size=32M"]);
    kernel
        .fetch(Instant::MAX, |request| all.push(request))
        .unwrap_or_else(|error| panic!("{error}"));
    fio(&device, "writes", &["--rw=write", "--number_ios=200", "--size=32M"]);
    kernel.finish(|request| all.push(request)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(kernel.lost().unwrap_or_else(|error| panic!("{error}")), 0);
    let of = |op| {
        let task = |request: &Request| &kernel.origins().get(request.origin).task;
        let is_of = |request: &&Request| request.op == op && task(request).starts_with("fio-");
        all.iter().filter(is_of).collect::<Vec<_>>()
    };
    let (reads, writes) = (of(Op::Read), of(Op::Write));
    // fio looks at the device before it begins.
    let small: Vec<_> = reads.iter().filter(|read| read.sectors.0 == 8).collect();
    assert!((500..=520).contains(&small.len()), "{} reads of 4 KiB", small.len());
    assert_eq!(writes.len(), 200);
    for request in reads.iter().chain(&writes) {
        let (issued, done) = (request.issued.expect("issued"), request.done.expect("done"));
        assert!(request.queued <= issued && issued < done, "{request:?}");
        assert!(request.traits.contains(Traits::SYNC));
        let origin = kernel.origins().get(request.origin);
        assert_eq!(origin.device, device.number().to_string());
    }
    drop(kernel);
    let left = std::fs::read_dir("/sys/kernel/tracing/instances").map(|all| {
        let of_ours = format!("fairdisk-{}", std::process::id());
        all.flatten().filter(|entry| entry.file_name().to_string_lossy() == of_ours).count()
    });
    assert_eq!(left.unwrap_or(0), 0, "the instance is gone");
}
