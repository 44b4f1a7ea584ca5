//! A resolved job as text: a job file again, with every setting written out and explained.
//!
//! The text can be parsed again by Fairdisk and, except for Fairdisk's own keys, by fio. A test
//! checks that parsing it yields the same jobs.

use std::fmt;

use super::blocks::BlockSize;
use super::group::GroupShare;
use super::job::{Arrivals, Caching, Ends, Job, Seed, WriteSync};
use super::limits;
use super::pattern::{Distribution, Mix, Order, RandomOrder, Repeat, Zone};
use super::per_op::PerOp;
use super::priority::{IoPrio, Priority};
use super::span::{self, DelayNs, Extent, FileBytes, FileSystem, Files};
use super::submission::{Dropped, Hint, Submission, SubmissionClass, is_sync};

/// The column at which comments start, unless a setting is longer.
const COMMENT_COLUMN: usize = 40;

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.list(f, None)
    }
}

impl Job {
    /// Writes the job; `before` is the job above it, relative to which its phase and report group
    /// are given.
    pub(super) fn list(&self, f: &mut fmt::Formatter<'_>, before: Option<&Self>) -> fmt::Result {
        let mut lines = Lines::default();
        self.identity(&mut lines, before);
        self.pattern_lines(&mut lines);
        blocks(&mut lines, &self.blocks);
        alignment(&mut lines, self);
        if let Some(strides) = &self.strides {
            strides.lines(&mut lines);
        }
        self.span_lines(&mut lines);
        self.serving.lines(&mut lines);
        submission(&mut lines, &self.submission);
        self.flush_lines(&mut lines);
        self.read_back.lines(&mut lines);
        self.schedule_lines(&mut lines);
        self.pace_lines(&mut lines);
        if let Some(flow) = &self.flow {
            flow.lines(&mut lines);
        }
        self.watch.lines(&mut lines);
        self.share_lines(&mut lines);
        // `[global]` is not a job, so a job of that name sets it with a key.
        let (section, name) = match self.name.as_str() {
            "global" => ("job", Some("name=global\n")),
            name => (name, None),
        };
        if before.is_some() {
            writeln!(f)?;
        }
        write!(f, "[{section}]\n{}", name.unwrap_or_default())?;
        f.write_str(&lines.text)
    }

    fn identity(&self, lines: &mut Lines, before: Option<&Self>) {
        if let Some(text) = &self.description {
            lines.set("description", text, "");
        }
        if before.is_some_and(|job| job.phase != self.phase) {
            lines.flag("stonewall", &format!("phase {}", self.phase));
        } else if before.is_some_and(|job| job.report_group != self.report_group) {
            lines.flag("new_group", &format!("report group {}", self.report_group));
        }
        if let Some(name) = &self.wait_for {
            lines.set("wait_for", name, "the job starts when that has ended");
        }
        if let Some(ends) = self.ends {
            lines.flag("exitall", "when it ends, so do others");
            let (word, comment) = match ends {
                Ends::Group => ("group", "those of its report group"),
                Ends::Running => ("stonewall", "all that run"),
                Ends::All => ("all", "all, also what has not begun"),
            };
            lines.set("exit_what", word, comment);
        }
        if self.completes {
            lines.flag("completes", "ended so, it does the rest, uncounted");
        }
        if self.group_reporting {
            lines.flag("group_reporting", "");
        }
        lines.set("numjobs", self.clones, "");
        if self.threads {
            lines.flag("thread", "the clones share an I/O context");
        }
    }

    fn pattern_lines(&self, lines: &mut Lines) {
        let word = match self.pattern.mix {
            Mix::Read => "read",
            Mix::Write => "write",
            Mix::Trim => "trim",
            Mix::ReadWrite { .. } => "rw",
            Mix::TrimWrite => "trimwrite",
        };
        match &self.pattern.order {
            Order::Sequential { hole_bytes: 0, .. } => lines.set("rw", word, "sequential"),
            Order::Sequential { hole_bytes, interleaved } => {
                lines.set(
                    "rw",
                    format!("{word}:{hole_bytes}"),
                    "bytes left out after each request",
                );
                if *interleaved {
                    lines.flag("interleave", "until every block was read or written");
                }
            }
            Order::Random(order) => random(lines, word, order),
        }
        if let Mix::ReadWrite { read_percent } = self.pattern.mix {
            lines.set("rwmixread", read_percent, "percent");
        }
        match self.seed {
            Seed::Given(seed) => lines.set("randseed", seed, ""),
            Seed::Repeated { everything: true } => lines.set("allrandrepeat", 1, ""),
            Seed::Repeated { everything: false } => lines.set("randrepeat", 1, ""),
            Seed::Fresh => lines.set("randrepeat", 0, "follows the run's seed"),
        }
    }

