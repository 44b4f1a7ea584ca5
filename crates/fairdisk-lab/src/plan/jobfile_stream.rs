//! What a job of a fio job file asks for, as a stream of I/Os.

use crate::jobfile::{
    BlockSize as JobBlock, Distribution, Extent, Job, Mix, Order, PerDirection,
    Repeat as JobRepeat, Seed,
};
use fairdisk_core::Span;
use fairdisk_sim::workload::{
    BlockSize, Blocks, Direction, Fixed, FlushEvery, IoOrder, Limits, PerOp, RandomOrder, Rates,
    Repeat, Seeds, Skew, StreamSpec,
};
use std::num::NonZeroU64;

/// The stream of clone `clone`, on `bytes` bytes of each file from `offset`.
pub(super) fn stream(job: &Job, clone: u32, offset: u64, bytes: u64) -> StreamSpec {
    StreamSpec {
        direction: direction(job.pattern.mix),
        order: order(&job.pattern.order),
        blocks: blocks(&job.blocks),
        offset,
        bytes,
        limits: limits(job, bytes),
        rates: rates(job),
        flush: FlushEvery { fsync: job.flush.fsync_writes, fdatasync: job.flush.fdatasync_writes },
        seeds: seeds(job.seed, clone),
    }
}

const fn direction(mix: Mix) -> Direction {
    match mix {
        Mix::Read => Direction::Read,
        Mix::Write => Direction::Write,
        Mix::Trim => Direction::Trim,
        Mix::ReadWrite { read_percent } => Direction::Mixed(read_percent),
        Mix::TrimWrite => Direction::TrimWrite,
    }
}

fn order(order: &Order) -> IoOrder {
    match order {
        Order::Sequential { hole_bytes: 0 } => IoOrder::Sequential,
        Order::Sequential { hole_bytes } => IoOrder::Holes(*hole_bytes),
        Order::Random(random) => IoOrder::Drawn(RandomOrder {
            skew: match random.distribution {
                Distribution::Uniform => Skew::Uniform,
                Distribution::Zipf { theta } => Skew::Zipf { theta: Fixed::from_f64(theta) },
                Distribution::Pareto { h } => Skew::Pareto { h: Fixed::from_f64(h) },
            },
            every_block_once: random.covers_every_block,
            random_percent: per_op(&random.random_percent, |percent| *percent),
            repeat: match random.repeat {
                JobRepeat::Never => Repeat::Never,
                JobRepeat::Sequential { requests } => Repeat::Sequential(requests),
                JobRepeat::Identical { requests } => Repeat::Identical(requests),
            },
        }),
    }
}

fn per_op<T, U>(values: &PerDirection<T>, change: impl Fn(&T) -> U) -> PerOp<U> {
    PerOp { read: change(&values.read), write: change(&values.write), trim: change(&values.trim) }
}

fn blocks(sizes: &PerDirection<JobBlock>) -> Blocks {
    per_op(sizes, |size| match size {
        JobBlock::Fixed { bytes } => BlockSize::Fixed(*bytes),
        JobBlock::Range { min_bytes, max_bytes } => BlockSize::Range(*min_bytes, *max_bytes),
        JobBlock::Split(parts) => {
            BlockSize::Split(parts.iter().map(|part| (part.bytes, part.percent)).collect())
        }
    })
}

/// `io_size` may be more than the files have: then passes go on until it is done.
fn limits(job: &Job, bytes: u64) -> Limits {
    let loops = job.schedule.loops.get();
    let runtime = job.schedule.runtime_ns.map(|ns| Span::from_ns(ns + job.schedule.ramp_ns));
    if job.schedule.time_based {
        return Limits { runtime, pass_ios: job.schedule.ios_max, ..Limits::default() };
    }
    let io_size = match job.io_size {
        Some(Extent::Bytes(io_size)) => Some(io_size),
        Some(Extent::Percent(percent)) => Some(bytes / 100 * u64::from(percent)),
        Some(Extent::Whole) | None => None,
    };
    Limits {
        runtime,
        bytes: io_size.map(|io_size| io_size * u64::from(loops)),
        passes: io_size.is_none().then_some(loops),
        pass_bytes: None,
        pass_ios: job.schedule.ios_max,
    }
}

/// A rate in I/Os is one in bytes at the mean block.
fn rates(job: &Job) -> Rates {
    let rate = |bytes: Option<u64>, ios: Option<u64>, block: &JobBlock| {
        NonZeroU64::new(bytes.or_else(|| Some(ios? * mean_bytes(block))).unwrap_or(0))
    };
    let (bytes, ios) = (&job.pace.bytes_per_s, &job.pace.ios_per_s);
    PerOp {
        read: rate(bytes.read, ios.read, &job.blocks.read),
        write: rate(bytes.write, ios.write, &job.blocks.write),
        trim: rate(bytes.trim, ios.trim, &job.blocks.trim),
    }
}

fn mean_bytes(block: &JobBlock) -> u64 {
    match block {
        JobBlock::Fixed { bytes } => *bytes,
        JobBlock::Range { min_bytes, max_bytes } => u64::midpoint(*min_bytes, *max_bytes),
        JobBlock::Split(parts) => {
            parts.iter().map(|part| part.bytes * u64::from(part.percent)).sum::<u64>() / 100
        }
    }
}

/// `randseed` fixes everything, for each clone differently; otherwise seeds follow the run's.
fn seeds(seed: Seed, clone: u32) -> Seeds {
    match seed {
        Seed::Given(seed) => {
            let seed = Some(seed.wrapping_add(u64::from(clone)));
            Seeds { places: seed, choices: seed }
        }
        Seed::Repeated { .. } | Seed::Fresh => Seeds::default(),
    }
}
