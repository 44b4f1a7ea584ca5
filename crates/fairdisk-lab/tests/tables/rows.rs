//! Rows that differ in the scheduler, the device, the host or the volumes.

use super::{assert_refused, outcome, plan, read, set, table};
use fairdisk_lab::compare::compare;
use fairdisk_lab::outcome::{Style, to_table};
use fairdisk_lab::plan::{Options, Plan, PlannedArm};
use fairdisk_lab::run::Silent;
use std::sync::atomic::AtomicBool;

const READERS: &str = "{ group = \"a\", count = 8 }";

/// Two rows with these tasks, the second with `keys`, and the only arm with `arm`.
fn rows(tasks: &str, keys: &str, arm: &str) -> String {
    let second = format!("\n[[row]]\nlabel = \"second\"\ntasks = [{tasks}]\n{keys}\n[[arm]]");
    let whole = table("duration_s = 4\nseeds = 1", tasks, arm);
    whole.replacen("\n[[arm]]", &second, 1)
}

fn ios(text: &str) -> [f64; 2] {
    let outcome = outcome(text);
    [0, 1].map(|row: usize| outcome.rows[row].total_ios.mean)
}

/// The only arm as it is in the second row.
fn second(plan: &Plan) -> &PlannedArm {
    plan.cell(0, 1).0
}

#[test]
fn a_row_may_change_the_disk_and_the_machine() {
    let [usual, faster] = ios(&rows(READERS, "set = [\"device.rpm=15000\"]", ""));
    assert!(faster > 1.15 * usual, "{usual} and {faster}");
    let slow = "set = [\"host.turnaround_us=[900000, 1000000]\"]";
    let [usual, slower] = ios(&rows(READERS, slow, ""));
    assert!(slower * 3.0 < usual, "who thinks for a second: {usual} and {slower}");
}

#[test]
fn rows_differ_in_read_ahead_as_tables_do() {
    let two =
        "{ group = \"a\", count = 2, order = \"sequential\", block_kib = 64, direct = false }";
    let [usual, wide] = ios(&rows(two, "set = [\"host.read_ahead_kib=2048\"]", ""));
    assert!(wide > 1.3 * usual, "seeks less: {usual} and {wide}");
}

#[test]
fn a_row_may_change_the_scheduler_of_the_arms_that_have_the_key() {
    let cfq = "[[arm]]\nname = \"cfq\"\nscheduler = \"cfq-2.6.25\"";
    let text = rows(READERS, "set = [\"cfq.slice_idle_ms=1\"]", cfq);
    let [same, changed] = [0, 1].map(|arm: usize| {
        let plan = plan(&text);
        let specs = [0, 1].map(|row: usize| format!("{:?}", plan.cell(arm, row).0.revision.spec));
        specs[0] != specs[1]
    });
    assert_eq!([same, changed], [false, true]);
    assert_refused(
        &rows(READERS, "set = [\"cfq.slice_idle_ms=1\"]", ""),
        "row `second`: cfq.slice_idle_ms=1: table `[cfq]` is of another family than",
    );
    let one = Options { arms: vec!["flat".to_owned()], ..Options::default() };
    read(&text, &one).expect("the other arm has the key");
}

/// What a row changes about schedulers is read again with that of an option, and then it is the row
/// that is at fault.
#[test]
fn a_change_that_the_scheduler_of_an_option_refuses_is_found_in_its_row() {
    let cfq = "[[arm]]\nname = \"cfq\"\nscheduler = \"cfq-2.6.25\"";
    let text = rows(READERS, "set = [\n\"host.hz=100\",\n\"cfq.target_latency_ms=300\"]", cfq);
    plan(&text);
    let other = |name: &str| Options { schedulers: vec![name.to_owned()], ..Options::default() };
    read(&text, &other("deadline")).expect("the change is meant for others");
    let refused = read(&text, &other("cfq-2.6.33")).expect_err("it has switches");
    let why = "mine.toml:26: row `second`: arm `cfq-2.6.33`: cfq.target_latency_ms=300: ";
    assert!(refused.contains(why), "{refused}");
}

