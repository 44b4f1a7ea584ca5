//! Advice: from a load and wishes for its groups to a configuration. Schedulers and settings are
//! tried in the lab, and the best of them is proposed with the evidence.

mod html;
mod json;
mod limits;
mod memory;
mod search;
mod settings;
mod table;
mod verdict;
mod wish;
mod words;

pub use html::to_html;
pub use json::{AdviceResults, KernelPlan, to_json};
pub use memory::{Wanted, memory};
pub use table::to_table;
use verdict::Terms;
pub use verdict::Verdict;
pub use wish::{Kind, Setting, Want, Wish};

use crate::compare::{BASE, Cell, Comparison, Demands, Singles};
use crate::memory::Need;
use crate::plan::{GroupLabel, Loaded, Obstacle, Plan, PlannedArm, Spec};
use crate::run::{PlanRuns, Progress, run_plans};
use fairdisk_core::Prng;
use fairdisk_sched::{Honours, Nesting, SchedulerSpec};
use fairdisk_sim::GroupSpec;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often a configuration that does not grant every wish is changed and tried again.
const ROUNDS: u32 = 4;
/// Throughputs that differ by less than this fraction count as equal.
const SAME: f64 = 0.98;
/// Tries count as equally close to the wishes if their distances differ by less than this, both
/// absolutely and as a fraction of the distance.
const NEAR: f64 = 0.01;

/// A configuration that was tried.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The name of the arm, followed by the number of the try from the second one on.
    pub name: String,
    /// Index of the arm in the plan.
    pub arm: usize,
    /// The name of the scheduler.
    pub scheduler: String,
    /// The scheduler as it was asked for: an id of the catalogue or the path of a file.
    pub asked: String,
    /// The changes that the arm makes to the scheduler, each as `KEY=VALUE`.
    pub set: Vec<String>,
    /// The scheduler with its settings.
    pub spec: SchedulerSpec,
    /// The settings that the scheduler honours.
    pub honours: Honours,
    /// The settings of each group in this try, by group index.
    pub groups: Vec<GroupSpec>,
    /// How many times the configuration was changed since the first try.
    pub round: u32,
    /// The measured results.
    pub cell: Cell,
    /// The verdict on each wish.
    pub verdicts: Vec<Verdict>,
}

impl Tried {
    /// The number of wishes that were granted.
    #[must_use]
    pub fn met(&self) -> usize {
        self.verdicts.iter().filter(|verdict| verdict.met).count()
    }

    /// The number of wishes that were granted because the scheduler sees to it.
    #[must_use]
    pub fn enforced(&self) -> usize {
        self.verdicts.iter().filter(|verdict| verdict.enforced).count()
    }

    /// The sum of the distances from the wishes that were not granted.
    fn off(&self) -> f64 {
        self.verdicts.iter().map(|verdict| verdict.off).sum()
    }
}

/// A group of the load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// The group's name.
    pub name: String,
    /// The path of the cgroup on a mount with the same name and the same place in the hierarchy.
    pub cgroup: String,
    /// Whether the group has tasks of its own, and not only in nested groups.
    pub has_tasks: bool,
}

impl Party {
    fn all(loaded: &Loaded) -> Vec<Self> {
        let tasks = loaded.tasks_by_group();
        let party = |(at, label): (usize, &GroupLabel)| Self {
            name: label.name.clone(),
            cgroup: cgroup(loaded, at),
            has_tasks: !tasks[at].is_empty(),
        };
        loaded.groups.iter().enumerate().map(party).collect()
    }

    /// Whether a scheduler with these abilities takes the settings `spec` of this group into
    /// account.
    fn is_seen(&self, spec: &GroupSpec, honours: &Honours) -> bool {
        self.has_tasks
            || match honours.nesting {
                Nesting::None => false,
                Nesting::OneLevel => spec.parent.is_none(),
                Nesting::Deep => true,
            }
    }
}

/// The cgroup path of a group. Job files name groups by their path, experiments by its last part.
fn cgroup(loaded: &Loaded, at: usize) -> String {
    let GroupLabel { name, spec } = &loaded.groups[at];
    let outer = spec.parent.and_then(|id| loaded.numbers().place(id));
    match outer {
        Some(outer) if !name.starts_with('/') => {
            format!("{}/{name}", cgroup(loaded, outer).trim_end_matches('/'))
        }
        _ => format!("/{}", name.trim_start_matches('/')),
    }
}

