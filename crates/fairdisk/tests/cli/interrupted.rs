//! Interruptions: the program ends by itself, prints its partial results, and leaves nothing half
//! done.

use crate::program::{Ended, Place};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

pub(crate) fn interrupt(child: &Child) {
    send(child, Signal::INT);
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Whether the process has a handler for the signal.
fn catches(child: &Child, signal: Signal) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    let mask = u64::from_str_radix(caught.trim(), 16).unwrap();
    mask & (1 << (signal.as_raw() - 1)) != 0
}

/// Waits until the process has a handler for SIGINT.
pub(crate) fn listens(child: &Child) {
    while !catches(child, Signal::INT) {
        std::thread::yield_now();
    }
}

#[test]
fn a_run_in_the_lab_says_what_is_complete() {
    let place = Place::new();
    let run = ["run", "satoshi-2008-05-27-test1", "--seeds", "10000", "--json"];
    let child = place.command(&run).spawn().unwrap();
    listens(&child);
    interrupt(&child);
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(130), "{}", ended.err);
    assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    assert!(ended.err.contains("partial: 0 of 12 rows"), "{}", ended.err);
    let value: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(value["partial"], true);
}

/// A run that takes far too long.
const LONG: &[&str] = &["run", "satoshi-2008-05-27-test1", "--seeds", "10000"];

fn demand_partial(child: Child) {
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(130), "{}", ended.err);
    assert!(ended.err.contains("partial: 0 of 12 rows"), "{}", ended.err);
}

#[test]
fn a_terminal_that_is_closed_ends_a_run_as_ctrl_c_does() {
    // Signals are reset, because these tests may run under nohup.
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP", env!("CARGO_BIN_EXE_fairdisk")]).args(LONG);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    while !catches(&child, Signal::HUP) {
        std::thread::yield_now();
    }
    send(&child, Signal::HUP);
    demand_partial(child);
}

#[test]
fn under_nohup_a_run_goes_on_when_its_terminal_is_closed() {
    let mut command = Command::new("nohup");
    command.arg(env!("CARGO_BIN_EXE_fairdisk")).args(LONG).stdin(Stdio::null());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    listens(&child);
    assert!(!catches(&child, Signal::HUP));
    send(&child, Signal::HUP);
    interrupt(&child);
    demand_partial(child);
}

/// The CPU time of the process in user mode, in ticks of 10 ms, from `/proc/PID/stat`.
fn cpu_ticks(child: &Child) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let after_name = stat.rsplit_once(')').unwrap().1;
    after_name.split_whitespace().nth(11).unwrap().parse().unwrap()
}

#[test]
fn runs_that_were_done_are_shown_with_their_number() {
    let place = Place::new();
    let run = ["run", "two-groups", "--arm", "flat", "--seeds", "10000", "--duration", "1s"];
    for more in [&["--json"][..], &[]] {
        let child = place.command(&[&run[..], more].concat()).spawn().unwrap();
        // Long after the first of the runs and long before the last, since each takes a
        // millisecond.
        while cpu_ticks(&child) < 50 {
            std::thread::yield_now();
        }
        interrupt(&child);
        let ended = Ended::of(child.wait_with_output().unwrap());
        assert_eq!(ended.code, Some(130), "{}", ended.err);
        assert!(ended.err.contains("partial: 0 of 1 rows"), "{}", ended.err);
        if more.is_empty() {
            assert!(ended.out.contains(", partial: "), "{}", ended.out);
            assert!(ended.out.contains(" of 10000 runs"), "{}", ended.out);
            assert!(ended.out.contains("mean of up to 10000 runs ± sd"), "{}", ended.out);
        } else {
            let value: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
            let row = &value["rows"][0];
            assert_eq!((&value["partial"], &row["partial"]), (&true.into(), &true.into()));
            assert!((1..10_000).contains(&row["seeds"].as_u64().unwrap()), "{row:#}");
        }
    }
}

/// The result of a command with a page, interrupted when a part of its runs is done.
fn stopped(place: &Place, arguments: &[&str], page: &str) -> Ended {
    let more = ["--seeds", "10000", "--duration", "1s", "--report", page];
    let child = place.command(&[arguments, &more[..]].concat()).spawn().unwrap();
    // As above.
    while cpu_ticks(&child) < 50 {
        std::thread::yield_now();
    }
    interrupt(&child);
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(130), "{}", ended.err);
    ended
}

const COMPARE: &[&str] =
    &["compare", "two-groups", "--device", "fixed-8ms,wd2500js", "--scheduler", "deadline"];

#[test]
fn a_comparison_says_which_cells_have_how_many_runs() {
    let place = Place::new();
    let ended = stopped(&place, COMPARE, "page.html");
    let partial = "results are partial: 0 of 4 cells are complete";
    assert!(ended.err.contains(partial), "{}", ended.err);
    let page = fs::read_to_string(place.path().join("page.html")).unwrap();
    assert!(page.contains("<title>Partial: Compare: "), "{page}");
    assert!(page.contains(&format!("<p class=\"verdict warn\">{partial}</p>\n<h1>")), "{page}");
    for text in [&ended.out, &page] {
        assert!(text.contains(partial), "{text}");
        assert!(text.contains("noop, partial: ") && text.contains(" of 10000 runs"), "{text}");
        assert!(text.contains("mean of up to 10000 runs"), "{text}");
        assert!(text.contains("wd2500js, readers: noop, deadline"), "{text}");
    }
}

