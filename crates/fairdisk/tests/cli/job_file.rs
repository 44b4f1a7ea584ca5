//! fio job files.

use crate::bad_input::demand_refused;
use crate::program::{Place, fairdisk};

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
fn a_job_is_shown_as_it_was_understood() {
    let place = Place::new();
    place.write("two.fio", JOB);
    let mut command = place.command(&["run", "two.fio", "--show-job"]);
    let output = command.env("SIZE", "64m").output().unwrap();
    let text = crate::program::Ended::of(output).quiet();
    for part in ["[one]", "[two]", "rw=randread", "64 MiB", "# note: two.fio:15: `write_bw_log`"] {
        assert!(text.contains(part), "no `{part}` in {text}");
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
    let ended = place.run(&["run", "slow.fio", "--seeds", "1", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!((ended.code, &value["rows"][0]["given_up"]), (Some(1), &true.into()));
    let asked = place.run(&["run", "slow.fio", "--seeds", "1", "--duration", "24h", "--json"]);
    assert!(asked.json()["rows"][0].get("given_up").is_none());
}

#[test]
fn malformed_job_files_are_refused_with_their_line() {
    let place = Place::new();
    place.write("key.fio", "[a]\nrw=read\nsize=1m\niodeph=4\n");
    let ended = place.run(&["run", "key.fio"]);
    demand_refused(&ended, &["key.fio:4", "iodeph", "did you mean `iodepth`"]);
    place.write("value.fio", "[a]\nrw=sideways\nsize=1m\n");
    demand_refused(&place.run(&["run", "value.fio"]), &["value.fio:2", "sideways"]);
    place.write("empty.fio", "");
    demand_refused(&place.run(&["run", "empty.fio"]), &["empty.fio"]);
    demand_refused(&fairdisk(&["run", "missing.fio"]), &["missing.fio", "cannot be read"]);
}
