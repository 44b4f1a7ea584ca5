//! Agreement of the two worlds: groups get in real time, at the pace of a modelled disk, what they
//! get in the lab.

use crate::program::{Place, fairdisk};
use serde_json::Value;
use std::env;

/// The duration in seconds and the tolerance in percentage points of the short form. Shares of a
/// short run depend on where the turns of the groups happen to be cut off. `make soak` runs the
/// long form.
const SHORT: (u32, f64) = (8, 8.0);
const LONG: (u32, f64) = (30, 4.0);

/// The shares of the groups with tasks. Whether the root group has a line depends on how long a
/// journal commit takes in real time.
fn shares(value: &Value) -> Vec<f64> {
    let groups = value["rows"][0]["groups"].as_array().unwrap();
    groups
        .iter()
        .filter(|group| group["name"] != "/")
        .map(|group| group["share"].as_f64().unwrap() * 100.0)
        .collect()
}

#[test]
fn two_layer_shares_on_a_file_are_those_of_the_lab() {
    let is_long = env::var_os("FAIRDISK_REAL_TIME_LONG").is_some();
    let (seconds, tolerance) = if is_long { LONG } else { SHORT };
    let duration = format!("{seconds}s");
    let run = ["run", "satoshi-2008-05-27-test1", "--arm", "two-layer", "--row", "#1", "--json"];
    let run = [&run[..], &["--device", "wd2500js", "--duration", &duration]].concat();
    let lab = shares(&fairdisk(&[&run[..], &["--seeds", "5"]].concat()).json());
    let value = Place::new().run(&[&run[..], &["-q", "--on", "file:x"]].concat()).json();
    let real = shares(&value);
    println!("{seconds} s: lab {lab:.1?}, file {real:.1?}, allowed {tolerance} points");
    println!("lateness: {:#}", value["rows"][0]["backend"]["completion_lateness_ms"]);
    assert_eq!((lab.len(), real.len()), (3, 3));
    for (lab, real) in lab.iter().zip(&real) {
        assert!((lab - real).abs() <= tolerance, "{real} % on a file, {lab} % in the lab");
    }
}
