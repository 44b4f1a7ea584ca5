//! `fairdisk explain`.

use crate::bad_input::demand_refused;
use crate::program::{Place, fairdisk, two_groups};
use serde_json::Value;
use std::fs;

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
    // What the engine calls a request is used again for another one.
    assert!(life.get("bio").is_none() && slowest[0].get("bio").is_none(), "{life:#}");
    assert_eq!(life["request"], slowest[0]["request"]);
    let accounted = sum(&life["served_meanwhile"]) + sum(&life["idle_meanwhile"]);
    assert!((accounted - life["wait_ms"].as_f64().unwrap()).abs() < 0.001, "{life:#}");
}

/// The task reclaims, frees pages onto the list of its CPU, and naps for what does not come.
#[test]
fn a_wait_for_memory_is_told_with_what_it_was_for() {
    let run = ["explain", "ehrhardt-2009-12-07-iozone/2.6.32/16", "--disk=0", "--duration=3s"];
    let list = fairdisk(&[&run[..], &["--slowest=1", "--json"]].concat()).json();
    let slowest = &list["slowest"][0];
    let waited = slowest["memory_wait_ms"].as_f64().unwrap();
    assert!(waited > 20.0, "{list:#}");
    let number = slowest["request"].as_u64().unwrap().to_string();
    let life = fairdisk(&[&run[..], &[&number, "--json"]].concat()).json();
    assert!((sum(&life["memory_meanwhile"]) - waited).abs() < 0.001, "{life:#}");
    let text = fairdisk(&[&run[..], &[&number]].concat()).quiet();
    for words in [
        "too little memory is free: its task reclaims by itself",
        "progress, but no page",
        "naps for an asynchronous request to complete",
        "has its pages; meanwhile kswapd freed",
        "Before, its task was short of memory for",
    ] {
        assert!(text.contains(words), "{words:?} in\n{text}");
    }
    let table = fairdisk(&[&run[..], &["--slowest=1"]].concat()).quiet();
    assert!(table.contains("memory ms"), "{table}");
}

