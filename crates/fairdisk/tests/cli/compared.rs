//! `fairdisk compare` on the command line.

use crate::bad_input::demand_one_line;
use crate::program::{Place, fairdisk};
use std::fs;

const SHORT: &[&str] = &["compare", "two-groups", "--duration", "10s", "--seeds", "1"];

fn short(more: &[&str]) -> Vec<String> {
    SHORT.iter().chain(more).map(|&argument| argument.to_owned()).collect()
}

/// If the load ends, shares reflect the amount of work of each group.
#[test]
fn a_load_that_ends_is_noted() {
    let place = Place::new();
    let job = |group: &str, weight: u32| {
        format!("[{group}]\nrw=read\nsize=8m\ngroup=/{group}\ngroup_weight={weight}\n")
    };
    place.write("copy.fio", [job("gold", 300), job("rest", 100)].concat());
    let compare = ["compare", "copy.fio", "--seeds", "1", "--device", "fixed-8ms"];
    let more = ["--scheduler", "fair,noop"];
    let table = |last: &[&str]| place.run(&[&compare[..], &more, last].concat()).quiet();
    assert!(table(&[]).contains("note: A group was done"), "{}", table(&[]));
    // The first group is done within 5 s, the other after at least 8 s.
    assert!(table(&["--duration", "8s"]).contains("note: A group was done"));
    let short = table(&["--duration", "200ms"]);
    assert!(!short.contains("was done"), "{short}");
    let advise = ["advise", "copy.fio", "--seeds", "1", "--json", "--scheduler", "fair"];
    let advice = place.run(&[&advise[..], &compare[4..]].concat()).json();
    assert!(advice["note"].as_str().unwrap().contains("was done"), "{advice:#}");
    let job = |group: &str| {
        format!("[{group}]\nrw=read\nsize=8m\ngroup=/{group}\ntime_based\nruntime=2\n")
    };
    place.write("copy.fio", [job("gold"), job("rest")].concat());
    let together = table(&[]);
    assert!(!together.contains("was done"), "{together}");
}

#[test]
fn how_long_fsync_takes_is_a_column_of_its_own() {
    let place = Place::new();
    let log = "[log]\nrw=write\nbs=4k\ndirect=1\nfsync=1\nsize=1g\ngroup=/log\n";
    place.write("log.fio", format!("{log}[read]\nrw=randread\ndirect=1\nsize=1g\ngroup=/read\n"));
    place.write("read.fio", "[read]\nrw=randread\ndirect=1\nsize=1g\ngroup=/read\n");
    let compare = |file: &str| {
        let short = ["--scheduler", "fair", "--seeds", "1", "--duration", "1s"];
        let page = ["--report", "page.html"];
        let table = place.run(&[&["compare", file][..], &short, &page].concat()).quiet();
        (table, fs::read_to_string(place.path().join("page.html")).unwrap())
    };
    let (table, page) = compare("log.fio");
    assert!(table.lines().any(|line| line.ends_with("wait ms  fsync p99")), "{table}");
    let read = table.lines().find(|line| line.contains("  /read")).expect("it ran");
    assert!(read.ends_with("  -"), "the reader calls none: {read}");
    assert!(page.contains("<th>fsync p99 ms</th>"));
    let (table, page) = compare("read.fio");
    assert!(!table.contains("fsync") && !page.contains("<th>fsync"), "{table}");
}

/// A log of any size of writes has nearly what it asks for under `fair`, and commits take little
/// longer than alone. Without, on a disk that caches writes, it waits for all that the dump has
/// written: the column of what was got of what was asked for shows it where points do not.
#[test]
fn a_log_of_any_size_beside_a_dump_commits_as_if_alone() {
    let place = Place::new();
    for kib in [2, 4, 8, 64] {
        for how in [
            "rw=write\ndirect=1\nfsync=1",
            "rw=randwrite\ndirect=1\nfsync=1",
            "rw=write\nfdatasync=1",
        ] {
            let log = format!("[wal]\nbs={kib}k\n{how}\nsize=1g\ngroup=/db\ngroup_weight=900\n");
            let dump = "[dump]\nrw=write\nbs=1m\nsize=1g\ngroup=/dump\ngroup_weight=100\n";
            let log = format!("[global]\ntime_based\nruntime=2\n{log}");
            place.write("alone.fio", &log);
            place.write("beside.fio", log + dump);
            for device in ["nvme", "sata-ssd"] {
                let log_of = |file: &str, scheduler: &str| {
                    let short = ["--seeds", "1", "--duration", "2s", "--json"];
                    let load = ["compare", file, "--device", device, "--scheduler", scheduler];
                    let value = place.run(&[&load[..], &short].concat()).json();
                    let cell = value["cells"].as_array().unwrap().last().unwrap();
                    let log = &cell["groups"][0];
                    let p99 = log["flush"]["latency_ms"]["p99"].as_f64().expect("it commits");
                    (log["got_of_asked"].as_f64(), p99)
                };
                let (_, alone) = log_of("alone.fio", "fair");
                let (got, p99) = log_of("beside.fio", "fair");
                let (unshared, _) = log_of("beside.fio", "noop");
                let what = format!("{device}, {kib} KiB, {how}: {got:?}, {p99} ms, {alone} alone");
                assert!(got > Some(0.8) && p99 < 3.0 * alone, "{what}");
                assert!(unshared < Some(0.2), "{what}, {unshared:?} under noop");
            }
        }
    }
}

