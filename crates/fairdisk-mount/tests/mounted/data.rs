//! File contents: all ways to write and read them.

use crate::closed::{closed, unmount};
use crate::common::{How, SMALL_FILE, Tree, printed, until};
use rustix::fs::{FallocateFlags, SeekFrom, copy_file_range, fallocate, seek};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const MIB: usize = 1 << 20;

fn rw() -> OpenOptions {
    let mut options = File::options();
    options.read(true).write(true).create(true);
    options
}

fn flag(flag: rustix::fs::OFlags) -> i32 {
    flag.bits() as i32
}

pub(crate) fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut prng = fairdisk_core::Prng::new(seed);
    (0..len.div_ceil(8)).flat_map(|_| prng.next_u64().to_le_bytes()).take(len).collect()
}

/// Buffered, direct and synchronous writes produce the same bytes in the mount and below it.
#[test]
fn every_way_of_writing_writes_the_same() {
    let ways = [
        rustix::fs::OFlags::empty(),
        rustix::fs::OFlags::DIRECT,
        rustix::fs::OFlags::DSYNC,
        rustix::fs::OFlags::SYNC,
        rustix::fs::OFlags::DIRECT | rustix::fs::OFlags::SYNC,
    ];
    for shuffled in [false, true] {
        let Some(tree) = Tree::served(How { shuffled, ..How::default() }) else { return };
        let data = fairdisk_plane::buffer::Buffer::noise(5 * MIB, 7);
        for (number, way) in ways.into_iter().enumerate() {
            let name = format!("file-{number}");
            let mut file = rw().custom_flags(flag(way)).open(tree.at(&name)).unwrap();
            file.write_all(data.bytes()).unwrap();
            file.sync_data().unwrap();
            assert!(fs::read(tree.below(&name)).unwrap() == data.bytes(), "{way:?}");
            let mut back = fairdisk_plane::buffer::Buffer::zeroed(5 * MIB);
            let mut again =
                File::options().read(true).custom_flags(flag(way)).open(tree.at(&name)).unwrap();
            again.read_exact(back.bytes_mut()).unwrap();
            assert!(back.bytes() == data.bytes(), "{way:?}");
        }
    }
}

/// A scheduler has to know which writes a disk may only have taken into its cache. That a write is
/// to be durable can be said of the file or of the single write.
#[test]
fn the_gate_is_told_which_writes_are_durable() {
    use rustix::fs::OFlags;
    use rustix::io::{ReadWriteFlags, pwritev2};
    let Some(tree) = Tree::served(How { recorded: true, ..How::default() }) else { return };
    let data = fairdisk_plane::buffer::Buffer::noise(8192, 7);
    let single = [io::IoSlice::new(data.bytes())];
    for (way, durable) in [
        (OFlags::DIRECT, false),
        (OFlags::DSYNC, true),
        (OFlags::SYNC, true),
        (OFlags::DIRECT | OFlags::DSYNC, true),
        (OFlags::DIRECT | OFlags::SYNC, true),
        (OFlags::DIRECT | OFlags::DSYNC | OFlags::APPEND, true),
        (OFlags::DIRECT | OFlags::APPEND, false),
    ] {
        let file = rw().custom_flags(flag(way)).open(tree.at("file")).unwrap();
        (&file).write_all(data.bytes()).unwrap();
        assert_eq!(tree.writes(), [(16, durable)], "{way:?}");
        pwritev2(&file, &single, 0, ReadWriteFlags::DSYNC).unwrap();
        assert_eq!(tree.writes(), [(16, true)], "{way:?} and RWF_DSYNC");
    }
    // Written back later, or not by the gate at all.
    fs::write(tree.at("file"), data.bytes()).unwrap();
    assert!(tree.writes().iter().all(|(_, durable)| !durable));
}

#[test]
fn direct_io_need_not_be_aligned() {
    let Some(tree) = Tree::new() else { return };
    let direct = flag(rustix::fs::OFlags::DIRECT);
    let file = rw().custom_flags(direct).open(tree.at("file")).unwrap();
    file.write_all_at(b"seven..", 1001).unwrap();
    let mut back = [0; 20];
    assert_eq!(file.read_at(&mut back, 999).unwrap(), 9);
    assert_eq!(&back[..9], b"\0\0seven..");
}

