//! Settings of a load that schedulers do not honour.

use super::{GroupLabel, Loaded, Plan, PlannedArm};
use crate::catalog::library::Kind;
use crate::catalog::revision::Revision;
use crate::seconds::in_seconds;
use fairdisk_core::{IoClass, IoPrio, Prng, Share, Span};
use fairdisk_sched::{Honours, Nesting, SchedulerSpec};
use fairdisk_sim::workload::{Direction, FlushEvery, IoOrder, TaskSpec};
use std::collections::{BTreeMap, BTreeSet};

/// A run so many times as long as weights are raised shows little of that.
const RAISED_NOTICEABLE: u64 = 20;

const WEIGHTS: &str = "weights of groups";
const PRIORITIES: &str = "priorities of groups";
const NESTED: &str = "groups in groups";
const OF_TASKS: &str = "I/O priorities of tasks";

/// The settings that the rows of a load use.
struct Asked {
    /// Each setting in words, or as the key of a limit.
    things: Vec<&'static str>,
    /// For each depth of nesting, a group at that depth, outermost first.
    nested: Vec<String>,
    /// Whether tasks of one group differ in their levels, as [`have_levels`] says.
    levels: bool,
}

/// A note on what some schedulers do with settings.
struct Note {
    schedulers: Vec<String>,
    things: Vec<&'static str>,
    /// A nested group whose nesting is not honoured, and the number of levels that are.
    nested: Option<(String, usize)>,
}

impl Plan {
    /// The settings of groups and tasks that schedulers of `arms` do not honour, or that have less
    /// effect than one may think, as sentences.
    pub(crate) fn unheeded<'a>(&self, arms: impl Iterator<Item = &'a PlannedArm>) -> Vec<String> {
        let asked = [false, true].map(|ionice| self.asked(ionice));
        let mut notes: Vec<Note> = Vec::new();
        let mut beyond = BTreeSet::new();
        beyond.extend(self.rows.iter().flat_map(|row| row.load.notes()));
        beyond.extend(self.loads(false).flat_map(|loaded| flushers(&loaded)));
        for arm in arms {
            let honours = arm.revision.spec.honours();
            let asked = &asked[usize::from(arm.ionice)];
            let levels = levels(&honours);
            let mut things: Vec<&'static str> = asked.things.clone();
            if arm.priorities.is_some() {
                things.retain(|thing| ![WEIGHTS, PRIORITIES].contains(thing));
                things.insert(0, PRIORITIES);
            }
            things.retain(|thing| !heeds(&honours, thing));
            let mut nested = asked.nested.get(levels).cloned();
            // Without shares, nesting makes no difference.
            if nested.is_some() && !honours.shares {
                things.push(NESTED);
                nested = None;
            }
            let scheduler = &arm.revision.id;
            if !things.is_empty() {
                add(&mut notes, scheduler, things, None);
            }
            if honours.shares && arm.priorities.is_none() {
                beyond.extend(self.beyond(arm, honours.weights));
            }
            if arm.priorities.is_some() || asked.things.iter().any(|thing| of_shares(thing)) {
                beyond.extend(lends_seekers(arm));
            }
            if let Some(group) = nested {
                add(&mut notes, scheduler, Vec::new(), Some((group, levels)));
            }
            if asked.levels {
                beyond.extend(cut_short(arm));
            }
            beyond.extend(self.raises(arm));
        }
        notes.iter().map(Note::words).chain(beyond).collect()
    }

    /// A note if an arm raises the weights of new tasks for a noticeable part of what is measured.
    fn raises(&self, arm: &PlannedArm) -> Option<String> {
        let SchedulerSpec::Bfq(params) = &arm.revision.spec else { return None };
        let raising = &params.raising;
        let raised = raising.interactive_span;
        // Jobs may have ramps of their own.
        let tasks = self.loads(false).flat_map(|loaded| loaded.tasks);
        let ramp = self.ramp.max(tasks.map(|task| task.ramp).min().unwrap_or(Span::ZERO));
        let raises = params.low_latency && params.switches.interactive_raising;
        if !raises || ramp >= raised {
            return None;
        }
        let shortest = self.rows.iter().filter_map(|row| row.duration).min();
        let of_run = match shortest {
            None => String::new(),
            Some(shortest) if shortest >= raised.scaled(RAISED_NOTICEABLE, 1) => return None,
            Some(shortest) => format!(" (a run lasts {} s)", in_seconds(shortest)),
        };
        Some(format!(
            "{} raises the weight of each new task {}-fold for up to {} s{of_run}, as it may be \
             interactive: --set scheduler.bfq.low_latency=false, or a ramp longer than that, shows \
             what groups get afterwards.",
            arm.revision.id,
            raising.interactive_factor,
            in_seconds(raised),
        ))
    }

    /// Weights outside the range of the scheduler of an arm.
    fn beyond(&self, arm: &PlannedArm, [least, most]: [u32; 2]) -> BTreeSet<String> {
        let groups = self.loads(false).flat_map(|loaded| loaded.groups);
        let note = |group: GroupLabel| {
            let Share::Weight(weight) = group.spec.share else { return None };
            let (weight, counts) = (weight.get(), weight.get().clamp(least, most));
            (weight != counts).then(|| {
                format!(
                    "{} has weights from {least} to {most}: {weight} of group `{}` counts as {counts}.",
                    arm.revision.id, group.name
                )
            })
        };
        groups.filter_map(note).collect()
    }

    /// The settings of groups and tasks of all rows, with or without `ionice` levels.
    fn asked(&self, ionice: bool) -> Asked {
        let mut asked = Asked { things: Vec::new(), nested: Vec::new(), levels: false };
        for loaded in self.loads(ionice) {
            let mut ask = |thing| {
                if !asked.things.contains(&thing) {
                    asked.things.push(thing);
                }
            };
            for group in &loaded.groups {
                match group.spec.share {
                    share if share == Share::DEFAULT => {}
                    Share::Weight(_) => ask(WEIGHTS),
                    Share::Priority(_) => ask(PRIORITIES),
                }
                group.spec.qos.settings().for_each(|(limit, _)| ask(limit.name()));
            }
            let has_own =
                |task: &TaskSpec| task.ioprio != IoPrio::UNSET || task.stream.preferred.is_some();
            if loaded.tasks.iter().any(has_own) {
                ask(OF_TASKS);
            }
            asked.levels |= have_levels(&loaded);
            // A group is one of its own members.
            let mut depths = vec![0; loaded.groups.len()];
            for members in loaded.numbers().members(&loaded.groups) {
                members.into_iter().for_each(|at| depths[at] += 1);
            }
            let at_depth = |depth| depths.iter().position(|of_group| *of_group == depth);
            while let Some(at) = at_depth(asked.nested.len() + 2) {
                asked.nested.push(loaded.groups[at].name.clone());
            }
        }
        asked
    }

    /// The load of each row, with or without `ionice` levels.
    fn loads(&self, ionice: bool) -> impl Iterator<Item = Loaded> {
        let host = &self.rig.host;
        self.rows.iter().map(move |row| row.load.build(host, ionice, &mut Prng::new(0)))
    }
}

