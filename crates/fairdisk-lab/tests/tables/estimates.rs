//! Shares that authors expected, beside published ones and ours; and runs that lie far apart.

use super::{assert_refused, plan, table};
use fairdisk_lab::outcome::{Outcome, Score, Shell, Style, to_html, to_json, to_table};
use fairdisk_lab::page::Made;
use fairdisk_lab::printed::Printed;
use fairdisk_lab::run::{Ensemble, Silent, run_plan};
use std::sync::atomic::AtomicBool;

const TASKS: &str = "{ group = \"a\" }, { group = \"b\" }";
const PUBLISHED: &str = "[[published]]\narm = \"flat\"\nrow = \"row\"\nios = [60, 40]\n";
const ESTIMATE: &str =
    "[[estimate]]\narm = \"flat\"\npercent = [70, 30]\nsource = \"their rule, 7:3\"\n";

fn text(more: &str) -> String {
    table("duration_s = 1\nseeds = 4", TASKS, more)
}

fn ensembles(more: &str) -> (fairdisk_lab::plan::Plan, Vec<Ensemble>) {
    let plan = plan(&text(more));
    let runs = run_plan(&plan, &Silent, &AtomicBool::new(false)).expect("it can be run");
    (plan, runs)
}

fn outcome(more: &str) -> Outcome {
    let (plan, runs) = ensembles(more);
    Outcome::new(&plan, Shell::Lab, &runs)
}

/// The words of the line of group `a`.
fn line_of_a(outcome: &Outcome) -> Vec<String> {
    let text = to_table(outcome, Style::default());
    let line = text.lines().find(|line| line.starts_with("  a ")).expect("it has a line");
    line.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn an_estimate_stands_beside_the_published_share_with_its_error() {
    let outcome = outcome(&format!("{PUBLISHED}{ESTIMATE}"));
    assert_eq!(line_of_a(&outcome)[7..9], ["70.0", "+10.0"]);
    let score = Score::of(&outcome).and_then(|score| score.estimates).expect("it is compared");
    assert!((score.error_mean - 10.0).abs() < 1e-9 && score.cells == 2, "{score:?}");
    let json = to_json(&outcome);
    assert_eq!(json["rows"][0]["groups"][0]["estimate"]["share"], 0.7);
    assert_eq!(json["estimates"][0]["source"], "their rule, 7:3");
    assert!(to_table(&outcome, Style::default()).contains("estimate of flat: their rule, 7:3"));
}

#[test]
fn an_estimate_needs_no_published_share() {
    let outcome = outcome(ESTIMATE);
    let words = line_of_a(&outcome);
    assert_eq!(words[5..7], ["70.0", "-"], "{words:?}");
    assert!(to_json(&outcome)["rows"][0]["groups"][0]["published"].is_null());
    assert!(Score::of(&outcome).is_none());
}

#[test]
fn estimates_that_cannot_be_compared_are_refused() {
    let cases = [
        ("arm = \"flt\"\npercent = [70, 30]", "unknown arm `flt`"),
        ("arm = \"flat\"\nrows = [\"rew\"]\npercent = [70, 30]", "unknown row `rew`"),
        ("arm = \"flat\"\nrows = [\"row\", \"row\"]\npercent = [70, 30]", "is there twice"),
        ("arm = \"flat\"\npercent = [70, 20, 10]", "`percent` has 3 figures"),
        ("arm = \"flat\"\npercent = [70, 40]", "98 to 102"),
        ("arm = \"flat\"\npercent = [170, -70]", "0 to 100"),
    ];
    for (estimate, why) in cases {
        assert_refused(&text(&format!("[[estimate]]\n{estimate}\n")), why);
    }
    assert_refused(&text(&format!("{ESTIMATE}{ESTIMATE}")), "is estimated above");
}

#[test]
fn every_figure_of_a_source_is_printed_once_and_the_far_ones_resist() {
    let printed = Printed::new(outcome(&format!("{PUBLISHED}{ESTIMATE}")));
    let figures: Vec<(&str, &str, &str)> = printed
        .lines
        .iter()
        .map(|line| (line.of.as_str(), line.figure.as_str(), line.published.as_str()))
        .collect();
    let expected = [
        ("a", "share %", "60.0"),
        ("a", "I/Os", "60.0"),
        ("b", "share %", "40.0"),
        ("b", "I/Os", "40.0"),
        ("all", "I/Os", "100.0"),
    ];
    assert_eq!(figures, expected);
    for line in &printed.lines {
        let error = line.error.expect("all are measured");
        let far = if line.figure == "share %" { 4.0 } else { 10.0 };
        assert_eq!(line.resists(), error.abs() > far, "{line:?}");
    }
    assert_eq!(printed.lines[0].estimate_error(), Some(10.0));
    let table = fairdisk_lab::printed::to_table(std::slice::from_ref(&printed), Style::default());
    assert!(table.contains("resists") && table.contains("+10.0 points"), "{table}");
    let json = fairdisk_lab::printed::to_json(&[printed]);
    let figure = &json["experiments"][0]["figures"][0];
    assert_eq!((&figure["published"], &figure["estimate"]), (&60.0.into(), &70.0.into()));
    assert_eq!(figure["ours_each"].as_array().map(Vec::len), Some(4));
}

#[test]
fn runs_that_lie_far_apart_are_told_and_each_is_on_the_page() {
    let (plan, mut runs) = ensembles("");
    let apart = |runs: &[Ensemble]| {
        let outcome = Outcome::new(&plan, Shell::Lab, runs);
        let table = to_table(&outcome, Style::default());
        (table.contains("a: runs differ, "), to_html(&outcome, &Made::by("run")))
    };
    let (is_told, page) = apart(&runs);
    assert!(!is_told && page.contains("Single runs") && page.contains("<th>run 4</th>"), "{page}");
    runs[0].runs[0].groups[0].ios /= 2;
    assert!(apart(&runs).0);
    runs[0].runs.truncate(1);
    assert!(!apart(&runs).1.contains("Single runs"));
}
