//! Rows whose runs fall into two regimes.

use super::{plan, table};
use fairdisk_lab::outcome::{Outcome, Shell, Style, to_html, to_json, to_table};
use fairdisk_lab::page::Made;
use fairdisk_lab::run::{Ensemble, Silent, run_plan};
use serde_json::Value;
use std::sync::atomic::AtomicBool;

const TASKS: &str = "{ group = \"a\", name = \"one\" }, { group = \"b\" }";

/// The outcome of ten runs of which the first `slow` did a third of what the others did.
fn with_slow_runs(slow: usize) -> Outcome {
    let figure = "[[published]]\narm = \"flat\"\nrow = \"row\"\nall.iops = 120\n\
                  tasks.iops = [60]\n[[arm]]\nname = \"again\"\nscheduler = \"cfq-2.6.25\"\n\
                  [[published_change]]\nrow = \"row\"\nfrom = \"flat\"\nto = \"again\"\n\
                  percent = 10\n";
    let plan = plan(&table("duration_s = 1\nseeds = 10", TASKS, figure));
    let mut ensembles = run_plan(&plan, &Silent, &AtomicBool::new(false)).expect("it can be run");
    for run in ensembles[0].runs.iter_mut().take(slow) {
        for group in &mut run.groups {
            (group.ios, group.bytes) = (group.ios / 3, group.bytes / 3);
        }
        run.tasks[0].bytes /= 3;
    }
    assert!(ensembles.iter().all(|Ensemble { runs, .. }| runs.len() == 10));
    Outcome::new(&plan, Shell::Lab, &ensembles)
}

#[test]
fn a_table_tells_regimes_and_not_a_mean_that_no_run_had() {
    let outcome = with_slow_runs(3);
    let text = to_table(&outcome, Style::default());
    let row = &outcome.rows[0];
    let [usual, slow] = row.total_ios.regimes().expect("there are two").0;
    assert_eq!([usual.runs, slow.runs], [7, 3]);
    let range = format!("{:.0} to {:.0}", usual.min, usual.max);
    let line = format!("  total: {range} I/Os in 7 of 10 runs, {:.0}", slow.min);
    assert!(text.contains(&line), "{line} is not in\n{text}");
    let begins = |what: &str| text.lines().find(|line| line.starts_with(what)).expect("a line");
    assert_eq!(
        begins("  total  ").split_whitespace().skip(1).collect::<Vec<_>>(),
        ["2", "regimes"]
    );
    assert!(begins("  a  ").starts_with("  a      2 regimes  "), "{text}");
    assert!(begins("  one  ").ends_with("2 regimes"), "{text}");
    assert!(text.contains("  one: ") && text.contains(" MB/s in 7 of 10 runs, "), "{text}");
    assert!(text.contains("  all: ") && text.contains(" I/Os/s in 7 of 10 runs, "), "{text}");
    let change = begins("  row: flat to again: ");
    assert!(change.contains(" % in 7 of 10 runs, +") && change.ends_with(" in 3"), "{text}");
    let mean = format!("{:.0}", row.total_ios.mean);
    assert!(!text.split_whitespace().any(|word| word == mean), "{mean} is no run's\n{text}");
}

#[test]
fn single_runs_and_regimes_are_in_the_json() {
    let value = to_json(&with_slow_runs(3));
    let row = &value["rows"][0];
    for (of, name) in [
        (&row["total"], "ios"),
        (&row["groups"][0], "ios"),
        (&row["tasks"][0], "mb_per_s"),
        (&row["figures"][0], "ours"),
        (&value["changes"][0], "percent"),
    ] {
        let each = of[format!("{name}_each")].as_array().expect("each run's");
        let regimes = of[format!("{name}_regimes")].as_array().expect("two");
        assert_eq!((each.len(), regimes.len()), (10, 2), "{name}: {of}");
        assert_eq!([&regimes[0]["runs"], &regimes[1]["runs"]], [7, 3], "{name}: {of}");
        let mean = each.iter().filter_map(Value::as_f64).sum::<f64>() / 10.0;
        assert!((of[name].as_f64().expect("the mean") - mean).abs() < 1e-9, "{name}: {of}");
    }
    assert!(row["groups"][0]["share_regimes"].is_null(), "shares are as they were: {row}");
}

#[test]
fn a_page_tells_regimes_and_draws_the_usual_one() {
    let page = to_html(&with_slow_runs(3), &Made::by("run"));
    assert!(page.contains("<p class=\"warn\">flat, total: "), "{page}");
    assert!(page.contains("<td class=\"n\">2 regimes</td>"), "{page}");
}

#[test]
fn one_slow_run_is_no_regime() {
    for slow in [0, 1] {
        let outcome = with_slow_runs(slow);
        let text = to_table(&outcome, Style::default());
        assert!(!text.contains("regime") && !text.contains("of 10 runs, "), "{slow}:\n{text}");
        let value = to_json(&outcome);
        assert_eq!(value["rows"][0]["total"]["ios_each"].as_array().map(Vec::len), Some(10));
        assert!(!value.to_string().contains("_regimes"), "{value}");
    }
}
