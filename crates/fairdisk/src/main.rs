//! The `fairdisk` program: runs experiments and job files in the lab or on a real file, shares
//! disks through mounts, shows the catalogue, and explains why a request waited.
//!
//! Results go to standard output, progress and diagnostics to standard error. Exit status: 0 done,
//! 1 a run failed or was refused, 2 bad usage or bad input, 130 interrupted. A closed pipe on
//! standard output is not a failure.
#![forbid(unsafe_code)]

mod cli;
mod commands;
mod failure;
mod fio_words;
mod interrupt;
mod kept_figures;
mod kept_runs;
mod log;
mod mount_helper;
mod notify;
mod number_arg;
mod output;
mod own_file;
mod progress;
mod real;
mod records;
mod replay_args;
mod results;
mod selection;
mod strange_option;

use clap::Parser as _;
use failure::Failure;
use std::ffi::OsStr;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let name = arguments.next();
    // Checked first, because the helper's arguments are chosen by others: a mount source may have
    // the same name as the guardian's argument.
    if mount_helper::is_called(name.as_deref()) {
        return mount_helper::run(name.as_deref(), arguments);
    }
    let first = arguments.next();
    if let Some(ended) = fairdisk_mount::run_guardian_if_called(first.as_deref()) {
        return ExitCode::from(u8::from(ended.is_err()));
    }
    match run() {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

fn run() -> Result<ExitCode, Failure> {
    commands::answer_shell();
    interrupt::survive_large_files()
        .map_err(|error| Failure::Run(format!("cannot listen for signals: {error}")))?;
    match cli::Cli::try_parse_from(fio_words::joined(std::env::args_os().collect())) {
        Ok(cli) => commands::execute(cli.command).map(|()| ExitCode::SUCCESS),
        // The user asked for help or for the version, which is a result and goes to standard
        // output.
        Err(answer) if !answer.use_stderr() => {
            // clap decides itself whether to use colours.
            output::print_by(|_| answer.print())?;
            Ok(ExitCode::SUCCESS)
        }
        Err(mut error) => {
            let command = std::env::args_os().nth(1);
            strange_option::advise(&mut error, command.as_deref().and_then(OsStr::to_str));
            error.exit()
        }
    }
}
