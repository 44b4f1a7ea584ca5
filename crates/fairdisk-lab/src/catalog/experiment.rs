//! Experiment files: `catalog/experiments/<id>.toml`. They say what was measured, on what, and with
//! what result according to the source; never what the lab measures.

mod check;
mod estimate;
mod event;
mod memory_figure;
mod published;
mod quantity;
mod set;
mod tasks;

pub use estimate::Estimate;
pub use event::{Deed, Event};
pub use memory_figure::MemoryFigure;
pub use published::{Bound, Over, Published, PublishedChange};
pub use quantity::{DiskFigure, Ios, Measure, Quantity, Subject};
pub use tasks::{Defaults, OpMix, Task, TaskAdvice, TaskOrder, TaskStream, Tasks};

use super::error::CatalogError;
use super::library::{Document, beside};
use super::overrides::{Override, of_name, read};
use super::source::Source;
use fairdisk_core::{Qos, Rates, Span, Weight};
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer};
use std::num::NonZeroU64;

/// An experiment file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The experiment's id in the catalogue.
    pub id: String,
    /// One line for lists.
    pub title: String,
    /// The question that the experiment answers.
    #[serde(default)]
    pub question: String,
    /// Who measured it, and where it is published.
    #[serde(default)]
    pub source: String,
    /// The device: an id of the catalogue or the path of a `.toml` file.
    pub device: String,
    /// The host: an id of the catalogue or the path of a `.toml` file.
    pub host: String,
    /// The length of a run in seconds; `None` if it lasts until its tasks are done.
    pub duration_s: Option<f64>,
    /// Time at the start of a run, in seconds, that is not counted.
    #[serde(default)]
    pub ramp_s: f64,
    /// Whether a run lasts until all of its tasks, or the first of them, are done.
    pub until: Option<Until>,
    /// The number of runs in an ensemble; 5 if not given.
    pub seeds: Option<u32>,
    /// What to know before reading the figures.
    #[serde(default)]
    pub caveats: Vec<String>,
    /// Causes of a difference from the source's figures that were examined and excluded.
    #[serde(default)]
    pub excluded: Vec<String>,
    /// The file systems and partitions.
    #[serde(default, rename = "volume")]
    pub volumes: Vec<Volume>,
    /// Values for tasks that do not set their own.
    #[serde(default)]
    pub defaults: Defaults,
    /// The groups of rows that do not have their own.
    #[serde(default, rename = "group")]
    pub groups: Vec<Group>,
    /// The rows: one load each.
    #[serde(rename = "row")]
    pub rows: Vec<Row>,
    /// The arms: one scheduler each. Without any, an option must name schedulers.
    #[serde(default, rename = "arm")]
    pub arms: Vec<Arm>,
    /// The figures that the source gives.
    #[serde(default)]
    pub published: Vec<Published>,
    /// The changes between arms that the source gives.
    #[serde(default, rename = "published_change")]
    pub published_changes: Vec<PublishedChange>,
    /// The shares that authors expected.
    #[serde(default, rename = "estimate")]
    pub estimates: Vec<Estimate>,
}

/// When a run without a duration ends.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Until {
    /// When all of its tasks are done.
    Done,
    /// When the first of its tasks is done.
    First,
}

/// What manages a volume.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum VolumeType {
    /// Nothing: the partition is used directly.
    Raw,
    /// The file system ext2.
    Ext2,
    /// The file system ext3.
    Ext3,
}

/// A contiguous part of the disk.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Volume {
    /// The name by which tasks refer to the volume.
    pub name: String,
    /// What manages the volume.
    pub kind: VolumeType,
    /// The position at which the volume begins.
    #[serde(default)]
    pub start_gib: f64,
    /// The size of a raw volume.
    pub size_gib: Option<f64>,
    /// The number of files on an ext volume; they are contiguous, one after another.
    pub files: Option<u32>,
    /// The size of each file.
    pub file_mib: Option<u64>,
    /// Whether tasks get the files in random order instead of the order of the row.
    pub shuffled: Option<bool>,
    /// Whether indirect blocks are in memory when a run begins.
    pub cached: Option<bool>,
    /// Whether an ext3 volume has its journal; `false` shows the journal's effect.
    pub journal: Option<bool>,
}

/// An `ionice` class.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum IoniceClass {
    /// Served before all other classes.
    RealTime,
    /// The ordinary class.
    BestEffort,
    /// Served only when no other class wants the disk.
    Idle,
}