#[test]
fn a_load_that_does_not_end_is_given_up_and_fulfils_no_wish() {
    let place = Place::new();
    place.write("slow.fio", "[a]\nrw=randread\nsize=1m\ndirect=1\nthinktime=1h\ngroup=/a\n");
    let compare = ["compare", "slow.fio", "--seeds", "1", "--scheduler", "fair"];
    let ended = place.run(&compare);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.err.contains("2 of 2 cells were not done after 24 h"), "{}", ended.err);
    assert!(ended.out.contains("fair, given up"), "{}", ended.out);
    let json = place.run(&[&compare[..], &["--json"]].concat());
    let value: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(value["cells"][1]["given_up"], true, "{value:#}");
    let advise = ["advise", "slow.fio", "--seeds", "1", "--scheduler", "fair", "--json"];
    let advice = place.run(&[&advise[..], &["--want", "/a: min_iops=1"]].concat());
    let value: serde_json::Value = serde_json::from_str(&advice.out).unwrap();
    assert_eq!(value["granted"], false, "{value:#}");
}

#[test]
fn every_scheduler_meets_every_device_and_noop_is_the_measure() {
    let more =
        ["--scheduler", "two-layer-cfq,deadline", "--device", "fixed-8ms,sata-ssd", "--json"];
    let value = fairdisk(&short(&more)).json();
    let cells = value["cells"].as_array().unwrap();
    let cell = |cell: &serde_json::Value| {
        let text = |name: &str| cell[name].as_str().unwrap().to_owned();
        (text("device"), text("scheduler"))
    };
    let of = |device: &str, scheduler: &str| (device.to_owned(), scheduler.to_owned());
    let expected: Vec<_> = ["fixed-8ms", "sata-ssd"]
        .iter()
        .flat_map(|device| ["noop", "two-layer-cfq", "deadline"].map(|one| of(device, one)))
        .collect();
    assert_eq!(cells.iter().map(cell).collect::<Vec<_>>(), expected);
    assert_eq!(cells[0]["of_noop"], 1.0);
    let error = |at: usize| cells[at]["error_points"]["mean"].as_f64().unwrap();
    // The groups ask for 80 and 20 %; a scheduler without groups gives each half.
    assert!((error(0) - 30.0).abs() < 2.0, "noop: {}", error(0));
    assert!(error(1) < 3.0, "two-layer: {}", error(1));
    let group = &cells[1]["groups"][0];
    assert!(group["latency_ms"]["p99_9"].as_f64().unwrap() > 0.0, "{group:#}");
}

#[test]
fn the_table_ends_with_each_scheduler_over_all_devices() {
    let more = ["--scheduler", "deadline", "--device", "fixed-8ms,wd2500js"];
    let table = fairdisk(&short(&more)).quiet();
    let (blocks, summary) = table.split_once("over all of them").unwrap();
    for group in ["backup       20.0", "database     80.0"] {
        assert_eq!(blocks.matches(group).count(), 4, "{table}");
    }
    assert!(summary.contains("noop") && summary.contains("deadline"), "{table}");
    let one = fairdisk(&short(&["--scheduler", "deadline"])).quiet();
    assert!(!one.contains("over all of them"), "{one}");
}

