//! `fairdisk completions`: prints the completion script of a shell, which asks the program for what
//! there is: names of the catalogue, groups, mount points, marks and keys.

use super::ctl;
use crate::cli::Cli;
use crate::failure::Failure;
use crate::output;
use clap::{Arg, Command, CommandFactory as _};
use clap_complete::engine::ValueCompleter as _;
use clap_complete::env::Shells;
use clap_complete::{
    ArgValueCandidates, ArgValueCompleter, CompleteEnv, CompletionCandidate, PathCompleter, Shell,
};
use fairdisk_lab::catalog::library::Kind;
use fairdisk_lab::catalog::overrides;
use fairdisk_mount::identity::{Hierarchy, Setting};
use std::ffi::OsStr;

/// The variable in the environment by which a shell asks.
const VARIABLE: &str = "FAIRDISK_COMPLETE";

/// Print completions for a shell
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    let shells = Shells::builtins();
    let name = args.shell.to_string();
    let shell = shells.completer(&name).expect("it is one of those");
    let (mut script, program) = (Vec::new(), "fairdisk");
    let written = shell.write_registration(VARIABLE, program, program, program, &mut script);
    written.map_err(|error| Failure::Run(error.to_string()))?;
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if args.shell == Shell::Zsh {
        // The file is run when completions are asked for first.
        script += "[ \"${funcstack[1]}\" != _fairdisk ] || _clap_dynamic_completer_fairdisk\n";
    }
    Ok(output::print(&script)?)
}

/// Answers a shell that asks for completions; then the program ends.
pub(crate) fn answer() {
    CompleteEnv::with_factory(|| with_values(Cli::command())).var(VARIABLE).complete();
}

/// These values, as they are when they are asked for.
fn offer<T: IntoIterator<Item = String> + 'static>(values: fn() -> T) -> impl FnOnce(Arg) -> Arg {
    let candidates = move || values().into_iter().map(CompletionCandidate::new).collect();
    move |arg| arg.add(ArgValueCandidates::new(candidates))
}

/// The names of the built-in files of a kind, and files.
fn names(kind: Kind) -> impl Fn(Arg) -> Arg {
    let candidates = move |begun: &OsStr| {
        let begun_text = begun.to_str().unwrap_or_default();
        let known = kind.ids().filter(|id| id.starts_with(begun_text));
        let files = PathCompleter::file();
        known.map(CompletionCandidate::new).chain(files.complete(begun)).collect()
    };
    move |arg| arg.add(ArgValueCompleter::new(candidates))
}

/// Keys, to be followed by a value.
fn to_be_set<T: Into<String>>(keys: impl IntoIterator<Item = T>) -> Vec<String> {
    keys.into_iter().map(|key| key.into() + "=").collect()
}

fn groups() -> Vec<String> {
    let all = ctl::hierarchies().into_iter().chain(Hierarchy::best().ok()).next();
    all.map(|hierarchy| hierarchy.cgroups()).unwrap_or_default()
}

/// The values of an argument of the command `of`, by its name, which says the same everywhere.
fn with_candidates(of: &str, arg: Arg) -> Arg {
    let name = arg.get_long().unwrap_or(arg.get_id().as_str());
    match (of, name) {
        (_, "device" | "costs" | "device-model") => names(Kind::Device)(arg),
        (_, "scheduler" | "good" | "bad") | ("scheduler", "name") => names(Kind::Revision)(arg),
        (_, "spec") | ("explain", "run") => names(Kind::Experiment)(arg),
        (_, "set" | "good-set" | "bad-set") => offer(|| to_be_set(overrides::known_keys()))(arg),
        ("run", "on") => offer(|| ["lab", "file:"].map(str::to_owned))(arg),
        ("ctl" | "top", "at") => offer(ctl::mountpoints)(arg),
        ("list", "since") | ("mark", "name") => offer(ctl::mark_names)(arg),
        ("get" | "set", "group") => offer(groups)(arg),
        ("set", "settings") => offer(|| to_be_set(Setting::keys()))(arg),
        ("scheduler", "tunables") => offer(|| to_be_set(ctl::tunables()))(arg),
        _ => arg,
    }
}

/// The command line as completions see it.
fn with_values(command: Command) -> Command {
    let name = command.get_name().to_owned();
    match name.as_str() {
        "catalog" => catalog(&command),
        of => command.mut_args(|arg| with_candidates(of, arg)).mut_subcommands(with_values),
    }
}

/// What is listed decides which names there are, as a subcommand does.
fn catalog(command: &Command) -> Command {
    let name = command.get_arguments().find(|arg| arg.get_id() == "name").cloned();
    let kinds = [
        ("devices", Kind::Device),
        ("schedulers", Kind::Revision),
        ("experiments", Kind::Experiment),
        ("hosts", Kind::Host),
    ];
    let below = kinds.map(|(kind, of)| Command::new(kind).args(name.clone().map(names(of))));
    let rest = command.get_arguments().filter(|arg| !arg.is_positional());
    let rest = rest.map(|arg| arg.clone().global(true));
    let about = command.get_about().cloned().unwrap_or_default();
    Command::new("catalog")
        .about(about)
        .args(rest.collect::<Vec<_>>())
        .subcommands(below)
        .disable_help_subcommand(true)
}
