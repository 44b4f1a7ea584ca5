//! `fairdisk sweep` on the command line.

use crate::program::{Ended, Place, fairdisk};
use std::fs;

/// Two schedulers at two clock rates with three seeds: twelve short runs.
const TWELVE: &str = "spec = \"two-groups\"\nseeds = 3\nduration_s = 0.2\n\
    [over]\nscheduler = [\"fair\", \"noop\"]\n\"host.hz\" = [100, 1000]\n";

fn place(definition: &str) -> Place {
    let place = Place::new();
    place.write("sweep.toml", definition);
    place
}

fn kept(place: &Place) -> usize {
    let folders = fs::read_dir(place.path().join("runs")).unwrap();
    folders.map(|folder| fs::read_dir(folder.unwrap().path()).unwrap().count()).sum()
}

#[track_caller]
fn refused(ended: &Ended, code: i32, why: &str) {
    assert!(ended.code == Some(code) && ended.err.contains(why), "{ended:?}");
}

#[test]
fn two_shards_merged_give_the_same_bytes_as_one() {
    let place = place(TWELVE);
    let whole = place.run(&["sweep", "sweep.toml"]).quiet();
    for shard in ["1/2", "2/2"] {
        let store = ["sweep", "sweep.toml", "--store", "runs", "--quiet", "--shard", shard];
        assert_eq!(place.run(&store).quiet(), "", "a shard prints nothing");
    }
    assert_eq!(kept(&place), 12);
    let merge = ["sweep", "sweep.toml", "--store", "runs", "--merge", "--quiet"];
    assert_eq!(place.run(&merge).quiet(), whole);
    // A line of names, and each run has two groups.
    assert_eq!(whole.lines().count(), 1 + 12 * 2);
}

#[test]
fn what_is_in_the_store_is_not_run_again() {
    let place = place(TWELVE);
    let part = ["sweep", "sweep.toml", "--store", "runs", "--shard", "1/3"];
    let said = place.run(&part).err;
    assert!(said.contains("0 of 4 runs were in the store"), "{said}");
    let said = place.run(&["sweep", "sweep.toml", "--store", "runs"]).err;
    assert!(said.contains("4 of 12 runs were in the store"), "{said}");
    assert_eq!(kept(&place), 12);
}

#[test]
fn a_merge_of_less_than_all_says_what_is_missing() {
    let place = place(TWELVE);
    place.run(&["sweep", "sweep.toml", "--store", "runs", "--shard", "1/3"]);
    let merged = place.run(&["sweep", "sweep.toml", "--store", "runs", "--merge"]);
    refused(&merged, 1, "8 of 12 runs are not in the store yet");
}

#[test]
fn an_error_in_one_point_is_a_row_and_the_others_are_run() {
    let definition = "spec = \"two-groups\"\nduration_s = 0.2\n\
                      [over]\nscheduler = [\"fair\", \"fiar\"]\n";
    let lines = place(definition).run(&["sweep", "sweep.toml", "--json-lines"]).quiet();
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3, "two groups under one scheduler, an error of the other");
    assert!(lines[0]["error"].is_null() && lines[0]["ios"].as_u64() > Some(0));
    assert_eq!(lines[2]["scheduler"], "fiar");
    assert!(lines[2]["error"].as_str().unwrap().contains("did you mean `fair`?"));
}

#[test]
fn runs_of_a_sweep_are_those_of_the_command_run() {
    let place = place("spec = \"two-groups\"\nseeds = 2\nduration_s = 0.5\n");
    let lines = place.run(&["sweep", "sweep.toml", "--json-lines"]).quiet();
    let json = fairdisk(&["run", "two-groups", "--duration=0.5s", "--seeds=2", "--json"]).json();
    for row in json["rows"].as_array().unwrap() {
        let arm = row["arm"].as_str().unwrap();
        let first = lines.lines().map(|line| serde_json::from_str(line).unwrap());
        let first = first.filter(|line: &serde_json::Value| line["arm"] == arm);
        let first = first.into_iter().find(|line| line["seed"] == 0).unwrap();
        assert_eq!(first["journal_hash"], row["journal_hash"], "{arm}");
    }
}

#[test]
fn a_wrong_definition_is_refused_with_its_place_before_anything_runs() {
    for (definition, why) in [
        ("sepc = \"two-groups\"\n", "sweep.toml:1: unknown field `sepc`"),
        ("spec = \"x\"\nseeds = \"many\"\n", "sweep.toml:2: expected how many seeds"),
        ("spec = \"x\"\n[over]\n\"hots.hz\" = [1]\n", "unknown scope `hots`; did you mean `host`?"),
        ("spec = \"x\"\nseeds = 0\n", "`seeds`: there are none"),
        ("spec = \"x\"\nseeds = 4000000000\n", "expected up to 10000000 runs"),
    ] {
        refused(&place(definition).run(&["sweep", "sweep.toml"]), 2, why);
    }
}
