//! Tasks that leave holes, that read interleaved blocks, and that share one position.

use super::{assert_refused, loaded, outcome, plan, table};
use fairdisk_lab::outcome::RowOutcome;

const IN_ORDER: &str = "group = \"a\", order = \"sequential\", block_kib = 64";

fn until_done(tasks: &str) -> RowOutcome {
    outcome(&table("until = \"done\"\nseeds = 1", tasks, "")).rows.remove(0)
}

#[test]
fn a_hole_is_left_out_after_each_io() {
    // A pass over 64 MiB has 256 I/Os of 64 KiB, with a hole of 192 KiB after each.
    let once = "bytes_mib = 16, size_mib = 64, direct = false, keeps_cache = true";
    let half = until_done(&format!("{{ {IN_ORDER}, hole_kib = 192, {once} }}"));
    let twice =
        until_done(&format!("{{ {IN_ORDER}, hole_kib = 192, {} }}", once.replace("= 16", "= 32")));
    assert_eq!((half.total_ios.mean, twice.total_ios.mean), (256.0, 512.0));
    assert_eq!(half.submitted, twice.submitted, "the second pass reads the same, from memory");
}

#[test]
fn interleaved_tasks_read_all_of_the_file_between_them() {
    let four = format!("{{ {IN_ORDER}, count = 4, stream = \"interleaved\", bytes_mib = 16 }}");
    let text = table("until = \"done\"\nseeds = 1", &four, "");
    let tasks = loaded(&text, 1).tasks;
    let places: Vec<_> = tasks.iter().map(|task| (task.files[0], task.stream.offset)).collect();
    let file = tasks[0].files[0];
    assert_eq!(places, [0, 1, 2, 3].map(|at| (file, at * (64 << 10))));
    // The last task reads the file again from memory, where the four others have read all of it.
    let cached = "direct = false, keeps_cache = true";
    let beside = |after: &str| {
        let four = four.replace("bytes", &format!("file = 0, name = \"four\", {cached}, bytes"));
        until_done(&format!("{four}{after}"))
    };
    let again = format!(
        ", {{ {IN_ORDER}, name = \"again\", after = \"four\", files_of = \"four\", \
         {cached}, bytes_mib = 64 }}"
    );
    let (alone, both) = (beside(""), beside(&again));
    assert_eq!((alone.total_bytes, both.total_bytes), (f64::from(64 << 20), f64::from(128 << 20)));
    assert_eq!(alone.submitted, both.submitted, "nothing is left to be read");
}

#[test]
fn tasks_that_share_a_stream_read_each_block_once() {
    let shared = |count: u32| {
        let cached = "direct = false, keeps_cache = true";
        let tasks = format!("count = {count}, stream = \"shared\", {cached}, bytes_mib = 64");
        until_done(&format!("{{ {IN_ORDER}, name = \"all\", {tasks} }}"))
    };
    let (one, four) = (shared(1), shared(4));
    assert_eq!([one.total_ios.mean, four.total_ios.mean], [1024.0; 2]);
    assert_eq!(one.total_bytes, four.total_bytes, "`bytes_mib` is of all of them");
    assert!(four.tasks[0].finished);
    // One open file has one read-ahead state, whichever task reads.
    assert!(four.submitted < one.submitted * 5 / 4, "{} and {}", one.submitted, four.submitted);
    let loaded = loaded(
        &table("duration_s = 1", &format!("{{ {IN_ORDER}, count = 4, stream = \"shared\" }}"), ""),
        1,
    );
    assert!(loaded.tasks.iter().all(|task| task.files == loaded.tasks[0].files));
}

/// The rate of interleaved readers in MB/s, in a row with these changes.
fn rate(scheduler: &str, tasks: &str, set: &str) -> f64 {
    let text = table("duration_s = 10\nramp_s = 2\nseeds = 2", tasks, set);
    let text = text.replace("file_mib = 64", "file_mib = 4096\ncached = true");
    let row = outcome(&text.replace("\"noop\"", &format!("\"{scheduler}\""))).rows.remove(0);
    row.total_bytes / 1e6 / row.duration_s
}

#[test]
fn cooperating_queues_make_interleaved_readers_fast() {
    let off = "set = [\"switches.coop_merge=false\", \"switches.coop_flag_shared=false\", \
               \"switches.coop_split=false\"]";
    for count in [2, 4] {
        let tasks = format!("{{ {IN_ORDER}, count = {count}, stream = \"interleaved\" }}");
        let [with, without] = ["", off].map(|set| rate("cfq-2.6.33", &tasks, set));
        assert!(with > 1.4 * without, "{count} readers: {with} MB/s, {without} without");
    }
}

#[test]
fn what_streams_cannot_be_is_refused() {
    for (keys, why) in [
        ("hole_kib = 64", "`hole_kib` is about what follows each other; add `order"),
        ("stream = \"shared\"", "`stream` is about what follows each other; add `order"),
        ("order = \"sequential\", stream = \"striped\"", "unknown value `striped`"),
        ("order = \"sequential\", hole_kib = 65536", "allowed: 0 to 65532, which leaves room"),
        (
            "order = \"sequential\", block_kib = 8192, stream = \"interleaved\", count = 9",
            "9 interleaved tasks, but what they use has room for 8 I/Os",
        ),
    ] {
        let refused = assert_refused(
            &table("duration_s = 4", &format!("{{ group = \"a\", {keys} }}"), ""),
            why,
        );
        assert!(refused.contains("mine.toml:19: "), "{keys}: {refused}");
    }
    let text = table("duration_s = 4", "{ group = \"a\" }", "");
    let whole = text.replace("[defaults]", "[defaults]\nstream = \"shared\"");
    assert_refused(&whole, "no task is sequential; drop `stream`");
    let mixed = "{ group = \"a\", count = 2 }, { group = \"b\", order = \"sequential\" }";
    let text = table("duration_s = 4", mixed, "");
    plan(&text.replace("[defaults]", "[defaults]\nstream = \"shared\""));
}
