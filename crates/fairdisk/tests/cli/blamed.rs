//! `fairdisk blame` in the lab.

use crate::program::{Place, fairdisk};
use serde_json::Value;
use std::fs;
use std::io::{BufRead as _, BufReader};

/// Two of five changes reduce group 1's share under two-layer CFQ.
const SHARE: &[&str] = &[
    "blame",
    "two-layer-cfq",
    "two-layer-cfq",
    "satoshi-2008-05-27-test1",
    "--arm=two-layer",
    "--row=#1",
    "--metric=share:group 1",
    "--duration=30s",
    "--bad-set=scheduler.cfq.slice_idle_ms=0",
    "--bad-set=scheduler.groups.slice_ms=20",
    "--bad-set=scheduler.groups.idle=false",
    "--bad-set=scheduler.quirks.q8_idle_while_busy=false",
    "--bad-set=host.hz=100",
];

fn with(more: &[&str]) -> Vec<String> {
    SHARE.iter().chain(more).map(|part| (*part).to_owned()).collect()
}

fn names(list: &Value) -> Vec<&str> {
    let mut names: Vec<&str> =
        list.as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    names.sort_unstable();
    names
}

#[test]
fn the_changes_that_matter_are_named_and_sum_to_the_whole() {
    let found = fairdisk(&with(&["--json"])).json();
    assert_eq!(names(&found["to_blame"]), ["cfq.slice_idle_ms", "groups.slice_ms"], "{found:#}");
    let part = |value: &Value| value["part"].as_f64().unwrap();
    let effects = found["effects"].as_array().unwrap();
    let sum: f64 = effects.iter().map(part).sum::<f64>() + part(&found["rest"]);
    assert!((sum - found["ends"]["whole"].as_f64().unwrap()).abs() < 1e-9, "{found:#}");
    assert_eq!(names(&found["undo"]["changes"]).len(), 2, "{found:#}");
    assert_eq!(
        (&found["undo"]["enough"], &found["undo"]["smallest"]),
        (&true.into(), &true.into())
    );
    assert!(found["bisection"]["answers"].as_array().unwrap().len() >= 3);
    assert_eq!(found["divergence"]["good"]["why"], "OwnRequestInFlight", "{found:#}");
    assert!(found.get("partial").is_none());
}

/// The attribution of the 2009 report as docs/several-causes.md has it, on one of its disks.
#[test]
fn of_the_regression_of_2009_two_changes_have_the_loss() {
    let found = fairdisk(&[
        "blame",
        "cfq-2.6.32",
        "cfq-2.6.33-rc1",
        "zhang-2009-12-31-fio-mmap",
        "--row=randread 64k",
        "--set=device.jbod=1",
        "--duration=8s",
        "--json",
    ])
    .json();
    let number = |value: &Value| value.as_f64().unwrap();
    let whole = number(&found["ends"]["whole"]);
    let lost = -whole / number(&found["ends"]["good"]["mean"]);
    assert!((0.6..0.85).contains(&lost), "{lost} lost: {found:#}");
    let first = &found["effects"][0];
    assert_eq!(first["change"], "noidle_window", "{found:#}");
    assert!(number(&first["part"]) / whole > 0.75, "{found:#}");
    assert_eq!(found["effects"][1]["change"], "slice_scaling", "{found:#}");
    assert_eq!(names(&found["undo"]["changes"]), ["noidle_window", "slice_scaling"], "{found:#}");
    assert!(number(&found["undo"]["recovers"]) > 0.95, "{found:#}");
    assert_eq!(names(&found["bisection"]["answers"]), ["noidle_window"; 3], "{found:#}");
    // Undone alone it recovers a fifth, but only together with five other changes.
    let suspects = names(&found["suspects"]);
    assert!(suspects.contains(&"idle_corner_a"), "{suspects:?}");
    // The figure of the report is shown, with the reasons why it differs.
    assert_eq!(found["published"]["percent_max"], -40.0, "{found:#}");
    let excluded = found["excluded"].as_array().expect("something was");
    assert!(excluded.iter().any(|text| text.as_str().unwrap().contains("reading ahead")));
}

