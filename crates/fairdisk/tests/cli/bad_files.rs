//! Experiments, hosts and schedulers of one's own that cannot be run as they are: exit status 2,
//! with file, line, key, value and what is allowed.

use crate::bad_input::{demand_one_line, demand_refused};
use crate::program::{Place, fairdisk};

const EXPERIMENT: &str = include_str!("../../../../catalog/experiments/two-groups.toml");

/// The experiment under the name `mine`, one piece of its text replaced.
fn mine(from: &str, to: &str) -> String {
    let text = EXPERIMENT.replace("id = \"two-groups\"", "id = \"mine\"");
    assert!(text.contains(from), "no `{from}`");
    text.replacen(from, to, 1)
}

/// The line of the text that has `part`.
fn line_of(text: &str, part: &str) -> usize {
    let at = text.lines().position(|line| line.contains(part));
    at.unwrap_or_else(|| panic!("no `{part}` in {text}")) + 1
}

/// With `to` in place of `from` the experiment is refused at the line that has `at`.
#[track_caller]
fn refused_at(at: &str, from: &str, to: &str, parts: &[&str]) {
    let place = Place::new();
    let text = mine(from, to);
    place.write("mine.toml", &text);
    let line = format!("mine.toml:{}: ", line_of(&text, at));
    demand_refused(&place.run(&["run", "mine.toml"]), &[&[line.as_str()], parts].concat());
}

/// As [`refused_at`] the line that has `to`.
#[track_caller]
fn refused(from: &str, to: &str, parts: &[&str]) {
    refused_at(to, from, to, parts);
}

#[test]
fn what_is_no_experiment() {
    let place = Place::new();
    place.write("empty.toml", "");
    demand_one_line(&place.run(&["run", "empty.toml"]), &["empty.toml:1", "missing key `id`"]);
    place.write("binary.toml", [0xFF, 0xFE, 0, 1]);
    demand_one_line(&place.run(&["run", "binary.toml"]), &["binary.toml"]);
    demand_one_line(&place.run(&["run", "missing.toml"]), &["missing.toml", "cannot be read"]);
    refused_at("kind", "kind = \"raw\"", "kind = ", &[]);
    refused("duration_s", "duration", &["duration_s"]);
    refused(
        "count = 4",
        "count = \"4\"",
        &["`count`: expected a whole number", "not the text \"4\""],
    );
}

#[test]
fn names_of_other_files() {
    refused("hdd-7200-2007", "hdd-7200-2008", &["unknown device", "did you mean"]);
    refused("host = \"plain\"", "host = \"plian\"", &["unknown host `plian`", "`plain`?"]);
    let near = "did you mean `cfq-2.6.25`?";
    refused("\"cfq-2.6.25\"", "\"cfq-2.6.24\"", &["unknown scheduler `cfq-2.6.24`", near]);
    refused("\"cfq-2.6.25\"", "\"my.toml\"", &["my.toml: cannot be read"]);
}

#[test]
fn names_that_disagree() {
    let place = Place::new();
    place.write("other.toml", mine("mine", "mine"));
    let ended = place.run(&["run", "other.toml"]);
    demand_one_line(&ended, &["other.toml:2: `id` is `mine`; allowed: `other`"]);
    refused("{ group = \"backup\", c", "{ group = \"backups\", c", &["did you mean `backup`?"]);
    refused("volume = \"scratch\"", "volume = \"scratches\"", &["unknown volume `scratches`"]);
}

#[test]
fn names_given_twice() {
    let group = "\n[[group]]\nname = \"backup\" # again\n\n[[row]]\n";
    refused_at("# again", "\n[[row]]\n", group, &["another group `backup`"]);
    let row = "\n[[row]]\nlabel = \"readers\" # again\ntasks = []\n\n[[arm]]\n";
    refused_at("# again", "\n[[arm]]\n", row, &["another row `readers`"]);
    refused_at("\"flat\" # again", "\"two-layer\"", "\"flat\" # again", &["another arm `flat`"]);
}

#[test]
fn names_that_are_no_plain_text() {
    let allowed = "allowed: text without control characters";
    refused("name = \"flat\"", "name = \"\\u001b[31mred\"", &["is \"\\u{1b}[31mred\"", allowed]);
    refused("name = \"database\"", "name = \"a\\u0007b\"", &["`name`", allowed]);
    refused("label = \"readers\"", "label = \"a\\rb\"", &["`label` is \"a\\rb\"", allowed]);
    refused("label = \"readers\"", "label = \" \"", &["`label` is empty"]);
    refused_at("title", "Two groups of", "Two\\tgroups of", &["`title`", allowed]);
    let group = "group = \"a\\u001b\", c";
    refused("group = \"backup\", c", group, &["unknown group `a\\u{1b}`"]);
}

#[test]
fn sizes_that_cannot_be() {
    let allowed = "allowed: 1 to 4194304, the size of a file of volume `scratch`";
    let block = "block_kib = 900000000";
    refused("block_kib = 4", block, &["`block_kib` is 900000000", allowed]);
    refused("block_kib = 4", "block_kib = 0", &["`block_kib` is 0", allowed]);
    refused("count = 4", "count = 4, block_kib = 9000000", &["is 9000000", allowed]);
    let allowed = "allowed: a block of 4 KiB or more";
    refused("size_gib = 4", "size_gib = 1e-7", &["`size_gib` is 0.0000001", allowed]);
    refused("size_gib = 4", "size_gib = nan", &["`size_gib` is NaN", allowed]);
    refused_at("start_gib", "size_gib = 4", "size_gib = 4\nstart_gib = -1", &["`start_gib` is -1"]);
    refused("count = 4", "count = 0", &["`count` is 0", "allowed: 1 to 100000"]);
    refused("count = 4", "count = 4, depth = 0", &["`depth` is 0"]);
    refused("weight = 400", "weight = 10001", &["`weight` is 10001", "allowed: 1 to 10000"]);
    let both = "priority = 1\nweight = 3";
    refused_at("weight = 3", "weight = 400", both, &["exclude each other; drop one"]);
    refused("duration_s = 30", "duration_s = 0", &["`duration_s` is 0", "more than 0"]);
}

/// The scheduler file refused at its line `line`.
#[track_caller]
fn scheduler_refused(text: &str, line: usize, parts: &[&str]) {
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
        &["`slice_ms`: expected a whole number", "not the text \"1\""],
    );
    let (id, family) = ("id = \"turns\"", "\"two-layer-cfq\"\ninherits");
    scheduler_refused(&head.replace(id, "id = \"x\""), 3, &["`id` is `x`; allowed: `turns`"]);
    let other = "\"two-layer\"\ninherits";
    scheduler_refused(&head.replace(family, other), 5, &["unknown family `two-layer`"]);
    let quantum = ["run", "two-groups", "--set", "scheduler.cfq.quantum=0"];
    demand_one_line(&fairdisk(&quantum), &["error: --set scheduler.cfq.quantum=0: `quantum` is 0"]);
}
