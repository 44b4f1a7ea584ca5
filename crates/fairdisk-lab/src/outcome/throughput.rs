//! The throughput of processes as iozone reports it, so that an old report can be laid beside it.

use super::split::mean_or_regimes;
use super::{Series, part};
use crate::plan::{Children, Load};
use crate::run::{Ensemble, TaskRun};
use crate::seconds::in_seconds;
use schemars::JsonSchema;
use serde::Serialize;

/// The throughput of the processes of a test, in units of 1024 bytes a second. Means over the runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Throughput {
    /// The name of the processes in iozone's report.
    pub name: &'static str,
    /// The number of processes.
    pub processes: usize,
    /// The sum of what each process sees.
    pub children_kb_per_s: Series,
    /// What all processes did, over the time until the last of them ended.
    pub parent_kb_per_s: f64,
    /// The slowest process.
    pub min_kb_per_s: f64,
    /// The fastest process.
    pub max_kb_per_s: f64,
    /// The mean process.
    pub avg_kb_per_s: f64,
    /// The least that a process did, in units of 1024 bytes.
    pub min_xfer_kb: f64,
    /// What each process did, where the command asks for it.
    pub each: Vec<Child>,
}

/// What a process did, in units of 1024 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Child {
    /// How much.
    pub xfer_kb: f64,
    /// How much a second.
    pub kb_per_s: f64,
}

/// iozone calls 1024 bytes a kB.
const KB: f64 = 1024.0;

impl Throughput {
    /// The tests of iozone that a load consists of, if it does.
    pub(super) fn all(load: &dyn Load, ensemble: &Ensemble) -> Vec<Self> {
        load.children().iter().map(|children| Self::of(children, ensemble)).collect()
    }

    fn of(children: &Children, ensemble: &Ensemble) -> Self {
        let runs: Vec<Self> = ensemble
            .runs
            .iter()
            .filter_map(|run| run.tasks.get(children.lines.clone()))
            .map(|tasks| Self::of_run(children, tasks))
            .collect();
        let mean =
            |value: fn(&Self) -> f64| part(runs.iter().map(value).sum::<f64>(), runs.len() as f64);
        Self {
            name: children.name,
            processes: children.lines.len(),
            children_kb_per_s: Series::of(
                runs.iter().map(|run| run.children_kb_per_s.mean).collect(),
            ),
            parent_kb_per_s: mean(|run| run.parent_kb_per_s),
            min_kb_per_s: mean(|run| run.min_kb_per_s),
            max_kb_per_s: mean(|run| run.max_kb_per_s),
            avg_kb_per_s: mean(|run| run.avg_kb_per_s),
            min_xfer_kb: mean(|run| run.min_xfer_kb),
            each: Child::means(&runs),
        }
    }

    fn of_run(children: &Children, tasks: &[TaskRun]) -> Self {
        let kb = |task: &TaskRun| task.bytes as f64 / KB;
        let child = |task: &TaskRun| Child {
            xfer_kb: kb(task),
            kb_per_s: part(kb(task), in_seconds(task.elapsed)),
        };
        let each: Vec<Child> = tasks.iter().map(child).collect();
        let rates: Vec<f64> = each.iter().map(|child| child.kb_per_s).collect();
        let least = |values: &mut dyn Iterator<Item = f64>| values.reduce(f64::min).unwrap_or(0.0);
        // The processes of a test start together.
        let last = tasks.iter().map(|task| task.elapsed).max().unwrap_or_default();
        let sum: f64 = rates.iter().sum();
        Self {
            name: children.name,
            processes: tasks.len(),
            children_kb_per_s: Series::of_mean(sum),
            parent_kb_per_s: part(tasks.iter().map(kb).sum(), in_seconds(last)),
            min_kb_per_s: least(&mut rates.iter().copied()),
            max_kb_per_s: rates.iter().copied().fold(0.0, f64::max),
            avg_kb_per_s: part(sum, rates.len() as f64),
            min_xfer_kb: least(&mut tasks.iter().map(kb)),
            each: if children.each { each } else { Vec::new() },
        }
    }

    /// The lines of iozone's report.
    pub(super) fn lines(&self) -> Vec<String> {
        let Self { name, processes, .. } = self;
        let number = |rate: f64| format!("{rate:.2}");
        let children = mean_or_regimes(&self.children_kb_per_s, number);
        let rates = [
            (format!("Children see throughput for {processes:2} {name}"), children),
            (
                format!("Parent sees throughput for {processes:2} {name}"),
                number(self.parent_kb_per_s),
            ),
            ("Min throughput per process".to_owned(), number(self.min_kb_per_s)),
            ("Max throughput per process".to_owned(), number(self.max_kb_per_s)),
            ("Avg throughput per process".to_owned(), number(self.avg_kb_per_s)),
        ];
        let line = |(what, rate): (String, String)| format!("{what:<56} = {rate:>11} kB/sec");
        let least = format!("{:<56} = {:>11.2} kB", "Min xfer", self.min_xfer_kb);
        let child = |(at, child): (usize, &Child)| {
            let Child { xfer_kb, kb_per_s } = child;
            format!(
                "Child[{at}] xfer count = {xfer_kb:>10.2} kB, Throughput = {kb_per_s:>10.2} kB/sec"
            )
        };
        let each = self.each.iter().enumerate().map(child);
        rates.into_iter().map(line).chain([least]).chain(each).collect()
    }
}

impl Child {
    /// The mean of each process over the runs of a test.
    fn means(runs: &[Throughput]) -> Vec<Self> {
        let processes = runs.first().map_or(0, |run| run.each.len());
        let mean = |at: usize, value: fn(&Self) -> f64| {
            runs.iter().map(|run| value(&run.each[at])).sum::<f64>() / runs.len() as f64
        };
        let child = |at| Self {
            xfer_kb: mean(at, |child| child.xfer_kb),
            kb_per_s: mean(at, |child| child.kb_per_s),
        };
        (0..processes).map(child).collect()
    }
}
