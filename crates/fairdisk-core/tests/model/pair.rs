//! The engine and the model side by side.

use crate::Act;
use crate::fifo::Fifo;
use crate::naive::{Naive, Out};
use fairdisk_core::{
    Auditor, Bio, BioId, Effect, Effects, Engine, EngineConfig, Flags, GroupId, Input, Instant,
    IoPrio, Journal, Lba, Op, Record, RequestId, Sectors, Sleeper, Span, TaskId,
};
use std::collections::BTreeMap;

pub(crate) struct Pair {
    engine: Engine<Auditor<Fifo>>,
    naive: Naive,
    effects: Effects,
    now: Instant,
    bios: u64,
    told: usize,
    /// The bio in each request slot.
    carried: BTreeMap<RequestId, BioId>,
    sleepers: BTreeMap<BioId, Sleeper>,
}

impl Pair {
    pub(crate) fn new(config: EngineConfig) -> Self {
        Self {
            engine: Engine::new(Auditor::new(Fifo::default()), config, Journal::keeping()),
            naive: Naive::new(config),
            effects: Effects::new(),
            now: Instant::ZERO,
            bios: 0,
            told: 0,
            carried: BTreeMap::new(),
            sleepers: BTreeMap::new(),
        }
    }

    pub(crate) fn act(&mut self, act: &Act) {
        self.now += Span::from_us(1);
        match *act {
            Act::Submit { .. } => self.submit(act),
            Act::Complete { which, ok } => self.complete(which, ok),
            Act::Retry { which } => self.retry(which),
            Act::Cancel { back } => {
                let id = BioId(self.bios.saturating_sub(back));
                let expected = self.naive.cancel(self.now, id);
                self.compare(Input::Cancel(id), &expected);
            }
            Act::Hurry { back } => {
                let id = BioId(self.bios.saturating_sub(back));
                let expected = self.naive.hurry(self.now, id);
                self.compare(Input::Hurry([id].into()), &expected);
            }
            Act::Pause { us } => self.now += Span::from_us(us),
            Act::Tick => {
                let expected = self.naive.tick(self.now);
                self.compare(Input::Tick, &expected);
            }
            Act::Unplug => {
                let expected = self.naive.unplug(self.now);
                self.compare(Input::Unplug, &expected);
            }
        }
    }

    /// Completes and retries until nothing is left; every bio must have ended.
    pub(crate) fn drain(&mut self) {
        while !self.naive.is_empty() {
            self.act(&Act::Unplug);
            let stuck = self.naive.at_device().is_empty() && self.naive.woken().is_empty();
            assert!(!stuck, "nothing will ever happen again");
            self.act(&Act::Complete { which: 0, ok: true });
            self.act(&Act::Retry { which: 0 });
        }
        assert_eq!(self.engine.accounts().in_flight(), 0);
        assert_eq!(self.engine.in_flight(), 0);
    }

    fn submit(&mut self, act: &Act) {
        let Act::Submit { op, start, sectors, task, group, sync } = *act else { return };
        self.bios += 1;
        let bio = Bio {
            id: BioId(self.bios),
            task: TaskId(task),
            group: GroupId(group),
            op,
            start: Lba(start),
            sectors: Sectors(if op == Op::Flush { 0 } else { sectors }),
            sync: sync || op != Op::Write,
            flags: Flags::NONE,
            ioprio: IoPrio::UNSET,
        };
        let expected = self.naive.submit(self.now, bio);
        self.compare(Input::Submit(bio), &expected);
    }

    fn complete(&mut self, which: usize, ok: bool) {
        let candidates = self.naive.at_device();
        if candidates.is_empty() {
            return;
        }
        let bio = candidates[which % candidates.len()];
        let expected = self.naive.complete(self.now, bio, ok);
        let slot = self.carried.iter().find(|(_, carried)| **carried == bio);
        let (request, _) = slot.expect("it was queued");
        self.compare(Input::Completed { request: *request, ok }, &expected);
    }

    fn retry(&mut self, which: usize) {
        let candidates = self.naive.woken();
        if candidates.is_empty() {
            return;
        }
        let bio = candidates[which % candidates.len()];
        let expected = self.naive.retry(self.now, bio);
        self.compare(Input::Retry(self.sleepers[&bio]), &expected);
    }

    fn compare(&mut self, input: Input<Auditor<Fifo>>, expected: &[Out]) {
        let said = format!("{input:?}");
        self.engine.handle(self.now, input, &mut self.effects);
        let woken = self.read_journal();
        let mut woken = woken.into_iter();
        let mut got = Vec::new();
        for effect in self.effects.as_slice() {
            got.push(match *effect {
                Effect::Issue(request) => Out::Issue(self.carried[&request.id]),
                Effect::Finish { bio, ok, .. } => Out::Finish(bio, ok),
                Effect::Cancelled(bio) => Out::Cancelled(bio),
                Effect::Sleep { task } => Out::Sleep(task),
                Effect::Wake { sleeper, .. } => {
                    let bio = woken.next().expect("a wake-up is in the journal");
                    self.sleepers.insert(bio, sleeper);
                    Out::Wake(bio)
                }
            });
        }
        assert_eq!(got, expected, "after {said} at {}", self.now);
    }

    /// Records which bio is in which slot, and returns the bios that were woken.
    fn read_journal(&mut self) -> Vec<BioId> {
        let entries = &self.engine.journal().entries()[self.told..];
        self.told += entries.len();
        let mut woken = Vec::new();
        for entry in entries {
            match entry.record {
                Record::Woken(bio) => woken.push(bio),
                Record::Queued(bio, request) => {
                    self.carried.insert(request, bio);
                }
                _ => {}
            }
        }
        woken
    }
}