/// Notes on groups with a latency target whose tasks flush, which is no I/O.
fn flushers(loaded: &Loaded) -> Vec<String> {
    let flushes =
        |task: &&TaskSpec| task.end_flushes > 0 || task.stream.flush != FlushEvery::default();
    let numbers = loaded.numbers();
    let flushing: BTreeSet<Option<usize>> =
        loaded.tasks.iter().filter(flushes).map(|task| numbers.place(task.group)).collect();
    let has_target = |at: &usize| {
        let qos = &loaded.groups[*at].spec.qos;
        qos.latency_p99.is_some() && qos.fsync_p99.is_none()
    };
    let note = |at: usize| {
        format!(
            "latency_p99_ms of group `{}` is about its reads and writes: how long its fsyncs take \
             does not count; fsync_p99_ms is about that.",
            loaded.groups[at].name
        )
    };
    flushing.into_iter().flatten().filter(has_target).map(note).collect()
}

/// Whether groups get nothing by weight for tasks that seek.
fn is_lent(spec: &SchedulerSpec) -> bool {
    let SchedulerSpec::Cfq(params) = spec else { return false };
    let on = params.switches.effective();
    on.cgroup_groups && on.group_isolation && !params.group_isolation
}

/// A note if an arm shares by weight only among tasks for which the disk idles.
fn lends_seekers(arm: &PlannedArm) -> Option<String> {
    is_lent(&arm.revision.spec).then(|| {
        format!(
            "{} shares by weight only among tasks that read in sequence: those that seek count for \
             the root group, and so do asynchronous requests; with --set \
             scheduler.cfq.group_isolation=true tasks that seek count for their own.",
            arm.revision.id
        )
    })
}