/// A proposed configuration and the evidence for it.
#[derive(Clone, Debug)]
pub struct Advice {
    /// The id of the load.
    pub experiment: String,
    /// The kind of file that the load was read from.
    pub spec: Spec,
    /// The title of the load.
    pub title: String,
    /// The groups of the load, by index.
    pub groups: Vec<Party>,
    /// The wishes.
    pub wishes: Vec<Wish>,
    /// For each wish, why it cannot be granted; `None` if it was granted or the reason is not
    /// known.
    pub limits: Vec<Option<String>>,
    /// All tries, by scheduler and then in order.
    pub tried: Vec<Tried>,
    /// Tries that a scheduler refused: the name of each, and the reason.
    pub refused: Vec<(String, String)>,
    /// Index in `tried` of the proposed try; `None` if no try was completed.
    pub best: Option<usize>,
    /// Whether a mount runs the proposed scheduler with the settings that were tried. The lab does
    /// not know mounts; this is false until who does says otherwise.
    pub on_mounts: bool,
    /// The command-line options and values that reproduce the runs.
    pub options: Vec<(String, String)>,
    /// That the search was stopped, and how much of it was done; `None` if it came to its end.
    pub partial: Option<String>,
    /// The memory of the host, with which all but memory was tried, in MiB.
    pub host_mib: u64,
    /// How much memory the load needs as proposed, if that is a wish and the search for it is done.
    pub memory: Option<Need>,
    /// All tries as a comparison, for the pictures of the page.
    pub comparison: Comparison,
}

impl Advice {
    /// The proposed configuration.
    #[must_use]
    pub fn proposed(&self) -> Option<&Tried> {
        self.tried.get(self.best?)
    }

    /// The settings that the proposal gives each group, by group index: keys and values as
    /// `fairdisk ctl set` takes them. Empty for a group that has none.
    #[must_use]
    pub fn settings(&self) -> Vec<Vec<(&'static str, String)>> {
        let best = self.proposed().into_iter();
        best.flat_map(|best| settings::given(best, &self.groups)).map(|one| one.settings).collect()
    }

    /// Whether the proposal grants every wish.
    #[must_use]
    pub fn is_granted(&self) -> bool {
        self.proposed().is_some_and(|best| best.met() == self.wishes.len())
    }
}

/// Tries every arm of `plan` on its row with the wishes of the load and of `wants`. Setting `stop`
/// ends the search early with what is known by then.
///
/// # Errors
/// Returns an error if there is more than one row, if there are no wishes or impossible ones, or if
/// the load does not fit its disk.
pub fn advise(
    plan: &Plan,
    wants: &[Want],
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Advice, String> {
    let [row] = plan.rows.as_slice() else {
        let rows: Vec<String> = plan.rows.iter().map(|row| format!("`{}`", row.label)).collect();
        return Err(format!(
            "{} has several rows; choose one with --row: {}",
            plan.id,
            rows.join(", ")
        ));
    };
    plan.demand_one_rig("advice", "choose others with --arm and --row")?;
    let loaded = row.load.build(&plan.rig.host, false, &mut Prng::new(0));
    let (specs, wishes) = wish::wished(&loaded, wants)?;
    if wishes.is_empty() {
        // A group alone has all of the disk, and can only wish to wait less for it.
        let wish = if loaded.groups.len() > 1 { "share=50" } else { "latency_p99_ms=20" };
        return Err(format!(
            "nobody wishes anything in {}; say who must have what, as in --want '{}: {wish}'",
            plan.id,
            loaded.groups.first().map_or("GROUP", |group| &group.name),
        ));
    }
    let parties = Party::all(&loaded);
    let search = Search { plan, specs, wishes, parties };
    let Found { tried, refused, comparison, demands } = search.run(progress, stop)?;
    let best = best(&tried);
    let limits = search.limits(&tried, best, &demands);
    let partial = partial(&tried);
    let (experiment, title) = (plan.id.clone(), plan.title.clone());
    Ok(Advice {
        experiment,
        spec: plan.spec,
        title,
        groups: search.parties,
        wishes: search.wishes,
        limits,
        tried,
        refused,
        best,
        on_mounts: false,
        options: Vec::new(),
        host_mib: plan.rig.host.memory.mib,
        memory: None,
        partial: stop.load(Ordering::Relaxed).then_some(partial),
        comparison,
    })
}

/// How much was done of a search that was stopped.
fn partial(tried: &[Tried]) -> String {
    let in_part = tried.iter().filter(|one| one.cell.partial).count();
    let done = tried.len() - in_part;
    let (s, are) = if done == 1 { ("y", "is") } else { ("ies", "are") };
    let rest = if in_part == 0 { String::new() } else { format!(", {in_part} in part") };
    format!("advice is partial: {done} tr{s} {are} done{rest}")
}

/// `plan` with groups that ask for what `wants` say, and for what they asked for before where these
/// say nothing. As in advice, priorities become weights.
///
/// # Errors
/// Returns an error if wishes are impossible, or if a row has no such group.
pub fn asking(plan: &Plan, wants: &[Want]) -> Result<Plan, String> {
    plan.all_configured(|loaded| Ok(wish::wished(loaded, wants)?.0))
}

/// The input of the search.
struct Search<'a> {
    plan: &'a Plan,
    /// The settings that the wishes ask for, by group index.
    specs: Vec<GroupSpec>,
    wishes: Vec<Wish>,
    parties: Vec<Party>,
}

