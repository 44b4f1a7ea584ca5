//! Bad input: exit status 2, one message that says what is wrong, and nothing left behind.

use crate::program::{Ended, Place, fairdisk, two_groups};
use std::fs::{self, File};

/// Demands a refusal with one message that contains all of `parts`.
#[track_caller]
pub(crate) fn demand_refused(ended: &Ended, parts: &[&str]) {
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert_eq!(ended.out, "");
    assert_eq!(ended.err.matches("error: ").count(), 1, "{}", ended.err);
    for part in parts {
        assert!(ended.err.contains(part), "no `{part}` in: {}", ended.err);
    }
}

/// Like [`demand_refused`], with a message of a single line.
#[track_caller]
pub(crate) fn demand_one_line(ended: &Ended, parts: &[&str]) {
    demand_refused(ended, parts);
    assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
}

const DEVICE: &str = include_str!("../../../../catalog/devices/fixed-8ms.toml");

/// A device file with this id.
fn device(name: &str) -> String {
    DEVICE.replace("id = \"fixed-8ms\"", &format!("id = \"{name}\""))
}

#[test]
fn names_that_stand_for_nothing() {
    let run = |more: &[&str]| fairdisk(&[&["run"], more].concat());
    let near = "did you mean `two-groups`";
    demand_one_line(&run(&["two-group"]), &["unknown experiment `two-group`", near]);
    let ended = run(&["two-groups", "--scheduler", "two-layer-cfg"]);
    demand_one_line(&ended, &["unknown scheduler", "did you mean `two-layer-cfq`"]);
    let near = "did you mean `mount-cfq`, which is what mounts run as `cfq`? (known: ";
    demand_one_line(&run(&["two-groups", "--scheduler", "cfq"]), &[near]);
    let ended = run(&["two-groups", "--device", "wd2500j"]);
    demand_one_line(&ended, &["unknown device", "did you mean `wd2500js`"]);
    let arm = ["error: --arm layer: unknown arm `layer`", "flat"];
    demand_one_line(&run(&["two-groups", "--arm", "layer"]), &arm);
    let row = ["error: --row #9: unknown row `#9`", "readers"];
    demand_one_line(&run(&["two-groups", "--row", "#9"]), &row);
    let ended = fairdisk(&["catalog", "hosts", "plian"]);
    demand_one_line(&ended, &["unknown host", "did you mean `plain`"]);
    demand_refused(&fairdisk(&["catalog", "disks"]), &["disks", "devices"]);
    demand_refused(&fairdisk(&["rum"]), &["rum", "run"]);
}

#[test]
fn malformed_options() {
    let run = |more: &[&str]| fairdisk(&[&["run", "two-groups"], more].concat());
    demand_one_line(&run(&["--set", "host.hz"]), &["--set host.hz", "KEY=VALUE"]);
    demand_one_line(&run(&["--set", "hosts.hz=1"]), &["did you mean `host`"]);
    let hz = ["error: --set host.hzz=1: unknown key", "did you mean `hz`"];
    demand_one_line(&run(&["--set", "host.hzz=1"]), &hz);
    let rpm = ["error: --set device.rpm=0: `rpm`"];
    demand_one_line(&run(&["--set", "device.rpm=0"]), &rpm);
    let cached = ["error: --set volume.cached=often: `cached`"];
    demand_one_line(&run(&["--set", "volume.cached=often"]), &cached);
    demand_one_line(&run(&["--set", "host.hz=fast"]), &["hz"]);
    demand_refused(&run(&["--duration", "30x"]), &["30x", "number and a unit"]);
    for seeds in ["0", "-1", "10001", "three"] {
        let expected = "expected a whole number from 1 to 10000";
        demand_refused(&run(&["--seeds", seeds]), &[seeds, "--seeds <N>", expected]);
    }
    let request = fairdisk(&["explain", "two-groups", "first"]);
    demand_refused(&request, &["first", "REQUEST", "expected a whole number from 1"]);
    demand_refused(&run(&["--duration", "-3s"]), &["-3s", "--duration <TIME>", "must be positive"]);
    let ramp = ["--set", "experiment.ramp_s=5", "--duration", "5s"];
    demand_one_line(&run(&ramp), &["error: --duration 5s: expected more than 5 s", "`ramp_s`"]);
    demand_refused(&run(&["--sched", "noop"]), &["--sched"]);
    let several = run(&["--scheduler", "noop,fair"]);
    demand_one_line(&several, &["--scheduler noop,fair", "`fairdisk compare` runs several"]);
    demand_one_line(&run(&["--scheduler", "two-layer"]), &["did you mean `two-layer-cfq`?"]);
    demand_one_line(&run(&["--show-job"]), &["--show-job", "job files"]);
    demand_one_line(&run(&["--device", "none"]), &["--on file:PATH"]);
    demand_one_line(&run(&["--overwrite"]), &["--overwrite", "--on file:PATH"]);
    demand_one_line(&run(&["--backend", "threads"]), &["--backend", "--on file:PATH"]);
}

