//! A closed loop on a device that takes several requests: each slot has one request at a time,
//! whose successor arrives as soon as it completes. The elevator is driven without an engine.

use fairdisk_core::{
    Admission, Change, Completion, Decision, Elevator, Flags, GroupId, Instant, IoPrio, Lba, Op,
    Prng, Request, RequestId, Sectors, Share, Span, TaskId, Weight,
};
use std::collections::VecDeque;

/// How the device serves what it has taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Serves {
    pub(crate) depth: usize,
    pub(crate) time: Span,
    /// Whether requests are served one after the other, or each as if it were alone.
    pub(crate) one_by_one: bool,
}

/// Whose request a slot has, and what it is like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) task: TaskId,
    pub(crate) group: GroupId,
    pub(crate) ioprio: IoPrio,
    /// The length in sectors of the requests of the slot, one after the other.
    pub(crate) lengths: [u32; 2],
}

pub(crate) struct Device<E> {
    pub(crate) elevator: E,
    pub(crate) slots: Vec<Slot>,
    pub(crate) now: Instant,
    /// Requests and bytes done since the run began, by slot.
    done: Vec<(u32, u64)>,
    serves: Serves,
    prng: Prng,
    submitted: u64,
    sectors: Vec<u32>,
    there: VecDeque<(Instant, RequestId)>,
    wake_at: Option<Instant>,
}

impl<E: Elevator> Device<E> {
    pub(crate) fn new(elevator: E, serves: Serves, rotational: bool) -> Self {
        let mut this = Self {
            elevator,
            slots: Vec::new(),
            now: Instant::ZERO,
            done: Vec::new(),
            serves,
            prng: Prng::new(1),
            submitted: 0,
            sectors: Vec::new(),
            there: VecDeque::new(),
            wake_at: None,
        };
        this.tell(&Change::Rotational { rotational });
        this.tell(&Change::Depth { depth: serves.depth as u32 });
        this
    }

    pub(crate) fn tell(&mut self, change: &Change) {
        self.elevator.configure(self.now, change);
    }

    pub(crate) fn add_group(&mut self, group: u32, weight: u32) {
        let share = Share::Weight(Weight::new(weight).expect("in range"));
        self.tell(&Change::GroupAdded { group: GroupId(group), share });
    }

    /// Adds `slots` requests in flight of a new task of the group, 4 KiB each.
    pub(crate) fn add_task(&mut self, group: u32, slots: u32) -> TaskId {
        let task = TaskId(self.slots.last().map_or(0, |last| last.task.0 + 1));
        for _ in 0..slots {
            let (group, ioprio) = (GroupId(group), IoPrio::UNSET);
            self.slots.push(Slot { task, group, ioprio, lengths: [8; 2] });
            self.done.push((0, 0));
            self.sectors.push(0);
            self.submit(self.slots.len() - 1);
        }
        task
    }

    pub(crate) fn run(&mut self, span: Span) {
        self.done.fill((0, 0));
        let end = self.now + span;
        loop {
            self.feed();
            let first = self.there.front().map(|(at, _)| *at);
            let next = first.into_iter().chain(self.wake_at).min().expect("somebody is served");
            if next > end {
                self.now = end;
                return;
            }
            self.now = next;
            if let Some((_, request)) = self.there.pop_front_if(|(at, _)| *at <= next) {
                self.complete(request);
            }
        }
    }

    /// Requests and bytes done in the slots that `of` chooses, since the run began.
    pub(crate) fn done_by(&self, of: impl Fn(&Slot) -> bool) -> (u32, u64) {
        let slots = self.slots.iter().zip(&self.done).filter(|(slot, _)| of(slot));
        slots.fold((0, 0), |sum, (_, done)| (sum.0 + done.0, sum.1 + done.1))
    }

    fn submit(&mut self, at: usize) {
        let slot = self.slots[at];
        let sectors = slot.lengths[self.submitted as usize % 2];
        self.submitted += 1;
        self.sectors[at] = sectors;
        let request = Request {
            id: RequestId(at as u32),
            task: slot.task,
            group: slot.group,
            op: Op::Read,
            start: Lba(8 * self.prng.below(1 << 28)),
            sectors: Sectors(sectors),
            sync: true,
            flags: Flags::NONE,
            ioprio: slot.ioprio,
            arrived: self.now,
        };
        assert_eq!(self.elevator.admit(self.now, &request), Admission::Queued);
    }

    fn feed(&mut self) {
        self.wake_at = None;
        while self.there.len() < self.serves.depth {
            match self.elevator.decide(self.now) {
                Decision::Dispatch(request, _) => {
                    let last = self.there.back().filter(|_| self.serves.one_by_one);
                    let begins = last.map_or(self.now, |(at, _)| *at);
                    self.there.push_back((begins + self.serves.time, request));
                }
                Decision::WaitUntil(at, _) => {
                    self.wake_at = Some(at);
                    return;
                }
                _ => return,
            }
        }
    }

    fn complete(&mut self, request: RequestId) {
        let device_time = self.serves.time;
        self.elevator.complete(self.now, &Completion { request, device_time, ok: true });
        let at = request.0 as usize;
        let (ios, bytes) = &mut self.done[at];
        (*ios, *bytes) = (*ios + 1, *bytes + 512 * u64::from(self.sectors[at]));
        // The scheduler is asked before the task hears of it, as by the engine.
        self.feed();
        self.submit(at);
    }
}
