//! A plan tried out: real loads in throw-away groups that have the plan's settings.

use crate::apply::{apply, undo};
use crate::plan::{GroupPlan, Plan, disks};
use crate::root::Root;
use crate::snapshot::Snapshot;
use serde::Serialize;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What one group asked for, what the lab predicted and what was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verified {
    /// The path of the group in the plan.
    pub group: String,
    /// Its weight, if the plan has any.
    pub weight: Option<u64>,
    /// The part of the disk that its weight asks for, in percent.
    pub asked_share: Option<f64>,
    /// The most I/Os a second, of reads.
    pub asked_riops: Option<u64>,
    /// The prediction, in percent.
    pub predicted_share: Option<f64>,
    /// The prediction, in I/Os a second.
    pub predicted_iops: Option<f64>,
    /// Its part of what all groups did, in percent.
    pub measured_share: f64,
    /// I/Os a second.
    pub measured_iops: f64,
    /// The time that 99 of 100 reads took at most.
    pub p99_ms: f64,
}

impl Verified {
    /// Whether its share is off by more than so many points from that asked. A prediction is no
    /// yardstick: it is about the plan's own load.
    pub fn is_off(&self, points: f64) -> bool {
        self.asked_share.is_some_and(|asked| (self.measured_share - asked).abs() > points)
    }
}

/// The load of each group.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// How long it lasts.
    pub seconds: u64,
    /// Random reads of 4 KiB at once.
    pub depth: u32,
}

/// Carries out the plan with throw-away groups in place of its own, reads in all of them at once
/// from the disk itself, and takes everything back. Nothing is written to the disk.
///
/// # Errors
/// fio is missing, the plan cannot be carried out, it has no groups or no disk, or fio fails.
pub fn verify(
    root: &Root,
    plan: &Plan,
    load: Load,
    state: &Path,
    tell: &mut dyn FnMut(&str),
) -> Result<Vec<Verified>, String> {
    if Command::new("fio").arg("--version").stdout(Stdio::null()).status().is_err() {
        return Err("fio is not in PATH; it makes the load (Debian: apt install fio)".to_owned());
    }
    let snapshot = Snapshot::read(root);
    let disk = disk(&snapshot, plan)?;
    let place = format!("fairdisk-verify-{}", std::process::id());
    let mut throw_away = plan.clone();
    for group in &mut throw_away.groups {
        group.path = format!("{place}/{}", group.path);
        group.ionice = None;
    }
    let leaves: Vec<&GroupPlan> = leaves(&throw_away);
    if leaves.is_empty() {
        return Err("the plan has no [[group]]".to_owned());
    }
    let steps = throw_away.steps(&snapshot)?;
    apply(root, &steps, state, tell)?;
    let snapshot = Snapshot::read(root);
    let by_bfq =
        snapshot.blocks.get(&disk).is_some_and(|it| it.scheduler.as_deref() == Some("bfq"));
    let measured = run(&snapshot, &leaves, &disk, load);
    // The tasks have ended; their groups are empty.
    undo(root, state, tell)?;
    let measured = measured?;
    let whole: f64 = measured.iter().map(|one| one.iops).sum();
    let verified = leaves.iter().zip(measured).map(|(group, measured)| Verified {
        group: group.path[place.len() + 1..].to_owned(),
        weight: weight(group, by_bfq),
        asked_share: share(&throw_away, &group.path, by_bfq),
        asked_riops: group.io.max.values().find_map(|line| riops(line)),
        predicted_share: group.predicted.share,
        predicted_iops: group.predicted.iops,
        measured_share: 100.0 * measured.iops / whole.max(1e-9),
        measured_iops: measured.iops,
        p99_ms: measured.p99_ms,
    });
    Ok(verified.collect())
}