#[test]
fn appending_is_for_several_at_once() {
    let Some(tree) = Tree::served(How { shuffled: true, ..How::default() }) else { return };
    fs::write(tree.at("log"), "").unwrap();
    thread::scope(|scope| {
        for writer in 0..4 {
            let path = tree.at("log");
            scope.spawn(move || {
                let mut log = OpenOptions::new().append(true).open(path).unwrap();
                for number in 0..200 {
                    log.write_all(format!("{writer} {number:03} {}\n", "x".repeat(99)).as_bytes())
                        .unwrap();
                }
            });
        }
    });
    let log = fs::read_to_string(tree.below("log")).unwrap();
    let mut lines: Vec<&str> = log.lines().collect();
    assert!(lines.iter().all(|line| line.len() == 105), "torn lines");
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 800);
}

#[test]
fn files_have_holes_that_can_be_found_and_made() {
    let Some(tree) = Tree::new() else { return };
    let file = rw().open(tree.at("file")).unwrap();
    file.write_all_at(&noise(64 << 10, 1), 0).unwrap();
    file.write_all_at(&[1; 4096], 1 << 20).unwrap();
    file.sync_all().unwrap();
    let find = |wanted| seek(&file, wanted).map_err(|error| error.raw_os_error());
    assert_eq!(find(SeekFrom::Hole(0)), Ok(64 << 10));
    assert_eq!(find(SeekFrom::Data(64 << 10)), Ok(1 << 20));
    assert_eq!(find(SeekFrom::Data(2 << 20)), Err(rustix::io::Errno::NXIO.raw_os_error()));
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(&file, punch, 4096, 8192).unwrap();
    assert_eq!(find(SeekFrom::Hole(0)), Ok(4096));
    let mut back = [1; 8192];
    file.read_exact_at(&mut back, 4096).unwrap();
    assert!(back.iter().all(|byte| *byte == 0));
    fallocate(&file, FallocateFlags::ZERO_RANGE, 0, 4096).unwrap();
    file.read_exact_at(&mut back[..4096], 0).unwrap();
    assert!(back.iter().all(|byte| *byte == 0));
    fallocate(&file, FallocateFlags::empty(), 0, 2 << 20).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 2 << 20);
    assert_eq!(fs::metadata(tree.below("file")).unwrap().len(), 2 << 20);
    fallocate(&file, FallocateFlags::KEEP_SIZE, 0, 4 << 20).unwrap();
    let grown = file.metadata().unwrap();
    assert_eq!(grown.len(), 2 << 20);
    assert!(grown.blocks() >= (4 << 20) / 512);
    // The kernel supports this for no FUSE file system, and refuses instead of doing something
    // else.
    let collapse = fallocate(&file, FallocateFlags::COLLAPSE_RANGE, 0, 4096).unwrap_err();
    assert_eq!(collapse, rustix::io::Errno::OPNOTSUPP);
}

#[test]
fn ranges_are_copied_within_the_mount() {
    for shuffled in [false, true] {
        let Some(tree) = Tree::served(How { shuffled, ..How::default() }) else { return };
        let data = noise(3 * MIB, 3);
        fs::write(tree.at("from"), &data).unwrap();
        let from = File::open(tree.at("from")).unwrap();
        let to = rw().open(tree.at("to")).unwrap();
        let (mut here, mut there) = (100, 5000);
        while (here as usize) < 2 * MIB {
            let rest = 2 * MIB - here as usize;
            let copied =
                copy_file_range(&from, Some(&mut here), &to, Some(&mut there), rest).unwrap();
            assert!(copied > 0);
        }
        to.sync_all().unwrap();
        assert_eq!(fs::read(tree.at("to")).unwrap()[5000..], data[100..2 * MIB]);
        assert_eq!(fs::read(tree.below("to")).unwrap()[5000..], data[100..2 * MIB]);
    }
}

#[test]
fn sizes_change_under_open_files() {
    let Some(tree) = Tree::served(How { shuffled: true, ..How::default() }) else { return };
    let file = rw().open(tree.at("file")).unwrap();
    file.write_all_at(&noise(MIB, 5), 0).unwrap();
    file.set_len(1000).unwrap();
    file.set_len(2000).unwrap();
    let mut back = vec![1; 4000];
    assert_eq!(file.read_at(&mut back, 500).unwrap(), 1500);
    assert!(back[..500] == noise(MIB, 5)[500..1000] && back[500..1500] == [0; 1000]);
    drop(File::options().write(true).truncate(true).open(tree.at("file")).unwrap());
    assert_eq!(file.metadata().unwrap().len(), 0);
    let refused = file.set_len(u64::MAX >> 1).unwrap_err();
    assert!(refused.raw_os_error().is_some());
}