/// The results of the search.
struct Found {
    tried: Vec<Tried>,
    refused: Vec<(String, String)>,
    comparison: Comparison,
    demands: Demands,
}

/// A configuration to try.
struct Candidate {
    /// The arm under the name of this try, and its index in the plan.
    arm: PlannedArm,
    arm_at: usize,
    round: u32,
    groups: Vec<GroupSpec>,
}

impl Search<'_> {
    /// The plan with `arm`, and with the groups as wished.
    fn wished(&self, arm: PlannedArm) -> Plan {
        self.plan.configured(&self.plan.rows[0], arm, &self.specs)
    }

    fn run(&self, progress: &dyn Progress, stop: &AtomicBool) -> Result<Found, String> {
        let arms = &self.plan.arms;
        let singles = Singles::of(&self.wished(arms[0].clone())).map_err(|it| it.to_string())?;
        let alone = run_plans(&[&singles.plan], progress, stop)?;
        let demands = singles.demands(&alone[0].ensembles);
        let mut comparison = Comparison::default();
        let (mut tried, mut refused) = (Vec::<Tried>::new(), Vec::new());
        let as_wished = |(arm_at, arm): (usize, &PlannedArm)| {
            let (arm, groups) = (arm.clone(), self.specs.clone());
            Candidate { arm, arm_at, round: 0, groups }
        };
        let mut open: Vec<Candidate> = arms.iter().enumerate().map(as_wished).collect();
        for _ in 0..ROUNDS {
            self.refuse(&mut open, &mut refused)?;
            let plans: Vec<Plan> = open
                .iter()
                .map(|one| self.plan.configured(&self.plan.rows[0], one.arm.clone(), &one.groups))
                .collect();
            let runs = run_plans(&plans.iter().collect::<Vec<_>>(), progress, stop)?;
            let mut again = Vec::new();
            for (candidate, PlanRuns { ensembles, .. }) in open.into_iter().zip(&runs) {
                // Results are judged by the wished settings, whatever settings the try used.
                comparison.add(&self.wished(candidate.arm.clone()), ensembles, &demands);
                if ensembles.is_empty() {
                    continue;
                }
                let Some(cell) = comparison.cells.last() else { continue };
                let one = self.judged(&candidate, cell);
                again.extend(self.again(&one, candidate.arm));
                tried.push(one);
            }
            open = again;
            if open.is_empty() || stop.load(Ordering::Relaxed) {
                break;
            }
        }
        comparison.finish();
        for one in &mut tried {
            let known = comparison.cells.iter().find(|cell| cell.arm == one.name);
            one.cell.of_noop = known.and_then(|cell| cell.of_noop);
        }
        tried.sort_by_key(|one| (one.arm, one.round));
        Ok(Found { tried, refused, comparison, demands })
    }

    /// Puts, in the place of each candidate whose scheduler refuses a floor, one with as much of it
    /// as the scheduler has room for, and records the reasons.
    ///
    /// # Errors
    /// Returns an error if the load does not fit the disk.
    fn refuse(
        &self,
        open: &mut Vec<Candidate>,
        refused: &mut Vec<(String, String)>,
    ) -> Result<(), String> {
        let mut left = std::mem::take(open);
        left.reverse();
        while let Some(one) = left.pop() {
            let row = &self.plan.rows[0];
            let plan = self.plan.configured(row, one.arm.clone(), &one.groups);
            match plan.setup(&plan.arms[0], &plan.rows[0], 0) {
                Ok(_) => open.push(one),
                Err(Obstacle::Load(reason)) => return Err(reason),
                Err(Obstacle::Refusal { reason, group, room }) => {
                    refused.push((one.arm.name.clone(), reason));
                    let groups = group.and_then(|at| search::lowered(&one.groups, at, room));
                    left.extend(
                        groups.map(|groups| self.next(one.arm_at, one.round, one.arm, groups)),
                    );
                }
            }
        }
        Ok(())
    }

    fn judged(&self, candidate: &Candidate, cell: &Cell) -> Tried {
        let Candidate { arm, arm_at, round, groups } = candidate;
        let honours = arm.revision.spec.honours();
        let verdict = |wish: &Wish| {
            let [asked, given] = [&self.specs, groups].map(|specs| &specs[wish.group]);
            let is_seen = self.parties[wish.group].is_seen(given, &honours);
            verdict::verdict(wish, Terms { asked, given, is_seen, honours: &honours }, cell)
        };
        let verdicts = self.wishes.iter().map(verdict).collect();
        Tried {
            name: cell.arm.clone(),
            arm: *arm_at,
            scheduler: cell.scheduler.clone(),
            asked: arm.asked.clone(),
            set: arm.set.clone(),
            spec: arm.revision.spec,
            honours,
            groups: groups.clone(),
            round: *round,
            cell: cell.clone(),
            verdicts,
        }
    }

    /// The next configuration to try after `one`, if there is one.
    fn again(&self, one: &Tried, arm: PlannedArm) -> Option<Candidate> {
        let groups = search::next(one, &self.wishes, &self.parties)?;
        Some(self.next(one.arm, one.round, arm, groups))
    }

    /// The candidate after the one of `round`, with other settings.
    fn next(
        &self,
        arm_at: usize,
        round: u32,
        arm: PlannedArm,
        groups: Vec<GroupSpec>,
    ) -> Candidate {
        let round = round + 1;
        let name = format!("{} #{}", self.plan.arms[arm_at].name, round + 1);
        Candidate { arm: PlannedArm { name, ..arm }, arm_at, round, groups }
    }
}

