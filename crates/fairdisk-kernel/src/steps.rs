//! A plan as steps: what is written where, in which order.

use crate::blocks::{Block, in_use};
use crate::groups::{Trees, Version};
use crate::ioprio::Ioprio;
use crate::plan::{DevicePlan, GroupPlan, LIMITS, Plan, disks};
use crate::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

/// How the value that a file has is read, and which value restores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// A list in which the value in use is in brackets.
    Choice,
    /// One value, or one after `default`.
    Value,
    /// The line of one disk, `MAJOR:MINOR …`; what is written to have none.
    Line {
        /// `MAJOR:MINOR`.
        number: String,
        /// What has no effect, without the number.
        cleared: String,
    },
    /// The controllers that are handed on.
    Controllers,
}

impl Form {
    /// The value to be written so that the file is as it is now.
    pub(crate) fn value(&self, text: &str) -> Option<String> {
        match self {
            Self::Choice => in_use(text),
            Self::Value => {
                let line = text.lines().find(|line| !line.contains(':'))?;
                Some(line.trim_start_matches("default ").trim().to_owned())
            }
            Self::Line { number, cleared } => {
                let mut lines = text.lines();
                let line = lines.find(|line| line.split(' ').next() == Some(number));
                Some(line.map_or_else(|| format!("{number} {cleared}"), str::to_owned))
            }
            Self::Controllers => {
                let has_io = text.split_whitespace().any(|name| name == "io");
                Some(if has_io { "+io" } else { "-io" }.to_owned())
            }
        }
    }

    /// Whether the kernel must show the value that was written.
    pub(crate) fn shows_what_was_written(&self) -> bool {
        matches!(self, Self::Choice | Self::Value)
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// A group is made.
    Make {
        /// Its directory.
        directory: String,
    },
    /// A value is written.
    Write {
        /// The file.
        file: String,
        /// The value.
        value: String,
        /// How the file is read.
        form: Form,
    },
    /// A thread gets an I/O priority.
    Ionice {
        /// The thread.
        tid: u32,
        /// The priority; none takes it away.
        priority: Option<Ioprio>,
    },
}

impl Plan {
    /// The changes, in the order in which they must be made.
    ///
    /// # Errors
    /// A device or path is not there, or this system has no place for a setting.
    pub fn steps(&self, snapshot: &Snapshot) -> Result<Vec<Step>, String> {
        let mut steps = Vec::new();
        for device in &self.devices {
            steps.extend(of_device(snapshot, device)?);
        }
        for group in &self.groups {
            let of_group = of_group(snapshot, group);
            let of_group = of_group.map_err(|why| format!("group `{}`: {why}", group.path))?;
            for step in of_group {
                // Groups above several are made once.
                if !steps.contains(&step) {
                    steps.push(step);
                }
            }
        }
        Ok(steps)
    }
}

fn of_device(snapshot: &Snapshot, plan: &DevicePlan) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    for disk in disks(snapshot, &plan.path, false)? {
        let write = |file: String, value: String, form: Form| Step::Write { file, value, form };
        if let Some(scheduler) = &plan.scheduler {
            steps.push(write(disk.scheduler_file(), scheduler.clone(), Form::Choice));
        }
        for (name, value) in &plan.iosched {
            let file = format!("/sys/block/{}/queue/iosched/{name}", disk.name);
            steps.push(write(file, value.to_string(), Form::Value));
        }
        let cost = &plan.io.cost;
        let lines =
            [("io.cost.model", &cost.model, "ctrl=auto"), ("io.cost.qos", &cost.qos, "enable=0")];
        for (name, line, cleared) in lines {
            let Some(line) = line else { continue };
            let top = tree_of_version2(&snapshot.trees, name)?;
            let form = Form::Line { number: disk.number.clone(), cleared: cleared.to_owned() };
            steps.push(write(format!("{top}/{name}"), format!("{} {line}", disk.number), form));
        }
    }
    Ok(steps)
}

