//! `fairdisk memory` on the command line.

use crate::bad_input::demand_refused;
use crate::program::{Place, fairdisk};
use serde_json::Value;
use std::fs;

/// A loop over 40 MiB, and nothing beside it.
const LOOP: &str = "[loop]
filename=/data/file
size=40m
rw=read
bs=128k
invalidate=0
time_based
runtime=5s
";

const SHORT: [&str; 5] =
    ["memory", "loop.fio", "--device=fixed-8ms", "--scheduler=noop", "--seeds=1"];

fn place() -> Place {
    let place = Place::new();
    place.write("loop.fio", LOOP);
    place
}

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SHORT, more].concat()
}

#[test]
fn a_loop_needs_as_much_memory_as_it_is_long() {
    let value = place().run(&with(&["--json", "--want=90%"])).json();
    let enough = value["enough_mib"].as_u64().unwrap();
    assert!((40..=48).contains(&enough), "{enough}");
    assert_eq!([&value["key"], &value["kernel"]], ["host.memory.mib", "now"]);
    let points = value["curves"][0]["points"].as_array().unwrap();
    let missed = |mib: &str| {
        let point = points.iter().find(|point| point["value"] == mib).unwrap();
        let figures = point["figures"].as_array().unwrap();
        let missed = figures.iter().find(|figure| figure["metric"] == "missed").unwrap();
        missed["mean"].as_f64().unwrap()
    };
    assert!(missed("32") > 95.0, "each page is evicted before it is needed again");
    assert!(missed("64") < 40.0, "{}", missed("64"));
}

#[test]
fn the_answer_stands_below_the_table_and_on_the_page() {
    let place = place();
    let table = place.run(&with(&["--report=page.html"])).quiet();
    let answer = table.lines().find(|line| line.contains("it keeps 95 % of what it does"));
    let answer = answer.unwrap_or_else(|| panic!("{table}"));
    let page = fs::read_to_string(place.path().join("page.html")).unwrap();
    assert!(page.contains(answer), "{answer}");
    assert!(table.contains("read again in %") && table.contains("waits for memory in %"));
}

#[test]
fn finished_runs_are_kept() {
    let place = place();
    let first = place.run(&with(&["--json", "--resume=runs"])).json();
    let kept = fs::read_to_string(place.path().join("runs")).unwrap();
    let again = place.run(&with(&["--json", "--resume=runs"])).json();
    assert_eq!(first, again);
    assert_eq!(fs::read_to_string(place.path().join("runs")).unwrap(), kept);
    let sizes = first["curves"][0]["points"].as_array().map(Vec::len);
    assert_eq!(Some(kept.lines().count()), sizes);
    assert_ne!(first["enough_mib"], Value::Null);
}

#[test]
fn what_makes_no_sense_is_refused_with_a_remedy() {
    let place = place();
    for (more, expected) in [
        ("--want=0", "expected 1% to 100%, as in 95%"),
        ("--want=most", "expected 1% to 100%, as in 95%"),
        (
            "--set=host.memory.mib=64",
            "error: --set host.memory.mib=64: the size is what is looked for; leave it out\n",
        ),
        (
            "--set=host.memory=256M",
            "error: --set host.memory=256M: memory has keys of its own; expected \
             host.memory.mib=256\n",
        ),
        (
            "--set=host.memory.kernel=2.6.12",
            "error: --set host.memory.kernel=2.6.12: `kernel`: `2.6.12` is no kernel whose memory \
             management is known; allowed: \"2.6.24\" to \"2.6.37\", and \"now\"\n",
        ),
    ] {
        let ended = place.run(&with(&[more]));
        assert_eq!(ended.code, Some(2), "{more}: {}", ended.err);
        assert!(ended.err.contains(expected), "{more}: {}", ended.err);
    }
    let several = fairdisk(&["memory", "two-groups"]);
    demand_refused(&several, &["has several arms; choose one with --arm: `flat`"]);
}

/// What `fairdisk memory` answers of the loop, for what is proposed.
#[test]
fn advise_takes_memory_as_a_wish() {
    let place = place();
    let advise = ["advise", "loop.fio", "--device=fixed-8ms", "--scheduler=noop", "--seeds=1"];
    let wishes = ["--want=/: latency_p99_ms=100", "--want=memory=90%"];
    let value = place.run(&[&advise[..], &wishes, &["--json"]].concat()).json();
    let enough = value["memory"]["enough_mib"].as_u64().unwrap();
    assert!((40..=48).contains(&enough), "{value:#}");
    let text = place.run(&[&advise[..], &wishes].concat()).quiet();
    let again = format!("--set host.memory.kernel=now --set host.memory.mib={enough}");
    assert!(text.contains(&again), "{text}");
    assert!(text.contains("The other wishes were tried with "), "{text}");
    demand_refused(
        &fairdisk(&["advise", "two-groups", "--want=memory=lots"]),
        &["`memory` is lots; expected 1% to 100%, as in 95%"],
    );
}

/// Nothing is tried for the wishes of groups before: this command has none, and is refused for that
/// if it comes so far.
#[test]
fn advise_refuses_a_wish_for_memory_that_cannot_be_looked_for_at_once() {
    let place = place();
    let advise = ["advise", "loop.fio", "--device=fixed-8ms", "--scheduler=noop"];
    for (more, expected) in [
        (
            ["--want=memory=90%", "--set=host.memory.mib=64"],
            "error: --set host.memory.mib=64: the size is what is looked for; leave it out\n",
        ),
        (
            ["--want=memory=90%", "--want=memory=50%"],
            "error: --want memory=50%: memory=90% is wished already, and one size is looked for; \
             leave one out\n",
        ),
    ] {
        let ended = place.run(&[&advise[..], &more].concat());
        assert_eq!((ended.code, ended.err.as_str()), (Some(2), expected), "{more:?}");
    }
}

#[test]
fn a_load_past_the_page_cache_is_told_that_memory_makes_no_difference() {
    const NOTE: &str = "Memory makes no difference to it";
    let place = place();
    place.write("direct.fio", format!("{LOOP}direct=1\n"));
    let run = |file| place.run(&["memory", file, SHORT[2], SHORT[3], SHORT[4]]).quiet();
    assert!(run("direct.fio").contains(NOTE));
    assert!(!run("loop.fio").contains(NOTE));
}

#[test]
fn a_sweep_says_what_a_figure_of_memory_lacks() {
    const NOTE: &str = "missed: the memory of the host is not page by page; add --set \
                        host.memory.kernel=now";
    let place = place();
    let sweep = ["--sweep=host.memory.mib=64,128", "--metric=missed", "--metric=again"];
    let run = |more: &[&str]| {
        place.run(&[&["run", "loop.fio", SHORT[2], SHORT[3], SHORT[4]], &sweep[..], more].concat())
    };
    let told = run(&["--json"]).json();
    let notes = told["caveats"].as_array().unwrap().iter();
    let ours: Vec<_> =
        notes.filter(|note| note.as_str().unwrap().contains("page by page")).collect();
    assert_eq!(ours, [NOTE]);
    let with = run(&["--set=host.memory.kernel=now"]).quiet();
    assert!(!with.contains("page by page"), "{with}");
}
