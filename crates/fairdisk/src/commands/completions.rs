//! `fairdisk completions SHELL`.

use crate::cli::Cli;
use crate::failure::Failure;
use crate::output;
use clap::CommandFactory as _;
use clap_complete::Shell;

/// Print completions for a shell
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "fairdisk", &mut script);
    Ok(output::print(&String::from_utf8_lossy(&script))?)
}
