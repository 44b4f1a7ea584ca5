//! Law 6: the work per call is bounded. Counted in instructions, the worst calls in a storm of
//! thousands of groups take a few times what they take among sixteen groups, as O(log n) does, not
//! hundreds of times; nor does elapsed time matter.

#[path = "../support/counting.rs"]
mod counting;
#[path = "../../../fairdisk-core/tests/model/fifo.rs"]
mod fifo;
#[macro_use]
#[path = "../../../fairdisk-core/tests/model/leave_to_fifo.rs"]
mod leave_to_fifo;
mod meter;
mod scene;
mod steps;

use fairdisk_core::{Change, Decision, Elevator, Instant, Span};
use fairdisk_sched::SchedulerSpec;
use fairdisk_sched::bfq::{BfqParams, Switches};
use fifo::Fifo;
use meter::{Meter, Worst, worst};
use scene::{Scene, Weather};

const FEW: u32 = 16;
const MANY: u32 = 4096;
/// The logarithms of the numbers of tasks are as 14 to 6, and the first level of a tree costs less
/// than the others.
const FACTOR: u64 = 6;
/// Instruction counts below this are small, whatever they are compared with.
const LITTLE: u64 = 800;
/// The number of the longest calls of each kind that are counted.
const COUNTED: usize = 4;
/// The numbers of calls that they are compared with. Many more are counted before a call is said to
/// break the law: on a busy machine, others than the worst ones may have taken longest.
const COMPARED: [usize; 2] = [16, 1024];

const fn weather(groups: u32, depth: u32) -> Weather {
    Weather { groups, depth, pause: None, calls: 16_000 }
}

/// The calls in which schedulers do not keep the law, or do work that earlier calls postponed, a
/// part each. `bfq` does in `decide` and `drain`: everything that virtual time has reached since.
/// `mclock` lets groups go together whose limits end at one time, and the first `drain` of `fair`
/// lets all groups go that are at a ceiling. `iocost` and `iolatency` visit all groups once per
/// period, and a class that `shares` moves may contain any number of others.
const EXCEPTED: [(&str, &[&str]); 6] = [
    ("bfq", &["decide", "drain"]),
    ("fair", &["drain"]),
    ("mclock", &["decide"]),
    ("iocost", &["admit", "decide", "complete", "share", "parent", "added", "removed"]),
    ("iolatency", &["complete"]),
    ("shares", &["parent"]),
];

fn excepted(name: &str) -> &'static [&'static str] {
    EXCEPTED.iter().find(|(one, _)| *one == name).map_or(&[], |(_, calls)| calls)
}

/// The bound for a call.
type Bound = fn(&Worst, &str) -> u64;

fn same_call(among_few: &Worst, kind: &str) -> u64 {
    among_few.get(kind).copied().unwrap_or_default()
}

fn any_call(usual: &Worst, _: &str) -> u64 {
    usual.values().copied().max().unwrap_or_default()
}

/// The calls of `run` that exceed the bound from `usual`.
fn broken(
    name: &str,
    run: impl Fn(Meter) -> Meter,
    usual: impl Fn(Meter) -> Meter,
    bound: Bound,
) -> Vec<String> {
    let found = worst(excepted(name), COUNTED, &run);
    let excess = |counted| {
        let usual = worst(excepted(name), counted, &usual);
        let too_much = |(kind, steps): (&&'static str, &u64)| {
            let bound = bound(&usual, kind);
            let is_too_much = *steps > FACTOR * bound.max(LITTLE);
            is_too_much.then(|| format!("{name}, {kind}: {steps} instructions, usually {bound}"))
        };
        found.iter().filter_map(too_much).collect::<Vec<_>>()
    };
    let [some, more] = COMPARED;
    if excess(some).is_empty() { Vec::new() } else { excess(more) }
}

/// The calls that break the law among many groups.
fn broken_among_many<E: Elevator>(name: &str, depth: u32, build: impl Fn() -> E) -> Vec<String> {
    let among = |groups| {
        let build = &build;
        move |meter| Scene::run(weather(groups, depth), build(), meter)
    };
    broken(name, among(MANY), among(FEW), same_call)
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
    let switches = Switches::of_revision("bfq-6.2").expect("it is listed");
    let seeky_idle = Span::from_ms(2);
    let newest = SchedulerSpec::Bfq(BfqParams { switches, seeky_idle, ..BfqParams::default() });
    SchedulerSpec::NAMES.iter().copied().map(named).chain([("bfq", newest)])
}

fn every_scheduler_keeps_the_law(depth: u32) {
    if is_skipped() {
        return;
    }
    let broken =
        specs().flat_map(|(name, spec)| broken_among_many(name, depth, move || spec.build()));
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

/// First come, first served, but now and then it visits all groups.
#[derive(Default)]
struct Walker {
    fifo: Fifo,
    groups: Vec<u32>,
    calls: u32,
}

impl Elevator for Walker {
    leave_to_fifo!(admit complete withdraw describe drain);

    fn decide(&mut self, now: Instant) -> Decision {
        self.calls += 1;
        if self.calls.is_multiple_of(1000) {
            self.groups.iter_mut().for_each(|group| *group = std::hint::black_box(*group + 1));
        }
        self.fifo.decide(now)
    }

    fn configure(&mut self, _now: Instant, change: &Change) {
        if let Change::GroupAdded { group, .. } = change {
            let known = self.groups.len().max(group.0 as usize + 1);
            self.groups.resize(known, 0);
        }
    }
}

fairdisk_core::default_extensions!(Walker);

#[test]
fn who_looks_at_all_groups_once_in_a_while_is_found() {
    if is_skipped() {
        return;
    }
    let broken = broken_among_many("walker", 1, Walker::default);
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
        let after = |pause| {
            move |meter| {
                let weather = Weather { pause, calls: 8_000, ..weather(FEW, 1) };
                Scene::run(weather, spec.build(), meter)
            }
        };
        // Whatever is due at some time is done by the next call of any kind.
        let broken = broken(name, after(Some(day)), after(None), any_call);
        assert!(broken.is_empty(), "law 6: {name}, after a day: {broken:?}");
    }
}
