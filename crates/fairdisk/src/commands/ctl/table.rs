//! The tables of `fairdisk ctl list`: what groups got, and how long their operations took.

use super::{DEFERRED_LEAST, milliseconds};
use crate::commands::limits::limits;
use crate::output::plain;
use fairdisk_lab::columns::{padded, width};
use fairdisk_mount::MountEntry;
use fairdisk_mount::control::{FlushWaits, GroupEntry, Latency, Status};
use std::fmt::Write as _;

/// A line about what the disk did for a group after it had acknowledged its writes, if that is a
/// noticeable part of the `whole` time in ms.
fn deferred(group: &GroupEntry, whole: f64, status: &Status) -> Option<String> {
    let part = 100.0 * group.deferred_ms / whole;
    let (path, scheduler) = (plain(&group.path), &status.scheduler);
    (part >= DEFERRED_LEAST).then(|| {
        format!(
            "{path}: and {part:.1} % for its writes after the disk had said that they were done, \
             while others had it; {scheduler} counts that, too\n"
        )
    })
}

pub(super) fn table(status: &Status) -> String {
    let mounted = |it: &MountEntry| format!("{} on {}\n", plain(&it.source), plain(&it.mountpoint));
    let mut text: String = status.mounts.iter().map(mounted).collect();
    let _ = writeln!(
        text,
        "{}, {}, reads by {}, groups from {}, up {:.0} s",
        status.disk,
        match (&status.device_model, &status.costs) {
            (Some(model), _) => format!("{} at the pace of {model}", status.scheduler),
            (None, Some(costs)) => format!("{} by the costs of {}", status.scheduler, plain(costs)),
            (None, None) => status.scheduler.clone(),
        },
        status.io.as_deref().unwrap_or("threads"),
        status.cgroups.as_deref().unwrap_or("nowhere"),
        status.uptime_s
    );
    if status.unattributed_writes > 0 {
        let writes = status.unattributed_writes;
        let _ = writeln!(
            text,
            "{writes} writes came from no task (memory maps), charged to the last user of their file"
        );
    }
    let whole: f64 = status.groups.iter().map(|group| group.device_time_ms).sum();
    let names: Vec<_> = status.groups.iter().map(|group| plain(&group.path)).collect();
    let columns = columns(&status.groups);
    let limits: Vec<String> =
        status.groups.iter().map(|it| limits(it, &it.ops, &it.flush_waits).join(" ")).collect();
    let heading = if limits.iter().any(|it| !it.is_empty()) { "  limits" } else { "" };
    let _ = writeln!(
        text,
        "{:columns$}  weight    got %   MB read  MB writ.  longest wait ms  errors{heading}",
        "group"
    );
    for ((group, name), limits) in status.groups.iter().zip(names).zip(limits) {
        let share = if whole > 0.0 { 100.0 * group.device_time_ms / whole } else { 0.0 };
        let line = format!(
            "{}  {:>6}   {share:>6.1} {:>9.1} {:>9.1}  {:>15}  {:>6}  {limits}",
            padded(&name, columns),
            group.weight,
            group.read_bytes as f64 / 1e6,
            group.written_bytes as f64 / 1e6,
            milliseconds(Some(group.wait_max_ms)),
            group.errors,
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text.extend(status.groups.iter().filter_map(|group| deferred(group, whole, status)));
    text.push_str(&operations(&status.groups));
    if status.groups.iter().any(|group| !group.ignored.is_empty()) {
        let _ = writeln!(text, "in brackets: what {} takes no notice of", status.scheduler);
    }
    if status.groups.iter().any(|group| group.unexamined) {
        let _ = writeln!(
            text,
            "floors are promised unexamined: what requests cost is not known (--costs tells)"
        );
    }
    text
}

/// How wide the names of groups are.
fn columns(groups: &[GroupEntry]) -> usize {
    groups.iter().map(|group| width(&plain(&group.path))).max().unwrap_or(0).max(5)
}

/// How many operations of each kind there were, and how long they took from the call to the answer;
/// nothing if there were none.
pub(super) fn operations(groups: &[GroupEntry]) -> String {
    let (mut text, columns) = (String::new(), columns(groups));
    for group in groups {
        let name = padded(&plain(&group.path), columns);
        let mut name = name.as_ref();
        for (op, took) in group.ops.iter().filter(|(_, took)| took.count > 0) {
            let times = [took.p50_ms, took.p99_ms, took.max_ms].map(milliseconds);
            let [p50, p99, max] = times;
            let waits = if op == "fsync" { waited(&group.flush_waits) } else { String::new() };
            let _ = writeln!(
                text,
                "{name:columns$}  {op:<7}  {:>10} {p50:>9} {p99:>9} {max:>10}{waits}",
                took.count
            );
            name = "";
        }
    }
    if !text.is_empty() {
        let head = format!(
            "\n{:columns$}  {:<7}  {:>10} {:>9} {:>9} {:>10}\n",
            "group", "op", "count", "p50 ms", "p99 ms", "longest ms"
        );
        text.insert_str(0, &head);
    }
    text
}

/// What flushes waited for, in words.
fn waited(waits: &FlushWaits) -> String {
    let FlushWaits { own_data, scheduler, source } = waits;
    let p99 = |latency: &Latency| milliseconds(latency.p99_ms);
    format!(
        "  p99: own data {}, scheduler {}, source {}",
        p99(own_data),
        p99(scheduler),
        p99(source)
    )
}
