//! The engine: the parts of the request queue that every scheduler shares. These are request slots,
//! merging, the order of overlapping writes, plugging, the dispatch list, queue depth, accounting,
//! and changing the elevator under load.
//!
//! The only entry point is [`Engine::handle`], which takes an input and returns effects. A bio is
//! first *held* (behind an earlier one that it overlaps) → *sleeping* (no request slot is free) →
//! queued in the elevator, as a request or part of one → on the dispatch list → *staged* (the
//! driver has looked at it) → in flight → finished. States that do not apply are skipped.

mod at_device;
mod awaited;
mod bios;
mod changes;
mod disk;
mod dispatch;
mod effects;
mod finished;
mod hurry;
mod kept;
mod merge;
mod merging;
mod order;
mod plug;
mod pool;
mod requests;
mod segments;
mod view;

pub use effects::{Effect, Effects, Input, Sleeper};
pub use plug::{PlugConfig, PlugFlash};
pub use pool::{Apart, PoolConfig, PoolLayout};

use crate::account::Accounts;
use crate::cost::CostModel;
use crate::diskstats::DiskCounter;
use crate::elevator::{
    Admission, Change, Decision, Elevator, Handover, Leftovers, MayQueue, Submitter,
};
use crate::journal::{Journal, Record};
use crate::qos::Qos;
use crate::request::{Bio, GroupId, Op, RequestId, TaskId};
use crate::segments::{SegmentLimits, Segments};
use crate::share::Share;
use crate::time::{Instant, Span, Ticks};
use crate::why::Why;
use alloc::vec::Vec;
use at_device::AtDevice;
use bios::{BioIndex, Bios};
use dispatch::DispatchList;
use merge::MergeIndex;
use order::OrderGuard;
use plug::Plug;
use pool::Pools;
use requests::{Requests, State};
use segments::SegmentTable;

/// The configuration of an engine. Fixed for its life, except for the depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineConfig {
    /// The number of requests the device accepts at once.
    pub depth: u32,
    /// Whether the driver looks at the next request while the device is busy with another one, as
    /// Linux's SCSI layer does.
    pub peek: bool,
    /// The request slots.
    pub pool: PoolConfig,
    /// The host's timer, in whose ticks batches of slots and plugs are timed.
    pub ticks: Ticks,
    /// The longest request that merging may build, in sectors; 0 disables merging.
    pub merge_sectors_max: u32,
    /// What an adapter takes that counts segments; merging keeps to it, and so must every bio.
    pub segments: Option<SegmentLimits>,
    /// Whether bios that overlap a write keep their order, and a flush waits for the writes of its
    /// group before it. Not needed if the submitter sees to this itself, like a page cache.
    pub keeps_order: bool,
    /// When to plug an idle device; `None` never plugs it.
    pub plug: Option<PlugConfig>,
}

impl Default for EngineConfig {
    fn default() -> Self {
        let pool = PoolConfig::default();
        Self {
            depth: 1,
            peek: false,
            pool,
            ticks: Ticks::EXACT,
            merge_sectors_max: 1024,
            segments: None,
            keeps_order: true,
            plug: None,
        }
    }
}

/// The settings of a group, which are passed to every elevator that takes over.
#[derive(Clone, Copy, Debug)]
struct Asked {
    share: Share,
    parent: Option<GroupId>,
    qos: Qos,
    idle: Option<Span>,
}

impl Asked {
    const fn new(share: Share) -> Self {
        Self { share, parent: None, qos: Qos::NONE, idle: None }
    }
}

/// The request queue of a device: an elevator and everything around it.
#[derive(Debug)]
pub struct Engine<E> {
    elevator: E,
    handover: Handover,
    config: EngineConfig,
    /// Whether the depth was set by a [`Change::Depth`], so that elevators are told of it.
    depth_told: bool,
    /// Whether the device has a moving head.
    rotational: bool,
    /// The device's cost model, if one was set.
    costs: Option<CostModel>,
    now: Instant,
    bios: Bios,
    requests: Requests,
    pools: Pools,
    merge: MergeIndex,
    /// `None` if nobody counts them.
    segments: Option<SegmentTable>,
    order: OrderGuard,
    list: DispatchList,
    staged: Option<RequestId>,
    at_device: AtDevice,
    plug: Option<Plug>,
    last_wait: Option<Decision>,
    groups: Vec<Option<Asked>>,
    leftovers: Leftovers,
    accounts: Accounts,
    disk: DiskCounter,
    journal: Journal,
}

