//! Keys of zones, of turns of files, of flows, of what a job measures of itself, of what it reads
//! back, and of requests with a priority of their own.

use super::Key;
use super::effective::{of, percent, set, small};
use crate::jobfile::draft::{List, Slot};
use crate::jobfile::job::Ends;
use crate::jobfile::setting::Given;
use crate::jobfile::value::{Read, TimeUnit};
use crate::jobfile::{serving, watch, zoned};

/// The engines that give single requests a priority.
const AIO: &[&str] = &["libaio", "io_uring"];

pub(super) static KEYS: &[Key] = &[
    set("zonemode", &[], "whether requests keep to zones: none or strided", |d, g| {
        g.set(&mut d.zones.strided, zoned::is_strided(g))
    }),
    set("zonesize", &[], "bytes of I/O in each zone", |d, g| bytes(&mut d.zones.size, g)),
    set("zonerange", &[], "length of a zone", |d, g| bytes(&mut d.zones.range, g)),
    set("zoneskip", &[], "from the end of a zone to the next", |d, g| bytes(&mut d.zones.skip, g)),
    set("openfiles", &[], "files that are open at once", |d, g| {
        g.set(&mut d.serving.open, g.count32(0))
    }),
    set("file_service_type", &[], "which file has the next request", |d, g| {
        g.set(&mut d.serving.service, serving::service(g))
    }),
    set("flow", &[], "weight of the job in what its flow does together", |d, g| {
        g.set(&mut d.flow.weight, small(g, 0, 1000))
    }),
    set("flow_id", &[], "the flow", |d, g| g.set(&mut d.flow.id, g.count32(0))),
    set("flow_sleep", &[], "wait of a job that is ahead, in microseconds", |d, g| {
        g.set(&mut d.flow.sleep_us, g.count32(0))
    }),
    set("rate_min", &["ratemin"], "bytes each second at least, or the job ends", |d, g| {
        rates(&mut d.watch.rate_min, g)
    }),
    set("rate_iops_min", &[], "requests each second at least, or the job ends", |d, g| {
        rates(&mut d.watch.rate_iops_min, g)
    }),
    set("rate_cycle", &["ratecycle"], "how often least rates are looked at, in ms", |d, g| {
        g.set(&mut d.watch.rate_cycle_ms, g.count32(0))
    }),
    set("max_latency", &[], "the job ends when a request takes longer", |d, g| {
        micros(&mut d.watch.latency_max_ns, g)
    }),
    set("steadystate", &["ss"], "the job ends when this is steady", |d, g| {
        g.set(&mut d.watch.steady, watch::criterion(g))
    }),
    set("steadystate_duration", &["ss_dur"], "how long it must be steady", |d, g| {
        seconds(&mut d.watch.steady_ns, g)
    }),
    set("steadystate_ramp_time", &["ss_ramp"], "time before that is measured", |d, g| {
        seconds(&mut d.watch.steady_ramp_ns, g)
    }),
    set("latency_target", &[], "latency for which the depth is searched", |d, g| {
        micros(&mut d.watch.target_ns, g)
    }),
    set("latency_window", &[], "how long a depth is tried", |d, g| {
        micros(&mut d.watch.window_ns, g)
    }),
    set("latency_percentile", &[], "percentage of requests that have the latency", |d, g| {
        g.set(&mut d.watch.percentile, watch::percentile(g))
    }),
    set("latency_run", &[], "whether the job goes on when the depth is found", |d, g| {
        g.set(&mut d.watch.goes_on, g.flag())
    }),
    set("exit_what", &[], "what else exitall ends", |d, g| {
        let words = [("group", Ends::Group), ("stonewall", Ends::Running), ("all", Ends::All)];
        g.set(&mut d.exit_what, g.choice(&words))
    }),
    set("create_only", &[], "files are made, and nothing else", |d, g| {
        g.set(&mut d.create_only, g.flag())
    }),
    set("verify", &[], "checksum to verify with; what was written is read back", |d, g| {
        g.set(&mut d.verification.verify, checksum(g))
    }),
    set("do_verify", &[], "read back after writing", |d, g| {
        g.set(&mut d.verification.at_end, g.flag())
    }),
    set("verify_backlog", &[], "read back after so many writes", |d, g| {
        g.set(&mut d.verification.backlog, g.count32(0))
    }),
    set("verify_backlog_batch", &[], "how many of them are read back then", |d, g| {
        g.set(&mut d.verification.batch, g.count32(0))
    }),
    of(
        AIO,
        set("cmdprio_percentage", &[], "requests with a priority of their own", |d, g| {
            g.merge(&mut d.preferred.percent, g.per_op(percent))
        }),
    ),
    of(
        AIO,
        set("cmdprio_class", &[], "class of these requests", |d, g| {
            g.merge(&mut d.preferred.class, g.per_op(|part| small(part, 1, 3)))
        }),
    ),
    of(
        AIO,
        set("cmdprio", &[], "level of these requests", |d, g| {
            g.merge(&mut d.preferred.level, g.per_op(|part| small(part, 0, 7)))
        }),
    ),
];

fn bytes(slot: &mut Slot<u64>, given: Given<'_>) -> Read<()> {
    given.set(slot, given.bytes())
}

fn rates(slot: &mut List<u64>, given: Given<'_>) -> Read<()> {
    given.merge(slot, given.per_op(|part| part.bytes()))
}

fn micros(slot: &mut Slot<u64>, given: Given<'_>) -> Read<()> {
    given.set(slot, given.time_ns(TimeUnit::Microseconds))
}

fn seconds(slot: &mut Slot<u64>, given: Given<'_>) -> Read<()> {
    given.set(slot, given.time_ns(TimeUnit::Seconds))
}

/// The values of `verify=`; only `0` disables verification, for `null` also reads back.
const CHECKSUMS: [&str; 19] = [
    "0",
    "null",
    "md5",
    "crc64",
    "crc32",
    "crc32c-intel",
    "crc32c",
    "crc16",
    "crc7",
    "sha1",
    "sha256",
    "sha512",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "xxhash",
    "meta",
    "pattern",
];

/// Whether anything would be verified.
fn checksum(given: Given<'_>) -> Read<bool> {
    let words = CHECKSUMS.map(|word| (word, word != "0"));
    given.choice(&words)
}
