//! Shares in virtual time, charged by a cost model, in the manner of Linux's io.cost.
//!
//! Every request costs what the device's linear model says. Virtual time passes for all groups
//! alike. A request advances its group's account by its cost divided by the group's part of the
//! disk, and may go when the account is not ahead of the clock. The clock is slowed down while the
//! device cannot keep up, and sped up while it keeps up and groups wait for budget. Once a period,
//! groups that do not need their part lend the rest to the others; they get it back as soon as they
//! run short. Metadata goes at once and puts its group into debt.
//!
//! Sources: Tejun Heo, Dan Schatzberg, Andrew Newell and others, "IOCost: Block IO Control for
//! Containers in Datacenters", ASPLOS 2022; Linux, "Control Group v2", `io.cost.qos`,
//! `io.cost.model` and `io.weight`.
//!
//! Floors, ceilings, latency targets of groups and priorities of tasks are not honoured.

mod budget;
mod clock;
mod load;
mod weights;

use crate::family::Family;
use crate::groups::{Costs, GroupQueues, Order};
use crate::honours::{Honours, Nesting};
use alloc::vec::Vec;
use budget::{Budget, Loans, relative};
use clock::{AS_TIME, Clock};
use fairdisk_core::{
    Admission, Change, Completion, Decision, Description, Elevator, Flags, GroupId, Handover,
    Instant, Merge, Merging, Reporting, Request, RequestId, Share, Span, WeightMap, Why, dense,
};
use load::{Load, Verdict};
use weights::{WHOLE, Weights};

/// A latency goal of the device: a percentage of requests is to complete within a time, counted
/// from when the request had budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencyGoal {
    /// The percentage of requests.
    pub percent: u32,
    /// The time.
    pub time: Span,
}

/// The settings: the keys of `io.cost.qos` with the values of the example in its documentation, and
/// what the documentation leaves to the implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IocostParams {
    /// Goal for reads: `rpct`, `rlat`.
    pub reads: LatencyGoal,
    /// Goal for writes: `wpct`, `wlat`.
    pub writes: LatencyGoal,
    /// `min`: the slowest pace of the clock, in percent of real time.
    pub rate_min_percent: u32,
    /// `max`: the fastest pace of the clock, in percent of real time.
    pub rate_max_percent: u32,
    /// By how much the pace changes after a period, in percent.
    pub rate_step_percent: u32,
    /// The device counts as saturated if a request with budget waited for room at the device for
    /// longer than this percentage of a period.
    pub wait_percent: u32,
    /// The interval at which the pace and the loans are revised.
    pub period: Span,
    /// How much budget a group may save, in percent of a period's budget.
    pub saved_percent: u32,
    /// How group priorities are converted to weights.
    pub weight_map: WeightMap,
}

impl Default for IocostParams {
    fn default() -> Self {
        Self {
            reads: LatencyGoal { percent: 95, time: Span::from_ms(75) },
            writes: LatencyGoal { percent: 95, time: Span::from_ms(150) },
            rate_min_percent: 50,
            rate_max_percent: 150,
            rate_step_percent: 3,
            wait_percent: 50,
            period: Span::from_ms(100),
            saved_percent: 50,
            weight_map: WeightMap::LinearHigh0,
        }
    }
}

impl Family for IocostParams {
    const NAME: &'static str = "iocost";
    type Scheduler = Iocost;

    fn honours(&self) -> Honours {
        Honours { shares: true, nesting: Nesting::Deep, costs: true, ..Honours::NONE }
    }

    fn build(&self) -> Iocost {
        Iocost::new(*self)
    }
}

/// After this many periods without requests a group is no longer active.
const IDLE_PERIODS: u32 = 10;

/// Step, minimum and maximum of the clock's pace, in percent, for a device without a cost model:
/// the bounds of the documentation, and steps large enough to reach them.
const UNTOLD: (u32, u32, u32) = (25, 1, 10_000);

/// The io.cost elevator; see the [module documentation](self).
#[derive(Debug)]
pub struct Iocost {
    params: IocostParams,
    queues: GroupQueues,
    weights: Weights,
    budgets: Vec<Budget>,
    /// The active groups, in no particular order.
    active: Vec<u32>,
    /// Groups with queued requests, by the virtual time at which their first request may go. The
    /// true time may be later, since other groups may have become active meanwhile.
    order: Order<u64>,
    clock: Clock,
    load: Load,
    /// When the current period began, in virtual time, and when it ends.
    began: u64,
    ends: Instant,
    loans: Loans,
    costs: Costs,
    /// When each request in flight had budget; indexed by slot.
    started: Vec<Instant>,
}

