//! Advice on the command line.

use crate::bad_input::demand_one_line;
use crate::program::{Place, fairdisk};

const SHORT: &[&str] = &[
    "advise",
    "two-groups",
    "--duration",
    "10s",
    "--seeds",
    "1",
    "--device",
    "fixed-8ms",
    "--scheduler",
    "two-layer-cfq,deadline",
];

fn short<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [SHORT, more].concat()
}

#[test]
fn what_groups_ask_for_is_wished_and_what_does_it_is_proposed() {
    let table = fairdisk(&short(&[])).quiet();
    assert!(table.contains("proposed: two-layer-cfq"), "{table}");
    assert!(table.contains("fairdisk ctl set '/database' weight=400"), "{table}");
    let value = fairdisk(&short(&["--json", "--want", "backup: share=50"])).json();
    assert_eq!(value["granted"], true, "{value:#}");
    assert_eq!(value["wishes"][0]["wish"], "50.0 % of the disk");
    let tried = value["tried"].as_array().unwrap();
    assert_eq!(tried[0]["scheduler"], "noop");
}

#[test]
fn the_page_has_the_evidence() {
    let place = Place::new();
    let path = place.path().join("page.html");
    fairdisk(&short(&["--report", path.to_str().unwrap()])).quiet();
    assert!(std::fs::read_to_string(&path).unwrap().contains("<svg"));
}

#[test]
fn wishes_that_make_no_sense_are_refused() {
    let nobody = fairdisk(&short(&["--want", "nobody: weight=3"]));
    demand_one_line(&nobody, &["unknown group `nobody`"]);
    let malformed = fairdisk(&short(&["--want", "backup: share=80,database"]));
    assert_eq!(malformed.code, Some(2));
    assert!(malformed.err.contains("expected KEY=VALUE"), "{}", malformed.err);
}
