//! Experiment files: `catalog/experiments/<id>.toml`. What was measured, on what, and what came
//! out; never what comes out here.

mod check;
mod published;
mod quantity;
mod set;
mod tasks;

pub use published::{Bound, Published, PublishedChange};
pub use quantity::{Ios, Measure, Quantity, Subject};
pub use tasks::{Defaults, OpMix, Task, TaskAdvice, TaskOrder, TaskStream, Tasks};

use super::error::CatalogError;
use super::library::{Document, beside};
use super::overrides::{Override, read};
use super::source::Source;
use fairdisk_core::{Qos, Rates, Span, Weight};
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer};
use std::num::NonZeroU64;

/// An experiment file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Its name in the catalogue.
    pub id: String,
    /// One line for lists.
    pub title: String,
    /// What it asks.
    #[serde(default)]
    pub question: String,
    /// Who measured it, where it is written down.
    #[serde(default)]
    pub source: String,
    /// The disk: an id of the catalogue or the path of a `.toml` file.
    pub device: String,
    /// The machine: an id of the catalogue or the path of a `.toml` file.
    pub host: String,
    /// How long a run lasts, if not until its tasks are done.
    pub duration_s: Option<f64>,
    /// Time at the start of a run that does not count.
    #[serde(default)]
    pub ramp_s: f64,
    /// A run lasts until its tasks, or the first of them, are done.
    pub until: Option<Until>,
    /// How many runs an ensemble has, if not 5.
    pub seeds: Option<u32>,
    /// What to know before reading the figures.
    #[serde(default)]
    pub caveats: Vec<String>,
    /// What was tried as the cause of a difference from what the source prints, and is none.
    #[serde(default)]
    pub excluded: Vec<String>,
    /// The file systems and partitions.
    #[serde(default, rename = "volume")]
    pub volumes: Vec<Volume>,
    /// What tasks have that do not say otherwise.
    #[serde(default)]
    pub defaults: Defaults,
    /// The groups of rows that do not have their own.
    #[serde(default, rename = "group")]
    pub groups: Vec<Group>,
    /// The loads.
    #[serde(rename = "row")]
    pub rows: Vec<Row>,
    /// The schedulers.
    #[serde(rename = "arm")]
    pub arms: Vec<Arm>,
    /// What the source prints.
    #[serde(default)]
    pub published: Vec<Published>,
    /// What it prints about one arm beside another.
    #[serde(default, rename = "published_change")]
    pub published_changes: Vec<PublishedChange>,
}

/// When a run ends that has no duration.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Until {
    /// When its tasks are done.
    Done,
    /// When the first of its tasks is done.
    First,
}

/// What manages a volume.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum VolumeType {
    /// Nothing: a partition used as it is.
    Raw,
    /// ext2.
    Ext2,
    /// ext3.
    Ext3,
}

/// A stretch of the disk.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Volume {
    /// What tasks call it.
    pub name: String,
    /// What manages it.
    pub kind: VolumeType,
    /// Where it begins.
    #[serde(default)]
    pub start_gib: f64,
    /// How large a raw one is.
    pub size_gib: Option<f64>,
    /// How many files an ext one has; contiguous, one behind the other.
    pub files: Option<u32>,
    /// How large they are.
    pub file_mib: Option<u64>,
    /// Whether tasks get the files at random, not in the order in which the row has them.
    pub shuffled: Option<bool>,
    /// Whether the indirect blocks are in memory when a run begins.
    pub cached: Option<bool>,
    /// Whether ext3 has its journal, if it is to be without to see what that does.
    pub journal: Option<bool>,
}

/// A class of `ionice`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum IoniceClass {
    /// Before all others.
    RealTime,
    /// As everybody.
    BestEffort,
    /// When nobody else wants the disk.
    Idle,
}

