//! What a message proposes to do instead.

use crate::bad_input::{demand_one_line, demand_refused};
use crate::program::{Place, fairdisk, two_groups};

#[test]
fn an_option_that_a_command_does_not_have_is_told_with_what_it_has() {
    let other = fairdisk(&["compare", "two-groups", "--arm", "two-layer"]);
    demand_refused(&other, &["'--arm'", "--scheduler says what is compared"]);
    let part = fairdisk(&["explain", "isolation", "--row", "x"]);
    demand_refused(&part, &["'--row'", "SPEC/ARM/ROW/SEED"]);
    let strange = fairdisk(&["run", "two-groups", "--strange"]);
    demand_refused(&strange, &["'--strange'"]);
    assert!(!strange.err.contains("as a value"), "{}", strange.err);
}

#[test]
fn a_scheduler_in_the_place_of_an_arm_is_told_from_a_misspelt_arm() {
    let hint = "; to run that scheduler, add --scheduler fair";
    let ended = fairdisk(&["explain", "isolation/fair/readers", "--slowest", "2"]);
    demand_one_line(&ended, &["unknown arm `fair`", hint]);
    let misspelt = fairdisk(&["explain", "isolation/nop/readers", "--slowest", "2"]);
    assert!(!misspelt.err.contains("--scheduler"), "{}", misspelt.err);
}

#[test]
fn two_sides_that_are_the_same_can_be_made_to_differ() {
    let ended = fairdisk(&["blame", "cfq-2.6.25", "cfq-2.6.25", "two-groups"]);
    demand_one_line(&ended, &["differ by no changes", "with --bad-set KEY=VALUE"]);
}

#[test]
fn the_file_of_a_built_in_experiment_has_no_ending_to_its_name() {
    let hint = "the built-in experiment is called `two-groups`";
    demand_one_line(&fairdisk(&["run", "two-groups.toml"]), &["two-groups.toml", hint]);
}

#[test]
fn where_several_may_be_each_has_two_brackets() {
    let place = Place::new();
    let text = two_groups().replace("[[row]]", "[row]");
    place.write("mine.toml", &text);
    demand_one_line(&place.run(&["run", "mine.toml"]), &["`row`", "as in [[row]]"]);
    place.write("mine.toml", format!("{text}\n[row]\nlabel = \"more\"\n"));
    demand_one_line(&place.run(&["run", "mine.toml"]), &["duplicate key", "as in [[row]]"]);
}

#[test]
fn a_comparison_brings_its_own_schedulers() {
    let place = Place::new();
    let text = two_groups();
    place.write("mine.toml", text.split("[[arm]]").next().unwrap());
    let short = ["mine.toml", "--duration", "1s", "--seeds", "1"];
    let compare = [&["compare"][..], &short, &["--scheduler", "fair"]].concat();
    assert!(place.run(&compare).quiet().contains("fair"));
    let run = place.run(&[&["run"][..], &short].concat());
    demand_one_line(&run, &["mine.toml: it has no [[arm]]", "name a scheduler with --scheduler"]);
}

#[test]
fn names_may_have_spaces_around_them_and_one_is_one() {
    let short = ["two-groups", "--duration", "1s", "--seeds", "1"];
    let spaced = [&["compare"][..], &short, &["--scheduler", "fair, deadline"]].concat();
    assert!(fairdisk(&spaced).quiet().contains("deadline"));
    for command in ["advise", "run"] {
        let several = [&[command][..], &short, &["--device", "nvme,hdd-ncq"]].concat();
        demand_one_line(&fairdisk(&several), &["--device nvme,hdd-ncq: one device here"]);
    }
}

#[test]
fn a_wish_without_a_comma_is_told_so_and_said_once() {
    let want = "database: min_iops=80 max_iops=20";
    let ended = fairdisk(&["advise", "two-groups", "--want", want]);
    demand_refused(&ended, &["a comma is missing before `max_iops`"]);
    assert_eq!(ended.err.matches(want).count(), 1, "{}", ended.err);
}

#[test]
fn one_group_has_nothing_to_share() {
    let place = Place::new();
    place.write("jobs.fio", "[a]\nrw=randread\nsize=1m\ndirect=1\n");
    let short = ["jobs.fio", "--seeds", "1", "--device", "fixed-8ms", "--scheduler", "fair"];
    let table = place.run(&[&["compare"][..], &short].concat()).quiet();
    assert!(table.contains("note: There is one group") && table.contains("group=/NAME"), "{table}");
    assert!(!table.contains("ioengine"), "a synchronous engine is as it is: {table}");
    let advise = [&["advise"][..], &short].concat();
    demand_one_line(&place.run(&advise), &["as in --want '/: latency_p99_ms=20'"]);
    let share = place.run(&[&advise[..], &["--want", "/: share=50"]].concat());
    demand_one_line(&share, &["group `/` is the only one"]);
}

#[test]
fn numbers_are_told_what_is_allowed() {
    let run = |more: &[&str]| fairdisk(&[&["run", "two-groups"], more].concat());
    demand_one_line(&run(&["--set", "host.hz="]), &["`hz` is the text \"\"; allowed: ", "1000"]);
    let round = ["--scheduler", "fair", "--set", "scheduler.fair.round_ms=-4"];
    demand_one_line(&run(&round), &["`round_ms` is -4; allowed: 1 to 1000000"]);
    let place = Place::new();
    place.write("mine.toml", two_groups().replacen("count = 4", "count = -8", 1));
    demand_one_line(&place.run(&["run", "mine.toml"]), &["`count` is -8; allowed: 1 to 100000"]);
}

#[test]
fn the_option_that_moves_a_volume_beyond_the_disk_is_named() {
    let ended = fairdisk(&["run", "two-groups", "--set", "volume.start_gib=99999"]);
    demand_one_line(&ended, &["error: --set volume.start_gib=99999: the load needs"]);
}

#[test]
fn where_the_kernel_makes_up_the_files_no_disk_is_measured() {
    let ended = fairdisk(&["calibrate", "/proc", "--size", "64M"]);
    let message = "error: /proc: no files can be made there; name a path on a disk";
    assert!(ended.err.contains(message), "{ended:?}");
}
