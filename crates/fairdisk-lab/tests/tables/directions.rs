//! Published figures for reads and writes separately, for the spread of latencies, and for each of
//! several tasks.

use super::{assert_refused, outcome, table};
use fairdisk_lab::outcome::{FigureOutcome, Outcome, Style, to_html, to_json, to_table};
use fairdisk_lab::page::Made;

const MIXED: &str = "{ group = \"a\", name = \"one\", op = \"mixed\", read_percent = 75 }, \
     { group = \"b\", name = \"other\", op = \"write\", block_kib = 64 }";

fn published(figures: &str) -> String {
    let more = format!("[[published]]\narm = \"flat\"\nrow = \"row\"\n{figures}");
    table("duration_s = 4\nseeds = 1", MIXED, &more)
}

fn ours(outcome: &Outcome, key: &str) -> Vec<f64> {
    let figures = outcome.rows[0].figures.iter().filter(|figure| figure.quantity.key() == key);
    let mean = |figure: &FigureOutcome| figure.ours.as_ref().map_or(f64::NAN, |ours| ours.mean);
    figures.map(mean).collect()
}

#[test]
fn reads_and_writes_come_to_the_whole() {
    let one = outcome(&published(
        "groups.read_iops = [60, nan]\ngroups.write_iops = [20, 60]\ngroups.iops = [80, 60]\n\
         groups.read_mb_per_s = [1, nan]\ngroups.write_mib_per_s = [1, 4]\n\
         all.write_kib_per_s = 9\n\
         tasks.read_ios = [9, nan]\nall.read_ios = 9",
    ));
    let [read, write] = ["read_iops", "write_iops"].map(|key| ours(&one, key));
    let whole = ours(&one, "iops");
    assert!((read[0] + write[0] - whole[0]).abs() < 1e-9 && write[1] == whole[1]);
    assert!((0.65..0.85).contains(&(read[0] / whole[0])), "three quarters: {read:?} {whole:?}");
    assert!((ours(&one, "read_mb_per_s")[0] - read[0] * 4096.0 / 1e6).abs() < 1e-9);
    let written: f64 = ours(&one, "write_mib_per_s").iter().sum();
    assert!((ours(&one, "write_kib_per_s")[0] - written * 1024.0).abs() < 1e-6);
    assert_eq!(ours(&one, "read_ios"), [read[0] * 4.0; 2], "of everybody, and of the one task");
}

#[test]
fn latencies_of_reads_and_writes_lie_on_both_sides_of_the_mean() {
    let one = outcome(&published(
        "groups.read_latency_mean_ms = [9, nan]\ngroups.write_latency_mean_ms = [9, 9]\n\
         groups.latency_mean_ms = [9, 9]\ngroups.read_latency_max_ms = [9, nan]\n\
         groups.latency_max_ms = [9, 9]\ngroups.read_latency_min_ms = [1, nan]",
    ));
    let mean = |key: &str| ours(&one, &format!("{key}latency_mean_ms"))[0];
    let (read, write, both) = (mean("read_"), mean("write_"), mean(""));
    assert!((read - both) * (write - both) < 0.0, "{read}, {write}, {both}");
    assert!(ours(&one, "read_latency_max_ms")[0] <= ours(&one, "latency_max_ms")[0]);
    assert!(ours(&one, "read_latency_min_ms")[0] < read);
}

#[test]
fn a_group_that_does_not_read_has_no_latency_of_reads() {
    let one = outcome(&published("groups.read_latency_p50_ms = [9, 9]\ngroups.read_iops = [9, 9]"));
    let latencies = ours(&one, "read_latency_p50_ms");
    assert!(latencies[0] > 0.0 && latencies[1].is_nan(), "{latencies:?}");
    assert_eq!(ours(&one, "read_iops")[1], 0.0);
}

