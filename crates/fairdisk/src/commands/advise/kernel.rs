//! Advice as settings of the kernel: a plan of `fairdisk kernel`, and files that last.

use crate::commands::calibrate::io_cost;
use crate::failure::Failure;
use fairdisk_kernel::{DevicePlan, GroupPlan, Plan, Predicted, Root, Snapshot, lasting};
use fairdisk_lab::advise::{Advice, KernelPlan};
use fairdisk_sim::device::DeviceSpec;

/// The schedulers of the lab that stand for what the kernel has, and the kernel's scheduler each
/// runs with. `token-bucket` is `io.max`; io.cost, io.latency and io.max are above any scheduler.
const OF_KERNEL: [(&str, &str); 7] = [
    ("bfq", "bfq"),
    ("iocost", "none"),
    ("iolatency", "none"),
    ("token-bucket", "none"),
    ("mq-deadline", "mq-deadline"),
    ("kyber", "kyber"),
    ("noop", "none"),
];

/// The largest weights that BFQ and io.cost take.
const BFQ_MOST: u64 = 1_000;
const COST_MOST: u64 = 10_000;

/// The schedulers of the lab that the kernel has.
pub(super) fn schedulers() -> Vec<String> {
    OF_KERNEL.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// Wishes that the kernel does not see to and a mount does, in words.
pub(super) struct MountOnly(Vec<String>);

impl MountOnly {
    /// Asks what a mount would keep if the kernel does not see to every wish.
    ///
    /// # Errors
    /// The search for that fails.
    pub(super) fn find(
        advice: &Advice,
        of_mount: &dyn Fn() -> Result<Advice, Failure>,
    ) -> Result<Self, Failure> {
        let Some(best) = advice.proposed() else { return Ok(Self(Vec::new())) };
        if best.enforced() == best.verdicts.len() {
            return Ok(Self(Vec::new()));
        }
        let other = of_mount()?;
        let Some(by_mount) = other.proposed() else { return Ok(Self(Vec::new())) };
        let verdicts = best.verdicts.iter().zip(&by_mount.verdicts).zip(&advice.wishes);
        let kept = verdicts.filter(|((ours, mounts), _)| !ours.enforced && mounts.enforced);
        let words = kept.map(|((ours, mounts), wish)| {
            let (name, wish) = (&wish.name, &wish.text);
            if ours.met {
                return format!("{name}: {wish}: the kernel does not enforce it, a mount does");
            }
            format!("{name}: {wish}: {} on a mount, {} by the kernel", mounts.got, ours.got)
        });
        Ok(Self(words.collect()))
    }
}

/// The proposal as settings of the kernel.
pub(super) struct Files {
    plan: Plan,
    /// What lasts beyond a boot.
    lasting: String,
    /// What the plan lacks.
    notes: Vec<String>,
    mount_only: Vec<String>,
}

impl Files {
    /// The files for a disk; `None` if nothing is proposed.
    pub(super) fn of(
        advice: &Advice,
        device: &DeviceSpec,
        disk: &str,
        MountOnly(mount_only): MountOnly,
    ) -> Option<Self> {
        let best = advice.proposed()?;
        let (_, scheduler) = *OF_KERNEL.iter().find(|(name, _)| *name == best.asked)?;
        let mut notes = Vec::new();
        let mut of_disk = DevicePlan {
            path: disk.to_owned(),
            scheduler: Some(scheduler.to_owned()),
            ..DevicePlan::default()
        };
        if best.asked == "iocost" {
            add_model(&mut of_disk, device, disk, &mut notes);
        }
        let settings = advice.settings();
        let most = settings.iter().flatten().filter_map(weight).max().unwrap_or(1);
        let mut of_group = |at: usize| {
            let mut group = GroupPlan {
                path: advice.groups[at].cgroup.trim_matches('/').to_owned(),
                predicted: predicted(advice, at),
                ..GroupPlan::default()
            };
            for setting in &settings[at] {
                add(&mut group, setting, (&best.asked, disk), most);
            }
            let both = settings[at].iter().filter(|(key, _)| ["max_iops", "max_bps"].contains(key));
            notes.extend(both.map(|(key, value)| {
                format!(
                    "{}: {key}={value} is kept in part: io.max limits reads and writes apart, both \
                     together may be twice that",
                    group.path
                )
            }));
            group
        };
        let groups = (0..advice.groups.len()).filter(|at| advice.groups[*at].has_tasks);
        let groups = groups.map(&mut of_group).filter(|group| !group.path.is_empty()).collect();
        let plan = Plan { devices: vec![of_disk], groups };
        let name = disk.rsplit('/').next().unwrap_or(disk);
        let number = Snapshot::read(&Root::of_system()).stack(disk).ok();
        let number = number.and_then(|stack| Some(stack.layers.first()?.number.clone()));
        let lasting = lasting(&plan, name, number.as_deref());
        Some(Self { plan, lasting, notes, mount_only })
    }

    pub(super) fn to_text(&self) -> String {
        let indented = |text: &str| -> String {
            text.lines().map(|line| format!("    {line}").trim_end().to_owned() + "\n").collect()
        };
        let mut text = format!(
            "\nfor the kernel\n  a plan for `fairdisk kernel apply` and `verify`:\n{}  \
             the same so that it lasts:\n{}",
            indented(&self.plan.to_toml()),
            indented(&self.lasting)
        );
        for note in &self.notes {
            text.push_str(&format!("  note: {note}\n"));
        }
        if !self.mount_only.is_empty() {
            text.push_str("  what only a mount keeps (fair):\n");
        }
        for wish in &self.mount_only {
            text.push_str(&format!("    {wish}\n"));
        }
        text
    }

    /// The files as they are in results.
    pub(super) fn results(&self) -> KernelPlan {
        KernelPlan {
            plan: self.plan.to_toml(),
            lasting: self.lasting.clone(),
            notes: self.notes.clone(),
            mount_only: self.mount_only.clone(),
        }
    }
}

fn weight((key, value): &(&'static str, String)) -> Option<u64> {
    (*key == "weight").then(|| value.parse().ok()).flatten()
}

/// What the lab predicts for a group.
fn predicted(advice: &Advice, at: usize) -> Predicted {
    let cell = advice.proposed().map(|best| &best.cell);
    let Some((cell, group)) = cell.and_then(|cell| Some((cell, cell.group(at)?))) else {
        return Predicted::default();
    };
    let tenths = |value: f64| (value * 10.0).round() / 10.0;
    Predicted {
        share: group.parts.map(|parts| tenths(100.0 * parts.got)),
        iops: Some(tenths(group.outcome.ios.mean / cell.duration_s.max(1e-9))),
    }
}

/// Adds a setting of a mount as the kernel has it.
fn add(
    group: &mut GroupPlan,
    setting: &(&'static str, String),
    (scheduler, disk): (&str, &str),
    most: u64,
) {
    if let Some(weight) = weight(setting) {
        // Only what weights are to each other counts.
        let into = |limit: u64| (weight * limit.min(most) / most).max(1);
        match scheduler {
            "bfq" => group.io.bfq.weight = Some(into(BFQ_MOST)),
            _ => group.io.weight = Some(into(COST_MOST)),
        }
        return;
    }
    let (key, value) = setting;
    let keys: &[&str] = match *key {
        "max_iops" => &["riops", "wiops"],
        "max_read_iops" => &["riops"],
        "max_write_iops" => &["wiops"],
        "max_bps" => &["rbps", "wbps"],
        "max_read_bps" => &["rbps"],
        "max_write_bps" => &["wbps"],
        _ => &[],
    };
    if !keys.is_empty() {
        let line = group.io.max.entry(disk.to_owned()).or_default();
        for key in keys {
            let gap = if line.is_empty() { "" } else { " " };
            line.push_str(&format!("{gap}{key}={value}"));
        }
    } else if let ("latency_p99_ms", Ok(ms)) = (*key, value.parse::<f64>()) {
        let target = format!("target={:.0}", ms * 1_000.0);
        group.io.latency.insert(disk.to_owned(), target);
    }
}

/// Adds the lines of io.cost, of a disk that was measured.
fn add_model(plan: &mut DevicePlan, device: &DeviceSpec, disk: &str, notes: &mut Vec<String>) {
    let DeviceSpec::Measured(measured) = device else {
        plan.io.cost.qos = Some("enable=1".to_owned());
        notes.push(format!(
            "io.cost needs a model of the disk: fairdisk calibrate {disk} --reads-only --for io.cost"
        ));
        return;
    };
    let text = io_cost::lines("", measured.params(), &[]);
    let mut lines = text.lines().filter(|line| !line.starts_with('#')).map(str::trim);
    plan.io.cost.model = lines.next().map(str::to_owned);
    plan.io.cost.qos = lines.next().map(str::to_owned);
}
