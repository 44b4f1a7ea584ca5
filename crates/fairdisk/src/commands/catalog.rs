//! `fairdisk catalog`: the devices, schedulers, experiments, hosts and kernels that are built in,
//! and all that was published beside what the lab has.

mod kernels;
mod published;

use crate::failure::Failure;
use crate::output;
use crate::results::Results;
use crate::selection::Seeds;
use clap::ValueEnum;
use fairdisk_lab::catalog::library::{Document, Kind, find, under_mounts};
use fairdisk_lab::catalog::revision::Revision;
use fairdisk_sched::{SchedulerSpec, Switch};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// List devices, schedulers, experiments, hosts and kernels, or show one of them
///
/// `published` runs the experiments whose sources print something, or the one that is named, and
/// shows every published figure and estimate beside ours.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to list; everything if not given
    kind: Option<KindArg>,
    /// Show this one's file, which says where each value comes from
    name: Option<String>,
    #[command(flatten)]
    seeds: Seeds,
    #[command(flatten)]
    results: Results,
}

/// A part of the catalogue, as named on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KindArg {
    Devices,
    Schedulers,
    Experiments,
    Hosts,
    Kernels,
    Published,
}

impl KindArg {
    /// The kind of file, if it is one.
    const fn file(self) -> Option<Kind> {
        match self {
            Self::Devices => Some(Kind::Device),
            Self::Schedulers => Some(Kind::Revision),
            Self::Experiments => Some(Kind::Experiment),
            Self::Hosts => Some(Kind::Host),
            Self::Kernels | Self::Published => None,
        }
    }

    /// The kinds that are lists.
    fn lists() -> Vec<Self> {
        let all = Self::value_variants().iter().copied();
        all.filter(|kind| *kind != Self::Published).collect()
    }

    /// What others call an entry.
    fn other_names(self, id: &str) -> Vec<&'static str> {
        self.file().into_iter().flat_map(|file| file.other_names(id)).collect()
    }

    fn heading(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    let Args { kind, name, seeds, results } = args;
    if *kind == Some(KindArg::Published) {
        return published::execute(name.as_deref(), seeds.seeds, results);
    }
    demand_no_runs(args)?;
    if let (Some(kind), Some(name)) = (kind, name) {
        return show(*kind, name, results.json);
    }
    let kinds = kind.map_or_else(KindArg::lists, |kind| vec![kind]);
    if results.json {
        let mut value = json!({ "schema": output::SCHEMA });
        kinds.iter().for_each(|kind| value[kind.heading()] = as_json(*kind));
        return Ok(output::print_json(&value)?);
    }
    let width = kinds.iter().flat_map(|kind| entries(*kind)).map(|(id, _)| id.len());
    let width = width.max().unwrap_or(0);
    let lists: Vec<String> = kinds.iter().map(|kind| list(*kind, width, kinds.len() > 1)).collect();
    Ok(output::print(&lists.join("\n"))?)
}

/// Checks that options of runs are not given where nothing is run.
fn demand_no_runs(args: &Args) -> Result<(), Failure> {
    let given = [
        ("--seeds", args.seeds.seeds.is_some()),
        ("--report", args.results.has_page()),
        ("--quiet", args.results.quiet),
    ];
    given.iter().find(|(_, is_given)| *is_given).map_or(Ok(()), |(option, _)| {
        let message = format!("{option} is for `fairdisk catalog published`; drop it");
        Err(Failure::BadInput(message))
    })
}

/// Prints a catalogue file as it is. Its comments are included, since they give the source of each
/// value.
fn show(kind: KindArg, asked: &str, json: bool) -> Result<(), Failure> {
    let Some(file) = kind.file() else { return kernels::show(asked, json) };
    let of_mounts = under_mounts(asked).filter(|_| kind == KindArg::Schedulers);
    // Only mounts have a scheduler that is called `cfq`.
    let is_listed = file.ids().any(|id| id == asked);
    let name = of_mounts.filter(|_| !is_listed).unwrap_or(asked);
    let document = find(file, name)?;
    let switches = if kind == KindArg::Schedulers { switches(name)? } else { Vec::new() };
    if json {
        let mut value = json!({
            "schema": output::SCHEMA,
            "id": document.id,
            "path": document.path,
            "text": document.text,
        });
        if !switches.is_empty() {
            value["switches"] = switches.into_iter().map(switch_as_json).collect();
        }
        if let Some(words) = honours(kind, name)? {
            value["honours"] = words.into();
        }
        if let Some(id) = of_mounts {
            value["under_mounts"] = id.into();
        }
        return Ok(output::print_json(&value)?);
    }
    let of_mounts = of_mounts.map_or_else(String::new, |id| {
        format!(
            "\n# As {asked}, mounts run {id} (fairdisk mount, fairdisk ctl scheduler; its file: \
             fairdisk catalog schedulers {id}).\n"
        )
    });
    let about = about_switches(&switches);
    let honours = honours(kind, name)?
        .map_or_else(String::new, |words| format!("\n# Honours: {}\n", or_nothing(&words)));
    Ok(output::print(&format!("{}{of_mounts}{honours}{about}", document.text))?)
}

