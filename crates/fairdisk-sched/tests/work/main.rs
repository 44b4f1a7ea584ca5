//! Law 6: the work of a call is bounded. Counted in instructions, the worst calls of a storm of
//! thousands of groups take a few times what they take among sixteen, as O(log n) does, and not
//! hundreds of times; and however much time has passed before.

#[path = "../support/counting.rs"]
mod counting;
mod meter;
mod scene;
mod steps;

use fairdisk_core::{
    Admission, Change, Completion, Decision, Description, Elevator, Handover, Instant, Request,
    RequestId, Span, Why,
};
use fairdisk_sched::SchedulerSpec;
use meter::{Worst, worst};
use scene::{Scene, Weather};
use std::collections::VecDeque;

const FEW: u32 = 16;
const MANY: u32 = 4096;
/// The logarithms of the tasks are as 14 to 6, and the first level of a tree costs less than
/// others.
const FACTOR: u64 = 6;
/// Less than this is little, whatever it is compared with.
const LITTLE: u64 = 800;

const fn weather(groups: u32, depth: u32) -> Weather {
    Weather { groups, depth, pause: None, calls: 40_000 }
}

/// Who does not keep the law, and in which calls. `bfq` does there what earlier calls have put off:
/// all that virtual time has come to since; `iocost` and `iolatency` look at all groups once a
/// period, and a class that `shares` moves may hold any number of others.
const EXCEPTED: [(&str, &[&str]); 4] = [
    ("bfq", &["decide"]),
    ("iocost", &["admit", "decide", "complete", "share", "parent", "added", "removed"]),
    ("iolatency", &["complete"]),
    ("shares", &["parent"]),
];

fn excepted(name: &str) -> &'static [&'static str] {
    EXCEPTED.iter().find(|(one, _)| *one == name).map_or(&[], |(_, calls)| calls)
}

/// Kinds of calls that take too much more than in another storm.
fn excess(worst: &Worst, among_few: &Worst) -> Vec<String> {
    let too_much = |(kind, steps): (&&'static str, &u64)| {
        let few = among_few.get(kind).copied().unwrap_or_default();
        let is_too_much = *steps > FACTOR * few.max(LITTLE);
        is_too_much.then(|| format!("{kind}: {steps} instructions, {few} among few"))
    };
    worst.iter().filter_map(too_much).collect()
}

/// What breaks the law.
fn broken<E: Elevator>(name: &str, depth: u32, build: impl Fn() -> E) -> Vec<String> {
    let of =
        |groups| worst(excepted(name), |meter| Scene::run(weather(groups, depth), build(), meter));
    excess(&of(MANY), &of(FEW)).into_iter().map(|one| format!("{name}, {one}")).collect()
}

fn is_skipped() -> bool {
    let skipped = !steps::are_counted();
    if skipped {
        println!("skipped: instructions cannot be counted on this machine");
    }
    skipped
}

fn specs() -> impl Iterator<Item = (&'static str, SchedulerSpec)> {
    let named = |name| (name, SchedulerSpec::named(name).expect("it is listed"));
    SchedulerSpec::NAMES.iter().copied().map(named)
}

fn every_scheduler_keeps_the_law(depth: u32) {
    if is_skipped() {
        return;
    }
    let broken = specs().flat_map(|(name, spec)| broken(name, depth, move || spec.build()));
    let broken: Vec<String> = broken.collect();
    assert!(broken.is_empty(), "law 6:\n{}", broken.join("\n"));
}

#[test]
fn the_work_of_a_call_grows_no_faster_than_a_logarithm() {
    every_scheduler_keeps_the_law(1);
}

#[test]
fn nor_does_it_on_a_device_that_takes_many_requests() {
    every_scheduler_keeps_the_law(32);
}

/// First come, first served, but now and then it looks at all groups there are.
struct Walker {
    groups: Vec<u32>,
    queue: VecDeque<RequestId>,
    calls: u32,
    in_flight: u32,
}

impl Elevator for Walker {
    fn admit(&mut self, _now: Instant, request: &Request) -> Admission {
        self.queue.push_back(request.id);
        Admission::Queued
    }

    fn decide(&mut self, _now: Instant) -> Decision {
        self.calls += 1;
        if self.calls.is_multiple_of(1000) {
            self.groups.iter_mut().for_each(|group| *group = std::hint::black_box(*group + 1));
        }
        match self.queue.pop_front() {
            Some(id) => {
                self.in_flight += 1;
                Decision::Dispatch(id, Why::ArrivedFirst)
            }
            None if self.in_flight > 0 => Decision::WaitCompletion(Why::NothingQueued),
            None => Decision::Idle,
        }
    }

    fn complete(&mut self, _now: Instant, _completion: &Completion) {
        self.in_flight -= 1;
    }

    fn withdraw(&mut self, _now: Instant, id: RequestId) {
        let last = self.queue.iter().rposition(|queued| *queued == id);
        last.and_then(|at| self.queue.remove(at));
    }

    fn configure(&mut self, _now: Instant, change: &Change) {
        if let Change::GroupAdded { group, .. } = change {
            let known = self.groups.len().max(group.0 as usize + 1);
            self.groups.resize(known, 0);
        }
    }

    fn describe(&self) -> Description {
        Description {
            name: "walker",
            handover: Handover::Single,
            wait_max: None,
            overtaken_max: None,
        }
    }

    fn drain(&mut self, _now: Instant) -> Option<RequestId> {
        self.queue.pop_front()
    }
}

#[test]
fn who_looks_at_all_groups_once_in_a_while_is_found() {
    if is_skipped() {
        return;
    }
    let walker = || Walker { groups: Vec::new(), queue: VecDeque::new(), calls: 0, in_flight: 0 };
    let broken = broken("walker", 1, walker);
    let told = |call: &str| broken.iter().any(|one| one.contains(call));
    assert!(told("decide") && told("withdraw") && !told("complete"), "{broken:?}");
}

#[test]
fn the_work_of_a_call_does_not_grow_with_the_time_that_has_passed() {
    if is_skipped() {
        return;
    }
    let day = Span::from_s(24 * 3600);
    for (name, spec) in specs() {
        let of = |pause| {
            let weather = Weather { pause, calls: 20_000, ..weather(FEW, 1) };
            worst(excepted(name), |meter| Scene::run(weather, spec.build(), meter))
        };
        // What is due at some time is done by whichever call comes next.
        let (paused, usual) = (of(Some(day)), of(None));
        let most = usual.into_values().max().unwrap_or_default();
        let broken = excess(&paused, &paused.keys().map(|kind| (*kind, most)).collect());
        assert!(broken.is_empty(), "law 6: {name}, after a day: {broken:?}");
    }
}
