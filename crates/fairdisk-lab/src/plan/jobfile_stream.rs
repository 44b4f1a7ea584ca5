//! The stream of I/Os of a job of a fio job file.

use super::jobfile_files::{Region, Worker};
use super::jobfile_load::ioprio;
use crate::jobfile::{
    Arrivals as JobArrivals, BlockSize as JobBlock, Distribution, Extent, Job, Mix, Order,
    PerOp as JobPerOp, RandomOrder as RandomJob, Repeat as JobRepeat, Seed, Serving as JobServing,
    SubmissionClass, Zone as JobZone,
};
use fairdisk_core::Span;
use fairdisk_sim::workload::{
    Arrivals, BlockSize, Blocks, Direction, FileTurns, Fixed, FlushEvery, IoOrder, Limits, PerOp,
    Preferred, RandomOrder, Rates, ReadBack, Repeat, Seeds, Serving, Skew, StreamSpec, Strides,
    Zone, ZoneLength,
};
use std::num::NonZeroU64;

/// The stream of a clone.
pub(super) fn stream(worker: &Worker<'_>) -> StreamSpec {
    let Worker { job, region, .. } = worker;
    StreamSpec {
        direction: direction(job.pattern.mix),
        order: order(&job.pattern.order),
        blocks: blocks(&job.blocks),
        offset: region.offset,
        bytes: region.bytes,
        limits: limits(job, region),
        align: per_op(&job.align_bytes, |bytes| bytes.and_then(NonZeroU64::new)),
        zones: zones(&job.pattern.order),
        strides: job.strides.map(|strides| Strides {
            io_bytes: strides.io_bytes,
            bytes: strides.range_bytes,
            skip: strides.skip_bytes,
        }),
        serving: serving(job),
        read_back: ReadBack {
            at_end: job.read_back.at_end,
            backlog: job.read_back.backlog,
            batch: job.read_back.batch,
            overlaps: overlaps(&job.pattern.order),
        },
        preferred: job.priority.preferred.map(|preferred| Preferred {
            percent: per_op(&preferred.percent, |percent| *percent),
            ioprio: per_op(&preferred.io, |io| ioprio(*io, job.priority.nice)),
        }),
        rates: rates(job),
        arrivals: match job.pace.arrivals {
            JobArrivals::Linear => Arrivals::Linear,
            JobArrivals::Poisson => Arrivals::Poisson,
        },
        flush: FlushEvery { fsync: job.flush.fsync_writes, fdatasync: job.flush.fdatasync_writes },
        seeds: seeds(job.seed, worker.clone),
        script: None,
    }
}

fn serving(job: &Job) -> Serving {
    let JobServing { open, random, ios } = job.serving;
    Serving { open, turns: if random { FileTurns::Drawn(ios) } else { FileTurns::Round(ios) } }
}

/// Whether a block may be written twice in a pass.
fn overlaps(order: &Order) -> bool {
    match order {
        Order::Sequential { .. } => false,
        Order::Random(random) => {
            !random.covers_every_block
                || random.distribution != Distribution::Uniform
                || random.repeat != JobRepeat::Never
        }
    }
}

const fn direction(mix: Mix) -> Direction {
    match mix {
        Mix::Read => Direction::Read,
        Mix::Write => Direction::Write,
        Mix::Trim => Direction::Trim,
        Mix::ReadWrite { read_percent } => Direction::MixedEvenly(read_percent),
        Mix::TrimWrite => Direction::TrimWrite,
    }
}

fn order(order: &Order) -> IoOrder {
    match order {
        Order::Sequential { hole_bytes: 0, .. } => IoOrder::Sequential,
        Order::Sequential { hole_bytes, interleaved: true } => {
            IoOrder::Interleaved(hole_bytes.unsigned_abs())
        }
        Order::Sequential { hole_bytes, .. } => IoOrder::Holes(*hole_bytes),
        Order::Random(random) => IoOrder::Drawn(RandomOrder {
            skew: match &random.distribution {
                Distribution::Uniform | Distribution::Zoned(_) => Skew::Uniform,
                Distribution::Zipf { theta } => Skew::Zipf { theta: Fixed::from_f64(*theta) },
                Distribution::Pareto { h } => Skew::Pareto { h: Fixed::from_f64(*h) },
                Distribution::Normal { deviation_percent } => {
                    Skew::Normal { width: Fixed::from_f64(deviation_percent / 100.0) }
                }
            },
            // As in fio, blocks of zones may be visited twice.
            every_block_once: random.covers_every_block && zones(order).is_empty(),
            random_percent: per_op(&random.random_percent, |percent| *percent),
            repeat: match random.repeat {
                JobRepeat::Never => Repeat::Never,
                JobRepeat::Sequential { requests } => Repeat::Sequential(requests),
                JobRepeat::Identical { requests } => Repeat::Identical(requests),
            },
        }),
    }
}

