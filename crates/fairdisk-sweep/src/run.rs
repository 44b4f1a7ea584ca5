//! Sweeps: what there is to run, running it, and laying out what came of it.

use crate::definition::{Definition, SweepError};
use crate::design::{Point, Setting, label};
use crate::record::{Record, empty, of_run};
use crate::store::Store;
use fairdisk_lab::plan::{Obstacle, Plan};
use fairdisk_lab::run::{Progress, Silent, run_once};
use fairdisk_lab::spec;
use fairdisk_lab::threads::{on_cores, on_up_to};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::io;
use std::num::NonZero;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// So many cells of a point are planned together, at least: a plan takes as long as short runs.
const PLANNED_TOGETHER: usize = 16;
/// Each thread gets so many portions, at least, so that none waits long for the last.
const PORTIONS_EACH: usize = 8;

/// A sweep: its definition and its points. Its cells are numbered: all seeds of the first point,
/// then of the second.
#[derive(Clone, Debug)]
pub struct Sweep {
    definition: Definition,
    points: Vec<Point>,
    seeds: Vec<u32>,
}

/// Which part of the cells a program runs: every `of`-th from `number` on, which counts from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    of: usize,
}

impl Shard {
    /// All cells.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// Parses `3/16`.
    ///
    /// # Errors
    /// Returns what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(number, of)| {
            Some(Self { number: number.trim().parse().ok()?, of: of.trim().parse().ok()? })
        });
        let known = parts.filter(|it| (1..=it.of).contains(&it.number));
        known.ok_or_else(|| format!("`{text}`: expected a part and how many there are, as 3/16"))
    }
}

/// What came of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The number of the cell.
    pub cell: usize,
    /// The digest of all that determines it; `None` if the point cannot be planned, which is not
    /// kept.
    pub key: Option<String>,
    /// Its records, as JSON.
    pub text: String,
    /// Whether it was in the store already.
    pub known: bool,
}

/// A record and the point it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was changed in the point.
    pub point: Point,
    /// The record.
    pub record: Record,
}

impl Sweep {
    /// The sweep of a definition.
    ///
    /// # Errors
    /// Returns what is wrong with a key, its values or the number of points or seeds.
    pub fn new(definition: Definition) -> Result<Self, SweepError> {
        let points = definition.points()?;
        let seeds = definition.seeds.all();
        Ok(Self { definition, points, seeds })
    }

    /// The number of cells.
    #[must_use]
    pub const fn cells(&self) -> usize {
        self.points.len() * self.seeds.len()
    }

    /// The numbers of the cells of a shard.
    #[must_use]
    pub fn shard(&self, shard: Shard) -> Vec<usize> {
        (shard.number - 1..self.cells()).step_by(shard.of).collect()
    }

    /// The digest of each of these cells, under which it is kept; `None` for one that cannot be
    /// planned. Setting `stop` ends early.
    #[must_use]
    pub fn keys(&self, cells: &[usize], stop: &AtomicBool) -> Vec<Option<String>> {
        let jobs = self.jobs(cells, usize::MAX);
        let keys = on_cores(
            &jobs,
            |_| String::new(),
            &Silent,
            stop,
            |job| {
                let identity =
                    self.definition.plan(&self.points[job.point]).ok().map(|it| it.identity());
                let key = |cell: &usize| Some(key(identity.as_deref()?, self.seed(*cell)));
                job.cells.iter().map(key).collect::<Vec<_>>()
            },
        );
        jobs.iter()
            .zip(keys)
            .flat_map(|(job, keys)| keys.unwrap_or_else(|| vec![None; job.cells.len()]))
            .collect()
    }

    /// Runs these cells on up to `threads` threads, or takes them from the store, which is given
    /// what is new. Setting `stop` ends early with what is known by then. An error in a point is a
    /// record of its cells.
    ///
    /// # Errors
    /// The store cannot be read or written; this sets `stop`, too.
    pub fn run(
        &self,
        cells: &[usize],
        store: &dyn Store,
        threads: NonZero<usize>,
        progress: &dyn Progress,
        stop: &AtomicBool,
    ) -> io::Result<Vec<Done>> {
        let most = match threads.get() {
            1 => usize::MAX,
            threads => (cells.len() / (threads * PORTIONS_EACH)).max(PLANNED_TOGETHER),
        };
        let jobs = self.jobs(cells, most);
        let (done, all) = (AtomicUsize::new(0), cells.len());
        let failed = OnceLock::new();
        let tell = || progress.done(done.fetch_add(1, Ordering::Relaxed) + 1, all);
        let results = on_up_to(
            threads,
            &jobs,
            |_| String::new(),
            &Silent,
            stop,
            |job| {
                progress.begins(&label(&self.points[job.point]));
                self.portion(job, store, &tell, stop).unwrap_or_else(|error| {
                    stop.store(true, Ordering::Relaxed);
                    // The first error is told.
                    let _ = failed.set(error);
                    Vec::new()
                })
            },
        );
        match failed.into_inner() {
            Some(error) => Err(error),
            None => Ok(results.into_iter().flatten().flatten().collect()),
        }
    }

