//! fio job files on the command line.

use crate::bad_input::{demand_one_line, demand_refused};
use crate::program::{Ended, Place, fairdisk};
use serde_json::Value;
use std::fs;

const JOB: &str = "\
; two readers
[global]
rw=randread
bs=4k
size=${SIZE}
ioengine=libaio
direct=1

[one]
prio=2

[two]
cgroup=gold
cgroup_weight=1000
write_bw_log=log
";

#[test]
fn a_floor_that_cannot_be_kept_is_refused_with_its_line() {
    let place = Place::new();
    let text = "[gold]\nrw=randread\nsize=64m\ngroup=/gold\ngroup_min_iops=5000\n";
    place.write("mine.fio", text);
    let run =
        ["run", "mine.fio", "--scheduler", "fair", "--device", "fixed-8ms", "--duration", "1s"];
    let ended = place.run(&run);
    assert!(
        ended.code != Some(0) && ended.err.contains("mine.fio:5"),
        "{} {}",
        ended.out,
        ended.err
    );
}

/// The scheduler of 2008 cuts the turns of tasks: priorities have not their effect there, and it is
/// said where somebody counts on them.
#[test]
fn levels_that_do_not_count_are_noted() {
    let place = Place::new();
    let run = |one: &str, other: &str, more: &[&str]| {
        let all = "[global]\nrw=randread\nsize=1g\ndirect=1\ntime_based=1\nruntime=10\n";
        place.write("mine.fio", format!("{all}[one]\n{one}\n[other]\n{other}\n"));
        let run = ["run", "mine.fio", "--seeds", "1", "--json"];
        let value = place.run(&[&run[..], more].concat()).json();
        let notes = value["caveats"].as_array().unwrap().clone();
        let cut = |note: &Value| note.as_str().unwrap().contains("ends the turn of a task with");
        let ios = |at: usize| value["rows"][0]["tasks"][at]["ios"].as_f64().unwrap();
        (notes.iter().any(cut), ios(0) / ios(1))
    };
    let (is_noted, ratio) = run("prio=0", "prio=7", &[]);
    assert!(is_noted && ratio < 1.0, "the other way round: {ratio}");
    let resumes = ["--set", "scheduler.groups.inner_turn_resumes=true"];
    for more in [&resumes[..], &["--scheduler", "cfq-2.6.25"]] {
        let (is_noted, ratio) = run("prio=0", "prio=7", more);
        assert!(!is_noted && ratio > 3.0, "{more:?}: {ratio}");
    }
    assert!(run("", "prio=7", &[]).0, "who says nothing is at level 4");
    // What has several I/Os queued is not put behind when a turn is cut.
    for queues in ["ioengine=libaio\niodepth=4", "direct=0\nrw=read"] {
        let jobs = [0, 7].map(|level| format!("prio={level}\n{queues}"));
        let (is_noted, ratio) = run(&jobs[0], &jobs[1], &[]);
        assert!(!is_noted && ratio > 3.0, "{queues}: {ratio}");
    }
    for (one, other) in [
        ("prio=7", "prio=7"),
        ("prio=0\ncgroup=gold", "prio=7"),
        ("", "prioclass=3"),
        ("", "prio=4"),
    ] {
        assert!(!run(one, other, &[]).0, "{one}, {other}");
    }
}