/// A group.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Its group priority, 0 (high) to 7 (low).
    pub priority: Option<u8>,
    /// Its weight, 1 to 10000; instead of a priority.
    #[serde(default, deserialize_with = "weight")]
    pub weight: Option<u32>,
    /// The same on the scale of `blkio.weight`, 100 to 1000.
    pub blkio_weight: Option<u32>,
    /// The `ionice` level of its tasks, in arms that use it.
    pub ionice: Option<u8>,
    /// Their class, likewise.
    pub ionice_class: Option<IoniceClass>,
    /// The group it lies in.
    pub parent: Option<String>,
    /// I/Os a second it gets at least.
    pub min_iops: Option<NonZeroU64>,
    /// Bytes a second it gets at least.
    pub min_bps: Option<NonZeroU64>,
    /// I/Os a second it gets at most.
    pub max_iops: Option<NonZeroU64>,
    /// Bytes a second it gets at most.
    pub max_bps: Option<NonZeroU64>,
    /// How far it may be ahead of what it gets at most, in milliseconds.
    pub burst_ms: Option<u32>,
    /// Within how many milliseconds 99 of 100 requests are to be done.
    pub latency_p99_ms: Option<f64>,
}

impl Volume {
    /// The byte where it begins.
    #[must_use]
    pub fn start_bytes(&self) -> u64 {
        (self.start_gib * GIB) as u64 / 4096 * 4096
    }

    /// Bytes of each of its files; a raw one is one file.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        match self.kind {
            VolumeType::Raw => (self.size_gib.unwrap_or(0.0) * GIB) as u64 / 4096 * 4096,
            VolumeType::Ext2 | VolumeType::Ext3 => self.file_mib.unwrap_or(0) << 20,
        }
    }
}

const GIB: f64 = (1u64 << 30) as f64;

/// A weight, which is told of its own range where it is no number of that size.
fn weight<'de, D: Deserializer<'de>>(value: D) -> Result<Option<u32>, D::Error> {
    let weight = i64::deserialize(value)?;
    let expected = &"a whole number from 1 to 10000";
    let wrong = |_| D::Error::invalid_value(Unexpected::Signed(weight), expected);
    u32::try_from(weight).map(Some).map_err(wrong)
}

impl Group {
    /// Its weight, if it says one.
    #[must_use]
    pub fn weight(&self) -> Option<u32> {
        self.weight.or(self.blkio_weight.map(|weight| weight / Weight::BLKIO_SCALE))
    }

    /// Its floor, ceiling and latency target.
    #[must_use]
    pub fn qos(&self) -> Qos {
        let ms = |ms: f64| Span::from_ns((ms * 1e6) as u64);
        Qos {
            floor: Rates { iops: self.min_iops, bytes_per_s: self.min_bps },
            ceiling: Rates { iops: self.max_iops, bytes_per_s: self.max_bps },
            burst: self.burst_ms.map_or(Qos::NONE.burst, |ms| Span::from_ms(u64::from(ms))),
            latency_p99: self.latency_p99_ms.map(ms),
        }
    }
}

/// A load: groups of tasks that run at once.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What the source calls it.
    pub label: String,
    /// How long a run of it lasts, if not as long as those of other rows.
    pub duration_s: Option<f64>,
    /// Its groups, if not those of the experiment.
    #[serde(default)]
    pub groups: Vec<Group>,
    /// Its tasks.
    pub tasks: Vec<Tasks>,
    /// What it changes about schedulers, each as `KEY=VALUE`, and about the disk, the machine or
    /// the volumes, each as `device.KEY=VALUE`, `host.KEY=VALUE` or `volume.KEY=VALUE`.
    #[serde(default)]
    pub set: Vec<String>,
}

impl Row {
    /// What it changes about schedulers, the disk, the machine and the volumes.
    ///
    /// # Errors
    /// The first change that is none: its number and why.
    pub fn overrides(&self) -> Result<Vec<Override>, (usize, String)> {
        set::read(&self.set, "a row", &set::OF_ROW)
    }

    /// The names of its tasks that are reported by themselves.
    pub fn task_names(&self) -> impl Iterator<Item = &str> {
        self.tasks.iter().filter_map(|tasks| tasks.name.as_deref())
    }
}

