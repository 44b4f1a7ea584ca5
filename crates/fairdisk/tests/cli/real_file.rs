//! Runs in real time on a real file, kept as short as possible.

use crate::program::{Ended, Place};
use serde_json::Value;

const RUN: &[&str] = &[
    "run",
    "two-groups",
    "--arm",
    "two-layer",
    "--duration",
    "300ms",
    "--on",
    "file:x",
    "--device",
    "hdd-7200-2007",
];

fn run(place: &Place, more: &[&str]) -> Value {
    place.run(&[RUN, &["--json"], more].concat()).json()
}

#[test]
fn every_backend_gives_the_table_of_the_lab() {
    for backend in ["auto", "memory", "threads"] {
        let place = Place::new();
        let value = run(&place, &["--backend", backend]);
        assert_eq!(value["shell"], "file");
        let row = &value["rows"][0];
        assert_eq!((&row["errors"], &row["seeds"]), (&0.into(), &1.into()));
        assert!(row["total"]["ios"].as_f64().unwrap() > 5.0, "{row:#}");
        assert!(row["groups"][0]["latency_ms"]["p99"].as_f64().unwrap() > 1.0, "{row:#}");
        let served = &row["backend"];
        assert!(served["name"].as_str().unwrap().starts_with("modelled disk over"), "{served}");
        assert!(served["completion_lateness_ms"]["p50"].is_number(), "{served}");
        let left: &[&str] = if backend == "memory" { &[] } else { &["x"] };
        assert_eq!(place.names(), left);
    }
}

#[test]
fn io_uring_is_used_or_its_absence_explained() {
    let place = Place::new();
    let ended = place.run(&[RUN, &["--backend", "uring", "-q"]].concat());
    match ended.code {
        Some(0) => assert!(ended.out.contains("over io_uring (asked for"), "{}", ended.out),
        code => {
            assert_eq!(code, Some(2), "{}", ended.err);
            assert!(ended.err.contains("io_uring") && ended.err.contains("threads"));
            eprintln!("skipped: {}", ended.err.trim());
        }
    }
}

#[test]
fn a_file_that_nothing_can_serve_is_not_left_behind() {
    let place = Place::new();
    place.write("mine.fio", "[a]\nrw=read\nbs=4k\nsize=64k\ndirect=1\n");
    let run = ["run", "mine.fio", "--on", "file:x", "-q", "--device", "none"];
    let deep = ["--backend", "threads", "--set", "device.depth=2000"];
    let ended = place.run(&[&run[..], &deep].concat());
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(ended.err.contains("serve 1024 requests at once, not 2000"), "{}", ended.err);
    assert_eq!(place.names(), ["mine.fio"]);
}

#[test]
fn the_table_says_how_late_things_were() {
    let ended = Place::new().run(RUN);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let first = "at the pace of hdd-7200-2007: 1 arm x 1 row x 0.3 s = 0.3 s";
    assert!(ended.err.starts_with(first), "{}", ended.err);
    for part in ["(file)", "backend: ", "timers ", "completions "] {
        assert!(ended.out.contains(part), "no `{part}` in {}", ended.out);
    }
}

#[test]
fn a_file_is_measured_as_it_is() {
    let place = Place::new();
    // 16 MiB, so that the file is soon written out.
    let text = include_str!("../../../../catalog/experiments/two-groups.toml");
    place.write(
        "small.toml",
        text.replace("size_gib = 4", "size_gib = 0.015625").replace("two-groups", "small"),
    );
    let run = ["run", "small.toml", "--arm", "two-layer", "--duration", "200ms", "--json"];
    let run = [&run[..], &["--on", "file:x"]].concat();
    let ended = place.run(&run);
    assert!(ended.err.starts_with("at the file's own pace: "), "{}", ended.err);
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(value["device"], "none");
    // A disk that turns does a hundred in a second.
    let rate = value["rows"][0]["total"]["ios_per_s"].as_f64().unwrap();
    assert!(rate > 300.0, "{rate}: {}", ended.out);
    assert!(value["rows"][0]["backend"]["completion_lateness_ms"].is_null());
    let metadata = std::fs::metadata(place.path().join("x")).unwrap();
    assert!(std::os::unix::fs::MetadataExt::blocks(&metadata) * 512 >= 16 << 20);
}

/// The file is replaced by a directory while one of many rows is running.
#[test]
fn what_was_measured_before_the_target_was_lost_is_printed() {
    let place = Place::new();
    let row = |number| {
        format!(
            "[[row]]\nlabel = \"row {number}\"\n\
             tasks = [{{ group = \"backup\" }}, {{ group = \"database\" }}]\n"
        )
    };
    let text = include_str!("../../../../catalog/experiments/two-groups.toml");
    let (head, rest) = text.split_once("[[row]]").unwrap();
    let (_, arms) = rest.split_once("[[arm]]").unwrap();
    let rows: String = (0..40).map(row).collect();
    let text = format!("{head}{rows}[[arm]]{arms}");
    place.write(
        "many.toml",
        text.replace("two-groups", "many").replace("op = \"read\"", "op = \"write\""),
    );
    let file = std::fs::File::create(place.path().join("x")).unwrap();
    file.set_len(4 << 30).unwrap();
    let run = ["run", "many.toml", "--arm", "flat", "--duration", "100ms", "--on", "file:x"];
    let run =
        [&run[..], &["--device", "hdd-7200-2007", "--overwrite", "--quiet", "--json"]].concat();
    std::os::unix::fs::symlink(".", place.path().join("link")).unwrap();
    let mut child = place.command(&run).spawn().unwrap();
    // Once something is written, a row is running.
    while std::os::unix::fs::MetadataExt::blocks(&file.metadata().unwrap()) == 0
        && child.try_wait().unwrap().is_none()
    {
        std::thread::yield_now();
    }
    std::fs::rename(place.path().join("link"), place.path().join("x")).unwrap();
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    assert!(ended.err.contains("x is a directory"), "{}", ended.err);
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    let rows = value["rows"].as_array().unwrap();
    assert!(!rows.is_empty(), "none was printed");
    let partial = format!("results are partial: {} of 40 rows are complete", rows.len());
    assert!(ended.err.contains(&partial), "{}", ended.err);
    assert_eq!(value["partial"], true);
    assert!(rows[0]["total"]["ios"].as_f64().unwrap() > 0.0, "{:#}", rows[0]);
}

#[test]
fn the_demo_shows_both_halves_and_leaves_nothing() {
    let place = Place::new();
    let out = place.run(&["demo"]).quiet();
    for part in ["published", "two-layer CFQ", "asked", "got", "█", "fairdisk explain"] {
        assert!(out.contains(part), "no `{part}` in {out}");
    }
    assert!(!out.contains('\x1b'), "{out}");
    assert_eq!(place.names(), [""; 0]);
}
