//! `fairdisk man`: writes the man pages into a directory.

use crate::cli::Cli;
use crate::failure::Failure;
use clap::CommandFactory as _;
use std::fs;
use std::path::PathBuf;

/// Write the man pages into a directory
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The directory, which is made if it is not there
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    let directory = &args.directory;
    let written = fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), directory));
    written.map_err(|error| {
        let path = directory.display();
        Failure::BadInput(format!(
            "{path}: cannot write man pages there: {error}; name a directory that you may write to"
        ))
    })
}