impl Iocost {
    /// An elevator with nothing queued.
    #[must_use]
    pub fn new(params: IocostParams) -> Self {
        Self {
            params,
            queues: GroupQueues::with_urgent(Flags::META),
            weights: Weights::new(),
            budgets: Vec::new(),
            active: Vec::new(),
            order: Order::new(),
            clock: Clock::new(),
            load: Load::new(),
            began: 0,
            ends: Instant::ZERO + params.period,
            loans: Loans::default(),
            costs: Costs::new(),
            started: Vec::new(),
        }
    }

    fn budget(&mut self, group: u32) -> &mut Budget {
        dense::entry(&mut self.budgets, group, Budget::default)
    }

    fn cost(&self, request: &Request) -> u64 {
        self.costs.of(request, self.queues.is_sequential(request)).as_ns()
    }

    /// The part of the disk that the group uses: its own part, what it keeps of it while it lends,
    /// or its part plus what others lend.
    fn part(&self, group: u32) -> u64 {
        let part = self.weights.part(group);
        match self.budgets[group as usize].loan {
            Some(loan) => loan.keeps.min(part),
            None => self.loans.with_loans(part),
        }
        .clamp(1, WHOLE)
    }

    /// The virtual time at which the group's first request may go; zero for an urgent one.
    fn ready_at(&self, group: u32) -> Option<u64> {
        let first = self.queues.first(group)?;
        if self.queues.is_urgent(first) {
            return Some(0);
        }
        let relative = relative(self.cost(first), self.part(group));
        Some(self.budgets[group as usize].vtime.saturating_add(relative))
    }

    /// Updates the group's place after its first request or its budget has changed.
    fn place(&mut self, now: Instant, group: u32) {
        let ready_at = self.look(now, group);
        self.order.place(group, ready_at);
    }

    /// When the group's first request may go. If that is not now, takes back what the group lends
    /// and records that it ran short.
    fn look(&mut self, now: Instant, group: u32) -> Option<u64> {
        let vnow = self.clock.at(now);
        let mut ready_at = self.ready_at(group);
        if ready_at.is_some_and(|at| at > vnow) {
            if self.take_back(vnow, group) {
                ready_at = self.ready_at(group);
            }
            if ready_at.is_some_and(|at| at > vnow) {
                self.budget(group).ran_short = true;
            }
        }
        ready_at
    }

    /// Returns loaned budget to a group that runs short: as much as its first request needs to go
    /// now, or everything. Returns whether the group was lending.
    fn take_back(&mut self, vnow: u64, group: u32) -> bool {
        let Some(loan) = self.budgets[group as usize].loan else { return false };
        let Some(first) = self.queues.first(group) else { return false };
        let cost = self.cost(first);
        let budget = &mut self.budgets[group as usize];
        self.loans.take_back(loan);
        budget.loan = loan.keep_for(cost, vnow.saturating_sub(budget.vtime));
        if let Some(smaller) = budget.loan {
            self.loans.add(smaller);
        }
        true
    }

    /// Makes the group active. Budget saved while it was idle is limited.
    fn wants(&mut self, now: Instant, group: u32) {
        let period = relative(self.params.period.as_ns(), WHOLE);
        let saved = period * u64::from(self.params.saved_percent) / 100;
        let least = self.clock.at(now).saturating_sub(saved);
        let budget = self.budget(group);
        budget.vtime = budget.vtime.max(least);
        budget.idle_periods = 0;
        if !core::mem::replace(&mut budget.is_active, true) {
            self.active.push(group);
            self.weights.set_wants(group, true);
        }
    }

    /// Ends the period if it is over.
    fn pass(&mut self, now: Instant) {
        if now < self.ends {
            return;
        }
        let short = self.active.iter().any(|group| self.budgets[*group as usize].ran_short);
        let vnow = self.clock.at(now);
        self.change_pace(now, short);
        self.leave_out_idle();
        self.lend(vnow - self.began);
        (self.began, self.ends) = (vnow, now + self.params.period);
        self.load = Load::new();
        for at in 0..self.active.len() {
            let group = self.active[at];
            let budget = &mut self.budgets[group as usize];
            (budget.used, budget.ran_short) = (0, false);
            let ready_at = self.look(now, group);
            if ready_at != self.order.key(group) {
                self.order.place(group, ready_at);
            }
        }
    }

    fn change_pace(&mut self, now: Instant, short: bool) {
        let IocostParams { rate_step_percent, rate_min_percent, rate_max_percent, .. } =
            self.params;
        let (step_percent, least, most) = match self.costs.are_told() {
            true => (rate_step_percent, rate_min_percent, rate_max_percent),
            false => UNTOLD,
        };
        let rate = self.clock.rate();
        let step = rate * u64::from(step_percent) / 100;
        let wanted = match self.load.verdict(&self.params) {
            Verdict::Saturated => rate - step,
            Verdict::Copes if short => rate + step,
            Verdict::Copes => rate,
        };
        let percent = |percent: u32| AS_TIME * u64::from(percent) / 100;
        self.clock.set_rate(now, wanted.min(percent(most)).max(percent(least)));
    }

