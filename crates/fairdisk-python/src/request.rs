//! What a program asks for: a load and what is changed about it.

use crate::errors::{bad_input, bad_text};
use crate::replay::Given;
use fairdisk_core::Span;
use fairdisk_lab::catalog::device;
use fairdisk_lab::catalog::library::{Kind, find};
use fairdisk_lab::catalog::overrides::{Override, of_name};
use fairdisk_lab::catalog::revision::Revision;
use fairdisk_lab::catalog::revision::tunables::tuned;
use fairdisk_lab::plan::{Options, Plan, Replay};
use fairdisk_lab::spec::{self, SpecError};
use pyo3::prelude::*;
use toml::{Table, Value};

/// A load and what is changed about it, as an object of the package has it.
#[derive(FromPyObject)]
pub(crate) struct Request {
    /// An experiment's id or the path of a file; with `text`, the name for that.
    pub(crate) name: String,
    pub(crate) text: Option<String>,
    pub(crate) schedulers: Vec<String>,
    /// A name, or `NAME[KEY=VALUE;KEY=VALUE]`.
    device: Option<String>,
    arms: Vec<String>,
    rows: Vec<String>,
    seeds: Option<u32>,
    duration_s: Option<f64>,
    set: Vec<String>,
    approximate: bool,
    replay: Option<Given>,
}

impl Request {
    /// The changes of single values.
    pub(crate) fn overrides(texts: &[String]) -> Result<Vec<Override>, SpecError> {
        let overrides = texts.iter().map(|text| Override::given("set", text));
        let overrides: Vec<Override> =
            overrides.collect::<Result<_, _>>().map_err(SpecError::new)?;
        Override::demand_once(&overrides).map_err(|(_, message)| SpecError::new(message))?;
        Ok(overrides)
    }

    /// The options of a plan.
    pub(crate) fn options(&self) -> Result<Options, SpecError> {
        let (device, changes) = self.device.as_deref().map(of_name).unzip();
        let own = changes.into_iter().flatten().map(|change| format!("device.{change}"));
        let set: Vec<String> = own.chain(self.set.iter().cloned()).collect();
        Ok(Options {
            schedulers: self.schedulers.clone(),
            device: device.map(str::to_owned),
            arms: self.arms.clone(),
            rows: self.rows.clone(),
            seeds: self.seeds,
            duration: self.duration_s.map(|it| Span::from_ns((it * 1e9) as u64)),
            overrides: Self::overrides(&set)?,
            approximates: self.approximate,
            replay: self.replay.as_ref().map_or_else(|| Ok(Replay::default()), Given::replay)?,
            ..Options::default()
        })
    }

    /// Checks that a replay is of a trace.
    pub(crate) fn demand_trace(&self, spec: &str) -> Result<(), SpecError> {
        if self.replay.is_some() && (self.text.is_some() || !spec::is_trace(spec)) {
            let message = format!("`replay`: {spec} is no trace; expected one");
            return Err(SpecError::new(message));
        }
        Ok(())
    }

    /// The plan of this load with these options.
    pub(crate) fn plan_with(&self, options: &Options) -> Result<Plan, SpecError> {
        self.demand_trace(&self.name)?;
        match &self.text {
            Some(text) => spec::load_text(&self.name, text, options),
            None => spec::load(&self.name, options),
        }
    }

    /// The plan of what is asked for.
    pub(crate) fn plan(&self) -> Result<Plan, SpecError> {
        self.plan_with(&self.options()?)
    }
}

/// The names of the arms and of the rows that a load is run with.
#[pyfunction]
pub(crate) fn cells(py: Python<'_>, request: Request) -> PyResult<(Vec<String>, Vec<String>)> {
    let plan = request.plan().map_err(|error| bad_input(py, &error))?;
    let arms = plan.arms.into_iter().map(|arm| arm.name);
    Ok((arms.collect(), plan.rows.into_iter().map(|row| row.label).collect()))
}

/// The ids of the catalogue, each with the text of its file: `devices`, `hosts`, `schedulers` or
/// `experiments`.
#[pyfunction]
pub(crate) fn catalog(py: Python<'_>, kind: &str) -> PyResult<Vec<(String, String)>> {
    let kind = match kind {
        "devices" => Kind::Device,
        "hosts" => Kind::Host,
        "schedulers" => Kind::Revision,
        "experiments" => Kind::Experiment,
        other => {
            let expected = "expected devices, hosts, schedulers or experiments";
            return Err(bad_text(py, format!("`{other}`: {expected}")));
        }
    };
    let entry = |id: &str| {
        let found = find(kind, id).map_err(|error| bad_input(py, &error.into()))?;
        Ok((id.to_owned(), found.text.into_owned()))
    };
    kind.ids().map(entry).collect()
}

/// The schedulers that advice tries: those that are not history.
#[pyfunction]
pub(crate) fn schedulers_of_today() -> Vec<String> {
    Revision::of_today()
}

/// The keys of a scheduler that can be changed: key, value and what is allowed.
#[pyfunction]
pub(crate) fn tunables(py: Python<'_>, id: &str) -> PyResult<Vec<(String, String, String)>> {
    let tuned = tuned(id, &[]).map_err(|error| bad_input(py, &error.into()))?;
    Ok(tuned.tunables.into_iter().map(|it| (it.key, it.value, it.allowed)).collect())
}

/// The keys of a device that can be changed, with their values.
#[pyfunction]
pub(crate) fn device_keys(py: Python<'_>, id: &str) -> PyResult<Vec<(String, String)>> {
    let entry = device::load(id, &[]).map_err(|error| bad_input(py, &error.into()))?;
    let mut keys = Vec::new();
    flatten("", &entry.resolved, &mut keys);
    keys.retain(|(key, _)| !NOT_CHANGED.contains(&key.as_str()));
    Ok(keys)
}

/// What a device's file says of itself.
const NOT_CHANGED: [&str; 4] = ["id", "title", "kind", "inherits"];

/// The values of a table and of those in it.
fn flatten(before: &str, table: &Table, found: &mut Vec<(String, String)>) {
    for (key, value) in table {
        let key = if before.is_empty() { key.clone() } else { format!("{before}.{key}") };
        match value {
            Value::Table(inner) => flatten(&key, inner, found),
            Value::String(text) => found.push((key, text.clone())),
            other => found.push((key, other.to_string())),
        }
    }
}
