//! The model: lists that are searched from end to end, with the rules of the block layer written
//! down as they are specified (spec: cfq, section 1).

use fairdisk_core::{Apart, Bio, BioId, EngineConfig, Instant, Op, PoolLayout, TaskId};
use std::collections::BTreeMap;

/// An effect of the model, with the name of the bio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Out {
    Issue(BioId),
    Finish(BioId, bool),
    Sleep(TaskId),
    Wake(BioId),
    Cancelled(BioId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Held behind another bio.
    Held(BioId),
    Sleeping,
    Woken,
    Queued,
    Listed,
    Staged,
    AtDevice,
}

#[derive(Default)]
struct Pool {
    taken: u32,
    full: bool,
    sleepers: Vec<BioId>,
}

pub(crate) struct Naive {
    config: EngineConfig,
    now: Instant,
    /// Everything in flight, in order of submission.
    bios: Vec<(Bio, Place)>,
    /// The held bios, in the order in which they were held.
    held: Vec<BioId>,
    queue: Vec<BioId>,
    /// Those for which somebody has come to wait.
    hurried: Vec<BioId>,
    list: Vec<BioId>,
    pools: BTreeMap<(u32, bool), Pool>,
    batches: BTreeMap<TaskId, (u32, Instant)>,
    /// When the device is unplugged; `None` while it is not plugged.
    plug: Option<Instant>,
    out: Vec<Out>,
}

impl Naive {
    pub(crate) fn new(config: EngineConfig) -> Self {
        Self {
            config,
            now: Instant::ZERO,
            bios: Vec::new(),
            held: Vec::new(),
            queue: Vec::new(),
            hurried: Vec::new(),
            list: Vec::new(),
            pools: BTreeMap::new(),
            batches: BTreeMap::new(),
            plug: None,
            out: Vec::new(),
        }
    }

    pub(crate) fn submit(&mut self, now: Instant, bio: Bio) -> Vec<Out> {
        self.now = now;
        self.bios.push((bio, Place::Queued));
        self.place(bio);
        self.pump()
    }

    pub(crate) fn retry(&mut self, now: Instant, id: BioId) -> Vec<Out> {
        self.now = now;
        let (bio, place) = self.find(id);
        assert_eq!(place, Place::Woken);
        self.batches.insert(bio.task, (self.config.pool.batch_requests, in_ms(now, BATCH_MS)));
        self.take_or_sleep(bio);
        self.pump()
    }

    pub(crate) fn complete(&mut self, now: Instant, id: BioId, ok: bool) -> Vec<Out> {
        self.now = now;
        let (bio, place) = self.find(id);
        assert_eq!(place, Place::AtDevice);
        self.out.push(Out::Finish(id, ok));
        self.leave(id);
        self.give_back(&bio);
        self.plug = None;
        self.pump()
    }

    pub(crate) fn cancel(&mut self, now: Instant, id: BioId) -> Vec<Out> {
        self.now = now;
        let Some((bio, place)) = self.bios.iter().find(|(bio, _)| bio.id == id).copied() else {
            return self.pump();
        };
        match place {
            Place::Held(_) => self.held.retain(|held| *held != id),
            Place::Sleeping => self.pool(&bio).sleepers.retain(|sleeper| *sleeper != id),
            Place::Queued => {
                self.queue.retain(|queued| *queued != id);
                self.give_back(&bio);
            }
            _ => return self.pump(),
        }
        self.out.push(Out::Cancelled(id));
        self.leave(id);
        self.pump()
    }