#[test]
fn what_is_said_twice() {
    let run = |more: &[&str]| fairdisk(&[&["run", "two-groups"], more].concat());
    let both = "error: --set host.hz=250: changes what --set host.hz=100 changes; drop one of them";
    demand_one_line(&run(&["--set", "host.hz=100", "--set", "host.hz=250"]), &[both]);
    let seeds = "error: --set experiment.seeds=2: --seeds says the same; drop one of them";
    demand_one_line(&run(&["--set", "experiment.seeds=2", "--seeds", "1"]), &[seeds]);
    let blame = ["blame", "cfq-2.6.25", "cfq-2.6.25", "two-groups", "--arm", "flat"];
    let ended = fairdisk(&[&blame[..], &["--bad-set", "host.hzz=100"]].concat());
    demand_one_line(&ended, &["error: --bad-set host.hzz=100: unknown key `hzz`"]);
}

#[test]
fn tables_that_a_file_leaves_out() {
    let run = |sets: &[&str]| {
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        let run = ["run", "two-groups", "--scheduler", "noop", "--duration", "100ms"];
        fairdisk(&[&run[..], &sets].concat())
    };
    for order in [["requests=4", "delay_ms=3"], ["delay_ms=3", "requests=4"]] {
        let sets = order.map(|set| format!("host.plug.{set}"));
        let ended = run(&sets.each_ref().map(String::as_str));
        assert_eq!(ended.code, Some(0), "{}", ended.err);
    }
    let half = "error: --set host.plug.requests=4: missing key `delay_ms` of a table `host.plug`; \
                give host.plug.delay_ms too";
    demand_one_line(&run(&["host.plug.requests=4"]), &[half]);
    let wrong = ["host.plug.requests=0", "host.plug.delay_ms=3"];
    demand_one_line(&run(&wrong), &["`requests` is 0"]);
    let other = ["unknown key `plgu`; did you mean `plug`?"];
    demand_one_line(&run(&["host.plgu.requests=4"]), &other);
    let family = "--set scheduler.cfq.quantum=4: table `[cfq]` is of another family than `noop`";
    demand_one_line(&run(&["scheduler.cfq.quantum=4"]), &[family]);
    let sizes = ["9223372036854775808", "-9_223_372_036_854_775_809", &"9".repeat(40)];
    for large in sizes.map(|size| format!("scheduler.cfq.quantum={size}")) {
        let limits = "is no number a file can hold; -9223372036854775808 to 9223372036854775807";
        demand_one_line(&run(&[&large]), &[limits]);
    }
    // With several schedulers, the suggestion comes from the one that has the table.
    let misspelt = ["run", "two-groups", "--set", "scheduler.cfq.quantm=4"];
    demand_one_line(&fairdisk(&misspelt), &["unknown key `quantm`; did you mean `quantum`?"]);
}