impl<E: Elevator> Engine<E> {
    /// An engine for one device, with the root group in place.
    pub fn new(elevator: E, config: EngineConfig, journal: Journal) -> Self {
        assert!(config.depth > 0, "a device takes at least one request at a time");
        let mut engine = Self {
            handover: elevator.describe().handover,
            elevator,
            config,
            depth_told: false,
            rotational: true,
            costs: None,
            now: Instant::ZERO,
            bios: Bios::new(),
            requests: Requests::new(),
            pools: Pools::new(config.pool, config.ticks),
            merge: MergeIndex::new(),
            segments: config.segments.map(SegmentTable::new),
            order: OrderGuard::new(),
            list: DispatchList::new(),
            staged: None,
            at_device: AtDevice::default(),
            plug: config.plug.map(|plug| Plug::new(plug, config.ticks)),
            last_wait: None,
            groups: Vec::new(),
            leftovers: Leftovers::new(),
            accounts: Accounts::default(),
            disk: DiskCounter::default(),
            journal,
        };
        engine.change(
            Instant::ZERO,
            &Change::GroupAdded { group: GroupId::ROOT, share: Share::DEFAULT },
        );
        engine
    }

    /// Handles an input at `now` and writes the resulting effects to `out`.
    #[inline(always)]
    pub fn handle(&mut self, now: Instant, input: Input<E>, out: &mut Effects) {
        assert!(now >= self.now, "time ran backwards: {now} after {}", self.now);
        if now > self.now && self.is_plugged() {
            self.log_gathering();
        }
        self.now = now;
        out.list.clear();
        out.wake_at = None;
        (out.switch_refused, out.change_refused) = (None, None);
        self.take_in(input, out);
        if self.is_plugged() {
            self.unplug_when_due();
        }
        self.pump(out);
    }

    /// Handles the input alone. Inputs other than arrivals also unplug the device.
    #[inline(always)]
    fn take_in(&mut self, input: Input<E>, out: &mut Effects) {
        match input {
            Input::Submit(ref bio) => self.submit(bio, None, out),
            Input::SubmitPages(ref bio, segments) => self.submit_pages(bio, segments, out),
            Input::Retry(sleeper) => self.retry(sleeper, out),
            Input::Cancel(bio) => self.cancel(bio, out),
            Input::Hurry(bios) => {
                self.hurry(&bios);
                self.unplug();
            }
            Input::Tick => {}
            Input::Unplug => self.unplug(),
            Input::Completed { request, ok } => {
                self.completed(request, ok, out);
                self.unplug();
            }
            Input::Configure(ref change) => {
                self.configure(change, out);
                self.unplug();
            }
            Input::Switch(elevator) => {
                self.switch(elevator, out);
                self.unplug();
            }
        }
    }

    /// The present elevator.
    pub const fn elevator(&self) -> &E {
        &self.elevator
    }

    /// Whether the next synchronous bio of `task` in `group`, other than a flush, will be
    /// [issued](Effect::Issue) as soon as it is submitted, and likewise each later one that is
    /// submitted after the previous one completed, as long as nothing else happens. A submitter may
    /// then start such I/O first and submit it afterwards.
    pub fn lets_through(&self, task: TaskId, group: GroupId) -> bool {
        self.bios.is_empty() && self.plug.is_none() && self.elevator.lets_through(task, group)
    }

    /// The groups in which detached elevators left records.
    pub const fn leftovers(&self) -> &Leftovers {
        &self.leftovers
    }

