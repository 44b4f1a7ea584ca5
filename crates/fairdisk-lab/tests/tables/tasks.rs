//! What the tasks of a row do: when they start and end, how fast they go, where, and how durably.

use super::{assert_refused, loaded, outcome, plan, table};
use fairdisk_core::Span;
use fairdisk_lab::outcome::RowOutcome;
use fairdisk_lab::plan::Options;

/// A run of four seconds with these tasks.
fn four_seconds(tasks: &str) -> RowOutcome {
    outcome(&table("duration_s = 4\nseeds = 1", tasks, "")).rows.remove(0)
}

/// A run with these tasks until they are done.
fn until_done(tasks: &str) -> RowOutcome {
    outcome(&table("until = \"done\"\nseeds = 1", tasks, "")).rows.remove(0)
}

#[test]
fn a_task_may_begin_after_the_others() {
    let late =
        "{ group = \"a\", name = \"early\" }, { group = \"b\", name = \"late\", start_s = 3 }";
    let row = four_seconds(late);
    let seconds = |at: usize| row.tasks[at].seconds.mean;
    // Every task starts within 50 ms after its time.
    assert!((3.95..=4.0).contains(&seconds(0)) && (0.95..=1.0).contains(&seconds(1)), "{row:?}");
    assert!(row.tasks[1].ios > 0.0);
}

#[test]
fn a_task_keeps_to_its_rate() {
    let ios = |more: &str| four_seconds(&format!("{{ group = \"a\"{more} }}")).total_ios.mean;
    // The first I/O goes at once.
    assert!((80.0..=81.0).contains(&ios(", rate_iops = 20")), "{}", ios(", rate_iops = 20"));
    assert!((80.0..=81.0).contains(&ios(", rate_kib_per_s = 80")), "20 blocks a second");
    assert!(ios("") > 200.0);
    let mixed =
        four_seconds("{ group = \"a\", rate_iops = 40, op = \"mixed\", read_percent = 25 }");
    let reads = mixed.groups[0].read_share.expect("it has I/Os");
    assert!((150.0..=162.0).contains(&mixed.total_ios.mean), "{mixed:?}");
    assert!((0.2..=0.3).contains(&reads), "{reads}");
}

#[test]
fn a_task_ends_after_so_many_ios() {
    let row = until_done("{ group = \"a\", name = \"reader\", ios = 30 }");
    assert_eq!((row.tasks[0].ios, row.tasks[0].finished), (30.0, true));
}

#[test]
fn a_task_uses_the_part_of_its_file_that_is_named() {
    let tasks = "{ group = \"a\", offset_mib = 8, size_mib = 16 }, { group = \"b\" }";
    let part = loaded(&table("duration_s = 4", tasks, ""), 1);
    let streams = [0, 1].map(|at| (part.tasks[at].stream.offset, part.tasks[at].stream.bytes));
    assert_eq!(streams, [(8 << 20, 16 << 20), (0, 64 << 20)]);
    // When the file has been read, it is read again from memory.
    let again = "order = \"sequential\", direct = false, keeps_cache = true, block_kib = 1024";
    let row = until_done(&format!("{{ group = \"a\", size_mib = 4, bytes_mib = 40, {again} }}"));
    let whole = until_done(&format!("{{ group = \"a\", bytes_mib = 40, {again} }}"));
    assert!(row.submitted * 2 < whole.submitted, "{} and {}", row.submitted, whole.submitted);
}

#[test]
fn durable_writes_wait_for_the_disk() {
    let ios = |more: &str| {
        let task = format!("{{ group = \"a\", op = \"write\", direct = false{more} }}");
        four_seconds(&task).total_ios.mean
    };
    let (behind, synced, each) = (ios(""), ios(", sync = true"), ios(", fsync_every = 1"));
    let tenth = ios(", fsync_every = 10");
    assert!(behind > 2.0 * synced && behind > 2.0 * each, "{behind}, {synced}, {each}");
    assert!(tenth > 1.3 * each, "{tenth}, {each}");
}

