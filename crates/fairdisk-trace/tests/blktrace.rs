//! Files of blktrace as other machines write them: of either byte order and version, with cgroups,
//! and with events missing.

use fairdisk_trace::{Options, Source as _, open};
use std::fs;

/// What writes a number with its low byte first or last.
#[derive(Clone, Copy, Debug)]
struct Machine {
    is_little: bool,
    version: u32,
}

const MACHINES: [Machine; 4] = [
    Machine { is_little: true, version: 7 },
    Machine { is_little: false, version: 7 },
    Machine { is_little: true, version: 8 },
    Machine { is_little: false, version: 8 },
];

/// An action with the bit of its kind, and the bits of a synchronous read of a cgroup.
const QUEUED: u32 = 1 | 1 << 20;
const ISSUED: u32 = 7 | 1 << 22;
const DONE: u32 = 8 | 1 << 23;
const SYNC_READ: u32 = 1 << 16 | 1 << 19;
const IN_CGROUP: u32 = 1 << 8;

impl Machine {
    fn put(self, out: &mut Vec<u8>, value: u64, bytes: usize) {
        match self.is_little {
            true => out.extend(&value.to_le_bytes()[..bytes]),
            false => out.extend(&value.to_be_bytes()[8 - bytes..]),
        }
    }

    /// An event of 8 sectors at sector 640 of device 8,16 by process 42.
    fn event(self, sequence: u64, ns: u64, action: u32, cgroup: Option<u32>) -> Vec<u8> {
        let mut out = Vec::new();
        let action = action | SYNC_READ | if cgroup.is_some() { IN_CGROUP } else { 0 };
        let mut put = |value, bytes| self.put(&mut out, value, bytes);
        put(u64::from(0x6561_7400 | self.version), 4);
        put(sequence, 4);
        put(ns, 8);
        put(640, 8);
        put(4096, 4);
        match self.version {
            7 => {
                put(action.into(), 4);
                put(42, 4);
            }
            _ => {
                put(42, 4);
                put(action.into(), 8);
            }
        }
        put(8 << 20 | 16, 4);
        // The CPU, no error, and the length of what follows.
        put(0, 4);
        put(0, 2);
        put(if cgroup.is_some() { 8 } else { 0 }, 2);
        if self.version == 8 {
            put(0, 8);
            put(0, 4);
        }
        if let Some(inode) = cgroup {
            put(inode.into(), 4);
            put(0, 4);
        }
        out
    }
}

#[test]
fn either_byte_order_and_version_is_read() {
    let dir = tempfile::tempdir().unwrap();
    for machine in MACHINES {
        let path = dir.path().join("load.blktrace.0");
        let events = [(1, 1000, QUEUED), (2, 3000, ISSUED), (3, 9000, DONE)];
        let bytes = events.map(|(sequence, ns, action)| machine.event(sequence, ns, action, None));
        fs::write(&path, bytes.concat()).unwrap();
        let mut reader = open(&path, &Options::default()).unwrap();
        let request = reader.next().unwrap().unwrap_or_else(|| panic!("{machine:?}"));
        let ns = |at: Option<fairdisk_core::Instant>| at.map(fairdisk_core::Instant::as_ns);
        assert_eq!((request.start.0, request.sectors.0), (640, 8), "{machine:?}");
        assert_eq!((ns(request.issued), ns(request.done)), (Some(2000), Some(8000)));
        let origin = reader.origins().get(request.origin);
        assert_eq!((&*origin.device, &*origin.task), ("8,16", "-42"), "{machine:?}");
        assert_eq!((reader.next().unwrap(), reader.lost()), (None, 0));
    }
}

#[test]
fn missing_events_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("load.blktrace.0");
    let machine = MACHINES[0];
    // The blktrace of a CPU numbers its events.
    let events = [(1, 1000, QUEUED), (2, 3000, ISSUED), (3, 9000, DONE), (7, 9500, QUEUED)];
    let bytes = events.map(|(sequence, ns, action)| machine.event(sequence, ns, action, None));
    fs::write(&path, bytes.concat()).unwrap();
    let mut reader = open(&path, &Options::default()).unwrap();
    while reader.next().unwrap().is_some() {}
    assert_eq!(reader.lost(), 3);
}

#[test]
fn cgroups_are_called_by_their_paths_where_these_are_known() {
    let dir = tempfile::tempdir().unwrap();
    let inode = 4711;
    let path = dir.path().join("load.blktrace.0");
    let group = |options: &Options| {
        let mut reader = open(&path, options).unwrap();
        let request = reader.next().unwrap().unwrap();
        reader.origins().get(request.origin).group.clone()
    };
    for machine in MACHINES {
        fs::write(&path, machine.event(1, 1000, QUEUED, Some(inode))).unwrap();
        assert_eq!(group(&Options::default()), format!("cgroup-{inode}"));
        let cgroups = [(inode, "/a/b".to_owned())].into();
        let options = Options { cgroups, ..Options::default() };
        assert_eq!(group(&options), "/a/b", "{machine:?}");
    }
}
