//! Runs in the lab, from the command line.

use crate::bad_input::{demand_one_line, demand_refused};
use crate::program::{Ended, Place, fairdisk, two_groups};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;

const ROW: &[&str] =
    &["run", "satoshi-2008-05-27-test1", "--arm", "two-layer", "--row", "#1", "--duration", "10s"];

fn with(more: &[&str]) -> Vec<String> {
    ROW.iter().chain(more).map(|&argument| argument.to_owned()).collect()
}

/// Demands the names that other tools rely on, and whether their values may be null.
fn demand(value: &Value, names: &[&str]) {
    for name in names {
        assert!(value.get(name).is_some(), "no `{name}` in {value:#}");
    }
}

/// Counts of a run of another length are not compared, however the length was changed.
#[test]
fn published_totals_are_for_runs_of_their_length() {
    let run = |more: &[&str]| {
        let run = ["run", "satoshi-2008-05-27-test1", "--arm", "two-layer", "--row", "#1"];
        fairdisk(&[&run[..], &["--seeds", "1"], more].concat()).quiet()
    };
    for more in [["--duration", "2s"], ["--set", "experiment.duration_s=2"]] {
        let table = run(&more);
        assert!(table.contains("60.9") && !table.contains("published 14913"), "{table}");
    }
    assert!(run(&["--duration", "120s"]).contains("published 14913"));
}