/// A scheduler and how it is used.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// What results call it.
    pub name: String,
    /// The scheduler: an id of the catalogue or the path of a `.toml` file.
    pub scheduler: String,
    /// Whether tasks have their `ionice` levels.
    #[serde(default)]
    pub ionice: bool,
    /// The priorities of the row's groups under this arm, in their order, instead of their own:
    /// for a scheduler that counts them otherwise.
    pub priorities: Option<Vec<u8>>,
    /// Its disk, if not the experiment's.
    pub device: Option<String>,
    /// Its machine, if not the experiment's.
    pub host: Option<String>,
    /// What it changes about the scheduler, each as `KEY=VALUE`, and about the disk or the machine,
    /// each as `device.KEY=VALUE` or `host.KEY=VALUE`.
    #[serde(default)]
    pub set: Vec<String>,
}

impl Arm {
    /// A scheduler as it is.
    pub(crate) const fn new(name: String, scheduler: String) -> Self {
        Self {
            name,
            scheduler,
            ionice: false,
            priorities: None,
            device: None,
            host: None,
            set: Vec::new(),
        }
    }

    /// Whether it has a disk or a machine of its own where this is changed.
    pub(crate) fn has_own_rig(&self, changes: &[Override]) -> bool {
        let is_of_rig = |change: &Override| ["device", "host"].contains(&change.scope());
        self.device.is_some() || self.host.is_some() || changes.iter().any(is_of_rig)
    }

    /// What it changes about the scheduler, the disk and the machine.
    ///
    /// # Errors
    /// The first change that is none: its number and why.
    pub fn overrides(&self) -> Result<Vec<Override>, (usize, String)> {
        set::read(&self.set, "an arm", &set::OF_ARM)
    }
}

impl Experiment {
    /// Reads an experiment file and checks that everything it names exists.
    ///
    /// # Errors
    /// The first thing wrong with it.
    pub fn parse(document: &Document) -> Result<Self, CatalogError> {
        let source = Source::of(document);
        let mut experiment: Self = source.parse()?;
        let of_arms = experiment.arms.iter_mut().flat_map(|arm| {
            let own = [&mut arm.device, &mut arm.host].into_iter().flatten();
            own.chain([&mut arm.scheduler])
        });
        for name in [&mut experiment.device, &mut experiment.host].into_iter().chain(of_arms) {
            *name = beside(&document.path, name);
        }
        let checked = check::check(&experiment, &document.id)
            .and_then(|()| check::check_rows_set(&experiment, document));
        checked.map_err(|wrong| source.wrong(wrong))?;
        Ok(experiment)
    }

    /// The experiment as it is for a row that changes something about the volumes.
    ///
    /// # Errors
    /// What of `changes` cannot be.
    pub(crate) fn parse_for_row(
        document: &Document,
        row: usize,
        changes: &[Override],
    ) -> Result<Self, CatalogError> {
        let parse = |document: &Document| {
            let source = Source::of(document);
            let whole: Self = source.parse()?;
            let checked = check::check(&whole.of_row(row), &document.id);
            checked.map_err(|wrong| source.wrong(wrong))?;
            Ok(whole)
        };
        read(document, &["experiment", "volume"], changes, parse)
    }

    /// The same with one of its rows alone.
    fn of_row(&self, at: usize) -> Self {
        let mut one = self.clone();
        one.rows = vec![self.rows[at].clone()];
        let label = &one.rows[0].label;
        one.published.retain(|published| published.row == *label);
        one.published_changes.retain(|change| change.row == *label);
        one
    }

    /// The groups of a row.
    #[must_use]
    pub fn groups_of<'a>(&'a self, row: &'a Row) -> &'a [Group] {
        if row.groups.is_empty() { &self.groups } else { &row.groups }
    }

    /// What the source prints for a row under an arm.
    #[must_use]
    pub fn published(&self, arm: &str, row: &str) -> Option<&Published> {
        self.published.iter().find(|published| published.arm == arm && published.row == row)
    }

    /// How long a run of the row lasts, if not until its tasks are done.
    #[must_use]
    pub fn duration_s(&self, row: &Row) -> Option<f64> {
        row.duration_s.or(self.duration_s)
    }
}