#[test]
fn a_job_is_shown_as_it_was_understood() {
    let place = Place::new();
    place.write("two.fio", JOB);
    let mut command = place.command(&["run", "two.fio", "--show-job"]);
    let output = command.env("SIZE", "64m").output().unwrap();
    let text = Ended::of(output).quiet();
    for part in ["[one]", "[two]", "rw=randread", "64 MiB", "# note: two.fio:15: `write_bw_log`"] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn a_job_file_may_have_any_name() {
    let place = Place::new();
    let job = JOB.replace("${SIZE}", "64m");
    let shown = |arguments: &[&str]| {
        let stdin = fs::File::open(place.write("stdin", &job)).unwrap();
        Ended::of(place.command(arguments).stdin(stdin).output().unwrap()).quiet()
    };
    for name in ["OK.FIO", "job", "job.1", "/dev/stdin"] {
        if !name.starts_with('/') {
            place.write(name, &job);
        }
        assert!(shown(&["run", name, "--show-job"]).contains("[two]"), "{name}");
        let run = format!("{name}/two-layer-cfq/jobs/0");
        let explained = shown(&["explain", &run, "--slowest", "1", "--duration", "1s"]);
        assert!(explained.starts_with(&run), "{name}: {explained}");
    }
    let text = include_str!("../../../../catalog/experiments/two-groups.toml");
    place.write("MY.TOML", text.replace("id = \"two-groups\"", "id = \"MY\""));
    let run = ["run", "MY.TOML", "--arm", "flat", "--seeds", "1", "--duration", "1s"];
    assert!(shown(&run).starts_with("MY: "));
    // The name of a built-in experiment takes precedence over a file of that name.
    place.write("two-groups", &job);
    assert!(
        shown(&["run", "two-groups", "--arm", "flat", "--seeds", "1"]).starts_with("two-groups: ")
    );
    demand_one_line(&place.run(&["run", "NO.TOML"]), &["NO.TOML: cannot be read"]);
}

#[test]
fn a_command_line_of_fio_is_a_job_file() {
    const WORDS: [&str; 5] = ["--name=wal", "--rw=write", "--fdatasync=1", "--size", "1m"];
    let place = Place::new();
    let shown =
        place.run(&["run", "--show-job", "fio --name=wal --rw=write --fdatasync=1 --size=1m"]);
    let shown = shown.quiet();
    assert!(shown.contains("[wal]") && shown.contains("fdatasync=1"), "{shown}");
    for before in [&[][..], &["--"], &["fio"], &["--", "fio"]] {
        let words = [&["run", "--show-job"], before, &WORDS].concat();
        assert_eq!(place.run(&words).quiet(), shown, "{before:?}");
    }
    let pasted = "$ sudo fio --name=wal --rw=write \\\n  --fdatasync=1 --size=1m --output=x\n";
    place.write("pasted", pasted);
    let stdin = fs::File::open(place.write("stdin", pasted)).unwrap();
    let mut from_stdin = place.command(&["run", "-", "--show-job"]);
    let from_stdin = Ended::of(from_stdin.stdin(stdin).output().unwrap()).quiet();
    assert_eq!(place.run(&["run", "pasted", "--show-job"]).quiet(), from_stdin);
    assert!(from_stdin.starts_with(&shown), "{from_stdin}");
    let refused = place.run(&["run", "--name=x", "--seeds", "1"]);
    demand_one_line(&refused, &["command line:3: unknown key `seeds`"]);
}

#[test]
fn what_is_not_supported_can_be_left_out() {
    let place = Place::new();
    place.write("a.fio", "[a]\nsize=1m\nfile_append=1\npre_read=1\nruntime=1sec\n");
    let refused = place.run(&["run", "a.fio"]);
    assert!(refused.err.contains("file_append") && refused.err.contains("pre_read"));
    let shown = place.run(&["run", "a.fio", "--approximate", "--show-job"]).quiet();
    for key in ["`file_append`", "`pre_read`", "`runtime`"] {
        let note = shown.lines().find(|line| line.contains(key) && line.contains("LEFT OUT"));
        assert!(note.is_some(), "{key}: {shown}");
    }
}

#[test]
fn what_is_shown_reads_as_the_same_jobs() {
    let place = Place::new();
    place.write("two.fio", JOB.replace("${SIZE}", "64m"));
    let jobs =
        |file: &str| place.run(&["run", file, "--show-job", "--json"]).json()["jobs"].clone();
    place.write("again.fio", place.run(&["run", "two.fio", "--show-job"]).quiet());
    assert_eq!(jobs("two.fio"), jobs("again.fio"));
}

#[test]
fn what_only_counts_for_runs_is_refused_where_nothing_is_run() {
    let place = Place::new();
    place.write("two.fio", JOB.replace("${SIZE}", "64m"));
    for option in [
        "--on=lab",
        "--scheduler=nosuch",
        "--device=fixed-8ms",
        "--duration=1s",
        "--set=foo.bar=1",
        "--arm=a",
        "--row=a",
        "--seeds=1",
        "--report=/nonexistent/x.html",
        "--overwrite",
        "--backend=uring",
    ] {
        let ended = place.run(&["run", "two.fio", "--show-job", option]);
        let name = option.split('=').next().unwrap();
        demand_refused(&ended, &["--show-job", name, "cannot be used with"]);
    }
    let shown = place.run(&["run", "two.fio", "--show-job", "--json", "-q"]).json();
    assert_eq!((&shown["schema"], &shown["jobs"][0]["name"]), (&1.into(), &"one".into()));
    assert!(shown["notes"].is_array(), "{shown:#}");
}

#[test]
fn a_run_that_does_not_end_is_given_up_and_says_so() {
    let place = Place::new();
    place.write("slow.fio", "[a]\nrw=randread\nsize=1m\ndirect=1\nthinktime=1h\n");
    let ended = place.run(&["run", "slow.fio", "--seeds", "1"]);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    for part in ["1 of 1 rows were not done after 24 h", "--duration"] {
        assert!(ended.err.contains(part), "no `{part}` in {}", ended.err);
    }
    assert!(ended.out.contains("given up: not done after 24 h"), "{}", ended.out);
    let ended = place.run(&["run", "slow.fio", "--seeds", "1", "--json", "--report", "slow.html"]);
    let page = fs::read_to_string(place.path().join("slow.html")).unwrap();
    assert!(page.contains("given up: not done after 24 h"), "{page}");
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!((ended.code, &value["rows"][0]["given_up"]), (Some(1), &true.into()));
    let asked = place.run(&["run", "slow.fio", "--seeds", "1", "--duration", "24h", "--json"]);
    assert!(asked.json()["rows"][0].get("given_up").is_none());
}

/// Malformed job files, and what the message must contain: the line, the faulty text and a remedy.
const MALFORMED: &[(&str, &[&str])] = &[
    ("[a]\nsize=1m\niodeph=4\n", &[":3", "iodeph", "did you mean `iodepth`"]),
    ("[a]\nsize=1m\nweight=400\n", &[":3", "`weight`", "did you mean `group_weight`"]),
    ("[a]\nsize=1m\nmin_bps=1m\n", &[":3", "did you mean `group_min_bps`"]),
    ("[a]\nsize=1m\nmax_iops=100\n", &[":3", "did you mean `group_max_iops`"]),
    ("[a]\nsize=1m\npriority=0\n", &[":3", "did you mean `group_ioprio`"]),
    ("[a]\nrw=ranread\nsize=1m\n", &[":2", "rw=ranread", "did you mean `randread`"]),
    ("[a]\nrw\nsize=1m\n", &[":2", "`rw` needs a value"]),
    ("[a]\nrw: read\nsize=1m\n", &[":2", "rw: read", "did you mean `rw`"]),
    ("[a]\n--rw=read\nsize=1m\n", &[":2", "--rw", "did you mean `rw`"]),
    ("[a]\nsize=1mm\n", &[":2", "size=1mm", "k m g t p"]),
    ("[a]\nsize=1m\nruntime=10sec\n", &[":3", "runtime=10sec", "us ms s m h d"]),
    ("[a]\nsize=1m\nstartdelay=10000000000\nramp_time=1\n", &[":3", "100 years"]),
    ("[a]\nsize=-1m\n", &[":2", "size=-1m", "a positive number"]),
    ("[a]\nsize=99999999999999999999\n", &[":2", "size=9", "below 2 to the power of 63"]),
    ("[a]\nsize=1m\nnumjobs=4294967297\n", &[":3", "numjobs=", "to 4294967295"]),
    ("[a]\nrw=rw\nrwmixread=120\nsize=1m\n", &[":3", "rwmixread=120", "from 0 to 100"]),
    ("[a]\nbssplit=4k/50:8k/60\nsize=1m\n", &[":2", "bssplit=", "sum to 110"]),
    ("[a]\nioengine=libiao\nsize=1m\n", &[":2", "libiao", "did you mean `libaio`"]),
    ("[a]\nsize=${NO_SUCH_VARIABLE}\n", &[":2", "`size`", "NO_SUCH_VARIABLE", "set it"]),
    ("[a]\nsize=${SIZE\n", &[":2", "size=${SIZE", "the `}` of `${` is missing"]),
    ("[a]\nsize=1m\ninclude nowhere.inc\n", &[":3", "nowhere.inc", "cannot read"]),
    ("[a]\nsize=1m\ninclude x.fio\n", &[":3", "x.fio", "includes itself"]),
    ("[a]\nsize=1m\ninclude\n", &[":3", "the name of the file"]),
    ("[a\nsize=1m\n", &[":1", "`[a`", "the `]` is missing"]),
    ("[a] b\nsize=1m\n", &[":1", "`[a] b`", "nothing behind it"]),
    ("[]\nsize=1m\n", &[":1", "a job needs a name"]),
    ("size=1m\n[a]\n", &[":1", "`size=1m`", "before any section", "[global]"]),
    ("[global]\nsize=1m\n", &[":1", "no job", "add a section"]),
    ("", &[":1", "no job", "add a section"]),
    ("\u{feff}[a]\nsize=1m\n", &[":1", "`[a]`", "byte order mark"]),
    ("[a]\nsize\t=\t1m\n", &[":2", "a tab"]),
    ("[a]\n// mine\nsize=1m\n", &[":2", "// mine", "a comment begins with"]),
];

#[test]
fn malformed_job_files_are_refused_with_their_line() {
    let place = Place::new();
    for (text, parts) in MALFORMED {
        place.write("x.fio", text);
        demand_one_line(&place.run(&["run", "x.fio"]), parts);
    }
    // Each file includes the next one eight times. Fully expanded, the last would be read 8^14
    // times.
    for level in 0..14 {
        let next = format!("include {}.inc\n", level + 1);
        place.write(&format!("{level}.inc"), next.repeat(8));
    }
    place.write("14.inc", "bs=4k\n");
    place.write("x.fio", "[a]\nsize=1m\ninclude 0.inc\n");
    demand_refused(&place.run(&["run", "x.fio"]), &[".inc:", "one too many", "1000 times"]);
    place.write("x.fio", b"[a]\nsize=1m\ndescription=\xff\n");
    demand_one_line(&place.run(&["run", "x.fio"]), &["x.fio", "line 3 is not UTF-8"]);
    place.write("x.fio", "[a]\r\nsize=1m\r\n");
    assert!(place.run(&["run", "x.fio", "--show-job"]).quiet().contains("size=1048576"));
    demand_one_line(&fairdisk(&["run", "missing.fio"]), &["missing.fio", "cannot be read"]);
}

/// A disk below a GiB is told in MiB.
#[test]
fn files_that_are_too_large_are_told_in_a_unit_that_shows_by_how_much() {
    let place = Place::new();
    place.write(
        "small.toml",
        "id = \"small\"\ntitle = \"260 MB\"\nkind = \"fixed\"\ncapacity_sectors = 532480\n\
         parallel = 1\nlatency_us = 100\n",
    );
    place.write("a.fio", "[buffers]\nfilename=align.dat\nsize=1g\nrw=write\nbs=4k\ndirect=1\n");
    let ended = place.run(&["run", "a.fio", "--device", "small.toml"]);
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    let says = "the files take 1 GiB, device `small.toml` has 260 MiB";
    assert!(ended.err.contains(says), "{}", ended.err);
}