/// The disk is busy with another group all the time, and all that is seen of that is that its
/// requests were chosen.
#[test]
fn who_waits_at_its_ceiling_while_others_are_served_is_told_so() {
    let run = ["explain", "isolation/fair/ceiling", "--scheduler", "fair", "--device", "fixed-8ms"];
    let ask = |rest: &[&str]| -> Value {
        fairdisk(&[&run[..], rest, &["--duration", "3s", "--json"]].concat()).json()
    };
    let list = ask(&["--slowest", "1"]);
    let slowest = &list["slowest"][0];
    let number = slowest["request"].as_u64().unwrap().to_string();
    let life = ask(&[&number]);
    let waited = life["wait_ms"].as_f64().unwrap();
    let at_ceiling: f64 = sum(&life["held_back"]);
    assert!(at_ceiling > waited / 2.0 && at_ceiling <= waited, "{life:#}");
    let text = fairdisk(&[&run[..], &[number.as_str(), "--duration", "3s"]].concat()).quiet();
    assert!(text.contains("it, or a group around it, was at its ceiling"), "{text}");
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

/// What an explanation of the run calls it.
fn heading(place: &Place, run: &str, more: &[&str]) -> String {
    let explain = ["explain", run, "--slowest", "1", "--duration", "1s"];
    let text = place.run(&[&explain[..], more].concat()).quiet();
    text.lines().next().unwrap().split(": ").next().unwrap().to_owned()
}

#[test]
fn a_scheduler_of_an_option_is_an_arm_of_its_own() {
    let place = Place::new();
    let text = two_groups();
    let arms = text.find("[[arm]]").unwrap();
    assert!(!text[arms..].contains("[[row]]"), "arms come last");
    let another = "[[row]]\nlabel = \"same\"\ntasks = [{ group = \"backup\", count = 2 }]\n";
    place.write("mine.toml", format!("{}{another}", &text[..arms]));
    let fair = ["--scheduler", "fair"];
    assert_eq!(heading(&place, "mine.toml", &fair), "mine.toml/fair/readers/0");
    assert_eq!(heading(&place, "mine.toml/fair/same/2", &fair), "mine.toml/fair/same/2");
    let refused = place.run(&["explain", "mine.toml/fair", "--slowest", "1"]);
    demand_refused(&refused, &["it has no [[arm]]", "name a scheduler with --scheduler"]);
    let slowest = ["explain", "mine.toml/noop", "--slowest", "1", "--scheduler", "fair"];
    demand_refused(&place.run(&slowest), &["unknown arm `noop`", "(known: fair)"]);
}

#[test]
fn an_arm_is_named_whether_or_not_an_option_takes_its_place() {
    let place = Place::new();
    let name = |run: &str, more: &[&str]| heading(&place, run, more);
    assert_eq!(name("two-groups/two-layer", &[]), "two-groups/two-layer/readers/0");
    let noop = ["--scheduler", "noop"];
    assert_eq!(name("two-groups/two-layer", &noop), "two-groups/noop/readers/0");
    assert_eq!(name("two-groups/noop/readers", &noop), "two-groups/noop/readers/0");
    // An arm of the experiment that has the scheduler keeps its name.
    let two_layer = ["--scheduler", "two-layer-cfq"];
    assert_eq!(name("two-groups/two-layer/readers", &two_layer), "two-groups/two-layer/readers/0");
    place.write("x.fio", "[a]\nrw=read\nsize=1m\n");
    assert_eq!(name("x.fio/noop/jobs", &noop), "x.fio/noop/jobs/0");
    assert_eq!(name("x.fio/two-layer-cfq/jobs", &noop), "x.fio/noop/jobs/0");
}

#[test]
fn the_name_in_a_heading_names_the_run() {
    let place = Place::new();
    let scheduler = "id = \"short\"\ntitle = \"x\"\ninherits = \"two-layer-cfq\"\n";
    fs::create_dir(place.path().join("d")).unwrap();
    for file in ["short.toml", "d/short.toml"] {
        place.write(file, scheduler);
    }
    place.write("mine.toml", two_groups());
    place.write("x.fio", "[a]\nrw=read\nsize=1m\n");
    for spec in ["two-groups", "mine.toml", "./mine.toml", "x.fio"] {
        for file in ["short.toml", "./short.toml", "d/short.toml"] {
            let option = ["--scheduler", file];
            let name = heading(&place, spec, &option);
            assert!(name.starts_with(&format!("{spec}/{file}/")), "{name}");
            assert_eq!(heading(&place, &name, &option), name);
        }
        let name = heading(&place, spec, &[]);
        assert_eq!(heading(&place, &name, &[]), name);
    }
}

/// A disk beside others whose tasks lack nothing does what it does alone, so its requests have the
/// same story.
#[test]
fn one_of_several_disks_is_explained_whether_they_run_together_or_not() {
    let ask = |more: &[&str]| -> Value {
        let run = ["explain", RUN, "--duration", "3s", "--set", "device.jbod=3", "--json"];
        let enough = ["--set", "host.cpus=64", "--disk", "2"];
        let mut told = fairdisk(&[&run[..], &enough, more].concat()).json();
        assert!(told["command"].take().as_str().unwrap().starts_with("fairdisk explain "));
        told
    };
    let together = ["--set", "host.disks_together=true"];
    let list = ask(&["--slowest", "2"]);
    assert_eq!(list["disk"], 2, "{list:#}");
    assert_eq!(ask(&[&["--slowest", "2"], &together[..]].concat()), list);
    let number = list["slowest"][0]["request"].as_u64().unwrap().to_string();
    let life = ask(&[&number]);
    assert_eq!(ask(&[&[number.as_str()], &together[..]].concat()), life);
    let run = ["explain", RUN, "1", "--set", "device.jbod=3", "--disk", "3"];
    demand_refused(&fairdisk(&run), &["--disk 3: device `hdd-7200-2007` has 3 disks", "0 to 2"]);
}