/// The zones of random positions.
fn zones(order: &Order) -> Vec<Zone> {
    let Order::Random(RandomJob { distribution: Distribution::Zoned(zones), .. }) = order else {
        return Vec::new();
    };
    let zone = |zone: &JobZone| Zone {
        percent: zone.percent,
        length: match zone.length {
            Extent::Percent(percent) => ZoneLength::Percent(percent),
            Extent::Bytes(bytes) => ZoneLength::Bytes(bytes),
            Extent::Whole => ZoneLength::Percent(100),
        },
    };
    zones.iter().map(zone).collect()
}

fn per_op<T, U>(values: &JobPerOp<T>, change: impl Fn(&T) -> U) -> PerOp<U> {
    PerOp { read: change(&values.read), write: change(&values.write), trim: change(&values.trim) }
}

fn blocks(sizes: &JobPerOp<JobBlock>) -> Blocks {
    per_op(sizes, |size| match size {
        JobBlock::Fixed { bytes } => BlockSize::Fixed(*bytes),
        JobBlock::Range { min_bytes, max_bytes } => BlockSize::Range(*min_bytes, *max_bytes),
        JobBlock::Split(parts) => {
            BlockSize::Split(parts.iter().map(|part| (part.bytes, part.percent)).collect())
        }
    })
}

/// As in fio, `loops` multiplies the work: a pass ends with the files, not with `size`. With an
/// `io_size` in bytes, passes are repeated unless less than one block is missing.
fn limits(job: &Job, region: &Region) -> Limits {
    let runtime = job.schedule.runtime_ns.map(|ns| Span::from_ns(ns + job.schedule.ramp_ns));
    if job.schedule.time_based {
        let ios = job.schedule.creates_only.then_some(0);
        return Limits { runtime, ios, endless: true, ..Limits::default() };
    }
    let total = region.total();
    let size = match job.size {
        Extent::Bytes(size) => size.min(total),
        Extent::Percent(_) | Extent::Whole => total,
    };
    let block = job.blocks.iter().map(JobBlock::max_bytes).max().unwrap_or(1);
    let (bytes, bytes_min) = match job.io_size {
        None => (size, 0),
        Some(Extent::Bytes(bytes)) => (bytes, (bytes + 1).saturating_sub(block)),
        Some(percent) => (percent.of(total).min(size), 0),
    };
    let loops = job.schedule.loops.get();
    let times = |amount: u64| amount.saturating_mul(u64::from(loops));
    Limits {
        bytes: Some(times(bytes)),
        ios: if job.schedule.creates_only { Some(0) } else { job.schedule.ios_max.map(times) },
        runtime,
        passes: Some(loops),
        bytes_min,
        pass_bytes: ends_when_issued(job).then_some(size),
        endless: false,
    }
}

/// Whether a pass ends when its last write is under way, before a flush that is then due: in fio it
/// does so where requests do not complete as soon as they are submitted.
fn ends_when_issued(job: &Job) -> bool {
    let is_async = matches!(job.submission.class, SubmissionClass::Async(_));
    let flushes = job.flush.fsync_writes.is_some() || job.flush.fdatasync_writes.is_some();
    let goes_further = overlaps(&job.pattern.order) && job.io_size.is_some();
    is_async && flushes && job.pattern.mix != Mix::TrimWrite && !goes_further
}

/// As in fio, a rate in I/Os is a rate in bytes at the smallest block size, so with mixed sizes
/// there are fewer I/Os.
fn rates(job: &Job) -> Rates {
    let rate = |bytes: Option<u64>, ios: Option<u64>, block: &JobBlock| {
        NonZeroU64::new(bytes.or_else(|| Some(ios?.saturating_mul(block.min_bytes()))).unwrap_or(0))
    };
    let (bytes, ios) = (&job.pace.bytes_per_s, &job.pace.ios_per_s);
    PerOp {
        read: rate(bytes.read, ios.read, &job.blocks.read),
        write: rate(bytes.write, ios.write, &job.blocks.write),
        trim: rate(bytes.trim, ios.trim, &job.blocks.trim),
    }
}

/// `randseed` fixes everything, differently for each clone; otherwise seeds derive from the run's.
fn seeds(seed: Seed, clone: u32) -> Seeds {
    let given = match seed {
        Seed::Given(seed) => Some(seed.wrapping_add(u64::from(clone))),
        Seed::Repeated { .. } | Seed::Fresh => None,
    };
    Seeds { places: given, choices: given, same_passes: seed != Seed::Fresh }
}
