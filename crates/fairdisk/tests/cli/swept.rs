//! `fairdisk run --sweep` on the command line.

use crate::bad_input::{demand_one_line, demand_refused};
use crate::program::{Place, fairdisk, two_groups};
use serde_json::Value;
use std::fs;

const SHORT: [&str; 8] =
    ["run", "two-groups", "--arm", "flat", "--seeds=2", "--duration=2s", "--device", "fixed-8ms"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SHORT, more].concat()
}

#[test]
fn a_curve_over_a_count_of_tasks_is_a_table() {
    let more = ["--sweep=tasks.backup.count=1..3+1", "--metric=ios", "--metric=share:backup"];
    let expected = "\
two-groups: Two groups of four readers, weights 100 and 400
Do two groups that ask for a fifth and four fifths of a disk get that?
on fixed-8ms (lab), mean of 2 runs ± sd, over tasks.backup.count

flat, readers
  tasks.backup.count  I/Os per second  share of backup in %
                   1       124 ± 0.00           16.9 ± 0.00
                   2       124 ± 0.00           33.1 ± 1.14
                   3       124 ± 0.00           41.5 ± 2.85

note: cfq-2.6.25 takes no notice of weights of groups";
    let table = fairdisk(&with(&more)).quiet();
    assert!(table.starts_with(expected), "{table}");
}

/// A point has the runs that the same value has with `--set`.
#[test]
fn a_point_is_what_set_gives() {
    let value = fairdisk(&with(&["--json", "--sweep=tasks.count=2,5"])).json();
    let set = fairdisk(&with(&["--json", "--set=tasks.count=5"])).json();
    let curve = &value["curves"][0];
    assert_eq!([&value["key"], &curve["arm"]], ["tasks.count", "flat"]);
    let point = &curve["points"][1];
    assert_eq!((&point["value"], &point["runs"]), (&"5".into(), &2.into()));
    let metric = |name: &str| {
        let figures = point["figures"].as_array().unwrap();
        figures.iter().find(|figure| figure["metric"] == name).unwrap().clone()
    };
    let ios = set["rows"][0]["total"]["ios_each"].as_array().unwrap();
    let per_second: Vec<f64> = ios.iter().map(|ios| ios.as_f64().unwrap() / 2.0).collect();
    assert_eq!(metric("ios")["mean_each"], Value::from(per_second));
    let share = set["rows"][0]["groups"][0]["share"].as_f64().unwrap() * 100.0;
    assert!((metric("share:backup")["mean"].as_f64().unwrap() - share).abs() < 1e-9);
    assert_ne!(curve["points"][0]["figures"], point["figures"]);
}

#[test]
fn finished_runs_of_a_sweep_are_kept_and_not_repeated() {
    let place = Place::new();
    let sweep = |seeds: &str, values: &str| {
        let values = format!("--sweep=tasks.count={values}");
        let more = ["--json", "--resume=runs", &values, seeds];
        let whole: Vec<&str> = with(&more).into_iter().filter(|it| *it != "--seeds=2").collect();
        place.run(&whole).quiet()
    };
    let lines = || fs::read_to_string(place.path().join("runs")).unwrap();
    let first = sweep("--seeds=3", "1,2,4");
    let all = lines();
    assert_eq!(all.lines().count(), 9);
    // A run of which the file says something else is not done again.
    let odd = all.replacen("\"values\":[\"", "\"values\":[\"9", 1);
    place.write("runs", &odd);
    assert_ne!(sweep("--seeds=3", "1,2,4"), first);
    assert_eq!(lines(), odd);
    // Half of it, with an incomplete last line.
    let half: Vec<&str> = all.lines().take(5).collect();
    place.write("runs", format!("{}\n{}", half.join("\n"), &half[0][..30]));
    assert_eq!(sweep("--seeds=3", "1,2,4"), first);
    assert_eq!(lines().lines().count(), 9);
    // More values and more seeds need only what is new.
    sweep("--seeds=4", "1,2,3,4");
    assert_eq!(lines().lines().count(), 16);
}

