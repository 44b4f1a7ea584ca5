//! Arms that differ in the device or the host.

use super::{assert_refused, outcome, plan, read, table};
use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::compare::compare;
use fairdisk_lab::outcome::{Style, to_table};
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::Silent;
use std::sync::atomic::AtomicBool;

const READERS: &str = "{ group = \"a\", count = 8 }";

/// The table with a second arm that has these keys.
fn second(keys: &str) -> String {
    let arm = format!("[[arm]]\nname = \"other\"\nscheduler = \"noop\"\n{keys}");
    table("duration_s = 4\nseeds = 1", READERS, &arm)
}

fn ios(keys: &str) -> [f64; 2] {
    let outcome = outcome(&second(keys));
    [0, 1].map(|arm: usize| outcome.rows[arm].total_ios.mean)
}

#[test]
fn an_arm_may_change_the_disk_and_the_machine() {
    let [usual, faster] = ios("set = [\"device.rpm=15000\"]");
    assert!(faster > 1.15 * usual, "{usual} and {faster}");
    let [usual, other] = ios("device = \"fixed-8ms\"");
    assert!(other <= 500.0 && usual > 550.0, "8 ms each: {usual} and {other}");
    let [usual, slots] = ios("set = [\"host.turnaround_us=[900000, 1000000]\"]");
    assert!(slots * 3.0 < usual, "who thinks for a second: {usual} and {slots}");
    let plan = plan(&second("host = \"nec-core2-2008\""));
    let hosts = plan.arms.iter().map(|arm| arm.rig.host.id.as_str()).collect::<Vec<_>>();
    assert_eq!(hosts, ["plain", "nec-core2-2008"]);
}

#[test]
fn what_the_caller_changes_counts_for_all_arms() {
    let text = second("set = [\"device.rpm=15000\"]");
    let arms = |plan: &Plan| [0, 1].map(|arm: usize| plan.arms[arm].rig.device.clone());
    let [usual, faster] = arms(&plan(&text));
    assert_ne!(format!("{usual:?}"), format!("{faster:?}"));
    let options = super::set("device.rpm=10000");
    let [one, other] = arms(&read(&text, &options).expect("an experiment"));
    assert_eq!(format!("{one:?}"), format!("{other:?}"));
}

#[test]
fn results_name_the_disk_of_an_arm() {
    let one = outcome(&second("device = \"fixed-8ms\""));
    let devices = one.rows.iter().map(|row| row.device.as_str()).collect::<Vec<_>>();
    assert_eq!(devices, ["hdd-7200-2007", "fixed-8ms"]);
    let words = to_table(&one, Style::default());
    assert!(words.contains("other (noop), row, 4 s, on fixed-8ms"), "{words}");
}

#[test]
fn changes_that_cannot_be_are_refused() {
    for (keys, why) in [
        ("set = [\"device.rpms=15000\"]", "unknown key `rpms`; did you mean `rpm`?"),
        ("set = [\"host.hz=17\"]", "`hz` is 17"),
        ("device = \"floppy\"", "unknown device `floppy`"),
        ("host = \"abacus\"", "unknown host `abacus`"),
    ] {
        let refused = assert_refused(&second(keys), why);
        assert!(refused.contains("mine.toml:"), "{keys}: {refused}");
    }
}

#[test]
fn a_device_that_does_not_fit_an_arm_is_refused_where_the_arm_is_changed() {
    let other = Options { device: Some("fixed-8ms".to_owned()), ..Options::default() };
    let text = second("set = [\n\"host.hz=100\",\n\"device.rpm=15000\",\n]");
    let line = 3 + text.lines().position(|line| line.contains("device.rpm")).expect("it is there");
    let refused = read(&text, &other).expect_err("it does not turn");
    let words = format!("mine.toml:{line}: arm `other`: device.rpm=15000: unknown key `rpm`");
    assert!(refused.contains(&words), "{words} is not in: {refused}");
    let why = "(on device `fixed-8ms`, under arm `other`; leave it out with --arm)";
    assert!(refused.ends_with(why), "{refused}");
    // A change by the caller is no fault of the file.
    let overrides = vec![Override::parse("device.rpm=7000").expect("well formed")];
    let given = Options { overrides, ..Options::default() };
    let refused = read(&second("device = \"fixed-8ms\""), &given).expect_err("it does not turn");
    assert!(refused.starts_with("--set device.rpm=7000: unknown key `rpm`"), "{refused}");
    assert!(refused.ends_with(why), "{refused}");
}

#[test]
fn schedulers_are_compared_on_one_disk() {
    let plan = plan(&second("set = [\"device.rpm=15000\"]"));
    let refused = compare(&[plan], &Silent, &AtomicBool::new(false)).expect_err("two disks");
    assert!(refused.contains("arm `other` of mine changes the disk"), "{refused}");
}