    pub(crate) fn hurry(&mut self, now: Instant, id: BioId) -> Vec<Out> {
        self.now = now;
        let is_past = |place| matches!(place, Place::Listed | Place::Staged | Place::AtDevice);
        let may = |(bio, place): &&mut (Bio, Place)| bio.id == id && !bio.sync && !is_past(*place);
        let entry = self.bios.iter_mut().find(may).filter(|_| !self.hurried.contains(&id));
        if let Some((bio, place)) = entry {
            let (before, place) = (*bio, *place);
            let is_held = matches!(place, Place::Held(_));
            bio.sync |= is_held;
            match place {
                Place::Sleeping => {
                    let hurried = self.hurried.clone();
                    let sleepers = &mut self.pool(&before).sleepers;
                    sleepers.retain(|sleeper| *sleeper != id);
                    let first = sleepers.iter().take_while(|one| hurried.contains(one)).count();
                    sleepers.insert(first, id);
                }
                Place::Queued => {
                    self.queue.retain(|queued| *queued != id);
                    self.queue.push(id);
                }
                _ => {}
            }
            if !is_held {
                self.hurried.push(id);
            }
        }
        self.plug = None;
        self.pump()
    }

    pub(crate) fn unplug(&mut self, now: Instant) -> Vec<Out> {
        self.plug = None;
        self.tick(now)
    }

    pub(crate) fn tick(&mut self, now: Instant) -> Vec<Out> {
        self.now = now;
        self.pump()
    }

    /// Bios at the device.
    pub(crate) fn at_device(&self) -> Vec<BioId> {
        self.in_place(Place::AtDevice)
    }

    pub(crate) fn woken(&self) -> Vec<BioId> {
        self.in_place(Place::Woken)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bios.is_empty()
    }

    fn in_place(&self, place: Place) -> Vec<BioId> {
        self.bios.iter().filter(|entry| entry.1 == place).map(|entry| entry.0.id).collect()
    }

    fn find(&self, id: BioId) -> (Bio, Place) {
        *self.bios.iter().find(|(bio, _)| bio.id == id).expect("it is in flight")
    }

    fn set(&mut self, id: BioId, place: Place) {
        let entry = self.bios.iter_mut().find(|(bio, _)| bio.id == id);
        entry.expect("it is in flight").1 = place;
    }

    fn place(&mut self, bio: Bio) {
        let ordered = self.config.keeps_order;
        let earlier = self.bios.iter().take_while(|(other, _)| ordered && other.id != bio.id);
        match earlier.filter(|(other, _)| must_wait_for(&bio, other)).last() {
            Some((blocker, _)) => {
                let blocker = blocker.id;
                self.set(bio.id, Place::Held(blocker));
                self.held.push(bio.id);
                self.plug = None;
            }
            None => self.take_or_sleep(bio),
        }
    }

    fn take_or_sleep(&mut self, bio: Bio) {
        if !self.take_slot(&bio) {
            self.set(bio.id, Place::Sleeping);
            let at = match self.hurried.contains(&bio.id) {
                true => 0,
                false => self.pool(&bio).sleepers.len(),
            };
            self.pool(&bio).sleepers.insert(at, bio.id);
            self.out.push(Out::Sleep(bio.task));
        } else if bio.op == Op::Flush {
            self.set(bio.id, Place::Listed);
            self.list.push(bio.id);
            self.plug = None;
        } else {
            self.set(bio.id, Place::Queued);
            self.queue.push(bio.id);
            self.plug_or_unplug();
        }
    }

    /// Requests that are not at the device.
    fn waiting(&self) -> usize {
        let places = [Place::Queued, Place::Listed, Place::Staged];
        places.map(|place| self.in_place(place).len()).iter().sum()
    }

    fn plug_or_unplug(&mut self) {
        let Some(config) = self.config.plug else { return };
        let waiting = self.waiting();
        if waiting >= config.requests as usize {
            self.plug = None;
        } else if waiting == 1 {
            self.plug.get_or_insert(in_ms(self.now, 3));
        }
    }

    fn leave(&mut self, id: BioId) {
        self.bios.retain(|(bio, _)| bio.id != id);
        let behind = |held: &BioId| self.find(*held).1 == Place::Held(id);
        let (freed, held) = self.held.iter().partition(|held| behind(held));
        self.held = held;
        let freed: Vec<BioId> = freed;
        for next in freed {
            let (bio, _) = self.find(next);
            self.place(bio);
        }
    }

