//! Keys that cannot change a result. A key belongs here only if a run would be the same without it.

use super::effective::of;
use super::{Does, Key, Shape};

use Shape::{Anything, Flag, Number, Pattern, Percentiles, Switch, Text, Word};

const fn inert(name: &'static str, shape: Shape, help: &'static str) -> Key {
    Key { name, aliases: &[], help, engines: &[], does: Does::Nothing(shape) }
}

const fn alias(mut key: Key, aliases: &'static [&'static str]) -> Key {
    key.aliases = aliases;
    key
}

const LOG: &str = "fio's logs are not written; use --json";
const REPORT: &str = "only changes what fio prints; Fairdisk always measures and prints the same";
const CLOCK: &str = "only changes how fio reads its clock; time is exact here";
const DATA: &str = "only changes the bytes written, and no device here looks at them";
const CPU: &str = "only changes where CPU work runs; CPU time is not modelled";
const MEMORY: &str = "only changes where buffers lie; their memory is not modelled";
const VERIFY: &str = "only changes how data is verified; no data is verified";
const LAYOUT: &str = "only changes how files are made; they exist before the run";
const ERRORS: &str = "only matters when requests fail";
const CALLS: &str = "only changes the cost of a system call; CPU time is not modelled";
const OWN_RANDOM: &str = "Fairdisk has its own generator; the distribution is the same";
const USER: &str = "only changes who runs the job";
const ZBD: &str = "it takes zonemode=zbd, which no device here has";
const PROFILE: &str = "only means something with `profile=`; fio takes no notice of it without";

const URING: &[&str] = &["io_uring", "io_uring_cmd"];
const MAX: u64 = u32::MAX as u64;

