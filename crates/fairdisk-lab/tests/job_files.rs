//! fio job files as a workload: what the jobs say is what runs.

use fairdisk_core::{Bio, Instant, Op, Record, Span};
use fairdisk_lab::catalog::error::CatalogError;
use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::jobfile::{Context, JobFile};
use fairdisk_lab::outcome::{Outcome, RowOutcome, Shell, Style, to_html, to_table};
use fairdisk_lab::page::Made;
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::{Silent, run_plan};
use fairdisk_sim::World;
use std::sync::atomic::AtomicBool;

fn run(text: &str) -> RowOutcome {
    let row = run_for(text, None);
    assert_eq!(row.in_flight, 0, "a finished workload leaves nothing behind");
    row
}

/// Runs the jobs for `duration`, or until they are done.
fn run_for(text: &str, duration: Option<Span>) -> RowOutcome {
    let options = Options { seeds: Some(1), duration, ..Options::default() };
    let plan = plan(text, &options).expect("disk and scheduler exist");
    let ensembles = run_plan(&plan, &Silent, &AtomicBool::new(false)).expect("it fits");
    let mut outcome = Outcome::new(&plan, Shell::Lab, &ensembles);
    let row = outcome.rows.remove(0);
    assert_eq!(row.submitted, row.completed + row.in_flight, "requests are conserved");
    row
}

const MIB: f64 = (1u64 << 20) as f64;

#[test]
fn a_size_is_read_once_and_loops_read_it_again() {
    let row = run("[a]\nrw=read\nsize=8m\nbs=64k\ndirect=1\nloops=3\n");
    assert_eq!((row.total_ios.mean, row.total_bytes), (384.0, 24.0 * MIB));
}

#[test]
fn a_random_pass_has_every_block_once() {
    let row = run("[a]\nrw=randread\nsize=4m\nbs=4k\ndirect=1\nioengine=libaio\niodepth=16\n");
    assert_eq!((row.total_ios.mean, row.total_bytes), (1024.0, 4.0 * MIB));
}

#[test]
fn clones_and_io_size_and_number_ios() {
    let text = "[global]\ndirect=1\nbs=4k\nsize=4m\n\
                [clones]\nrw=write\nnumjobs=3\nio_size=1m\n[few]\nrw=randread\nnumber_ios=100\n";
    let row = run(text);
    let ios: Vec<f64> = row.tasks.iter().map(|task| task.ios).collect();
    assert_eq!(ios, [256.0, 256.0, 256.0, 100.0]);
    let names: Vec<&str> = row.tasks.iter().map(|task| task.name.as_str()).collect();
    assert_eq!(names, ["clones#1", "clones#2", "clones#3", "few"]);
}

/// The settings given to `/` apply to jobs without a group, wherever they are given.
#[test]
fn jobs_without_a_group_have_what_another_says_of_the_root_group() {
    let text = "[global]\ndirect=1\nbs=4k\nsize=64m\nrw=randread\nruntime=20\ntime_based\n\
                device=fixed-8ms\nscheduler=fair\n\
                [a]\n[b]\ngroup=/\ngroup_weight=300\n[c]\ngroup=/x\ngroup_weight=100\n";
    let row = run(text);
    let share = row.groups.iter().find(|group| group.name == "/").map(|group| group.share.mean);
    assert!(share.is_some_and(|share| (share - 0.75).abs() < 0.02), "{share:?}");
}

/// Buffered data is written by the flusher, which has no priority of its own.
#[test]
fn the_priority_of_who_wrote_through_the_page_cache_is_not_that_of_the_write_back() {
    let reads = |class: &str| {
        let text = format!(
            "[global]\nbs=4k\nsize=64m\nruntime=20\ntime_based\ndevice=fixed-8ms\n\
             scheduler=cfq-2.6.25\n[w]\nrw=randwrite\nnumjobs=4\n{class}\n\
             [r]\nrw=randread\ndirect=1\n"
        );
        run(&text).tasks.iter().find(|task| task.name == "r").expect("it reads").ios
    };
    let plain = reads("");
    assert!(plain > 500.0, "{plain}");
    for class in ["prioclass=1", "prioclass=3"] {
        assert!((reads(class) / plain - 1.0).abs() < 0.02, "{class}: {}, {plain}", reads(class));
    }
}

