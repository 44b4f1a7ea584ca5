//! Divergence: the first decision in which the good and the bad end differ.

use super::{Between, FactorSet};
use crate::plan::Plan;
use crate::run::RUN_MAX;
use fairdisk_core::{Bio, BioId, Entry, GroupId, Instant, Record, RequestId, Span, TaskId, Why};
use fairdisk_sim::World;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};

/// The point at which two runs diverge.
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// The seed of both runs.
    pub seed: u32,
    /// The disk, if several run together.
    pub disk: Option<u32>,
    /// The time up to which nothing differed.
    pub at: Instant,
    /// The number of requests that both runs chose alike.
    pub decisions: u64,
    /// The next move of the good end.
    pub good: Move,
    /// The next move of the bad end.
    pub bad: Move,
}

/// A move of a scheduler.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// The time of the move.
    pub at: Instant,
    /// The kind of move.
    pub what: MoveKind,
}

/// The kinds of moves.
#[derive(Clone, Debug, PartialEq)]
pub enum MoveKind {
    /// The scheduler chose a request.
    Chose(Box<Chosen>, Why),
    /// The scheduler waits until a point in time.
    Waits(Instant, Why),
    /// The scheduler waits for a completion.
    WaitsCompletion(Why),
    /// Something other than a scheduling decision happened, so the run around the scheduler
    /// differs.
    Else(&'static str),
    /// Nothing more happened.
    Nothing,
}

/// A request that was chosen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Chosen {
    /// The request's number on its disk, as counted by `fairdisk explain`.
    pub number: u64,
    /// The name of the request's group.
    pub group: String,
    /// The number of the request's task on its disk.
    pub task: u32,
    /// The operation, `read`, `write` and so on.
    pub op: &'static str,
    /// The first sector.
    pub sector: u64,
    /// The length in bytes.
    pub bytes: u64,
}

/// The stretch of simulated time that is compared in one go.
const STEP: Span = Span::from_ms(100);

/// Runs both ends side by side until they diverge; `None` if they do not.
///
/// # Errors
/// Returns an error if an end cannot be run.
pub fn divergence(
    between: &Between<'_>,
    bad: FactorSet,
    seed: u32,
    stop: &AtomicBool,
) -> Result<Option<Divergence>, String> {
    let mut good = End::new(between, FactorSet::EMPTY, seed)?;
    let mut bad = End::new(between, bad, seed)?;
    let groups = good.groups.clone();
    let mut requests: Vec<Requests<'_>> =
        good.waits.iter().map(|_| Requests::new(&groups)).collect();
    let mut decisions = 0;
    while !stop.load(Ordering::Relaxed) {
        match (good.next(), bad.next()) {
            (None, None) => return Ok(None),
            (Some(one), Some(other)) if is_same(&one, &other) => {
                let (disk, entry) = one;
                requests[disk].enter(&entry);
                // A wait is logged once and holds until the next choice.
                if is_choice(&Some(entry)) {
                    decisions += 1;
                    good.waits[disk] = None;
                    bad.waits[disk] = None;
                }
            }
            (one, other) => {
                let disk = first_of(&one, &other);
                let one = good.next_on(disk, one);
                let other = bad.next_on(disk, other);
                let when = |entry: &Option<Entry>| entry.map_or(good.end, |entry| entry.at);
                let [first, second] = [when(&one), when(&other)];
                let at = first.min(second);
                // An end that chose nothing when the other one acted was waiting, if it had said
                // so.
                let chose = [&one, &other].map(|entry| when(entry) == at && is_choice(entry));
                let waits = [first > at || chose[1], second > at || chose[0]];
                let one = good.wait(disk, at).filter(|_| waits[0] && !chose[0]).or(one);
                let other = bad.wait(disk, at).filter(|_| waits[1] && !chose[1]).or(other);
                let [good, bad] = [one, other].map(|entry| requests[disk].told(entry, at));
                let disk = (requests.len() > 1).then_some(disk as u32);
                return Ok(Some(Divergence { seed, disk, at, decisions, good, bad }));
            }
        }
    }
    Ok(None)
}

/// An entry of a disk's journal.
type OfDisk = (usize, Entry);

/// The disk of the earlier one of two entries, at least one of which is there.
fn first_of(one: &Option<OfDisk>, other: &Option<OfDisk>) -> usize {
    let both = [one, other].into_iter().flatten();
    both.map(|(disk, entry)| (entry.at, *disk)).min().map_or(0, |(_, disk)| disk)
}

/// Whether the entry is a scheduler's choice of what to do next.
const fn is_choice(entry: &Option<Entry>) -> bool {
    matches!(entry, Some(Entry { record: Record::Dispatched(..), .. }))
}

/// Whether two entries are equal except for their reasons.
fn is_same((disk, one): &OfDisk, (other_disk, other): &OfDisk) -> bool {
    disk == other_disk
        && one.at == other.at
        && match (one.record, other.record) {
            (Record::Dispatched(one, _), Record::Dispatched(other, _)) => one == other,
            (one, other) => one == other,
        }
}

/// One of the two runs.
struct End {
    world: World<fairdisk_sched::Scheduler>,
    end: Instant,
    now: Instant,
    /// What has happened and was not looked at, in the order of time, then of disks.
    entries: VecDeque<OfDisk>,
    /// For each disk, the latest wait since the last choice.
    waits: Vec<Option<Entry>>,
    groups: Vec<String>,
}

