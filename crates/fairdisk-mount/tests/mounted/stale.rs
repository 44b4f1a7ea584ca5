//! Readers through the page cache see what was written past it: nothing stale once a write has
//! returned.

use crate::common::{How, Tree, until};
use crate::data::noise;
use fairdisk_plane::buffer::Buffer;
use io_uring::{IoUring, opcode, types};
use rustix::fs::{FallocateFlags, OFlags, copy_file_range, fallocate, ftruncate};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
use std::fs::{self, File};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const BYTES: usize = 640 << 10;
const WRITES: usize = 300;

/// A map of [`BYTES`] of a file, for reading.
struct Map(*mut c_void);

// SAFETY: the memory is only read, and stays mapped until the drop.
unsafe impl Sync for Map {}

impl Map {
    fn of(file: &File, flags: MapFlags, offset: usize) -> Self {
        let none = std::ptr::null_mut();
        // SAFETY: a new map at a place that the kernel chooses.
        let place = unsafe { mmap(none, BYTES, ProtFlags::READ, flags, file, offset as u64) };
        Self(place.unwrap())
    }

    /// The byte at an offset, read anew each time.
    fn byte(&self, at: usize) -> u8 {
        assert!(at < BYTES);
        // SAFETY: within the map, which is readable while the file is as long.
        unsafe { self.0.cast::<u8>().add(at).read_volatile() }
    }

    /// The first byte of each page.
    fn pages(&self) -> impl Iterator<Item = u8> + '_ {
        (0..BYTES).step_by(4096).map(|at| self.byte(at))
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the map of `of`, which nobody uses any more.
        unsafe { munmap(self.0, BYTES) }.unwrap();
    }
}

fn open(path: &Path, flags: OFlags) -> File {
    let mut options = File::options();
    options.read(true).write(true).create(true).custom_flags(flags.bits() as i32);
    options.open(path).unwrap()
}

/// Ends the readers, also if the test fails.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `with` while three others read the whole file through the page cache.
fn beside_readers(path: &Path, with: impl FnOnce()) {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for reader in 0..3 {
            let over = &over;
            scope.spawn(move || {
                let file = File::open(path).unwrap();
                let map = Map::of(&file, MapFlags::SHARED, 0);
                let mut bytes = vec![0; BYTES];
                while !over.load(Ordering::Relaxed) {
                    match reader {
                        0 => assert!(map.pages().count() > 0),
                        _ => assert!(file.read_at(&mut bytes, 0).unwrap() <= BYTES),
                    }
                }
            });
        }
        let _ending = Ending(&over);
        with();
    });
}

/// Writes with `write` beside readers, and compares after each write what a read, a shared map and
/// a private map of the file opened for direct I/O show.
fn is_never_stale(write: impl Fn(&File, &[u8])) {
    let Some(tree) = Tree::new() else { return };
    let path = tree.at("file");
    fs::write(&path, vec![0; BYTES]).unwrap();
    let (direct, cached) = (open(&path, OFlags::DIRECT), File::open(&path).unwrap());
    let maps = [Map::of(&cached, MapFlags::SHARED, 0), Map::of(&direct, MapFlags::PRIVATE, 0)];
    beside_readers(&path, || {
        let (mut buffer, mut got) = (Buffer::zeroed(BYTES), vec![0; BYTES]);
        for number in 0..WRITES {
            let byte = (number % 251) as u8 + 1;
            buffer.bytes_mut()[..BYTES].fill(byte);
            write(&direct, &buffer.bytes()[..BYTES]);
            cached.read_exact_at(&mut got, 0).unwrap();
            assert!(got.iter().all(|it| *it == byte), "write {number}: a read is stale");
            for map in &maps {
                assert!(map.pages().all(|it| it == byte), "write {number}: a map is stale");
            }
        }
    });
}

#[test]
fn after_a_direct_write_nothing_is_stale() {
    is_never_stale(|file, bytes| file.write_all_at(bytes, 0).unwrap());
}

