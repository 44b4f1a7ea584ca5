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
