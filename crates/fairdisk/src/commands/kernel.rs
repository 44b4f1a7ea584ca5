//! `fairdisk kernel`: what the kernel's own settings for sharing disks do, and what they do not.

use crate::failure::Failure;
use crate::{interrupt, number_arg, output};
use clap::{Subcommand, ValueHint};
use fairdisk_core::Span;
use fairdisk_kernel::{
    Load, Plan, Report, Root, STATE, Snapshot, Stack, apply, check, preview, to_table, undo, verify,
};
use fairdisk_lab::time_text;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Check the kernel's own settings for sharing disks
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Find settings that do nothing, or something else than they say, and what mends each
    ///
    /// Reads schedulers of all disks down through partitions, LVM, dm-crypt, md and loop devices,
    /// cgroups of both versions, io.cost, I/O priorities, unit files of systemd, and whom buffered
    /// writes are charged to. Writes nothing.
    #[command(after_help = "Exit status: 0 nothing is to be mended, 1 findings, 2 bad usage.\n\n\
        Examples:\n  \
        fairdisk kernel check\n  \
        fairdisk kernel check /var/lib/postgresql --group system.slice/postgresql.service")]
    Check {
        /// A device such as /dev/sda, or a path on the disk [default: all disks]
        #[arg(value_name = "DEVICE|PATH", value_hint = ValueHint::AnyPath)]
        of: Option<String>,
        /// A cgroup that should have a share or limits of its own (may be repeated)
        #[arg(long, value_name = "CGROUP")]
        group: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a plan's settings, all or nothing
    ///
    /// Says each file that is written. What was there before is kept until `fairdisk kernel undo`.
    /// Settings end with the next boot.
    Apply {
        /// The plan, a .toml file
        #[arg(value_name = "PLAN", value_hint = ValueHint::FilePath)]
        plan: PathBuf,
        #[command(flatten)]
        kept: Kept,
        /// Say what would be written, and write nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Take back what `fairdisk kernel apply` wrote
    ///
    /// Writes the values that were there before. A scheduler's tunables are the kernel's defaults
    /// when it is back. What cannot be taken back stays kept for the next time.
    Undo {
        #[command(flatten)]
        kept: Kept,
    },
    /// Try a plan out: asked, predicted and measured side by side
    ///
    /// Carries out the plan with throw-away groups in place of its own. fio reads from the disk in
    /// all of them at once; nothing is written to the disk. The plan is taken back at the end.
    Verify {
        /// The plan, a .toml file
        #[arg(value_name = "PLAN", value_hint = ValueHint::FilePath)]
        plan: PathBuf,
        /// How long the load lasts, in whole seconds
        #[arg(long, value_name = "TIME", default_value = "5s", value_parser = time_text::parse)]
        time: Span,
        /// Random reads of 4 KiB at once in each group
        #[arg(
            long, value_name = "N", default_value_t = 16,
            value_parser = number_arg::within::<u32>(1..=1024)
        )]
        depth: u32,
        /// Fail if a share is off by more than so many points from that asked
        #[arg(long, value_name = "POINTS")]
        within: Option<f64>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
struct Kept {
    /// Where it is kept what was there before
    #[arg(long, value_name = "FILE", default_value = STATE, value_hint = ValueHint::FilePath)]
    state: PathBuf,
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    match &args.action {
        Action::Check { of, group, json } => execute_check(of.as_deref(), group, *json),
        Action::Apply { plan, kept, dry_run } => execute_apply(plan, &kept.state, *dry_run),
        Action::Undo { kept } => {
            let (lines, done) = told(|tell| undo(&Root::of_system(), &kept.state, tell));
            print(&lines)?;
            done.map_err(Failure::Run)
        }
        Action::Verify { plan, time, depth, within, json } => {
            let load = Load { seconds: (time.as_ns() / 1_000_000_000).max(1), depth: *depth };
            execute_verify(plan, load, *within, *json)
        }
    }
}

/// What a function tells, line by line, and its result.
fn told<T>(of: impl FnOnce(&mut dyn FnMut(&str)) -> T) -> (Vec<String>, T) {
    let mut lines = Vec::new();
    let result = of(&mut |line| lines.push(line.to_owned()));
    (lines, result)
}

/// Prints lines in which names are chosen by others.
fn print(lines: &[String]) -> Result<(), Failure> {
    let lines: String = lines.iter().map(|line| format!("{}\n", output::plain(line))).collect();
    Ok(output::print(&lines)?)
}

fn read(plan: &Path) -> Result<Plan, Failure> {
    let named = |why: String| Failure::BadInput(format!("{}: {why}", plan.display()));
    let text = std::fs::read_to_string(plan).map_err(|error| named(error.to_string()))?;
    Plan::parse(&text).map_err(named)
}

fn execute_apply(plan: &Path, state: &Path, dry_run: bool) -> Result<(), Failure> {
    let root = Root::of_system();
    let steps = read(plan)?.steps(&Snapshot::read(&root));
    let named = |why: String| Failure::BadInput(format!("{}: {why}", plan.display()));
    let steps = steps.map_err(named)?;
    if dry_run {
        return print(&preview(&root, &steps));
    }
    let (lines, done) = told(|tell| apply(&root, &steps, state, tell));
    print(&lines)?;
    done.map_err(Failure::Run)
}

fn execute_verify(plan: &Path, load: Load, within: Option<f64>, json: bool) -> Result<(), Failure> {
    let plan = read(plan)?;
    let state = std::env::temp_dir().join(format!("fairdisk-verify-{}", std::process::id()));
    // fio ends by Ctrl-C, too; the settings are taken back before this program does.
    let stop = interrupt::stop_flag()?;
    let (_, verified) = told(|tell| verify(&Root::of_system(), &plan, load, &state, tell));
    if stop.load(Ordering::Relaxed) && !state.exists() {
        return Err(Failure::Interrupted("the settings are as they were before".to_owned()));
    }
    let verified = verified.map_err(Failure::Run)?;
    if json {
        output::print_json(&json!({ "schema": output::SCHEMA, "groups": verified }))?;
    } else {
        let table = to_table(&verified);
        print(&table.lines().map(str::to_owned).collect::<Vec<_>>())?;
    }
    let Some(most) = within else { return Ok(()) };
    if verified.iter().all(|one| one.asked_share.is_none()) {
        return Err(Failure::Run("--within: the plan asks for no shares".to_owned()));
    }
    match verified.iter().find(|one| one.is_off(most)) {
        Some(one) => {
            let got = one.measured_share;
            Err(Failure::Run(format!("{} got {got:.1} % of the disk", one.group)))
        }
        None => Ok(()),
    }
}

fn execute_check(of: Option<&str>, groups: &[String], json: bool) -> Result<(), Failure> {
    let snapshot = Snapshot::read(&Root::of_system());
    let stacks = match of {
        None => snapshot.all_stacks(),
        Some(of) => vec![stack(&snapshot, of)?],
    };
    let findings = check(&snapshot, &stacks, groups).map_err(Failure::BadInput)?;
    let report = Report::new(&snapshot, stacks, findings);
    if json {
        let mut value = json!({ "schema": output::SCHEMA, "version": env!("CARGO_PKG_VERSION") });
        let report = serde_json::to_value(&report);
        let report = report.map_err(|error| Failure::Run(error.to_string()))?;
        value["check"] = report;
        output::print_json(&value)?;
    } else {
        print(&report.to_text().lines().map(str::to_owned).collect::<Vec<_>>())?;
    }
    match report.faults() {
        0 => Ok(()),
        1 => Err(Failure::Run("1 setting does not do as it says".to_owned())),
        more => Err(Failure::Run(format!("{more} settings do not do as they say"))),
    }
}

/// The devices under a device or path. A relative path begins in the current directory.
fn stack(snapshot: &Snapshot, of: &str) -> Result<Stack, Failure> {
    let as_given = snapshot.stack(of);
    if as_given.is_ok() || Path::new(of).is_absolute() {
        return as_given.map_err(Failure::BadInput);
    }
    let path =
        std::fs::canonicalize(of).map_err(|error| Failure::BadInput(format!("{of}: {error}")))?;
    snapshot.stack(&path.to_string_lossy()).map_err(Failure::BadInput)
}
