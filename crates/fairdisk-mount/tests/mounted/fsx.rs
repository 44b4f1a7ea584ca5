//! Random operations on a file in the mount and on one beside it, which must remain equal.
//!
//! FAIRDISK_FSX_OPERATIONS sets the number of operations, FAIRDISK_FSX_SEED the seed.

use crate::common::{How, Tree};
use fairdisk_core::Prng;
use rustix::fs::{FallocateFlags, OFlags, copy_file_range, fallocate};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

const SIZE_MAX: u64 = 1 << 20;

fn from_environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().map_or(otherwise, |text| text.parse().expect("a number"))
}

fn open(path: &Path, flags: OFlags) -> File {
    let mut options = File::options();
    options.read(true).write(true).create(true).custom_flags(flags.bits() as i32);
    options.open(path).unwrap()
}

/// One operation with its parameters.
#[derive(Clone, Copy, Debug)]
enum Step {
    Write { at: u64, len: u64, how: OFlags },
    Append { len: u64 },
    Read { at: u64, len: u64, how: OFlags },
    MapWrite { at: u64, len: u64 },
    MapRead { at: u64, len: u64 },
    Truncate { to: u64 },
    Allocate { at: u64, len: u64, how: FallocateFlags },
    Copy { from: u64, to: u64, len: u64 },
    Sync,
    Reopen,
}

fn step(prng: &mut Prng) -> Step {
    let at = prng.below(SIZE_MAX);
    let long = prng.chance(1, 8);
    let len = prng.below(if long { 300_000 } else { 20_000 }) + 1;
    let len = len.min(SIZE_MAX - at).max(1);
    let how = [OFlags::empty(), OFlags::empty(), OFlags::DIRECT, OFlags::DSYNC];
    let how = how[prng.below(4) as usize];
    let (at, len) = match how {
        // Two thirds are aligned, so that they really use direct I/O.
        OFlags::DIRECT if prng.chance(2, 3) => (at & !4095, len.next_multiple_of(4096)),
        _ => (at, len),
    };
    match prng.below(16) {
        0..=3 => Step::Write { at, len, how },
        4..=6 => Step::Read { at, len, how },
        7 | 8 => Step::MapWrite { at, len },
        9 => Step::MapRead { at, len },
        10 => Step::Truncate { to: at },
        11 => {
            Step::Allocate { at, len, how: FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE }
        }
        12 => {
            let ways =
                [FallocateFlags::ZERO_RANGE, FallocateFlags::empty(), FallocateFlags::KEEP_SIZE];
            Step::Allocate { at, len, how: ways[prng.below(3) as usize] }
        }
        13 => Step::Copy { from: at, to: prng.below(SIZE_MAX), len },
        14 => Step::Append { len },
        _ if prng.chance(1, 2) => Step::Sync,
        _ => Step::Reopen,
    }
}

struct Side {
    path: std::path::PathBuf,
    file: File,
    /// Whether to use direct I/O where an operation asks for it. Without a mount in between, that
    /// would require alignment.
    direct: bool,
}

impl Side {
    fn new(path: std::path::PathBuf, direct: bool) -> Self {
        Self { file: open(&path, OFlags::empty()), path, direct }
    }

    fn open(&self, how: OFlags) -> File {
        open(&self.path, if self.direct { how } else { how - OFlags::DIRECT })
    }