/// Published rates are compared if all tasks run as long as the row, and tasks of one name are
/// added.
#[test]
fn rates_and_parts_are_compared_in_runs_of_a_duration() {
    let place = Place::new();
    let text = two_groups();
    let text = text.replace("{ group = \"backup\"", "{ name = \"copies\", group = \"backup\"");
    let published = "\n[[published]]\narm = \"flat\"\nrow = \"readers\"\nmb_per_s = [0.5]\npercent = [60, 40]\n";
    place.write("mine.toml", text + published);
    let run = ["run", "mine.toml", "--seeds", "1", "--arm", "flat", "--duration", "5s"];
    let table = place.run(&run).quiet();
    assert!(table.contains("score: shares") && table.contains("score: rates"), "{table}");
    assert!(!table.contains("not finished") && !table.contains("finishing order"), "{table}");
    let value = place.run(&[&run[..], &["--json"]].concat()).json();
    let tasks = value["rows"][0]["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 1, "{tasks:?}");
    assert_eq!(tasks[0]["published"]["mb_per_s"], 0.5);
    assert_eq!(value["rows"][0]["groups"][0]["published"]["share"], 0.6, "{value:#}");
}

#[test]
fn classes_of_ionice_are_those_of_experiments_too() {
    let place = Place::new();
    let text = two_groups();
    let text = text.replace("name = \"flat\"", "name = \"flat\"\nionice = true");
    let share = |class: &str| {
        let class = format!("{{ ionice_class = \"{class}\", group = \"backup\"");
        place.write("mine.toml", text.replace("{ group = \"backup\"", &class));
        let run =
            ["run", "mine.toml", "--seeds", "1", "--arm", "flat", "--duration", "5s", "--json"];
        let value = place.run(&run).json();
        let groups = value["rows"][0]["groups"].as_array().unwrap();
        let backup = groups.iter().find(|group| group["name"] == "backup").unwrap();
        backup["share"].as_f64().unwrap()
    };
    let [first, last] = ["real-time", "idle"].map(share);
    assert!(first > 0.95 && last < 0.05, "{first} {last}");
}

#[test]
fn what_a_scheduler_ignores_is_said() {
    let place = Place::new();
    let text = two_groups();
    place.write("mine.toml", text.replace("weight = 400", "weight = 400\nmin_iops = 5"));
    let run = ["run", "mine.toml", "--seeds", "1", "--duration", "1s"];
    let table = place.run(&[&run[..], &["--arm", "flat"]].concat()).quiet();
    let of_cfq = "note: cfq-2.6.25 takes no notice of weights of groups and min_iops; schedulers \
                  that do: fair and mclock.";
    assert!(table.contains(of_cfq), "{table}");
    let table = place.run(&[&run[..], &["--scheduler", "fair"]].concat()).quiet();
    assert!(!table.contains("takes no notice of"), "{table}");
    // The scheduler that others are measured by is not said to ignore settings.
    let compare = ["compare", "mine.toml", "--seeds", "1", "--duration", "1s", "--scheduler"];
    let compared = |scheduler: &str| place.run(&[&compare[..], &[scheduler]].concat()).quiet();
    let of_two = "note: cfq-2.6.25 and deadline take no notice of weights of groups and min_iops;";
    let table = compared("cfq-2.6.25,deadline,fair");
    assert!(table.contains(of_two), "{table}");
    assert!(!compared("fair").contains("note:"), "{}", compared("fair"));
}

#[test]
fn groups_in_groups_are_said_not_to_be_looked_at() {
    let place = Place::new();
    let inner = "\n[[group]]\nname = \"inner\"\nparent = \"backup\"\n\n[[row]]\n";
    place.write("mine.toml", two_groups().replace("\n[[row]]\n", inner));
    let run = ["run", "mine.toml", "--seeds", "1", "--duration", "1s", "--json"];
    let notes = |more: &[&str]| place.run(&[&run[..], more].concat()).json()["caveats"].take();
    let alone = "does not nest groups: `inner` is one beside all others; schedulers that do: bfq, \
                 fair, iocost-wide and iocost.";
    assert_eq!(notes(&["--arm", "two-layer"])[0], format!("two-layer-cfq {alone}"));
    let all = "cfq-2.6.25 takes no notice of weights of groups and groups in groups; schedulers \
               that do: bfq, fair, iocost-wide and iocost.";
    assert_eq!(notes(&["--arm", "flat"])[0], all);
    let bfq = ["--scheduler", "bfq", "--set", "scheduler.bfq.low_latency=false"];
    assert_eq!(notes(&bfq).as_array().unwrap().len(), 0);
    // In a run of one second all weights are raised.
    let raised = notes(&bfq[..2])[0].as_str().unwrap().to_owned();
    assert!(raised.starts_with("bfq raises the weight of each new task 30-fold"), "{raised}");
    // Jobs that are measured after that are not.
    for (ramp, raises) in [("1s", true), ("12s", false)] {
        let job = format!("[a]\nrw=randread\nsize=64m\nruntime=1s\ntime_based\nramp_time={ramp}\n");
        place.write("ramp.fio", job);
        let run = ["run", "ramp.fio", "--scheduler", "bfq", "--device", "fixed-8ms", "--json"];
        let notes = place.run(&run).json()["caveats"].take();
        assert_eq!(notes.to_string().contains("raises the weight"), raises, "{notes}");
    }
}

#[test]
fn a_row_may_have_a_length_of_its_own() {
    let place = Place::new();
    let own = "label = \"readers\"\nduration_s = 3";
    let text = two_groups().replace("label = \"readers\"", own);
    place.write("mine.toml", &text);
    let run = ["run", "mine.toml", "--seeds", "1", "--arm", "flat", "--json"];
    let lengths = |more: &[&str]| {
        let rows = place.run(&[&run[..], more].concat()).json()["rows"].take();
        let rows = rows.as_array().unwrap().iter().map(|row| row["duration_s"].as_f64().unwrap());
        rows.collect::<Vec<_>>()
    };
    assert_eq!(lengths(&[]), [3.0]);
    assert_eq!(lengths(&["--duration", "2s"]), [2.0]);
    place.write("mine.toml", text.replace("duration_s = 30", "duration_s = 30\nramp_s = 4"));
    demand_refused(&place.run(&run), &["`duration_s` is 3", "`ramp_s`"]);
}

/// Some sources give durations and no rates, or shares of reads and no counts.
#[test]
fn every_published_figure_is_shown() {
    let place = Place::new();
    let text = two_groups().replace("duration_s = 30", "until = \"done\"");
    let text = text.replace(
        "{ group = \"backup\", count = 4",
        "{ name = \"copy\", group = \"backup\", bytes_mib = 1",
    );
    let text = text.replace("\"database\", count = 4", "\"database\", bytes_mib = 1");
    let published = "\n[[published]]\narm = \"flat\"\nrow = \"readers\"\nseconds = [5.0]\nread_percent = [90, 80]\n";
    place.write("mine.toml", text + published);
    let run = ["run", "mine.toml", "--seeds", "1", "--arm", "flat"];
    let table = place.run(&run).quiet();
    for part in ["100/90", "100/80", "score: rates"] {
        assert!(table.contains(part), "no `{part}` in {table}");
    }
    // The error of the only task is the same in the table and in the score.
    let percent = |after: &str, before: &str| {
        let (_, rest) = table.split_once(after).unwrap_or_else(|| panic!("no {after}: {table}"));
        let (percent, _) = rest.split_once(before).unwrap();
        percent.trim_start_matches(['+', '-']).to_owned()
    };
    assert_eq!(percent("published 5.0 s (rate ", " %)"), percent("score: rates ", " % off"));
    let value = place.run(&[&run[..], &["--json"]].concat()).json();
    assert_eq!(value["rows"][0]["groups"][0]["published"]["read_share"], 0.9);
    assert!(value["score"]["rate_error_mean"].as_f64().unwrap() > 0.0, "{value:#}");
}

#[test]
fn totals_alone_have_a_score() {
    let place = Place::new();
    let published = "\n[[published]]\narm = \"flat\"\nrow = \"readers\"\ntotal = 80\n";
    let text = two_groups().replace("duration_s = 30", "duration_s = 1");
    place.write("mine.toml", text + published);
    let table = place.run(&["run", "mine.toml", "--seeds", "1", "--arm", "flat"]).quiet();
    let (_, score) = table.split_once("\nscore: totals ").unwrap_or_else(|| panic!("{table}"));
    let (percent, _) = score.split_once(" % off\n").unwrap();
    assert!(table.contains(&format!("published 80 (+{percent} %)")), "{table}");
}

#[test]
fn the_page_shows_shares_and_rates_beside_published_ones() {
    let place = Place::new();
    let run = ["run", "satoshi-2008-05-27-test1", "--seeds", "1", "--duration", "2s", "-q"];
    let rows = ["--row", "#2", "--row", "#1", "--report", "shares.html"];
    place.run(&[&run[..], &rows].concat()).quiet();
    let page = std::fs::read_to_string(place.path().join("shares.html")).unwrap();
    let shares = "<figcaption>Shares of the I/Os, and the published ones as strokes</figcaption>";
    assert_eq!(page.matches(shares).count(), 2, "a chart for each row");
    assert!(page.find("<h2>#1</h2>").unwrap() < page.find("<h2>#2</h2>").unwrap());
    assert!(!page.contains("<h2>#3</h2>"));
    assert!(page.contains("<td class=\"n\">60.9</td>"), "told in a table, too");
    for outside in ["<script src", "<link", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let nowhere = place.run(&[&run[..], &["--row=#1", "--report=none/page.html"]].concat());
    // Reported before the work, not after it.
    assert_eq!((nowhere.code, nowhere.out.as_str()), (Some(2), ""), "{}", nowhere.err);
    assert!(nowhere.err.contains("--report none/page.html: "), "{}", nowhere.err);
    let pairs = ["run", "satoshi-2008-04-03-dd", "--seeds", "1", "--report", "rates.html", "-q"];
    place.run(&pairs).quiet();
    let page = std::fs::read_to_string(place.path().join("rates.html")).unwrap();
    assert!(page.contains("<figcaption>Rates of the tasks</figcaption>"), "{page}");
}

#[test]
fn a_film_has_every_request_of_a_stretch_with_its_group() {
    let place = Place::new();
    let run = ["run", "two-groups", "--seeds=1", "--duration=1s", "--device=fixed-8ms", "-q"];
    place.run(&[&run[..], &["--animate=film.html"]].concat()).quiet();
    let page = std::fs::read_to_string(place.path().join("film.html")).unwrap();
    let (_, frames) =
        page.split_once("<script type=\"application/json\" class=\"frames\">").unwrap();
    let frames: Value = serde_json::from_str(frames.split_once("</script>").unwrap().0).unwrap();
    assert_eq!(frames["groups"], serde_json::json!(["backup", "database", "/"]));
    assert_eq!(frames["length_us"], 1e6);
    let requests = frames["requests"].as_array().unwrap();
    // Of eight ms each, one at a time; some are under way at the end.
    assert!((120..140).contains(&requests.len()), "{}", requests.len());
    let times = requests.iter().map(|it| [3, 4, 5].map(|at: usize| it[at].as_f64().unwrap()));
    assert!(times.into_iter().all(|times| times.is_sorted()), "{frames}");
    let real = place.run(&[&run[..], &["--animate=x.html", "--on=file:x"]].concat());
    demand_one_line(&real, &["--animate shows one run in the lab: drop it, or --on"]);
}

#[test]
fn a_page_replaces_a_page_and_nothing_else() {
    let place = Place::new();
    let command = |report: &str| {
        let run = ["run", "two-groups", "--seeds=1", "--duration=100ms", "-q", "--report", report];
        place.command(&run)
    };
    let run = |report: &str| Ended::of(command(report).output().unwrap());
    let read = |name: &str| std::fs::read_to_string(place.path().join(name)).unwrap();
    place.write("mine.toml", "id = \"mine\"\n");
    demand_one_line(
        &run("mine.toml"),
        &["--report mine.toml: is no page and would be overwritten"],
    );
    assert_eq!(read("mine.toml"), "id = \"mine\"\n");
    demand_one_line(&run("."), &["--report .: a directory"]);
    let results = "--report -: standard output has the results; expected the name of a file";
    demand_one_line(&run("-"), &[results]);
    // The target of a link is replaced, once the new page is complete.
    std::os::unix::fs::symlink("page.html", place.path().join("link")).unwrap();
    place.write("page.html", "");
    run("link").quiet();
    let first = read("page.html");
    assert!(first.starts_with("<!DOCTYPE html>") && first.contains("--report link"), "{first}");
    run("page.html").quiet();
    assert!(read("page.html").contains("--report page.html"));
    assert_eq!(place.names(), ["link", "mine.toml", "page.html"], "nothing else is left");
    // A link to what is not there yet is followed, and who may read a page stays as it was.
    std::os::unix::fs::symlink("new.html", place.path().join("ahead")).unwrap();
    run("ahead").quiet();
    assert!(read("new.html").contains("--report ahead"));
    assert!(std::fs::symlink_metadata(place.path().join("ahead")).unwrap().is_symlink());
    let page = place.path().join("page.html");
    std::fs::set_permissions(&page, std::fs::Permissions::from_mode(0o600)).unwrap();
    run("page.html").quiet();
    assert_eq!(std::fs::metadata(&page).unwrap().permissions().mode() & 0o777, 0o600);
    // As /dev/stdout may be: a pipe, or a deleted file.
    let out = place.path().join("out");
    std::os::unix::fs::symlink("/proc/self/fd/1", &out).unwrap();
    let piped = run("out");
    assert!(piped.out.contains("<!DOCTYPE html>"), "{}", piped.err);
    let deleted = tempfile::tempfile().unwrap();
    let ended = command("out").stdout(deleted).output().unwrap();
    Ended::of(ended).quiet();
    assert!(std::fs::symlink_metadata(&out).unwrap().is_symlink(), "the link is left alone");
}

#[test]
fn several_rows_and_arms_are_chosen_by_name() {
    let run = ["run", "satoshi-2008-05-27-test1", "--seeds=1", "--duration=1s", "--json"];
    let some = ["--row=#1", "--row=#3", "--arm=native", "--arm=two-layer"];
    let value = fairdisk(&[&run[..], &some].concat()).json();
    let rows = value["rows"].as_array().unwrap();
    let names: Vec<String> =
        rows.iter().map(|row| format!("{} {}", row["arm"], row["row"])).collect();
    let expected = [("native", "#1"), ("native", "#3"), ("two-layer", "#1"), ("two-layer", "#3")];
    assert_eq!(names, expected.map(|(arm, row)| format!("\"{arm}\" \"{row}\"")));
    let strange = fairdisk(&[&run[..], &["--row=#1", "--row=#17"]].concat());
    assert_eq!(strange.code, Some(2));
    assert!(strange.err.contains("--row #17"), "{}", strange.err);
}

#[test]
fn json_has_the_agreed_names() {
    let value = fairdisk(&with(&["--seeds", "2", "--json"])).json();
    demand(&value, &["schema", "experiment", "shell", "device", "rows", "score"]);
    assert_eq!((&value["schema"], &value["shell"]), (&1.into(), &"lab".into()));
    let row = &value["rows"][0];
    let names = ["arm", "row", "seeds", "duration_s", "total", "groups", "published"];
    demand(row, &names);
    assert_eq!(row["journal_hash"].as_str().unwrap().len(), 16);
    demand(&row["total"], &["ios", "ios_sd", "bytes"]);
    let group = &row["groups"][0];
    let names = ["name", "ios", "share", "share_sd", "bytes", "time_share", "published"];
    demand(group, &names);
    demand(&group["latency_ms"], &["p50", "p99", "max"]);
    let requests = &row["requests"];
    let number = |name: &str| requests[name].as_u64().unwrap();
    assert_eq!(number("submitted"), number("completed") + number("in_flight"));
}

#[test]
fn of_shares_that_nobody_published_there_is_no_score() {
    let run = ["run", "satoshi-2008-04-03-dd", "--row", "run1", "--seeds", "1", "--json"];
    let score = &fairdisk(&run).json()["score"];
    assert_eq!(score["cells"], 0);
    assert!(score["rate_error_mean"].is_number(), "{score}");
    let points = [&score["share_error_points_mean"], &score["share_error_points_max"]];
    assert!(points.iter().all(|points| points.is_null()), "{score}");
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let run = || fairdisk(&with(&["--seeds", "3", "--json"])).quiet();
    assert_eq!(run(), run());
}

#[test]
fn tables_are_plain_when_nobody_looks_at_a_terminal() {
    let table = fairdisk(&with(&["--seeds", "1"])).quiet();
    assert!(table.contains("group 1") && table.contains("two-layer"), "{table}");
    assert!(!table.contains('\x1b'), "{table}");
}

#[test]
fn tables_have_no_column_without_figures() {
    let run = ["run", "two-groups", "--arm", "flat", "--duration", "5s", "--seeds"];
    let one = fairdisk(&[&run[..], &["1"]].concat()).quiet();
    assert!(!one.contains('±') && !one.contains("published") && !one.contains("error"), "{one}");
    let two = fairdisk(&[&run[..], &["2"]].concat()).quiet();
    assert!(two.contains('±') && !two.contains("published"), "{two}");
}

#[test]
fn slow_jobs_have_a_rate_and_idle_ones_have_no_latency() {
    let place = Place::new();
    let slow = "[slow]\nrw=randread\nsize=1m\nbs=4k\ndirect=1\ngroup=/slow\nrate_iops=5\n";
    place.write(
        "slow.fio",
        format!("{slow}[late]\nstartdelay=100\nrw=read\nsize=1m\ngroup=/late\n"),
    );
    let run = ["run", "slow.fio", "--seeds", "1", "--duration", "10s"];
    let table = place.run(&run).quiet();
    let line = |start: &str| table.lines().find(|line| line.starts_with(start)).unwrap();
    assert!(line("  slow ").contains("0.0205 MB/s, "), "{table}");
    assert_eq!(
        line("  /late").split_whitespace().filter(|word| *word == "-").count(),
        4,
        "{table}"
    );
    let value = place.run(&[&run[..], &["--json"]].concat()).json();
    let idle = &value["rows"][0]["groups"][1];
    assert!(idle["read_share"].is_null() && idle["latency_ms"]["p99"].is_null(), "{idle:#}");
}

#[test]
fn names_of_wide_letters_leave_columns_where_they_are() {
    let place = Place::new();
    let job = |name: &str| format!("[{name}]\nrw=randread\nsize=1g\ndirect=1\ngroup=/{name}\n");
    place.write("two.fio", job("silver") + &job("データベース"));
    let run = ["run", "two.fio", "--seeds", "1", "--duration", "1s"];
    let compare = ["compare", "two.fio", "--seeds", "1", "--duration", "1s", "--scheduler=noop"];
    for table in [place.run(&run).quiet(), place.run(&compare).quiet()] {
        // Each of these letters takes two columns.
        let columns = |text: &str| text.chars().map(|it| 1 + usize::from(it > '\u{3000}')).sum();
        let ends = |name: &str| {
            let line = table.lines().find(|line| line.contains(name)).unwrap();
            let end = line.rfind(|letter: char| letter.is_ascii_digit()).unwrap();
            let width: usize = columns(&line[..=end]);
            width
        };
        assert_eq!(ends("/silver "), ends("/データベース "), "{table}");
    }
}

#[test]
fn a_file_outside_the_catalogue_runs_the_same_way() {
    let place = Place::new();
    let text = fairdisk(&["catalog", "experiments", "two-groups"]).quiet();
    place.write("mine.toml", text.replace("id = \"two-groups\"", "id = \"mine\""));
    let arguments = |spec: &str| ["run", spec, "--duration", "5s", "--json"].map(str::to_owned);
    let mine = place.run(&arguments("mine.toml")).json();
    let mut built_in = place.run(&arguments("two-groups")).json();
    built_in["experiment"] = "mine".into();
    assert_eq!(built_in["command"], "fairdisk run two-groups --duration 5s --json");
    assert!(built_in["host"]["hz"] == 1000 && built_in["version"].is_string(), "{built_in:#}");
    built_in["command"] = mine["command"].clone();
    assert_eq!(mine, built_in);
}

#[test]
fn changes_change_what_they_name() {
    let arms = |more: &[&str]| {
        let run = ["run", "two-groups", "--duration", "5s", "--seeds", "1", "--json"];
        let value = fairdisk(&[&run[..], more].concat()).json();
        let rows = value["rows"].as_array().unwrap().clone();
        let arms: Vec<Value> = rows.iter().map(|row| row["scheduler"].clone()).collect();
        (value["device"].clone(), arms, rows[0]["total"]["ios"].as_f64().unwrap())
    };
    let (_, all, ios) = arms(&[]);
    assert_eq!(all, ["cfq-2.6.25", "two-layer-cfq", "fair"]);
    assert_eq!(arms(&["--arm", "two-layer"]).1, ["two-layer-cfq"]);
    assert_eq!(arms(&["--scheduler", "noop"]).1, ["noop"]);
    assert_eq!(arms(&["--device", "wd2500js"]).0, "wd2500js");
    assert_ne!(arms(&["--set", "device.rpm=15000"]).2, ios);
}
