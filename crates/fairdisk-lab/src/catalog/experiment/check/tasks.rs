//! Checks of tasks: they can be run, and every value is used by some task.

use super::volumes::MIB_MAX;
use crate::catalog::allowed::{Wrong, demand, demand_in};
use crate::catalog::error::{Fault, unknown};
use crate::catalog::experiment::{
    Experiment, OpMix, Row, Task, TaskOrder, TaskStream, Tasks, Until, Volume, VolumeType,
};
use crate::plan::START_SPREAD;
use crate::run::RUN_MAX;
use crate::seconds::in_seconds;
use fairdisk_sim::workload::BlockSize;
use std::num::NonZeroU64;

const BLOCK_KIB_MAX: u64 = BlockSize::BYTES_MAX / 1024;

/// Checks the defaults. A value that no task can use is hardly intended.
pub(super) fn check_defaults(experiment: &Experiment) -> Result<(), Wrong> {
    let defaults = &experiment.defaults;
    demand_in(0..=100, "defaults.read_percent", defaults.read_percent, "0 to 100")?;
    let all = || experiment.rows.iter().flat_map(|row| &row.tasks).map(|it| experiment.task(it));
    let is_deep = |task: &Task| task.depth > 1 && task.is_direct();
    let depth = defaults.depth.is_some_and(|depth| depth > 1);
    let keeps_cache = defaults.keeps_cache == Some(true);
    let is_sequential = |task: &Task| task.order == TaskOrder::Sequential;
    let keys: [(&str, bool, &str, Uses); 10] = [
        ("hole_kib", true, "is sequential", is_sequential),
        ("stream", true, "is sequential", is_sequential),
        ("read_percent", true, "reads and writes", |task| task.op == OpMix::Mixed),
        ("depth", depth, "has direct I/O, others are one at a time", is_deep),
        ("keeps_cache", keeps_cache, "uses the page cache", |task| !task.is_direct()),
        ("advice", true, "has a mapping", |task| task.mapped),
        ("sync", true, WRITES, Task::writes_by_call),
        ("fsync_every", true, WRITES, Task::writes_by_call),
        ("fdatasync_every", true, WRITES, Task::writes_by_call),
        ("end_fsync", true, "writes and has an end", |task| {
            task.writes_by_call() && task.has_end()
        }),
    ];
    for (key, is_said, what, uses) in keys {
        if is_said && defaults.say(key) && !all().any(|task| uses(&task)) {
            let text = format!("no task {what}; drop `{key}`");
            return Err((format!("defaults.{key}"), text.into()));
        }
    }
    Ok(())
}

/// Whether a task uses a key.
type Uses = fn(&Task) -> bool;

const WRITES: &str = "writes with a system call";

/// Some tasks of a row, and what they are checked against.
struct Checked<'a> {
    experiment: &'a Experiment,
    tasks: &'a Tasks,
    path: &'a str,
}

impl Checked<'_> {
    /// The path at which a key is, or would be: its value may come from the defaults.
    fn key(&self, name: &str) -> String {
        match !self.tasks.say(name) && self.experiment.defaults.say(name) {
            true => format!("defaults.{name}"),
            false => format!("{}.{name}", self.path),
        }
    }

    /// An error about the value of a key.
    fn wrong<T>(&self, name: &str, text: impl Into<Fault>) -> Result<T, Wrong> {
        Err((self.key(name), text.into()))
    }

    /// Refuses a key that the tasks set themselves and cannot use.
    fn demand_use(&self, name: &str, is_used: bool, text: &str) -> Result<(), Wrong> {
        match self.tasks.say(name) && !is_used {
            true => self.wrong(name, format!("`{name}` is about {text}, or drop it")),
            false => Ok(()),
        }
    }
}

/// Checks some tasks of a row.
pub(super) fn check_tasks(
    experiment: &Experiment,
    path: &str,
    row: &Row,
    tasks: &Tasks,
) -> Result<(), Wrong> {
    let checked = Checked { experiment, tasks, path };
    let task = experiment.task(tasks);
    let Some(volume) = experiment.volumes.iter().find(|volume| volume.name == task.volume) else {
        return checked.wrong("volume", no_volume(experiment, &task.volume));
    };
    let files = volume.files.unwrap_or(1);
    let allowed = format!("0 to {}", files - 1);
    demand_in(0..=files - 1, &checked.key("file"), tasks.file, &allowed)?;
    demand_in(1..=100_000, &checked.key("count"), Some(tasks.count), "1 to 100000")?;
    demand_in(0..=7, &checked.key("ionice"), tasks.ionice, "0 (high) to 7 (low)")?;
    check_place(&checked, volume, &task)?;
    check_mix(&checked, &task)?;
    check_cache(&checked, volume, &task)?;
    check_durable(&checked, &task)?;
    check_pace(&checked)?;
    check_times(&checked, row, &task)
}

