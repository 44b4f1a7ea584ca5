//! `fairdisk completions`: prints the completion script of a shell.

use crate::cli::Cli;
use crate::failure::Failure;
use crate::output;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory as _, ValueHint};
use clap_complete::Shell;
use fairdisk_lab::catalog::library::Kind;

/// Print completions for a shell
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    let mut script = Vec::new();
    let mut command = with_names(Cli::command(), args.shell);
    clap_complete::generate(args.shell, &mut command, "fairdisk", &mut script);
    Ok(output::print(&String::from_utf8_lossy(&script))?)
}

/// The command line as completions see it: an argument that takes a catalogue name offers the
/// built-in ones. All shells but zsh fall back to file names if no catalogue name matches. bash
/// does not tell arguments apart, so of two that take the same names only the first one offers
/// them. Of names separated by commas the first one is offered, since the scripts compare names
/// with whole words.
fn with_names(command: Command, shell: Shell) -> Command {
    let offer = |kinds: &'static [Kind]| {
        move |arg: Arg| {
            let names = kinds.iter().flat_map(|kind| kind.ids());
            arg.value_parser(PossibleValuesParser::new(names))
        }
    };
    // zsh does not fall back, so it offers files, as an experiment is often the user's own file.
    let experiment = move |arg: Arg| match shell {
        Shell::Zsh => arg.value_hint(ValueHint::FilePath),
        _ => offer(&[Kind::Experiment])(arg),
    };
    let scheduler_again = move |arg: Arg| match shell {
        Shell::Bash => arg,
        _ => offer(&[Kind::Revision])(arg),
    };
    let device = move |arg: Arg| match shell {
        Shell::Zsh => arg,
        _ => offer(&[Kind::Device])(arg),
    };
    let of_a_run = move |command: Command| {
        command
            .mut_arg("device", offer(&[Kind::Device]))
            .mut_arg("scheduler", offer(&[Kind::Revision]))
    };
    command
        .mut_subcommand("run", |run| {
            let places = PossibleValuesParser::new(["lab", "file:"]);
            of_a_run(run).mut_arg("spec", experiment).mut_arg("on", |on| on.value_parser(places))
        })
        .mut_subcommand("compare", |compare| of_a_run(compare).mut_arg("spec", experiment))
        .mut_subcommand("advise", |advise| of_a_run(advise).mut_arg("spec", experiment))
        .mut_subcommand("explain", |explain| of_a_run(explain).mut_arg("run", experiment))
        .mut_subcommand("blame", |blame| {
            blame
                .mut_arg("device", offer(&[Kind::Device]))
                .mut_arg("good", offer(&[Kind::Revision]))
                .mut_arg("bad", scheduler_again)
                .mut_arg("spec", experiment)
        })
        .mut_subcommand("mount", |mount| mount.mut_arg("costs", device))
        .mut_subcommand("catalog", |catalog| {
            let name = catalog.get_arguments().find(|arg| arg.get_id() == "name").cloned();
            let kinds = [
                ("devices", &[Kind::Device]),
                ("schedulers", &[Kind::Revision]),
                ("experiments", &[Kind::Experiment]),
                ("hosts", &[Kind::Host]),
            ];
            // What is listed decides which names there are, as a subcommand does.
            let below =
                kinds.map(|(kind, of)| Command::new(kind).args(name.clone().map(offer(of))));
            let rest = catalog.get_arguments().filter(|arg| !arg.is_positional());
            let rest = rest.map(|arg| arg.clone().global(true));
            let about = catalog.get_about().cloned().unwrap_or_default();
            Command::new("catalog")
                .about(about)
                .args(rest.collect::<Vec<_>>())
                .subcommands(below)
                .disable_help_subcommand(true)
        })
}