#[test]
fn a_row_may_change_its_volumes() {
    let buffered = "{ group = \"a\", direct = false, keeps_cache = true }";
    let text = rows(buffered, "set = [\"volume.file_mib=2\"]", "");
    let [large, small] = ios(&text);
    assert!(small > 10.0 * large, "in memory soon: {large} and {small}");
    let all = read(&text, &set("volume.file_mib=2")).expect("an experiment");
    let files = |plan: &Plan, row: usize| format!("{:?}", plan.rows[row].load);
    assert_eq!(files(&all, 0).matches("file_mib: Some(2)").count(), 1);
    assert_refused(
        &rows(buffered, "set = [\"volume.file_mib=0\"]", ""),
        "row `second`: volume.file_mib=0: `file_mib` is 0",
    );
    // Each row is checked with its own volumes.
    let part = rows("{ group = \"a\", size_mib = 32 }", "set = [\"volume.file_mib=16\"]", "");
    assert_refused(&part, "row `second`: volume.file_mib=16: `size_mib` is 32");
    plan(&part.replace("file_mib=16", "file_mib=32"));
    plan(&part.replace("size_mib = 32 }]\nset", "size_mib = 8 }]\nset"));
}

#[test]
fn what_counts_is_the_file_then_the_arm_then_the_row_then_the_caller() {
    let [usual, arm, row, caller] = [7200, 10000, 12000, 15000];
    let rpm = |of: &PlannedArm| {
        let words = format!("{:?}", of.rig.device);
        [usual, arm, row, caller].into_iter().find(|rpm| words.contains(&format!("rpm: {rpm}")))
    };
    let text = |arm: &str| rows(READERS, "set = [\"device.rpm=12000\"]", arm);
    let own = format!("set = [\"device.rpm={arm}\"]");
    let both = plan(&text(&own));
    assert_eq!([rpm(both.cell(0, 0).0), rpm(second(&both))], [Some(arm), Some(row)]);
    let plain = plan(&text(""));
    assert_eq!([rpm(plain.cell(0, 0).0), rpm(second(&plain))], [Some(usual), Some(row)]);
    let all = read(&text(&own), &set("device.rpm=15000")).expect("an experiment");
    assert_eq!([rpm(all.cell(0, 0).0), rpm(second(&all))], [Some(caller); 2]);
    let other = Options { device: Some("fixed-8ms".to_owned()), ..Options::default() };
    let refused = read(&text(""), &other).expect_err("it does not turn");
    let why = "mine.toml:24: row `second`: device.rpm=12000: unknown key `rpm`";
    assert!(refused.contains(why), "{refused}");
    assert!(
        refused.contains("(on device `fixed-8ms`, under arm `flat`; leave it out"),
        "{refused}"
    );
}

#[test]
fn changes_that_cannot_be_are_refused() {
    for (keys, why) in [
        ("set = [\"device.rpms=15000\"]", "unknown key `rpms`; did you mean `rpm`?"),
        ("set = [\"host.hz=17\"]", "`hz` is 17"),
        ("set = [\"host.hz\"]", "expected KEY=VALUE"),
        ("set = [\"experiment.duration_s=3\"]", "a row has its own `duration_s`"),
        ("set = [\"scheduler.cfq.quantum=8\"]", "in a row that is `cfq.quantum=8`"),
        ("set = [\"host.hz=100\", \"host.hz=250\"]", "changes what"),
        ("set = [\"volume.filez=3\"]", "unknown key `filez`; did you mean `files`?"),
        (
            "set = { \"host.hz\" = 100 }",
            "`set`: expected a list, not a table; written as set = [\"KEY=VALUE\", …]",
        ),
        (
            "set = \"host.hz=100\"",
            "not the text \"host.hz=100\"; written as set = [\"KEY=VALUE\", …]",
        ),
        ("set = [100]", "`set`: expected a text, not 100; written as set = [\"KEY=VALUE\", …]"),
        ("[row.set]\nhost.hz = 100", "`set`: expected a list, not a table; written as set = ["),
    ] {
        let refused = assert_refused(&rows(READERS, keys, ""), why);
        assert!(refused.contains("mine.toml:24: "), "{keys}: {refused}");
    }
}

#[test]
fn schedulers_are_compared_in_rows_that_change_nothing() {
    let plan = plan(&rows(READERS, "set = [\"device.rpm=15000\"]", ""));
    let refused = compare(&[plan], &Silent, &AtomicBool::new(false)).expect_err("two disks");
    assert!(refused.contains("`set` of row `second` of mine may change the disk"), "{refused}");
}

#[test]
fn results_name_the_row() {
    let text = rows(READERS, "set = [\"device.rpm=15000\"]", "");
    let words = to_table(&outcome(&text), Style::default());
    assert!(words.contains("flat (noop), second, 4 s"), "{words}");
}