impl End {
    fn new(between: &Between<'_>, set: FactorSet, seed: u32) -> Result<Self, String> {
        let (plan, arm): (Plan, _) = between.journaled(set).map_err(|error| error.to_string())?;
        let setup = plan.setup(&arm, &plan.rows[0], seed)?;
        let groups = setup.groups.iter().map(|group| group.name.clone()).collect();
        let end = Instant::ZERO + plan.rows[0].duration.unwrap_or(RUN_MAX);
        let waits = vec![None; setup.machine.disks() as usize];
        let world = World::new(setup.machine, setup.jbod);
        Ok(Self { world, end, now: Instant::ZERO, entries: VecDeque::new(), waits, groups })
    }

    /// The wait that is in force on the disk at this time.
    fn wait(&self, disk: usize, at: Instant) -> Option<Entry> {
        let is_over =
            |entry: &Entry| matches!(entry.record, Record::Waits(until, _) if until <= at);
        self.waits[disk].filter(|entry| !is_over(entry))
    }

    /// The next entry that is not a wait; repeating a wait makes no difference.
    fn next(&mut self) -> Option<OfDisk> {
        loop {
            while self.entries.is_empty() && self.now < self.end && !self.world.machine().is_done()
            {
                self.now = (self.now + STEP).min(self.end);
                self.world.run_until_done(self.now);
                for disk in 0..self.waits.len() {
                    let entries = self.world.machine_mut().drain_journal(disk as u32);
                    self.entries.extend(entries.map(|entry| (disk, entry)));
                }
                if self.waits.len() > 1 {
                    self.entries.make_contiguous().sort_by_key(|(_, entry)| entry.at);
                }
            }
            let (disk, entry) = self.entries.pop_front()?;
            match entry.record {
                Record::Waits(..) | Record::WaitsCompletion(_) => self.waits[disk] = Some(entry),
                _ => return Some((disk, entry)),
            }
        }
    }

    /// Of `next` and what follows it, the first entry on the disk that is not a wait.
    fn next_on(&mut self, disk: usize, mut next: Option<OfDisk>) -> Option<Entry> {
        loop {
            match next? {
                (at, entry) if at == disk => return Some(entry),
                _ => next = self.next(),
            }
        }
    }
}

/// What is known about requests at the divergence, up to which both runs are the same.
struct Requests<'a> {
    groups: &'a [String],
    submitted: u64,
    bios: BTreeMap<BioId, Chosen>,
    slots: BTreeMap<RequestId, BioId>,
}

impl<'a> Requests<'a> {
    const fn new(groups: &'a [String]) -> Self {
        Self { groups, submitted: 0, bios: BTreeMap::new(), slots: BTreeMap::new() }
    }

    fn enter(&mut self, entry: &Entry) {
        match entry.record {
            Record::Submitted(Bio { id: bio, task, group, op, start, sectors, .. }) => {
                self.submitted += 1;
                let number = self.submitted;
                let bytes = sectors.bytes();
                let (TaskId(task), sector) = (task, start.0);
                let (group, op) = (self.group(group), op.name());
                self.bios.insert(bio, Chosen { number, group, task, op, sector, bytes });
            }
            Record::Queued(bio, request) => {
                self.slots.insert(request, bio);
            }
            Record::Finished(bio, _) | Record::Cancelled(bio) => {
                self.bios.remove(&bio);
            }
            _ => {}
        }
    }

    fn group(&self, group: GroupId) -> String {
        let at = (group.0 as usize).checked_sub(1);
        at.and_then(|at| self.groups.get(at)).map_or("/", String::as_str).to_owned()
    }

    fn told(&self, entry: Option<Entry>, at: Instant) -> Move {
        let Some(entry) = entry else { return Move { at, what: MoveKind::Nothing } };
        let what = match entry.record {
            Record::Dispatched(request, why) => {
                let bio = self.slots.get(&request).and_then(|bio| self.bios.get(bio));
                MoveKind::Chose(Box::new(bio.cloned().unwrap_or_default()), why)
            }
            Record::Waits(until, why) => MoveKind::Waits(until, why),
            Record::WaitsCompletion(why) => MoveKind::WaitsCompletion(why),
            Record::Submitted(_) => MoveKind::Else("a request was submitted"),
            Record::Issued(_) => MoveKind::Else("a request went to the disk"),
            Record::Completed(..) | Record::Finished(..) => MoveKind::Else("a request was done"),
            _ => MoveKind::Else("a request was queued otherwise"),
        };
        Move { at: entry.at, what }
    }
}

impl Move {
    /// The move in words.
    #[must_use]
    pub fn words(&self) -> String {
        let ms = |at: Instant| at.as_ns() as f64 / 1e6;
        match &self.what {
            MoveKind::Chose(chosen, why) => {
                let Chosen { number, group, task, op, sector, bytes } = chosen.as_ref();
                let kib = *bytes as f64 / 1024.0;
                let reason = why.text();
                format!(
                    "chose request {number}, a {op} of {kib} KiB at sector {sector} by task {task} \
                     of {group}: {reason}"
                )
            }
            MoveKind::Waits(until, why) => {
                format!("waits until {:.3} ms: {}", ms(*until), why.text())
            }
            MoveKind::WaitsCompletion(why) => {
                format!("waits until a request is done: {}", why.text())
            }
            MoveKind::Else(what) => format!("{what} at {:.3} ms", ms(self.at)),
            MoveKind::Nothing => "came to its end".to_owned(),
        }
    }
}
