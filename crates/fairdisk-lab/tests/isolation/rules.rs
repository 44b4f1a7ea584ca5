//! What each rule of `fair` is worth: the matrix and further loads without it, as a table.

use super::{OURS, SHORT, errors, plan};
use fairdisk_core::Span;
use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::compare::{Cell, compare};
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::Silent;
use fairdisk_sched::fair::{RULES, Rule};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Devices beside those of the short matrix, with the length of the ramp and of the run in ms.
const FURTHER: &[(&str, u64, u64)] = &[("hdd-7200-2007", 1_000, 11_000), ("nvme", 200, 1_000)];

/// Devices on which the matrix is run without costs as well, as most mounts have none.
const UNTOLD: [&str; 2] = ["sata-ssd", "nvme"];

/// Loads beside the matrix, each of the kind for which a rule was made.
const LOADS: &[&str] = &[
    "buffered-writers",
    "ceilings",
    "commits",
    "durable",
    "few-writers",
    "floors",
    "fsync",
    "hidden-writes",
    "in-time",
    "ionice",
    "log-beside-dump",
    "mixes",
    "one-head",
    "pauses",
    "player",
    "promises",
    "room",
    "several-thinkers",
    "starved",
    "streams",
    "targets",
    "thinkers",
    "write-back",
    "write-cache",
    "writers",
];

/// Runs of each load: more would take hours, and most rules either change a load or do not.
const SEEDS: u32 = 1;

/// The figures of one set of loads.
struct Figures {
    cells: Vec<Cell>,
}

/// What a rule is worth under one set of loads: what is lost without it.
struct Worth {
    /// Of the mean error, in points, and of the error of the row that loses most.
    points: f64,
    worst: (f64, String),
    /// Of the throughput in bytes, as the geometric mean over rows, in percent.
    throughput: f64,
    /// The least throughput of a row, as a part of that with the rule, and the row.
    least: (f64, String),
    /// Of promises kept.
    promises: i64,
    /// Longest waits without the rule, as a multiple of those with it: the geometric mean.
    waits: f64,
}

impl Figures {
    fn of(plans: Vec<Plan>) -> Self {
        let comparison = compare(&plans, &Silent, &AtomicBool::new(false)).expect("it fits");
        Self { cells: comparison.cells }
    }

    /// The mean error in points over rows with several groups.
    fn error(&self) -> f64 {
        let several = self.cells.iter().filter(|cell| cell.groups.len() > 1);
        mean(several.filter_map(|cell| cell.error_points()).map(|(mean, _)| mean))
    }

    fn kept(&self) -> i64 {
        let groups = self.cells.iter().flat_map(|cell| &cell.groups);
        let promises = groups.map(|group| &group.promises);
        promises.filter(|one| !one.are_none() && one.are_kept()).count() as i64
    }

    /// What is lost in `self` of what was there in `with`.
    fn worth(&self, with: &Self) -> Worth {
        let pairs = || with.cells.iter().zip(&self.cells);
        let row = |cell: &Cell| format!("{}, {}", cell.device, cell.row);
        let lost = pairs().filter(|(cell, _)| cell.groups.len() > 1);
        let lost = lost.map(|(with, without)| (errors(without).0 - errors(with).0, row(with)));
        let worst = lost.max_by(|one, two| one.0.total_cmp(&two.0));
        let ratio = |one: f64, other: f64| (one.max(1e-3) / other.max(1e-3)).ln();
        let rates = pairs().map(|(with, without)| ratio(without.mb_per_s, with.mb_per_s));
        let rows = rates.clone().zip(pairs()).map(|(rate, (cell, _))| (rate.exp(), row(cell)));
        let least = rows.min_by(|one, two| one.0.total_cmp(&two.0));
        let wait = |cell: &Cell| {
            let waits = cell.groups.iter().map(|group| group.outcome.wait_max_ms);
            waits.fold(0.0, f64::max)
        };
        let waits = pairs().map(|(with, without)| ratio(wait(without), wait(with)));
        Worth {
            points: self.error() - with.error(),
            worst: worst.unwrap_or_default(),
            throughput: (1.0 - mean(rates).exp()) * 100.0,
            least: least.unwrap_or((1.0, String::new())),
            promises: with.kept() - self.kept(),
            waits: mean(waits).exp(),
        }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), one| (sum + one, count + 1));
    sum / f64::from(count.max(1))
}