/// On a volume of this kind, the number of writes made durable by `key`, one by one, and the number
/// of requests beyond the write and the flush of each.
fn durable(kind: &str, key: &str, more: &str) -> (f64, f64) {
    let tasks = "group = \"a\", op = \"write\", order = \"sequential\", direct = false";
    let tasks = format!("{{ {tasks}, {key} = 1{more} }}");
    let text = table("duration_s = 4\nseeds = 1", &tasks, "");
    let text = text.replace("\"ext2\"", &format!("\"{kind}\"\ncached = true"));
    let row = outcome(&text).rows.remove(0);
    (row.total_ios.mean, row.submitted as f64 - 2.0 * row.total_ios.mean)
}

#[test]
fn fdatasync_commits_only_what_grew() {
    let both = |kind, more| ["fsync_every", "fdatasync_every"].map(|key| durable(kind, key, more));
    for more in ["", ", new = true"] {
        let [all, data] = both("ext2", more);
        assert!(all == data && data.1.abs() <= 1.0, "no journal: {all:?} {data:?}");
    }
    // An overwrite changes the times of the file once per second: the log and the commit record.
    let [all, data] = both("ext3", "");
    assert!((8.0..=11.0).contains(&all.1) && data.1.abs() <= 1.0, "{all:?} {data:?}");
    // A growing file needs a commit every time.
    for (writes, beyond) in both("ext3", ", new = true") {
        assert!((beyond / writes - 2.0).abs() < 0.1, "{beyond} of {writes}");
        assert!(writes < 0.85 * data.0, "and takes its time: {writes}");
    }
}

#[test]
fn an_fsync_at_the_end_is_part_of_the_time() {
    let seconds = |more: &str| {
        let dd = "op = \"write\", direct = false, order = \"sequential\", block_kib = 1024";
        let task = format!("{{ group = \"a\", name = \"dd\", {dd}, bytes_mib = 32{more} }}");
        until_done(&task).tasks[0].seconds.mean
    };
    let (cached, durable) = (seconds(""), seconds(", end_fsync = true"));
    assert!(durable > 1.05 * cached, "{cached} s into memory, {durable} s to the disk");
}

#[test]
fn nobody_waits_for_a_task_in_the_background() {
    let copy = "{ group = \"a\", name = \"copy\", bytes_mib = 16, order = \"sequential\", \
                block_kib = 64 }";
    let beside = format!("{copy}, {{ group = \"b\", name = \"other\", background = true }}");
    let (alone, row) = (until_done(copy), until_done(&beside));
    let [copied, other] = &row.tasks[..] else { panic!("{row:?}") };
    assert!(copied.finished && copied.seconds.mean > 2.0 * alone.tasks[0].seconds.mean);
    assert!(row.duration_s < copied.seconds.mean + 0.2, "it ends with the copy: {row:?}");
    assert!(other.ios > 10.0 && !other.has_end, "{other:?}");
    assert_eq!(row.in_flight, 0, "and what it has begun is finished");
}

#[test]
fn a_run_may_end_with_the_first_task_that_does() {
    let tasks = "{ group = \"a\", name = \"short\", ios = 50 }, \
                 { group = \"b\", name = \"long\", ios = 5000 }, { group = \"b\", name = \"endless\" }";
    let text = table("until = \"first\"\nseeds = 1", tasks, "");
    let row = outcome(&text).rows.remove(0);
    let [short, long, endless] = &row.tasks[..] else { panic!("{row:?}") };
    assert!(short.finished && !long.finished && !endless.finished, "{row:?}");
    assert!(row.duration_s < short.seconds.mean + 0.2, "{row:?}");
    assert!(long.ios > 25.0 && long.ios < 5000.0 && endless.ios > 25.0, "{row:?}");
    assert_eq!(row.in_flight, 0);
    assert_refused(
        &text.replace("ios = 50 ", "depth = 1 ").replace("ios = 5000 ", "depth = 1 "),
        "some task needs `bytes_mib` or `ios`",
    );
}