/// A group of an experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The group's name.
    pub name: String,
    /// The group's priority, 0 (high) to 7 (low).
    pub priority: Option<u8>,
    /// The group's weight, 1 to 10000, instead of a priority.
    #[serde(default, deserialize_with = "weight")]
    pub weight: Option<u32>,
    /// The group's weight on the scale of `blkio.weight`, 100 to 1000, instead of `weight`.
    pub blkio_weight: Option<u32>,
    /// The `ionice` level of the group's tasks, in arms that use levels.
    pub ionice: Option<u8>,
    /// The `ionice` class of the group's tasks, in arms that use levels.
    pub ionice_class: Option<IoniceClass>,
    /// The name of the parent group.
    pub parent: Option<String>,
    /// The group's floor in I/Os per second.
    pub min_iops: Option<NonZeroU64>,
    /// The group's floor in bytes per second.
    pub min_bps: Option<NonZeroU64>,
    /// The group's ceiling in I/Os per second.
    pub max_iops: Option<NonZeroU64>,
    /// The group's ceiling in bytes per second.
    pub max_bps: Option<NonZeroU64>,
    /// The group's ceiling in reads per second.
    pub max_read_iops: Option<NonZeroU64>,
    /// The group's ceiling in bytes read per second.
    pub max_read_bps: Option<NonZeroU64>,
    /// The group's ceiling in writes per second.
    pub max_write_iops: Option<NonZeroU64>,
    /// The group's ceiling in bytes written per second.
    pub max_write_bps: Option<NonZeroU64>,
    /// The rate of the group's bursts in I/Os per second.
    pub burst_iops: Option<NonZeroU64>,
    /// The rate of the group's bursts in bytes per second.
    pub burst_bps: Option<NonZeroU64>,
    /// How long a burst at a rate lasts, in seconds.
    pub burst_for: Option<u32>,
    /// How far the group may run ahead of its ceiling, in milliseconds.
    pub burst_ms: Option<u32>,
    /// The time within which 99 of 100 requests are to complete, in milliseconds.
    pub latency_p99_ms: Option<f64>,
    /// The time within which 99 of 100 flushes are to be answered, in milliseconds.
    pub fsync_p99_ms: Option<f64>,
}

impl Volume {
    /// The byte at which the volume begins; a multiple of 4096.
    #[must_use]
    pub fn start_bytes(&self) -> u64 {
        (self.start_gib * GIB) as u64 / 4096 * 4096
    }

    /// The size of each file in bytes; a raw volume counts as one file.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        match self.kind {
            VolumeType::Raw => (self.size_gib.unwrap_or(0.0) * GIB) as u64 / 4096 * 4096,
            VolumeType::Ext2 | VolumeType::Ext3 => self.file_mib.unwrap_or(0) << 20,
        }
    }
}

const GIB: f64 = (1u64 << 30) as f64;

/// Deserializes a weight, with an error message that names the allowed range.
fn weight<'de, D: Deserializer<'de>>(value: D) -> Result<Option<u32>, D::Error> {
    let weight = i64::deserialize(value)?;
    let expected = &"a whole number from 1 to 10000";
    let wrong = |_| D::Error::invalid_value(Unexpected::Signed(weight), expected);
    u32::try_from(weight).map(Some).map_err(wrong)
}

impl Group {
    /// The group's weight on either scale, if one is given.
    #[must_use]
    pub fn weight(&self) -> Option<u32> {
        self.weight.or(self.blkio_weight.map(|weight| weight / Weight::BLKIO_SCALE))
    }

    /// The group's floor, ceiling and targets.
    #[must_use]
    pub fn qos(&self) -> Qos {
        let ms = |ms: f64| Span::from_ns((ms * 1e6).round() as u64);
        Qos {
            floor: Rates { iops: self.min_iops, bytes_per_s: self.min_bps },
            ceiling: Rates { iops: self.max_iops, bytes_per_s: self.max_bps },
            read_ceiling: Rates { iops: self.max_read_iops, bytes_per_s: self.max_read_bps },
            write_ceiling: Rates { iops: self.max_write_iops, bytes_per_s: self.max_write_bps },
            peak: Rates { iops: self.burst_iops, bytes_per_s: self.burst_bps },
            peak_for: self.burst_for.map_or(Qos::NONE.peak_for, |s| Span::from_s(u64::from(s))),
            burst: self.burst_ms.map_or(Qos::NONE.burst, |ms| Span::from_ms(u64::from(ms))),
            latency_p99: self.latency_p99_ms.map(ms),
            fsync_p99: self.fsync_p99_ms.map(ms),
        }
    }
}

/// A load: groups of tasks that run concurrently.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The label of the row in the source.
    pub label: String,
    /// The length of a run in seconds, if different from other rows.
    pub duration_s: Option<f64>,
    /// The row's groups, if different from the experiment's.
    #[serde(default)]
    pub groups: Vec<Group>,
    /// The row's tasks.
    pub tasks: Vec<Tasks>,
    /// Changes to schedulers, each as `KEY=VALUE`, and to the device, the host or the volumes, each
    /// as `device.KEY=VALUE`, `host.KEY=VALUE` or `volume.KEY=VALUE`.
    #[serde(default)]
    pub set: Vec<String>,
    /// What somebody does while the row runs.
    #[serde(default)]
    pub events: Vec<Event>,
}

impl Row {
    /// The row's changes to schedulers, the device, the host and the volumes.
    ///
    /// # Errors
    /// Returns the index of the first malformed change, and what is wrong.
    pub fn overrides(&self) -> Result<Vec<Override>, (usize, String)> {
        set::read(&self.set, "a row", &set::OF_ROW)
    }

