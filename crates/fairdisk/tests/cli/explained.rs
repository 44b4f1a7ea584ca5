//! `fairdisk explain`.

use crate::program::fairdisk;
use serde_json::Value;

const RUN: &str = "two-groups/two-layer/readers/1";

fn explain(more: &[&str]) -> Value {
    let run = ["explain", RUN, "--duration", "10s", "--json"];
    fairdisk(&[&run[..], more].concat()).json()
}

fn sum(list: &Value) -> f64 {
    list.as_array().unwrap().iter().map(|part| part["ms"].as_f64().unwrap()).sum()
}

#[test]
fn the_slowest_request_is_explained_to_the_last_microsecond() {
    let list = explain(&["--slowest", "3"]);
    let slowest = list["slowest"].as_array().unwrap();
    assert_eq!(slowest.len(), 3);
    let total = |request: &Value| request["total_ms"].as_f64().unwrap();
    assert!(total(&slowest[0]) >= total(&slowest[1]), "{list:#}");
    let number = slowest[0]["request"].as_u64().unwrap().to_string();
    let life = explain(&[&number]);
    assert_eq!((&list["schema"], &life["schema"]), (&1.into(), &1.into()));
    assert_eq!(life["request"], slowest[0]["request"]);
    let accounted = sum(&life["served_meanwhile"]) + sum(&life["idle_meanwhile"]);
    assert!((accounted - life["wait_ms"].as_f64().unwrap()).abs() < 0.001, "{life:#}");
}

#[test]
fn a_life_is_told_in_order() {
    let text = fairdisk(&["explain", RUN, "20", "--duration", "5s"]).quiet();
    let mut from = 0;
    for part in ["submitted", "queued", "chosen: ", "sent to the disk", "done", "It waited"] {
        let at = text[from..].find(part);
        from += at.unwrap_or_else(|| panic!("no `{part}` after {from} in:\n{text}"));
    }
}

#[test]
fn the_first_arm_and_row_are_taken_if_none_is_named() {
    let text = fairdisk(&["explain", "two-groups", "--slowest", "1", "--duration", "2s"]).quiet();
    assert!(text.starts_with("two-groups/flat/readers/0: "), "{text}");
}
