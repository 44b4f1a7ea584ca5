//! Published tables written as experiments: what the tasks of a row do, and what is compared with
//! the published figures.

mod directions;
mod estimates;
mod events;
mod figures;
mod links;
mod regimes;
mod rigs;
mod rows;
mod streams;
mod tasks;

use fairdisk_core::Prng;
use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::outcome::{Outcome, Score, Shell, Style, to_table};
use fairdisk_lab::plan::{Loaded, Options, Plan};
use fairdisk_lab::run::{Silent, run_once, run_plan};
use std::collections::BTreeSet;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Parses the experiment `mine` with this text after its `id` and `title`.
fn read(text: &str, options: &Options) -> Result<Plan, String> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("fairdisk-tables-{}-{number}", std::process::id());
    let place = std::env::temp_dir().join(name);
    DirBuilder::new().mode(0o700).create(&place).expect("a folder can be made");
    let path = place.join("mine.toml");
    let text = format!("id = \"mine\"\ntitle = \"A table\"\n{text}");
    std::fs::write(&path, text).expect("a file can be written");
    let plan = Plan::experiment(&path.to_string_lossy(), options);
    std::fs::remove_dir_all(&place).expect("it is ours");
    plan.map_err(|error| error.to_string())
}

/// Options with a change given by `--set`.
fn set(change: &str) -> Options {
    let change = Override::parse(change).expect("a change");
    Options { overrides: vec![change], ..Options::default() }
}