    /// The names of the tasks that are reported separately.
    pub fn task_names(&self) -> impl Iterator<Item = &str> {
        self.tasks.iter().filter_map(|tasks| tasks.name.as_deref())
    }
}

/// A scheduler, and how it is used.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// The arm's name in results.
    pub name: String,
    /// The scheduler: an id of the catalogue or the path of a `.toml` file.
    pub scheduler: String,
    /// Whether tasks use their `ionice` levels.
    #[serde(default)]
    pub ionice: bool,
    /// The priorities of the row's groups under this arm, in order, instead of the groups' own: for
    /// a scheduler that numbers priorities differently.
    pub priorities: Option<Vec<u8>>,
    /// The arm's device, if different from the experiment's.
    pub device: Option<String>,
    /// The arm's host, if different from the experiment's.
    pub host: Option<String>,
    /// Changes to the scheduler, each as `KEY=VALUE`, and to the device or the host, each as
    /// `device.KEY=VALUE` or `host.KEY=VALUE`.
    #[serde(default)]
    pub set: Vec<String>,
}

impl Arm {
    /// An arm for a scheduler as callers name it, and named like that: `NAME`, or with changes,
    /// `NAME[KEY=VALUE;KEY=VALUE]`.
    pub(crate) fn asked(text: &str) -> Self {
        let (scheduler, changes) = of_name(text);
        let set = changes.map(str::to_owned).collect();
        Self { set, ..Self::new(text.to_owned(), scheduler.to_owned()) }
    }

    /// An arm for an unchanged scheduler.
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

    /// Whether the arm, with these changes, has a device or a host of its own.
    pub(crate) fn has_own_rig(&self, changes: &[Override]) -> bool {
        let is_of_rig = |change: &Override| ["device", "host"].contains(&change.scope());
        self.device.is_some() || self.host.is_some() || changes.iter().any(is_of_rig)
    }

    /// The arm's changes to the scheduler, the device and the host.
    ///
    /// # Errors
    /// Returns the index of the first malformed change, and what is wrong.
    pub fn overrides(&self) -> Result<Vec<Override>, (usize, String)> {
        set::read(&self.set, "an arm", &set::OF_ARM)
    }
}

impl Experiment {
    /// Parses an experiment file and checks that everything it names exists.
    ///
    /// # Errors
    /// Returns the first fault of the file.
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
        let checked =
            check::check(&experiment).and_then(|()| check::check_rows_set(&experiment, document));
        checked.map_err(|wrong| source.wrong(wrong))?;
        experiment.id.clone_from(&document.id);
        Ok(experiment)
    }

    /// Parses the experiment for a row that changes something about the volumes.
    ///
    /// # Errors
    /// Returns the first of the `changes` that is not possible.
    pub(crate) fn parse_for_row(
        document: &Document,
        row: usize,
        changes: &[Override],
    ) -> Result<Self, CatalogError> {
        let parse = |document: &Document| {
            let source = Source::of(document);
            let whole: Self = source.parse()?;
            let checked = check::check(&whole.of_row(row));
            checked.map_err(|wrong| source.wrong(wrong))?;
            Ok(whole)
        };
        read(document, &["experiment", "volume", "tasks"], changes, parse)
    }

    /// The experiment with only the row of this index.
    fn of_row(&self, at: usize) -> Self {
        let mut one = self.clone();
        one.rows = vec![self.rows[at].clone()];
        let label = &one.rows[0].label;
        one.published.retain(|published| published.row == *label);
        one.published_changes.retain(|change| change.labels() == [label.as_str()]);
        one.estimates.retain(|estimate| estimate.is_about(&estimate.arm, label));
        one.estimates.iter_mut().for_each(|estimate| estimate.rows.clear());
        one
    }

    /// The groups of a row.
    #[must_use]
    pub fn groups_of<'a>(&'a self, row: &'a Row) -> &'a [Group] {
        if row.groups.is_empty() { &self.groups } else { &row.groups }
    }

    /// The figures that the source gives for a row under an arm.
    #[must_use]
    pub fn published(&self, arm: &str, row: &str) -> Option<&Published> {
        self.published.iter().find(|published| published.arm == arm && published.row == row)
    }

    /// The length of a run of the row in seconds; `None` if it lasts until its tasks are done.
    #[must_use]
    pub fn duration_s(&self, row: &Row) -> Option<f64> {
        row.duration_s.or(self.duration_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::QosKey;

    #[test]
    fn a_group_may_have_every_setting_of_the_quality_of_service() {
        for key in QosKey::ALL {
            let group: Group =
                toml::from_str(&format!("name = \"a\"\n{} = 2", key.name())).unwrap();
            assert_eq!(key.get(&group.qos()), Some(2 * key.notation().unit), "{key:?}");
        }
        let group: Group = toml::from_str("name = \"a\"\nlatency_p99_ms = 8.2").unwrap();
        assert_eq!(group.qos().latency_p99, Some(Span::from_us(8_200)), "no less by rounding");
    }
}
