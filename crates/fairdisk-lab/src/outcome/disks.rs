//! What the disks of a row did, as `iostat -x` prints it.

use super::table::digits;
use crate::catalog::experiment::{DiskFigure, Measure};
use crate::run::RunResult;
use fairdisk_core::DiskStats;
use serde_json::{Value, json};

/// What each disk did, all runs of a row together.
#[derive(Clone, Debug, Default)]
pub struct DisksOutcome(pub Vec<DiskStats>);

impl DisksOutcome {
    /// What the disks did in these runs.
    pub(super) fn of(runs: &[RunResult]) -> Self {
        let mut each: Vec<DiskStats> = Vec::new();
        for run in runs {
            for (at, disk) in run.disks.iter().enumerate() {
                match each.get_mut(at) {
                    Some(sum) => *sum = sum.with(disk),
                    None => each.push(*disk),
                }
            }
        }
        Self(each)
    }

    /// The headings of the columns.
    pub(super) fn head() -> impl Iterator<Item = &'static str> {
        ["disk"].into_iter().chain(DiskFigure::ALL.iter().map(|(_, name)| *name))
    }

    /// The columns of each disk; a `-` stands for what cannot be known.
    pub(super) fn columns(&self) -> impl Iterator<Item = Vec<String>> {
        self.0.iter().enumerate().map(|(at, disk)| {
            let figure = |(figure, _): &(DiskFigure, _)| {
                figure.of(disk).map_or_else(|| "-".to_owned(), digits)
            };
            [at.to_string()].into_iter().chain(DiskFigure::ALL.iter().map(figure)).collect()
        })
    }

    /// The lines of a table.
    pub(super) fn lines(&self) -> Vec<String> {
        const WIDTH: usize = 8;
        let line = |columns: Vec<String>| {
            let columns = columns.iter().map(|column| format!("  {column:>WIDTH$}"));
            columns.collect::<String>()
        };
        let head = Self::head().map(str::to_owned).collect();
        [head].into_iter().chain(self.columns()).map(line).collect()
    }

    /// As JSON: one object for each disk, by the names of the figures.
    pub(super) fn json(&self) -> Value {
        let figure = |disk: &DiskStats, figure: DiskFigure| {
            let key = Measure::Disk(figure).key();
            (key.strip_prefix("disk_").unwrap_or(key).to_owned(), json!(figure.of(disk)))
        };
        let disk = |disk: &DiskStats| -> Value {
            DiskFigure::ALL.iter().map(|(it, _)| figure(disk, *it)).collect()
        };
        self.0.iter().map(disk).collect()
    }
}
