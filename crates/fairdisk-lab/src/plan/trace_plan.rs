//! A trace as a plan.

use super::recorded::Recorded;
use super::replay::ReplayPace;
use super::setup::partition_sectors;
use super::trace_load::{TraceLoad, demand_agreement};
use super::{DEFAULT_SEEDS, Options, Plan, PlannedRow, Rig, Spec, changed::plan_arms, choose};
use crate::catalog::error::CatalogError;
use crate::catalog::experiment::Arm;
use crate::catalog::overrides::{Override, demand_none};
use fairdisk_core::Span;
use std::sync::Arc;

/// The device of a trace, which does not say what its device was like.
const DEFAULT_DEVICE: &str = "hdd-7200-2007";
/// The scheduler of a trace that does not name one.
const DEFAULT_SCHEDULER: &str = "two-layer-cfq";
/// The host of every trace.
const HOST: &str = "plain";
/// Where more than one request in ten has no end, it is not known what tasks waited for.
const ENDLESS_MOST: usize = 10;
/// The scopes that `--set` cannot change.
const NOT_IN_TRACES: [&str; 3] = ["experiment", "volume", "tasks"];
const USE_OPTIONS: &str = "a trace has no experiment, no volumes and no lines of tasks; use \
                           --seeds, --duration or options of its replay";
/// What a program needs between two requests is part of the recorded times.
const RECORDED_TIMES: [&str; 2] = ["host.turnaround_us=[0, 1]", "host.slot_wake_us=0"];

impl Plan {
    /// Plans the replay of the trace `name`.
    ///
    /// # Errors
    /// Returns an error if the trace cannot be read or has no request, an option names a group that
    /// it does not have, or a change concerns something that a trace does not have.
    pub fn trace(name: &str, options: &Options) -> Result<Self, CatalogError> {
        Self::recording(&Recorded::open(name, &options.replay)?, options)
    }

    /// Plans the replay of what was recorded.
    ///
    /// # Errors
    /// Returns an error if the scheduler or the device is not known, limits contradict each other,
    /// or a change concerns something that a trace does not have.
    pub fn recording(recorded: &Recorded, options: &Options) -> Result<Self, CatalogError> {
        demand_none(&NOT_IN_TRACES, &options.overrides, USE_OPTIONS)?;
        let replay = &options.replay;
        demand_agreement(recorded, replay)?;
        let name = &recorded.name;
        let requests = recorded.count(|_| true);
        let endless = recorded.count(|request| request.done.is_none());
        // A few ends are missing in most recordings.
        let has_ends = endless <= requests / ENDLESS_MOST;
        let by_trace = if has_ends { ReplayPace::ClosedLoop } else { ReplayPace::AsItCame };
        let pace = replay.pace.unwrap_or(by_trace);
        let device = options.device.as_deref().unwrap_or(DEFAULT_DEVICE);
        let recorded_times = RECORDED_TIMES.iter().filter_map(|text| Override::parse(text).ok());
        let recorded_queue = recorded_times.chain(recorded.queue());
        let overrides: Vec<Override> = recorded_queue.chain(options.overrides.clone()).collect();
        let rig = Arc::new(Rig::load(device, HOST, &overrides)?);
        let disk_bytes = partition_sectors(&rig.device, rig.array) * 512;
        let (load, is_folded) = TraceLoad::new(recorded, replay, pace, disk_bytes);
        let mut notes = notes(recorded, pace, (endless, requests), is_folded.then_some(device));
        if recorded.lost > 0 {
            notes.push(format!("The trace lacks {} requests.", recorded.lost));
        }
        let schedulers = match options.schedulers.as_slice() {
            [] => vec![recorded.scheduler().unwrap_or(DEFAULT_SCHEDULER).to_owned()],
            chosen => chosen.to_vec(),
        };
        let (tunables, refused) = recorded.tunables();
        notes.extend(
            refused.iter().map(|why| format!("A tunable of the recording is not replayed: {why}")),
        );
        let arms = schedulers.iter().map(|name| arm(name, recorded.scheduler(), &tunables));
        let arms: Vec<Arm> = arms.collect();
        let arms = plan_arms(&arms, options, &rig, None)?;
        let row = PlannedRow {
            label: "trace".to_owned(),
            load: Arc::new(load),
            duration: options.duration,
            events: Vec::new(),
            changes: Vec::new(),
            own_arms: Vec::new(),
        };
        Ok(Self {
            spec: Spec::Trace,
            id: name.clone(),
            title: format!("{requests} requests of a {} trace", recorded.format),
            question: String::new(),
            source: String::new(),
            caveats: notes,
            excluded: Vec::new(),
            rig,
            arms: choose("arm", &options.arms, arms, |arm| &arm.name)?,
            rows: choose("row", &options.rows, vec![row], |row: &PlannedRow| &row.label)?,
            ramp: Span::ZERO,
            seeds: options.seeds.unwrap_or(DEFAULT_SEEDS),
            keep_journal: options.keep_journal,
            published_changes: Vec::new(),
            estimates: Vec::new(),
            published: Vec::new(),
        })
    }
}

/// The arm of a scheduler as callers name it. The one of the recording has the `tunables` recorded,
/// but for those that the caller gives other values.
fn arm(asked: &str, recorded: Option<&str>, tunables: &[String]) -> Arm {
    let mut arm = Arm { ionice: true, ..Arm::asked(asked) };
    if recorded == Some(&arm.scheduler) {
        let key = |set: &str| set.split('=').next().unwrap_or_default().trim().to_owned();
        let own: Vec<String> = arm.set.iter().map(|set| key(set)).collect();
        let others = tunables.iter().filter(|set| !own.contains(&key(set)));
        arm.set.splice(..0, others.cloned());
    }
    arm
}

/// What to know before reading the figures: how many requests are `endless`, of how many, and which
/// device is too small for the trace, if it is.
fn notes(
    recorded: &Recorded,
    pace: ReplayPace,
    (endless, requests): (usize, usize),
    folded: Option<&str>,
) -> Vec<String> {
    let mut notes = vec![pace.says().to_owned()];
    if pace == ReplayPace::ClosedLoop && endless > 0 {
        notes.push(format!(
            "{endless} of {requests} requests have no end in the trace: no other waits for those."
        ));
    }
    if recorded.buffered() > 0 {
        let words = "Requests that went through a page cache are replayed as they left it; the \
                     lab's page cache is not run a second time.";
        notes.push(words.to_owned());
    }
    notes.extend(folded.map(|device| {
        format!(
            "The trace needs a larger disk than `{device}`: places beyond its end begin again at \
             its start."
        )
    }));
    notes
}
