//! Keys of fio that Fairdisk could only ignore, and therefore refuses, each with what to do
//! instead.

use super::effective::of;
use super::harmless::{Harmless, Lacks};
use super::{Does, Key, Shape};

use Shape::{Anything, Flag, Number, Switch, Text, Time, Word};

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

const AIO: &[&str] = &["libaio", "io_uring"];
const NOWAIT: &[&str] = &["pvsync2", "libaio", "io_uring"];

const LATER: &str = "it would change the result and is not modelled yet; remove it";
const REPLAY: &str = "traces cannot be replayed yet; write the jobs out";
const ENGINE: &str =
    "it belongs to an I/O engine that is not a disk; use psync, libaio or io_uring";
const PROFILE: &str = "it belongs to `profile=`; write the jobs out";
const CMDPRIO: &str = "priorities are by operation, not by size; give cmdprio_percentage";
const FILL: &str = "fio would write until the disk is full, which is not modelled; remove it";

const MAX: u64 = u32::MAX as u64;
const NUMBER: Shape = Number(0, MAX);

const NAME: &str = "name the files with filename";
const DEFAULT_NAME: &[&str] = &["$jobname.$jobnum.$filenum"];

const IOLOG: Lacks = Lacks::Keys(&["read_iolog"]);
const TRIM: Lacks = Lacks::Keys(&["trim_percentage"]);

pub(super) static KEYS: &[Key] = &[
    refuse("ioscheduler", "name the scheduler with `scheduler=`"),
    refuse("exec_prerun", "commands are not run; caches start cold"),
    refuse("opendir", NAME),
    harmless("filename_format", Text, DEFAULT_NAME, Lacks::Nothing, NAME),
    Key { aliases: &["fill_fs"], ..harmless("fill_device", Flag, &["0"], Lacks::Nothing, FILL) },
    harmless("sync_file_range", Anything, &[], Lacks::Writes, LATER),
    refuse("profile", PROFILE),
    harmless("verify_only", Switch, &["0"], Lacks::Verify, LATER),
    harmless("trim_backlog", NUMBER, &["0"], TRIM, LATER),
    harmless("trim_backlog_batch", NUMBER, &["0"], TRIM, LATER),
    refuse("zone_reset_threshold", "no device here has zones of its own; remove it"),
    refuse("zone_reset_frequency", "no device here has zones of its own; remove it"),
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
    refuse("flow_watermark", LATER),
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
    harmless("create_on_open", Anything, &["0"], Lacks::Nothing, LATER),
    harmless("pre_read", Anything, &["0"], Lacks::Nothing, LATER),
    harmless("file_append", Anything, &["0"], Lacks::Nothing, LATER),
    harmless("unlink_each_loop", Flag, &["0"], Lacks::Passes, LATER),
    harmless("lockfile", Anything, &["none"], Lacks::Nothing, LATER),
    harmless("write_barrier", Anything, &["0"], Lacks::Writes, LATER),
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
    harmless("serialize_overlap", Flag, &["0"], Lacks::Depth, LATER),
    harmless("atomic", Anything, &["0"], Lacks::Writes, LATER),
    harmless("trim_percentage", Number(0, 100), &["0"], Lacks::Verify, LATER),
    harmless("experimental_verify", Flag, &["0"], Lacks::Verify, LATER),
    harmless("verify_state_load", Flag, &["0"], Lacks::Verify, LATER),
    harmless("lockmem", Anything, &["0"], Lacks::Nothing, LATER),
    refuse("rwmixcycle", "fio dropped it; remove it"),
];