/// A note if the end of a group's turn under `arm` ends that of the task inside, so that priorities
/// of tasks in one group, which are lengths of turns, have another effect.
fn cut_short(arm: &PlannedArm) -> Option<String> {
    let SchedulerSpec::TwoLayerCfq(params) = &arm.revision.spec else { return None };
    (!params.inner_turn_resumes).then(|| {
        format!(
            "{} ends the turn of a task with that of its group ({} ms at weight 100), so that I/O \
             priorities of tasks in one group that wait for each of their I/Os count for less than \
             under CFQ, or the other way round; with --set \
             scheduler.groups.inner_turn_resumes=true they count.",
            arm.revision.id, params.group_slice_ms
        )
    })
}

/// Whether tasks of one group that wait for each of their I/Os are of one class, in which levels
/// count, but not of one level.
fn have_levels(loaded: &Loaded) -> bool {
    let mut levels = BTreeMap::new();
    let counts = |task: &&TaskSpec| task.ioprio.class != IoClass::Idle && waits_for_each(task);
    loaded.tasks.iter().filter(counts).any(|task| {
        let IoPrio { class, level } = task.ioprio;
        *levels.entry((task.group, class.rank())).or_insert(level) != level
    })
}

/// Whether a task has nothing queued between two of its I/Os: read-ahead and write-back go on.
fn waits_for_each(task: &TaskSpec) -> bool {
    let is_random = matches!(task.stream.order, IoOrder::Random | IoOrder::Drawn(_));
    let is_read = task.stream.direction == Direction::Read;
    task.depth <= 1 && (!task.buffered || is_read && is_random)
}

/// Adds what a scheduler does to a note that says the same about others, if there is one.
fn add(
    notes: &mut Vec<Note>,
    scheduler: &str,
    things: Vec<&'static str>,
    nested: Option<(String, usize)>,
) {
    let same = |note: &&mut Note| note.things == things && note.nested == nested;
    match notes.iter_mut().find(same) {
        None => notes.push(Note { schedulers: vec![scheduler.to_owned()], things, nested }),
        Some(note) if note.schedulers.iter().any(|known| known == scheduler) => {}
        Some(note) => note.schedulers.push(scheduler.to_owned()),
    }
}

/// The number of levels of nesting that are honoured.
const fn levels(honours: &Honours) -> usize {
    match honours.nesting {
        Nesting::None => 0,
        Nesting::OneLevel => 1,
        Nesting::Deep => usize::MAX,
    }
}

fn of_shares(thing: &str) -> bool {
    [WEIGHTS, PRIORITIES].contains(&thing)
}

fn heeds(honours: &Honours, thing: &str) -> bool {
    match thing {
        WEIGHTS | PRIORITIES => honours.shares,
        NESTED => honours.nesting == Nesting::Deep,
        OF_TASKS => honours.priorities,
        key => honours.keeps(key),
    }
}

impl Note {
    fn words(&self) -> String {
        let Self { schedulers, things, nested } = self;
        let one = schedulers.len() == 1;
        let schedulers = list(schedulers);
        let Some((group, levels)) = nested else {
            let take = if one { "takes" } else { "take" };
            let of_shares = things.iter().any(|thing| of_shares(thing));
            let others = others(|spec| {
                let honours = spec.honours();
                things.iter().all(|thing| heeds(&honours, thing)) && !(of_shares && is_lent(spec))
            });
            return format!("{schedulers} {take} no notice of {}{others}.", list(things));
        };
        let others = others(|spec| spec.honours().nesting == Nesting::Deep);
        let do_not = if one { "does not" } else { "do not" };
        let what = match levels {
            0 => format!("nest groups: `{group}` is one beside all others"),
            _ => format!("nest groups so deep: `{group}` is taken to lie in the outermost one"),
        };
        format!("{schedulers} {do_not} {what}{others}.")
    }
}

/// The schedulers of the catalogue for which this is true, if any, without the revisions in the
/// history of a family.
fn others(is_so: impl Fn(&SchedulerSpec) -> bool) -> String {
    let has_history =
        |spec: &SchedulerSpec| SchedulerSpec::switches_of(Some(spec.name())).count() > 0;
    let is_of_history = |it: &Revision| it.historical && has_history(&it.spec);
    let is_meant = |it: &Revision| is_so(&it.spec) && !is_of_history(it);
    let is_one = |id: &&str| Revision::load(id).is_ok_and(|revision| is_meant(&revision));
    let names: Vec<&str> = Kind::Revision.ids().filter(is_one).collect();
    if names.is_empty() { String::new() } else { format!("; schedulers that do: {}", list(&names)) }
}

fn list(names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.as_slice() {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        names => names.join(", "),
    }
}
