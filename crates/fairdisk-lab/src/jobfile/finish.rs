//! From a checked draft to a job: fills in defaults and combines keys that belong together.

use std::num::NonZeroU32;

use super::blocks::{BlockSize, BlockSizes};
use super::check;
use super::draft::{Draft, List, value};
use super::group::{GroupSetting, GroupShare};
use super::job::{Caching, Ends, Flush, Job, Pace, Schedule, Seed, Think, WriteSync};
use super::limits::Limits;
use super::pattern::{Distribution, Kind, Mix, Order, Pattern, RandomOrder, Repeat};
use super::per_op::PerOp;
use super::priority::{IoPrio, Priority};
use super::read_back;
use super::source::Section;
use super::span::{Extent, FileBytes, Files, Target};
use super::submission::{self, Dropped, EngineKind, Queue, Submission, SubmissionClass};

/// The default block size of fio.
const BLOCK_BYTES_DEFAULT: u64 = 4096;
/// The default percentage of reads in fio.
const READ_PERCENT_DEFAULT: u8 = 50;

/// The job of a section. `before` is the job above it, which determines its phase.
pub(super) fn job(section: &Section, draft: &Draft, before: Option<&Job>) -> Job {
    let stonewall = value(&draft.stonewall).unwrap_or(false);
    let new_group = stonewall || value(&draft.new_group).unwrap_or(false);
    Job {
        name: value(&draft.name).unwrap_or_else(|| section.name.clone()),
        description: value(&draft.description),
        phase: before.map_or(0, |job| job.phase + u32::from(stonewall)),
        wait_for: value(&draft.wait_for),
        report_group: before.map_or(0, |job| job.report_group + u32::from(new_group)),
        ends: ends(draft),
        completes: value(&draft.completes).unwrap_or(false),
        group_reporting: value(&draft.group_reporting).unwrap_or(false),
        clones: at_least_one(value(&draft.numjobs)),
        threads: value(&draft.thread).unwrap_or(false),
        pattern: pattern(draft),
        blocks: blocks(draft),
        align_bytes: align_bytes(draft),
        strides: draft.zones.strides(),
        target: target(draft),
        serving: draft.serving.serving(check::file_count(draft)),
        size: value(&draft.size).flatten().unwrap_or(Extent::Whole),
        io_size: value(&draft.io_size).flatten(),
        offset: value(&draft.offset).flatten().unwrap_or(Extent::Bytes(0)),
        offset_increment: value(&draft.offset_increment).flatten().unwrap_or(Extent::Bytes(0)),
        submission: submission(draft),
        caching: if draft.is_direct() { Caching::Direct } else { Caching::Buffered },
        flush: Flush {
            write_sync: value(&draft.sync).unwrap_or(WriteSync::None),
            fsync_writes: value(&draft.fsync).and_then(NonZeroU32::new),
            fdatasync_writes: value(&draft.fdatasync).and_then(NonZeroU32::new),
            at_end: value(&draft.end_fsync).unwrap_or(false),
            at_close: value(&draft.fsync_on_close).unwrap_or(false),
        },
        schedule: schedule(draft),
        pace: pace(draft),
        flow: draft.flow.flow(),
        watch: draft.watch.watch(),
        read_back: read_back::read_back(draft),
        seed: seed(draft),
        priority: priority(draft),
        group: group(draft),
        scheduler: value(&draft.scheduler),
        device: value(&draft.device),
        disk: value(&draft.disk).and_then(NonZeroU32::new),
    }
}

fn ends(draft: &Draft) -> Option<Ends> {
    let ends = value(&draft.exitall).unwrap_or(false);
    ends.then(|| value(&draft.exit_what).unwrap_or_default())
}

fn at_least_one(count: Option<u32>) -> NonZeroU32 {
    count.and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN)
}

/// The operations of a job and their proportion.
pub(super) fn mix(draft: &Draft) -> Mix {
    match value(&draft.rw).unwrap_or_default().kind {
        Kind::Read => Mix::Read,
        Kind::Write => Mix::Write,
        Kind::Trim => Mix::Trim,
        Kind::TrimWrite => Mix::TrimWrite,
        Kind::ReadWrite => Mix::ReadWrite {
            read_percent: value(&draft.read_percent).unwrap_or(READ_PERCENT_DEFAULT),
        },
    }
}

