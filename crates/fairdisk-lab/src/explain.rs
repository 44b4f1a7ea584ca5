//! Why a request of a lab run had to wait: the run is simulated again, and its journal is read as
//! it grows. Runs are deterministic, so the request is the same one.

mod found;
mod journey;
mod json;
mod run_name;
mod stall;
mod text;
mod wait;

pub use found::Listener;
pub use json::{LifeResults, SlowestResults};
pub use run_name::split;

use crate::catalog::error::unknown as unknown_name;
use crate::catalog::library::Kind;
use crate::plan::{GroupLabel, Obstacle, Options, Plan, Rig, Spec};
use crate::run::RUN_MAX;
use crate::spec::{self, SpecError};
use crate::time_text;
use fairdisk_core::{Instant, OpKind, Reporting as _};
use fairdisk_sim::World;
use found::{Life, Slowest};
use run_name::RunName;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};

/// The name of a run, its groups and the number of its tasks, by which a journal's ids are put into
/// words.
#[derive(Clone, Debug)]
pub struct Story {
    name: String,
    /// The disk, if there are several.
    disk: Option<u32>,
    groups: Vec<GroupLabel>,
    tasks: usize,
}

impl Story {
    /// The groups of the run, without the root group.
    #[must_use]
    pub fn groups(&self) -> &[GroupLabel] {
        &self.groups
    }
}

/// A run to tell again.
#[derive(Clone, Debug)]
pub struct Retold {
    /// Its load, by the name that the caller gave.
    pub spec: String,
    /// The load, planned with its arm and row, and with the journal kept.
    pub plan: Plan,
    /// The seed.
    pub seed: u32,
    /// Of a device with several disks, the one whose requests are meant.
    pub disk: Option<u32>,
}

/// What is told of a request, or of several.
#[derive(Clone, Debug)]
pub struct Answer {
    /// For people.
    pub text: String,
    /// For programs.
    pub json: Value,
}

/// Why nothing is told.
#[derive(Clone, Debug)]
pub enum Untold {
    /// There is no such run or request.
    Wrong(SpecError),
    /// The scheduler refuses the load.
    Refused(String),
    /// It was stopped; the text says how far it was.
    Stopped(String),
}

impl From<SpecError> for Untold {
    fn from(error: SpecError) -> Self {
        Self::Wrong(error)
    }
}

impl From<Obstacle> for Untold {
    fn from(obstacle: Obstacle) -> Self {
        match obstacle {
            Obstacle::Load(why) => Self::Wrong(SpecError::new(why)),
            Obstacle::Refusal { reason, .. } => Self::Refused(reason),
        }
    }
}

/// Told how many of how many seconds are simulated; all are 0 if that is not known.
pub type Tell<'a> = &'a dyn Fn(u64, u64);

impl Retold {
    /// The run called `run`, `SPEC[/ARM[/ROW[/SEED]]]`, changed by `options`.
    ///
    /// # Errors
    /// There is no such run, or the options are wrong.
    pub fn named(run: &str, options: Options, disk: Option<u32>) -> Result<Self, SpecError> {
        let (spec, rest) = split(run);
        let options = Options { seeds: Some(1), keep_journal: true, ..options };
        let (options, seed) = match rest {
            "" => (options, 0),
            rest => named(run, spec, rest, options)?,
        };
        Ok(Self { spec: spec.to_owned(), plan: spec::load(spec, &options)?, seed, disk })
    }

    /// The requests that took longest, `count` at most, of all operations or of one.
    ///
    /// # Errors
    /// As [`retell`](Self::retell).
    pub fn slowest(
        &self,
        count: usize,
        op: Option<OpKind>,
        tell: Tell<'_>,
        stop: &AtomicBool,
    ) -> Result<Answer, Untold> {
        let mut slowest = Slowest::new(count, op);
        let story = self.retell(tell, stop, &mut slowest)?;
        let (requests, list) = slowest.finish();
        Ok(Answer {
            text: text::slowest(&story, requests, &list),
            json: json::slowest(&story, requests, &list),
        })
    }

    /// The life of the request with this number, from 1 on.
    ///
    /// # Errors
    /// As [`retell`](Self::retell), or the run has no such request.
    pub fn life(&self, number: u64, tell: Tell<'_>, stop: &AtomicBool) -> Result<Answer, Untold> {
        let mut life = Life::new(number);
        let story = self.retell(tell, stop, &mut life)?;
        let (journey, wait) = life.finish().map_err(|count| unknown(&story, number, count))?;
        Ok(Answer {
            text: text::life(&story, &journey, &wait),
            json: json::life(&story, &journey, &wait),
        })
    }