/// One write by `libaio`, as in xfstests' generic/451.
fn write_by_aio(context: libc::c_ulong, file: &File, bytes: &[u8]) {
    /// `struct iocb`, of which only these fields are used.
    #[repr(C)]
    #[derive(Default)]
    struct Block {
        data: u64,
        key_and_flags: u64,
        op: u16,
        priority: i16,
        file: u32,
        buffer: u64,
        bytes: u64,
        offset: i64,
        reserved: u64,
        flags: u32,
        event: u32,
    }
    const PWRITE: u16 = 1;
    let (buffer, len) = (bytes.as_ptr() as u64, bytes.len() as u64);
    let file = file.as_raw_fd() as u32;
    let mut block = Block { op: PWRITE, file, buffer, bytes: len, ..Block::default() };
    let mut blocks = [&raw mut block];
    let mut event = [0_i64; 4];
    // SAFETY: the block, its buffer and the event outlive the write, which is waited for.
    let done = unsafe {
        assert_eq!(libc::syscall(libc::SYS_io_submit, context, 1_u64, blocks.as_mut_ptr()), 1);
        let none = std::ptr::null::<libc::timespec>();
        libc::syscall(libc::SYS_io_getevents, context, 1_u64, 1_u64, event.as_mut_ptr(), none)
    };
    assert_eq!((done, event[2]), (1, bytes.len() as i64));
}

#[test]
fn after_an_asynchronous_direct_write_nothing_is_stale() {
    let mut context: libc::c_ulong = 0;
    // SAFETY: the context outlives the call.
    let made = unsafe { libc::syscall(libc::SYS_io_setup, 8_u64, &raw mut context) };
    assert_eq!(made, 0, "{}", std::io::Error::last_os_error());
    is_never_stale(|file, bytes| write_by_aio(context, file, bytes));
}

#[test]
fn after_a_direct_write_by_io_uring_nothing_is_stale() {
    let ring = match IoUring::new(8) {
        Ok(ring) => std::cell::RefCell::new(ring),
        Err(error) => {
            println!("skipped: no io_uring here ({error})");
            assert!(std::env::var("CI").as_deref() != Ok("true"), "missing in CI: io_uring");
            return;
        }
    };
    is_never_stale(|file, bytes| {
        let fd = types::Fd(file.as_raw_fd());
        let write = opcode::Write::new(fd, bytes.as_ptr(), bytes.len() as u32).build();
        let mut ring = ring.borrow_mut();
        // SAFETY: the buffer and the file outlive the write, which is waited for.
        unsafe { ring.submission().push(&write) }.unwrap();
        ring.submit_and_wait(1).unwrap();
        assert_eq!(ring.completion().next().map(|it| it.result()), Some(bytes.len() as i32));
    });
}

/// A program may change its mind about O_DIRECT after it has opened the file.
#[test]
fn what_is_open_past_the_cache_leaves_nothing_stale_without_the_flag() {
    is_never_stale(|file, bytes| {
        let set = |flags| rustix::fs::fcntl_setfl(file, flags).unwrap();
        set(OFlags::empty());
        file.write_all_at(bytes, 0).unwrap();
        set(OFlags::DIRECT);
    });
}

/// The stretch of a file that is changed otherwise than by writing to it.
const MIDDLE: std::ops::Range<usize> = 70_000..300_000;

/// Changes `file`, also with data of `other`, and returns what it contains then.
type Change = fn(file: &File, other: (&File, &[u8]), before: &[u8]) -> Vec<u8>;

fn with_zeroes(before: &[u8], stretch: std::ops::Range<usize>) -> Vec<u8> {
    let mut after = before.to_vec();
    after[stretch].fill(0);
    after
}

fn punch(file: &File, _: (&File, &[u8]), before: &[u8]) -> Vec<u8> {
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(file, hole, MIDDLE.start as u64, MIDDLE.len() as u64).unwrap();
    with_zeroes(before, MIDDLE)
}