    fn span_lines(&self, lines: &mut Lines) {
        match &self.target.files {
            Files::Named(names) => lines.set("filename", span::written(names), ""),
            Files::PerClone { count } => lines.set("nrfiles", count, "for each clone"),
        }
        if !self.target.directories.is_empty() {
            lines.set("directory", span::written(&self.target.directories), "");
        }
        match self.target.file_bytes {
            FileBytes::ShareOfSize => {}
            FileBytes::Fixed { bytes } => lines.bytes("filesize", bytes),
            FileBytes::Range { min_bytes, max_bytes } => {
                lines.set("filesize", format!("{min_bytes}-{max_bytes}"), "bytes");
            }
        }
        if self.target.filesystem == FileSystem::Ext2 {
            lines.set("filesystem", "ext2", "where memory is page by page");
        }
        if self.target.overwrites {
            lines.set("overwrite", 1, "files that it writes are there before");
        }
        lines.extent("size", self.size);
        if let Some(io_size) = self.io_size {
            lines.extent("io_size", io_size);
        }
        lines.extent("offset", self.offset);
        lines.extent("offset_increment", self.offset_increment);
    }

    fn flush_lines(&self, lines: &mut Lines) {
        match self.caching {
            Caching::Direct => lines.set("direct", 1, "around the page cache"),
            Caching::Buffered => lines.set("direct", 0, "through the page cache"),
        }
        match self.flush.write_sync {
            WriteSync::None => {}
            WriteSync::Sync => lines.set("sync", "sync", ""),
            WriteSync::DataSync => lines.set("sync", "dsync", ""),
        }
        if let Some(writes) = self.flush.fsync_writes {
            lines.set("fsync", writes, "writes between");
        }
        if let Some(writes) = self.flush.fdatasync_writes {
            lines.set("fdatasync", writes, "writes between");
        }
        if self.flush.at_end {
            lines.set("end_fsync", 1, "the job ends when all is on the disk");
        }
        if self.flush.at_close {
            lines.set("fsync_on_close", 1, "after the time of the job");
        }
    }

    fn schedule_lines(&self, lines: &mut Lines) {
        let schedule = &self.schedule;
        if schedule.start_delay != DelayNs::default() {
            let DelayNs { min_ns, max_ns } = schedule.start_delay;
            let text = if min_ns == max_ns {
                micros(min_ns)
            } else {
                format!("{}-{}", micros(min_ns), micros(max_ns))
            };
            lines.set("startdelay", text, "");
        }
        if schedule.ramp_ns > 0 {
            lines.set("ramp_time", micros(schedule.ramp_ns), "");
        }
        if let Some(runtime) = schedule.runtime_ns {
            lines.set("runtime", micros(runtime), &seconds(runtime));
        }
        if schedule.time_based {
            lines.flag("time_based", "the work is repeated until then");
        }
        lines.set("loops", schedule.loops, "");
        if let Some(count) = schedule.ios_max {
            lines.set("number_ios", count, "");
        }
        if schedule.creates_only {
            lines.set("create_only", 1, "files are made, and that is all");
        }
    }

    fn pace_lines(&self, lines: &mut Lines) {
        if let Some(think) = self.pace.think {
            lines.set("thinktime", micros(think.pause_ns), "");
            lines.set("thinktime_blocks", think.every_ios, "requests between");
        }
        limits(lines, "rate", &self.pace.bytes_per_s, "bytes/s for reads,writes,trims");
        limits(lines, "rate_iops", &self.pace.ios_per_s, "requests/s for reads,writes,trims");
        if self.pace.arrivals == Arrivals::Poisson {
            lines.set("rate_process", "poisson", "requests begin at random times");
        }
    }

    fn share_lines(&self, lines: &mut Lines) {
        priority(lines, self.priority);
        if let Some(group) = &self.group {
            let effect = format!("weight {} in effect", group.share.weight());
            match group.share {
                GroupShare::CgroupWeight(weight) => {
                    lines.set("cgroup", &group.path, "");
                    lines.set("cgroup_weight", weight, &effect);
                }
                GroupShare::Default => lines.set("group", &group.path, &effect),
                GroupShare::Weight(weight) => {
                    lines.set("group", &group.path, "");
                    lines.set("group_weight", weight, &effect);
                }
                GroupShare::IoPrio(prio) => {
                    lines.set("group", &group.path, "");
                    lines.set("group_ioprio", prio, &effect);
                }
            }
            for (limit, value) in &group.limits.0 {
                lines.set(&limits::key(*limit), limit.written(*value), "");
            }
        }
        if let Some(scheduler) = &self.scheduler {
            lines.set("scheduler", scheduler, "");
        }
        if let Some(device) = &self.device {
            lines.set("device", device, "");
        }
        if let Some(disk) = self.disk {
            lines.set("disk", disk, "of an array; on all others there is nothing of the job");
        }
    }
}