    /// The cells of a portion, until it is stopped.
    fn portion(
        &self,
        job: &Portion,
        store: &dyn Store,
        tell: &dyn Fn(),
        stop: &AtomicBool,
    ) -> io::Result<Vec<Done>> {
        let plan = self.definition.plan(&self.points[job.point]);
        let plan = plan.map(|plan| (plan.identity(), plan));
        let mut results = Vec::new();
        for &cell in &job.cells {
            let result = match &plan {
                Ok((identity, plan)) => {
                    self.cell(cell, plan, &key(identity, self.seed(cell)), store, stop)?
                }
                Err(error) => Some(self.refused(cell, &error.message)),
            };
            let Some(result) = result else { break };
            results.push(result);
            tell();
        }
        Ok(results)
    }

    /// A cell from the store, or run; `None` if it was stopped.
    fn cell(
        &self,
        cell: usize,
        plan: &Plan,
        key: &str,
        store: &dyn Store,
        stop: &AtomicBool,
    ) -> io::Result<Option<Done>> {
        let done = |text, known| Some(Done { cell, key: Some(key.to_owned()), text, known });
        // A text that was damaged is written again.
        if let Some(text) = store.get(key)?.filter(|text| is_complete(text)) {
            return Ok(done(text, true));
        }
        let mut records = Vec::new();
        for arm in 0..plan.arms.len() {
            for row in 0..plan.rows.len() {
                let (arm, row) = plan.cell(arm, row);
                let seed = self.seed(cell);
                match run_once(plan, arm, row, seed, stop) {
                    Ok(run) => records.extend(of_run(plan, (arm, row), seed, &run)),
                    Err(Obstacle::Load(reason) | Obstacle::Refusal { reason, .. }) => {
                        let error = Some(reason);
                        records.push(Record { error, ..empty(plan, arm, row, seed) });
                    }
                }
            }
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let text = to_text(&records);
        store.put(key, &text)?;
        Ok(done(text, false))
    }

    /// A cell whose point cannot be planned.
    fn refused(&self, cell: usize, message: &str) -> Done {
        let point = &self.points[cell / self.seeds.len()];
        let chosen = |what: &str| {
            let found = point.iter().find(|it| it.key == what).map(|it| it.value.clone());
            found.unwrap_or_default()
        };
        let record = Record {
            experiment: String::new(),
            arm: chosen("arm"),
            scheduler: chosen("scheduler"),
            device: chosen("device"),
            row: chosen("row"),
            seed: self.seed(cell),
            error: Some(message.to_owned()),
            figures: None,
        };
        Done { cell, key: None, text: to_text(&[record]), known: false }
    }

    /// Lays out what came of cells: a row for each group of each run, in the order of cells.
    ///
    /// # Errors
    /// A text is not that of a cell.
    pub fn rows(&self, done: &[(usize, &str)]) -> Result<Vec<Row>, String> {
        let mut sorted: Vec<&(usize, &str)> = done.iter().collect();
        sorted.sort_by_key(|(cell, _)| *cell);
        let mut rows = Vec::new();
        let experiment = spec::id(&self.definition.spec);
        for (cell, text) in sorted {
            let records =
                of_text(text).map_err(|it| format!("cell {cell}: it holds no records: {it}"))?;
            let point = self.points.get(cell / self.seeds.len()).cloned().unwrap_or_default();
            // What the record says itself is not told twice.
            let own = |it: &Setting| !["scheduler", "device", "arm", "row"].contains(&&*it.key);
            let point: Point = point.into_iter().filter(own).collect();
            rows.extend(records.into_iter().map(|record| Row {
                point: point.clone(),
                record: Record { experiment: experiment.clone(), ..record },
            }));
        }
        Ok(rows)
    }

    const fn seed_at(&self, cell: usize) -> usize {
        cell % self.seeds.len()
    }

    fn seed(&self, cell: usize) -> u32 {
        self.seeds[self.seed_at(cell)]
    }

    /// The cells in portions of up to `most` that have a plan in common.
    fn jobs(&self, cells: &[usize], most: usize) -> Vec<Portion> {
        let mut portions: Vec<Portion> = Vec::new();
        for &cell in cells.iter().filter(|cell| **cell < self.cells()) {
            let point = cell / self.seeds.len();
            match portions.last_mut() {
                Some(last) if last.point == point && last.cells.len() < most => {
                    last.cells.push(cell);
                }
                _ => portions.push(Portion { point, cells: vec![cell] }),
            }
        }
        portions
    }
}

/// Cells of one point.
struct Portion {
    point: usize,
    cells: Vec<usize>,
}

fn to_text(records: &[Record]) -> String {
    serde_json::to_string(records).unwrap_or_else(|_| "[]".to_owned())
}

fn of_text(text: &str) -> serde_json::Result<Vec<Record>> {
    serde_json::from_str(text)
}

/// Whether a store's text is all of a cell's records, and not a part that something else left.
#[must_use]
pub fn is_complete(text: &str) -> bool {
    of_text(text).is_ok()
}

/// The digest of a run: the program, the plan and the seed.
fn key(identity: &str, seed: u32) -> String {
    let program = concat!(env!("CARGO_PKG_VERSION"), " ", env!("FAIRDISK_SOURCES"));
    let digest = Sha256::digest(format!("{program}\n{seed}\n{identity}"));
    digest.iter().take(16).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Nothing;
    use fairdisk_lab::threads::cores;

    fn sweep(definition: &str) -> Sweep {
        let definition = Definition::parse("x.toml", definition).expect("it is well-formed");
        Sweep::new(definition).expect("it is right")
    }

    /// The key of the first run of a definition.
    fn key_of(definition: &str) -> String {
        let keys = sweep(definition).keys(&[0], &AtomicBool::new(false));
        keys.into_iter().flatten().next().expect("it can be planned")
    }

    #[test]
    fn a_key_is_that_of_all_that_counts_and_not_of_the_name_of_a_file() {
        let job = |file: &str, name: &str| {
            let text = format!("[{name}]\\nrw=read\\nsize=1m\\n");
            key_of(&format!("spec = \"{file}\"\ntext = \"{text}\"\n"))
        };
        assert_eq!(job("x.fio", "x.fio"), job("y.fio", "x.fio"));
        assert_ne!(job("x.fio", "x.fio"), job("y.fio", "y.fio"));
    }

    #[test]
    fn a_record_has_the_name_of_the_load_and_the_priorities_of_the_arm() {
        let sweep =
            sweep("spec = \"ryo-2008-04-25\"\nduration_s = 0.1\n[over]\narm = [\"group-layer\"]");
        let stop = AtomicBool::new(false);
        let done = sweep.run(&[0], &Nothing, cores(), &Silent, &stop).expect("nothing is kept");
        let rows = sweep.rows(&[(0, &done[0].text)]).expect("it was just written");
        let records: Vec<&Record> = rows.iter().map(|row| &row.record).collect();
        assert!(records.iter().all(|record| record.experiment == "ryo-2008-04-25"));
        let priority = |record: &&Record| record.figures.as_ref().and_then(|it| it.priority);
        let priorities: Vec<Option<u8>> = records.iter().map(priority).take(3).collect();
        assert_eq!(priorities, [Some(7), Some(4), Some(0)], "{records:?}");
    }

    /// A store without room.
    #[derive(Default)]
    struct Full {
        tried: AtomicUsize,
    }

    impl Store for Full {
        fn get(&self, _key: &str) -> io::Result<Option<String>> {
            Ok(Some("[{\"arm\": \"fa".to_owned()))
        }

        fn put(&self, _key: &str, _text: &str) -> io::Result<()> {
            self.tried.fetch_add(1, Ordering::Relaxed);
            Err(io::Error::from(io::ErrorKind::StorageFull))
        }
    }

    #[test]
    fn an_error_of_the_store_ends_a_sweep_at_once() {
        let sweep = sweep("spec = \"two-groups\"\nseeds = 500\nduration_s = 0.01");
        let (store, stop) = (Full::default(), AtomicBool::new(false));
        let ended = sweep.run(&sweep.shard(Shard::WHOLE), &store, cores(), &Silent, &stop);
        assert_eq!(ended.expect_err("there is no room").kind(), io::ErrorKind::StorageFull);
        // What others do at that time they try to keep, and then they end, too.
        assert!((1..=cores().get()).contains(&store.tried.into_inner()));
    }
}
