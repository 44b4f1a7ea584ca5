//! The cost of a request in a scheduler: admit, decide, complete; and, with the engine around it,
//! from submission to completion. Run with `cargo bench --bench decide`; `-- NAME` runs a single
//! scheduler, for a profiler.
//!
//! Costs are measured in CPU time and, if valgrind is installed, in instructions. Times include
//! cache misses: the state of 100 000 tasks does not fit into the caches. Instruction counts are
//! exact, and show how the work grows with tasks and groups.

#[path = "../tests/support/bare_loop.rs"]
mod bare_loop;
#[path = "../tests/support/closed_loop.rs"]
mod closed_loop;
#[path = "decide/instructions.rs"]
mod instructions;

use bare_loop::BareLoop;
use closed_loop::{ClosedLoop, Crowd};
use fairdisk_core::{PoolConfig, PoolLayout};
use fairdisk_sched::cfq::CfqParams;
use fairdisk_sched::two_layer::TwoLayerParams;
use fairdisk_sched::{Scheduler, SchedulerSpec};
use std::fs;

/// Numbers of groups, and of tasks in each.
const CROWDS: [(u32, u32); 5] = [(10, 10), (100, 10), (1000, 10), (1000, 100), (10_000, 10)];
/// The crowds for which time is measured.
const TIMED: [(u32, u32); 3] = [CROWDS[0], CROWDS[3], CROWDS[4]];
/// Percentages of writes: none, and enough to exercise every part.
const WRITES_PERCENT: [u64; 2] = [0, 30];
const ROUNDS: u32 = 3;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [word, rest @ ..] = words.as_slice()
        && word == instructions::COUNT
    {
        return instructions::serve(rest);
    }
    // `cargo test --benches` only checks that it runs.
    let in_full = words.iter().any(|word| word == "--bench");
    let chosen = words.iter().find(|word| !word.starts_with('-'));
    let chosen: Vec<Named> =
        specs().into_iter().filter(|(name, _)| chosen.is_none_or(|word| word == name)).collect();
    times(&chosen, if in_full { 1_000_000 } else { 1_000 });
    if in_full {
        println!();
        instructions::count(&chosen);
    }
}

type Named = (&'static str, SchedulerSpec);

/// All schedulers, and a variant of two-layer CFQ that never idles: it serves task after task, as
/// most others do, instead of one of them for a while.
fn specs() -> Vec<Named> {
    let params = TwoLayerParams::default();
    let cfq = CfqParams { slice_idle_ms: 0, ..params.cfq };
    let at_once = SchedulerSpec::TwoLayerCfq(TwoLayerParams { cfq, ..params });
    let named = SchedulerSpec::NAMES.iter().map(|name| (*name, SchedulerSpec::named(name)));
    let mut specs: Vec<Named> = named.filter_map(|(name, spec)| Some((name, spec?))).collect();
    specs.push(("two-layer-0", at_once));
    specs
}

fn crowd((groups, tasks_per_group): (u32, u32), writes_percent: u64) -> Crowd {
    Crowd { groups, tasks_per_group, writes_percent }
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The scheduler alone.
    Alone,
    /// The scheduler and the engine.
    Whole,
}

impl Part {
    const ALL: [Self; 2] = [Self::Alone, Self::Whole];

    const fn words(self) -> &'static str {
        match self {
            Self::Alone => "alone",
            Self::Whole => "with engine",
        }
    }
}

/// A crowd that has been served for a while.
enum Loop {
    Alone(Box<BareLoop<Scheduler>>),
    Whole(Box<ClosedLoop<Scheduler>>),
}

impl Loop {
    fn new(spec: SchedulerSpec, part: Part, crowd: Crowd) -> Self {
        let mut this = match part {
            Part::Alone => Self::Alone(BareLoop::new(spec.build(), crowd).into()),
            Part::Whole => {
                let pool = PoolConfig { layout: PoolLayout::Unlimited, ..PoolConfig::default() };
                Self::Whole(ClosedLoop::new(spec.build(), crowd, pool).into())
            }
        };
        this.serve(2 * u64::from(crowd.tasks()));
        this
    }

    /// Serves `requests` more requests.
    fn serve(&mut self, requests: u64) {
        match self {
            Self::Alone(bare) => bare.run(requests),
            Self::Whole(whole) => whole.run(requests),
        }
    }
}

// ---- times -------------------------------------------------------------------------------------

/// Prints a table of times.
fn times(specs: &[Named], requests: u64) {
    print!("{:<16}{:>8}  {:<12}", "scheduler", "writes", "measured");
    TIMED.iter().for_each(|(groups, tasks)| print!("{:>15}", format!("{groups} x {tasks}")));
    println!("{:>16}", "ratios");
    for (name, spec) in specs {
        for (writes, part) in WRITES_PERCENT.into_iter().flat_map(|w| Part::ALL.map(|p| (w, p))) {
            let times = TIMED.map(|of| best(*spec, part, crowd(of, writes), requests));
            print!("{name:<16}{writes:>6} %  {:<12}", part.words());
            times.iter().for_each(|time| print!("{time:>12} ns"));
            let ratio = |time: u64| time as f64 / times[0].max(1) as f64;
            println!("{:>8.2}{:>8.2}", ratio(times[1]), ratio(times[2]));
        }
    }
}

/// Nanoseconds per request, the best of a few rounds.
fn best(spec: SchedulerSpec, part: Part, crowd: Crowd, requests: u64) -> u64 {
    let mut served = Loop::new(spec, part, crowd);
    let mut round = |_| {
        let began = cpu_ns();
        served.serve(requests);
        (cpu_ns() - began) / requests
    };
    (0..ROUNDS).map(&mut round).min().unwrap_or_default()
}

/// CPU time of this thread in ns, which excludes other programs on the machine. It advances in
/// ticks of a few milliseconds.
fn cpu_ns() -> u64 {
    let schedstat = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let field = schedstat.split_whitespace().next().and_then(|field| field.parse().ok());
    field.unwrap_or_else(wall_ns)
}

/// Elapsed time, for systems that do not report CPU time.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn wall_ns() -> u64 {
    use std::sync::LazyLock;
    static START: LazyLock<std::time::Instant> = LazyLock::new(std::time::Instant::now);
    START.elapsed().as_nanos() as u64
}