    /// The accounts of all groups.
    pub const fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// Begins a period of the longest waits [lately](crate::OpAccount::lately).
    pub fn begin_period(&mut self) {
        self.accounts.begin_period();
    }

    /// Clears the accounts and the disk's counts and starts counting again, for example after a
    /// warm-up: the accounts from the last event on, the disk's counts from `now`.
    pub fn restart_accounts(&mut self, now: Instant) {
        self.accounts.restart(self.now);
        self.disk.restart(now, self.requests.present());
    }

    /// The total length of a group's turns; `None` if the elevator does not charge groups by time.
    pub fn charged(&self, group: GroupId) -> Option<Span> {
        self.elevator.charged(group)
    }

    /// How long the device has worked on writes of a group after it had acknowledged them; `None`
    /// if the elevator does not look.
    pub fn deferred(&self, group: GroupId) -> Option<Span> {
        self.elevator.deferred(group)
    }

    fn log(&mut self, record: Record) {
        self.journal.push(self.now, record);
    }

    // ---- from bio to request -------------------------------------------------------------

    #[inline(always)]
    fn submit(&mut self, bio: &Bio, segments: Option<Segments>, out: &mut Effects) {
        assert!(bio.sectors.0 > 0 || bio.op == Op::Flush, "{:?} asks for nothing", bio.id);
        self.accounts.submitted += 1;
        self.log(Record::Submitted(*bio));
        let index = self.bios.insert(bio, self.now);
        if let Some(table) = &mut self.segments {
            table.submitted(index, bio, segments);
        }
        if self.config.keeps_order {
            self.order.add(index, bio);
            self.place_or_hold(index, bio, out);
        } else {
            self.place(index, bio, out);
        }
    }

    /// Holds the bio behind an earlier one that must finish first, if there is one.
    #[inline(always)]
    fn place_or_hold(&mut self, index: BioIndex, bio: &Bio, out: &mut Effects) {
        match self.order.blocker_of(&self.bios, index, bio) {
            Some(blocker) => {
                self.log(Record::Held(bio.id));
                self.bios.hold(index, blocker);
                self.tell_waited_for(blocker, bio.group);
                // The bio waits for an earlier one that may be queued behind the plug.
                self.unplug();
            }
            None => self.place(index, bio, out),
        }
    }

    #[inline(always)]
    fn place(&mut self, index: BioIndex, bio: &Bio, out: &mut Effects) {
        if self.merge_bio(index, bio, out) {
            return;
        }
        if !self.take_slot(bio) {
            self.accounts.group_mut(bio.group).slot_waits += 1;
            self.sleep(index, bio, out);
            return;
        }
        self.queue(index, bio);
    }

    #[inline]
    fn take_slot(&mut self, bio: &Bio) -> bool {
        let must = self.elevator.may_queue(self.now, bio) == MayQueue::Must;
        self.pools.take(self.now, bio, must)
    }

    fn sleep(&mut self, index: BioIndex, bio: &Bio, out: &mut Effects) {
        self.log(Record::Sleeps(bio.id));
        self.bios.slept(index, self.now);
        self.pools.push_sleeper(bio, index, self.bios.is_hurried(index));
        out.list.push(Effect::Sleep { task: bio.task });
    }

    #[inline(never)]
    fn retry(&mut self, sleeper: Sleeper, out: &mut Effects) {
        let index = BioIndex(sleeper.0);
        let bio = *self.bios.bio(index);
        let waited = self.bios.woke(index, self.now);
        self.accounts.group_mut(bio.group).slot_wait_time += waited;
        self.pools.start_batch(self.now, bio.task);
        if self.take_slot(&bio) {
            self.queue(index, &bio);
        } else {
            self.sleep(index, &bio, out);
        }
    }

