//! A browser shows the pages of results: charts with marks, no labels over each other.

#[path = "../../fairdisk-page/tests/support/browser.rs"]
mod browser;

use browser::{LOOKS, browser, look};
use fairdisk_core::Span;
use fairdisk_lab::compare::{self, compare, run_and_divide};
use fairdisk_lab::jobfile::{Context, JobFile};
use fairdisk_lab::outcome::{to_html, to_json};
use fairdisk_lab::page::Made;
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::Silent;
use fairdisk_lab::watched::watch;
use serde_json::Value;
use std::sync::atomic::AtomicBool;

fn options(seeds: u32) -> Options {
    Options { seeds: Some(seeds), duration: Some(Span::from_s(2)), ..Options::default() }
}

/// The results inside a page.
fn results(page: &str) -> Value {
    let begin = "<script type=\"application/json\" id=\"results\">";
    let (_, rest) = page.split_once(begin).expect("results");
    serde_json::from_str(rest.split_once("</script>").expect("an end").0).expect("JSON")
}

fn demand_good(page: &str, name: &str, charts: usize) {
    assert_eq!(page.matches("<figure class=\"chart\">").count(), charts, "{name}");
    let Some(browser) = browser() else { return println!("skipped: no browser here") };
    for one in LOOKS {
        look(browser, page, name, one).demand_good(&format!("{name}, {}", one.name));
    }
}

#[test]
fn a_page_of_a_run_shows_who_got_what_beside_the_published_shares() {
    let plan = Plan::experiment("satoshi-2008-05-27-test1", &options(3)).expect("it exists");
    let stop = AtomicBool::new(false);
    let (_, mut outcome) = run_and_divide(&plan, &Silent, &stop).expect("it fits");
    outcome.watched = watch(&plan, Span::from_s(1), 500, &stop);
    assert_eq!(outcome.watched.len(), outcome.rows.len());
    let page = to_html(&outcome, &Made::by("fairdisk run satoshi-2008-05-27-test1"));
    let rows = |value: &Value| value["rows"].as_array().map(Vec::len);
    assert_eq!(rows(&results(&page)), rows(&to_json(&outcome)));
    let rows = plan.rows.len();
    demand_good(&page, "run", rows * 6 + 3 * outcome.watched.len());
}

#[test]
fn forty_groups_under_three_schedulers_are_told_apart() {
    let job = |at: usize| {
        format!("[task-{at}]\nrw=randread\nbs=4k\nsize=64m\ndirect=1\ngroup=/tenants/number-{at}\n")
    };
    let text: String = (0..40).map(job).collect();
    let names = ["noop", "fair", "bfq"].map(str::to_owned).to_vec();
    let options = Options { schedulers: names, ..options(2) };
    let file = JobFile::parse("forty.fio", &text, &Context::closed()).expect("well formed");
    let resolved = file.resolve().expect("it can be run");
    let plan = Plan::job_file("forty.fio", &resolved, &options).expect("it fits");
    let all = compare(&[plan], &Silent, &AtomicBool::new(false)).expect("it fits");
    let page = compare::to_html(&all, &Made::by("fairdisk compare forty.fio"));
    assert_eq!(results(&page)["cells"].as_array().map(Vec::len), Some(3));
    demand_good(&page, "forty", 4 + 3);
}
