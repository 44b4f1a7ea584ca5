//! `fairdisk demo`: shows in seconds, and without root, what Fairdisk is for.

mod bars;
mod pairs;
mod two_groups;

use crate::failure::Failure;
use crate::{interrupt, output};
use serde_json::json;
use std::sync::atomic::Ordering;

/// Two groups share a disk: in the lab beside published figures, then in real time
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    let stop = interrupt::stop_flag()?;
    let pairs = pairs::Pairs::run(&stop)?;
    let plan = two_groups::plan()?;
    if !args.json {
        output::print(&pairs.to_text(output::style()))?;
        output::print(&two_groups::introduction(&plan))?;
    }
    let groups = two_groups::TwoGroups::run(plan, args.quiet, &stop)?;
    if args.json {
        let (lab, file) = (pairs.to_json(), groups.to_json());
        output::print_json(&json!({ "schema": output::SCHEMA, "lab": lab, "file": file }))?;
    } else {
        output::print(&groups.to_text(output::style()))?;
    }
    if stop.load(Ordering::Relaxed) {
        return Err(Failure::Interrupted("results are partial".to_owned()));
    }
    if args.json { Ok(()) } else { Ok(output::print(NEXT)?) }
}

const NEXT: &str = "\
Next:
  fairdisk run satoshi-2008-05-27-test1            a published table of twelve rows, in the lab
  fairdisk run two-groups --on file:scratch --device hdd-7200-2007   on a file you keep
  fairdisk explain two-groups/fair --slowest 5     which requests waited longest, and for what
";