fn pattern(draft: &Draft) -> Pattern {
    let direction = value(&draft.rw).unwrap_or_default();
    let order = if direction.random {
        Order::Random(random_order(draft, direction.modifier))
    } else {
        let interleaved = value(&draft.interleave).unwrap_or(false)
            && direction.modifier.is_some_and(|hole| hole > 0);
        Order::Sequential { hole_bytes: direction.modifier.unwrap_or(0), interleaved }
    };
    Pattern { mix: mix(draft), order }
}

fn random_order(draft: &Draft, modifier: Option<i64>) -> RandomOrder {
    let requests = modifier.and_then(|number| u32::try_from(number).ok()).unwrap_or(1);
    RandomOrder {
        distribution: value(&draft.distribution).unwrap_or(Distribution::Uniform),
        random_percent: list(&draft.random_percent).unwrap_or(&100),
        covers_every_block: !value(&draft.norandommap).unwrap_or(false),
        repeat: match value(&draft.identical) {
            _ if requests <= 1 => Repeat::Never,
            Some(true) => Repeat::Identical { requests },
            _ => Repeat::Sequential { requests },
        },
    }
}

fn list<T: Clone>(slot: &List<T>) -> PerOp<Option<T>> {
    value(slot).unwrap_or_else(|| PerOp::all(None))
}

/// What random offsets are multiples of, where that is not the smallest block; 0 is that.
pub(super) fn align_bytes(draft: &Draft) -> PerOp<Option<u64>> {
    let is_random = value(&draft.rw).unwrap_or_default().random;
    let PerOp { read, write, trim } = list(&draft.align);
    let blocks = blocks(draft);
    let other = |bytes: Option<u64>, block: &BlockSize| {
        bytes.filter(|bytes| is_random && *bytes > 0 && *bytes != block.min_bytes())
    };
    PerOp {
        read: other(read, &blocks.read),
        write: other(write, &blocks.write),
        trim: other(trim, &blocks.trim),
    }
}

/// The block sizes as fio asks for them.
pub(super) fn blocks(draft: &Draft) -> BlockSizes {
    let written = written_blocks(draft);
    if value(&draft.unaligned).unwrap_or(false) { written } else { written.map(BlockSize::rounded) }
}

/// The most detailed of the three keys takes precedence, whatever their order in the file.
pub(super) fn written_blocks(draft: &Draft) -> BlockSizes {
    list(&draft.bssplit)
        .or(Some(&list(&draft.bsrange)))
        .or(Some(&list(&draft.bs)))
        .unwrap_or(&BlockSize::Fixed { bytes: BLOCK_BYTES_DEFAULT })
}

fn target(draft: &Draft) -> Target {
    let count = value(&draft.nrfiles).unwrap_or(1);
    Target {
        files: value(&draft.filename).map_or(Files::PerClone { count }, Files::Named),
        directories: value(&draft.directory).unwrap_or_default(),
        file_bytes: value(&draft.filesize).unwrap_or(FileBytes::ShareOfSize),
        filesystem: value(&draft.filesystem).unwrap_or_default(),
        overwrites: value(&draft.overwrite).unwrap_or(false),
    }
}

fn submission(draft: &Draft) -> Submission {
    let engine = value(&draft.ioengine).unwrap_or(submission::DEFAULT);
    let direct = draft.is_direct();
    let class = match engine.kind {
        EngineKind::Mapped => SubmissionClass::Mapped,
        EngineKind::Null => SubmissionClass::Null,
        EngineKind::Async if direct => SubmissionClass::Async(queue(draft)),
        EngineKind::Sync if direct && offloads(draft) => SubmissionClass::Async(queue(draft)),
        // Linux makes a buffered request of an asynchronous engine wait for its pages.
        EngineKind::Async | EngineKind::Sync | EngineKind::Foreign => SubmissionClass::Sync,
    };
    let hint = value(&draft.fadvise_hint).unwrap_or_default();
    let dropped = match (value(&draft.remount), value(&draft.invalidate)) {
        (Some(true), _) => Dropped::Everything,
        (_, Some(false)) => Dropped::Nothing,
        _ => Dropped::Data,
    };
    Submission { engine: engine.name, class, hint, dropped }
}