    /// Carries out an operation. Returns what could be observed.
    fn take(&mut self, step: Step, fill: u8) -> Vec<u8> {
        let size = self.file.metadata().unwrap().len();
        match step {
            Step::Write { at, len, how } => {
                let data = aligned(len, fill);
                self.open(how).write_all_at(data.bytes(), at).unwrap();
            }
            Step::Append { len } if size + len <= 2 * SIZE_MAX => {
                let mut end = File::options().append(true).open(&self.path).unwrap();
                std::io::Write::write_all(&mut end, &vec![fill; len as usize]).unwrap();
            }
            Step::Read { at, len, how } => {
                let mut data = aligned(len, 0);
                let got = self.open(how).read_at(data.bytes_mut(), at).unwrap();
                return data.bytes()[..got].to_vec();
            }
            Step::MapWrite { at, len } if at < size => {
                self.mapped(at, len.min(size - at), |bytes| bytes.fill(fill));
            }
            Step::MapRead { at, len } if at < size => {
                return self.mapped(at, len.min(size - at), |bytes| bytes.to_vec());
            }
            Step::Truncate { to } => self.file.set_len(to).unwrap(),
            Step::Allocate { at, len, how } => fallocate(&self.file, how, at, len).unwrap(),
            Step::Copy { from, to, len } if from.abs_diff(to) >= len => {
                let (mut here, mut there) = (from, to);
                let len = len.min(size.saturating_sub(from));
                while here < from + len {
                    let rest = (from + len - here) as usize;
                    let (from, to) = (Some(&mut here), Some(&mut there));
                    let copied = copy_file_range(&self.file, from, &self.file, to, rest);
                    assert!(copied.unwrap() > 0);
                }
            }
            Step::Sync => self.file.sync_all().unwrap(),
            Step::Reopen => self.file = open(&self.path, OFlags::empty()),
            _ => {}
        }
        self.file.metadata().unwrap().len().to_le_bytes().to_vec()
    }

    fn mapped<T>(&self, at: u64, len: u64, touch: impl FnOnce(&mut [u8]) -> T) -> T {
        let whole = (at + len) as usize;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping of the first bytes of the file, all of which exist. It is used
        // while it exists, by nobody else, and the file does not shrink meanwhile.
        unsafe {
            let map =
                mmap(std::ptr::null_mut(), whole, access, MapFlags::SHARED, &self.file, 0).unwrap();
            let bytes = std::slice::from_raw_parts_mut(map.cast::<u8>(), whole);
            let seen = touch(&mut bytes[at as usize..]);
            munmap(map, whole).unwrap();
            seen
        }
    }
}

fn aligned(len: u64, fill: u8) -> fairdisk_plane::buffer::Buffer {
    let mut data = fairdisk_plane::buffer::Buffer::zeroed(len as usize);
    data.bytes_mut().fill(fill);
    data
}

fn run(how: How, seed: u64, operations: u64) {
    let Some(mut tree) = Tree::served(how) else { return };
    let mut real = Side::new(tree.at("file"), true);
    let mut model = Side::new(tree.place.path().join("model"), false);
    let mut prng = Prng::new(seed);
    let mut taken = Vec::new();
    for number in 0..operations {
        let step = step(&mut prng);
        taken.push(step);
        let fill = number as u8 | 1;
        let (seen, expected) = (real.take(step, fill), model.take(step, fill));
        let what = || {
            format!("seed {seed}, step {number}: {:?}", &taken[taken.len().saturating_sub(20)..])
        };
        if seen != expected {
            let first = seen.iter().zip(&expected).position(|(one, two)| one != two);
            panic!("differs at {first:?}, {} and {} bytes, {}", seen.len(), expected.len(), what());
        }
    }
    let whole = || fs::read(&model.path).unwrap();
    assert!(fs::read(&real.path).unwrap() == whole(), "seed {seed}: another file in the mount");
    drop(real);
    tree.unmount();
    assert!(fs::read(tree.below("file")).unwrap() == whole(), "seed {seed}: another file below");
}

#[test]
fn random_operations_leave_the_same_file() {
    let (seed, operations) = (
        from_environment("FAIRDISK_FSX_SEED", 1),
        from_environment("FAIRDISK_FSX_OPERATIONS", 1500),
    );
    run(How::default(), seed, operations);
}

#[test]
fn random_operations_leave_the_same_file_when_pieces_are_shuffled() {
    let (seed, operations) = (
        from_environment("FAIRDISK_FSX_SEED", 1),
        from_environment("FAIRDISK_FSX_OPERATIONS", 1500),
    );
    for seed in seed..seed + 2 {
        run(How { shuffled: true, ..How::default() }, seed, operations);
    }
}
