//! What a request costs in a scheduler: admit, decide, complete; and with the engine around it,
//! from submission to the end. Run with `cargo bench --bench decide`; `-- NAME` runs one scheduler
//! only, for a profiler.
//!
//! The ratio is the price of a thousand times as many tasks. It holds the caches' share too: the
//! state of 100 000 tasks does not fit into them.

#[path = "../tests/support/bare_loop.rs"]
mod bare_loop;
#[path = "../tests/support/closed_loop.rs"]
mod closed_loop;

use bare_loop::BareLoop;
use closed_loop::{ClosedLoop, Crowd};
use fairdisk_core::{PoolConfig, PoolLayout};
use fairdisk_sched::SchedulerSpec;
use std::fs;

const SMALL: Crowd = Crowd { groups: 10, tasks_per_group: 10, writes_percent: 0 };
const LARGE: Crowd = Crowd { groups: 1000, tasks_per_group: 100, writes_percent: 0 };
const ROUNDS: u32 = 3;

/// CPU time of this thread in nanoseconds: other programs on the machine do not count. It grows by
/// ticks of a few milliseconds.
fn cpu_ns() -> u64 {
    let schedstat = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let field = schedstat.split_whitespace().next().and_then(|field| field.parse().ok());
    field.unwrap_or_else(wall_ns)
}

/// Where the system does not tell CPU time.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn wall_ns() -> u64 {
    use std::sync::LazyLock;
    static START: LazyLock<std::time::Instant> = LazyLock::new(std::time::Instant::now);
    START.elapsed().as_nanos() as u64
}

/// Nanoseconds a request, the best of a few rounds.
fn best(requests: u64, mut run: impl FnMut(u64)) -> u64 {
    let round = |_| {
        let began = cpu_ns();
        run(requests);
        (cpu_ns() - began) / requests
    };
    (0..ROUNDS).map(round).min().unwrap_or_default()
}

/// In the scheduler alone.
fn alone(spec: SchedulerSpec, crowd: Crowd, requests: u64) -> u64 {
    let mut bare = BareLoop::new(spec.build(), crowd);
    bare.run(2 * u64::from(crowd.tasks()));
    best(requests, |requests| bare.run(requests))
}

/// In the scheduler and the engine.
fn whole(spec: SchedulerSpec, crowd: Crowd, requests: u64) -> u64 {
    let pool = PoolConfig { layout: PoolLayout::Unlimited, ..PoolConfig::default() };
    let mut run = ClosedLoop::new(spec.build(), crowd, pool);
    run.run(2 * u64::from(crowd.tasks()));
    best(requests, |requests| run.run(requests))
}

type Measure = fn(SchedulerSpec, Crowd, u64) -> u64;
const MEASURES: [(&str, Measure); 2] = [("alone", alone), ("with engine", whole)];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` only wants to see that it runs.
    let requests = if words.iter().any(|word| word == "--bench") { 1_000_000 } else { 1_000 };
    let chosen = words.iter().find(|word| !word.starts_with('-'));
    println!(
        "{:<16}{:>8}  {:<12}{:>12}{:>14}{:>8}",
        "scheduler", "writes", "measured", "10 x 10", "1000 x 100", "ratio"
    );
    for name in SchedulerSpec::NAMES.iter().filter(|name| chosen.is_none_or(|word| word == *name)) {
        let Some(spec) = SchedulerSpec::named(name) else { continue };
        for (writes_percent, (what, measure)) in
            [0, 30].into_iter().flat_map(|writes| MEASURES.map(|measure| (writes, measure)))
        {
            let small = measure(spec, Crowd { writes_percent, ..SMALL }, requests);
            let large = measure(spec, Crowd { writes_percent, ..LARGE }, requests);
            let ratio = large as f64 / small.max(1) as f64;
            println!(
                "{name:<16}{writes_percent:>6} %  {what:<12}{small:>9} ns{large:>11} ns{ratio:>8.2}"
            );
        }
    }
}