fn random(lines: &mut Lines, word: &str, order: &RandomOrder) {
    match order.repeat {
        Repeat::Never => lines.set("rw", format!("rand{word}"), "random"),
        Repeat::Sequential { requests } => {
            lines.set("rw", format!("rand{word}:{requests}"), "requests for each offset drawn");
        }
        Repeat::Identical { requests } => {
            lines.set("rw", format!("rand{word}:{requests}"), "times each offset drawn");
            lines.set("rw_sequencer", "identical", "");
        }
    }
    match &order.distribution {
        Distribution::Uniform => lines.set("random_distribution", "random", ""),
        Distribution::Zipf { theta } => {
            lines.set("random_distribution", format!("zipf:{theta}"), "");
        }
        Distribution::Pareto { h } => lines.set("random_distribution", format!("pareto:{h}"), ""),
        Distribution::Normal { deviation_percent } => {
            lines.set("random_distribution", format!("normal:{deviation_percent}"), "");
        }
        Distribution::Zoned(zones) => {
            lines.set("random_distribution", zoned(zones), "percent of requests/length");
        }
    }
    let PerOp { read, write, trim } = order.random_percent;
    if (read, write, trim) != (100, 100, 100) {
        lines.set("percentage_random", format!("{read},{write},{trim}"), "percent");
    }
    if !order.covers_every_block {
        lines.flag("norandommap", "blocks may be visited twice");
    }
}

fn zoned(zones: &[Zone]) -> String {
    let length = |zone: &Zone| match zone.length {
        Extent::Percent(percent) => percent.to_string(),
        Extent::Bytes(bytes) => bytes.to_string(),
        Extent::Whole => String::new(),
    };
    let parts = zones.iter().map(|zone| format!("{}/{}", zone.percent, length(zone)));
    let in_percent = zones.iter().any(|zone| matches!(zone.length, Extent::Percent(_)));
    let word = if in_percent { "zoned" } else { "zoned_abs" };
    format!("{word}:{}", parts.collect::<Vec<_>>().join(":"))
}

fn blocks(lines: &mut Lines, sizes: &PerOp<BlockSize>) {
    const COMMENT: &str = "bytes, for reads,writes,trims";
    let pick = |text: fn(&BlockSize) -> Option<String>| {
        let parts: Vec<String> = sizes.iter().map(|size| text(size).unwrap_or_default()).collect();
        parts.iter().any(|part| !part.is_empty()).then(|| one_or_three(&parts))
    };
    for (key, text) in
        [("bs", fixed as fn(&BlockSize) -> Option<String>), ("bsrange", range), ("bssplit", split)]
    {
        if let Some(list) = pick(text) {
            lines.set(key, list, COMMENT);
        }
    }
    if sizes.iter().any(BlockSize::is_unaligned) {
        lines.flag("bs_unaligned", "sizes are no multiples of the smallest");
    }
}

/// What random offsets are multiples of, where that is not the smallest block of each operation.
fn alignment(lines: &mut Lines, job: &Job) {
    if job.align_bytes.iter().any(Option::is_some) {
        let own = job.align_bytes.iter().zip(job.blocks.iter());
        let parts =
            own.map(|(align, block)| align.unwrap_or_else(|| block.min_bytes()).to_string());
        lines.set("ba", one_or_three(&parts.collect::<Vec<_>>()), "random offsets are multiples");
    }
}

fn fixed(size: &BlockSize) -> Option<String> {
    match size {
        BlockSize::Fixed { bytes } => Some(bytes.to_string()),
        _ => None,
    }
}

fn range(size: &BlockSize) -> Option<String> {
    match size {
        BlockSize::Range { min_bytes, max_bytes } => Some(format!("{min_bytes}-{max_bytes}")),
        _ => None,
    }
}

fn split(size: &BlockSize) -> Option<String> {
    let BlockSize::Split(list) = size else { return None };
    let entries: Vec<String> =
        list.iter().map(|entry| format!("{}/{}", entry.bytes, entry.percent)).collect();
    Some(entries.join(":"))
}

