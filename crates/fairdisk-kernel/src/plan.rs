//! A plan of settings: one TOML file, in the kernel's own words.

use crate::blocks::{Block, Kind};
use crate::ioprio::Ioprio;
use crate::snapshot::Snapshot;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Settings of disks and groups. Dotted keys such as `io.bfq.weight` are the kernel's files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The disks.
    #[serde(default, rename = "device", skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DevicePlan>,
    /// The groups.
    #[serde(default, rename = "group", skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupPlan>,
}

/// Settings of the disks under a device or path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DevicePlan {
    /// A device, or a path on the disks.
    pub path: String,
    /// The scheduler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// Tunables of the scheduler: files of `queue/iosched`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub iosched: BTreeMap<String, i64>,
    /// `io.cost.*`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub io: DeviceIo,
}

/// Settings below `io` of a disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceIo {
    /// `io.cost.model` and `io.cost.qos`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cost: Cost,
}

/// Settings of io.cost, without the number of the disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// The line of `io.cost.model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The line of `io.cost.qos`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qos: Option<String>,
}

/// Settings of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupPlan {
    /// The path below the top of the tree of groups. A group that is not there is made.
    pub path: String,
    /// `io.*`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub io: GroupIo,
    /// The I/O priority of the threads that are in the group when the plan is applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ionice: Option<Ioprio>,
    /// What the lab predicts for it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub predicted: Predicted,
}

/// Settings below `io` of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupIo {
    /// `io.weight`, 1 to 10000, which io.cost goes by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u64>,
    /// `io.bfq.weight`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bfq: Bfq,
    /// `io.max`: by device or path, such as `rbps=1048576 wiops=100`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub max: BTreeMap<String, String>,
    /// `io.latency`: by device or path, such as `target=5000` (microseconds).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub latency: BTreeMap<String, String>,
}

/// Settings below `io.bfq` of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bfq {
    /// `io.bfq.weight`, 1 to 1000, which BFQ goes by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u64>,
}

/// What the lab predicts for a group while all groups have work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predicted {
    /// Percent of the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// I/Os a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops: Option<f64>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The keys of `io.max`.
pub(crate) const LIMITS: [&str; 4] = ["rbps", "wbps", "riops", "wiops"];

impl Plan {
    /// Reads a plan.
    ///
    /// # Errors
    /// The text is not TOML, a key is unknown, or a value is out of the kernel's range.
    pub fn parse(text: &str) -> Result<Self, String> {
        let plan: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        for group in &plan.groups {
            group.check().map_err(|why| format!("group `{}`: {why}", group.path))?;
        }
        if plan == Self::default() {
            return Err("the plan is empty: it has no [[device]] and no [[group]]".to_owned());
        }
        Ok(plan)
    }

    /// The plan as TOML.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_else(|error| format!("# {error}\n"))
    }
}

impl GroupPlan {
    fn check(&self) -> Result<(), String> {
        let is_path = self.path.split('/').all(|part| !part.is_empty() && !part.starts_with('.'));
        if !is_path {
            let why = "the path is one below the top of the tree, such as system.slice/db.service";
            return Err(why.to_owned());
        }
        let within = |name: &str, value: Option<u64>, most: u64| match value {
            Some(weight) if !(1..=most).contains(&weight) => {
                Err(format!("{name} = {weight}: weights are 1 to {most}"))
            }
            _ => Ok(()),
        };
        within("io.weight", self.io.weight, 10_000)?;
        within("io.bfq.weight", self.io.bfq.weight, 1_000)?;
        for (device, line) in &self.io.max {
            for pair in line.split_whitespace() {
                let known = pair.split_once('=').is_some_and(|(key, value)| {
                    LIMITS.contains(&key) && (value == "max" || value.parse::<u64>().is_ok())
                });
                if !known {
                    let keys = LIMITS.join(", ");
                    return Err(format!(
                        "io.max of {device}: `{pair}`: not one of {keys} = N or max"
                    ));
                }
            }
        }
        Ok(())
    }
}

/// The whole disks under a device or path. A partition is refused if the setting is about the
/// device itself.
///
/// # Errors
/// There is no such device or path, no disk is under it, or it is a partition.
pub(crate) fn disks(snapshot: &Snapshot, of: &str, itself: bool) -> Result<Vec<Block>, String> {
    let stack = snapshot.stack(of)?;
    let top = stack.layers.first();
    if let Some(part) = top.filter(|top| itself && top.kind == Kind::Partition)
        && stack.file_system.is_none()
    {
        let disk = part.below.first().cloned().unwrap_or_default();
        return Err(format!("{of} is a partition, and the kernel limits whole disks: /dev/{disk}"));
    }
    // A device that is named has a queue, or bios pass it; a path means the disks below.
    if let Some(top) = top.filter(|top| stack.file_system.is_none() && top.kind != Kind::Partition)
    {
        return Ok(vec![top.clone()]);
    }
    let disks: Vec<Block> = stack.disks().cloned().collect();
    if disks.is_empty() { Err(format!("{of}: there is no disk under it")) } else { Ok(disks) }
}
