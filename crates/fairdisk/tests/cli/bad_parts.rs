//! Faulty hosts, devices and schedulers of the user's own: exit status 2, and a message with file,
//! line, key, value and what is allowed.

use crate::bad_input::demand_one_line;
use crate::program::{Place, fairdisk};

#[test]
fn hosts_that_no_machine_is() {
    for (set, parts) in [
        ("turnaround_us=[0,9223372036854775807]", &["is [0, 9223372036854775807]"][..]),
        ("turnaround_us=[0,0]", &["is [0, 0]; allowed: two numbers"]),
        ("turnaround_us=[2,1]", &["is [2, 1]; allowed: two numbers"]),
        ("turnaround_us=[1,2,3]", &["expected 2 values, found 3"]),
        ("slot_wake_us=9223372036854775807", &["allowed: 0 to 1000000"]),
        ("page_copy_ns=9223372036854775807", &["allowed: 1 to 1000000000"]),
        ("read_ahead_kib=9223372036854775807", &["allowed: 4 to 1048576"]),
        ("write_behind_kib=9223372036854775807", &["allowed: 0 to 1073741824"]),
        ("memory.fault_ns=9223372036854775807", &["allowed: 0 to 1000000000"]),
        ("write_back.background_percent=101", &["is 101; allowed: 0 to 100"]),
        ("write_back.limit_percent=4", &["is 4; allowed: 5 to 100"]),
        ("write_back.interval_ms=0", &["is 0; allowed: 1 to 3600000"]),
        ("write_back.age_ms=9223372036854775807", &["allowed: 0 to 3600000"]),
        ("queue.batch_requests=4294967295", &["allowed: 0 to 1000000"]),
        ("queue.merge_kib_max=4294967295", &["allowed: 0 to 1048576"]),
        ("journal.commit_interval_ms=9223372036854775807", &["allowed: 1 to 3600000"]),
        ("journal.inodes_per_block=4294967295", &["allowed: 1 to 65536"]),
        ("journal.blocks=4294967295", &["allowed: 1024 to 1048576"]),
        ("journal.nice=20", &["is 20; allowed: -20 to 19"]),
        ("journal.nice=200", &["is 200; allowed: -20 to 19"]),
    ] {
        let set = format!("host.{set}");
        let key = set.split('=').next().and_then(|key| key.rsplit('.').next()).unwrap();
        let ended = fairdisk(&["run", "two-groups", "--set", &set]);
        demand_one_line(&ended, &[&[&format!("--set {set}: `{key}`")[..]], parts].concat());
    }
}

#[test]
fn devices_that_nobody_can_build() {
    let depth = ["run", "two-groups", "--device", "null", "--set", "device.depth=4294967295"];
    demand_one_line(&fairdisk(&depth), &["`depth` is 4294967295; allowed: 1 to 65536"]);
    let place = Place::new();
    let raid = "id = \"own\"\ntitle = \"t\"\nkind = \"raid5\"\ndisk = \"own.toml\"\ndisks = 4\n\
                chunk_kib = 64\ndepth = 4\n";
    place.write("own.toml", raid);
    let ended = place.run(&["run", "two-groups", "--device", "own.toml"]);
    demand_one_line(&ended, &["own.toml:4: `disk`: `own.toml` is of kind `raid5`"]);
}

/// Demands that the scheduler file is refused at line `line`.
#[track_caller]
pub(crate) fn scheduler_refused(text: &str, line: usize, parts: &[&str]) {
    let place = Place::new();
    place.write("turns.toml", text);
    let at = format!("turns.toml:{line}: ");
    let ended = place.run(&["run", "two-groups", "--scheduler", "turns.toml"]);
    demand_one_line(&ended, &[&[at.as_str()], parts].concat());
}

#[test]
fn schedulers_are_refused_at_the_line_that_is_wrong() {
    let head = "# words\n\nid = \"turns\"\ntitle = \"x\"\nfamily = \"two-layer-cfq\"\n\
                inherits = \"two-layer-cfq\"\n";
    let refused = |more: &str, line, parts: &[&str]| {
        scheduler_refused(&format!("{head}{more}"), line, parts);
    };
    refused("[cfq]\nquantum = 0\n", 8, &["`quantum` is 0", "allowed: 1 to 1000000"]);
    refused("[cfq]\nslice_sync_ms = 0\n", 8, &["`slice_sync_ms` is 0"]);
    refused("[groups]\nslice_ms = 0\n", 8, &["`slice_ms` is 0", "allowed: 1 to 1000000"]);
    refused("[groups]\nslice_ms = 9000000\n", 8, &["`slice_ms` is 9000000"]);
    let map = "[groups]\nslice_ms = 1\n\nweight_map = \"bfg\"\n";
    refused(map, 10, &["unknown weight map `bfg`", "did you mean `bfq`?"]);
    refused("[groups]\nslice_m = 1\n", 8, &["unknown key `slice_m`", "did you mean"]);
    refused(
        "[groups]\n\nslice_ms = \"1\"\n",
        9,
        &["`slice_ms` is the text \"1\"; allowed: 1 to 1000000"],
    );
    let fair = head.replace("two-layer-cfq", "fair");
    scheduler_refused(
        &format!("{fair}[fair]\ncredit_ms = \"x\"\n"),
        8,
        &["`credit_ms` is the text \"x\"; allowed: 0 to 1000000"],
    );
    let family = "\"two-layer-cfq\"\ninherits";
    let other = "\"two-layer\"\ninherits";
    scheduler_refused(&head.replace(family, other), 5, &["unknown family `two-layer`"]);
    let quantum = ["run", "two-groups", "--set", "scheduler.cfq.quantum=0"];
    demand_one_line(&fairdisk(&quantum), &["error: --set scheduler.cfq.quantum=0: `quantum` is 0"]);
}
