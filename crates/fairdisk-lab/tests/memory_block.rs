//! What is told of memory: of groups and tasks, as figures, and where it is too little.

use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::jobfile::{Context, JobFile};
use fairdisk_lab::metric::Metric;
use fairdisk_lab::outcome::{Outcome, Style, to_html, to_json, to_table};
use fairdisk_lab::page::Made;
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::{PlanRuns, Silent, run_all};
use std::sync::atomic::AtomicBool;

/// A file that is read twice, beside one that is read once.
const JOBS: &str = "[global]
device=fixed-8ms
scheduler=noop
invalidate=0
rw=read
bs=64k
[twice]
cgroup=a
size=2m
loops=2
[once]
cgroup=b
size=20m
";

fn outcome(sets: &[&str]) -> (Outcome, PlanRuns) {
    let file = JobFile::parse("jobs.fio", JOBS, &Context::closed()).expect("well formed");
    let resolved = file.resolve().expect("it can be run");
    let overrides = sets.iter().map(|set| Override::parse(set).expect("well formed")).collect();
    let options = Options { seeds: Some(1), overrides, ..Options::default() };
    let plan = Plan::job_file("jobs.fio", &resolved, &options).expect("it fits");
    let runs = run_all(&plan, &Silent, &AtomicBool::new(false)).expect("it can be run");
    (Outcome::of_runs(&plan, &runs), runs)
}

const PAGE_BY_PAGE: [&str; 2] = ["host.memory.kernel=now", "host.memory.mib=128"];

#[test]
fn groups_and_tasks_are_told_their_hits_and_misses_in_every_form() {
    let (outcome, runs) = outcome(&PAGE_BY_PAGE);
    let row = &to_json(&outcome)["rows"][0];
    let of = |kind: &str, at: usize| {
        let memory = &row[kind][at]["memory"];
        ["hits", "misses", "wait_s"].map(|key| memory[key].as_f64().expect("it is known"))
    };
    for kind in ["groups", "tasks"] {
        assert_eq!([of(kind, 0), of(kind, 1)], [[512.0, 512.0, 0.0], [0.0, 5120.0, 0.0]], "{kind}");
    }
    let all = &row["memory"];
    assert_eq!((&all["hits"], &all["misses"]), (&512.0.into(), &5632.0.into()), "{all}");
    assert_eq!((&all["pages_in"], &all["pages_again"]), (&5632.0.into(), &0.0.into()), "{all}");
    assert!(all["free_kib"].as_f64() > Some(4000.0) && all["kswapd_naps"] == 0.0, "{all}");
    let table = to_table(&outcome, Style::default());
    for line in [["/a", "512", "512"], ["total", "512", "5632"]] {
        let is_it = |text: &str| text.split_whitespace().take(3).eq(line);
        assert!(table.lines().any(is_it), "{line:?} in\n{table}");
    }
    assert!(to_html(&outcome, &Made::by("run")).contains("<th>misses</th>"));
    let metric = |name: &str| {
        let metric = Metric::parse(name).expect("a figure");
        metric.of(&runs.ensembles[0].runs[0], &[])
    };
    assert_eq!(metric("memory_misses"), Ok(5632.0));
    assert_eq!(metric("memory_pages_in"), Ok(5632.0));
}

#[test]
fn memory_that_is_an_amount_has_no_figures_and_a_note_if_it_is_too_little() {
    let notes = |sets: &[&str]| {
        let (outcome, runs) = outcome(sets);
        let figure = Metric::parse("memory_misses").expect("a figure");
        let page_by_page = sets.contains(&PAGE_BY_PAGE[0]);
        assert_eq!(figure.of(&runs.ensembles[0].runs[0], &[]).is_ok(), page_by_page);
        let is_it = |note: &&String| note.contains("waiting for memory is not modelled");
        outcome.caveats.iter().filter(is_it).cloned().collect::<Vec<_>>()
    };
    let told = notes(&["host.memory.mib=16"]);
    assert_eq!(
        told,
        ["jobs: more is read than fits the memory of the host, and waiting for memory is not \
          modelled; with --set host.memory.kernel=now it is."]
    );
    assert!(notes(&["host.memory.mib=32"]).is_empty(), "it fits");
    assert!(notes(&["host.memory.kernel=now", "host.memory.mib=16"]).is_empty(), "it is modelled");
}

/// Every figure of memory is in the page on figures, and is a metric.
#[test]
fn each_figure_is_in_the_documents_and_a_metric() {
    let documents = include_str!("../../../docs/experiments-format.md");
    let (outcome, runs) = outcome(&PAGE_BY_PAGE);
    let json = to_json(&outcome);
    let figures = json["rows"][0]["memory"].as_object().expect("an object");
    assert!(figures.len() > 25, "{figures:?}");
    for (name, value) in figures {
        let key = format!("memory_{name}");
        assert!(documents.contains(&format!("`{key}`")), "{key}");
        let metric = Metric::parse(&key).expect("a figure");
        assert_eq!(metric.of(&runs.ensembles[0].runs[0], &[]).ok(), value.as_f64(), "{key}");
    }
}