fn zero(file: &File, _: (&File, &[u8]), before: &[u8]) -> Vec<u8> {
    let (at, len) = (MIDDLE.start as u64, MIDDLE.len() as u64);
    fallocate(file, FallocateFlags::ZERO_RANGE, at, len).unwrap();
    with_zeroes(before, MIDDLE)
}

fn copy(file: &File, (other, bytes): (&File, &[u8]), before: &[u8]) -> Vec<u8> {
    let (mut from, mut to) = (MIDDLE.start as u64, MIDDLE.start as u64);
    while (to as usize) < MIDDLE.end {
        let left = MIDDLE.end - to as usize;
        copy_file_range(other, Some(&mut from), file, Some(&mut to), left).unwrap();
    }
    let mut after = before.to_vec();
    after[MIDDLE].copy_from_slice(&bytes[MIDDLE]);
    after
}

fn cut(file: &File, _: (&File, &[u8]), before: &[u8]) -> Vec<u8> {
    ftruncate(file, MIDDLE.start as u64).unwrap();
    ftruncate(file, before.len() as u64).unwrap();
    with_zeroes(before, MIDDLE.start..before.len())
}

#[test]
fn after_a_change_of_stretches_nothing_is_stale() {
    let changes: [(&str, Change); 4] =
        [("a hole", punch), ("zeroes", zero), ("a copy", copy), ("a cut", cut)];
    let Some(tree) = Tree::new() else { return };
    let path = tree.at("file");
    let (whole, other_bytes) = (Buffer::noise(BYTES, 1), noise(BYTES, 2));
    fs::write(&path, &whole.bytes()[..BYTES]).unwrap();
    fs::write(tree.at("other"), &other_bytes).unwrap();
    let (file, direct) = (open(&path, OFlags::empty()), open(&path, OFlags::DIRECT));
    let other = File::open(tree.at("other")).unwrap();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let _ending = Ending(&over);
        // A map of a file that is cut ends its reader, so this one only reads.
        scope.spawn(|| {
            let mut bytes = vec![0; BYTES];
            while !over.load(Ordering::Relaxed) {
                assert!(file.read_at(&mut bytes, 0).unwrap() <= BYTES);
            }
        });
        let mut got = vec![0; BYTES];
        for (round, (what, change)) in (0..30).flat_map(|round| changes.map(|it| (round, it))) {
            direct.write_all_at(&whole.bytes()[..BYTES], 0).unwrap();
            let expected = change(&file, (&other, &other_bytes), &whole.bytes()[..BYTES]);
            file.read_exact_at(&mut got, 0).unwrap();
            assert!(got == expected, "round {round}, {what}: stale");
        }
    });
}

/// Somebody changes the file in SOURCE. Readers who have it open, and ask for nothing but data, see
/// that soon. A long write sets the times when it begins: who looks at them then, and reads, has
/// old data under the new times.
#[test]
fn what_changes_below_is_seen_by_those_who_have_it_open() {
    /// The length of a write. Readers look at its end.
    const LONG: usize = 32 << 20;
    for flags in [OFlags::empty(), OFlags::DIRECT] {
        let Some(tree) = Tree::served(How { watched: true, ..How::default() }) else { return };
        fs::write(tree.below("file"), vec![0; LONG]).unwrap();
        let (cached, over) = (File::open(tree.at("file")).unwrap(), AtomicBool::new(false));
        let map = Map::of(&cached, MapFlags::SHARED, LONG - BYTES);
        let below = open(&tree.below("file"), flags);
        thread::scope(|scope| {
            let _ending = Ending(&over);
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    assert!(map.pages().count() > 0);
                }
            });
            let mut buffer = Buffer::zeroed(LONG);
            for byte in 1..=20 {
                buffer.bytes_mut().fill(byte);
                below.write_all_at(buffer.bytes(), 0).unwrap();
                until("a map shows the write", || map.pages().all(|it| it == byte));
                let mut got = vec![0; BYTES];
                cached.read_exact_at(&mut got, (LONG - BYTES) as u64).unwrap();
                assert!(got.iter().all(|it| *it == byte), "{flags:?}");
            }
        });
    }
}
