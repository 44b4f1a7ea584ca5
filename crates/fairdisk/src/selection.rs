//! Options that select what to run, an experiment, a job file or a trace, and change its values.

use crate::failure::Failure;
use crate::number_arg::within;
use crate::replay_args::{self, ReplayArgs};
use clap::ValueHint;
use fairdisk_core::Span;
use fairdisk_lab::catalog::library::Kind;
use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::compare::BASE;
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::spec;
use fairdisk_lab::time_text;
use std::convert::Infallible;
use std::iter;

/// Changes of scheduler, device and single values, which all commands that run one plan accept.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Changes {
    /// Use this scheduler alone: a name of `fairdisk catalog schedulers`, or the path of a .toml
    /// file. Only the arms that have it are run; if none has, one arm that has it replaces them all
    /// [default: that of each arm; of a job file, its own or two-layer-cfq]
    #[arg(long, value_name = "NAME")]
    pub(crate) scheduler: Option<String>,
    /// Use this disk: a name of `fairdisk catalog devices`, or the path of a .toml file [default:
    /// the experiment's; of a job file, its own or hdd-7200-2007; on a real file, that file as it
    /// is]
    #[arg(long, value_name = "NAME")]
    pub(crate) device: Option<String>,
    #[command(flatten)]
    pub(crate) values: Values,
}

/// Which rows to run, and how often.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Rows {
    /// Run only this row (may be repeated)
    #[arg(long, value_name = "LABEL", value_hint = ValueHint::Other)]
    pub(crate) row: Vec<String>,
    #[command(flatten)]
    pub(crate) seeds: Seeds,
}

/// Which row to run, and how often, of a command that runs one.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct OneRow {
    /// The row, if there are several
    #[arg(long, value_name = "LABEL", value_hint = ValueHint::Other)]
    pub(crate) row: Option<String>,
    #[command(flatten)]
    pub(crate) seeds: Seeds,
}

/// How often to run each arm and row.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Seeds {
    /// Runs of each arm and row, in the lab [default: the experiment's, else 5]
    #[arg(
        long, value_name = "N", value_parser = within::<u32>(1..=10_000),
        allow_negative_numbers = true, value_hint = ValueHint::Other
    )]
    pub(crate) seeds: Option<u32>,
}

/// The schedulers of a command that compares several.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Schedulers {
    /// Schedulers to try, separated by commas: names of `fairdisk catalog schedulers`, or paths of
    /// .toml files [default: all that are built in; of advise, those of today]. noop is always
    /// tried, as what the others' throughput is measured by
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = scheduler)]
    scheduler: Vec<String>,
}

impl Schedulers {
    /// The names of the schedulers, beginning with [`BASE`]; if none was given, those of
    /// `built_in`.
    ///
    /// # Errors
    /// A name is given twice or is empty.
    pub(crate) fn names(
        &self,
        built_in: impl FnOnce() -> Vec<String>,
    ) -> Result<Vec<String>, Failure> {
        let given = listed("--scheduler", &self.scheduler)?;
        let wanted: Vec<String> = if given.is_empty() { built_in() } else { given };
        let others = wanted.into_iter().filter(|name| name != BASE);
        Ok(iter::once(BASE.to_owned()).chain(others).collect())
    }
}

/// A scheduler by the name that the catalogue has for it.
pub(crate) fn scheduler(text: &str) -> Result<String, Infallible> {
    Ok(Kind::Revision.own_name(text.trim()).to_owned())
}

/// The schedulers that are built in.
pub(crate) fn built_in() -> Vec<String> {
    Kind::Revision.ids().map(str::to_owned).collect()
}

/// The names of a comma-separated option, without spaces around them.
///
/// # Errors
/// A name is repeated or empty.
pub(crate) fn listed(option: &str, names: &[String]) -> Result<Vec<String>, Failure> {
    let names: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
    if names.iter().any(String::is_empty) {
        return Err(Failure::BadInput(format!("{option}: a name between commas is missing")));
    }
    let twice = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name));
    match twice {
        None => Ok(names),
        Some((_, name)) => {
            Err(Failure::BadInput(format!("{option} {name}: given twice; drop one of them")))
        }
    }
}

/// Checks that an option that takes one name was not given several.
pub(crate) fn demand_one(option: &str, name: Option<&String>) -> Result<(), Failure> {
    let noun = option.trim_start_matches('-');
    name.filter(|name| name.contains(',')).map_or(Ok(()), |several| {
        Err(Failure::BadInput(format!(
            "{option} {several}: one {noun} here; `fairdisk compare` runs several"
        )))
    })
}

/// The duration of a run, and changes of single values.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Values {
    /// Run for this long: 500ms, 30s, 2m; in a job file, instead of each `runtime` [default: the
    /// experiment's; of a job file, until its jobs are done]
    #[arg(
        long, value_name = "TIME", value_parser = time_text::parse, allow_negative_numbers = true,
        allow_hyphen_values = true, value_hint = ValueHint::Other
    )]
    pub(crate) duration: Option<Span>,
    /// Change one value, as in host.hz=1000 or scheduler.cfq.slice_idle_ms=0 (may be repeated)
    #[arg(long = "set", value_name = "KEY=VALUE", value_hint = ValueHint::Other)]
    pub(crate) overrides: Vec<String>,
    /// Run a job file without what Fairdisk does not support, with a note for each such key
    #[arg(long)]
    pub(crate) approximate: bool,
    #[command(flatten)]
    pub(crate) replay: ReplayArgs,
}

impl Changes {
    /// The plan options that these changes amount to.
    ///
    /// # Errors
    /// A `--set` is malformed, or several schedulers or devices are named.
    pub(crate) fn options(&self) -> Result<Options, Failure> {
        demand_one("--scheduler", self.scheduler.as_ref())?;
        demand_one("--device", self.device.as_ref())?;
        let schedulers = self.scheduler.iter().cloned().collect();
        Ok(Options { schedulers, device: self.device.clone(), ..self.values.options()? })
    }
}

impl Values {
    /// The plan options that these values amount to.
    ///
    /// # Errors
    /// A `--set` is malformed.
    pub(crate) fn options(&self) -> Result<Options, Failure> {
        let overrides = overrides("--set", &self.overrides)?;
        let (duration, approximates) = (self.duration, self.approximate);
        let replay = self.replay.replay();
        Ok(Options { duration, overrides, approximates, replay, ..Options::default() })
    }
}

/// Parses the arguments of an option such as `--set`, whose name is `option`.
///
/// # Errors
/// An argument is malformed, or two of them change the same value.
pub(crate) fn overrides(option: &str, texts: &[String]) -> Result<Vec<Override>, Failure> {
    let overrides = texts.iter().map(|text| Override::given(option, text));
    let overrides: Vec<Override> =
        overrides.collect::<Result<_, _>>().map_err(Failure::BadInput)?;
    let once = Override::demand_once(&overrides);
    once.map_err(|(_, message)| Failure::BadInput(message))?;
    Ok(overrides)
}

/// Loads the plan of `spec`, an experiment, a job file or a trace.
///
/// # Errors
/// `spec` names none of these, or its file or the options are wrong.
pub(crate) fn load(spec: &str, options: &Options) -> Result<Plan, Failure> {
    if !spec::is_trace(spec) {
        replay_args::demand_none(spec, &options.replay)?;
    }
    Ok(spec::load(spec, options)?)
}