/// In one second, far less than a tenth of memory is written; `fsync` at the end leaves nothing.
#[test]
fn what_is_dirty_at_the_end_is_said() {
    let text = "[global]\nbs=64k\nsize=64m\nrate=8m\nruntime=1\ntime_based\n[w]\nrw=write\n";
    let left = |more: &str| {
        let text = format!("{text}{more}");
        let change = Override::parse("host.write_back.limit_percent=20").expect("well formed");
        let options = Options { seeds: Some(1), overrides: vec![change], ..Options::default() };
        let options = Options { duration: Some(Span::from_ms(900)), ..options };
        let plan = plan(&text, &options).expect("disk and scheduler exist");
        let ensembles = run_plan(&plan, &Silent, &AtomicBool::new(false)).expect("it fits");
        let outcome = Outcome::new(&plan, Shell::Lab, &ensembles);
        let row = &outcome.rows[0];
        let said = format!("{:.1} MB were still dirty in memory at the end", row.dirty_bytes / 1e6);
        for text in [to_table(&outcome, Style::default()), to_html(&outcome, &Made::by("run"))] {
            assert_eq!(text.contains(&said), row.dirty_bytes > 0.0, "{text}");
        }
        (row.dirty_bytes, row.total_bytes)
    };
    let (dirty, written) = left("");
    assert_eq!(dirty, written, "nothing of it has left the memory");
    let (synced, _) = left("fsync=1\n");
    assert!(synced <= 65536.0, "{synced}");
}

/// `blkio.weight` is 500 by default, 1000 for the root group, and at least 100.
#[test]
fn the_root_group_of_cfq_has_its_own_weight() {
    let share = |scheduler: &str, root: &str| {
        let text = format!(
            "[global]\ndirect=1\nbs=64k\nsize=64m\nrw=read\nruntime=20\ntime_based\n\
             device=fixed-8ms\nscheduler={scheduler}\n[a]\ngroup=/\n{root}[b]\ngroup=/x\n"
        );
        let row = run(&text);
        let root = row.groups.iter().find(|group| group.name == "/").expect("it is there");
        root.share.mean
    };
    for scheduler in ["cfq-2.6.33-rc1", "cfq-2.6.33", "cfq-2.6.34"] {
        let shares = [share(scheduler, ""), share(scheduler, "group_weight=20\n")];
        let expected = [2.0 / 3.0, 1.0 / 6.0];
        let near = shares.iter().zip(expected).all(|(share, due)| (share - due).abs() < 0.03);
        assert!(near, "{scheduler}: {shares:?}");
    }
}

/// No disk is that fast, so the rate holds nobody back; it must not be taken modulo 2^64.
#[test]
fn a_rate_beyond_all_disks_is_none() {
    let job = "[a]\ndirect=1\nbs=4k\nsize=64m\nrw=randread\nruntime=5\ntime_based\n";
    let plain = run(job).total_ios.mean;
    assert_eq!(run(&format!("{job}rate_iops=4503599627370497\n")).total_ios.mean, plain);
}

/// 1000 bytes from byte 1000 on are in the sectors 1 to 3.
#[test]
fn what_begins_within_a_sector_takes_the_whole_of_it() {
    let text = "[a]\nrw=write\nbs=1000\nsize=1000\noffset=1000\nfilesize=8000\nioengine=psync\n";
    let options = Options { seeds: Some(1), keep_journal: true, ..Options::default() };
    let plan = plan(text, &options).expect("disk and scheduler exist");
    let setup = plan.setup(&plan.arms[0], &plan.rows[0], 0).expect("it fits");
    let mut world = World::new(setup.machine, setup.jbod);
    world.run_until(Instant::ZERO + Span::from_s(1));
    let sectors = world.machine_mut().drain_journal(0).find_map(|entry| match entry.record {
        Record::Submitted(Bio { op: Op::Write, sectors, .. }) => Some(sectors.0),
        _ => None,
    });
    assert_eq!(sectors, Some(3));
}

/// What is said of a job file that cannot be resolved.
fn unresolved(text: &str) -> String {
    let file = JobFile::parse("test.fio", text, &Context::closed());
    file.and_then(|file| file.resolve()).expect_err("it has errors").to_string()
}

#[test]
fn more_jobs_and_files_than_any_disk_has_are_refused() {
    let sections: String = (0..100_001).map(|at| format!("[j{at}]\n")).collect();
    let text = format!("[global]\nrw=read\nsize=4k\n{sections}");
    let error = unresolved(&text);
    assert!(error.contains("up to 100000 jobs; this section is beyond that"), "{error}");
    let names = vec!["f"; 1_000_001].join(":");
    let error = unresolved(&format!("[a]\nrw=read\nsize=8g\nfilename={names}\n"));
    assert!(error.contains("up to 1000000 files; this section is beyond that"), "{error}");
}

