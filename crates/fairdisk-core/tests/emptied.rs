//! Flushes that an elevator asks for.

#[path = "model/fifo.rs"]
mod fifo;
#[macro_use]
#[path = "model/leave_to_fifo.rs"]
mod leave_to_fifo;

use fairdisk_core::{
    Bio, BioId, Change, Decision, Effect, Effects, Elevator, Engine, EngineConfig, Flags, GroupId,
    Input, Instant, IoPrio, Journal, Lba, Op, Request, Sectors, Span, Submitter, TaskId, Why,
};
use fifo::Fifo;

/// First come, first served, after as many flushes as are due.
#[derive(Debug, Default)]
struct Flusher {
    fifo: Fifo,
    due: u32,
    under_way: bool,
    told: Vec<Told>,
}

/// What the elevator was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Flushable(bool),
    Emptied { ms: u64, ok: bool },
    Flushed { task: Option<u32>, group: u32, ms: u64, ok: bool },
}

impl Elevator for Flusher {
    leave_to_fifo!(admit complete withdraw describe drain);

    fn decide(&mut self, now: Instant) -> Decision {
        if self.under_way {
            return Decision::WaitCompletion(Why::EmptiesCache);
        }
        match self.due.checked_sub(1) {
            None => self.fifo.decide(now),
            Some(left) => {
                (self.due, self.under_way) = (left, true);
                Decision::Flush(GroupId(7), Why::EmptiesCache)
            }
        }
    }

    fn flushed(&mut self, _now: Instant, by: Submitter, device_time: Span, ok: bool) {
        let (task, group) = (by.task.map(|task| task.0), by.group.0);
        self.told.push(Told::Flushed { task, group, ms: device_time.as_ms(), ok });
    }

    fn emptied(&mut self, _now: Instant, device_time: Span, ok: bool) {
        self.under_way = false;
        self.told.push(Told::Emptied { ms: device_time.as_ms(), ok });
    }

    fn configure(&mut self, _now: Instant, change: &Change) {
        if let Change::Flushable { flushable } = *change {
            self.told.push(Told::Flushable(flushable));
        }
    }
}

struct Disk {
    engine: Engine<Flusher>,
    effects: Effects,
    ms: u64,
}

impl Disk {
    /// A disk whose elevator will ask for one flush.
    fn new() -> Self {
        let engine = engine(Flusher { due: 1, ..Flusher::default() });
        Self { engine, effects: Effects::new(), ms: 0 }
    }

    fn handle(&mut self, input: Input<Flusher>) -> Vec<Effect> {
        let now = Instant::ZERO + Span::from_ms(self.ms);
        self.engine.handle(now, input, &mut self.effects);
        self.effects.as_slice().to_vec()
    }

    fn submit(&mut self, id: u64) -> Vec<Effect> {
        let bio = Bio {
            id: BioId(id),
            task: TaskId(1),
            group: GroupId(1),
            op: Op::Read,
            start: Lba(1000 * id),
            sectors: Sectors(8),
            sync: true,
            flags: Flags::NONE,
            ioprio: IoPrio::UNSET,
        };
        self.handle(Input::Submit(bio))
    }

    fn told(&self) -> &[Told] {
        &self.engine.elevator().told
    }
}

fn engine(elevator: Flusher) -> Engine<Flusher> {
    Engine::new(elevator, EngineConfig::default(), Journal::keeping())
}

/// The only effect, which is to issue a request.
fn issued(effects: &[Effect]) -> Request {
    match *effects {
        [Effect::Issue(request)] => request,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn a_flush_goes_first_and_ends_without_a_bio() {
    let mut disk = Disk::new();
    let flush = issued(&disk.submit(1));
    assert_eq!((flush.op, flush.group, flush.sectors), (Op::Flush, GroupId(7), Sectors(0)));
    assert_eq!(disk.engine.first_bio(flush.id), None);
    assert_eq!(disk.engine.bios_of(flush.id).count(), 0);
    // It needs no request slot, and one that waits for it waits in the elevator.
    assert_eq!(disk.submit(2), []);
    let accounts = disk.engine.accounts_at(Instant::ZERO + Span::from_ms(5));
    assert_eq!(accounts.group(GroupId(1)).map(|account| account.wait_max), Some(Span::from_ms(5)));
    disk.ms = 30;
    let read = issued(&disk.handle(Input::Completed { request: flush.id, ok: true }));
    assert_eq!((read.op, read.start), (Op::Read, Lba(1000)));
    assert_eq!(disk.told(), [Told::Emptied { ms: 30, ok: true }]);
    // The time of the device is its group's, whose bios are as many as before.
    let account = disk.engine.accounts().group(GroupId(7)).expect("it flushed");
    assert_eq!((account.device_time, account.device_requests), (Span::from_ms(30), 1));
    assert_eq!(disk.engine.accounts().in_flight(), 2);
}

#[test]
fn a_flush_that_fails_is_told_as_failed() {
    let mut disk = Disk::new();
    let flush = issued(&disk.submit(1));
    issued(&disk.handle(Input::Completed { request: flush.id, ok: false }));
    assert_eq!(disk.told(), [Told::Emptied { ms: 0, ok: false }]);
}

#[test]
fn who_takes_over_meanwhile_sees_a_flush_it_did_not_ask_for() {
    let mut disk = Disk::new();
    let flushable = Change::Flushable { flushable: true };
    let flush = issued(&disk.handle(Input::Configure(flushable)));
    assert_eq!(disk.submit(1), []);
    assert_eq!(disk.handle(Input::Switch(Box::default())), []);
    disk.ms = 30;
    issued(&disk.handle(Input::Completed { request: flush.id, ok: true }));
    let flushed = Told::Flushed { task: None, group: 7, ms: 30, ok: true };
    assert_eq!(disk.told(), [Told::Flushable(true), flushed]);
}

#[test]
fn a_submitters_flush_that_fails_is_told_as_failed() {
    let mut disk = Disk { engine: engine(Flusher::default()), ..Disk::new() };
    let flush = Bio::flush(BioId(1), TaskId(1), GroupId(1), IoPrio::UNSET);
    let request = issued(&disk.handle(Input::Submit(flush))).id;
    disk.ms = 30;
    disk.handle(Input::Completed { request, ok: false });
    assert_eq!(disk.told(), [Told::Flushed { task: Some(1), group: 1, ms: 30, ok: false }]);
}
