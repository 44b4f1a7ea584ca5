//! A stretch of one run, request by request: who had the disk when, and where.

use crate::plan::{GroupNumbers, Plan, PlannedArm, PlannedRow, ROOT_GROUP, Setup};
use fairdisk_core::{GroupId, Instant, IoPrio, Op, Span, TaskId};
use fairdisk_sim::World;
use fairdisk_trace::journal::{FromJournal, Name};
use fairdisk_trace::{OriginId, Request};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};

/// How often what is done is collected.
const STEP: Span = Span::from_ms(20);
/// Sectors of 512 bytes in a GB.
const SECTORS_PER_GB: f64 = 1e9 / 512.0;

/// What happened on the first disk in a stretch of the first run of a row under one arm.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The name of the arm.
    pub arm: String,
    /// The label of the row.
    pub row: String,
    /// The groups, by which requests are numbered; the last is the root group.
    pub groups: Vec<String>,
    /// When the stretch begins, in seconds from the start of the run.
    pub from_s: f64,
    /// The length of the stretch, in seconds.
    pub length_s: f64,
    /// What was asked for in it, in the order in which it was done.
    pub requests: Vec<WatchedRequest>,
}

/// A request of a stretch. Times are in seconds from its beginning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WatchedRequest {
    /// The group that asked, an index into those of the stretch.
    pub group: usize,
    /// The operation.
    pub op: Op,
    /// Where it begins on the disk, in GB.
    pub place_gb: f64,
    /// When it was asked for.
    pub asked_s: f64,
    /// When it was given to the disk; the end of the stretch if that was later.
    pub issued_s: f64,
    /// When it was done; the end of the stretch if that was later.
    pub done_s: f64,
}

/// Names tasks by their group alone.
struct ByGroup;

impl Name for ByGroup {
    fn origin(&mut self, _task: TaskId, group: GroupId, _ioprio: IoPrio) -> OriginId {
        OriginId(group.0)
    }

    fn ended(&mut self, _task: TaskId) {}

    fn gone(&mut self, _group: GroupId) {}
}

/// Watches the first run of each row under each arm, from the end of the ramp on for `length`, or
/// until `most` requests are done. What cannot be run is left out, as are rows with events.
#[must_use]
pub fn watch(plan: &Plan, length: Span, most: usize, stop: &AtomicBool) -> Vec<Watched> {
    let mut plan = plan.clone();
    plan.keep_journal = true;
    let cells =
        (0..plan.rows.len()).flat_map(|row| (0..plan.arms.len()).map(move |arm| (arm, row)));
    cells
        .take_while(|_| !stop.load(Ordering::Relaxed))
        .filter_map(|(arm, row)| {
            let (arm, row) = plan.cell(arm, row);
            watch_one(&plan, arm, row, length, most)
        })
        .collect()
}

fn watch_one(
    plan: &Plan,
    arm: &PlannedArm,
    row: &PlannedRow,
    length: Span,
    most: usize,
) -> Option<Watched> {
    let Setup { machine, jbod, groups, root, .. } = plan.setup(arm, row, 0).ok()?;
    let mut world = World::new(machine, jbod);
    let from = Instant::ZERO + plan.ramp;
    world.run_until_done(from);
    world.machine_mut().drain_journal(0).for_each(drop);
    let (mut journal, mut done) = (FromJournal::default(), Vec::new());
    let (mut now, end) = (from, from + length.min(row.duration.unwrap_or(length)));
    while now < end && done.len() < most && !world.machine().is_done() {
        now = (now + STEP).min(end);
        world.run_until_done(now);
        let entries: Vec<_> = world.machine_mut().drain_journal(0).collect();
        for entry in &entries {
            journal.take(entry, &mut ByGroup, |request| done.push(request));
        }
    }
    journal.finish(|request| done.push(request));
    let numbers = GroupNumbers { root };
    let mut names: Vec<String> = groups.into_iter().map(|label| label.name).collect();
    names.push(ROOT_GROUP.to_owned());
    let seconds = |span: Span| span.as_ns() as f64 / 1e9;
    let length_s = seconds(world.now().min(now).since(from));
    let seen = |request: &Request| {
        let at = |time: Option<Instant>| time.map_or(length_s, |time| seconds(time.since(from)));
        WatchedRequest {
            group: numbers.place(GroupId(request.origin.0)).unwrap_or(names.len() - 1),
            op: request.op,
            place_gb: request.start.0 as f64 / SECTORS_PER_GB,
            asked_s: at(Some(request.queued)),
            issued_s: at(request.issued),
            done_s: at(request.done),
        }
    };
    let requests = done.iter().map(seen).collect();
    let from_s = seconds(from - Instant::ZERO);
    let (arm, row) = (arm.name.clone(), row.label.clone());
    Some(Watched { arm, row, groups: names, from_s, length_s, requests })
}

impl Watched {
    /// The stretch as data of a film: times in µs, places in GB.
    pub(crate) fn film(&self) -> Value {
        let us = |seconds: f64| (seconds * 1e6).round();
        let requests = self.requests.iter().map(|request| {
            json!([
                request.group,
                u8::from(request.op != Op::Read),
                request.place_gb,
                us(request.asked_s),
                us(request.issued_s),
                us(request.done_s),
            ])
        });
        json!({
            "groups": self.groups,
            "length_us": us(self.length_s),
            "requests": requests.collect::<Vec<_>>(),
        })
    }
}
