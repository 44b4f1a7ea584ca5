//! Who runs when. In each round every load is run under each scheduler, which take turns, so that
//! they see the same minutes of a machine that others use; with every round another one begins.
//! What a job does alone is measured once a round under each scheduler, and commits just before
//! what they do beside others.

use super::figures::{Figures, Measure};
use super::lab::Lab;
use super::loads::{Job, Load, Work};
use super::mounts::Mounts;
use super::settings::{Scheduler, Settings, Storage};

/// What some jobs did beside each other.
pub(super) struct Run {
    pub(super) figures: Vec<Figures>,
    /// CPU seconds of the process that serves the mount, for each second.
    pub(super) cpu_s: Option<f64>,
}

/// A place where loads can run.
pub(super) trait Ground {
    /// Whether it knows this scheduler and this load.
    fn takes(&self, scheduler: &Scheduler, load: &Load) -> bool;
    fn open(&mut self, scheduler: &Scheduler, load: &Load) -> Result<(), String>;
    fn run(&mut self, jobs: &[&Job]) -> Result<Run, String>;
    fn close(&mut self) -> Result<(), String>;
    /// How much of the CPUs other programs took meanwhile, in percent, if that matters.
    fn others_percent(&self) -> Option<f64>;
}

/// A load under a scheduler, in one round.
pub(super) struct Sample {
    pub(super) alone: Vec<Figures>,
    pub(super) beside: Run,
}

/// A load under each scheduler, in all rounds.
pub(super) struct Measured {
    pub(super) load: Load,
    /// As many as there are schedulers; none of one that is not for this storage.
    pub(super) samples: Vec<Vec<Sample>>,
}

/// All of what was measured on one storage.
pub(super) struct Outcome {
    pub(super) storage: Storage,
    pub(super) schedulers: Vec<Scheduler>,
    pub(super) loads: Vec<Measured>,
    /// What could not be measured, and why.
    pub(super) failures: Vec<String>,
    pub(super) others_percent: Option<f64>,
}

/// What works do alone under each scheduler, in one round. Commits are always measured anew, since
/// how long a disk takes to make them durable changes within a minute.
#[derive(Default)]
struct Alone(Vec<(Scheduler, Work, Figures)>);

impl Alone {
    fn known(&self, scheduler: &Scheduler, work: &Work) -> Option<Figures> {
        let is_it = |entry: &&(Scheduler, Work, Figures)| entry.0 == *scheduler && entry.1 == *work;
        self.0.iter().find(is_it).map(|entry| entry.2.clone())
    }

    fn of(
        &mut self,
        scheduler: &Scheduler,
        job: &Job,
        ground: &mut dyn Ground,
    ) -> Result<Figures, String> {
        // Nobody is held back alone, so that a rule more or less changes nothing.
        let scheduler = &scheduler.with_all_rules();
        if let Some(known) = self.known(scheduler, &job.work) {
            return Ok(known);
        }
        let figures = ground.run(&[job])?.figures.remove(0);
        if matches!(job.work.measure(), Measure::Commits { .. }) {
            return Ok(figures);
        }
        self.0.push((*scheduler, job.work.clone(), figures.clone()));
        Ok(figures)
    }
}

fn sample(
    scheduler: &Scheduler,
    load: &Load,
    ground: &mut dyn Ground,
    alone: &mut Alone,
) -> Result<Sample, String> {
    let jobs: Vec<&Job> = load.jobs.iter().collect();
    let opened = ground.open(scheduler, load);
    let measured = opened.and_then(|()| {
        let beside = ground.run(&jobs)?;
        let alone = match jobs.as_slice() {
            [_] => beside.figures.clone(),
            all => {
                all.iter().map(|job| alone.of(scheduler, job, ground)).collect::<Result<_, _>>()?
            }
        };
        Ok(Sample { alone, beside })
    });
    // What was opened is closed, whatever happened.
    let closed = ground.close();
    measured.and_then(|sample| closed.map(|()| sample))
}

/// Runs all loads that are asked for on a storage.
pub(super) fn take(storage: &Storage, settings: &Settings) -> Result<Outcome, String> {
    let mut ground: Box<dyn Ground> = match storage {
        Storage::Lab(device) => Box::new(Lab::new(device, settings.lengths)),
        Storage::Disk | Storage::Loop | Storage::Paced(_) => {
            Box::new(Mounts::new(*storage, settings)?)
        }
    };
    let known = |load: &&Load| settings.schedulers.iter().any(|one| ground.takes(one, load));
    let loads: Vec<Load> = settings.loads.iter().filter(known).cloned().collect();
    let takes = |one: &&Scheduler| loads.iter().any(|load| ground.takes(one, load));
    let schedulers: Vec<Scheduler> = settings.schedulers.iter().filter(takes).copied().collect();
    let samples = || schedulers.iter().map(|_| Vec::new()).collect();
    let mut measured: Vec<Measured> =
        loads.into_iter().map(|load| Measured { load, samples: samples() }).collect();
    // In the lab each round is like the first.
    let rounds = if matches!(storage, Storage::Lab(_)) { 1 } else { settings.lengths.rounds };
    let mut failures = Vec::new();
    for round in 0..rounds {
        let mut alone = Alone::default();
        for Measured { load, samples } in &mut measured {
            eprintln!("{}, round {} of {rounds}: {}", storage.name(), round + 1, load.name);
            for turn in 0..schedulers.len() {
                let at = (turn + round) % schedulers.len();
                let scheduler = &schedulers[at];
                if !ground.takes(scheduler, load) {
                    continue;
                }
                match sample(scheduler, load, ground.as_mut(), &mut alone) {
                    Ok(sample) => samples[at].push(sample),
                    Err(why) => {
                        failures.push(format!("{} under {}: {why}", load.name, scheduler.name));
                    }
                }
            }
        }
    }
    Ok(Outcome {
        storage: *storage,
        schedulers,
        loads: measured,
        failures,
        others_percent: ground.others_percent(),
    })
}