#[test]
fn the_spread_of_latencies_has_its_figures() {
    let keys = ["min", "p50", "p90", "p95", "p99", "p99_9", "max"];
    let text = keys.map(|key| format!("all.latency_{key}_ms = 9\n")).concat();
    let one = outcome(&published(&format!("{text}all.latency_sd_ms = 3\nall.latency_mean_ms = 9")));
    let figures = keys.map(|key| ours(&one, &format!("latency_{key}_ms"))[0]);
    assert!(figures.is_sorted() && figures[0] > 0.0 && figures[0] < figures[6], "{figures:?}");
    let (sd, mean) = (ours(&one, "latency_sd_ms")[0], ours(&one, "latency_mean_ms")[0]);
    assert!(sd > 0.0 && sd < figures[6] - figures[0] && mean > figures[0], "{sd} around {mean}");
    // Requests that always take the same time have no spread.
    let more = "[[published]]\narm = \"flat\"\nrow = \"row\"\ngroups.latency_sd_ms = [9, nan]\n\
                groups.latency_mean_ms = [9, nan]";
    let same = table("duration_s = 4\nseeds = 1", "{ group = \"a\" }", more);
    let same = same
        .replace("hdd-7200-2007", "fixed-8ms")
        .replace("[defaults]", "cached = true\n[defaults]");
    let same = outcome(&same);
    let (sd, mean) = (ours(&same, "latency_sd_ms")[0], ours(&same, "latency_mean_ms")[0]);
    assert!(mean > 8.0 && sd < mean / 20.0, "{sd} around {mean}");
}

#[test]
fn groups_and_each_of_several_tasks_take_their_time() {
    let tasks = "{ group = \"a\", name = \"short\", count = 2, ios = 50 }, \
                 { group = \"a\", name = \"long\", ios = 200 }, \
                 { group = \"b\", name = \"none\", background = true }";
    let more = "[[published]]\narm = \"flat\"\nrow = \"row\"\ngroups.seconds = [3, 3]\n\
                tasks.seconds_mean = [1, 3, nan]\ntasks.seconds_min = [1, 3, 3]\n\
                seconds = [1, 2, nan]";
    let one = outcome(&table("until = \"done\"\nseeds = 1", tasks, more));
    let [mean, min] = ["seconds_mean", "seconds_min"].map(|key| ours(&one, key));
    let [short, long, _] = &one.rows[0].tasks[..] else { panic!("{one:?}") };
    assert!(min[0] < mean[0] && mean[0] < short.seconds.mean, "{min:?} {mean:?} {short:?}");
    assert_eq!([min[1], mean[1]], [long.seconds.mean; 2], "it is alone");
    assert!(min[2].is_nan(), "it has no end");
    let groups = ours(&one, "seconds");
    assert!((long.seconds.mean..long.seconds.mean + 0.05).contains(&groups[0]), "{groups:?}");
    assert!(groups[1].is_nan());
}

#[test]
fn results_have_reads_and_writes_in_every_form() {
    let one =
        outcome(&published("groups.read_iops = [60, nan]\ngroups.write_latency_sd_ms = [9, 9]"));
    let words = to_table(&one, Style::default());
    for line in ["a: read I/Os/s ", "b: write sd of latency ms ", "score: read I/Os/s "] {
        assert!(words.contains(line), "`{line}` is not in: {words}");
    }
    assert!(to_html(&one, &Made::by("run")).contains("<td>write sd of latency ms</td>"));
    let json = to_json(&one);
    let row = &json["rows"][0];
    assert_eq!(row["figures"][0]["figure"], "read_iops");
    let [a, b] = [0, 1].map(|at: usize| &row["groups"][at]);
    let count = |value: &serde_json::Value| value["ios"].as_f64().unwrap_or_default();
    assert_eq!(count(&a["read"]) + count(&a["write"]), count(a));
    assert!(b["read"].is_null() && b["write"]["latency_ms"]["p99"].is_number(), "{b}");
    assert_eq!(row["tasks"][0]["read"]["bytes"], a["read"]["bytes"]);
}

#[test]
fn what_reads_and_writes_do_not_have_is_refused() {
    for (figures, why) in [
        ("groups.read_time_ms = [1, 2]", "unknown figure `read_time_ms`"),
        ("groups.write_seconds = [1, 2]", "unknown figure `write_seconds`"),
        ("all.read_mbps = 3", "unknown figure `read_mbps`"),
        ("groups.percent = [30, 70]", "`percent` is given by itself, beside `row`"),
        ("groups.iop = [3, 4]", "; `read_` or `write_` before one: of reads or writes alone"),
        ("all.read_iop = 3", "did you mean `read_iops`?"),
        ("all.read_mb_per_s = 1\nall.read_kib_per_s = 1", "exclude each other; drop one of them"),
        ("tasks.seconds_mean = [1]", "`tasks.seconds_mean` has 1 figure; row `row` has 2"),
    ] {
        let refused = assert_refused(&published(figures), why);
        let line = 26 + figures.lines().count();
        assert!(refused.contains(&format!("mine.toml:{line}: ")), "{figures}: {refused}");
    }
    // A rate of reads may have another unit than a rate of writes.
    outcome(&published("all.read_mb_per_s = 1\nall.write_kib_per_s = 1\nall.mib_per_s = 2"));
}