    /// Removes groups that have been idle for a while from the active ones. Until then they lend
    /// their part, so that a group that returns for a moment does not claim it for the rest of a
    /// period.
    fn leave_out_idle(&mut self) {
        for at in (0..self.active.len()).rev() {
            let group = self.active[at];
            let budget = &mut self.budgets[group as usize];
            budget.loan = None;
            let idle = budget.used == 0 && self.queues.outstanding(group) == 0;
            budget.idle_periods = if idle { budget.idle_periods + 1 } else { 0 };
            if budget.idle_periods >= IDLE_PERIODS {
                budget.is_active = false;
                self.active.swap_remove(at);
                self.weights.set_wants(group, false);
            }
        }
    }

    /// Lets groups that need less than their part lend the rest to those that lend nothing, in
    /// proportion to their parts.
    fn lend(&mut self, passed: u64) {
        self.loans = Loans::default();
        for group in &self.active {
            let part = self.weights.part(*group);
            let budget = &mut self.budgets[*group as usize];
            budget.loan = budget.spare(passed, part);
            if let Some(loan) = budget.loan {
                self.loans.add(loan);
            }
        }
    }

    /// The group whose request may go first, and since when in virtual time.
    fn choose(&mut self, now: Instant) -> Option<(u32, u64)> {
        let vnow = self.clock.at(now);
        while let Some((group, _)) = self.order.first().filter(|(_, at)| *at <= vnow) {
            let really = self.ready_at(group)?;
            if really <= vnow {
                return Some((group, really));
            }
            self.place(now, group);
        }
        None
    }

    fn dispatch(&mut self, now: Instant, group: u32, since: u64) -> Option<RequestId> {
        let first = *self.queues.first(group)?;
        let cost = self.cost(&first);
        let relative = relative(cost, self.part(group));
        let ready = self.clock.when(since).max(first.arrived).min(now);
        let budget = self.budget(group);
        budget.vtime = budget.vtime.saturating_add(relative);
        budget.used = budget.used.saturating_add(cost);
        self.queues.dispatch(group);
        self.load.dispatched(now, ready);
        *dense::entry(&mut self.started, first.id.0, || ready) = ready;
        self.place(now, group);
        Some(first.id)
    }

    /// Resets a group whose number is reused. What the earlier group still has queued is charged to
    /// the new one.
    fn begin(&mut self, now: Instant, group: GroupId, share: Share) {
        let vnow = self.clock.at(now);
        self.budget(group.0).vtime = vnow;
        self.weights.set_parent(group.0, None);
        self.set_share(now, group, share);
    }

    fn set_share(&mut self, now: Instant, group: GroupId, share: Share) {
        self.budget(group.0);
        self.weights.set_weight(group.0, share.weight(self.params.weight_map));
        self.place(now, group.0);
    }

    /// Updates every active group's place, because requests may go earlier than was computed.
    fn place_all(&mut self, now: Instant) {
        for at in 0..self.active.len() {
            self.place(now, self.active[at]);
        }
    }
}

impl Elevator for Iocost {
    fn admit(&mut self, now: Instant, request: &Request) -> Admission {
        self.pass(now);
        let group = request.group.0;
        self.budget(group);
        if self.queues.first(group).is_none() {
            self.wants(now, group);
        }
        self.queues.push(request);
        self.place(now, group);
        Admission::Queued
    }

    fn decide(&mut self, now: Instant) -> Decision {
        self.pass(now);
        if let Some((group, since)) = self.choose(now)
            && let Some(id) = self.dispatch(now, group, since)
        {
            return Decision::Dispatch(id, Why::LeastServed);
        }
        match self.order.first() {
            Some((_, vtime)) => {
                Decision::WaitUntil(self.clock.when(vtime).min(self.ends), Why::BudgetUsed)
            }
            None => self.queues.rest(),
        }
    }

    fn complete(&mut self, now: Instant, completion: &Completion) {
        let request = self.queues.complete(completion.request);
        let took = now - self.started[completion.request.0 as usize];
        self.load.completed(request.op, took, &self.params);
        self.pass(now);
    }

    fn withdraw(&mut self, now: Instant, id: RequestId) {
        let group = self.queues.remove(id).group.0;
        self.place(now, group);
    }

    fn drain(&mut self, _now: Instant) -> Option<RequestId> {
        let (group, _) = self.order.first()?;
        let id = self.queues.first(group)?.id;
        self.queues.remove(id);
        let at = self.ready_at(group);
        self.order.place(group, at);
        Some(id)
    }

    fn describe(&self) -> Description {
        Description::new(IocostParams::NAME, Handover::Single)
    }