/// Why the job has one request in flight whatever its `iodepth`, if so.
pub(super) fn one_by_one(draft: &Draft) -> Option<String> {
    let engine = value(&draft.ioengine).unwrap_or(submission::DEFAULT);
    let direct = draft.is_direct();
    match engine.kind {
        EngineKind::Async if !direct => {
            Some("buffered requests go one at a time; set direct=1".to_owned())
        }
        EngineKind::Sync if direct && offloads(draft) => None,
        EngineKind::Sync | EngineKind::Mapped => {
            Some(format!("ioengine {} has one request in flight", engine.name))
        }
        _ => None,
    }
}

/// Whether threads of their own submit the requests, each of which waits for one.
pub(super) fn offloads(draft: &Draft) -> bool {
    value(&draft.offloads).unwrap_or(false)
}

/// In fio, 0 means the whole depth, both for the batch and for the low water mark. A job that
/// waits for several requests at once finds the queue that much shorter when it refills it.
fn queue(draft: &Draft) -> Queue {
    let depth = value(&draft.iodepth).unwrap_or(1);
    let within = |count: Option<u32>, default: u32| match count.unwrap_or(default) {
        0 => depth,
        count => count.min(depth),
    };
    let low = within(value(&draft.iodepth_low), 0);
    let low = match value(&draft.completes_min) {
        // So many at a time are waited for until the mark is reached. Of one there is no choice.
        Some(count @ 2..) if depth > 1 => {
            depth.saturating_sub((depth - low).max(1).div_ceil(count).saturating_mul(count))
        }
        _ => low,
    };
    Queue { depth, batch: within(value(&draft.iodepth_batch), 1), low }
}

fn schedule(draft: &Draft) -> Schedule {
    Schedule {
        start_delay: value(&draft.startdelay).unwrap_or_default(),
        ramp_ns: value(&draft.ramp_ns).unwrap_or(0),
        runtime_ns: value(&draft.runtime_ns).filter(|time| *time > 0),
        time_based: value(&draft.time_based).unwrap_or(false),
        loops: at_least_one(value(&draft.loops)),
        ios_max: value(&draft.number_ios).filter(|count| *count > 0),
        creates_only: value(&draft.create_only).unwrap_or(false),
    }
}

fn pace(draft: &Draft) -> Pace {
    let pause = value(&draft.think_ns).filter(|pause| *pause > 0);
    let every_ios = at_least_one(value(&draft.think_blocks));
    let limits = |slot| list(slot).map(|limit: Option<u64>| limit.filter(|limit| *limit > 0));
    Pace {
        think: pause.map(|pause_ns| Think { pause_ns, every_ios }),
        bytes_per_s: limits(&draft.rate),
        ios_per_s: limits(&draft.rate_iops),
        arrivals: value(&draft.arrivals).unwrap_or_default(),
    }
}

fn seed(draft: &Draft) -> Seed {
    let everything = value(&draft.allrandrepeat).unwrap_or(false);
    let repeated = everything || value(&draft.randrepeat).unwrap_or(true);
    match value(&draft.randseed) {
        Some(seed) => Seed::Given(seed),
        None if repeated => Seed::Repeated { everything },
        None => Seed::Fresh,
    }
}

fn priority(draft: &Draft) -> Priority {
    let level = value(&draft.prio);
    let io = match (value(&draft.prioclass).unwrap_or(0), level) {
        (1, level) => IoPrio::RealTime { level: level.unwrap_or(0) },
        (2, level) => IoPrio::BestEffort { level: level.unwrap_or(0) },
        (3, _) => IoPrio::Idle,
        (_, Some(level)) => IoPrio::BestEffort { level },
        (_, None) => IoPrio::FromNice,
    };
    let nice = value(&draft.nice).unwrap_or(0);
    Priority { io, nice, preferred: draft.preferred.preferred() }
}

fn group(draft: &Draft) -> Option<GroupSetting> {
    let path = value(&draft.group).or_else(|| value(&draft.cgroup))?;
    let weight = value(&draft.group_weight).map(GroupShare::Weight);
    let ioprio = value(&draft.group_ioprio).map(GroupShare::IoPrio);
    let cgroup = value(&draft.cgroup_weight).map(GroupShare::CgroupWeight);
    let share = weight.or(ioprio).or(cgroup).unwrap_or(GroupShare::Default);
    let limits = draft.group_limits.iter().map(|(limit, placed)| (*limit, placed.value));
    Some(GroupSetting { path, share, limits: Limits(limits.collect()) })
}