#[test]
fn a_page_has_a_curve_for_each_figure_and_a_dot_for_each_run() {
    let place = Place::new();
    let page = ["--report=page.html", "--sweep=tasks.count=1,2,4", "--metric=ios"];
    place.run(&with(&page)).quiet();
    let page = fs::read_to_string(place.path().join("page.html")).unwrap();
    let charts = page.matches("<figcaption>I/Os per second over tasks.count</figcaption>");
    assert_eq!(charts.count(), 1, "{page}");
    assert_eq!(page.matches("\"kind\":\"dot\"").count(), 6, "{page}");
    for (count, ios) in [(1, 122), (2, 124), (4, 124)] {
        let line = format!("<td>flat</td><td class=\"n\">{count}</td><td class=\"n\">{ios}</td>");
        assert!(page.contains(&line), "{line}");
    }
}

/// A floor that a scheduler cannot keep beside so many others.
#[test]
fn a_scheduler_that_refuses_a_value_leaves_the_others() {
    let place = Place::new();
    let floors = "label = \"readers\"\ngroups = [{ name = \"backup\", min_iops = 60 }, \
                  { name = \"database\", min_iops = 60 }]";
    let text = two_groups().replace("label = \"readers\"", floors);
    place.write("mine.toml", text);
    let device = "--sweep=device.latency_us=1000,40000";
    let more = ["--arm=fair", "--device=fixed-8ms", "--seeds=2", "--duration=2s", "--json"];
    let ended = place.run(&[&["run", "mine.toml", device][..], &more].concat());
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("1 of 2 points was refused; "), "{}", ended.err);
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    let refused = &value["refused"][0];
    assert_eq!(refused["row"], "readers, device.latency_us=40000", "{value}");
    assert_eq!(value["curves"][0]["points"].as_array().map(Vec::len), Some(1), "{value}");
}

#[test]
fn sweeps_that_cannot_be() {
    let run = |more: &[&str]| fairdisk(&with(more));
    demand_one_line(&run(&["--sweep=host.hz=1..9"]), &["--sweep host.hz=1..9", "+STEP"]);
    let unknown = ["error: --sweep tasks.cuont=1: unknown key", "did you mean `count`"];
    demand_one_line(&run(&["--sweep=tasks.cuont=1,2"]), &unknown);
    let nobody = ["error: --sweep tasks.x.count=1: unknown group or named task `x`", "backup"];
    demand_one_line(&run(&["--sweep=tasks.x.count=1,2"]), &nobody);
    let none = ["error: --sweep tasks.count=0: `count` is 0; allowed: 1 to 100000"];
    demand_one_line(&run(&["--sweep=tasks.count=0..4+1"]), &none);
    let both = run(&["--sweep=host.hz=100,250", "--set=host.hz=7"]);
    demand_one_line(&both, &["--sweep host.hz=100: changes what --set host.hz=7 changes"]);
    let share = run(&["--sweep=host.hz=100,250", "--metric=share:x"]);
    demand_one_line(&share, &["--metric share:x", "unknown group `x`"]);
    let real = run(&["--sweep=host.hz=100,250", "--on=file:x"]);
    demand_one_line(&real, &["--sweep is for the lab", "--set"]);
    demand_refused(&run(&["--metric=ios"]), &["--sweep <KEY=VALUES>"]);
    demand_refused(&run(&["--resume=runs"]), &["--sweep <KEY=VALUES>"]);
    let place = Place::new();
    place.write("jobs.fio", "[a]\nrw=read\nsize=1m\n");
    let jobs = place.run(&["run", "jobs.fio", "--sweep=tasks.count=1,2"]);
    demand_one_line(&jobs, &["--sweep tasks.count=1: a job file has no experiment"]);
}