#[test]
fn a_page_that_is_there_is_not_replaced_by_a_partial_one() {
    let place = Place::new();
    let run = ["run", "two-groups", "--arm", "flat"];
    let advise = ["advise", "two-groups", "--device", "fixed-8ms", "--scheduler", "deadline"];
    for (arguments, name) in [(COMPARE, "full"), (&run, "rows"), (&advise, "advice")] {
        let (page, partial) = (format!("{name}.html"), format!("{name}.partial.html"));
        let whole = ["--seeds", "1", "--duration", "1s", "--report", &page];
        place.run(&[arguments, &whole[..]].concat()).quiet();
        let before = fs::read_to_string(place.path().join(&page)).unwrap();
        let itself = before.split("<script>").next().unwrap();
        assert!(!itself.contains("artial"), "{itself}");
        for _ in 0..2 {
            let ended = stopped(&place, arguments, &page);
            let told = format!(
                "--report {page}: the page that is there stays; the partial one is {partial}\n"
            );
            assert!(ended.err.contains(&told), "{}", ended.err);
        }
        assert_eq!(fs::read_to_string(place.path().join(&page)).unwrap(), before);
        let beside = fs::read_to_string(place.path().join(&partial)).unwrap();
        assert!(beside.contains("<title>Partial: "), "{beside}");
    }
}

#[test]
fn advice_of_a_search_that_was_stopped_says_so() {
    let place = Place::new();
    let advise = ["advise", "two-groups", "--device", "fixed-8ms", "--scheduler", "deadline"];
    let ended = stopped(&place, &advise, "page.html");
    let partial = "advice is partial: 0 tries are done, 1 in part";
    assert!(ended.err.contains(partial) && ended.out.contains(partial), "{}", ended.out);
    assert!(ended.out.contains("proposed of what was tried so far, the nearest"), "{}", ended.out);
    assert!(ended.out.contains("noop, partial: "), "{}", ended.out);
    let page = fs::read_to_string(place.path().join("page.html")).unwrap();
    assert!(page.contains(partial), "{page}");
}

#[test]
fn a_run_on_a_file_says_what_it_measured_and_leaves_a_file_to_use_again() {
    let place = Place::new();
    let run = ["run", "two-groups", "--arm", "two-layer", "--on", "file:x", "--json"];
    let run = [&run[..], &["--device", "hdd-7200-2007"]].concat();
    let mut child = place.command(&[&run[..], &["--duration", "1h"]].concat()).spawn().unwrap();
    let mut remarks = BufReader::new(child.stderr.take().unwrap());
    let mut estimate = String::new();
    remarks.read_line(&mut estimate).unwrap();
    assert!(estimate.contains("= 60 min"), "{estimate}");
    while !place.path().join("x").exists() {
        std::thread::yield_now();
    }
    interrupt(&child);
    let mut err = String::new();
    remarks.read_to_string(&mut err).unwrap();
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(130), "{err}");
    assert!(err.contains("results are partial"), "{err}");
    let value: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(value["partial"], true);
    assert_eq!(place.names(), ["x"]);
    let again = place.run(&[&run[..], &["--duration", "200ms"]].concat());
    assert_eq!(again.json()["shell"], "file");
}

#[test]
fn writing_a_file_out_leaves_nothing_when_interrupted() {
    let place = Place::new();
    let run = ["run", "two-groups", "--on", "file:x", "--device", "none"];
    let mut child = place.command(&run).spawn().unwrap();
    let mut remarks = BufReader::new(child.stderr.take().unwrap());
    remarks.read_line(&mut String::new()).unwrap();
    interrupt(&child);
    let mut err = String::new();
    remarks.read_to_string(&mut err).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{err}");
    let scratch = place.names().into_iter().find(|name| name != "x");
    assert_eq!(scratch, None);
}

#[test]
fn a_run_removes_what_a_killed_one_left() {
    let place = Place::new();
    let run = ["run", "two-groups", "--arm", "flat", "--on", "file:x", "-q"];
    let mut child = place.command(&[&run[..], &["--device", "none"]].concat()).spawn().unwrap();
    // Waits until a part is written out; all of the 4 GiB would take far longer.
    let part = || place.names().into_iter().find(|name| name.ends_with(".part"));
    let written = |name: String| {
        fs::metadata(place.path().join(name))
            .is_ok_and(|found| std::os::unix::fs::MetadataExt::blocks(&found) >= 1 << 14)
    };
    while !part().is_some_and(written) {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(part().is_some(), "it was killed");
    let modelled = ["--duration", "200ms", "--device", "hdd-7200-2007"];
    let ended = place.run(&[&run[..], &modelled].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(place.names(), ["x"]);
}

#[test]
fn the_demo_leaves_nothing() {
    let place = Place::new();
    let mut child = place.command(&["demo"]).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("2.") {
        line.clear();
        assert_ne!(out.read_line(&mut line).unwrap(), 0, "the demo ended too early");
    }
    interrupt(&child);
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(130), "{}", ended.err);
    assert!(ended.err.contains("partial"), "{}", ended.err);
    assert_eq!(place.names(), [""; 0]);
}