    #[inline(always)]
    fn queue(&mut self, index: BioIndex, bio: &Bio) {
        let id = self.requests.insert(bio, index, self.now);
        self.note_arrival();
        if self.bios.is_hurried(index) {
            self.requests.hurry(id);
        }
        self.bios.set_request(index, id);
        if let Some(table) = &mut self.segments {
            table.queued(index, id);
        }
        self.log(Record::Queued(bio.id, id));
        if bio.op == Op::Flush {
            // A flush has no position that the elevator could order, so it goes straight to the
            // list.
            self.requests.set_state(id, State::Bypassing);
            self.list.push_flush(id);
            let by = Submitter { task: bio.task, group: bio.group };
            self.elevator.flushes(self.now, by);
            self.unplug();
            return;
        }
        let request = &self.requests[id];
        if self.merge_allowed(bio) {
            self.merge.insert(request);
        }
        if let Admission::Displaces(older) = self.elevator.admit(self.now, request) {
            self.hand_over(older, Why::Displaced);
        }
        self.tell_if_awaited(index);
        if self.plug.is_some() {
            self.plug_or_unplug();
        }
    }

    // ---- from elevator to device ---------------------------------------------------------

    /// Issues requests until the device is full. An elevator that has answered with a wait is not
    /// asked again in the same call: by law 3 it would repeat itself.
    fn pump(&mut self, out: &mut Effects) {
        if let Some(due) = self.plug.as_ref().and_then(Plug::due) {
            out.wake_at = Some(due);
            return;
        }
        let mut told_to_wait = false;
        loop {
            if self.staged.is_none() {
                if self.at_device.count() >= self.config.depth && !self.config.peek {
                    return;
                }
                if self.list.is_empty() && !told_to_wait {
                    told_to_wait = self.refill(out);
                }
                let Some(id) = self.list.pop() else { return };
                if self.requests.is_known_to_elevator(id) {
                    self.elevator.activate(self.now, id);
                }
                self.staged = Some(id);
            }
            if self.at_device.count() >= self.config.depth {
                return;
            }
            if let Some(id) = self.staged.take() {
                self.issue(id, out);
            }
        }
    }

    /// Fills the dispatch list from the elevator. Returns whether the elevator answered with a
    /// wait.
    fn refill(&mut self, out: &mut Effects) -> bool {
        out.wake_at = None;
        loop {
            let decision = self.elevator.decide(self.now);
            match decision {
                Decision::Dispatch(id, why) => {
                    self.last_wait = None;
                    self.hand_over(id, why);
                    if self.handover == Handover::Single {
                        return false;
                    }
                    continue;
                }
                Decision::WaitUntil(at, why) => {
                    out.wake_at = Some(at);
                    self.log_wait(decision, Record::Waits(at, why));
                }
                Decision::WaitCompletion(why) => {
                    self.log_wait(decision, Record::WaitsCompletion(why));
                }
                Decision::Idle => {}
            }
            return true;
        }
    }

    /// Logs a wait once, however often it is repeated.
    #[inline]
    fn log_wait(&mut self, wait: Decision, record: Record) {
        if self.last_wait.replace(wait) != Some(wait) {
            self.log(record);
        }
    }

    #[inline(always)]
    fn hand_over(&mut self, id: RequestId, why: Why) {
        self.log(Record::Dispatched(id, why));
        self.merge.remove(id);
        self.requests.set_state(id, State::Dispatched);
        self.list.insert(&self.requests[id]);
    }

    fn issue(&mut self, id: RequestId, out: &mut Effects) {
        self.log(Record::Issued(id));
        let (request, first) = self.requests.issued(id, self.at_device.issued(self.now));
        let (group, op) = (request.group, request.op);
        out.list.push(Effect::Issue(*request));
        if let Some(plug) = &mut self.plug {
            plug.issued(self.at_device.count());
        }
        let wait = self.now - self.oldest_submission(first);
        self.accounts.group_mut(group).waited(op.into(), wait);
    }

    /// When the bio that has waited longest was submitted, of the request whose first bio is
    /// `first`.
    fn oldest_submission(&self, first: BioIndex) -> Instant {
        let bios = self.bios.chain(first);
        bios.map(|index| self.bios.submitted(index).1).fold(self.now, Instant::min)
    }

    /// The number of requests at the device.
    #[must_use]
    pub const fn in_flight(&self) -> u32 {
        self.at_device.count()
    }
}
