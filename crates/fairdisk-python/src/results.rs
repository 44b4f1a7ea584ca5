//! Runs, comparisons, advice, blame and traces, and what came of them.

use crate::arrow::{Table, batch};
use crate::errors::{bad_input, bad_text, failed};
use crate::request::Request;
use crate::tables;
use crate::work::{self, without_interpreter};
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use fairdisk_lab::advise::{Want, advise as advised, asking, to_html as advice_page};
use fairdisk_lab::advise::{to_json as advice_json, to_table as advice_table};
use fairdisk_lab::blame::{
    Between, Design, Difference, FactorSet, Metric, Report, Sample, Side, Watch, blame as blamed,
    to_html as blame_page, to_json as blame_json, to_table as blame_table,
};
use fairdisk_lab::catalog::error::{CatalogError, Fault, Where};
use fairdisk_lab::catalog::library::Kind;
use fairdisk_lab::compare::{
    BASE, compare as compared, run_and_divide, to_html as comparison_page,
    to_json as comparison_json, to_table as comparison_table,
};
use fairdisk_lab::explain::{Answer, Retold, Untold, split};
use fairdisk_lab::outcome::{Style, to_html, to_json, to_table};
use fairdisk_lab::page::Made;
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::Progress;
use fairdisk_lab::spec::SpecError;
use fairdisk_lab::threads::cores;
use fairdisk_sweep::{Row, of_runs};
use pyo3::prelude::*;
use serde_json::Value;
use std::path::PathBuf;

/// Lays JSON out as a table.
type Layout = dyn Fn(&Value) -> Result<RecordBatch, ArrowError> + Send + Sync;

/// What came of a run, a comparison, advice, blame or a trace.
#[pyclass(frozen, module = "fairdisk._fairdisk")]
pub(crate) struct Outcome {
    json: Value,
    text: String,
    page: Box<dyn Fn(&Made<'_>) -> String + Send + Sync>,
    /// Lays the JSON out, or what it was made of.
    table: Box<Layout>,
}

#[pymethods]
impl Outcome {
    /// The JSON of `--json`.
    fn json(&self) -> String {
        self.json.to_string()
    }

    /// The table that the program prints.
    fn text(&self) -> &str {
        &self.text
    }

    /// The page of `--report`; `command` says how it came about.
    fn page(&self, command: &str) -> String {
        (self.page)(&Made { command, partial: None })
    }

