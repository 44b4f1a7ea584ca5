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

/// The exit status of all commands.
const EXIT_STATUS: &str = "\
.SH \"EXIT STATUS\"
.TP
0
Done. A mount in the background is ready.
.TP
1
It failed, which may pass.
.TP
2
The usage or the input is wrong.
.TP
130
Ctrl\\-C ended it.
";

/// The files of mounts.
const FILES: &str = "\
.SH FILES
.TP
.I /etc/fairdisk/groups.toml, /etc/fairdisk/groups.d/*.toml
Rules for groups: their settings by patterns of cgroup names.
FAIRDISK_RULES names another directory.
.TP
.I /etc/fairdisk/groups.d/ctl.toml
What fairdisk ctl set \\-\\-keep writes.
.TP
.I /etc/fairdisk/NAME.conf
The mount of the service fairdisk@NAME.
.TP
.I /run/fairdisk/
The control sockets of root's mounts. Those of other users are in $XDG_RUNTIME_DIR/fairdisk.
";

/// What a page has beside what the command line tells.
fn sections(page: &str) -> String {
    let is_of = |command: &str| page.starts_with(&format!("fairdisk-{command}"));
    let has_files = page == "fairdisk.1" || is_of("mount") || is_of("ctl");
    let files = if has_files { FILES } else { "" };
    format!("{EXIT_STATUS}{files}")
}

/// The page with the text behind the options as the lines that it is written in, under a heading
/// that says so.
fn with_lines(page: &str) -> String {
    let extra = page.split_once(".SH EXTRA\n").and_then(|(before, extra)| {
        let (text, after) = extra.split_once(".SH ")?;
        Some((before, text, after))
    });
    let Some((before, text, after)) = extra else { return page.to_owned() };
    let (heading, text) = match text.strip_prefix("Examples:\n") {
        Some(examples) => ("EXAMPLES", examples),
        None => ("NOTES", text),
    };
    format!("{before}.SH {heading}\n.nf\n{text}.fi\n.SH {after}")
}

/// Writes the pages. They are written in a directory of their own first, so that none is left half
/// written on a full disk.
fn write(directory: &Path) -> io::Result<()> {
    let part = directory.join(format!(".fairdisk-man.{}.part", process::id()));
    fs::create_dir(&part)?;
    let written = clap_mangen::generate_to(Cli::command(), &part).and_then(|()| {
        fs::read_dir(&part)?.try_for_each(|page| {
            let page = page?;
            let sections = sections(&page.file_name().to_string_lossy());
            let text = fs::read_to_string(page.path())?;
            fs::write(page.path(), with_lines(&text) + &sections)?;
            fs::rename(page.path(), directory.join(page.file_name()))
        })
    });
    let removed = fs::remove_dir_all(&part);
    written.and(removed)
}
