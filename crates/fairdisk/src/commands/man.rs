//! `fairdisk man`: writes the man pages into a directory.

use crate::cli::Cli;
use crate::failure::Failure;
use clap::CommandFactory as _;
use std::path::{Path, PathBuf};
use std::{fs, io, process};

/// Write the man pages into a directory
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The directory, which is made if it is not there
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    let directory = &args.directory;
    fs::create_dir_all(directory).and_then(|()| write(directory)).map_err(|error| {
        let path = directory.display();
        Failure::BadInput(format!(
            "{path}: cannot write man pages there: {error}; name a directory that you may write to"
        ))
    })
}

/// Writes the pages. They are written in a directory of their own first, so that none is left half
/// written on a full disk.
fn write(directory: &Path) -> io::Result<()> {
    let part = directory.join(format!(".fairdisk-man.{}.part", process::id()));
    fs::create_dir(&part)?;
    let written = clap_mangen::generate_to(Cli::command(), &part).and_then(|()| {
        fs::read_dir(&part)?.try_for_each(|page| {
            let page = page?;
            fs::rename(page.path(), directory.join(page.file_name()))
        })
    });
    let removed = fs::remove_dir_all(&part);
    written.and(removed)
}