/// The best try: the one that grants most wishes or comes closest to them, then the one whose
/// scheduler enforces most of them, then the one with the highest throughput, then the one with the
/// fewest changes to what was wished.
fn best(tried: &[Tried]) -> Option<usize> {
    let met = tried.iter().map(Tried::met).max()?;
    let mut left: Vec<usize> = (0..tried.len()).filter(|at| tried[*at].met() == met).collect();
    let wishes = tried[0].verdicts.len();
    if met < wishes {
        let least = left.iter().map(|at| tried[*at].off()).fold(f64::INFINITY, f64::min);
        left.retain(|at| tried[*at].off() <= least + NEAR * (1.0 + least));
    }
    let enforced = left.iter().map(|at| tried[*at].enforced()).max()?;
    left.retain(|at| tried[*at].enforced() == enforced);
    let most = left.iter().map(|at| tried[*at].cell.mb_per_s).fold(0.0, f64::max);
    left.retain(|at| tried[*at].cell.mb_per_s >= most * SAME);
    left.sort_by(|one, other| {
        let (one, other) = (&tried[*one], &tried[*other]);
        let error =
            |tried: &Tried| tried.cell.error_points().map_or(f64::INFINITY, |error| error.0);
        let base = |tried: &Tried| tried.scheduler != BASE;
        (one.round, base(one))
            .cmp(&(other.round, base(other)))
            .then(error(one).total_cmp(&error(other)))
    });
    left.first().copied()
}
