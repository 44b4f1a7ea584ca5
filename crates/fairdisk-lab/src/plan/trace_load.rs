//! A recorded load: the tasks of a trace, each with a script of its requests.

use super::loaded::{GroupLabel, Loaded};
use super::recorded::Recorded;
use super::replay::{Replay, ReplayPace};
use super::setup::Load;
use super::{GroupNumbers, ROOT_GROUP};
use crate::catalog::error::CatalogError;
use crate::catalog::host::Host;
use fairdisk_core::{IoPrio, Lba, Prng, Qos, QosKey, SECTOR_BYTES, Share, Span, Weight};
use fairdisk_sim::GroupSpec;
use fairdisk_sim::host::{FileSpec, VolumeKind, VolumeSpec};
use fairdisk_sim::workload::{Drops, Due, ScriptedIo, StreamSpec, TaskSpec};
use fairdisk_trace::{Request, Traits, enclosing};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;

/// The load of a trace.
#[derive(Debug)]
pub(super) struct TraceLoad {
    groups: Vec<GroupLabel>,
    numbers: GroupNumbers,
    tasks: Vec<Replayed>,
    /// The part of the disk that the load uses, in bytes.
    bytes: u64,
}

/// A task of a trace.
#[derive(Debug)]
struct Replayed {
    name: String,
    /// Index of its group.
    group: usize,
    ioprio: IoPrio,
    script: Arc<[ScriptedIo]>,
}

impl TraceLoad {
    /// The load of `recorded` on a disk of this size. Also returns whether places had to be folded
    /// to fit it.
    pub(super) fn new(
        recorded: &Recorded,
        replay: &Replay,
        pace: ReplayPace,
        disk_bytes: u64,
    ) -> (Self, bool) {
        let names = with_outer(recorded);
        let numbers = GroupNumbers { root: names.iter().position(|name| name == ROOT_GROUP) };
        let label = |name: &String| {
            let (weight, qos) = settings(recorded, replay, name);
            let outer =
                enclosing(name).skip(1).find_map(|it| names.iter().position(|one| one == it));
            let spec = GroupSpec {
                share: weight.map_or_else(Share::default, Share::Weight),
                qos,
                parent: outer.map(|at| numbers.id(at)),
            };
            GroupLabel { name: name.clone(), spec }
        };
        // The devices of the trace lie one behind the other.
        let (mut bases, mut used) = (BTreeMap::new(), 0_u64);
        for (device, end) in &recorded.ends {
            bases.insert(device.as_str(), used);
            used = used.saturating_add(end.next_multiple_of(8));
        }
        let room = (disk_bytes / SECTOR_BYTES).max(1);
        let device_of = &recorded.device_of;
        let mut tasks = Vec::new();
        for ((group, task, ..), (ioprio, requests)) in &recorded.tasks {
            let at = names.iter().position(|name| name == group).unwrap_or(0);
            for copy in 0..replay.times(group) {
                // Each copy of a task has places of its own, behind those of the others.
                let fold = Fold {
                    bases: &bases,
                    device_of,
                    moved: used.saturating_mul(u64::from(copy)),
                    room,
                };
                let script = script(requests, pace, replay.begins(), &fold).into();
                let copy = if copy == 0 { String::new() } else { format!(" #{}", copy + 1) };
                tasks.push(Replayed {
                    name: format!("{group} {task}{copy}").replace("  ", " ").trim_end().to_owned(),
                    group: at,
                    ioprio: *ioprio,
                    script,
                });
            }
        }
        let copies = names.iter().map(|name| replay.times(name)).max().unwrap_or(1);
        let used = used.saturating_mul(u64::from(copies));
        let bytes = used.min(room) * SECTOR_BYTES;
        let groups = names.iter().map(label).collect();
        (Self { groups, numbers, tasks, bytes }, used > room)
    }
}

/// The weight and the limits with which a group is replayed.
fn settings(recorded: &Recorded, replay: &Replay, group: &str) -> (Option<Weight>, Qos) {
    let had = recorded.settings(group);
    let mut qos = had.qos();
    replay.limit(group, &mut qos);
    (replay.weight(group).or(had.weight()), qos)
}

/// Checks that no limit of a group contradicts another.
///
/// # Errors
/// One does.
pub(super) fn demand_agreement(recorded: &Recorded, replay: &Replay) -> Result<(), CatalogError> {
    for group in &recorded.groups() {
        let (_, qos) = settings(recorded, replay, group);
        let given = || replay.limits.iter().filter(|(name, ..)| name == group);
        let has_burst = given().any(|(_, key, value)| *key == QosKey::Burst && value.is_some());
        if let Err(why) = qos.check(has_burst) {
            return Err(match given().next_back() {
                Some((_, key, _)) => CatalogError::option(
                    &format!("--limit {group}={}", key.name()),
                    why.to_string(),
                ),
                None => CatalogError::file(&recorded.name, format!("group {group}: {why}")),
            });
        }
    }
    Ok(())
}