#[test]
fn the_page_shows_and_tells_every_device() {
    let place = Place::new();
    let path = place.path().join("page.html");
    let report = ["--report", path.to_str().unwrap()];
    let more = ["--scheduler", "two-layer-cfq", "--device", "fixed-8ms,nvme"];
    fairdisk(&short(&[&more[..], &report[..]].concat())).quiet();
    let page = fs::read_to_string(&path).unwrap();
    let got = "<figcaption>Got, and asked for as a stroke</figcaption>";
    assert_eq!(page.matches(got).count(), 2);
    let cells = "<tr><td>backup</td><td>noop</td><td class=\"n\">";
    assert!(page.matches(cells).count() >= 2, "told in a table, too");
    assert!(page.contains("fairdisk compare two-groups"), "the command that made it");
    for outside in ["<script src", "<link", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let nowhere = place.path().join("none/page.html");
    let refused = fairdisk(&short(&["--report", nowhere.to_str().unwrap()]));
    assert_eq!(refused.code, Some(2), "{}", refused.err);
}

/// In a millisecond, a disk that takes eight for a request does none.
#[test]
fn of_a_run_in_which_nothing_was_done_no_parts_are_told() {
    let place = Place::new();
    let compare = ["compare", "two-groups", "--duration", "1ms", "--seeds", "1"];
    let more = ["--device", "fixed-8ms", "--scheduler", "fair", "--report", "page.html"];
    let compare = [&compare[..], &more].concat();
    let table = place.run(&compare).quiet();
    assert!(table.contains("backup          -       -       -          -  "), "{table}");
    let page = fs::read_to_string(place.path().join("page.html")).unwrap();
    assert!(!page.contains("Got, and asked for"), "nobody got a part: {page}");
    let value = place.run(&[&compare[..], &["--json"]].concat()).json();
    let cell = &value["cells"][1];
    assert!(cell["error_points"].is_null(), "{cell:#}");
    assert!(cell["groups"][0]["asked"].is_null() && cell["groups"][0]["got"].is_null(), "{cell:#}");
    let advise = ["advise", "two-groups", "--duration", "1ms", "--seeds", "1", "--json"];
    let value = place.run(&[&advise[..], &more[..4]].concat()).json();
    let wish = &value["wishes"][0];
    assert_eq!((&wish["met"], &wish["got"]), (&false.into(), &"no I/Os".into()), "{wish:#}");
}

/// A group without a limit that is honoured does in seconds what its ceiling allows in hours.
#[test]
fn what_was_done_beyond_a_ceiling_is_told_as_what_that_allows() {
    let place = Place::new();
    let job = "[a]\nrw=randread\nsize=64m\ndirect=1\ngroup=/a\ngroup_max_iops=1\n[b]\nrw=randread\n\
               size=64m\ndirect=1\ngroup=/b\n";
    place.write("shop.fio", job);
    let compare = ["compare", "shop.fio", "--duration", "1s", "--seeds", "1", "--scheduler"];
    let table = place.run(&[&compare[..], &["noop", "--device", "fixed-8ms"]].concat()).quiet();
    assert!(table.contains("over ceiling, by what it allows in 59 s"), "{table}");
}

#[test]
fn several_names_are_separated_by_commas_and_the_help_says_so() {
    let help = |command: &str| fairdisk(&[command, "--help"]).quiet();
    for command in ["compare", "advise"] {
        assert!(help(command).contains("Schedulers to try, separated by commas"));
    }
    assert!(help("compare").contains("Disks, separated by commas"));
}

#[test]
fn groups_may_ask_for_something_else_than_the_load_says() {
    let more = ["--device", "fixed-8ms", "--scheduler", "fair", "--json", "--want"];
    let compare = |want: &str| fairdisk(&short(&[&more[..], &[want]].concat()));
    let value = compare("backup: share=50").json();
    let groups = value["cells"][1]["groups"].as_array().unwrap();
    for group in groups {
        let [asked, got] = ["asked", "got"].map(|name| group[name].as_f64().unwrap());
        assert!((asked - 0.5).abs() < 0.01 && (got - 0.5).abs() < 0.03, "{group:#}");
    }
    demand_one_line(&compare("backups: share=50"), &["--want: unknown group `backups`"]);
}

#[test]
fn a_value_is_changed_where_a_scheduler_has_it() {
    let set = ["--scheduler", "deadline,two-layer-cfq", "--json", "--set"];
    let values = |set_to: &str| {
        let more: Vec<&str> = set.iter().copied().chain([set_to]).collect();
        fairdisk(&short(&more)).json()["cells"].clone()
    };
    let (plain, changed) = (values("host.cpus=2"), values("scheduler.groups.slice_ms=1"));
    assert_eq!(plain[1], changed[1], "deadline has no such key");
    assert_ne!(plain[2], changed[2]);
}

#[test]
fn names_that_stand_for_nothing_are_refused() {
    let refused = |more: &[&str], name| demand_one_line(&fairdisk(&short(more)), &[name]);
    refused(&["--scheduler", "noop,cfg-2.6.25"], "unknown scheduler `cfg-2.6.25`");
    refused(&["--device", "wd2500js,floppy"], "unknown device `floppy`");
    refused(&["--set", "scheduler.groups.slices_ms=1"], "`slices_ms`");
}

#[test]
fn files_of_one_name_in_two_folders_stay_apart() {
    let place = Place::new();
    let device = include_str!("../../../../catalog/devices/fixed-8ms.toml");
    let device = device.replace("\"fixed-8ms\"", "\"disk\"");
    for (folder, latency) in [("a", "latency_us = 8_000"), ("b", "latency_us = 4_000")] {
        fs::create_dir(place.path().join(folder)).unwrap();
        let text = device.replace("latency_us = 8_000", latency);
        place.write(&format!("{folder}/disk.toml"), text);
    }
    let files = ["--device", "a/disk.toml,b/disk.toml", "--scheduler", "noop", "--json"];
    let compare = ["compare", "two-groups", "--seeds", "1", "--duration", "1s"];
    let found = place.run(&[&compare[..], &files].concat()).json();
    let cells = found["cells"].as_array().unwrap();
    assert_eq!([&cells[0]["device"], &cells[1]["device"]], ["a/disk.toml", "b/disk.toml"]);
    let rate = |at: usize| cells[at]["ios_per_s"].as_f64().unwrap();
    assert!(rate(1) > 1.5 * rate(0), "{found:#}");
}