#[test]
fn a_stonewall_waits_for_everything_before_it() {
    let text = "[global]\ndirect=1\nbs=4k\nsize=64m\nrw=randread\nruntime=3\ntime_based\n\
                [first]\n[second]\nstonewall\n[third]\nstonewall\nruntime=2\n";
    let row = run(text);
    assert!((7.99..8.2).contains(&row.duration_s), "3 + 3 + 2 s, not {}", row.duration_s);
}

#[test]
fn rates_hold_and_a_ramp_does_not_count() {
    let text = "[a]\ndirect=1\nbs=4k\nsize=64m\nrw=randread\nruntime=10\ntime_based\n\
                ramp_time=5\nrate_iops=20\n";
    let row = run(text);
    assert!((195.0..=205.0).contains(&row.tasks[0].ios), "{}", row.tasks[0].ios);
    assert!((9.9..=10.1).contains(&row.tasks[0].seconds.mean), "{:?}", row.tasks[0].seconds);
}

/// In three seconds of such a job at 100 I/Os per second, fio 3.33 makes 35 I/Os of 1,257,472
/// bytes.
#[test]
fn a_rate_of_requests_is_one_of_bytes_at_the_smallest() {
    let row = run("[a]\ndirect=1\nbsrange=4k-64k\nsize=64m\nrw=randread\nruntime=30\n\
                   time_based\ndevice=fixed-8ms\nscheduler=noop\nrate_iops=100\n");
    let bytes_per_s = row.total_bytes / row.duration_s;
    assert!((bytes_per_s / (100.0 * 4096.0) - 1.0).abs() < 0.01, "{bytes_per_s} bytes/s");
}

#[test]
fn mixes_and_splits_keep_their_parts() {
    let text = "[a]\ndirect=1\nrw=randrw\nrwmixread=70\nbssplit=4k/50:16k/50\nsize=64m\nnorandommap\n\
                runtime=60\ntime_based\n";
    let row = run(text);
    let read = row.groups[0].read_share.expect("it did something");
    assert!((0.66..0.74).contains(&read), "{read}");
    let mean = row.total_bytes / row.total_ios.mean;
    assert!((9_700.0..10_800.0).contains(&mean), "{mean}");
}

#[test]
fn groups_get_what_their_weights_ask_for() {
    let text = "[global]\ndirect=1\nbs=4k\nsize=1g\nrw=randread\nruntime=60\ntime_based\nnumjobs=4\n\
                [light]\ngroup=/light\ngroup_weight=100\n[heavy]\ngroup=/heavy\ngroup_weight=400\n";
    let row = run(text);
    assert_eq!(row.groups.len(), 2);
    let heavy = row.groups[1].disk.time_share * 100.0;
    assert!((heavy - 80.0).abs() < 4.0, "{heavy}");
}

#[test]
fn jobs_share_a_file_by_name() {
    let text = "[global]\ndirect=1\nbs=4k\nsize=1m\nfilename=shared\n[w]\nrw=write\n[r]\nstonewall\nrw=read\n";
    let row = run(text);
    assert_eq!(row.total_ios.mean, 512.0);
}

fn lines(row: &RowOutcome) -> Vec<(&str, f64)> {
    row.tasks.iter().map(|task| (task.name.as_str(), task.ios)).collect()
}

#[test]
fn group_reporting_makes_one_line_of_a_report_group() {
    let text = "[global]\ndirect=1\nbs=4k\nsize=64k\nrw=read\nnumjobs=3\ngroup_reporting\n\
                [a]\n[b]\nnumjobs=1\n[c]\nnew_group\n[d]\nstonewall\n\
                [e]\nnew_group\ngroup_reporting=0\nnumjobs=2\n";
    let row = run(text);
    assert_eq!(
        lines(&row),
        [("a+b", 64.0), ("c", 48.0), ("d", 48.0), ("e#1", 16.0), ("e#2", 16.0)]
    );
    assert!(row.tasks.iter().all(|task| task.finished && task.seconds.mean > 0.0));
}

