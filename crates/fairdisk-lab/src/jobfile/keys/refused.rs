//! Keys of fio that Fairdisk could only ignore, and therefore refuses, each with what to do
//! instead.

use super::harmless::{Harmless, Lacks};
use super::{Does, Key, Shape};

use Shape::{Anything, Flag, Number, Percentiles, Switch, Text, Time, Word};

/// A key that always has an effect.
const fn refuse(name: &'static str, remedy: &'static str) -> Key {
    harmless(name, Anything, &[], Lacks::Nothing, remedy)
}

/// A key without effect if it has one of these values, or if the job lacks something. What fio
/// does not accept as its value is refused anyway.
const fn harmless(
    name: &'static str,
    shape: Shape,
    values: &'static [&'static str],
    lacks: Lacks,
    remedy: &'static str,
) -> Key {
    let does = Does::Refuse(Harmless { shape, values, lacks });
    Key { name, aliases: &[], help: remedy, engines: &[], does }
}

const fn alias(mut key: Key, aliases: &'static [&'static str]) -> Key {
    key.aliases = aliases;
    key
}

const fn of(engines: &'static [&'static str], mut key: Key) -> Key {
    key.engines = engines;
    key
}

const AIO: &[&str] = &["libaio", "io_uring"];
const NOWAIT: &[&str] = &["pvsync2", "libaio", "io_uring"];

const LATER: &str = "it would change the result and is not modelled yet; remove it";
const REPLAY: &str = "traces cannot be replayed yet; write the jobs out";
const ENGINE: &str =
    "it belongs to an I/O engine that is not a disk; use psync, libaio or io_uring";
const PROFILE: &str = "it belongs to `profile=`; write the jobs out";
const ZONES: &str = "zones are not modelled yet; remove the zone keys";
const LATENCY: &str = "runs do not adapt to latency yet; set iodepth";
const STOP: &str = "runs do not end by what they measure; set runtime";
const CMDPRIO: &str = "priorities are per job; make a job for each priority";

const MAX: u64 = u32::MAX as u64;
const NUMBER: Shape = Number(0, MAX);
const BYTES: Shape = Number(0, i64::MAX as u64);
const SIZE: &str = "write the size of what is to be filled with size";

const NAME: &str = "name the files with filename";
const DEFAULT_NAME: &[&str] = &["$jobname.$jobnum.$filenum"];

const IOLOG: Lacks = Lacks::Keys(&["read_iolog"]);
const TRIM: Lacks = Lacks::Keys(&["trim_percentage"]);
const ZONEMODE: Lacks = Lacks::Keys(&["zonemode"]);
const TARGET: Lacks = Lacks::Keys(&["latency_target"]);
const STEADY: Lacks = Lacks::Keys(&["steadystate"]);
const FLOW: Lacks = Lacks::Keys(&["flow"]);
const RATE_MIN: Lacks = Lacks::Keys(&["rate_min", "rate_iops_min"]);
const CMDPRIO_SET: Lacks = Lacks::Keys(&["cmdprio_percentage", "cmdprio_bssplit"]);

