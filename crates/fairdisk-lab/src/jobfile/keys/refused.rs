//! Keys fio knows and Fairdisk would have to ignore to run: refused, with what to do instead.

use super::{Does, Key};

const fn refuse(name: &'static str, remedy: &'static str) -> Key {
    Key { name, aliases: &[], help: remedy, engines: &[], does: Does::Refuse }
}

const fn alias(mut key: Key, aliases: &'static [&'static str]) -> Key {
    key.aliases = aliases;
    key
}

const LATER: &str = "it would change the result and is not modelled yet; remove it";
const REPLAY: &str = "replay a trace with `fairdisk replay` instead";
const ENGINE: &str =
    "it belongs to an I/O engine that is not a disk; use psync, libaio or io_uring";
const PROFILE: &str = "it belongs to `profile=`; write the jobs out";
const ZONES: &str = "zones are not modelled yet; remove the zone keys";
const LATENCY: &str = "runs do not adapt to latency yet; set iodepth";
const STOP: &str = "runs do not end by what they measure; set runtime";
const CMDPRIO: &str = "priorities are per job; make a job for each priority";

#[rustfmt::skip] // one row, one key
pub(super) static KEYS: &[Key] = &[
    refuse("wait_for", "use stonewall, or startdelay"),
    refuse("ioscheduler", "name the scheduler with `scheduler=`"),
    refuse("exec_prerun", "commands are not run; caches start cold"),
    refuse("opendir", "name the files with filename"),
    refuse("filename_format", "name the files with filename"),
    refuse("openfiles", LATER),
    alias(refuse("ba", LATER), &["blockalign"]),
    alias(refuse("bs_unaligned", LATER), &["blocksize_unaligned"]),
    refuse("sync_file_range", LATER),
    refuse("max_latency", STOP),
    refuse("exitall", "give the jobs the same runtime"),
    refuse("profile", PROFILE),

    refuse("verify_only", LATER),
    refuse("verify_backlog", LATER),
    refuse("verify_backlog_batch", LATER),
    refuse("trim_backlog", LATER),
    refuse("trim_backlog_batch", LATER),

    refuse("read_iolog", REPLAY),
    refuse("replay_no_stall", REPLAY),
    refuse("replay_redirect", REPLAY),
    refuse("replay_scale", REPLAY),
    refuse("replay_align", REPLAY),
    refuse("replay_time_scale", REPLAY),
    refuse("replay_skip", REPLAY),
    refuse("merge_blktrace_file", REPLAY),
    refuse("merge_blktrace_scalars", REPLAY),
    refuse("merge_blktrace_iters", REPLAY),

    refuse("zonesize", ZONES),
    refuse("zonecapacity", ZONES),
    refuse("zonerange", ZONES),
    refuse("zoneskip", ZONES),
    refuse("read_beyond_wp", ZONES),
    refuse("max_open_zones", ZONES),
    refuse("job_max_open_zones", ZONES),
    refuse("ignore_zone_limits", ZONES),
    refuse("zone_reset_threshold", ZONES),
    refuse("zone_reset_frequency", ZONES),

    alias(refuse("rate_min", STOP), &["ratemin"]),
    refuse("rate_iops_min", STOP),
    refuse("latency_target", LATENCY),
    refuse("latency_window", LATENCY),
    refuse("latency_percentile", LATENCY),
    alias(refuse("steadystate", STOP), &["ss"]),
    alias(refuse("steadystate_duration", STOP), &["ss_dur"]),
    alias(refuse("steadystate_ramp_time", STOP), &["ss_ramp"]),
    refuse("flow_id", LATER),
    refuse("flow_sleep", LATER),
    refuse("flow_watermark", LATER),

    refuse("cmdprio_percentage", CMDPRIO),
    refuse("cmdprio_class", CMDPRIO),
    refuse("cmdprio", CMDPRIO),
    refuse("cmdprio_bssplit", CMDPRIO),
    refuse("uncached", LATER),
    refuse("nowait", LATER),
    refuse("force_async", LATER),
    refuse("cmd_type", ENGINE),

    refuse("block", PROFILE),
    refuse("numruns", PROFILE),
    refuse("dir", PROFILE),
    refuse("threads", PROFILE),
    refuse("device-names", PROFILE),
    refuse("load", PROFILE),
    refuse("test-duration", PROFILE),
    refuse("prep", PROFILE),
    refuse("threads-per-queue", PROFILE),
    refuse("read-req-num-512-blocks", PROFILE),
    refuse("large-block-op-kbytes", PROFILE),

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
    refuse("rwmixcycle", "fio dropped it; remove it"),
];