pub(super) static KEYS: &[Key] = &[
    inert("zonecapacity", Number(0, i64::MAX as u64), ZBD),
    inert("read_beyond_wp", Flag, ZBD),
    inert("max_open_zones", Number(0, 4096), ZBD),
    inert("job_max_open_zones", Number(0, 4096), ZBD),
    inert("ignore_zone_limits", Flag, ZBD),
    inert("write_bw_log", Anything, LOG),
    inert("write_lat_log", Anything, LOG),
    inert("write_iops_log", Anything, LOG),
    inert("write_hist_log", Anything, LOG),
    inert("write_iolog", Text, LOG),
    inert("per_job_logs", Flag, LOG),
    inert("bwavgtime", Number(0, MAX), LOG),
    inert("iopsavgtime", Number(0, MAX), LOG),
    inert("log_entries", Number(1024, 1_048_576), LOG),
    inert("log_avg_msec", Number(0, MAX), LOG),
    inert("log_hist_msec", Number(0, MAX), LOG),
    inert("log_hist_coarseness", Number(0, MAX), LOG),
    inert("log_max_value", Flag, LOG),
    inert("log_offset", Flag, LOG),
    inert("log_prio", Flag, LOG),
    inert("log_compression", Number(1024, 536_870_912), LOG),
    inert("log_compression_cpus", Anything, LOG),
    inert("log_store_compressed", Flag, LOG),
    inert("log_unix_epoch", Flag, LOG),
    inert("log_alternate_epoch", Flag, LOG),
    inert("log_alternate_epoch_clock_id", Number(0, MAX), LOG),
    inert("block_error_percentiles", Flag, REPORT),
    inert("stats", Flag, REPORT),
    inert("clat_percentiles", Flag, REPORT),
    inert("lat_percentiles", Flag, REPORT),
    inert("slat_percentiles", Flag, REPORT),
    inert("percentile_list", Percentiles, REPORT),
    inert("significant_figures", Number(1, 10), REPORT),
    inert("disk_util", Flag, REPORT),
    inert("unit_base", Word(&["0", "8", "1"]), REPORT),
    inert("unified_rw_reporting", Word(&["none", "mixed", "both", "0", "1", "2"]), REPORT),
    inert("disable_lat", Flag, REPORT),
    inert("disable_clat", Flag, REPORT),
    inert("disable_slat", Flag, REPORT),
    alias(inert("disable_bw_measurement", Flag, REPORT), &["disable_bw"]),
    inert("gtod_reduce", Flag, CLOCK),
    inert("gtod_cpu", Number(0, MAX), CLOCK),
    inert("clocksource", Word(&["gettimeofday", "clock_gettime", "cpu"]), CLOCK),
    inert("zero_buffers", Switch, DATA),
    inert("refill_buffers", Switch, DATA),
    inert("scramble_buffers", Flag, DATA),
    inert("buffer_pattern", Pattern, DATA),
    inert("buffer_compress_percentage", Number(0, 100), DATA),
    inert("buffer_compress_chunk", Number(0, MAX), DATA),
    inert("dedupe_percentage", Number(0, 100), DATA),
    inert("dedupe_mode", Word(&["repeat", "working_set"]), DATA),
    inert("dedupe_working_set_percentage", Number(0, 100), DATA),
    inert("dedupe_global", Flag, DATA),
    inert("cpumask", Number(0, MAX), CPU),
    inert("cpus_allowed", Anything, CPU),
    inert("cpus_allowed_policy", Word(&["shared", "split"]), CPU),
    inert("numa_cpu_nodes", Anything, CPU),
    inert("thinktime_spin", Number(0, MAX), CPU),
    inert("numa_mem_policy", Anything, MEMORY),
    alias(
        inert("mem", Word(&["malloc", "shm", "shmhuge", "mmap", "mmapshared", "mmaphuge"]), MEMORY),
        &["iomem"],
    ),
    alias(inert("iomem_align", Number(0, MAX), MEMORY), &["mem_align"]),
    inert("hugepage-size", Number(0, MAX), MEMORY),
    inert("verify_interval", Number(80, MAX), VERIFY),
    inert("verify_offset", Number(40, MAX), VERIFY),
    inert("verify_pattern", Pattern, VERIFY),
    inert("verify_fatal", Flag, VERIFY),
    inert("verify_dump", Flag, VERIFY),
    inert("verify_async", Number(0, MAX), VERIFY),
    inert("verify_async_cpus", Anything, CPU),
    inert("verify_state_save", Flag, VERIFY),
    inert("trim_verify_zero", Flag, VERIFY),
    inert("create_serialize", Flag, LAYOUT),
    inert("create_fsync", Flag, LAYOUT),
    inert("allow_file_create", Flag, LAYOUT),
    inert("allow_mounted_write", Flag, LAYOUT),
    inert("fallocate", Word(&["none", "native", "posix", "keep", "truncate", "0", "1"]), LAYOUT),
    inert("unlink", Flag, "only removes files after the run"),
    inert("unique_filename", Flag, "only changes names of files"),
    inert(
        "continue_on_error",
        Word(&["none", "read", "write", "io", "verify", "all", "0", "1"]),
        ERRORS,
    ),
    inert("ignore_error", Anything, ERRORS),
    inert("error_dump", Flag, ERRORS),
    inert("exitall_on_error", Switch, ERRORS),
    inert("uid", Number(0, MAX), USER),
    inert("gid", Number(0, MAX), USER),
    inert("cgroup_nodelete", Flag, "groups live as long as the run"),
    inert("exec_postrun", Text, "commands are not run"),
    inert("random_generator", Word(&["tausworthe", "lfsr", "tausworthe64"]), OWN_RANDOM),
    inert("softrandommap", Flag, "only matters when memory for the map is missing"),
    inert("read_iolog_chunked", Flag, "only matters with read_iolog, which is not supported"),
    of(URING, inert("fixedbufs", Switch, CALLS)),
    of(URING, inert("registerfiles", Switch, CALLS)),
    of(URING, inert("sqthread_poll", Switch, CALLS)),
    of(URING, inert("sqthread_poll_cpu", Number(0, MAX), CALLS)),
    of(URING, inert("nonvectored", Number(0, MAX), CALLS)),
    of(&["io_uring", "io_uring_cmd", "pvsync2", "sg"], inert("hipri", Switch, CALLS)),
    of(&["pvsync2"], inert("hipri_percentage", Number(0, 100), CALLS)),
    of(&["libaio"], inert("userspace_reap", Switch, CALLS)),
    of(&["mmap"], inert("thp", Number(0, MAX), MEMORY)),
    inert("write_hint", Word(&["none", "short", "medium", "long", "extreme"]), DATA),
    inert("iodepth_batch_complete_max", Number(0, MAX), "requests are taken back one by one"),
    inert("block", Number(0, MAX), PROFILE),
    inert("numruns", Number(0, MAX), PROFILE),
    inert("dir", Text, PROFILE),
    inert("threads", Number(0, MAX), PROFILE),
    inert("device-names", Text, PROFILE),
    inert("load", Number(0, MAX), PROFILE),
    inert("test-duration", Number(0, MAX), PROFILE),
    inert("prep", Switch, PROFILE),
    inert("threads-per-queue", Number(0, MAX), PROFILE),
    inert("read-req-num-512-blocks", Number(0, MAX), PROFILE),
    inert("large-block-op-kbytes", Number(0, MAX), PROFILE),
];