#[test]
fn locks_hold_between_programs() {
    let Some(tree) = Tree::new() else { return };
    let said = tree.shell(
        "exec 3> lock; flock -n 3; ! flock -n lock true; flock -u 3; flock -n lock echo free
         python3 - <<'EOF' || echo 'no python'
import fcntl, os
f = open('lock', 'r+'); fcntl.lockf(f, fcntl.LOCK_EX, 10, 5)
if os.fork() == 0:
    g = open('lock', 'r+')
    fcntl.lockf(g, fcntl.LOCK_EX | fcntl.LOCK_NB, 5, 0)
    try: fcntl.lockf(g, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 0)
    except OSError: os._exit(0)
    os._exit(1)
assert os.wait()[1] == 0
EOF",
    );
    assert!(said == "free" || said == "free\nno python", "{said}");
}

#[test]
fn programs_can_be_run_from_it() {
    let Some(tree) = Tree::new() else { return };
    assert_eq!(tree.shell("cp /bin/echo .; ./echo from here"), "from here");
    let busy = tree.shell("exec 3<> echo; ./echo no 2> /dev/null || echo busy");
    assert_eq!(busy.lines().last(), Some("busy"));
}

#[test]
fn how_long_files_may_be_is_not_for_whoever_starts_the_mount_to_say() {
    let Some(tree) = Tree::served(How { small_files: true, ..How::default() }) else { return };
    let data = noise(SMALL_FILE as usize + 1, 5);
    fs::write(tree.at("file"), &data).unwrap();
    assert!(fs::read(tree.below("file")).unwrap() == data);
}

#[test]
fn what_may_only_be_appended_to_is_appended_to() {
    let Some(tree) = Tree::new() else { return };
    fs::write(tree.below("log"), "below\n").unwrap();
    let attribute = |how: &str| {
        Command::new("chattr").arg(how).arg(tree.below("log")).output().map(|done| done.status)
    };
    if !attribute("+a").is_ok_and(|status| status.success()) {
        println!("skipped: no chattr, or a file system without the attribute");
        return;
    }
    let open = |options: &mut OpenOptions| options.open(tree.at("log"));
    let refused = |done: io::Result<()>| done.unwrap_err().raw_os_error() == Some(1);
    assert!(refused(open(File::options().write(true)).map(drop)));
    let truncating = flag(rustix::fs::OFlags::TRUNC);
    assert!(refused(open(File::options().append(true).custom_flags(truncating)).map(drop)));
    let both = open(File::options().append(true).read(true)).unwrap();
    assert!(refused(both.set_len(1)));
    (&both).write_all(b"here\n").unwrap();
    let expected = "below\nhere\n".to_owned();
    assert_eq!(fs::read_to_string(tree.at("log")).unwrap(), expected);
    // The kernel above permits a mapping that would not be permitted below; its data is lost.
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a mapping of a page within the file, used while it exists and by nobody else.
    unsafe {
        let map = mmap(std::ptr::null_mut(), 4096, access, MapFlags::SHARED, &both, 0).unwrap();
        map.cast::<[u8; 4]>().write(*b"over");
        munmap(map, 4096).unwrap();
    }
    assert!(both.sync_all().is_err());
    drop(both);
    let past = flag(rustix::fs::OFlags::DIRECT);
    let mut direct = open(File::options().append(true).custom_flags(past)).unwrap();
    direct.write_all(b"past\n").unwrap();
    drop(direct);
    assert_eq!(fs::read_to_string(tree.below("log")).unwrap(), expected + "past\n");
    assert!(attribute("-a").unwrap().success());
}