/// The top of the tree of version 2, if that has the controller.
fn tree_of_version2<'a>(trees: &'a Trees, wanted: &str) -> Result<&'a str, String> {
    if let Some(v1) = &trees.v1 {
        return Err(format!("{wanted} is not in version 1 of cgroups, which has blkio at {v1}"));
    }
    trees.v2.as_deref().ok_or_else(|| "no tree of cgroups with I/O settings is mounted".to_owned())
}

fn of_group(snapshot: &Snapshot, plan: &GroupPlan) -> Result<Vec<Step>, String> {
    let trees = &snapshot.trees;
    let version = if trees.v1.is_some() { Version::V1 } else { Version::V2 };
    let top = match &trees.v1 {
        Some(top) => top,
        None => tree_of_version2(trees, "io")?,
    };
    let directory = format!("{top}/{}", plan.path);
    let mut steps = to_make(snapshot, version, top, &plan.path);
    let write = |name: &str, value: String, form: Form| Step::Write {
        file: format!("{directory}/{name}"),
        value,
        form,
    };
    let name = |v1: &'static str, v2: &'static str| if version == Version::V1 { v1 } else { v2 };
    if let Some(weight) = plan.io.weight {
        tree_of_version2(trees, "io.weight")?;
        steps.push(write("io.weight", weight.to_string(), Form::Value));
    }
    if let Some(weight) = plan.io.bfq.weight {
        let file = name("blkio.bfq.weight", "io.bfq.weight");
        steps.push(write(file, weight.to_string(), Form::Value));
    }
    for (device, line) in &plan.io.max {
        for disk in disks(snapshot, device, true)? {
            steps.extend(limits(version, &disk, line).into_iter().map(|(file, value, cleared)| {
                let form = Form::Line { number: disk.number.clone(), cleared };
                write(file, value, form)
            }));
        }
    }
    for (device, target) in &plan.io.latency {
        tree_of_version2(trees, "io.latency")?;
        for disk in disks(snapshot, device, true)? {
            let form = Form::Line { number: disk.number.clone(), cleared: "target=max".to_owned() };
            steps.push(write("io.latency", format!("{} {target}", disk.number), form));
        }
    }
    if let Some(priority) = plan.ionice {
        steps.extend(
            threads(snapshot, &directory)
                .into_iter()
                .map(|tid| Step::Ionice { tid, priority: Some(priority) }),
        );
    }
    Ok(steps)
}

/// The groups that are not there yet, and the controller on the way to the last one.
fn to_make(snapshot: &Snapshot, version: Version, top: &str, path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut directory = top.to_owned();
    for name in path.split('/') {
        let handing_on = format!("{directory}/cgroup.subtree_control");
        let text = snapshot.root.text(&handing_on).unwrap_or_default();
        if version == Version::V2 && !text.split_whitespace().any(|name| name == "io") {
            let value = "+io".to_owned();
            steps.push(Step::Write { file: handing_on, value, form: Form::Controllers });
        }
        directory = format!("{directory}/{name}");
        if !snapshot.root.is_dir(&directory) {
            steps.push(Step::Make { directory: directory.clone() });
        }
    }
    steps
}

/// The files of a line of `io.max` with their values, and what clears each.
fn limits(version: Version, disk: &Block, line: &str) -> Vec<(&'static str, String, String)> {
    let number = &disk.number;
    if version == Version::V2 {
        let cleared = LIMITS.map(|key| format!("{key}=max")).join(" ");
        return vec![("io.max", format!("{number} {line}"), cleared)];
    }
    let pairs = line.split_whitespace().filter_map(|pair| pair.split_once('='));
    let file = |key: &str| match key {
        "rbps" => "blkio.throttle.read_bps_device",
        "wbps" => "blkio.throttle.write_bps_device",
        "riops" => "blkio.throttle.read_iops_device",
        _ => "blkio.throttle.write_iops_device",
    };
    pairs
        .map(|(key, value)| {
            let value = if value == "max" { "0" } else { value };
            (file(key), format!("{number} {value}"), "0".to_owned())
        })
        .collect()
}

/// The threads in a group.
fn threads(snapshot: &Snapshot, directory: &str) -> Vec<u32> {
    let list = |name: &str| snapshot.root.text(format!("{directory}/{name}"));
    let text = list("cgroup.threads").or_else(|| list("tasks")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}