#[test]
fn the_share_of_a_group_counts_wherever_it_is_said() {
    let text = "[global]\ndirect=1\nbs=4k\nsize=1g\nrw=randread\nruntime=60\ntime_based\nnumjobs=4\n\
                [heavy]\ngroup=/heavy\n[light]\ngroup=/light\n\
                [helper]\nnumjobs=1\ngroup=/heavy\ngroup_weight=400\n";
    let row = run(text);
    let names: Vec<&str> = row.groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["/heavy", "/light"]);
    let heavy = row.groups[0].disk.time_share * 100.0;
    assert!((heavy - 80.0).abs() < 4.0, "{heavy}");
}

/// One group gets half, and the two nested ones together the other half, whatever they weigh.
#[test]
fn a_path_lies_in_the_path_before_it() {
    let text = "[global]\ndirect=1\nbs=4k\nsize=256m\nrw=randread\nruntime=60\ntime_based\nnumjobs=4\n\
                scheduler=fair\ndevice=fixed-8ms\n\
                [gold]\ncgroup=tenants/gold\ncgroup_weight=1000\n\
                [silver]\ngroup=/tenants/silver\n\
                [other]\ngroup=/other\n";
    let row = run(text);
    let names: Vec<&str> = row.groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["/tenants/gold", "/tenants/silver", "/other", "/tenants"]);
    let times: Vec<f64> = row.groups.iter().map(|group| group.disk.time_share * 100.0).collect();
    let expected = [33.3, 16.7, 50.0, 0.0];
    assert!(times.iter().zip(expected).all(|(got, due)| (got - due).abs() < 2.0), "{times:?}");
}

#[test]
fn whoever_was_not_served_before_the_end_has_waited_until_then() {
    let text = "[global]\ndirect=1\nbs=4k\nsize=64m\nrw=randread\n\
                device=fixed-8ms\nscheduler=noop\n\
                [crowd]\ncgroup=crowd\nioengine=libaio\niodepth=64\n\
                [late]\ncgroup=late\nstartdelay=100ms\n";
    let row = run_for(text, Some(Span::from_ms(500)));
    let [crowd, late] = &row.groups[..] else { panic!("two groups have tasks") };
    assert_eq!((late.ios.mean, late.wait_max_ms), (0.0, 400.0));
    assert!(crowd.wait_max_ms > 490.0, "{} ms", crowd.wait_max_ms);
}

fn plan(text: &str, options: &Options) -> Result<Plan, CatalogError> {
    let resolved = JobFile::parse("test.fio", text, &Context::closed())
        .and_then(|file| file.resolve())
        .unwrap_or_else(|problems| panic!("{problems}"));
    Plan::job_file("test.fio", &resolved, options)
}

/// The notes on the jobs, apart from their results.
fn notes(text: &str) -> Vec<String> {
    Outcome::new(&plan(text, &Options::default()).expect("it can run"), Shell::Lab, &[]).caveats
}

#[test]
fn shares_that_do_not_count_are_said_not_to() {
    let jobs = "[a]\nsize=1m\ngroup=/p/x\ngroup_weight=200\n[b]\nsize=1m\nprio=2\nprioclass=2\n";
    let said = |scheduler: &str| {
        let notes = notes(&format!("[global]\nscheduler={scheduler}\n{jobs}"));
        let part = |part: &str| notes.iter().any(|note| note.contains(part));
        [
            part("takes no notice of weights of groups"),
            part("groups in groups"),
            part("does not nest groups: `/p/x` is one beside all others"),
            part("I/O priorities of tasks"),
        ]
    };
    assert_eq!(said("noop"), [true, true, false, true]);
    assert_eq!(said("deadline"), [true, true, false, true]);
    assert_eq!(said("cfq-2.6.25"), [true, true, false, false]);
    assert_eq!(said("two-layer-cfq"), [false, false, true, false]);
    assert_eq!(said("fair"), [false; 4]);
    let deeper =
        |scheduler: &str| notes(&format!("[a]\nsize=1m\ngroup=/p/x/y\nscheduler={scheduler}\n"));
    let nested =
        "shares does not nest groups so deep: `/p/x/y` is taken to lie in the outermost one";
    assert!(deeper("shares")[0].starts_with(nested), "{:?}", deeper("shares"));
    assert_eq!(deeper("fair").len(), 0);
    let plain = "[a]\nsize=1m\ngroup=/p\n";
    assert_eq!(notes(&format!("{plain}scheduler=noop\n")).len(), 0, "nothing is asked for");
    assert_eq!(notes(plain).len(), 0, "and nothing is nested");
}