/// A message that tasks name no volume, or one that does not exist.
fn no_volume(experiment: &Experiment, found: &str) -> String {
    let names: Vec<&str> = experiment.volumes.iter().map(|volume| volume.name.as_str()).collect();
    match (found, &names[..]) {
        ("", []) => "these tasks need a `volume`; add a [[volume]] that they can name".to_owned(),
        ("", names) => format!("these tasks need a `volume` (known: {})", names.join(", ")),
        (found, names) => unknown("volume", found, names),
    }
}

/// Checks the size and position of I/Os.
fn check_place(checked: &Checked<'_>, volume: &Volume, task: &Task) -> Result<(), Wrong> {
    let keys = checked.tasks.with(&checked.experiment.defaults);
    let most = (volume.file_bytes() / 1024).min(BLOCK_KIB_MAX);
    let whose = format!("the size of a file of volume `{}`", volume.name);
    let allowed = match most {
        BLOCK_KIB_MAX => format!("1 to {most}"),
        _ => format!("1 to {most}, {whose}"),
    };
    demand_in(1..=most, &checked.key("block_kib"), Some(task.block_bytes / 1024), &allowed)?;
    let least = task.block_bytes.div_ceil(1 << 20);
    let most = volume.file_bytes() >> 20;
    let allowed = format!("{least} to {most}, from a `block_kib` to {whose}");
    demand_in(least..=most, &checked.key("size_mib"), keys.size_mib, &allowed)?;
    let most = (volume.file_bytes() - task.size.unwrap_or(task.block_bytes)) >> 20;
    let allowed = format!("0 to {most}, for what is used ends within {whose}");
    demand_in(0..=most, &checked.key("offset_mib"), keys.offset_mib, &allowed)?;
    let used = task.size.unwrap_or(volume.file_bytes() - task.offset);
    check_stream(checked, task, used)?;
    check_amount(checked, volume, task, used)
}

/// What is asked for in sequence lies in what is used of the file; who says how much that is may
/// have more, round after round, as with fio's `io_size`.
fn check_amount(
    checked: &Checked<'_>,
    volume: &Volume,
    task: &Task,
    used: u64,
) -> Result<(), Wrong> {
    if task.order != TaskOrder::Sequential || task.size.is_some() {
        return Ok(());
    }
    let each = match task.stream {
        TaskStream::Interleaved => u64::from(checked.tasks.count),
        TaskStream::Own | TaskStream::Shared => 1,
    };
    // The last I/O needs no hole behind it.
    let most_ios = (used + task.hole_bytes) / task.stride() / each;
    let of_bytes = task.bytes.map(|bytes| bytes.div_ceil(task.block_bytes));
    let ios = of_bytes.into_iter().chain(task.ios).min();
    if ios.is_none_or(|ios| ios <= most_ios) {
        return Ok(());
    }
    let (key, value) = match (task.bytes, task.ios) {
        (Some(bytes), ios) if of_bytes <= ios.or(of_bytes) => ("bytes_mib", bytes >> 20),
        (_, ios) => ("ios", ios.unwrap_or(0)),
    };
    let (least, bytes) = (most_ios * task.block_bytes, task.block_bytes);
    let text = format!(
        "`{key}` = {value} goes beyond the end of the file: what is used of volume `{}` has room \
         for {most_ios} I/Os of {bytes} bytes in sequence, {least} bytes; lower `{key}`, make the \
         volume larger, or say with `size_mib` how much is gone through round after round",
        volume.name
    );
    checked.wrong(key, text)
}

/// Checks holes, and streams shared by several tasks, in a file of this many bytes.
fn check_stream(checked: &Checked<'_>, task: &Task, bytes: u64) -> Result<(), Wrong> {
    let is_sequential = task.order == TaskOrder::Sequential;
    for key in ["hole_kib", "stream"] {
        let text = "what follows each other; add `order = \"sequential\"`";
        checked.demand_use(key, is_sequential, text)?;
    }
    let hole = checked.tasks.with(&checked.experiment.defaults).hole_kib;
    let most = (bytes - task.block_bytes) / 1024;
    let allowed = format!("0 to {most}, which leaves room for one `block_kib` in what is used");
    demand_in(0..=most, &checked.key("hole_kib"), hole, &allowed)?;
    let most = bytes / task.stride();
    if task.stream == TaskStream::Interleaved && u64::from(checked.tasks.count) > most {
        let text = format!(
            "{} interleaved tasks, but what they use has room for {most} I/Os; lower `count`, \
             `block_kib` or `hole_kib`",
            checked.tasks.count
        );
        return checked.wrong("stream", text);
    }
    Ok(())
}

fn check_mix(checked: &Checked<'_>, task: &Task) -> Result<(), Wrong> {
    let percent = checked.tasks.read_percent;
    demand_in(0..=100, &checked.key("read_percent"), percent, "0 to 100")?;
    checked.demand_use("read_percent", task.op == OpMix::Mixed, "a mix; add `op = \"mixed\"`")
}