/// Buffered and direct appends alternate. They take no longer if others have appended below.
#[test]
fn appends_of_both_kinds_do_not_wait_for_each_other() {
    let Some(tree) = Tree::new() else { return };
    let past = flag(rustix::fs::OFlags::DIRECT);
    let open = |at, flags| {
        let mut how = File::options();
        how.append(true).create(true).custom_flags(flags).open(at).unwrap()
    };
    let block = fairdisk_plane::buffer::Buffer::noise(4096, 1);
    let clock = fairdisk_plane::MonotonicClock::start();
    const TURNS: usize = 30;
    let took = |name, appends_below: bool| {
        let (mut direct, mut cached) = (open(tree.at(name), past), open(tree.at(name), 0));
        direct.write_all(block.bytes()).unwrap();
        if appends_below {
            open(tree.below(name), 0).write_all(block.bytes()).unwrap();
        }
        let begun = fairdisk_plane::Clock::now(&clock);
        for _ in 0..TURNS {
            cached.write_all(block.bytes()).unwrap();
            direct.write_all(block.bytes()).unwrap();
        }
        let took = fairdisk_plane::Clock::now(&clock).since(begun);
        let blocks = 1 + usize::from(appends_below) + 2 * TURNS;
        assert!(fs::read(tree.below(name)).unwrap() == block.bytes().repeat(blocks));
        took
    };
    let (alone, beside) = (took("alone", false), took("beside", true));
    // If each waited for the patience of 0.1 s, it would take much longer.
    assert!(beside < alone + fairdisk_core::Span::from_s(2), "{beside}, alone {alone}");
}

/// The end of a file is that of the file below, whatever the kernel above has cached.
#[test]
fn what_others_append_below_is_not_written_over() {
    for way in [rustix::fs::OFlags::empty(), rustix::fs::OFlags::DIRECT, rustix::fs::OFlags::DSYNC]
    {
        let Some(tree) = Tree::served(How { shuffled: true, ..How::default() }) else { return };
        let append = || {
            let mut options = OpenOptions::new();
            options.append(true).create(true).custom_flags(flag(way));
            options
        };
        let here = append().open(tree.at("log")).unwrap();
        let there = append().open(tree.below("log")).unwrap();
        let block = |number| fairdisk_plane::buffer::Buffer::noise(4096, number);
        for (number, mut log) in [&here, &there, &here, &here].into_iter().enumerate() {
            log.write_all(block(number as u64).bytes()).unwrap();
        }
        here.sync_all().unwrap();
        let expected: Vec<u8> = (0..4).flat_map(|number| noise(4096, number)).collect();
        assert!(fs::read(tree.below("log")).unwrap() == expected, "{way:?}");
        until("the mount shows it, too", || fs::read(tree.at("log")).unwrap() == expected);
        // Writes through a mapping go where it is mapped.
        let file = append().read(true).open(tree.at("log")).unwrap();
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a mapping of a page within the file, used while it exists and by nobody else.
        unsafe {
            let map = mmap(std::ptr::null_mut(), 4096, access, MapFlags::SHARED, &file, 0).unwrap();
            map.cast::<[u8; 5]>().write(*b"first");
            munmap(map, 4096).unwrap();
        }
        file.sync_all().unwrap();
        assert_eq!(fs::metadata(tree.below("log")).unwrap().len(), 4 * 4096);
        assert_eq!(&fs::read(tree.below("log")).unwrap()[..5], b"first");
    }
}

/// Repeatedly appends almost 8 MiB, a page less, in different letters, with one asynchronous direct
/// write, and prints how many bytes were written each time.
const LONG_APPENDS: &str = "
import ctypes, mmap, os, platform, struct, sys
SETUP, SUBMIT, EVENTS = (206, 209, 208) if platform.machine() == 'x86_64' else (0, 2, 4)
LETTERS = b'ABCDEFGH'
kernel = ctypes.CDLL(None, use_errno=True).syscall
context = ctypes.c_uint64(0)
assert kernel(SETUP, 8, ctypes.byref(context)) == 0
data = mmap.mmap(-1, len(LETTERS) << 20)
data[:] = b''.join(bytes([letter]) * (1 << 20) for letter in LETTERS)
# Not at the beginning of a page: then the first piece is shorter.
BYTES = len(data) - 4096
address = ctypes.addressof(ctypes.c_char.from_buffer(data)) + 512
file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_DIRECT, 0o644)
WRITE = struct.pack('<QQHHIQQqQQ', 0, 0, 1, 0, file, address, BYTES, 0, 0, 0)
control = ctypes.create_string_buffer(WRITE)
pointers = (ctypes.c_void_p * 1)(ctypes.addressof(control))
event = (ctypes.c_int64 * 4)()
for count in range(int(sys.argv[2])):
    assert kernel(SUBMIT, context, 1, pointers) == 1, ctypes.get_errno()
    assert kernel(EVENTS, context, 1, 1, event, None) == 1
    print(event[2])
";

/// The data that [`LONG_APPENDS`] writes each time.
fn long_append() -> Vec<u8> {
    let letters = (b'A'..=b'H').flat_map(|letter| std::iter::repeat_n(letter, MIB));
    letters.skip(512).take(8 * MIB - 4096).collect()
}