fn plan(text: &str) -> Plan {
    read(text, &Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// The row laid out on the disk with this seed.
fn loaded(text: &str, seed: u64) -> Loaded {
    let plan = plan(text);
    plan.rows[0].load.build(&plan.rig.host, false, &mut Prng::new(seed))
}

/// Checks that the text is refused as an experiment for reason `why`, among others, and returns the
/// message.
fn assert_refused(text: &str, why: &str) -> String {
    let words = read(text, &Options::default()).expect_err(why);
    assert!(words.contains(why), "`{why}` is not in: {words}");
    words
}

/// An experiment on an ordinary disk with four files: a line on the whole experiment, the tasks of
/// its only row, and further text.
fn table(whole: &str, tasks: &str, more: &str) -> String {
    format!(
        "device = \"hdd-7200-2007\"
host = \"plain\"
{whole}
[[volume]]
name = \"data\"
kind = \"ext2\"
files = 4
file_mib = 64
[defaults]
volume = \"data\"
[[group]]
name = \"a\"
[[group]]
name = \"b\"
[[row]]
label = \"row\"
tasks = [{tasks}]
[[arm]]
name = \"flat\"
scheduler = \"noop\"
{more}"
    )
}

/// The files of the row's tasks, one after another.
fn files(tasks: &str, seed: u64) -> Vec<u32> {
    let loaded = loaded(&table("duration_s = 1", tasks, ""), seed);
    loaded.tasks.iter().flat_map(|task| task.files.clone()).collect()
}

// ---- which file a task has -------------------------------------------------------------------

#[test]
fn more_tasks_than_files_use_all_of_them() {
    let files = files("{ group = \"a\", count = 44 }", 1);
    let first: BTreeSet<u32> = files[..4].iter().copied().collect();
    assert_eq!(first.len(), 4, "each its own while there are some: {files:?}");
    let more: BTreeSet<u32> = files[4..].iter().copied().collect();
    assert_eq!(more.len(), 4, "then any: {files:?}");
}

#[test]
fn a_file_that_a_task_names_is_no_others_own() {
    for seed in 0..8 {
        let files = files("{ group = \"a\", count = 3 }, { group = \"b\", file = 2 }", seed);
        let apart: BTreeSet<u32> = files.iter().copied().collect();
        assert_eq!((apart.len(), files[3]), (4, 2), "{files:?}");
    }
}

// ---- a ramp ----------------------------------------------------------------------------------

const SHORT_AND_LONG: &str = "{ group = \"a\", file = 0, name = \"short\", bytes_mib = 1 }, \
     { group = \"b\", file = 1, name = \"long\" }";

#[test]
fn a_named_task_that_is_done_within_the_ramp_has_no_rate() {
    let plan = plan(&table("duration_s = 20\nramp_s = 10", SHORT_AND_LONG, ""));
    let run = run_once(&plan, &plan.arms[0], &plan.rows[0], 0, &AtomicBool::new(false));
    let refused = run.expect_err("nothing of it is measured").to_string();
    let expected = "row `row`: all tasks of `short` were done within the 10 s of `ramp_s`";
    assert!(refused.contains(expected), "{refused}");
}

#[test]
fn seconds_are_not_published_of_a_task_whose_beginning_is_left_out() {
    let published = "[[published]]\narm = \"flat\"\nrow = \"row\"\nseconds = [3, 4]";
    let text = |whole: &str| table(whole, SHORT_AND_LONG, published);
    let refused = assert_refused(
        &text("duration_s = 20\nramp_s = 1"),
        "`seconds` are counted from a task's beginning",
    );
    assert!(refused.contains("drop `ramp_s`, or give `mb_per_s`"), "{refused}");
    plan(&text("duration_s = 20"));
}

// ---- figures of groups -----------------------------------------------------------------------

const BOTH: &str = "{ group = \"a\", count = 2 }, { group = \"b\", count = 2 }";

/// The row of `table` with these figures published.
fn published(tasks: &str, figures: &str) -> String {
    let more = format!("[[published]]\narm = \"flat\"\nrow = \"row\"\n{figures}");
    table("duration_s = 2\nseeds = 1", tasks, &more)
}

fn outcome(text: &str) -> Outcome {
    outcome_of(&plan(text))
}

fn outcome_of(plan: &Plan) -> Outcome {
    let ensembles = run_plan(plan, &Silent, &AtomicBool::new(false)).expect("it fits");
    Outcome::new(plan, Shell::Lab, &ensembles)
}

#[test]
fn counts_of_all_groups_are_a_total() {
    let one = outcome(&published(BOTH, "ios = [7000, 5400]"));
    assert_eq!(one.rows[0].published_total, Some(12400.0));
    let score = Score::of(&one).expect("something is published");
    assert!(score.total_error_mean.is_some_and(|error| error > 0.5), "{score:?}");
    plan(&published(BOTH, "total = 12401\nios = [7000, 5400]"));
    assert_refused(
        &published(BOTH, "total = 700\nios = [70000, 54000]"),
        "`total` is 700, but `ios` come to 124000",
    );
}

#[test]
fn a_share_that_could_be_no_other_is_no_cell_of_the_score() {
    let one = outcome(&published("{ group = \"a\", count = 2 }", "ios = [500, 0]"));
    let score = Score::of(&one).expect("a total is published");
    assert_eq!((score.cells, score.total_error_mean.is_some()), (0, true));
    let both = outcome(&published(BOTH, "ios = [500, 400]"));
    assert_eq!(Score::of(&both).expect("shares are published").cells, 2);
}

#[test]
fn the_figure_of_a_group_includes_those_of_the_groups_in_it() {
    let inner = "{ group = \"b\", count = 2 }, { group = \"c\", count = 2 }";
    let text = |figures: &str| {
        let third = "[[group]]\nname = \"c\"\nparent = \"a\"\n[[row]]";
        published(inner, figures).replace("[[row]]", third)
    };
    let one = outcome(&text("ios = [600, 400, 600]"));
    let row = &one.rows[0];
    assert_eq!(row.published_total, Some(1000.0));
    let [outer, _, inner] = &row.groups[..] else { panic!("three groups: {row:?}") };
    let figures = outer.published.as_ref().expect("it is published");
    assert_eq!((figures.share, outer.ios.mean), (Some(0.6), 0.0));
    assert!(inner.share.mean > 0.1 && figures.ours == inner.share, "{figures:?}");
    assert_eq!(Score::of(&one).expect("shares are published").cells, 3);
    let table = to_table(&one, Style::default());
    let line = table.lines().find(|line| line.trim_start().starts_with("a ")).expect("its line");
    assert!(line.contains(&format!(" {:.1} ", inner.share.mean * 100.0)), "{table}");
    assert_refused(
        &text("percent = [10, 40, 60]"),
        "`percent` of group `a` is 10, of the groups in it 60",
    );
}

// ---- what no arm uses ------------------------------------------------------------------------

#[test]
fn levels_that_no_arm_uses_are_refused() {
    let levels = "{ group = \"a\", ionice_class = \"idle\" }, { group = \"b\", ionice = 7 }";
    let text = table("duration_s = 1", levels, "");
    let refused = assert_refused(&text, "no arm has `ionice = true`");
    assert!(refused.contains("mine.toml:19: "), "its line: {refused}");
    plan(&text.replace("scheduler =", "ionice = true\nscheduler ="));
    let group = table("duration_s = 1", BOTH, "").replace("\"b\"\n", "\"b\"\nionice = 3\n");
    assert_refused(&group, "mine.toml:17: ");
}

#[test]
fn priorities_of_an_arm_do_not_replace_weights() {
    let text = |key: &str| {
        let group = format!("name = \"b\"\n{key}\n");
        table("duration_s = 1", BOTH, "priorities = [7, 0]").replace("name = \"b\"\n", &group)
    };
    assert_refused(&text("weight = 100"), "group `b` of row `row` has a `weight`");
    plan(&text("priority = 3"));
}

#[test]
fn a_weight_that_the_scheduler_cuts_off_is_noted() {
    let text = |key: &str| {
        let group = format!("name = \"b\"\n{key}\n");
        let text = table("duration_s = 1\nseeds = 1", BOTH, "");
        text.replace("name = \"b\"\n", &group).replace("\"noop\"", "\"cfq-2.6.33\"")
    };
    let notes = |key: &str| outcome(&text(key)).caveats;
    let cut = "cfq-2.6.33 has weights from 20 to 200: 1000 of group `b` counts as 200.";
    let is_noted = |key: &str| notes(key).iter().any(|note| note == cut);
    assert!(is_noted("weight = 1000") && !is_noted("blkio_weight = 1000"));
    let share = |key: &str| loaded(&text(key), 1).groups[1].spec.share;
    assert_eq!(share("blkio_weight = 1000"), share("weight = 200"));
    assert_refused(
        &text("blkio_weight = 1000\nweight = 200"),
        "group `b` has a `weight` or `priority` too",
    );
    let small = "`blkio_weight` is 50; allowed: 100 to 1000, in steps of 5";
    assert_refused(&text("blkio_weight = 50"), small);
    assert_refused(&text("weight = 1e2"), "`weight`: expected a whole number, written without");
}

// ---- files and the page cache ----------------------------------------------------------------

/// Requests that reached the disk in a run of the row.
fn requests(tasks: &str) -> u64 {
    let plan = plan(&table("until = \"done\"", tasks, ""));
    let run = run_once(&plan, &plan.arms[0], &plan.rows[0], 0, &AtomicBool::new(false));
    run.unwrap_or_else(|error| panic!("{error}")).submitted
}

const DD: &str = "group = \"a\", order = \"sequential\", block_kib = 1024, bytes_mib";

#[test]
fn a_second_pass_finds_what_the_first_read_if_nothing_drops_it() {
    let dd = |more: &str| requests(&format!("{{ {DD} = {more}, direct = false }}"));
    let (once, twice) = (dd("64"), dd("128, size_mib = 64"));
    assert!(twice > once * 3 / 2, "as by fio: {once}, then {twice}");
    assert_eq!(dd("128, size_mib = 64, keeps_cache = true"), once);
    let direct = table("duration_s = 1", "{ group = \"a\", keeps_cache = true }", "");
    assert_refused(&direct, "`keeps_cache` is about the page cache");
}

#[test]
fn a_new_file_has_no_blocks_to_be_read_first() {
    let dd = |more: &str| requests(&format!("{{ {DD} = 64, op = \"write\"{more} }}"));
    // 64 MiB are 16384 blocks: 16 indirect blocks, and the block that points to them.
    assert_eq!(dd("") - dd(", new = true"), 17);
    let reader = table("duration_s = 1", "{ group = \"a\", new = true }", "");
    assert_refused(&reader, "a new file has nothing to read or map yet");
}

#[test]
fn rates_have_the_unit_of_the_source() {
    let tasks = "{ group = \"a\", name = \"one\" }, { group = \"b\", name = \"other\" }";
    let text = |figures: &str| published(tasks, figures);
    for (key, unit) in [("mb_per_s", 1.0), ("mib_per_s", 1.048_576), ("kib_per_s", 0.001_024)] {
        let one = outcome(&text(&format!("{key} = [40, 50]")));
        for (task, rate) in one.rows[0].tasks.iter().zip([40.0, 50.0]) {
            let published = task.published_mb_per_s.expect("it is published");
            assert!((published - rate * unit).abs() < 1e-9, "{key}: {task:?}");
        }
    }
    assert_refused(
        &text("mb_per_s = [40, 50]\nkib_per_s = [40, 50]"),
        "`mb_per_s` and `kib_per_s` exclude each other",
    );
    assert_refused(&text("kib_per_s = [40]"), "`kib_per_s` has 1 figure;");
}
