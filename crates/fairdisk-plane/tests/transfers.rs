//! Jobs that are pure transfers: done by the kernel where there is a ring, else by threads, with
//! the same data and the same errors.

use fairdisk_core::{EngineConfig, Flags, GroupId, IoPrio, Lba, Op, Sectors, Span, TaskId};
use fairdisk_plane::backend::Preference;
use fairdisk_plane::disk::{Device, Disk, Job, Order, Served, StartError, Thread, Transfer, Way};
use fairdisk_sched::SchedulerSpec;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

const PIECE: usize = 4096;
const PIECES: u64 = 512;

/// What a reader does when the kernel offers to do its transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Plain,
    /// Offers no transfer.
    Refuses,
    /// Does not accept the kernel's result.
    Doubts,
}

struct Outcome {
    at: u64,
    bytes: Vec<u8>,
    performed: bool,
    errno: Option<i32>,
}

struct Reader {
    file: Arc<File>,
    manner: Manner,
    outcome: Outcome,
    tell: Sender<Outcome>,
}

impl Job for Reader {
    fn perform(&mut self) -> io::Result<()> {
        self.outcome.performed = true;
        self.file.read_exact_at(&mut self.outcome.bytes, self.outcome.at)
    }

    fn is_transfer(&self) -> bool {
        true
    }

    fn transfer(&mut self) -> Option<Transfer<'_>> {
        let way = Way::In(&mut self.outcome.bytes);
        let transfer = Transfer { file: self.file.as_fd(), at: self.outcome.at, way };
        (self.manner != Manner::Refuses).then_some(transfer)
    }

    fn transferred(&mut self, moved: io::Result<usize>) -> Option<io::Result<()>> {
        (self.manner != Manner::Doubts).then(|| moved.map(|moved| assert_eq!(moved, PIECE)))
    }

    fn finish(self: Box<Self>, result: io::Result<()>) {
        let Self { mut outcome, tell, .. } = *self;
        outcome.errno = result.err().and_then(|error| error.raw_os_error());
        tell.send(outcome).expect("the test listens");
    }
}

/// The contents of the file at an offset: every word is its own offset.
fn content(at: u64) -> Vec<u8> {
    (0..PIECE as u64 / 8).flat_map(|word| (at + 8 * word).to_le_bytes()).collect()
}

fn file() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a scratch file");
    for piece in 0..PIECES {
        let at = piece * PIECE as u64;
        file.as_file().write_all_at(&content(at), at).expect("room");
    }
    file
}

fn disk(scheduler: &str, depth: u32, preference: Preference) -> Option<Disk> {
    let config = EngineConfig { depth, ..EngineConfig::default() };
    let scheduler = SchedulerSpec::named(scheduler).expect("a known scheduler").build();
    match Disk::start(scheduler, config, Device::Fixed, 4, preference) {
        Ok(disk) => Some(disk),
        Err(StartError::NoUring(refusal)) => {
            eprintln!("skipped: transfers by the kernel: {refusal}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Reads every piece once, from four threads, and returns the outcomes in order of their offsets.
fn read_all(disk: Disk, file: &Arc<File>, manner: Manner, thread: Thread) -> Vec<Outcome> {
    let (tell, told) = channel();
    std::thread::scope(|scope| {
        for task in 0..4_u32 {
            let (disk, tell, file) = (&disk, &tell, Arc::clone(file));
            scope.spawn(move || {
                // Adjacent pieces are submitted in sequence, so that requests are merged.
                for piece in u64::from(task) * PIECES / 4..u64::from(task + 1) * PIECES / 4 {
                    let at = piece * PIECE as u64;
                    let bytes = vec![0; PIECE];
                    let outcome = Outcome { at, bytes, performed: false, errno: None };
                    let (file, tell) = (Arc::clone(&file), tell.clone());
                    let order = Order {
                        task: TaskId(task),
                        group: GroupId::ROOT,
                        ioprio: IoPrio::UNSET,
                        op: Op::Read,
                        start: Lba(at / 512),
                        sectors: Sectors(PIECE as u32 / 512),
                        sync: true,
                        flags: Flags::NONE,
                        waited: Span::ZERO,
                    };
                    disk.submit(&order, Box::new(Reader { file, manner, outcome, tell }), thread);
                }
            });
        }
    });
    // Waits for all jobs.
    drop(disk);
    drop(tell);
    let mut all: Vec<Outcome> = told.iter().collect();
    all.sort_unstable_by_key(|outcome| outcome.at);
    let wanted: Vec<u64> = (0..PIECES).map(|piece| piece * PIECE as u64).collect();
    assert_eq!(all.iter().map(|outcome| outcome.at).collect::<Vec<_>>(), wanted);
    all
}

#[test]
fn every_reader_gets_its_bytes_whoever_reads() {
    let scratch = file();
    let file = Arc::new(File::open(scratch.path()).expect("it is there"));
    for scheduler in SchedulerSpec::NAMES {
        for (depth, preference, manner, thread) in [
            (1, Preference::Uring, Manner::Plain, Thread::MustGoOn),
            (32, Preference::Uring, Manner::Plain, Thread::MustGoOn),
            (32, Preference::Uring, Manner::Plain, Thread::MayPerform),
            (4, Preference::Uring, Manner::Refuses, Thread::MustGoOn),
            (4, Preference::Uring, Manner::Doubts, Thread::MustGoOn),
            (4, Preference::Threads, Manner::Plain, Thread::MayPerform),
        ] {
            let Some(disk) = disk(scheduler, depth, preference) else { continue };
            let by_kernel = *disk.served() == Served::Uring && manner == Manner::Plain;
            let all = read_all(disk, &file, manner, thread);
            for outcome in &all {
                assert_eq!(outcome.errno, None);
                assert!(outcome.bytes == content(outcome.at), "{scheduler}: at {}", outcome.at);
                // A thread that may perform its own job does so while the disk is not busy.
                if thread == Thread::MustGoOn || !by_kernel {
                    assert_ne!(outcome.performed, by_kernel, "{scheduler}, {depth}, {manner:?}");
                }
            }
        }
    }
}

#[test]
fn what_the_kernel_cannot_read_is_said_to_who_asked() {
    let scratch = file();
    let write_only = File::options().write(true).open(scratch.path()).expect("it is there");
    let Some(disk) = disk("noop", 8, Preference::Uring) else { return };
    let all = read_all(disk, &Arc::new(write_only), Manner::Plain, Thread::MustGoOn);
    assert!(all.iter().all(|outcome| outcome.errno == Some(9) && !outcome.performed));
}

#[test]
fn threads_serve_where_they_are_asked_for() {
    let disk = disk("noop", 8, Preference::Threads).expect("threads are always to be had");
    assert_eq!(*disk.served(), Served::Threads("asked for".to_owned()));
    assert_eq!(disk.served().name(), "threads");
}
