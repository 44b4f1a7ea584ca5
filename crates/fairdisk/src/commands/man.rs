//! `fairdisk man`: writes the man pages into a directory.

use crate::cli::Cli;
use crate::failure::Failure;
use clap::CommandFactory as _;
use std::path::PathBuf;

/// Write the man pages into a directory
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The directory; it must exist
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    clap_mangen::generate_to(Cli::command(), &args.directory).map_err(|error| {
        let path = args.directory.display();
        Failure::BadInput(format!("{path}: cannot write man pages there: {error}"))
    })
}