#[test]
fn a_rate_of_its_own_replaces_that_of_the_defaults() {
    let text = table("duration_s = 4\nseeds = 1", "{ group = \"a\", rate_iops = 20 }", "");
    let row = outcome(&text.replace("[defaults]", "[defaults]\nrate_kib_per_s = 4")).rows.remove(0);
    assert!((80.0..=81.0).contains(&row.total_ios.mean), "{row:?}");
}

#[test]
fn mappings_are_not_synchronised_by_what_is_about_write() {
    let both = "{ group = \"a\", op = \"write\", direct = false, mapped = true }, \
                { group = \"b\", op = \"write\", direct = false }";
    let text = table("duration_s = 4", both, "");
    let text = text.replace("[defaults]", "[defaults]\nsync = true\nfsync_every = 1");
    let tasks = loaded(&text, 1).tasks;
    assert_eq!([0, 1].map(|at: usize| tasks[at].write_through), [false, true]);
    assert_eq!([0, 1].map(|at: usize| tasks[at].stream.flush.fsync.is_some()), [false, true]);
}

#[test]
fn a_shortened_run_is_one_in_which_all_begin() {
    let text = table("duration_s = 4", "{ group = \"a\", start_s = 3 }, { group = \"b\" }", "");
    let options = |seconds| Options { duration: Some(Span::from_s(seconds)), ..Options::default() };
    let refused = super::read(&text, &options(2)).expect_err("it ends before");
    assert!(refused.contains("--duration 2s: a task begins only at 3 s"), "{refused}");
    super::read(&text, &options(5)).expect("long enough");
}

#[test]
fn what_tasks_cannot_do_is_refused() {
    let until = "until = \"done\"";
    let timed = "duration_s = 4";
    for (whole, keys, why) in [
        (timed, "start_s = 3.96", "`start_s` is 3.96; allowed: 0 to less than 3.95"),
        (until, "start_s = 90000, ios = 1", "allowed: 0 to less than 86399.95"),
        (timed, "rate_iops = 5, rate_kib_per_s = 5", "exclude each other"),
        (timed, "rate_iops = 0", "`rate_iops` is 0; allowed: 1 to 1000000000"),
        (timed, "sync = true", "`sync` is about what `write` writes"),
        (timed, "fdatasync_every = 2", "`fdatasync_every` is about what `write` writes"),
        (timed, "fsync_every = 2, op = \"write\", mapped = true", "without `mapped`"),
        (timed, "end_fsync = true, ios = 1", "`end_fsync` is about what `write` writes"),
        (timed, "end_fsync = true, op = \"write\"", "`end_fsync` is about the end of tasks"),
        (timed, "size_mib = 65", "1 to 64, from a `block_kib` to the size of a file"),
        (timed, "offset_mib = 64", "0 to 63, for what is used ends within"),
        (timed, "offset_mib = 60, size_mib = 5", "0 to 59, for what is used ends within"),
        (until, "background = true", "all tasks run in the background"),
        (timed, "background = true", "about runs that last `until"),
        (until, "order = \"random\"", "needs `bytes_mib` or `ios`"),
        (until, "background = true, ios = 3 }, { group = \"b\", ios = 3", "drop `background`"),
    ] {
        assert_refused(&table(whole, &format!("{{ group = \"a\", {keys} }}"), ""), why);
    }
    let sync = |op: &str| {
        let task = format!("{{ group = \"a\", op = \"{op}\" }}");
        table(timed, &task, "").replace("[defaults]", "[defaults]\nsync = true")
    };
    assert_refused(&sync("read"), "no task writes with a system call; drop `sync`");
    plan(&sync("write"));
}
