//! The second half of the demo: two groups read a real file in real time, at the pace of a modelled
//! disk.

use super::bars::bar;
use super::pairs::heading;
use crate::failure::Failure;
use crate::real::{self, BackendArg, Target};
use crate::selection;
use fairdisk_core::{Prng, Span, WeightMap};
use fairdisk_lab::outcome::{Outcome, RowOutcome, Shell, Style, to_json};
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::Ensemble;
use fairdisk_lab::time_text;
use serde_json::Value;
use std::env;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const EXPERIMENT: &str = "two-groups";
/// The duration under each scheduler, long enough for a dozen turns of both groups.
const EACH: Span = Span::from_s(5);
const BAR_COLUMNS: usize = 40;

/// The results of two groups under each scheduler.
pub(super) struct TwoGroups {
    plan: Plan,
    outcome: Outcome,
}

/// A heading that says what is about to run and for how long.
pub(super) fn introduction(plan: &Plan) -> String {
    format!(
        "\n2. In real time: the same schedulers serve real reads of a file, at the pace of a disk\n   \
         {}; {}, {} under each scheduler\n",
        plan.title,
        plan.rig.device_id,
        time_text::words(EACH)
    )
}

pub(super) fn plan() -> Result<Plan, Failure> {
    let options = Options { seeds: Some(1), duration: Some(EACH), ..Options::default() };
    selection::load(EXPERIMENT, &options)
}

impl TwoGroups {
    pub(super) fn run(plan: Plan, quiet: bool, stop: &Arc<AtomicBool>) -> Result<Self, Failure> {
        let target = Target {
            path: free_path(),
            backend: BackendArg::Auto,
            overwrite: false,
            modelled: true,
            temporary: true,
        };
        let needs = real::prepare(&plan, &target, stop)?;
        let (runs, ended) = real::run_plan(&plan, &target, &needs, quiet, stop);
        ended?;
        real::demand_no_errors(&runs)?;
        let ensembles: Vec<Ensemble> = runs.into_iter().map(|run| run.ensemble).collect();
        let outcome = Outcome::new(&plan, Shell::File, &ensembles);
        Ok(Self { plan, outcome })
    }

    pub(super) fn to_json(&self) -> Value {
        to_json(&self.outcome)
    }

    pub(super) fn to_text(&self, style: Style) -> String {
        let asked = asked(&self.plan);
        let mut text = String::new();
        for row in &self.outcome.rows {
            text.push('\n');
            text.push_str(&heading(style, &format!("   {}", title(&self.plan, row))));
            for (group, asked) in row.groups.iter().zip(&asked) {
                write_bars(&mut text, &group.name, *asked, group.share.mean);
            }
        }
        text.push('\n');
        text
    }
}

fn title(plan: &Plan, row: &RowOutcome) -> String {
    let arm = plan.arms.iter().find(|arm| arm.name == row.arm);
    arm.map_or_else(String::new, |arm| arm.revision.title.clone())
}

fn write_bars(text: &mut String, name: &str, asked: f64, got: f64) {
    for (name, word, share) in [(name, "asked", asked), ("", "got", got)] {
        let bar = bar(share, BAR_COLUMNS);
        let _ = writeln!(text, "   {name:10} {word:5} {bar:BAR_COLUMNS$} {:5.1} %", share * 100.0);
    }
}

/// The fraction of the disk that each group asks for by its weight.
fn asked(plan: &Plan) -> Vec<f64> {
    let Some(row) = plan.rows.first() else { return Vec::new() };
    let groups = row.load.build(&plan.rig.host, false, &mut Prng::new(0)).groups;
    let weight = |share: fairdisk_core::Share| f64::from(share.weight(WeightMap::default()).get());
    let weights: Vec<f64> = groups.iter().map(|group| weight(group.spec.share)).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// An unused path in the directory for temporary files.
fn free_path() -> PathBuf {
    let path = |n: u32| env::temp_dir().join(format!("fairdisk-demo-{}-{n}", process::id()));
    (0..).map(path).find(|path| path.symlink_metadata().is_err()).unwrap_or_else(|| path(0))
}