/// Which settings of groups and tasks a scheduler takes into account; `None` for an entry that is
/// not a scheduler.
fn honours(kind: KindArg, name: &str) -> Result<Option<Vec<&'static str>>, Failure> {
    if kind != KindArg::Schedulers {
        return Ok(None);
    }
    Ok(Some(Revision::load(name)?.spec.honours().words().collect()))
}

fn or_nothing(words: &[&str]) -> String {
    if words.is_empty() { "nothing of groups and tasks".to_owned() } else { words.join(", ") }
}

/// The switches of a scheduler's family, each with whether it is on.
fn switches(name: &str) -> Result<Vec<(&'static Switch, bool)>, Failure> {
    let spec = Revision::load(name)?.spec;
    let all = SchedulerSpec::switches_of(Some(spec.name()));
    Ok(all.map(|switch| (switch, spec.switch(switch.name) == Some(true))).collect())
}

/// A description of every switch, as comments, so that the output remains a valid TOML file.
fn about_switches(switches: &[(&Switch, bool)]) -> String {
    if switches.is_empty() {
        return String::new();
    }
    let mut text = String::from("\n# What the switches do, and which are on here:\n");
    for (switch, on) in switches {
        let on = if *on { "on " } else { "off" };
        let Switch { name, commit, author, release, summary, .. } = switch;
        let id = if switch.id.is_empty() { String::new() } else { format!("{}, ", switch.id) };
        let _ = writeln!(text, "# {on}  {name}: {summary}");
        let _ = writeln!(text, "#        {id}{commit}, {author}, {release}");
    }
    text
}

fn switch_as_json((switch, on): (&Switch, bool)) -> Value {
    json!({
        "name": switch.name,
        "on": on,
        "id": switch.id,
        "commit": switch.commit,
        "author": switch.author,
        "release": switch.release,
        "revision": switch.revision,
        "summary": switch.summary,
        "needs": switch.needs,
    })
}

fn list(kind: KindArg, width: usize, with_heading: bool) -> String {
    let mut text = String::new();
    if with_heading {
        let _ = writeln!(text, "{}", kind.heading());
    }
    let indent = if with_heading { "  " } else { "" };
    for (id, title) in entries(kind) {
        let honoured = match honours(kind, id) {
            Ok(Some(words)) if !words.is_empty() => format!(" [{}]", words.join(", ")),
            _ => String::new(),
        };
        let others: String =
            kind.other_names(id).iter().map(|name| format!("; also `{name}`")).collect();
        let _ = writeln!(text, "{indent}{id:width$}  {title}{others}{honoured}");
    }
    text
}

fn as_json(kind: KindArg) -> Value {
    let entry = |(id, title): (&str, String)| {
        let mut value = json!({ "id": id, "title": title });
        let others = kind.other_names(id);
        if !others.is_empty() {
            value["other_names"] = others.into();
        }
        if let Ok(Some(words)) = honours(kind, id) {
            value["honours"] = words.into();
        }
        value
    };
    entries(kind).into_iter().map(entry).collect()
}

fn entries(kind: KindArg) -> Vec<(&'static str, String)> {
    let Some(file) = kind.file() else { return kernels::entries().collect() };
    let entry = |id| (id, find(file, id).map_or_else(|_| String::new(), title));
    file.ids().map(entry).collect()
}

/// The value of the file's `title` line.
fn title(document: Document) -> String {
    let line = document.text.lines().find_map(|line| line.strip_prefix("title"));
    let value = line.and_then(|line| line.split_once('"')?.1.rsplit_once('"'));
    value.map_or_else(String::new, |(title, _)| title.to_owned())
}