/// Writes a list of three equal values as one.
pub(super) fn one_or_three(parts: &[String]) -> String {
    match parts {
        [first, rest @ ..] if rest.iter().all(|part| part == first) => first.clone(),
        _ => parts.join(","),
    }
}

pub(super) fn limits(lines: &mut Lines, key: &str, limits: &PerOp<Option<u64>>, comment: &str) {
    if limits.iter().any(Option::is_some) {
        let parts: Vec<String> =
            limits.iter().map(|limit| limit.unwrap_or(0).to_string()).collect();
        lines.set(key, parts.join(","), comment);
    }
}

fn submission(lines: &mut Lines, submission: &Submission) {
    let class = match submission.class {
        SubmissionClass::Sync => "sync: one request at a time",
        SubmissionClass::Mapped => "mapped: page faults, one at a time",
        SubmissionClass::Null => "null: no device is touched",
        SubmissionClass::Async(_) => "async",
    };
    lines.set("ioengine", submission.engine, class);
    let hint = match submission.hint {
        Hint::Pattern => None,
        Hint::Nothing => Some("0"),
        Hint::Random => Some("random"),
        Hint::Sequential => Some("sequential"),
    };
    if let Some(hint) = hint {
        lines.set("fadvise_hint", hint, "what it says about its files");
    }
    match submission.dropped {
        Dropped::Nothing => {
            lines.set("invalidate", 0, "what is in memory of its files stays there");
        }
        Dropped::Data => {}
        Dropped::Everything => lines.flag("remount", "nothing of its files is in memory"),
    }
    if let SubmissionClass::Async(queue) = submission.class {
        if is_sync(submission.engine) {
            lines.set("io_submit_mode", "offload", "by threads that wait for one request each");
        }
        lines.set("iodepth", queue.depth, "");
        lines.set("iodepth_batch", queue.batch, "submitted together");
        match queue.low {
            0 => lines.set("iodepth_batch_complete_min", queue.depth, "refilled when empty"),
            low => lines.set("iodepth_low", low, "refilled from here"),
        }
    }
}

fn priority(lines: &mut Lines, priority: Priority) {
    let (class, level) = match priority.io {
        IoPrio::FromNice => (None, None),
        IoPrio::RealTime { level } => (Some((1, "real time")), Some(level)),
        IoPrio::BestEffort { level } => (Some((2, "best effort")), Some(level)),
        IoPrio::Idle => (Some((3, "idle")), None),
    };
    if let Some((class, name)) = class {
        lines.set("prioclass", class, name);
    }
    if let Some(level) = level {
        lines.set("prio", level, "");
    }
    let from_nice = format!("best effort level {}", Priority::level_from_nice(priority.nice));
    let comment = if class.is_none() { from_nice.as_str() } else { "" };
    lines.set("nice", priority.nice, comment);
    if let Some(preferred) = &priority.preferred {
        preferred.lines(lines);
    }
}

pub(super) fn micros(ns: u64) -> String {
    format!("{}us", ns / 1000)
}

fn seconds(ns: u64) -> String {
    format!("{}.{:03} s", ns / 1_000_000_000, ns / 1_000_000 % 1000)
}

/// The lines of a section, with aligned comments.
#[derive(Default)]
pub(super) struct Lines {
    text: String,
}

impl Lines {
    pub(super) fn set(&mut self, key: &str, value: impl fmt::Display, comment: &str) {
        self.flag(&format!("{key}={value}"), comment);
    }

    fn flag(&mut self, setting: &str, comment: &str) {
        self.text.push_str(setting);
        if !comment.is_empty() {
            let width = setting.chars().count();
            self.text.push_str(&" ".repeat(COMMENT_COLUMN.saturating_sub(width).max(1)));
            self.text.push_str("; ");
            self.text.push_str(comment);
        }
        self.text.push('\n');
    }

    pub(super) fn bytes(&mut self, key: &str, bytes: u64) {
        self.set(key, bytes, &human(bytes));
    }

    fn extent(&mut self, key: &str, extent: Extent) {
        match extent {
            Extent::Bytes(bytes) => self.bytes(key, bytes),
            Extent::Percent(percent) => {
                self.set(key, format!("{percent}%"), "of the file or device");
            }
            Extent::Whole => self.flag("", &format!("{key}: all of it")),
        }
    }
}

/// A number of bytes in the largest unit that divides it; empty if that is the byte.
fn human(bytes: u64) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    let fits = units.into_iter().find(|(shift, _)| bytes > 0 && bytes.trailing_zeros() >= *shift);
    fits.map(|(shift, unit)| format!("{} {unit}", bytes >> shift)).unwrap_or_default()
}
