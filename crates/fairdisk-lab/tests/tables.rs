//! Published tables written as experiments of one's own: what a row's tasks do and what is compared
//! with the figures.

use fairdisk_core::Prng;
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::run_once;
use std::collections::BTreeSet;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The experiment `mine` with this text behind its `id` and `title`, or why it is none.
fn read(text: &str) -> Result<Plan, String> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("fairdisk-tables-{}-{number}", std::process::id());
    let place = std::env::temp_dir().join(name);
    DirBuilder::new().mode(0o700).create(&place).expect("a folder can be made");
    let path = place.join("mine.toml");
    let text = format!("id = \"mine\"\ntitle = \"A table\"\n{text}");
    std::fs::write(&path, text).expect("a file can be written");
    let plan = Plan::experiment(&path.to_string_lossy(), &Options::default());
    std::fs::remove_dir_all(&place).expect("it is ours");
    plan.map_err(|error| error.to_string())
}

fn plan(text: &str) -> Plan {
    read(text).unwrap_or_else(|error| panic!("{error}"))
}

/// Why the text is no experiment.
fn refusal(text: &str) -> String {
    read(text).expect_err("it is refused")
}

/// On an ordinary disk with four files: a line on the whole experiment, the tasks of the one row,
/// and what follows.
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

/// The files of the row's tasks, one after the other.
fn files(tasks: &str, seed: u64) -> Vec<u32> {
    let plan = plan(&table("duration_s = 1", tasks, ""));
    let loaded = plan.rows[0].load.build(&plan.host, false, &mut Prng::new(seed));
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
    let refused = refusal(&text("duration_s = 20\nramp_s = 1"));
    assert!(refused.contains("`seconds` are counted from a task's beginning"), "{refused}");
    assert!(refused.contains("drop `ramp_s`, or give `mb_per_s`"), "{refused}");
    plan(&text("duration_s = 20"));
}