    fn configure(&mut self, now: Instant, change: &Change) {
        match *change {
            Change::GroupAdded { group, share } => self.begin(now, group, share),
            Change::GroupRemoved { group } => self.begin(now, group, Share::DEFAULT),
            Change::GroupShare { group, share } => self.set_share(now, group, share),
            Change::GroupParent { group, parent } => self.weights.set_parent(group.0, parent),
            Change::Costs(costs) => self.costs.tell(costs),
            Change::Rotational { rotational } => self.costs.set_rotational(rotational),
            _ => return,
        }
        self.place_all(now);
    }
}

impl Merging for Iocost {
    fn merged(&mut self, now: Instant, request: &Request, how: Merge) {
        self.queues.merged(request, how);
        self.place(now, request.group.0);
    }
}

impl Reporting for Iocost {
    fn held_back(&self, now: Instant, group: GroupId) -> Option<Why> {
        let may_go = self.ready_at(group.0)?;
        (may_go > self.clock.at(now)).then_some(Why::BudgetUsed)
    }
}

fairdisk_core::default_extensions!(Iocost: Driving, Hearing, Promising, Attaching);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use fairdisk_core::{Cost, CostModel, Op, TaskId};

    /// A scene with a device that takes everything it gets, groups 1 and 2 of equal weight, and
    /// requests of 5 ms.
    struct Scene {
        elevator: Iocost,
        now: Instant,
        next: u32,
        /// Requests dispatched so far, by group.
        gone: [u32; 3],
    }

    impl Scene {
        fn new() -> Self {
            let params = IocostParams {
                rate_min_percent: 100,
                rate_max_percent: 100,
                ..IocostParams::default()
            };
            let mut elevator = Iocost::new(params);
            let (sequential, random) = (Span::ZERO, Span::from_ms(5));
            let cost = Cost { sequential, random, byte_ps: 0, random_byte_ps: 0 };
            let saturation = Span::ZERO;
            let costs =
                CostModel { depth: 1, saturation, alone: saturation, read: cost, write: cost };
            for group in [1, 2].map(GroupId) {
                let share = Share::DEFAULT;
                elevator.configure(Instant::ZERO, &Change::GroupAdded { group, share });
            }
            elevator.configure(Instant::ZERO, &Change::Costs(costs));
            Self { elevator, now: Instant::ZERO, next: 0, gone: [0; 3] }
        }

        fn submit(&mut self, group: u32) {
            self.next += 1;
            let request = samples::request(self.next, group, Op::Read, self.now);
            let request = Request { task: TaskId(group), ..request };
            self.elevator.admit(self.now, &request);
        }

        /// Lets `ms` pass. Dispatched requests complete at once, and group 1 always has another
        /// one.
        fn pass(&mut self, ms: u64) {
            let end = self.now + Span::from_ms(ms);
            loop {
                match self.elevator.decide(self.now) {
                    Decision::Dispatch(request, _) => {
                        let group = self.elevator.queues.request(request).group.0;
                        self.gone[group as usize] += 1;
                        let (device_time, ok) = (Span::ZERO, true);
                        let completion = Completion { request, device_time, ok };
                        self.elevator.complete(self.now, &completion);
                        if group == 1 {
                            self.submit(1);
                        }
                    }
                    Decision::WaitUntil(at, _) if at <= end => self.now = at,
                    _ => break,
                }
            }
            self.now = end;
        }
    }

    #[test]
    fn what_a_group_does_not_need_is_lent_and_is_back_at_once() {
        let mut scene = Scene::new();
        scene.submit(1);
        for _ in 0..20 {
            scene.submit(2);
            scene.pass(50);
        }
        // In one second group 2 wanted 20 of 200 requests. Group 1 gets more than its half: all but
        // what group 2 keeps in reserve.
        assert_eq!(scene.gone[2], 20);
        assert!((150..=180).contains(&scene.gone[1]), "{:?}", scene.gone);
        scene.gone = [0; 3];
        (0..40).for_each(|_| scene.submit(2));
        scene.pass(200);
        // Half of 40 requests, plus what both groups had saved.
        assert!((18..=26).contains(&scene.gone[2]), "{:?}", scene.gone);
    }

    #[test]
    fn a_group_that_wants_nothing_leaves_all_to_the_others() {
        let mut scene = Scene::new();
        scene.submit(1);
        scene.submit(2);
        // Group 2 ran short once, in the first period, and lends from the third on.
        for (ms, least) in [(200, 20), (1000, 196), (1000, 200)] {
            scene.gone = [0; 3];
            scene.pass(ms);
            assert!(scene.gone[1] >= least, "{:?} in {ms} ms", scene.gone);
        }
        assert_eq!(scene.gone, [0, 200, 0]);
    }
}