/// The disk that the plan is about: that of its first device, else of its first limit.
fn disk(snapshot: &Snapshot, plan: &Plan) -> Result<String, String> {
    let limits = plan.groups.iter().flat_map(|group| group.io.max.keys());
    let mut named = plan.devices.iter().map(|device| &device.path).chain(limits);
    let of = named.next().ok_or("the plan names no disk: it has no [[device]] and no io.max")?;
    let disks = disks(snapshot, of, false)?;
    Ok(disks[0].name.clone())
}

fn leaves(plan: &Plan) -> Vec<&GroupPlan> {
    let is_above = |above: &GroupPlan| {
        let prefix = format!("{}/", above.path);
        plan.groups.iter().any(|group| group.path.starts_with(&prefix))
    };
    plan.groups.iter().filter(|group| !is_above(group)).collect()
}

fn weight(group: &GroupPlan, by_bfq: bool) -> Option<u64> {
    let (bfq, cost) = (group.io.bfq.weight, group.io.weight);
    if by_bfq { bfq.or(cost) } else { cost.or(bfq) }
}

fn riops(line: &str) -> Option<u64> {
    let mut pairs = line.split_whitespace().filter_map(|pair| pair.strip_prefix("riops="));
    pairs.next()?.parse().ok()
}

/// The weight of groups in which none is set.
const USUAL_WEIGHT: u64 = 100;

/// The part of the disk that a group's weights ask for while all have work, in percent; `None` if
/// the plan has no weights.
fn share(plan: &Plan, path: &str, by_bfq: bool) -> Option<f64> {
    plan.groups.iter().find_map(|group| weight(group, by_bfq))?;
    let weight_at = |path: &str| {
        let group = plan.groups.iter().find(|group| group.path == path);
        let weight = group.and_then(|group| weight(group, by_bfq)).unwrap_or(USUAL_WEIGHT);
        f64::from(u32::try_from(weight).unwrap_or(u32::MAX))
    };
    let mut share = 100.0;
    let mut at = path;
    while let Some((above, _)) = at.rsplit_once('/') {
        let mut siblings: Vec<&str> = plan
            .groups
            .iter()
            .filter_map(|group| {
                let below = group.path.strip_prefix(above)?.strip_prefix('/')?;
                let name = below.split('/').next()?;
                Some(&group.path[..above.len() + 1 + name.len()])
            })
            .collect();
        siblings.sort_unstable();
        siblings.dedup();
        share *= weight_at(at) / siblings.iter().map(|one| weight_at(one)).sum::<f64>();
        at = above;
    }
    Some(share)
}

struct Measured {
    iops: f64,
    p99_ms: f64,
}

fn run(
    snapshot: &Snapshot,
    groups: &[&GroupPlan],
    disk: &str,
    load: Load,
) -> Result<Vec<Measured>, String> {
    let trees = &snapshot.trees;
    let top = trees.v1.as_ref().or(trees.v2.as_ref()).ok_or("no cgroups are mounted")?;
    let start = |group: &&GroupPlan| start(&format!("{top}/{}", group.path), disk, load);
    let started: Vec<io::Result<Child>> = groups.iter().map(start).collect();
    let ended: Vec<Result<Measured, String>> = started.into_iter().map(finish).collect();
    ended.into_iter().collect()
}