/// Checks how tasks access files: directly, through the page cache or mapped.
fn check_cache(checked: &Checked<'_>, volume: &Volume, task: &Task) -> Result<(), Wrong> {
    let Checked { experiment, tasks, .. } = checked;
    if task.mapped && tasks.with(&experiment.defaults).direct == Some(true) {
        let text = "`mapped` and `direct = true` exclude each other; drop one of them";
        return checked.wrong("direct", text);
    }
    checked.demand_use("advice", task.mapped, "a mapping; add `mapped = true`")?;
    // A new file has nothing to read yet.
    if tasks.new && volume.kind == VolumeType::Raw {
        return checked.wrong("new", "a raw volume has no files to create; drop `new`");
    }
    if tasks.new && (task.op != OpMix::Write || task.mapped) {
        let text = "a new file has nothing to read or map yet; add `op = \"write\"`, or drop `new`";
        return checked.wrong("new", text);
    }
    let is_used = tasks.keeps_cache != Some(true) || !task.is_direct();
    checked.demand_use("keeps_cache", is_used, "the page cache; add `direct = false`")?;
    demand_in(1..=100_000, &checked.key("depth"), Some(task.depth), "1 to 100000")?;
    if tasks.depth.is_some_and(|depth| depth > 1) && !task.is_direct() {
        let text = "`depth` is about direct I/O, others are one at a time; drop it";
        return checked.wrong("depth", text);
    }
    Ok(())
}

/// Checks when writes are made durable.
fn check_durable(checked: &Checked<'_>, task: &Task) -> Result<(), Wrong> {
    for key in ["sync", "fsync_every", "fdatasync_every", "end_fsync"] {
        let text = "what `write` writes; add `op = \"write\"` without `mapped`";
        checked.demand_use(key, task.writes_by_call(), text)?;
    }
    checked.demand_use("end_fsync", task.has_end(), "the end of tasks; add `bytes_mib` or `ios`")
}

/// Checks pauses, the number of I/Os between them, and rates.
fn check_pace(checked: &Checked<'_>) -> Result<(), Wrong> {
    let keys = checked.tasks.with(&checked.experiment.defaults);
    demand_in(0.0..=3.6e6, &checked.key("think_ms"), keys.think_ms, "0 to 3600000")?;
    demand_in(1..=1_000_000, &checked.key("burst_ios"), keys.burst_ios, "1 to 1000000")?;
    if keys.burst_ios.is_some() && keys.think_ms.is_none() {
        let text = "`burst_ios` is about pauses; add `think_ms`, or drop it";
        return checked.wrong("burst_ios", text);
    }
    let most = RATE_MAX.to_string();
    for (key, rate) in [("rate_iops", keys.rate_iops), ("rate_kib_per_s", keys.rate_kib_per_s)] {
        let rate = rate.map(NonZeroU64::get);
        demand_in(1..=RATE_MAX, &checked.key(key), rate, &format!("1 to {most}"))?;
    }
    if keys.rate_iops.is_some() && keys.rate_kib_per_s.is_some() {
        let text = "`rate_iops` and `rate_kib_per_s` exclude each other; drop one of them";
        return checked.wrong("rate_kib_per_s", text);
    }
    Ok(())
}

/// The highest rate in I/Os or KiB per second; no disk comes near it.
const RATE_MAX: u64 = 1_000_000_000;

/// Checks when tasks start and end.
fn check_times(checked: &Checked<'_>, row: &Row, task: &Task) -> Result<(), Wrong> {
    let Checked { experiment, tasks, .. } = checked;
    let duration = experiment.duration_s(row);
    if let Some(start) = tasks.start_s {
        let end = duration.unwrap_or(in_seconds(RUN_MAX));
        let spread = in_seconds(START_SPREAD);
        let allowed = format!("0 to less than {}, just before the run ends", end - spread);
        demand((0.0..end - spread).contains(&start), &checked.key("start_s"), start, allowed)?;
    }
    let keys = tasks.with(&experiment.defaults);
    let allowed = format!("1 to {MIB_MAX}");
    demand_in(1..=MIB_MAX, &checked.key("bytes_mib"), keys.bytes_mib, &allowed)?;
    for key in ["bytes_mib", "ios"] {
        checked.demand_use(
            key,
            !tasks.background,
            "tasks that come to an end; drop `background`",
        )?;
    }
    match experiment.until {
        None if tasks.background => {
            let text = "`background` is about runs that last `until` tasks are done; drop it";
            checked.wrong("background", text)
        }
        Some(Until::Done) if !task.has_end() && !tasks.background => {
            let text = "with `until = \"done\"` every task needs `bytes_mib` or `ios`, or is one \
                        for which nobody waits: `background = true`";
            checked.wrong("bytes_mib", text)
        }
        _ => Ok(()),
    }
}