    /// Simulates the first arm and row again and passes the journal of one disk to `listener`, to
    /// the end or until the listener wants no more. The story has a name that stands for the run.
    ///
    /// # Errors
    /// There is nothing to run, the disk is not there, the scheduler refuses the load, or it was
    /// stopped.
    pub fn retell(
        &self,
        tell: Tell<'_>,
        stop: &AtomicBool,
        listener: &mut impl Listener,
    ) -> Result<Story, Untold> {
        let Self { spec, plan, seed, .. } = self;
        let (Some(arm), Some(row)) = (plan.arms.first(), plan.rows.first()) else {
            return Err(SpecError::new(format!("{} has nothing to run", plan.id)).into());
        };
        let (arm, seed) = (row.arm(arm), *seed);
        let disk = which_disk(&arm.rig, self.disk)?;
        let disks = arm.rig.machines().find(|disks| disks.contains(&disk)).unwrap_or(0..1);
        // The number of the disk in its machine.
        let at = disk - disks.start;
        let setup = plan.setup_disks(arm, row, seed, disks)?;
        let mut world = World::new(setup.machine, setup.jbod);
        let length = row.duration.unwrap_or(RUN_MAX);
        let seconds = row.duration.map_or(0, |length| length.as_ns() / 1_000_000_000);
        let (mut next, end) = (Instant::ZERO, Instant::ZERO + length);
        let mut curious = true;
        while curious && next < end && !world.machine().is_done() {
            if stop.load(Ordering::Relaxed) {
                let simulated = time_text::words(next - Instant::ZERO);
                return Err(Untold::Stopped(format!(
                    "nothing to show yet after {simulated} of the run"
                )));
            }
            next = (next + listener.step()).min(end);
            world.run_until_done(next);
            let others = (0..world.machine().disks()).filter(|other| *other != at);
            others.for_each(|other| drop(world.machine_mut().drain_journal(other)));
            let moments = world.machine_mut().drain_stalls(at);
            moments.into_iter().for_each(|(at, task, step)| listener.stalled(at, task, step));
            curious = world.machine_mut().drain_journal(at).all(|entry| listener.enter(&entry));
            let elevator = world.machine().engine(at).elevator();
            listener.look(next, &|group| elevator.held_back(next, group));
            tell(next.as_ns() / 1_000_000_000, seconds);
        }
        Ok(Story {
            name: format!("{spec}/{}/{}/{seed}", arm.name, row.label),
            disk: self.disk,
            groups: setup.groups,
            tasks: world.machine().programs(at),
        })
    }
}

/// Adds to `options` the arm and the row that the name `run` ends with, in `rest` after `spec`;
/// returns them with its seed. An arm is one of the experiment, whose place the scheduler of an
/// option takes, or that of this scheduler.
fn named(
    run: &str,
    spec: &str,
    rest: &str,
    mut options: Options,
) -> Result<(Options, u32), SpecError> {
    let plan = spec::load(spec, &options)?;
    let names = |plan: Plan| plan.arms.into_iter().map(|arm| arm.name).collect::<Vec<_>>();
    let own = Options { schedulers: Vec::new(), overrides: Vec::new(), ..options.clone() };
    // An experiment may have no arms, or none that can be run; the option is enough then.
    let own = spec::load(spec, &own).map(names).unwrap_or_default();
    let rows: Vec<&str> = plan.rows.iter().map(|row| row.label.as_str()).collect();
    let mut arms: Vec<&str> = own.iter().map(String::as_str).collect();
    arms.extend(plan.arms.iter().map(|arm| arm.name.as_str()).filter(|arm| !is_in(arm, &own)));
    let name = RunName::parse(run, rest, &arms, &rows)?;
    for (what, name, known) in [("arm", &name.arm, &arms), ("row", &name.row, &rows)] {
        if let Some(name) = name.as_ref().filter(|name| !known.contains(&name.as_str())) {
            let message = unknown_name(what, name, known);
            let is_scheduler = what == "arm" && Kind::Revision.ids().any(|id| id == name);
            let hint = match is_scheduler && options.schedulers.is_empty() {
                true => format!("; to run that scheduler, add --scheduler {name}"),
                false => String::new(),
            };
            return Err(SpecError::new(format!("{run}: {message}{hint}")));
        }
    }
    // The jobs of a job file have one arm, whatever it is called.
    let arm = name.arm.filter(|arm| plan.spec == Spec::Experiment && is_in(arm, &own));
    options.arms.extend(arm);
    options.rows.extend(name.row);
    Ok((options, name.seed))
}

fn is_in(name: &str, names: &[String]) -> bool {
    names.iter().any(|one| one == name)
}

fn unknown(story: &Story, number: u64, count: u64) -> SpecError {
    SpecError::new(format!(
        "{} has no request {number}; its requests are numbered 1 to {count}, and --slowest 10 \
         shows the longest",
        story.name
    ))
}

/// The number of the disk whose requests are meant: the one that is asked for, or the only one.
fn which_disk(rig: &Rig, asked: Option<u32>) -> Result<u32, SpecError> {
    let (device, disks) = (&rig.device_id, rig.array.disks);
    match asked {
        Some(disk) if disk < disks => Ok(disk),
        Some(disk) => Err(SpecError::new(format!(
            "--disk {disk}: device `{device}` has {disks} disks; allowed: 0 to {}",
            disks - 1
        ))),
        None if disks == 1 => Ok(0),
        None => Err(SpecError::new(format!(
            "device `{device}` is {disks} disks, each with the same load; explain follows the \
             requests of one: say which with --disk 0 to {}, or add --set device.jbod=1",
            disks - 1
        ))),
    }
}
