//! Group accounts: what they say about bios that wait, fail or transfer nothing.

#[path = "model/fifo.rs"]
mod fifo;

use fairdisk_core::{
    Apart, Bio, BioId, Effects, Engine, EngineConfig, Flags, GroupId, Input, Instant, IoPrio,
    Journal, Lba, Op, OpKind, PoolConfig, PoolLayout, RequestId, Sectors, Span, TaskId,
};
use fifo::Fifo;

const fn ms(ms: u64) -> Instant {
    Instant::from_ns(1_000_000 * ms)
}

/// A write at the same position as every other, so that it is held behind earlier ones.
fn write(id: u64, group: u32) -> Bio {
    Bio {
        id: BioId(id),
        task: TaskId(0),
        group: GroupId(group),
        op: Op::Write,
        start: Lba(0),
        sectors: Sectors(8),
        sync: true,
        flags: Flags::NONE,
        ioprio: IoPrio::UNSET,
    }
}

fn read(id: u64, group: u32, start: u64) -> Bio {
    Bio { op: Op::Read, start: Lba(start), ..write(id, group) }
}

/// A disk that takes one request at a time and has two request slots for reads.
struct Disk {
    engine: Engine<Fifo>,
    effects: Effects,
}

impl Disk {
    fn new() -> Self {
        let pool = PoolConfig {
            layout: PoolLayout::Shared(Apart::Direction),
            requests: 2,
            batch_requests: 0,
        };
        let config = EngineConfig { pool, ..EngineConfig::default() };
        let engine = Engine::new(Fifo::default(), config, Journal::hashing());
        Self { engine, effects: Effects::new() }
    }

    fn handle(&mut self, now: Instant, input: Input<Fifo>) {
        self.engine.handle(now, input, &mut self.effects);
    }

    /// The longest wait of each group in ms, as of `now`.
    fn waits(&self, now: Instant) -> Vec<u64> {
        let accounts = self.engine.accounts_at(now);
        accounts.iter().map(|(_, account)| account.wait_max().as_ms()).collect()
    }
}

#[test]
fn whoever_was_never_served_has_waited_all_the_time() {
    let mut disk = Disk::new();
    disk.handle(ms(0), Input::Submit(write(1, 1)));
    // One request is at the device, one bio is held behind it, and one request is queued.
    disk.handle(ms(5), Input::Submit(write(2, 2)));
    disk.handle(ms(7), Input::Submit(read(3, 3, 1000)));
    assert_eq!(disk.waits(ms(100)), [0, 0, 95, 93]);
    assert_eq!(disk.waits(ms(200)), [0, 0, 195, 193]);
    // A request that is at the device no longer waits.
    disk.handle(ms(300), Input::Completed { request: RequestId(0), ok: true });
    assert_eq!(disk.waits(ms(900)), [0, 0, 895, 293]);
}

#[test]
fn whoever_sleeps_for_a_slot_waits_for_the_disk() {
    let mut disk = Disk::new();
    for number in 0..4 {
        disk.handle(ms(number), Input::Submit(read(number, 1 + number as u32, 1000 * number)));
    }
    assert!(!disk.effects.as_slice().is_empty(), "the last one sleeps");
    assert_eq!(disk.waits(ms(50)), [0, 0, 49, 48, 47]);
}

#[test]
fn whoever_gave_up_has_waited_until_then() {
    let mut disk = Disk::new();
    disk.handle(ms(0), Input::Submit(read(1, 1, 0)));
    disk.handle(ms(10), Input::Submit(read(2, 2, 1000)));
    disk.handle(ms(60), Input::Cancel(BioId(2)));
    assert_eq!(disk.waits(ms(900)), [0, 0, 50]);
    assert_eq!(Span::from_ms(50), disk.engine.accounts().group(GroupId(2)).unwrap().wait_max());
}

#[test]
fn reads_writes_and_flushes_are_counted_apart() {
    let mut disk = Disk::new();
    let flush = Bio { op: Op::Flush, sectors: Sectors(0), ..write(3, 1) };
    let ops = [(read(1, 1, 1000), 7), (write(2, 1), 20), (flush, 90)];
    let mut now = 0;
    for (bio, takes) in ops {
        disk.handle(ms(now), Input::Submit(bio));
        now += takes;
        disk.handle(ms(now), Input::Completed { request: RequestId(0), ok: true });
    }
    let account = disk.engine.accounts().group(GroupId(1)).expect("it has done something");
    let [read, write, flush] = [OpKind::Read, OpKind::Write, OpKind::Flush].map(|kind| {
        let op = &account.ops[kind];
        (op.ios(), op.latency.max().as_ms())
    });
    assert_eq!([read, write, flush], [(1, 7), (1, 20), (1, 90)]);
    assert_eq!(account.ops[OpKind::Discard].ios(), 0);
}

#[test]
fn what_failed_moved_nothing_and_a_discard_writes_nothing() {
    let mut disk = Disk::new();
    let discard = Bio { op: Op::Discard, ..write(3, 1) };
    for (bio, ok) in [(write(1, 1), true), (write(2, 1), false), (discard, true), (discard, false)]
    {
        disk.handle(ms(0), Input::Submit(bio));
        disk.handle(ms(0), Input::Completed { request: RequestId(0), ok });
    }
    let account = disk.engine.accounts().group(GroupId(1)).expect("it has done something");
    for kind in [OpKind::Write, OpKind::Discard] {
        assert_eq!((account.ops[kind].ios(), account.ops[kind].bytes), (2, 4096), "{kind:?}");
    }
    assert_eq!((account.ios(), account.bytes(), account.errors), (4, 8192, 2));
}