fn options(without: &[&Rule]) -> Options {
    let off = |rule: &&Rule| Override::parse(&format!("scheduler.rules.{}=false", rule.name));
    Options {
        schedulers: vec![OURS.to_owned()],
        overrides: without.iter().map(|rule| off(rule).expect("it is one")).collect(),
        seeds: Some(SEEDS),
        ..Options::default()
    }
}

/// The matrix without some rules, with costs told or not.
fn matrix(without: &[&Rule], tells_costs: bool) -> Figures {
    let devices = SHORT.iter().chain(FURTHER);
    let devices = devices.filter(|(device, ..)| tells_costs || UNTOLD.contains(device));
    let set = |text: String| Override::parse(&text).expect("it is one");
    let plans = devices.map(|(device, ramp_ms, duration_ms)| {
        let mut options = options(without);
        options.overrides.extend([
            set(format!("experiment.ramp_s={}", *ramp_ms as f64 / 1e3)),
            set(format!("host.queue.tells_costs={tells_costs}")),
        ]);
        options.duration = Some(Span::from_ms(*duration_ms));
        let mut plan = plan(device, options);
        plan.arms.retain(|arm| arm.name == OURS);
        plan
    });
    Figures::of(plans.collect())
}

/// The further loads without some rules.
fn loads(without: &[&Rule]) -> Figures {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/experiments");
    let plans = LOADS.iter().map(|name| {
        let path = folder.join(format!("{name}.toml"));
        let path = path.to_str().expect("it is text");
        let plan = Plan::experiment(path, &options(without));
        plan.unwrap_or_else(|error| panic!("{error}"))
    });
    Figures::of(plans.collect())
}

/// Lines of code of a rule's own modules, without comments and tests.
fn lines(rule: &Rule) -> usize {
    let fair = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fairdisk-sched/src/fair");
    let count = |module: &&str| {
        let text = std::fs::read_to_string(fair.join(format!("{module}.rs"))).expect("it is there");
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default().to_owned();
        let lines = code.lines().map(str::trim);
        lines.filter(|line| !line.is_empty() && !line.starts_with("//")).count()
    };
    rule.modules.iter().map(count).sum()
}

/// The figures of all sets of loads without some rules.
fn measure(without: &[&Rule]) -> [Figures; 3] {
    [matrix(without, true), matrix(without, false), loads(without)]
}

/// The sets of rules that `text` names, as `a+b,c`: by default each rule by itself.
fn sets(text: &str) -> Vec<Vec<&'static Rule>> {
    if text.is_empty() {
        return RULES.iter().map(|rule| vec![rule]).collect();
    }
    let find = |name| {
        let rule = RULES.iter().find(|rule| rule.name == name);
        rule.unwrap_or_else(|| panic!("FAIRDISK_RULES: no rule {name:?}"))
    };
    text.split(',').map(|set| set.split('+').map(find).collect()).collect()
}

/// Prints what each rule is worth, or each set of rules that `FAIRDISK_RULES` names, as the table
/// of docs/isolation.md has it.
pub(crate) fn print_worth() {
    let sets = sets(&std::env::var("FAIRDISK_RULES").unwrap_or_default());
    let with = measure(&[]);
    let errors: Vec<String> = with.iter().map(|one| format!("{:.2}", one.error())).collect();
    println!("with all rules: {} points", errors.join(", "));
    for set in sets {
        let names: Vec<_> = set.iter().map(|rule| format!("`{}`", rule.name)).collect();
        let lines: usize = set.iter().copied().map(lines).sum();
        let mut line = format!("| {} | {lines} |", names.join(", "));
        for (with, without) in with.iter().zip(&measure(&set)) {
            let Worth { points, worst, throughput, promises, least, waits } = without.worth(with);
            let told =
                |told, figure, row| if told { format!("{figure}: {row}") } else { String::new() };
            let most = told(worst.0 >= 1.0, format!("{:.0}", worst.0), worst.1);
            let least = told(least.0 < 0.9, format!("{:.2}", least.0), least.1);
            let kept = if promises == 0 { String::new() } else { format!(", {promises:+} kept") };
            let _ = write!(
                line,
                " {points:+.2}{kept} | {most} | {throughput:+.0} % | {least} | {waits:.2} |"
            );
        }
        println!("{line}");
    }
}