#[test]
fn who_pays_and_limits_of_groups() {
    let refused = |settings: &[&str], parts: &[&str]| {
        let mut arguments = vec!["run".to_owned(), "two-groups".to_owned()];
        for setting in settings {
            arguments.extend(["--set".to_owned(), format!("host.write_back.{setting}")]);
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        demand_one_line(&fairdisk(&arguments), parts);
    };
    let rules = "\"submitter\", \"dirtier\", \"last-writer\", \"inode-owner\"";
    let parts = ["charged_to=dirtyer: `charged_to`: `dirtyer` is no rule for who pays", rules];
    refused(&["charged_to=dirtyer"], &parts);
    refused(&["group_limit_kib=2"], &["`group_limit_kib` is 2; allowed: 4 to"]);
    let alone = ["`group_background_kib` is 4; allowed: only beside `group_limit_kib`"];
    refused(&["group_background_kib=4"], &alone);
    let above = ["`group_background_kib` is 64; allowed: less than `group_limit_kib`, which is 64"];
    refused(&["group_limit_kib=64", "group_background_kib=64"], &above);
}

#[test]
fn what_is_there_but_is_no_experiment() {
    let place = Place::new();
    place.write("my.txt", "Dear diary\n");
    demand_refused(&place.run(&["run", "my.txt"]), &["my.txt:1"]);
    let expected = "is a directory; expected a .toml or job file";
    for directory in [".", "/tmp", "/"] {
        let parts = [&format!("error: {directory} {expected}")[..]];
        demand_one_line(&place.run(&["run", directory]), &parts);
    }
    let ended = place.run(&["run", "two-groups", "--scheduler", "my.txt"]);
    demand_one_line(&ended, &["my.txt is not a .toml file"]);
}

#[test]
fn files_of_another_kind_are_called_what_they_look_like() {
    let place = Place::new();
    let catalog = |path: &str| {
        let catalog = concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/");
        fs::read_to_string(format!("{catalog}{path}")).unwrap()
    };
    let jobs = "[global]\nrw=randread\nbs=4k\n[a]\nsize=1m\n";
    place.write("disk.toml", device("disk"));
    place.write("host.toml", catalog("hosts/plain.toml"));
    place.write("scheduler.toml", catalog("revisions/fair.toml"));
    place.write("load.toml", two_groups());
    place.write("load.fio", two_groups());
    place.write("jobs.toml", jobs);
    place.write("results.json", "{\n  \"schema\": 1\n}\n");
    place.write("results.toml", "{\n  \"schema\": 1\n}\n");
    place.write("iolog", "fio version 2 iolog\n/dev/sda add\n");
    place.write("trace", b"\x07tae\0\0\0\0");
    place.write("binary.toml", [1, 2, 0, 4]);
    let load = "run, compare and advise take";
    for (arguments, parts) in [
        (
            "run disk.toml",
            ["disk.toml: looks like a device, which --device takes", "an experiment"],
        ),
        ("compare host.toml", ["host.toml: looks like a host", "expected an experiment"]),
        ("advise scheduler.toml", ["looks like a scheduler, which --scheduler", "an experiment"]),
        ("explain disk.toml 1", ["disk.toml: looks like a device", "expected an experiment"]),
        ("run load.fio", ["load.fio: looks like an experiment", load]),
        ("run jobs.toml", ["jobs.toml: looks like a fio job file", load]),
        ("run results.json", ["results.json: looks like results in JSON", "name what was run"]),
        ("run results.toml", ["results.toml: looks like results in JSON", "name what was run"]),
        ("run iolog", ["iolog: it has no requests", "iolog"]),
        ("run trace", ["trace: at byte 0: ", "the last event is cut off"]),
        ("run binary.toml", ["binary.toml: cannot be read", "it is no text"]),
        ("run two-groups --device load.toml", ["looks like an experiment", "expected a device"]),
        ("run two-groups --scheduler disk.toml", ["looks like a device", "expected a scheduler"]),
        ("blame disk.toml disk.toml two-groups", ["looks like a device", "expected a scheduler"]),
        ("catalog devices load.toml", ["looks like an experiment", "expected a device"]),
        ("run fair", ["`fair` is a scheduler", "expected an experiment"]),
        ("run two-groups --scheduler wd2500js", ["`wd2500js` is a device", "a scheduler"]),
        ("run ./nosuch", ["./nosuch: No such file", "expected a .toml or job file"]),
        ("explain two-groups/flatt 1", ["two-groups/flatt: unknown arm", "did you mean `flat`?"]),
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        demand_one_line(&place.run(&arguments), &parts);
    }
}

#[test]
fn bad_places() {
    let on = |place: &str| fairdisk(&["run", "two-groups", "--on", place]);
    demand_one_line(&on("tape:x"), &["--on tape:x", "file:PATH"]);
    demand_one_line(&on("file:"), &["file:PATH"]);
    demand_one_line(&on("dir:x"), &["not supported yet"]);
    demand_one_line(&on("file:."), &["a directory"]);
    demand_one_line(&on("file:missing/x"), &["missing/x", "directory does not exist"]);
    demand_one_line(&on("file:/dev/null"), &["a character device"]);
    let ended = fairdisk(&["run", "two-groups", "--on", "file:x", "--seeds", "3"]);
    demand_one_line(&ended, &["--seeds"]);
}

#[test]
fn malformed_devices_and_schedulers_are_refused_with_their_line() {
    let place = Place::new();
    place.write("disk.toml", device("disk").replace("parallel = 1", "parallel = 0"));
    let ended = place.run(&["run", "two-groups", "--device", "disk.toml"]);
    demand_one_line(&ended, &["disk.toml:8", "parallel"]);
    place.write("disk2.toml", device("disk2").replace("latency_us", "latency_ms"));
    let ended = place.run(&["run", "two-groups", "--device", "disk2.toml"]);
    demand_one_line(&ended, &["disk2.toml:9", "did you mean `latency_us`"]);
    place.write("mine.toml", "id = \"mine\"\ntitle = \"x\"\ninherits = \"cfq-2.6.24\"\n");
    let ended = place.run(&["run", "two-groups", "--scheduler", "mine.toml"]);
    demand_one_line(&ended, &["cfq-2.6.24"]);
}

#[test]
fn a_seek_that_no_disk_needs() {
    let set = ["--set", "device.seek.min_us=99999999"];
    let ended = fairdisk(&[&["run", "two-groups", "--arm", "flat"][..], &set].concat());
    let range =
        "error: --set device.seek.min_us=99999999: `seek.min_us` is 99999999; allowed: 0 to";
    demand_one_line(&ended, &[range]);
}

#[test]
fn a_load_that_does_not_fit_its_disk() {
    let small = ["run", "two-groups", "--device", "sata-ssd"];
    let small = [&small[..], &["--set", "device.capacity_sectors=1000000"]].concat();
    let sizes = " MiB, device `sata-ssd` has 488 MiB; choose a ";
    demand_one_line(&fairdisk(&small), &[sizes, "larger --device"]);
    let arguments = ["run", "satoshi-2008-05-27-test1", "--device", "fixed-8ms"];
    demand_one_line(&fairdisk(&arguments), &["fixed-8ms", "larger --device"]);
}

#[test]
fn a_file_of_somebody_else_that_is_too_small_stays_as_it_is() {
    let place = Place::new();
    place.write("small", "precious");
    let ended = place.run(&["run", "two-groups", "--on", "file:small", "-q"]);
    demand_one_line(&ended, &["small is too small", "8 bytes"]);
    assert_eq!(fs::read_to_string(place.path().join("small")).unwrap(), "precious");
    assert_eq!(place.names(), ["small"]);
}

#[test]
fn a_file_of_somebody_else_is_not_written() {
    let place = Place::new();
    File::create(place.path().join("large")).unwrap().set_len(1 << 40).unwrap();
    let run = |more: &[&str]| {
        let run = ["run", "satoshi-2008-05-27-test1", "--row", "#2", "--arm", "two-layer"];
        place.run(
            &[
                &run[..],
                &["-q", "--duration", "300ms", "--on", "file:large", "--device", "wd2500js"],
                more,
            ]
            .concat(),
        )
    };
    demand_one_line(&run(&[]), &["large was not made by Fairdisk", "--overwrite"]);
    assert_eq!(run(&["--overwrite"]).code, Some(0));
}

#[test]
fn several_disks_where_there_is_one() {
    let one = "add --set device.jbod=1";
    demand_one_line(&fairdisk(&["explain", "two-groups", "1", "--device", "jbod-12x2"]), &[one]);
    let place = Place::new();
    let run = ["run", "two-groups", "--on", "file:disk", "--device", "jbod-12x2"];
    demand_one_line(&place.run(&run), &["12 disks with 2 partitions each", one]);
    assert!(!place.path().join("disk").exists());
}

#[test]
fn runs_and_requests_to_explain_that_do_not_exist() {
    let explain = |more: &[&str]| fairdisk(&[&["explain"], more].concat());
    demand_refused(&explain(&["two-groups"]), &["REQUEST", "--slowest"]);
    demand_refused(&explain(&["two-groups", "1", "--slowest", "2"]), &["cannot be used with"]);
    demand_refused(&explain(&["two-groups", "0"]), &["0"]);
    demand_one_line(&explain(&["two-groups/a/b/c/d", "1"]), &["too many parts"]);
    demand_one_line(&explain(&["two-groups/layer", "1"]), &["unknown arm"]);
    let ended = explain(&["two-groups", "999999", "--duration", "1s"]);
    demand_one_line(&ended, &["no request 999999", "numbered 1 to"]);
}

#[test]
fn man_pages_need_a_directory() {
    let place = Place::new();
    place.write("file", "");
    let words = ["cannot write man pages", "name a directory that you may write to"];
    for path in ["file", "file/below"] {
        demand_one_line(&place.run(&["man", path]), &[&[path], &words[..]].concat());
    }
}
