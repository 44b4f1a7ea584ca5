//! Tasks that refer to other tasks of their row: one after another, on the same files.

use super::{assert_refused, files, outcome, table};

const WRITERS: &str = "{ group = \"a\", name = \"writers\", count = 3, op = \"write\", \
                       direct = false, order = \"sequential\", block_kib = 64, bytes_mib = 4 }";

fn then(keys: &str) -> String {
    let reader = "group = \"b\", name = \"readers\", order = \"sequential\", block_kib = 64";
    format!("{WRITERS}, {{ {reader}, count = 3, bytes_mib = 4, {keys} }}")
}

#[test]
fn readers_come_after_all_writers() {
    let seconds = |keys: &str| {
        let row = outcome(&table("until = \"done\"\nseeds = 1", &then(keys), "")).rows.remove(0);
        assert!(row.tasks.iter().all(|tasks| tasks.finished), "{row:?}");
        ([0, 1].map(|at: usize| row.tasks[at].seconds.mean), row.duration_s)
    };
    let ([writers, readers], all) = seconds("after = \"writers\"");
    let sum = writers + readers;
    assert!((0.95 * sum..=1.05 * sum + 0.1).contains(&all), "{writers} + {readers}, {all}");
    let ([_, beside], _) = seconds("direct = true");
    assert!(readers < 0.9 * beside, "{readers} s alone, {beside} s beside the writers");
}

#[test]
fn each_reader_has_the_file_of_its_writer() {
    for seed in 0..20 {
        let used = files(&then("files_of = \"writers\""), seed);
        assert_eq!(used[..3], used[3..], "seed {seed}");
        assert!(used[0] != used[1] && used[1] != used[2], "seed {seed}: {used:?}");
    }
    let more = then("files_of = \"writers\"").replace("\"b\", name", "\"b\", depth = 1, name");
    let used = files(&more.replace("64, count = 3, bytes", "64, count = 5, bytes"), 1);
    assert_eq!(used[..2], used[6..], "more readers begin again with the first: {used:?}");
}

#[test]
fn what_was_written_is_still_in_memory_if_the_reader_keeps_it() {
    let reads = |keys: &str| {
        let keys = format!("after = \"writers\", files_of = \"writers\", direct = false{keys}");
        let row = outcome(&table("until = \"done\"\nseeds = 1", &then(&keys), "")).rows.remove(0);
        row.submitted
    };
    let (dropped, kept) = (reads(""), reads(", keeps_cache = true"));
    assert!(kept + 50 < dropped, "{kept} requests, {dropped} with the memory dropped first");
}

#[test]
fn references_that_lead_nowhere_are_refused() {
    let first = "name = \"one\", ios = 9";
    for (first, second, why) in [
        (first, "after = \"two\"", "unknown named task above this one `two` (known: one)"),
        (first, "name = \"me\", after = \"me\"", "`me` is no task above this one"),
        (first, "after = \"one\", start_s = 1", "exclude each other"),
        ("name = \"one\"", "after = \"one\"", "`one` never ends; give it `bytes_mib` or `ios`"),
        (first, "files_of = \"one\", file = 2", "drop `file` and `new`"),
        (first, "files_of = \"none\"", "unknown named task above this one `none`"),
        (first, "files_of = \"one\", volume = \"more\"", "on volume `data`, not on `more`"),
    ] {
        let tasks = format!("{{ group = \"a\", {first} }}, {{ group = \"b\", {second} }}");
        let more = "[[volume]]\nname = \"more\"\nkind = \"raw\"\nstart_gib = 9\nsize_gib = 1";
        assert_refused(&table("duration_s = 4", &tasks, more), why);
    }
    let tasks = "{ group = \"a\", name = \"one\", ios = 9 }, { group = \"b\", after = \"one\" }";
    let why = "the run ends with the first task that is done";
    assert_refused(&table("until = \"first\"", tasks, ""), why);
}
