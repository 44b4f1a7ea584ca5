//! The cgroups of a system, and what is set in them.

use crate::mounts::Mount;
use crate::root::Root;
use serde::Serialize;
use std::path::Path;

/// A version of the kernel's cgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Version {
    /// The controller `blkio` of version 1.
    V1,
    /// The one tree of version 2.
    V2,
}

/// What a file of a group sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Knob {
    /// `io.weight`, which io.cost goes by.
    Weight,
    /// `io.bfq.weight`, `blkio.bfq.weight` and their lines for a disk, which BFQ goes by.
    BfqWeight,
    /// A limit of what is read.
    ReadLimit,
    /// A limit of what is written, or of both.
    WriteLimit,
    /// `io.latency`.
    Latency,
}

impl Knob {
    /// Whether it is a weight.
    pub fn is_weight(self) -> bool {
        matches!(self, Self::Weight | Self::BfqWeight)
    }
}

/// A value in a file of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// What it sets.
    #[serde(skip)]
    pub knob: Knob,
    /// The file.
    pub file: String,
    /// `MAJOR:MINOR`, if it is about one disk.
    #[serde(skip)]
    pub number: Option<String>,
    /// The value, with the disk before it if it is about one.
    pub value: String,
}

impl Setting {
    /// The number that a weight is.
    pub fn weight(&self) -> Option<u64> {
        self.value.split(' ').next_back()?.parse().ok()
    }
}

/// A group in which something is set, or in which there are processes.
#[derive(Clone, Debug)]
pub struct Group {
    /// The version of the tree that it is in.
    pub version: Version,
    /// The directory.
    pub directory: String,
    /// The path below the top of the tree, `/` for the top.
    pub path: String,
    /// What is set differently from the kernel's defaults.
    pub settings: Vec<Setting>,
    /// The controllers that its children have.
    pub hands_on: Vec<String>,
    /// The controllers that it has.
    pub controllers: Vec<String>,
    /// Whether a process is in it.
    pub has_tasks: bool,
}

/// The trees of groups that concern I/O.
#[derive(Clone, Debug, Default)]
pub struct Trees {
    /// Where the controller `blkio` of version 1 is mounted.
    pub v1: Option<String>,
    /// Where the tree of version 2 is mounted.
    pub v2: Option<String>,
    /// All groups.
    pub groups: Vec<Group>,
    /// The lines of `io.cost.qos` and `io.cost.model`.
    pub cost: Vec<CostLine>,
}

/// A line of `io.cost.qos` or `io.cost.model`.
#[derive(Clone, Debug)]
pub struct CostLine {
    /// Whether it is one of `io.cost.model`.
    pub is_model: bool,
    /// The file.
    pub file: String,
    /// `MAJOR:MINOR`.
    pub number: String,
    /// The whole line.
    pub line: String,
}

impl CostLine {
    /// Whether it has `KEY=VALUE`.
    pub fn says(&self, pair: &str) -> bool {
        self.line.split(' ').any(|one| one == pair)
    }
}

/// The weight that the kernel gives each group.
const USUAL_WEIGHT: u64 = 100;

/// The files about one disk in version 1, and whether they are about what is read.
const V1_LIMITS: [(&str, bool); 4] = [
    ("blkio.throttle.read_bps_device", true),
    ("blkio.throttle.read_iops_device", true),
    ("blkio.throttle.write_bps_device", false),
    ("blkio.throttle.write_iops_device", false),
];

impl Trees {
    /// Reads them.
    pub fn read(root: &Root, mounts: &[Mount]) -> Self {
        let place = |found: Option<&Mount>| found.map(|it| it.point.display().to_string());
        // A later mount lies on an earlier one and is seen.
        let v1 = mounts.iter().rfind(|mount| mount.kind == "cgroup" && mount.has("blkio"));
        let v2 = mounts.iter().rfind(|mount| mount.kind == "cgroup2");
        let mut trees = Self { v1: place(v1), v2: place(v2), ..Self::default() };
        for (top, version) in [(trees.v1.clone(), Version::V1), (trees.v2.clone(), Version::V2)] {
            if let Some(top) = top {
                trees.read_below(root, version, &top, "/");
            }
        }
        if let Some(top) = &trees.v2 {
            trees.cost =
                ["io.cost.qos", "io.cost.model"].map(|name| cost(root, top, name)).concat();
        }
        trees
    }

