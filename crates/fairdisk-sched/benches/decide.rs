//! What a request costs in the engine and a scheduler: submit, admit, decide, complete. Run with
//! `cargo bench --bench decide`; `-- NAME` runs one scheduler only, for a profiler.
//!
//! The last column is the price of a thousand times as many tasks. It holds the caches' share too:
//! the state of 100 000 tasks does not fit into them.

#[path = "../tests/support/closed_loop.rs"]
mod closed_loop;

use closed_loop::{ClosedLoop, Crowd};
use fairdisk_core::{PoolConfig, PoolLayout};
use fairdisk_sched::SchedulerSpec;
use std::fs;

const SMALL: Crowd = Crowd { groups: 10, tasks_per_group: 10, writes_percent: 0 };
const LARGE: Crowd = Crowd { groups: 1000, tasks_per_group: 100, writes_percent: 0 };
const ROUNDS: u32 = 3;

/// CPU time of this thread in nanoseconds: other programs on the machine do not count.
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
fn measure(spec: SchedulerSpec, crowd: Crowd, requests: u64) -> u64 {
    let pool = PoolConfig { layout: PoolLayout::Unlimited, ..PoolConfig::default() };
    let mut run = ClosedLoop::new(spec.build(), crowd, pool);
    run.run(2 * u64::from(crowd.groups * crowd.tasks_per_group));
    let round = |_| {
        let began = cpu_ns();
        run.run(requests);
        (cpu_ns() - began) / requests
    };
    (0..ROUNDS).map(round).min().unwrap_or_default()
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` only wants to see that it runs.
    let requests = if words.iter().any(|word| word == "--bench") { 300_000 } else { 1_000 };
    let chosen = words.iter().find(|word| !word.starts_with('-'));
    println!(
        "{:<16}{:>8}  {:>14}{:>14}{:>8}",
        "scheduler", "writes", "10 x 10", "1000 x 100", "ratio"
    );
    for name in SchedulerSpec::NAMES.iter().filter(|name| chosen.is_none_or(|word| word == *name)) {
        let Some(spec) = SchedulerSpec::named(name) else { continue };
        for writes_percent in [0, 30] {
            let small = measure(spec, Crowd { writes_percent, ..SMALL }, requests);
            let large = measure(spec, Crowd { writes_percent, ..LARGE }, requests);
            let ratio = large as f64 / small.max(1) as f64;
            println!("{name:<16}{writes_percent:>6} %  {small:>11} ns{large:>11} ns{ratio:>8.2}");
        }
    }
}