/// A source gives rates for schedulers as they are, and nothing else can be compared with them.
#[test]
fn what_is_published_stands_beside_the_same_and_nothing_else() {
    let blame = |more: &[&str]| {
        let load = ["zhang-2009-12-31-fio-mmap", "--row=randread 4k", "--set=device.jbod=1"];
        let ends = ["blame", "cfq-2.6.32", "cfq-2.6.33-rc1"];
        let short = ["--duration=5s", "--seeds=2", "--runs=8"];
        fairdisk(&[&ends, &load[..], &short, more].concat()).quiet()
    };
    let text = blame(&[]);
    assert!(text.contains("\n  published, in %: +10\n"), "{text}");
    assert!(text.contains("\nexcluded: "), "{text}");
    for other in ["--metric=p99", "--bad-set=scheduler.cfq.quantum=8"] {
        let text = blame(&[other]);
        assert!(!text.contains("published, in %"), "{text}");
    }
}

#[test]
fn the_table_says_what_the_json_says() {
    let text = fairdisk(&with(&[])).quiet();
    let parts = [
        "2 of 5 changes are to blame",
        "cfq.slice_idle_ms",
        "8 → 0",
        "cfq.slice_idle_ms × groups.slice_ms",
        "to undo\n  cfq.slice_idle_ms and groups.slice_ms: back to",
        "bisections name cfq.slice_idle_ms; undone alone",
        "the first decision that differs, at",
    ];
    for part in parts {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn what_was_not_looked_for_is_not_said_to_be_noise() {
    let ended = fairdisk(&with(&["--runs=6"]));
    let nothing = "nothing can be said of 5 changes: the search ended before it knew";
    assert!(ended.out.contains(nothing) && ended.out.contains("not taken apart"), "{ended:?}");
}

#[test]
fn finished_runs_are_kept_and_not_repeated() {
    let place = Place::new();
    let arguments = with(&["--json", "--resume=state"]);
    let first = place.run(&arguments).quiet();
    let state = fs::read_to_string(place.path().join("state")).unwrap();
    let value: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(state.lines().count() as u64, value["runs"].as_u64().unwrap());
    // Half of the state, with an incomplete last line.
    let half: Vec<&str> = state.lines().take(state.lines().count() / 2).collect();
    place.write("state", format!("{}\n{}", half.join("\n"), &half[0][..20]));
    assert_eq!(place.run(&arguments).quiet(), first);
    let again = fs::read_to_string(place.path().join("state")).unwrap();
    assert_eq!(again.lines().count(), state.lines().count());
    assert_eq!(place.run(&arguments).quiet(), first);
    assert_eq!(fs::read_to_string(place.path().join("state")).unwrap(), again);
    let device = place.run(&with(&["--json", "--resume=/dev/null"]));
    assert!(device.err.contains("--resume /dev/null: no regular file"), "{device:?}");
    // Another question has runs of its own.
    place.run(&with(&["--json", "--resume=state", "--set=scheduler.cfq.quantum=2"])).json();
    let both = fs::read_to_string(place.path().join("state")).unwrap();
    assert!(both.starts_with(&again) && both.len() > again.len());
}

#[test]
fn a_budget_that_is_too_small_is_said() {
    let ended = fairdisk(&with(&["--runs=10"]));
    let text = ended.quiet();
    assert!(text.contains("budget is used up: more with a larger --runs"), "{text}");
    assert_eq!(fairdisk(&with(&["--runs=10", "--json"])).json()["partial"], "budget");
}

#[test]
fn an_interruption_says_what_is_known() {
    let place = Place::new();
    let long = with(&["--json", "--seeds=1000", "--runs=1000000", "--resume=state"]);
    let child = place.command(&long).spawn().unwrap();
    // Waits until some runs are done.
    let state = place.path().join("state");
    while !fs::File::open(&state).is_ok_and(|file| BufReader::new(file).lines().count() > 20) {
        std::thread::yield_now();
    }
    crate::interrupted::interrupt(&child);
    let ended = crate::program::Ended::of(child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(130), "{}", ended.err);
    assert!(ended.err.contains("results are partial: "), "{}", ended.err);
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(value["partial"], "interrupted");
}

#[test]
fn what_the_other_side_has_is_shown() {
    let blame = ["blame", "cfq-2.6.25", "cfq-2.6.25", "two-groups", "--arm", "flat", "--json"];
    let sets = ["--bad-set", "host.hz=100", "--bad-set", "device.rpm=5400"];
    let more = ["--good-set", "experiment.ramp_s=0.5", "--duration", "1s", "--seeds", "2"];
    let value = fairdisk(&[&blame[..], &sets, &more].concat()).json();
    let said = |change: &Value| ["name", "good", "bad"].map(|key| change[key].clone());
    let changes: Vec<_> = value["changes"].as_array().unwrap().iter().map(said).collect();
    assert_eq!(changes[0], ["device.rpm", "7200", "5400"]);
    assert_eq!(changes[1], ["experiment.ramp_s", "0.5", "not set"]);
    assert_eq!(changes[2], ["host.hz", "1000", "100"]);
    let common = ["--set", "host.hz=250", "--duration", "1s", "--seeds", "2"];
    let value = fairdisk(&[&blame[..], &sets, &common].concat()).json();
    assert_eq!(said(&value["changes"][1]), ["host.hz", "250", "100"], "{value:#}");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let refused = |arguments: &[&str], expected: &str| {
        let ended = fairdisk(arguments);
        assert_eq!(ended.code, Some(2), "{}", ended.err);
        assert!(ended.err.contains(expected), "{}", ended.err);
    };
    let pair = ["blame", "cfq-2.6.25", "cfq-2.6.25"];
    refused(
        &["blame", "cfq-2.6.25", "deadline", "two-groups"],
        "cfq-2.6.25 and deadline are of different",
    );
    refused(&[&pair[..], &["two-groups"]].concat(), "differ by no changes");
    let change = ["--bad-set", "scheduler.cfq.quantum=1"];
    let rows = [&pair[..], &["satoshi-2008-05-27-test1"], &change].concat();
    refused(&rows, "--arm: 2 arms to choose from: native, ionice");
    refused(&[&rows[..], &["--arm", "native"]].concat(), "--row: 3 rows to choose from");
    let metric = [&pair[..], &["two-groups", "--metric", "share:databas"], &change].concat();
    refused(&metric, "did you mean `database`?");
    refused(
        &[&pair[..], &["two-groups", "--metric", "speed"], &change].concat(),
        "expected ios, mbps",
    );
    let changed = |set: &str| [&pair[..], &["two-groups", "--bad-set", set]].concat().join(" ");
    for (set, why) in [
        ("experiment.seeds=3", "changes nothing about a run; --seeds says how many"),
        ("host.hz=1000", "is what the other side has too; drop it"),
        ("device.rpm=7200", "is what the other side has too; drop it"),
    ] {
        let line = changed(set);
        let arguments: Vec<&str> = line.split(' ').chain(["--arm", "flat"]).collect();
        refused(&arguments, &format!("error: --bad-set {set}: {why}"));
    }
    let sides = ["--bad-set", "host.hz=100", "--good-set", "host.hz=250"];
    let of_both = [&pair[..], &["two-groups", "--set", "host.hz=1000"], &sides].concat();
    let idle = "error: --set host.hz=1000: --good-set host.hz=250 and --bad-set host.hz=100 change \
                the same, so it counts nowhere; drop it";
    refused(&of_both, idle);
    let timed = [&pair[..], &["two-groups", "--timeout", "10s"], &change].concat();
    refused(&timed, "--timeout is for --command: in the lab --duration says");
    refused(&["blame", "cfq-2.6.52", "cfq-2.6.25", "two-groups"], "did you mean `cfq-2.6.25`");
}

/// Checks that every element of a page that is opened is closed, in order.
fn demand_well_formed(page: &str) {
    let mut open = Vec::new();
    for tag in page.split('<').skip(1) {
        let tag = tag.split_once('>').unwrap_or_else(|| panic!("`<{tag}` has no end")).0;
        let name = tag.split_whitespace().next().unwrap();
        let is_alone = tag.ends_with('/') || ["!DOCTYPE", "meta", "br"].contains(&name);
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "of {tag}"),
            None if is_alone => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn the_page_is_one_file_that_says_what_the_table_says() {
    let place = Place::new();
    place.run(&with(&["--report=page.html"])).quiet();
    let page = fs::read_to_string(place.path().join("page.html")).unwrap();
    // What draws the charts is the last; all before it is the page itself.
    let (page, _) = page.split_once("<script type=\"application/json\" id").expect("results");
    demand_well_formed(&format!("{page}</body></html>"));
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("prefers-color-scheme: dark"));
    for foreign in ["<script>", "http", "src=", "@import", "url("] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    for part in ["2 of 5 changes are to blame", "cfq.slice_idle_ms × groups.slice_ms", "80 → 20"]
    {
        assert!(page.contains(part), "no `{part}`");
    }
    assert!(
        page.contains("--metric &#39;share:group 1&#39;")
            || page.contains("&#39;--metric=share:group 1&#39;")
    );
    let ended = place.run(&with(&["--report=nowhere/page.html"]));
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(ended.err.contains("--report nowhere/page.html: "), "{}", ended.err);
}