    fn read_below(&mut self, root: &Root, version: Version, top: &str, path: &str) {
        let directory = format!("{top}{path}").trim_end_matches('/').to_owned();
        let list = |name: &str| {
            let text = root.text(format!("{directory}/{name}")).unwrap_or_default();
            text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        let settings = match version {
            Version::V1 => version1(root, &directory),
            Version::V2 => version2(root, &directory),
        };
        self.groups.push(Group {
            version,
            path: path.to_owned(),
            settings,
            hands_on: list("cgroup.subtree_control"),
            controllers: list("cgroup.controllers"),
            has_tasks: !list("cgroup.procs").is_empty(),
            directory: directory.clone(),
        });
        for name in root.names(&directory) {
            if root.is_dir(format!("{directory}/{name}")) {
                self.read_below(
                    root,
                    version,
                    top,
                    &format!("{}/{name}", path.trim_end_matches('/')),
                );
            }
        }
    }

    /// A group by its path below the top, or by its directory; in version 2 first.
    pub fn group(&self, path: &str) -> Option<&Group> {
        let path = path.trim_end_matches('/');
        let below = format!("/{}", path.trim_start_matches('/'));
        let is_it = |group: &&Group| group.path == below || group.directory == path;
        self.groups.iter().filter(is_it).max_by_key(|group| group.version == Version::V2)
    }

    /// The group above.
    pub fn parent(&self, group: &Group) -> Option<&Group> {
        let above = Path::new(&group.path).parent()?.to_str()?;
        self.groups.iter().find(|one| one.version == group.version && one.path == above)
    }

    /// All groups above, the nearest first.
    pub(crate) fn above<'a>(&'a self, group: &'a Group) -> Vec<&'a Group> {
        std::iter::successors(self.parent(group), |above| self.parent(above)).collect()
    }

    /// Whether io.cost is on for a disk.
    pub fn cost_is_on(&self, number: &str) -> bool {
        let of_disk = |line: &&CostLine| line.number == number && !line.is_model;
        self.cost.iter().filter(of_disk).any(|line| line.says("enable=1"))
    }
}

fn cost(root: &Root, top: &str, name: &str) -> Vec<CostLine> {
    let file = format!("{top}/{name}");
    let text = root.text(&file).unwrap_or_default();
    let line = |line: &str| {
        let (number, _) = line.split_once(' ')?;
        Some(CostLine {
            is_model: name == "io.cost.model",
            file: file.clone(),
            number: number.to_owned(),
            line: line.to_owned(),
        })
    };
    text.lines().filter_map(line).collect()
}

/// The lines of a file that begin with a disk.
fn of_disks(root: &Root, file: &str, knob: Knob) -> Vec<Setting> {
    let text = root.text(file).unwrap_or_default();
    let setting = |line: &str| {
        let (number, _) = line.split_once(' ').filter(|(number, _)| number.contains(':'))?;
        let number = Some(number.to_owned());
        Some(Setting { knob, file: file.to_owned(), number, value: line.to_owned() })
    };
    text.lines().filter_map(setting).collect()
}

/// A weight for all disks that is not the usual one.
fn of_all(root: &Root, file: &str, knob: Knob) -> Option<Setting> {
    let text = root.text(file)?;
    let line = text.lines().find(|line| !line.contains(':'))?;
    let value = line.trim_start_matches("default ").to_owned();
    let setting = Setting { knob, file: file.to_owned(), number: None, value };
    (setting.weight()? != USUAL_WEIGHT).then_some(setting)
}

fn version1(root: &Root, directory: &str) -> Vec<Setting> {
    let place = |name: &str| format!("{directory}/{name}");
    let limit = |(name, reads): (&str, bool)| {
        let knob = if reads { Knob::ReadLimit } else { Knob::WriteLimit };
        of_disks(root, &place(name), knob)
    };
    let weights = of_all(root, &place("blkio.bfq.weight"), Knob::BfqWeight).into_iter();
    let lines = of_disks(root, &place("blkio.bfq.weight_device"), Knob::BfqWeight);
    weights.chain(lines).chain(V1_LIMITS.into_iter().flat_map(limit)).collect()
}

fn version2(root: &Root, directory: &str) -> Vec<Setting> {
    let place = |name: &str| format!("{directory}/{name}");
    let both = |name: &str, knob: Knob| {
        let lines = of_disks(root, &place(name), knob);
        of_all(root, &place(name), knob).into_iter().chain(lines)
    };
    let limits = of_disks(root, &place("io.max"), Knob::WriteLimit).into_iter().map(|limit| {
        let writes = ["wbps=", "wiops="].iter().any(|key| {
            let mut pairs = limit.value.split(' ').filter_map(|pair| pair.strip_prefix(key));
            pairs.any(|value| value != "max")
        });
        Setting { knob: if writes { Knob::WriteLimit } else { Knob::ReadLimit }, ..limit }
    });
    both("io.weight", Knob::Weight)
        .chain(both("io.bfq.weight", Knob::BfqWeight))
        .chain(limits)
        .chain(of_disks(root, &place("io.latency"), Knob::Latency))
        .collect()
}
