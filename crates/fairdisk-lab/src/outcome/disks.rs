//! What the disks of a row did, as `iostat -x` prints it.

use super::table::digits;
use crate::catalog::experiment::{DiskFigure, Measure};
use crate::results::Figures;
use crate::run::RunResult;
use fairdisk_core::DiskStats;

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

    /// A figure of all disks together, if there are several: what is counted each second, and the
    /// queues, are sums; the others are means.
    fn together(&self, figure: DiskFigure) -> Option<f64> {
        let sum = self.0.iter().copied().reduce(|one, other| one.with(&other))?;
        let times = if figure.is_mean() { 1.0 } else { self.0.len() as f64 };
        figure.of(&sum).map(|mean| mean * times)
    }

    const fn are_several(&self) -> bool {
        self.0.len() > 1
    }

    /// The columns of each disk, and of all if there are several; a `-` stands for what cannot be
    /// known.
    pub(super) fn columns(&self) -> impl Iterator<Item = Vec<String>> {
        let columns = |name: String, of: &dyn Fn(DiskFigure) -> Option<f64>| -> Vec<String> {
            let words =
                |(figure, _): &(DiskFigure, _)| of(*figure).map_or_else(|| "-".to_owned(), digits);
            [name].into_iter().chain(DiskFigure::ALL.iter().map(words)).collect()
        };
        let all = self.are_several();
        let all = all.then(|| columns("all".to_owned(), &|figure| self.together(figure)));
        let each = self.0.iter().enumerate();
        each.map(move |(at, disk)| columns(at.to_string(), &|figure| figure.of(disk))).chain(all)
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

    /// The figures of each disk, by their names.
    pub(super) fn each(&self) -> Vec<Figures> {
        self.0.iter().map(|disk| by_name(&|figure| figure.of(disk))).collect()
    }

    /// Those of all disks together, if there are several.
    pub(super) fn all(&self) -> Option<Figures> {
        self.are_several().then(|| by_name(&|figure| self.together(figure)))
    }
}

fn by_name(of: &dyn Fn(DiskFigure) -> Option<f64>) -> Figures {
    let figure = |(figure, _): &(DiskFigure, _)| {
        let key = Measure::Disk(*figure).key();
        (key.strip_prefix("disk_").unwrap_or(&key).to_owned(), of(*figure))
    };
    DiskFigure::ALL.iter().map(figure).collect()
}