/// The kernel splits the write into pieces and sends all of them at once.
#[test]
fn a_long_append_past_the_cache_is_in_order() {
    let Some(tree) = Tree::served(How { shuffled: true, ..How::default() }) else { return };
    let mut python = Command::new("python3");
    let Ok(output) = python.args(["-c", LONG_APPENDS]).arg(tree.at("log")).arg("10").output()
    else {
        return println!("skipped: no python3");
    };
    let appended = long_append();
    let said = printed("appends", &output);
    assert_eq!(Vec::from_iter(said.lines()), vec![appended.len().to_string(); 10]);
    let read = fs::read(tree.below("log")).unwrap();
    let letters: Vec<u8> = read.iter().copied().step_by(MIB).collect();
    assert!(read == appended.repeat(10), "{}", String::from_utf8_lossy(&letters));
}

/// The data that others append below.
static OTHERS: [u8; 4099] = [b'x'; 4099];

/// The end of the file does not tell which piece is next if others append, too.
#[test]
fn a_long_append_is_in_order_beside_appends_below() {
    let Some(tree) = Tree::served(How { shuffled: true, ..How::default() }) else { return };
    let mut python = Command::new("python3");
    python.args(["-uc", LONG_APPENDS]).arg(tree.at("log")).arg("20");
    let Ok(mut child) = python.stdout(Stdio::piped()).spawn() else {
        return println!("skipped: no python3");
    };
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut is_whole = || said.next().map(|line| line.unwrap() == long_append().len().to_string());
    assert_eq!(is_whole(), Some(true));
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut there = OpenOptions::new().append(true).open(tree.below("log")).unwrap();
            let goes_on = || !over.load(Ordering::Relaxed);
            (0..50_000).take_while(|_| goes_on()).for_each(|_| there.write_all(&OTHERS).unwrap());
        });
        let whole = std::iter::from_fn(is_whole).filter(|is_whole| *is_whole).count();
        over.store(true, Ordering::Relaxed);
        assert_eq!(whole, 19);
    });
    assert!(child.wait().unwrap().success());
    let mut read = fs::read(tree.below("log")).unwrap();
    read.retain(|byte| *byte != OTHERS[0]);
    let letters: Vec<u8> = read.iter().copied().step_by(MIB).collect();
    assert!(read == long_append().repeat(20), "{}", String::from_utf8_lossy(&letters));
}

/// If an append fails, no later data is written behind a gap, and the program can try again.
#[test]
fn behind_a_piece_of_a_long_append_that_failed_nothing_is_appended() {
    let Some((place, gate, mut mounted)) = closed() else { return };
    let mut python = Command::new("python3");
    python.args(["-c", LONG_APPENDS]).arg(mounted.mountpoint().join("log")).arg("2");
    let Ok(mut child) = python.stdout(Stdio::piped()).spawn() else {
        return println!("skipped: no python3");
    };
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (tell, told) = mpsc::channel();
    let listener = thread::spawn(move || lines.for_each(|line| tell.send(line.unwrap()).unwrap()));
    let next = || told.recv_timeout(Duration::from_secs(30)).unwrap();
    let let_some_through = |count| {
        for _ in 0..count {
            until("it is asked for", || gate.waiting() == 1);
            gate.let_one_through();
        }
    };
    let_some_through(3);
    until("it is asked for", || gate.waiting() == 1);
    gate.fail_one();
    assert_eq!(next(), format!("-{}", rustix::io::Errno::IO.raw_os_error()));
    let_some_through(8);
    let appended = long_append();
    assert_eq!(next(), appended.len().to_string());
    listener.join().unwrap();
    assert!(child.wait().unwrap().success());
    assert!(fs::read(place.path().join("source/log")).unwrap() == appended);
    unmount(&mut mounted);
}

/// The descriptor for write-back is still open then, but not for writing.
#[test]
fn what_is_read_here_can_be_run_below_once_its_writers_are_gone() {
    let Some(tree) = Tree::served(How { shuffled: true, ..How::default() }) else { return };
    let mut writer = rw().truncate(true).mode(0o755).open(tree.at("program")).unwrap();
    let _reader = File::open(tree.at("program")).unwrap();
    writer.write_all(&fs::read("/bin/true").unwrap()).unwrap();
    writer.sync_all().unwrap();
    drop(writer);
    let runs = || Command::new(tree.below("program")).status().is_ok_and(|it| it.success());
    until("nobody writes it", runs);
}