    fn pump(&mut self) -> Vec<Out> {
        if self.waiting() > 0 && self.plug.is_some_and(|due| self.now < due) {
            return std::mem::take(&mut self.out);
        }
        self.plug = None;
        loop {
            let busy = self.at_device().len() as u32 >= self.config.depth;
            let staged = self.in_place(Place::Staged).first().copied();
            match staged {
                Some(id) if !busy => {
                    self.set(id, Place::AtDevice);
                    self.out.push(Out::Issue(id));
                }
                None if !busy || self.config.peek => {
                    let from = if self.list.is_empty() { &mut self.queue } else { &mut self.list };
                    if from.is_empty() {
                        break;
                    }
                    let id = from.remove(0);
                    self.set(id, Place::Staged);
                }
                _ => break,
            }
        }
        std::mem::take(&mut self.out)
    }

    // ---- slots ---------------------------------------------------------------------------

    fn pool(&mut self, bio: &Bio) -> &mut Pool {
        let writes = bio.op != Op::Read;
        let pool = match self.config.pool.layout {
            PoolLayout::PerGroup(Apart::Direction) => (bio.group.0, writes),
            PoolLayout::PerGroup(Apart::Sync) => (bio.group.0, writes && !bio.sync),
            PoolLayout::Shared(Apart::Sync) => (0, writes && !bio.sync),
            _ => (0, writes),
        };
        self.pools.entry(pool).or_default()
    }

    fn take_slot(&mut self, bio: &Bio) -> bool {
        let config = self.config.pool;
        if config.layout == PoolLayout::Unlimited {
            return true;
        }
        let Pool { taken, full, .. } = *self.pool(bio);
        if taken + 1 >= config.requests && !full {
            self.pool(bio).full = true;
            self.batches.insert(bio.task, (config.batch_requests, in_ms(self.now, BATCH_MS)));
        } else if taken + 1 >= config.requests && !self.is_batching(bio.task) {
            return false;
        }
        if taken >= config.requests * 3 / 2 {
            return false;
        }
        self.pool(bio).taken += 1;
        if self.is_batching(bio.task) {
            self.batches.entry(bio.task).and_modify(|batch| batch.0 -= 1);
        }
        true
    }

    fn is_batching(&self, task: TaskId) -> bool {
        self.batches.get(&task).is_some_and(|(left, until)| {
            *left > 0 && (*left == self.config.pool.batch_requests || self.now < *until)
        })
    }

    fn give_back(&mut self, bio: &Bio) {
        let PoolLimits { unlimited, requests } = self.limits();
        if unlimited {
            return;
        }
        let pool = self.pool(bio);
        pool.taken -= 1;
        if pool.taken < requests {
            pool.full = false;
            if !pool.sleepers.is_empty() {
                let woken = pool.sleepers.remove(0);
                self.set(woken, Place::Woken);
                self.out.push(Out::Wake(woken));
            }
        }
    }

    fn limits(&self) -> PoolLimits {
        let config = self.config.pool;
        PoolLimits { unlimited: config.layout == PoolLayout::Unlimited, requests: config.requests }
    }
}

struct PoolLimits {
    unlimited: bool,
    requests: u32,
}

const BATCH_MS: u64 = 20;

/// The tick `ticks` ticks later, at one tick per millisecond.
fn in_ms(now: Instant, ticks: u64) -> Instant {
    Instant::from_ns((now.as_ns() / 1_000_000 + ticks) * 1_000_000)
}

fn must_wait_for(later: &Bio, earlier: &Bio) -> bool {
    let writes = |bio: &Bio| !matches!(bio.op, Op::Read | Op::Flush);
    match (earlier.op, later.op) {
        (Op::Flush, _) => false,
        (_, Op::Flush) => writes(earlier) && earlier.group == later.group,
        _ => {
            let overlap = earlier.start < later.end() && later.start < earlier.end();
            overlap && (writes(earlier) || writes(later))
        }
    }
}