/// A job whose requests have priorities of their own has none itself.
#[test]
fn priorities_of_requests_that_do_not_count_are_said_not_to() {
    let job = "[a]\nsize=1m\nrw=randread\nioengine=libaio\ndirect=1\n";
    let said = |scheduler: &str, key: &str| {
        let notes = notes(&format!("{job}scheduler={scheduler}\n{key}\n"));
        notes.iter().any(|note| note.contains("takes no notice of I/O priorities of tasks"))
    };
    for scheduler in ["kyber", "noop"] {
        assert!(said(scheduler, "cmdprio_percentage=10"), "{scheduler}");
        assert!(!said(scheduler, "cmdprio_percentage=0"), "{scheduler}");
    }
    assert!(!said("mq-deadline", "cmdprio_percentage=10"));
}

#[test]
fn buffered_requests_go_one_at_a_time_and_are_said_to() {
    let job = "[a]\nrw=randread\nsize=64m\nnumber_ios=32\nioengine=libaio\niodepth=8\n";
    let buffered = notes(job);
    assert!(buffered[0].ends_with("libaio runs as: one I/O at a time"), "{buffered:?}");
    assert!(buffered[1].contains("`iodepth`: no effect: buffered"), "{buffered:?}");
    let direct = notes(&format!("{job}direct=1\n"));
    assert!(direct[0].ends_with("runs as: up to 8 I/Os in flight"), "{direct:?}");
    let seconds = |more: &str| run(&format!("{job}{more}")).duration_s;
    let (one, eight) = (seconds(""), seconds("iodepth=1\ndirect=1\n"));
    assert!((one / eight - 1.0).abs() < 0.05, "{one} s, as with one at a time: {eight} s");
}

fn refused(text: &str) -> String {
    plan(text, &Options::default()).expect_err("it cannot run").to_string()
}

#[test]
fn a_duration_that_measures_nothing_is_refused() {
    let job = "[a]\nsize=1m\nramp_time=2\nruntime=5\ntime_based\n";
    let lasting = |seconds| Options { duration: Some(Span::from_s(seconds)), ..Options::default() };
    let error = plan(job, &lasting(2)).expect_err("all of it is ramp").to_string();
    assert!(error.starts_with("--duration 2s: expected more than 2 s"), "{error}");
    let with_another = format!("{job}[b]\nsize=1m\n");
    assert!(plan(&with_another, &lasting(2)).is_ok(), "that one is measured");
    assert!(plan(job, &lasting(3)).is_ok());
}

#[test]
fn only_what_a_job_file_has_can_be_set() {
    let set = |text: &str| Options {
        overrides: vec![Override::parse(text).expect("well formed")],
        ..Options::default()
    };
    for text in ["experiment.bogus=3", "volume.bogus=3", "experiment.duration_s=1"] {
        let error = plan("[a]\nsize=1m\n", &set(text)).expect_err("it has none").to_string();
        assert!(error.starts_with(&format!("--set {text}: a job file has no")), "{error}");
    }
    let changed = plan("[a]\nsize=1m\n", &set("host.hz=100")).expect("it has a host");
    assert_eq!(changed.rig.host.hz, 100);
}

#[test]
fn of_many_errors_the_first_are_shown() {
    let jobs: String = (0..30).map(|job| format!("[job{job}]\nsize=1m\nbsp={job}\n")).collect();
    let message = unresolved(&jobs);
    assert_eq!(message.lines().count(), 21, "{message}");
    assert!(message.ends_with("\nand 10 more errors"), "{message}");
}

#[test]
fn what_no_disk_can_do_is_refused_where_it_stands() {
    let device = refused("[a]\nsize=1m\ndevice=wd2500j\n");
    assert!(device.starts_with("test.fio:3: unknown device `wd2500j`; did you"), "{device}");
    let two = refused("[a]\nsize=1m\nscheduler=noop\n[b]\nsize=1m\nscheduler=deadline\n");
    assert!(two.starts_with("test.fio:6: `scheduler=deadline`, but test.fio:3 says"), "{two}");
    let large = refused("[a]\nsize=100t\n");
    assert!(large.contains("test.fio: the files take 102400 GiB"), "{large}");
    let beyond = refused("[a]\nfilename=/dev/sda\noffset=900g\nsize=1g\n");
    assert!(beyond.contains("clone 1 of job `a` would begin at byte"), "{beyond}");
}
