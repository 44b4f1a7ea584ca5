//! `fairdisk trace`, and traces where a job file can be.

use crate::bad_input::demand_refused;
use crate::program::Place;
use crate::schema::demand_valid;

/// A trace of two groups: reads at random, one after another, beside a stream of writes.
fn with_trace() -> Place {
    let mut text = String::from(
        "queued_ns,issued_ns,done_ns,device,group,task,op,traits,start_sector,sectors\n",
    );
    for at in 0..400_u64 {
        let (ns, place) = (at * 1_000_000, 8 * (at * 7919 % 100_000));
        let (done, write, end) = (ns + 300_000, ns + 50_000, ns + 900_000);
        text += &format!("{ns},{ns},{done},sda,/db,fio-1,read,sync,{place},8\n");
        let place = 1_000_000 + 256 * at;
        text += &format!("{write},{write},{end},sda,/backup,dd-2,write,sync,{place},256\n");
    }
    let place = Place::new();
    place.write("load.csv", text);
    place
}

#[test]
fn a_trace_is_summed_up_and_translated() {
    let place = with_trace();
    let text = place.run(&["trace", "load.csv"]).quiet();
    for words in ["csv, 800 requests in 0.400 s", "group", "/backup", "/db", "Q2D p50", "400"] {
        assert!(text.contains(words), "{words:?} in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let json = place.run(&["trace", "load.csv", "--by", "task", "--json"]).json();
    demand_valid("trace", &json);
    assert_eq!(json["schema"], 1);
    assert_eq!(json["parts"][1]["name"], "fio-1");
    assert_eq!(json["parts"][0]["sequential_percent"], 100.0);
    let think = json["parts"][1]["think_ms"]["p50"].as_f64().unwrap();
    assert!((think - 0.7).abs() < 0.01, "{think}");
    for to in ["load.fdt", "load.blktrace.0", "load.iolog", "load.blkparse"] {
        assert_eq!(place.run(&["trace", "load.csv", "--to", to]).quiet(), "");
        let there = place.run(&["trace", to, "--json"]).json();
        demand_valid("trace", &there);
        assert_eq!(there["all"]["ios"], 800, "{to}");
        assert_eq!(there["all"]["bytes"], json["all"]["bytes"], "{to}");
    }
}

#[test]
fn a_trace_stands_where_a_job_file_does() {
    let place = with_trace();
    let run = ["run", "load.csv", "--device", "nvme", "--scheduler", "fair", "--seeds", "1"];
    let with = |more: &[&str]| place.run(&[&run[..], more].concat());
    let text = with(&[]).quiet();
    assert!(text.contains("Replayed closed loop") && text.contains("800 submitted"), "{text}");
    let json = with(&["--replay", "as-it-came", "--json"]).json();
    assert_eq!(json["rows"][0]["groups"][0]["name"], "/backup");
    let ios = |at: usize| json["rows"][0]["groups"][at]["ios"].as_f64().unwrap();
    assert_eq!([ios(0), ios(1)], [400.0; 2]);
    let half = with(&["--window", "0s..200ms", "--scale", "/db=2"]).quiet();
    assert!(half.contains("600 submitted"), "{half}");
    let merged = with(&["--rename", "/db=/all", "--rename", "/backup=/all"]).quiet();
    assert!(merged.contains("/all") && !merged.contains("/db "), "{merged}");
    let left = with(&["--drop", "/backup"]).quiet();
    assert!(left.contains("400 submitted"), "{left}");
    let compare =
        ["compare", "load.csv", "--device", "nvme", "--scheduler", "fair", "--weight", "/db=800"];
    let compared = place.run(&compare).quiet();
    assert!(compared.contains("fair"), "{compared}");
}

#[test]
fn what_is_wrong_with_a_trace_is_said() {
    let place = with_trace();
    place.write("alien", "GIF89a what is this\n");
    place.write("broken.csv", "1,R,100,1024,1\n2,X,1,1,1\n");
    for (command, words) in [
        ("trace alien", &["its format is not known", "--format", "blktrace"][..]),
        ("trace missing", &["missing", "No such file"]),
        ("trace broken.csv", &["broken.csv:2: expected device_id,opcode", "found `2,X,1,1,1`"]),
        ("trace load.csv --to out.msr", &["only reads", "fdt, csv, iolog"]),
        ("trace load.csv --to out", &["name its format with --to-format"]),
        ("run load.csv --drop /x", &["--drop /x", "no group `/x`; its groups are /db, /backup"]),
        ("run load.csv --window 5s..9s", &["no request is left", "window"]),
        ("run load.csv --window 9s..5s", &["expected two times", "30s..90s"]),
        ("run load.csv --set volume.size_gib=1", &["a trace has no experiment"]),
        ("run two-groups --replay as-it-came", &["--replay is about", "two-groups is none"]),
        ("run load.csv --show-job", &["--show-job is for job files", "is a trace"]),
    ] {
        let words_of: Vec<&str> = command.split(' ').collect();
        demand_refused(&place.run(&words_of), words);
    }
    assert_eq!(place.names(), ["alien", "broken.csv", "load.csv"], "nothing is left behind");
}

#[test]
fn a_recording_is_laid_beside_its_replay_and_refines_a_device() {
    let place = with_trace();
    let run = ["validate", "load.csv", "--device", "nvme", "--scheduler", "noop"];
    let text = place.run(&run).quiet();
    for words in ["noop on nvme, 0.1 s", "do not fit", "/backup", "demerit", "fit worst", "note: "]
    {
        assert!(text.contains(words), "{words:?} in\n{text}");
    }
    let is_note = |line: &&str| line.starts_with("note: ") || line.starts_with("Of these");
    let mut lines = text.lines().filter(|line| !is_note(line));
    assert!(lines.all(|line| line.chars().count() <= 80), "{text}");
    let as_it_came = ["--no-values", "--json", "--replay", "as-it-came"];
    let json = place.run(&[&run[..], &as_it_came].concat()).json();
    demand_valid("validate", &json);
    assert_eq!((&json["device"], json["schema"].as_u64()), (&"nvme".into(), Some(1)));
    assert!(json["misses"].as_array().is_some_and(|misses| !misses.is_empty()));
    let p50 = |at: usize| json["times"][at]["p50_ms"]["recorded"].as_f64().unwrap();
    assert_eq!([p50(0), p50(1)], [0.85, 0.3]);
    // A file that has the values which fit, and is a device.
    let from =
        ["calibrate", "--from", "load.csv", "nvme", "--scheduler", "noop", "-o", "own.toml", "-q"];
    assert_eq!(place.run(&from).quiet(), "");
    let text = std::fs::read_to_string(place.path().join("own.toml")).unwrap();
    assert!(text.starts_with("# Measured by `fairdisk calibrate --from load.csv"), "{text}");
    assert!(text.contains(" was ") && text.contains("says nothing about"), "{text}");
    assert!(text.contains("id = \"own\"") && text.contains("# no capacitors"), "{text}");
    let better =
        ["validate", "load.csv", "--device", "own.toml", "--scheduler", "noop", "--no-values"];
    place.run(&better).quiet();
}

#[test]
fn a_comparison_that_is_not_possible_says_why() {
    let place = with_trace();
    place.write("endless.csv", "3,R,4096,4096,1000\n3,W,8192,4096,2000\n");
    for (command, words) in [
        ("validate load.csv", "--device: name the disk"),
        ("validate load.csv --device nvme", "does not say which scheduler"),
        ("validate load.csv --device nvme --scheduler noop --scale /db=2", "--scale"),
        ("validate endless.csv --device nvme --scheduler noop", "does not say when"),
        ("calibrate --from endless.csv nvme --scheduler noop", "does not say when"),
        ("trace load.csv --perfetto load.csv", "would be overwritten"),
        ("validate absent.fdt --device nvme", "no recording"),
        ("calibrate --from load.csv nope", "nope"),
        ("calibrate /tmp --scheduler fair", "--from"),
    ] {
        let words_of: Vec<&str> = command.split(' ').collect();
        demand_refused(&place.run(&words_of), &[words]);
    }
}

#[test]
fn a_trace_is_a_page_and_tracks() {
    let place = with_trace();
    let made = ["trace", "load.csv", "--report", "load.html", "--perfetto", "load.pftrace"];
    place.run(&made).quiet();
    let page = std::fs::read_to_string(place.path().join("load.html")).unwrap();
    for words in ["Places over time", "Queue depth over time", "Times as a distribution", "/backup"]
    {
        assert!(page.contains(words), "{words}");
    }
    let tracks = std::fs::read(place.path().join("load.pftrace")).unwrap();
    let has = |name: &str| tracks.windows(name.len()).any(|part| part == name.as_bytes());
    assert!(
        has("/backup") && has("fio-1") && has("write 128 KiB") && !has("waits for the scheduler")
    );
    let run = ["explain", "load.csv", "--device", "nvme", "--perfetto", "run.pftrace"];
    place.run(&run).quiet();
    assert!(std::fs::metadata(place.path().join("run.pftrace")).unwrap().len() > 10_000);
}

/// Ends before the beginning, and at the end of time.
#[test]
fn strange_times_fit_on_a_page() {
    let place = Place::new();
    let head = "queued_ns,issued_ns,done_ns,device,group,task,op,traits,start_sector,sectors\n";
    let lines = "7200000000000,,0,sda,/db,fio-1,read,sync,0,8\n\
        7200000000001,7200000000002,18446744073709551615,sda,/db,fio-1,read,sync,8,8\n";
    place.write("load.csv", format!("{head}{lines}"));
    let made = ["trace", "load.csv", "--report", "load.html", "--perfetto", "load.pftrace"];
    place.run(&made).quiet();
    let page = std::fs::metadata(place.path().join("load.html")).unwrap();
    assert!(page.len() < 4 << 20, "{} bytes", page.len());
}