    /// The table: of a run a row for each group of each run.
    fn table(&self, py: Python<'_>) -> PyResult<Table> {
        Ok(Table((self.table)(&self.json).map_err(|error| failed(py, error.to_string()))?))
    }
}

/// Rows of a run that belong to no point of a sweep.
fn rows(records: Vec<fairdisk_sweep::Record>) -> Vec<Row> {
    records.into_iter().map(|record| Row { point: Vec::new(), record }).collect()
}

/// `fairdisk run`.
#[pyfunction]
#[pyo3(signature = (request, progress = None))]
pub(crate) fn run(
    py: Python<'_>,
    request: Request,
    progress: Option<Py<PyAny>>,
) -> PyResult<Outcome> {
    let plan = request.plan().map_err(|error| bad_input(py, &error))?;
    let (runs, outcome) =
        work::runs(py, progress.as_ref(), |tell, stop| run_and_divide(&plan, tell, stop))?;
    Ok(Outcome {
        json: to_json(&outcome),
        text: to_table(&outcome, Style::default()),
        table: Box::new(move |_| batch(&rows(of_runs(&plan, &runs)))),
        page: Box::new(move |made| to_html(&outcome, made)),
    })
}

/// `fairdisk compare`, with a request for each device.
#[pyfunction]
#[pyo3(signature = (requests, wants, progress = None))]
pub(crate) fn compare(
    py: Python<'_>,
    requests: Vec<Request>,
    wants: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Outcome> {
    let wants = wished(py, &wants)?;
    let plan = |request: &Request| {
        let plan = with_base(request)?;
        match wants.is_empty() {
            true => Ok(plan),
            false => asking(&plan, &wants).map_err(SpecError::new),
        }
    };
    let plans = requests.iter().map(plan).collect::<Result<Vec<Plan>, SpecError>>();
    let plans = plans.map_err(|error| bad_input(py, &error))?;
    let comparison = work::runs(py, progress.as_ref(), |tell, stop| compared(&plans, tell, stop))?;
    Ok(Outcome {
        json: comparison_json(&comparison),
        text: comparison_table(&comparison, Style::default()),
        table: Box::new(tables::comparison),
        page: Box::new(move |made| comparison_page(&comparison, made)),
    })
}

/// The plan with the scheduler first by which the others' throughput is measured.
fn with_base(request: &Request) -> Result<Plan, SpecError> {
    let mut options = request.options()?;
    options.schedulers.retain(|name| Kind::Revision.own_name(name) != BASE);
    options.schedulers.insert(0, BASE.to_owned());
    request.plan_with(&options)
}

fn wished(py: Python<'_>, wants: &[String]) -> PyResult<Vec<Want>> {
    let want = |text: &String| {
        Want::parse(text).map_err(|error| bad_text(py, format!("want `{text}`: {error}")))
    };
    wants.iter().map(want).collect()
}

/// `fairdisk advise`.
#[pyfunction]
#[pyo3(signature = (request, wants, progress = None))]
pub(crate) fn advise(
    py: Python<'_>,
    request: Request,
    wants: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Outcome> {
    let wants = wished(py, &wants)?;
    let plan = with_base(&request).map_err(|error| bad_input(py, &error))?;
    let advice =
        work::runs(py, progress.as_ref(), |tell, stop| advised(&plan, &wants, tell, stop))?;
    let tried = comparison_json(&advice.comparison);
    Ok(Outcome {
        json: advice_json(&advice),
        text: advice_table(&advice, Style::default()),
        table: Box::new(move |advice| tables::advice(advice, &tried)),
        page: Box::new(move |made| advice_page(&advice, made)),
    })
}

/// One of two configurations: its scheduler and changes of single values.
type Configuration = (String, Vec<String>);

/// What `blame` compares, and how hard it looks.
#[derive(FromPyObject)]
pub(crate) struct Search {
    metric: String,
    seeds: Option<u32>,
    runs: usize,
    seed: u64,
}

/// `fairdisk blame` of two schedulers in the lab.
#[pyfunction]
#[pyo3(signature = (good, bad, request, search, progress = None))]
pub(crate) fn blame(
    py: Python<'_>,
    good: Configuration,
    bad: Configuration,
    request: Request,
    search: Search,
    progress: Option<Py<PyAny>>,
) -> PyResult<Outcome> {
    let Search { metric, seeds, runs, seed } = search;
    let metric =
        Metric::parse(&metric).map_err(|it| bad_text(py, format!("metric `{metric}`: {it}")))?;
    let side = |(scheduler, set): Configuration| {
        let overrides = Request::overrides(&set)?;
        Ok::<Side, SpecError>(Side { scheduler, overrides })
    };
    let options = request.options().map_err(|error| bad_input(py, &error))?;
    let (good, bad) = side(good)
        .and_then(|good| Ok((good, side(bad)?)))
        .map_err(|error| bad_input(py, &error))?;
    let done = without_interpreter(py, progress.as_ref(), |tell, stop| {
        let difference = Difference::between(&good, &bad, &options.overrides)?;
        let planner = |options: &Options| {
            request.plan_with(options).map_err(|error| CatalogError {
                place: Where::Unstated,
                fault: Fault::Other(error.message),
            })
        };
        let between = Between::new(difference, metric, &planner, options, stop)?;
        let (least, most) = seeds.map_or((2, 5), |seeds| (seeds, seeds));
        let design = Design {
            factors: between.difference().factors.len(),
            seeds: least,
            seeds_max: most,
            runs,
            seed,
            threads: cores().get(),
            is_real: false,
        };
        let findings = blamed(&between, &design, Vec::new(), &Told(tell), stop);
        let report = findings.map(|findings| Report::of_lab(&between, findings, None));
        Ok::<Result<Report, String>, SpecError>(report)
    })?;
    let report = done.map_err(|error| bad_input(py, &error))?.map_err(|it| failed(py, it))?;
    Ok(Outcome {
        json: blame_json(&report),
        text: blame_table(&report, Style::default()),
        table: Box::new(tables::blame),
        page: Box::new(move |made| blame_page(&report, made)),
    })
}

/// Tells how many runs are done.
struct Told<'a>(&'a dyn Progress);

impl Watch for Told<'_> {
    fn measured(&self, _set: FactorSet, _seed: u32, _sample: Sample) {}

    fn progress(&self, done: usize, expected: usize, _what: &str) {
        self.0.done(done, expected);
    }
}

/// `fairdisk explain`: the life of a request, or the `slowest` ones.
#[pyfunction]
#[pyo3(signature = (run, request, number = None, slowest = None, disk = None))]
pub(crate) fn explain(
    py: Python<'_>,
    run: &str,
    request: Request,
    number: Option<u64>,
    slowest: Option<usize>,
    disk: Option<u32>,
) -> PyResult<Outcome> {
    let options = request.demand_trace(split(run).0).and_then(|()| request.options());
    let options = options.map_err(|error| bad_input(py, &error))?;
    let told = without_interpreter(py, None, |_, stop| {
        let run = Retold::named(run, options, disk)?;
        match slowest {
            Some(count) => run.slowest(count, None, &|_, _| {}, stop),
            None => run.life(number.unwrap_or(1), &|_, _| {}, stop),
        }
    })?;
    let Answer { text, json } = told.map_err(|untold| match untold {
        Untold::Wrong(error) => bad_input(py, &error),
        Untold::Refused(why) | Untold::Stopped(why) => failed(py, why),
    })?;
    Ok(Outcome { json, text, table: Box::new(tables::nothing), page: Box::new(|_| String::new()) })
}

/// `fairdisk trace`.
#[pyfunction]
#[pyo3(signature = (path, by = "group"))]
pub(crate) fn trace(py: Python<'_>, path: PathBuf, by: &str) -> PyResult<Outcome> {
    use fairdisk_trace::{By, Options, Report, Source as _, Summary, open};
    let by = match by {
        "group" => By::Group,
        "task" => By::Task,
        "device" => By::Device,
        other => {
            return Err(bad_text(py, format!("by `{other}`: expected group, task or device")));
        }
    };
    let report = without_interpreter(py, None, |_, stop| {
        let mut reader = open(&path, &Options::default()).map_err(|it| it.to_string())?;
        let mut summary = Summary::new(by);
        while !stop.load(std::sync::atomic::Ordering::Relaxed) {
            match reader.next() {
                Ok(Some(request)) => summary.add(&request, reader.origins()),
                Ok(None) => break,
                Err(error) => return Ok(Err(error.to_string())),
            }
        }
        if summary.all.ios.sum() == 0 {
            return Err(format!("{}: it has no requests", path.display()));
        }
        let head = (reader.format.to_string(), reader.about());
        Ok(Ok(Report::new(&summary, head, (reader.lost(), reader.skipped()))))
    })?;
    let report = report.map_err(|error| bad_text(py, error))?.map_err(|it| failed(py, it))?;
    let json = serde_json::to_value(&report).map_err(|error| failed(py, error.to_string()))?;
    Ok(Outcome {
        json,
        text: report.to_text(50),
        table: Box::new(tables::nothing),
        page: Box::new(|_| String::new()),
    })
}