/// The groups that are replayed and, where the trace has the settings of groups, those around
/// them.
fn with_outer(recorded: &Recorded) -> Vec<String> {
    let inner = recorded.groups();
    let outer = inner.iter().flat_map(|name| enclosing(name).skip(1));
    let outer = outer.filter(|name| recorded.about.settings.contains_key(*name));
    let all: BTreeSet<String> = outer.map(str::to_owned).chain(inner.iter().cloned()).collect();
    all.into_iter().collect()
}

/// Where the places of a trace lie on the disk.
struct Fold<'a> {
    /// The first sector of each device of the trace.
    bases: &'a BTreeMap<&'a str, u64>,
    device_of: &'a [String],
    /// By how many sectors all places are moved.
    moved: u64,
    /// The sectors of the disk.
    room: u64,
}

impl Fold<'_> {
    /// The first byte of a request on the disk. A place beyond its end is counted from its start.
    fn offset(&self, request: &Request) -> u64 {
        let base = self.bases[self.device_of[request.origin.0 as usize].as_str()];
        let length = u64::from(request.sectors.0).min(self.room);
        let start = (base % self.room + request.start.0 + self.moved % self.room) % self.room;
        start.min(self.room - length) * SECTOR_BYTES
    }
}

/// The script of a task's requests, in the order in which it asked for them.
fn script(
    requests: &[Request],
    pace: ReplayPace,
    begins: Span,
    fold: &Fold<'_>,
) -> Vec<ScriptedIo> {
    let mut under_way = BinaryHeap::new();
    let start = fairdisk_core::Instant::ZERO + begins;
    // When the task last asked, or something that it asked for was done.
    let mut last = start;
    let (mut ios, mut beside_most) = (Vec::with_capacity(requests.len()), 0);
    // Of requests without an end it is not known when they were done: nothing waits for them.
    let mut endless = 0;
    for request in requests {
        let queued = request.queued;
        while let Some(Reverse(done)) =
            under_way.peek().copied().filter(|Reverse(it)| *it <= queued)
        {
            last = last.max(done);
            under_way.pop();
        }
        let beside = under_way.len() as u32;
        beside_most = beside_most.max(beside);
        let (beside, due) = match pace {
            ReplayPace::ClosedLoop => (beside + endless, Due::After(queued.since(last))),
            ReplayPace::AsItCame => (BESIDE_ANY, Due::At(queued.since(start))),
            ReplayPace::AsFastAsItCan => (0, Due::After(Span::ZERO)),
        };
        let sectors = u64::from(request.sectors.0).min(fold.room);
        ios.push(ScriptedIo {
            op: request.op,
            offset: fold.offset(request),
            bytes: sectors * SECTOR_BYTES,
            sync: request.traits.contains(Traits::SYNC),
            durable: request.traits.contains(Traits::DURABLE),
            beside,
            due,
        });
        last = last.max(queued);
        endless += u32::from(request.done.is_none());
        under_way.extend(request.done.map(Reverse));
    }
    if pace == ReplayPace::AsFastAsItCan {
        ios.iter_mut().for_each(|io| io.beside = beside_most);
    }
    ios
}

/// More than any device takes.
const BESIDE_ANY: u32 = 1 << 20;

impl Load for TraceLoad {
    fn build(&self, _host: &Host, ionice: bool, _prng: &mut Prng) -> Loaded {
        let volume =
            VolumeSpec { disk: 0, kind: VolumeKind::Raw, start: Lba(0), warm: true, journal: None };
        let task = |task: &Replayed| TaskSpec {
            group: self.numbers.id(task.group),
            ioprio: if ionice { task.ioprio } else { IoPrio::UNSET },
            files: vec![0],
            drops: Drops::Nothing,
            stream: StreamSpec { script: Some(Arc::clone(&task.script)), ..StreamSpec::default() },
            ..TaskSpec::default()
        };
        Loaded {
            groups: self.groups.clone(),
            volumes: vec![volume],
            files: vec![FileSpec { volume: 0, start: Lba(0), bytes: self.bytes, inode: 0 }],
            tasks: self.tasks.iter().map(task).collect(),
            named: (0..self.tasks.len()).map(|at| at..at + 1).collect(),
            root: self.numbers.root,
            disk_of: Vec::new(),
        }
    }

    fn group_names(&self) -> Vec<String> {
        self.groups.iter().map(|group| group.name.clone()).collect()
    }

    fn task_names(&self) -> Vec<String> {
        self.tasks.iter().map(|task| task.name.clone()).collect()
    }

    fn has_end(&self, _line: usize) -> bool {
        true
    }
}
