//! Law 6: the work of a call is bounded. Counted in instructions, the worst calls of a storm of
//! thousands of groups take a few times what they take among sixteen, as O(log n) does, and not
//! hundreds of times; and however much time has passed before.

#[path = "../support/counting.rs"]
mod counting;
#[path = "../../../fairdisk-core/tests/model/fifo.rs"]
mod fifo;
mod meter;
mod scene;
mod steps;

use fairdisk_core::{
    Admission, Change, Completion, Decision, Description, Elevator, Instant, Request, RequestId,
    Span,
};
use fairdisk_sched::SchedulerSpec;
use fifo::Fifo;
use meter::{Worst, worst};
use scene::{Scene, Weather};

const FEW: u32 = 16;
const MANY: u32 = 4096;
/// The logarithms of the tasks are as 14 to 6, and the first level of a tree costs less than
/// others.
const FACTOR: u64 = 6;
/// Less than this is little, whatever it is compared with.
const LITTLE: u64 = 800;
/// So many of the calls of a kind that took longest are counted: each is to keep the law, but what
/// they are compared with is to be the worst there is.
const COUNTED: usize = 4;
const COUNTED_TO_COMPARE: usize = 32;

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
    let of = |groups, counted| {
        let run = |meter| Scene::run(weather(groups, depth), build(), meter);
        worst(excepted(name), counted, run)
    };
    excess(&of(MANY, COUNTED), &of(FEW, COUNTED_TO_COMPARE))
        .into_iter()
        .map(|one| format!("{name}, {one}"))
        .collect()
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
#[derive(Default)]
struct Walker {
    fifo: Fifo,
    groups: Vec<u32>,
    calls: u32,
}

impl Elevator for Walker {
    fn admit(&mut self, now: Instant, request: &Request) -> Admission {
        self.fifo.admit(now, request)
    }

    fn decide(&mut self, now: Instant) -> Decision {
        self.calls += 1;
        if self.calls.is_multiple_of(1000) {
            self.groups.iter_mut().for_each(|group| *group = std::hint::black_box(*group + 1));
        }
        self.fifo.decide(now)
    }

    fn complete(&mut self, now: Instant, completion: &Completion) {
        self.fifo.complete(now, completion);
    }

    fn withdraw(&mut self, now: Instant, id: RequestId) {
        self.fifo.withdraw(now, id);
    }

    fn configure(&mut self, _now: Instant, change: &Change) {
        if let Change::GroupAdded { group, .. } = change {
            let known = self.groups.len().max(group.0 as usize + 1);
            self.groups.resize(known, 0);
        }
    }

    fn describe(&self) -> Description {
        self.fifo.describe()
    }

    fn drain(&mut self, now: Instant) -> Option<RequestId> {
        self.fifo.drain(now)
    }
}

#[test]
fn who_looks_at_all_groups_once_in_a_while_is_found() {
    if is_skipped() {
        return;
    }
    let broken = broken("walker", 1, Walker::default);
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
        let of = |pause, counted| {
            let weather = Weather { pause, calls: 20_000, ..weather(FEW, 1) };
            let run = |meter| Scene::run(weather, spec.build(), meter);
            worst(excepted(name), counted, run)
        };
        // What is due at some time is done by whichever call comes next.
        let (paused, usual) = (of(Some(day), COUNTED), of(None, COUNTED_TO_COMPARE));
        let most = usual.into_values().max().unwrap_or_default();
        let broken = excess(&paused, &paused.keys().map(|kind| (*kind, most)).collect());
        assert!(broken.is_empty(), "law 6: {name}, after a day: {broken:?}");
    }
}