/// fio as a task of a group.
fn start(directory: &str, disk: &str, load: Load) -> io::Result<Child> {
    let Load { seconds, depth } = load;
    Command::new("sh")
        .args(["-c", "echo $$ > \"$0\"/cgroup.procs && exec \"$@\"", directory, "fio"])
        .args(["--readonly", "--rw=randread", "--bs=4k", "--direct=1", "--ioengine=libaio"])
        .args(["--name=verify", "--time_based", "--norandommap", "--randrepeat=0"])
        .args([format!("--filename=/dev/{disk}"), format!("--iodepth={depth}")])
        .args([format!("--runtime={seconds}"), "--output-format=json".to_owned()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

fn finish(started: io::Result<Child>) -> Result<Measured, String> {
    let output = started.and_then(Child::wait_with_output);
    let output = output.map_err(|error| format!("fio: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("fio: {}: {}", output.status, said.trim()));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    // fio may print notes before the JSON.
    let json = &text[text.find('{').unwrap_or(0)..];
    let result: serde_json::Value =
        serde_json::from_str(json).map_err(|error| format!("what fio printed: {error}"))?;
    let read = &result["jobs"][0]["read"];
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or(0.0);
    let p99_ns = number(&read["clat_ns"]["percentile"]["99.000000"]);
    Ok(Measured { iops: number(&read["iops"]), p99_ms: p99_ns / 1e6 })
}

/// Asked, predicted and measured side by side.
pub fn to_table(verified: &[Verified]) -> String {
    let percent = |share: Option<f64>| share.map_or("-".to_owned(), |it| format!("{it:.1} %"));
    let wide = verified.iter().map(|one| one.group.chars().count()).max().unwrap_or(0).max(5);
    let mut text = format!(
        "{:<wide$} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
        "group", "weight", "asked", "predicted", "measured", "IOPS", "p99 ms"
    );
    for one in verified {
        let limit = one.asked_riops.map(|most| format!("  at most {most} IOPS asked"));
        let predicted = one.predicted_iops.map(|iops| format!("  {iops:.0} IOPS predicted"));
        let _ = writeln!(
            text,
            "{:<wide$} {:>6} {:>9} {:>9} {:>9} {:>9.0} {:>9.2}{}{}",
            one.group,
            one.weight.map_or("-".to_owned(), |weight| weight.to_string()),
            percent(one.asked_share),
            percent(one.predicted_share),
            percent(Some(one.measured_share)),
            one.measured_iops,
            one.p99_ms,
            limit.unwrap_or_default(),
            predicted.unwrap_or_default()
        );
    }
    if verified.iter().any(|one| one.predicted_share.is_some() || one.predicted_iops.is_some()) {
        text.push_str("predicted: for the plan's own load, not for the reads measured here\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_ask_for_shares_among_siblings() {
        let text = "[[device]]\npath = '/dev/sda'\nscheduler = 'bfq'\n\
            [[group]]\npath = 'v/shop/db'\nio.bfq.weight = 300\n\
            [[group]]\npath = 'v/shop/web'\n\
            [[group]]\npath = 'v/shop'\nio.bfq.weight = 400\n\
            [[group]]\npath = 'v/backup'\nio.bfq.weight = 100\n";
        let plan = Plan::parse(text).unwrap();
        let leaves: Vec<&str> = leaves(&plan).iter().map(|group| group.path.as_str()).collect();
        assert_eq!(leaves, ["v/shop/db", "v/shop/web", "v/backup"]);
        let shares = leaves.iter().map(|path| share(&plan, path, true).unwrap());
        let shares: Vec<f64> = shares.map(|share| (share * 10.0).round() / 10.0).collect();
        assert_eq!(shares, [60.0, 20.0, 20.0]);
        let unweighted = Plan::parse("[[group]]\npath = 'v/a'\nionice = 'idle'\n").unwrap();
        assert_eq!(share(&unweighted, "v/a", true), None);
        assert_eq!(riops("rbps=max riops=50"), Some(50));
    }

    #[test]
    fn predictions_are_said_to_be_for_another_load_and_are_no_yardstick() {
        for (asked_share, predicted_share, is_off) in [
            (Some(75.0), None, false),
            (Some(75.0), Some(20.0), false),
            (Some(50.0), Some(74.0), true),
            (None, Some(20.0), false),
        ] {
            let verified = Verified {
                group: "db".to_owned(),
                weight: Some(300),
                asked_share,
                asked_riops: None,
                predicted_share,
                predicted_iops: None,
                measured_share: 74.0,
                measured_iops: 1_000.0,
                p99_ms: 1.0,
            };
            assert_eq!(verified.is_off(5.0), is_off, "{verified:#?}");
            let text = to_table(&[verified]);
            assert_eq!(text.contains("not for the reads"), predicted_share.is_some(), "{text}");
        }
    }
}
