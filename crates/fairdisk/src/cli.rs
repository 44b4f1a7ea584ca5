//! The command line. Help texts, shell completions and man pages are all generated from this one
//! definition.

use crate::commands::{
    advise, blame, calibrate, catalog, cgroup, compare, completions, ctl, demo, explain, kernel,
    man, memory, mount, record, run, schema, sweep, top, trace, validate,
};
use clap::{Parser, Subcommand};

/// Shares a disk between groups of programs in the proportions you ask for, and shows why a disk
/// got slower.
#[derive(Debug, Parser)]
#[command(name = "fairdisk", version, propagate_version = true, arg_required_else_help = true)]
#[command(
    after_help = "Results go to standard output, progress and diagnostics to standard error.\n\
    Exit status: 0 done, 1 a run failed or was refused, 2 bad usage or bad input, 130\n\
    interrupted.\n\n\
    Start with: fairdisk demo"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The subcommands, in the order in which `--help` lists them.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(demo::Args),
    Run(run::Args),
    Compare(compare::Args),
    Sweep(sweep::Args),
    Advise(advise::Args),
    Memory(memory::Args),
    Calibrate(calibrate::Args),
    Mount(mount::Args),
    Ctl(ctl::Args),
    Top(top::Args),
    Cgroup(cgroup::Args),
    Catalog(catalog::Args),
    Explain(explain::Args),
    Blame(blame::Args),
    Kernel(kernel::Args),
    Record(record::Args),
    Trace(trace::Args),
    Validate(validate::Args),
    Schema(schema::Args),
    Completions(completions::Args),
    Man(man::Args),
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::{Command, CommandFactory as _};
    use std::collections::BTreeSet;

    /// Checks a command and all commands below it.
    fn commands() -> Vec<Command> {
        let mut root = Cli::command();
        root.build();
        let mut all = vec![root];
        let mut at = 0;
        while at < all.len() {
            let below: Vec<Command> = all[at].get_subcommands().cloned().collect();
            all.extend(below.into_iter().filter(|command| command.get_name() != "help"));
            at += 1;
        }
        assert!(all.len() >= 7, "only {} commands", all.len());
        all
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_and_option_has_help() {
        for command in commands() {
            let name = command.get_name();
            assert!(command.get_about().is_some(), "{name} has no help");
            for argument in command.get_arguments() {
                let id = argument.get_id();
                let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(!help.is_empty(), "{name} {id} has no help");
                assert!(!help.ends_with('.') || help.contains(". "), "{name} {id}: {help}");
            }
        }
    }

    #[test]
    fn names_are_plain_and_given_once() {
        let plain = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        for command in commands() {
            let name = command.get_name();
            assert!(plain(name), "{name}");
            let (mut longs, mut shorts) = (BTreeSet::new(), BTreeSet::new());
            for argument in command.get_arguments() {
                if let Some(long) = argument.get_long() {
                    assert!(plain(long), "{name} --{long}");
                    assert!(longs.insert(long.to_owned()), "{name} has --{long} twice");
                }
                if let Some(short) = argument.get_short() {
                    assert!(short.is_ascii_alphabetic(), "{name} -{short}");
                    assert!(shorts.insert(short), "{name} has -{short} twice");
                }
            }
        }
    }
}