pub(super) static KEYS: &[Key] = &[
    refuse("ioscheduler", "name the scheduler with `scheduler=`"),
    refuse("exec_prerun", "commands are not run; caches start cold"),
    refuse("opendir", NAME),
    harmless("filename_format", Text, DEFAULT_NAME, Lacks::Nothing, NAME),
    harmless("openfiles", NUMBER, &[], Lacks::Files, LATER),
    harmless("sync_file_range", Anything, &[], Lacks::Writes, LATER),
    harmless("max_latency", Anything, &["0"], Lacks::Nothing, STOP),
    refuse("profile", PROFILE),
    harmless("verify_only", Switch, &["0"], Lacks::Writes, LATER),
    harmless("verify_backlog", NUMBER, &["0"], Lacks::Verify, LATER),
    harmless("verify_backlog_batch", NUMBER, &["0"], Lacks::Verify, LATER),
    harmless("trim_backlog", NUMBER, &["0"], TRIM, LATER),
    harmless("trim_backlog_batch", NUMBER, &["0"], TRIM, LATER),
    refuse("read_iolog", REPLAY),
    harmless("replay_no_stall", Flag, &[], IOLOG, REPLAY),
    harmless("replay_redirect", Text, &[], IOLOG, REPLAY),
    harmless("replay_scale", NUMBER, &[], IOLOG, REPLAY),
    refuse("replay_align", REPLAY),
    harmless("replay_time_scale", Number(1, MAX), &[], IOLOG, REPLAY),
    harmless("replay_skip", Anything, &[], IOLOG, REPLAY),
    refuse("merge_blktrace_file", REPLAY),
    refuse("merge_blktrace_scalars", REPLAY),
    refuse("merge_blktrace_iters", REPLAY),
    harmless("zonesize", BYTES, &[], ZONEMODE, ZONES),
    harmless("zonecapacity", BYTES, &[], ZONEMODE, ZONES),
    harmless("zonerange", BYTES, &[], ZONEMODE, ZONES),
    harmless("zoneskip", BYTES, &[], ZONEMODE, ZONES),
    harmless("read_beyond_wp", Flag, &[], ZONEMODE, ZONES),
    harmless("max_open_zones", Number(0, 4096), &[], ZONEMODE, ZONES),
    harmless("job_max_open_zones", Number(0, 4096), &[], ZONEMODE, ZONES),
    harmless("ignore_zone_limits", Flag, &[], ZONEMODE, ZONES),
    refuse("zone_reset_threshold", ZONES),
    refuse("zone_reset_frequency", ZONES),
    alias(harmless("rate_min", Anything, &["0"], Lacks::Nothing, STOP), &["ratemin"]),
    harmless("rate_iops_min", Anything, &["0"], Lacks::Nothing, STOP),
    harmless("latency_target", Anything, &["0"], Lacks::Nothing, LATENCY),
    harmless("latency_window", Time, &[], TARGET, LATENCY),
    harmless("latency_percentile", Percentiles, &[], TARGET, LATENCY),
    alias(refuse("steadystate", STOP), &["ss"]),
    alias(harmless("steadystate_duration", Time, &["0"], STEADY, STOP), &["ss_dur"]),
    alias(harmless("steadystate_ramp_time", Time, &["0"], STEADY, STOP), &["ss_ramp"]),
    harmless("flow_id", NUMBER, &[], FLOW, LATER),
    harmless("flow_sleep", NUMBER, &[], FLOW, LATER),
    refuse("flow_watermark", LATER),
    of(AIO, harmless("cmdprio_percentage", Anything, &["0"], Lacks::Nothing, CMDPRIO)),
    of(AIO, harmless("cmdprio_class", Number(0, 3), &[], CMDPRIO_SET, CMDPRIO)),
    of(AIO, harmless("cmdprio", Number(0, 7), &[], CMDPRIO_SET, CMDPRIO)),
    of(AIO, refuse("cmdprio_bssplit", CMDPRIO)),
    of(&["pvsync2", "io_uring"], harmless("uncached", Flag, &["0"], Lacks::Nothing, LATER)),
    of(NOWAIT, harmless("nowait", Flag, &["0"], Lacks::Nothing, LATER)),
    of(&["io_uring"], harmless("force_async", NUMBER, &["0"], Lacks::Nothing, LATER)),
    refuse("cmd_type", ENGINE),
    refuse("hostname", ENGINE),
    refuse("port", ENGINE),
    refuse("protocol", ENGINE),
    refuse("nodelay", ENGINE),
    refuse("listen", ENGINE),
    refuse("pingpong", ENGINE),
    refuse("interface", ENGINE),
    refuse("ttl", ENGINE),
    refuse("window_size", ENGINE),
    refuse("mss", ENGINE),
    refuse("cpuload", ENGINE),
    refuse("cpuchunks", ENGINE),
    refuse("cpumode", ENGINE),
    refuse("exit_on_io_done", ENGINE),
    refuse("stat_type", ENGINE),
    refuse("program", ENGINE),
    refuse("arguments", ENGINE),
    refuse("grace_time", ENGINE),
    refuse("std_redirect", ENGINE),
    refuse("donorname", ENGINE),
    refuse("inplace", ENGINE),
    refuse("volume", ENGINE),
    refuse("brick", ENGINE),
    refuse("single-instance", ENGINE),
    refuse("skip_bad", ENGINE),
    refuse("readfua", ENGINE),
    refuse("writefua", ENGINE),
    refuse("sg_write_mode", ENGINE),
    refuse("stream_id", ENGINE),
    refuse("uri", ENGINE),
    refuse("bindname", ENGINE),
    refuse("verb", ENGINE),
    refuse("clustername", ENGINE),
    refuse("pool", ENGINE),
    refuse("clientname", ENGINE),
    refuse("conf", ENGINE),
    refuse("busy_poll", ENGINE),
    refuse("touch_objects", ENGINE),
    refuse("rbdname", ENGINE),
    refuse("serverip", ENGINE),
    refuse("direct_write_to_pmem", ENGINE),
    refuse("busy_wait_polling", ENGINE),
    refuse("gpu_dev_ids", ENGINE),
    refuse("gpu_dev_id", ENGINE),
    refuse("cuda_io", ENGINE),
    refuse("nfs_url", ENGINE),
    refuse("cont", ENGINE),
    refuse("https", ENGINE),
    refuse("http_verbose", ENGINE),
    refuse("http_mode", ENGINE),
    refuse("http_host", ENGINE),
    refuse("http_s3_region", ENGINE),
    refuse("http_s3_keyid", ENGINE),
    refuse("http_s3_key", ENGINE),
    refuse("http_s3_storage_class", ENGINE),
    refuse("http_s3_sse_customer_key", ENGINE),
    refuse("http_s3_sse_customer_algorithm", ENGINE),
    refuse("http_swift_auth_token", ENGINE),
    harmless("create_only", Anything, &["0"], Lacks::Nothing, LATER),
    harmless("create_on_open", Anything, &["0"], Lacks::Nothing, LATER),
    harmless("exit_what", Word(&["group", "stonewall", "all"]), &["group"], Lacks::ExitAll, LATER),
    harmless("pre_read", Anything, &["0"], Lacks::Nothing, LATER),
    harmless("file_append", Anything, &["0"], Lacks::Nothing, LATER),
    harmless("unlink_each_loop", Flag, &["0"], Lacks::Passes, LATER),
    harmless("lockfile", Anything, &["none"], Lacks::Nothing, LATER),
    harmless(
        "file_service_type",
        Word(&["roundrobin", "random", "sequential", "zipf", "pareto", "normal"]),
        &["roundrobin"],
        Lacks::Files,
        LATER,
    ),
    harmless("write_barrier", Anything, &["0"], Lacks::Writes, LATER),
    harmless("zonemode", Anything, &["none"], Lacks::Nothing, ZONES),
    harmless("rate_cycle", NUMBER, &["1000"], RATE_MIN, STOP),
    harmless("rate_ignore_thinktime", Flag, &["0"], Lacks::Rate, LATER),
    harmless(
        "thinktime_blocks_type",
        Word(&["complete", "issue"]),
        &["complete"],
        Lacks::Think,
        LATER,
    ),
    harmless("thinktime_iotime", Time, &["0"], Lacks::Think, LATER),
    harmless("bs_is_seq_rand", Anything, &["0"], Lacks::Nothing, LATER),
    harmless("offset_align", Anything, &["0"], Lacks::Nothing, LATER),
    alias(harmless("fill_device", Anything, &["0"], Lacks::Nothing, SIZE), &["fill_fs"]),
    harmless("serialize_overlap", Flag, &["0"], Lacks::Depth, LATER),
    harmless("atomic", Anything, &["0"], Lacks::Writes, LATER),
    harmless("trim_percentage", Anything, &["0"], Lacks::Writes, LATER),
    harmless("experimental_verify", Flag, &["0"], Lacks::Verify, LATER),
    harmless("verify_state_load", Flag, &["0"], Lacks::Verify, LATER),
    harmless("flow", Anything, &["0"], Lacks::Nothing, LATER),
    harmless("latency_run", Flag, &["0"], TARGET, LATENCY),
    harmless("lockmem", Anything, &["0"], Lacks::Nothing, LATER),
    refuse("rwmixcycle", "fio dropped it; remove it"),
];
