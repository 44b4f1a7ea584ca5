//! Short notes on the settings of groups, and on those that a scheduler ignores.

use super::ctl::milliseconds;
use crate::output::plain;
use fairdisk_core::{Qos, Share};
use fairdisk_lab::byte_rate::bytes_a_second;
use fairdisk_mount::control::{FlushWaits, GroupEntry, Latencies, Latency, Status};
use fairdisk_sched::SchedulerSpec;
use std::num::NonZeroU64;

/// The most groups that a note names; a mount may have thousands.
const NAMED_MAX: usize = 5;

/// A group's settings beside its weight, such as `idle 0 ms >=100 iops <=5 MB/s p99<=20 ms`, by
/// what `got` misses its targets, and what flushes that do waited for longest. What the scheduler
/// ignores is in parentheses, and may include the weight.
pub(super) fn limits(entry: &GroupEntry, got: &Latencies, flushes: &FlushWaits) -> Vec<String> {
    let qos = &entry.qos;
    let ioprio = entry.ioprio.filter(|ioprio| Share::Priority(*ioprio) != Share::DEFAULT);
    let ignores = |key: &str| entry.ignored.iter().any(|ignored| ignored == key);
    let peak = &qos.peak;
    let usual = Qos::NONE.burst.as_ms();
    let bytes = |what: &str, rate: Option<NonZeroU64>| {
        rate.map(|rate| format!("{what}{}", bytes_a_second(rate.get())))
    };
    let all = [
        ("weight", ignores("weight").then(|| format!("weight {}", entry.weight))),
        ("ioprio", ioprio.map(|ioprio| format!("ioprio {ioprio}"))),
        ("idle", entry.idle_ms.map(|ms| format!("idle {ms} ms"))),
        ("min_iops", qos.min_iops.map(|rate| format!(">={rate} iops"))),
        ("min_bps", bytes(">=", qos.min_bps)),
        ("max_iops", qos.max_iops.map(|rate| format!("<={rate} iops"))),
        ("max_bps", bytes("<=", qos.max_bps)),
        ("max_read_iops", qos.max_read_iops.map(|rate| format!("reads<={rate} iops"))),
        ("max_read_bps", bytes("reads<=", qos.max_read_bps)),
        ("max_write_iops", qos.max_write_iops.map(|rate| format!("writes<={rate} iops"))),
        ("max_write_bps", bytes("writes<=", qos.max_write_bps)),
        ("burst_ms", qos.burst_ms.filter(|ms| *ms != usual).map(|ms| format!("burst {ms} ms"))),
        ("burst_iops", peak.burst_iops.map(|rate| format!("burst {rate} iops"))),
        ("burst_bps", bytes("burst ", peak.burst_bps)),
        ("burst_for", peak.burst_for.map(|s| format!("for {s} s"))),
        ("latency_p99_ms", target("p99", qos.latency_p99_ms, &got.ios())),
        ("fsync_p99_ms", target("fsync p99", qos.fsync_p99_ms, &got.flush)),
    ];
    let words = all.into_iter().filter_map(|(key, text)| {
        let text = text?;
        Some(if ignores(key) { format!("({text})") } else { text })
    });
    let refused =
        (!entry.refused.is_empty()).then(|| format!("[refused: {}]", entry.refused.join(" ")));
    let misses = qos.fsync_p99_ms.is_some_and(|asked| got.flush.p99_ms > Some(asked));
    words.chain(misses.then(|| longest_part(flushes)).flatten()).chain(refused).collect()
}

/// The part of flushes that is longest in 99 of 100.
fn longest_part(waits: &FlushWaits) -> Option<String> {
    let FlushWaits { own_data, scheduler, source } = waits;
    let parts = [("own data", own_data), ("scheduler", scheduler), ("source", source)];
    let parts = parts.into_iter().filter_map(|(what, part)| Some((what, part.p99_ms?)));
    let (what, ms) = parts.max_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(format!("mostly {what}: {}", milliseconds(Some(ms))))
}

/// A target in words, and what was got instead if it is missed.
fn target(what: &str, asked_ms: Option<f64>, got: &Latency) -> Option<String> {
    let asked = asked_ms?;
    let missed = got.p99_ms.filter(|got| *got > asked);
    let missed = missed.map(|got| format!(" missed: {}", milliseconds(Some(got))));
    Some(format!("{what}<={asked} ms{}", missed.unwrap_or_default()))
}

/// A note on those settings of the first group of `status`, among the ones called `keys`, that its
/// scheduler ignores; `None` if it ignores none of them.
pub(super) fn ignored_note(status: &Status, keys: &[&str]) -> Option<String> {
    let entry = status.groups.first()?;
    let ignored = entry.ignored.iter().map(String::as_str);
    let ignored: Vec<&str> = ignored.filter(|key| keys.contains(key)).collect();
    if ignored.is_empty() {
        return None;
    }
    let keeps_all = |name: &&&str| {
        let honours = SchedulerSpec::named(name).map(|spec| spec.honours());
        honours.is_some_and(|honours| ignored.iter().all(|key| honours.keeps(key)))
    };
    let others: Vec<&str> = SchedulerSpec::NAMES.iter().filter(keeps_all).copied().collect();
    let (scheduler, ignored) = (&status.scheduler, ignored.join(", "));
    let others = match others.join(", ") {
        none if none.is_empty() => "no scheduler does. Whether a target is met is shown".to_owned(),
        some => format!("schedulers that do: {some}"),
    };
    Some(format!("note: {scheduler} takes no notice of {ignored}; {others}"))
}

/// A note on the floor of the first group of `status`, if one of `keys` sets a floor and nobody
/// could say whether it can be kept.
pub(super) fn unexamined_note(status: &Status, keys: &[&str]) -> Option<String> {
    let sets_floor = keys.iter().any(|key| matches!(*key, "min_iops" | "min_bps"));
    status.groups.first().filter(|entry| sets_floor && entry.unexamined)?;
    let note = "note: whether the disk can keep this floor is not known yet. If the mount finds \
                out that it cannot, the floor is taken back (`floor refused` in the log). A mount \
                with --costs knows at once";
    Some(note.to_owned())
}

/// A note, after a change of scheduler, on the groups of `status` with settings that the new
/// scheduler ignores; `None` if there are none.
pub(super) fn ignored_by_new(status: &Status) -> Option<String> {
    let told =
        |entry: &GroupEntry| format!("{} ({})", plain(&entry.path), entry.ignored.join(", "));
    let all: Vec<&GroupEntry> =
        status.groups.iter().filter(|entry| !entry.ignored.is_empty()).collect();
    let named: Vec<String> = all.iter().take(NAMED_MAX).map(|entry| told(entry)).collect();
    let more = match all.len().saturating_sub(NAMED_MAX) {
        0 if all.is_empty() => return None,
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (scheduler, named) = (&status.scheduler, named.join(", "));
    Some(format!("note: {scheduler} takes no notice of what is set for {named}{more}"))
}
