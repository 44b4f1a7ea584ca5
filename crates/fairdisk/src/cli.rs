//! The command line. Help, completions and man pages are generated from this one definition.

use crate::commands::{catalog, completions, demo, explain, man, run};
use clap::{Parser, Subcommand};

/// Shares a disk between groups of programs in the proportions you ask for, and shows why a disk
/// got slower.
#[derive(Debug, Parser)]
#[command(name = "fairdisk", version, propagate_version = true, arg_required_else_help = true)]
#[command(
    after_help = "Results go to standard output, progress and diagnostics to standard error.\n\
    Exit status: 0 done, 1 a run failed, 2 bad usage or bad input, 130 interrupted.\n\n\
    Start with: fairdisk demo"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What can be asked for.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(demo::Args),
    Run(run::Args),
    Catalog(catalog::Args),
    Explain(explain::Args),
    Completions(completions::Args),
    Man(man::Args),
}
