//! Keys that change a job.

use super::{Does, Key};
use crate::jobfile::draft::{self, Draft};
use crate::jobfile::job::{Arrivals, WriteSync};
use crate::jobfile::setting::Given;
use crate::jobfile::span::FileSystem;
use crate::jobfile::submission::Hint;
use crate::jobfile::value::{KbBase, Read, TimeUnit, ValueError};
use crate::jobfile::{blocks, pattern, span, submission};
use fairdisk_core::QosKey;

pub(super) const fn set(
    name: &'static str,
    aliases: &'static [&'static str],
    help: &'static str,
    read: fn(&mut Draft, Given<'_>) -> Read<()>,
) -> Key {
    Key { name, aliases, help, engines: &[], does: Does::Set(read) }
}

/// A key that only these engines know.
pub(super) const fn of(engines: &'static [&'static str], mut key: Key) -> Key {
    key.engines = engines;
    key
}

const fn limit(name: &'static str, limit: QosKey, help: &'static str) -> Key {
    Key { name, aliases: &[], help, engines: &[], does: Does::Limit(limit) }
}

/// The largest value of those numbers for which fio states no upper bound.
const U64_MAX: u64 = i64::MAX as u64;

pub(super) static KEYS: &[Key] = &[
    set("kb_base", &[], "whether k is 1024 or 1000 bytes", |d, g| {
        let words = [("1024", KbBase::Binary), ("1000", KbBase::Decimal)];
        g.set(&mut d.kb_base, g.choice(&words))
    }),
    set("name", &[], "the job's name, when not the section's", |d, g| g.set(&mut d.name, g.text())),
    set("description", &[], "a text about the job", |d, g| g.set(&mut d.description, g.text())),
    set("rw", &["readwrite"], "the pattern, such as randread or rw", |d, g| {
        g.set(&mut d.rw, pattern::direction(g))
    }),
    set("rw_sequencer", &[], "what the number in rw=randread:8 repeats", |d, g| {
        g.set(&mut d.identical, g.choice(&[("sequential", false), ("identical", true)]))
    }),
    set("rwmixread", &[], "percentage of reads in a mix", |d, g| {
        g.set(&mut d.read_percent, percent(g))
    }),
    set("rwmixwrite", &[], "percentage of writes in a mix", |d, g| {
        g.set(&mut d.read_percent, percent(g).map(|writes| 100 - writes))
    }),
    set("random_distribution", &[], "where random offsets fall", |d, g| {
        g.set(&mut d.distribution, pattern::distribution(g))
    }),
    set("percentage_random", &[], "percentage of random offsets", |d, g| {
        g.merge(&mut d.random_percent, g.per_op(percent))
    }),
    set("norandommap", &[], "blocks may be visited twice", |d, g| {
        g.set(&mut d.norandommap, g.switch())
    }),
    set("bs", &["blocksize"], "block size", |d, g| g.merge(&mut d.bs, blocks::fixed(g))),
    set("bsrange", &["blocksize_range"], "range of block sizes", |d, g| {
        g.merge(&mut d.bsrange, blocks::range(g))
    }),
    set("bssplit", &[], "weighted list of block sizes", |d, g| {
        g.merge(&mut d.bssplit, blocks::split(g))
    }),
    set("bs_unaligned", &["blocksize_unaligned"], "sizes are no multiples", |d, g| {
        g.set(&mut d.unaligned, g.switch())
    }),
    set("ba", &["blockalign"], "what random offsets are multiples of", |d, g| {
        let bytes = |part: Given<'_>| match part.bytes()? {
            0 => ValueError::bad("at least 1 byte, such as 4k"),
            bytes => Ok(bytes),
        };
        g.merge(&mut d.align, g.per_op(bytes))
    }),
    set("size", &[], "bytes or percentage of the target to work on", |d, g| {
        g.set(&mut d.size, span::extent(g))
    }),
    set("io_size", &["io_limit"], "bytes of I/O to do", |d, g| {
        g.set(&mut d.io_size, span::extent(g))
    }),
    set("filesize", &[], "size of each file, or a range", |d, g| {
        g.set(&mut d.filesize, span::file_bytes(g))
    }),
    set("offset", &["fileoffset"], "where the work starts", |d, g| {
        g.set(&mut d.offset, span::extent(g))
    }),
    set("offset_increment", &[], "added to the offset for each clone", |d, g| {
        g.set(&mut d.offset_increment, span::extent(g))
    }),
    set("filename", &[], "files to work on, parted by `:`", |d, g| {
        let before = draft::value(&d.filename).unwrap_or_default();
        g.set(&mut d.filename, span::paths(g).map(|more| [before, more].concat()))
    }),
    set("directory", &[], "where files are made", |d, g| g.set(&mut d.directory, span::paths(g))),
    set("nrfiles", &["nr_files"], "number of files", |d, g| g.set(&mut d.nrfiles, g.count32(1))),
    set("filesystem", &[], "Fairdisk: what the files lie on: none or ext2", |d, g| {
        let words = [("none", FileSystem::None), ("ext2", FileSystem::Ext2)];
        g.set(&mut d.filesystem, g.choice(&words))
    }),
    set("overwrite", &[], "files written are there before", |d, g| {
        g.set(&mut d.overwrite, g.flag())
    }),
    set("ioengine", &[], "how requests are submitted", |d, g| {
        g.set(&mut d.ioengine, submission::read(g))
    }),
    set("iodepth", &[], "requests in flight", |d, g| {
        if g.bytes() == Ok(0) {
            return ValueError::bad("a number from 1");
        }
        g.set(&mut d.iodepth, g.count32(1))
    }),
    set("iodepth_batch", &["iodepth_batch_submit"], "requests submitted together", |d, g| {
        g.set(&mut d.iodepth_batch, g.count32(0))
    }),
    set("iodepth_low", &[], "refill the queue at this depth", |d, g| {
        g.set(&mut d.iodepth_low, g.count32(0))
    }),
    set(
        "iodepth_batch_complete_min",
        &["iodepth_batch_complete"],
        "requests waited for at once",
        |d, g| g.set(&mut d.completes_min, g.count32(0)),
    ),
    set("io_submit_mode", &[], "whether threads of their own submit requests", |d, g| {
        g.set(&mut d.offloads, g.choice(&[("inline", false), ("offload", true)]))
    }),
    set("direct", &[], "around the page cache", |d, g| g.set(&mut d.direct, g.flag())),
    set("buffered", &[], "through the page cache", |d, g| {
        g.set(&mut d.direct, g.flag().map(|buffered| !buffered))
    }),
    set("sync", &[], "synchronous writes", |d, g| {
        let words = [
            ("none", WriteSync::None),
            ("0", WriteSync::None),
            ("sync", WriteSync::Sync),
            ("1", WriteSync::Sync),
            ("dsync", WriteSync::DataSync),
        ];
        g.set(&mut d.sync, g.choice(&words))
    }),
    set("invalidate", &[], "files begun are dropped from memory first", |d, g| {
        g.set(&mut d.invalidate, g.flag())
    }),
    set(
        "remount",
        &[],
        "Fairdisk: nothing of files begun is in memory, nor of where they are",
        |d, g| g.set(&mut d.remount, g.switch()),
    ),
    set("fadvise_hint", &[], "what a job says about its files' use", |d, g| {
        let words = [
            ("0", Hint::Nothing),
            ("1", Hint::Pattern),
            ("random", Hint::Random),
            ("sequential", Hint::Sequential),
        ];
        g.set(&mut d.fadvise_hint, g.choice(&words))
    }),
    set("fsync", &[], "fsync after so many writes", |d, g| g.set(&mut d.fsync, g.count32(0))),
    set("fdatasync", &[], "fdatasync after so many writes", |d, g| {
        g.set(&mut d.fdatasync, g.count32(0))
    }),
    set("end_fsync", &[], "fsync at the end", |d, g| g.set(&mut d.end_fsync, g.flag())),
    set("fsync_on_close", &[], "fsync before closing", |d, g| {
        g.set(&mut d.fsync_on_close, g.flag())
    }),
    set("numjobs", &[], "clones of the job", |d, g| g.set(&mut d.numjobs, g.count32(1))),
    set("thread", &[], "clones are threads of one process", |d, g| {
        g.set(&mut d.thread, g.switch())
    }),
    set("group_reporting", &[], "report the group as one", |d, g| {
        g.set(&mut d.group_reporting, g.switch())
    }),
    set("new_group", &[], "start a new report group", |d, g| g.set(&mut d.new_group, g.switch())),
    set("stonewall", &["wait_for_previous"], "start when the jobs before have ended", |d, g| {
        g.set(&mut d.stonewall, g.switch())
    }),
    set("exitall", &[], "the first of the report group that ends, ends the others", |d, g| {
        g.set(&mut d.exitall, g.switch())
    }),
    set("completes", &[], "Fairdisk: what exitall ends does the rest uncounted", |d, g| {
        g.set(&mut d.completes, g.switch())
    }),
    set("interleave", &[], "Fairdisk: every block has its turn in rw=read:N", |d, g| {
        g.set(&mut d.interleave, g.switch())
    }),
    set("wait_for", &[], "start when a job above has ended", |d, g| {
        g.set(&mut d.wait_for, g.text())
    }),
    set("runtime", &["timeout"], "time to run at most", |d, g| {
        g.set(&mut d.runtime_ns, g.time_ns(TimeUnit::Seconds))
    }),
    set("ramp_time", &[], "time before measuring", |d, g| {
        g.set(&mut d.ramp_ns, g.time_ns(TimeUnit::Seconds))
    }),
    set("time_based", &[], "repeat until runtime is over", |d, g| {
        g.set(&mut d.time_based, g.switch())
    }),
    set("startdelay", &[], "wait before starting", |d, g| g.set(&mut d.startdelay, span::delay(g))),
    set("loops", &[], "times to do the work", |d, g| g.set(&mut d.loops, g.count32(1))),
    set("number_ios", &[], "requests to do at most", |d, g| {
        g.set(&mut d.number_ios, g.count(0..=U64_MAX))
    }),
    set("thinktime", &[], "pause, in microseconds", |d, g| {
        g.set(&mut d.think_ns, g.time_ns(TimeUnit::Microseconds))
    }),
    set("thinktime_blocks", &[], "requests between pauses", |d, g| {
        g.set(&mut d.think_blocks, g.count32(1))
    }),
    set("rate", &[], "bytes each second at most", |d, g| {
        g.merge(&mut d.rate, g.per_op(|part| part.bytes()))
    }),
    set("rate_iops", &[], "requests each second at most", |d, g| {
        g.merge(&mut d.rate_iops, g.per_op(|part| part.bytes()))
    }),
    set("rate_process", &[], "the times at which a rate has requests begin", |d, g| {
        let words = [("linear", Arrivals::Linear), ("poisson", Arrivals::Poisson)];
        g.set(&mut d.arrivals, g.choice(&words))
    }),
    set("randseed", &[], "seed of the job's randomness", |d, g| {
        g.set(&mut d.randseed, g.count(0..=U64_MAX))
    }),
    set("randrepeat", &[], "the same offsets in every run", |d, g| {
        g.set(&mut d.randrepeat, g.flag())
    }),
    set("allrandrepeat", &[], "the same randomness in every run", |d, g| {
        g.set(&mut d.allrandrepeat, g.flag())
    }),
    set("prio", &[], "I/O priority level, 0 (high) to 7", |d, g| {
        g.set(&mut d.prio, small(g, 0, 7))
    }),
    set("prioclass", &[], "I/O priority class: 1 real time, 2 best effort, 3 idle", |d, g| {
        g.set(&mut d.prioclass, small(g, 0, 3))
    }),
    set("nice", &[], "CPU nice value; gives the I/O level when prio is not set", |d, g| {
        g.set(&mut d.nice, g.signed(-20..=19).map(|nice| i8::try_from(nice).unwrap_or(0)))
    }),
    set("cgroup", &[], "the group, under fio's name", |d, g| g.set(&mut d.cgroup, group_path(g))),
    set(
        "cgroup_weight",
        &[],
        "the group's weight on the scale of cgroup v1, 100 to 1000",
        |d, g| g.set(&mut d.cgroup_weight, small(g, 100, 1000)),
    ),
    set("group", &[], "Fairdisk: the job's group", |d, g| g.set(&mut d.group, group_path(g))),
    set("group_weight", &[], "Fairdisk: the group's weight, 1 to 10000, default 100", |d, g| {
        g.set(&mut d.group_weight, small(g, 1, 10_000))
    }),
    set("group_ioprio", &[], "Fairdisk: the group's priority, 0 (high) to 7 (low)", |d, g| {
        g.set(&mut d.group_ioprio, small(g, 0, 7))
    }),
    limit("group_min_iops", QosKey::MinIops, "Fairdisk: I/Os a second the group gets at least"),
    limit("group_min_bps", QosKey::MinBps, "Fairdisk: bytes a second the group gets at least"),
    limit("group_max_iops", QosKey::MaxIops, "Fairdisk: I/Os a second the group gets at most"),
    limit("group_max_bps", QosKey::MaxBps, "Fairdisk: bytes a second the group gets at most"),
    limit("group_max_read_iops", QosKey::MaxReadIops, "Fairdisk: reads a second at most"),
    limit("group_max_read_bps", QosKey::MaxReadBps, "Fairdisk: bytes read a second at most"),
    limit("group_max_write_iops", QosKey::MaxWriteIops, "Fairdisk: writes a second at most"),
    limit("group_max_write_bps", QosKey::MaxWriteBps, "Fairdisk: bytes written a second at most"),
    limit("group_burst_iops", QosKey::BurstIops, "Fairdisk: I/Os a second in a burst"),
    limit("group_burst_bps", QosKey::BurstBps, "Fairdisk: bytes a second in a burst"),
    limit("group_burst_for", QosKey::BurstFor, "Fairdisk: seconds that a burst may last"),
    limit("group_burst_ms", QosKey::Burst, "Fairdisk: how far it may be ahead of the most"),
    limit(
        "group_latency_p99_ms",
        QosKey::LatencyP99,
        "Fairdisk: within so long 99 of 100 I/Os of the group are to be done",
    ),
    limit(
        "group_fsync_p99_ms",
        QosKey::FsyncP99,
        "Fairdisk: within so long 99 of 100 fsyncs of the group are to be answered",
    ),
    set("leaf_weight", &[], "Fairdisk: not supported; it is always 100", |_, _| {
        ValueError::unsupported(
            "the tasks of a group weigh 100 beside the groups in it; give them a group of their \
             own in it, with group_weight",
        )
    }),
    set("scheduler", &[], "Fairdisk: the scheduler", |d, g| g.set(&mut d.scheduler, g.text())),
    set("device", &[], "Fairdisk: the device of the catalogue", |d, g| {
        g.set(&mut d.device, g.text())
    }),
    set("disk", &[], "Fairdisk: the disk of an array, counted from 1", |d, g| {
        g.set(&mut d.disk, g.count32(1))
    }),
];

pub(super) fn percent(given: Given<'_>) -> Read<u8> {
    small(given, 0, 100)
}

/// A number within bounds, as a smaller type.
pub(super) fn small<T: TryFrom<u64>>(given: Given<'_>, min: u64, max: u64) -> Read<T> {
    let value = given.count(min..=max)?;
    T::try_from(value).or_else(|_| ValueError::bad(format!("a number from {min} to {max}")))
}

/// A path of groups; the names in fio have no leading `/`.
fn group_path(given: Given<'_>) -> Read<String> {
    let text = given.text()?;
    let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty()).collect();
    if parts.iter().any(|part| matches!(*part, "." | "..") || part.trim() != *part) {
        return ValueError::unsupported("write group names parted by `/`, as in /backup/nightly");
    }
    Ok(format!("/{}", parts.join("/")))
}
