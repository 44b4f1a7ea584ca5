//! Times and durability in job files, on a disk that takes exactly 8 ms for a request and 5 ms for
//! a flush or a trim.

use fairdisk_core::{Instant, Span};
use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::jobfile::{Context, JobFile};
use fairdisk_lab::outcome::{Outcome, Shell, Style, to_html, to_json, to_table};
use fairdisk_lab::page::Made;
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::{Ensemble, Silent, run_once, run_plan};
use fairdisk_sim::{TaskReport, World};
use serde_json::Value;
use std::sync::atomic::AtomicBool;

/// The reports of the jobs' tasks when all of them are done.
fn run(jobs: &str) -> Vec<TaskReport> {
    run_with(jobs, &[])
}

/// The plan of the jobs, with changes to the disk or the host, or a `--duration`.
fn plan(jobs: &str, sets: &[&str], duration: Option<Span>) -> Plan {
    let text = format!("[global]\ndevice=fixed-8ms\nscheduler=noop\ndirect=1\nsize=1m\n{jobs}");
    let resolved = JobFile::parse("test.fio", &text, &Context::closed())
        .and_then(|file| file.resolve())
        .unwrap_or_else(|problems| panic!("{problems}"));
    let sets = sets.iter().chain(&["device.flush_us=5000"]);
    let overrides = sets.map(|set| Override::parse(set).expect("it is one")).collect();
    let options = Options { overrides, duration, ..Options::default() };
    Plan::job_file("test.fio", &resolved, &options).expect("disk and scheduler exist")
}

/// The reports of the jobs' tasks, with changes to the disk or the host.
fn run_with(jobs: &str, sets: &[&str]) -> Vec<TaskReport> {
    let plan = plan(jobs, sets, None);
    let setup = plan.setup(&plan.arms[0], &plan.rows[0], 0).expect("it fits");
    let mut world = World::new(setup.machine, setup.jbod);
    world.run_until_done(Instant::ZERO + Span::from_s(3600));
    assert!(world.machine().is_done(), "it comes to an end:\n{jobs}");
    world.machine().task_reports().cloned().collect()
}

fn ms(at: Option<Instant>) -> f64 {
    at.expect("it did").as_ns() as f64 / 1e6
}

fn began(task: &TaskReport) -> f64 {
    ms(task.started)
}

fn lasted(task: &TaskReport) -> f64 {
    ms(task.finished) - began(task)
}

/// A request takes 8 ms, plus a little for its data and the task's turnaround.
fn assert_ms(got: f64, expected: f64, requests: f64) {
    assert!(
        (expected..=expected + 0.3 * requests + 0.1).contains(&got),
        "{got} ms, not {expected}"
    );
}

#[test]
fn a_task_pauses_after_so_many_requests() {
    let tasks = run("[a]\nrw=read\nio_size=40k\nthinktime=100ms\nthinktime_blocks=2\n");
    assert_eq!(tasks[0].ios, 10);
    assert_ms(lasted(&tasks[0]), 10.0 * 8.0 + 5.0 * 100.0, 10.0);
}

#[test]
fn a_queue_is_empty_before_a_pause() {
    let job = "[a]\nioengine=libaio\niodepth=4\nrw=randread\nnumber_ios=8\n";
    let tasks = run(&format!("{job}thinktime=100ms\nthinktime_blocks=4\n"));
    // As in fio, there is no pause once the last request has been submitted.
    assert_ms(lasted(&tasks[0]), 8.0 * 8.0 + 100.0, 8.0);
}

/// Requests that complete while the queue empties count: fio has 8 pauses too.
#[test]
fn pauses_of_a_queue_are_as_many_as_in_fio() {
    let job = "[a]\nioengine=libaio\niodepth=4\nrw=randread\nnumber_ios=24\n";
    let tasks = run(&format!("{job}thinktime=100ms\nthinktime_blocks=2\n"));
    assert_ms(lasted(&tasks[0]), 24.0 * 8.0 + 8.0 * 100.0, 24.0);
}

/// Completions are taken up only when the queue is full, so 32 requests are started before the
/// first one counts. fio 3.33 pauses twice for each 36 requests: after the fourth that it takes up,
/// and after the next one it starts, as the rest has completed meanwhile.
#[test]
fn a_deep_queue_pauses_as_often_as_in_fio() {
    for (ios, pauses) in [(24, 0), (72, 4), (100, 4), (108, 6), (150, 8)] {
        let job = "[a]\nioengine=libaio\niodepth=32\nrw=randread\n";
        let job = format!("{job}number_ios={ios}\nthinktime=1s\nthinktime_blocks=4\n");
        let tasks = run_with(&job, &["device.latency_us=10"]);
        assert_eq!((lasted(&tasks[0]) / 1000.0) as u32, pauses, "of {ios} I/Os");
    }
}

/// A job that is ahead of its rate takes up all completions before it sleeps. fio 3.33 therefore
/// pauses without ever having a full queue, and makes up for its pauses afterwards.
#[test]
fn a_deep_queue_with_a_rate_pauses_as_often_as_in_fio() {
    for (rate, ios, fio_ms) in
        [(100, 24, 341.0), (100, 100, 1275.0), (1000, 24, 306.0), (1000, 200, 3312.0)]
    {
        let job = "[a]\nioengine=libaio\niodepth=32\nrw=randread\n";
        let job = format!("{job}number_ios={ios}\nthinktime=300ms\nthinktime_blocks=4\n");
        let tasks = run_with(&format!("{job}rate_iops={rate}\n"), &["device.latency_us=10"]);
        let lasted = lasted(&tasks[0]);
        assert!((lasted / fio_ms - 1.0).abs() < 0.01, "{ios} I/Os, {rate} IOPS: {lasted} ms");
    }
}

/// Every engine of fio waits for a trim.
#[test]
fn trims_go_one_after_the_other_however_deep_the_queue() {
    let job = |rw| format!("[a]\nioengine=libaio\niodepth=4\nrw={rw}\nnumber_ios=8\n");
    let parallel = ["device.parallel=4"];
    let trims = run_with(&job("randtrim"), &parallel);
    assert_ms(lasted(&trims[0]), 8.0 * 5.0, 8.0);
    assert_eq!((trims[0].per_op.trim.ios, trims[0].per_op.trim.bytes), (8, 8 * 4096));
    assert_ms(lasted(&run_with(&job("randread"), &parallel)[0]), 2.0 * 8.0, 8.0);
}

/// The longest latency of its calls, in ms.
fn longest(tasks: &[TaskReport]) -> f64 {
    let per_op = &tasks[0].per_op;
    let latencies = [&per_op.read, &per_op.write, &per_op.trim].map(|op| op.latency());
    let longest = latencies.into_iter().flatten().map(|latency| latency.max().as_ns()).max();
    longest.expect("there were calls") as f64 / 1e6
}

#[test]
fn a_write_into_the_page_cache_takes_until_it_is_copied_or_there_is_room() {
    let job = "[a]\ndirect=0\nrw=write\nbs=64k\nsize=1m\n";
    let copied = longest(&run_with(job, &["host.page_copy_ns=10000"]));
    assert!((0.16..0.2).contains(&copied), "16 pages at 10 us take {copied} ms");
    let throttled = longest(&run_with(job, &["host.write_behind_kib=64"]));
    assert!(throttled > 7.5, "it waits for the disk, {throttled} ms");
}

#[test]
fn a_call_returns_when_its_task_has_the_cpu() {
    let job = "[a]\nnumjobs=2\nrw=read\nsize=4k\n";
    let sets = ["host.cpus=1", "host.turnaround_us=[3000, 3000]", "device.parallel=2"];
    let tasks = run_with(job, &sets);
    let mut calls = [longest(&tasks[..1]), longest(&tasks[1..])];
    calls.sort_by(f64::total_cmp);
    assert_ms(calls[0], 8.0, 0.0);
    // Both requests complete together, and one task waits until the other has copied its data.
    assert_ms(calls[1], 11.0, 0.0);
}

#[test]
fn a_delay_is_from_the_beginning_of_the_run() {
    let tasks = run("[a]\nrw=read\nio_size=4k\n[b]\nrw=read\nio_size=4k\nstartdelay=2\n\
         [c]\nrw=read\nio_size=4k\nstartdelay=3-4\n\
         [d]\nstonewall\nrw=read\nio_size=4k\nstartdelay=1\n\
         [e]\nstonewall\nrw=read\nio_size=4k\nstartdelay=10\n");
    assert_ms(began(&tasks[0]), 0.0, 0.0);
    assert_ms(began(&tasks[1]), 2000.0, 0.0);
    assert!((3000.0..=4000.0).contains(&began(&tasks[2])), "{}", began(&tasks[2]));
    let late = ms(tasks[2].finished);
    assert_ms(began(&tasks[3]), late, 0.0);
    assert_ms(began(&tasks[4]), 10_000.0, 0.0);
}

#[test]
fn a_stonewall_waits_for_every_clone() {
    let tasks = run("[a]\nrw=read\nio_size=40k\n[b]\nrw=read\nio_size=400k\n\
         [c]\nstonewall\nrw=read\nio_size=4k\nnumjobs=2\n[d]\nstonewall\nrw=read\nio_size=4k\n");
    let slower = ms(tasks[1].finished);
    assert!(ms(tasks[0].finished) < slower);
    assert!([2, 3].iter().all(|at| began(&tasks[*at]) >= slower));
    assert!(began(&tasks[4]) >= ms(tasks[2].finished).max(ms(tasks[3].finished)));
}

#[test]
fn a_job_waits_for_every_clone_of_another() {
    let tasks = run("[a]\nrw=read\nio_size=40k\nnumjobs=2\n[b]\nrw=read\nio_size=400k\n\
         [c]\nrw=read\nio_size=4k\nwait_for=a\n[d]\nwait_for=c\nrw=read\nio_size=4k\nstartdelay=1\n\
         [e]\nstonewall\nwait_for=a\nrw=read\nio_size=4k\n");
    assert_eq!(began(&tasks[3]), ms(tasks[0].finished).max(ms(tasks[1].finished)));
    assert!(began(&tasks[3]) < ms(tasks[2].finished), "for no others");
    assert_ms(began(&tasks[4]), 1000.0, 0.0);
    assert!(began(&tasks[5]) >= ms(tasks[2].finished).max(ms(tasks[4].finished)));
}

/// Only a task that slept needs a wake-up.
#[test]
fn what_is_in_memory_is_read_without_a_wake_up() {
    let job = "[a]\ndirect=0\nrw=read\nsize=4m\nbs=4k\n";
    let tasks = run_with(job, &["host.turnaround_us=[2000, 2000]"]);
    // At most 35 windows are waited for; with a wake-up for each read it would take 2 s.
    assert!(lasted(&tasks[0]) < 35.0 * (8.0 + 2.0), "{} ms", lasted(&tasks[0]));
}

#[test]
fn an_fsync_waits_for_the_disk() {
    let tasks = run("[a]\nrw=write\nio_size=32k\nfsync=3\n");
    assert_eq!((tasks[0].per_op.write.ios, tasks[0].flushes.ios), (8, 2));
    assert_ms(lasted(&tasks[0]), 8.0 * 8.0 + 2.0 * 5.0, 10.0);
    let both = run("[a]\nrw=write\nio_size=28k\nfsync=2\nfdatasync=3\n");
    assert_eq!(both[0].flushes.ios, 4, "after writes 2, 3, 4 and 6");
}

/// Under fio, too, the latency of a sync is no part of that of reads and writes.
#[test]
fn how_long_an_fsync_takes_is_a_figure_of_its_own() {
    let outcome = |keys: &str| {
        let jobs = format!(
            "[a]\ngroup=/db\nrw=write\nio_size=64k\n{keys}\n[b]\nstonewall\n\
                            group=/other\nrw=read\nio_size=64k\n"
        );
        let plan = plan(&jobs, &[], None);
        let runs = run_plan(&plan, &Silent, &AtomicBool::new(false)).expect("it fits");
        Outcome::new(&plan, Shell::Lab, &runs)
    };
    for key in ["fsync=1", "fdatasync=1"] {
        let outcome = outcome(&format!("group_latency_p99_ms=9\n{key}"));
        let value = to_json(&outcome);
        let row = &value["rows"][0];
        let p50 = |of: &Value| of["latency_ms"]["p50"].as_f64().expect("it is known");
        for db in [&row["groups"][0], &row["tasks"][0]] {
            assert_eq!((&db["ios"], &db["flush"]["count"]), (&16.0.into(), &15.0.into()));
            assert_ms(p50(&db["flush"]), 5.0, 1.0);
            assert_ms(p50(db), 8.0, 1.0);
        }
        assert_eq!([&row["groups"][1]["flush"], &row["tasks"][1]["flush"]], [&Value::Null; 2]);
        let text = to_table(&outcome, Style::default());
        let line = |begin: &str| text.lines().find(|line| line.trim_start().starts_with(begin));
        assert!(
            line("group").is_some_and(|head| head.ends_with("  fsync p50  fsync p99")),
            "{text}"
        );
        assert!(line("/other").is_some_and(|line| line.ends_with('-')), "{text}");
        assert!(to_html(&outcome, &Made::by("")).contains("<th>fsync p99 ms</th>"));
        let note = "latency_p99_ms of group `/db` is about its reads and writes: how long";
        assert!(outcome.caveats.iter().any(|caveat| caveat.starts_with(note)), "{text}");
    }
    let without = outcome("group_latency_p99_ms=9");
    let text = to_table(&without, Style::default()) + &to_html(&without, &Made::by(""));
    assert!(!text.contains("fsync"), "{text}");
}

#[test]
fn buffered_writes_are_on_the_disk_after_an_fsync() {
    let without = run("[a]\ndirect=0\nrw=write\nio_size=64k\n");
    let with = run("[a]\ndirect=0\nrw=write\nio_size=64k\nfsync=4\n");
    assert_eq!((without[0].flushes.ios, with[0].flushes.ios), (0, 3));
    // Of the four writes before a flush, one is at the disk, one is next, and two are merged.
    let flushes = with[0].flushes.latency().expect("there were flushes");
    let flush = Span::from_ns(flushes.sum().as_ns() / flushes.count());
    assert!((29.0..30.0).contains(&(flush.as_ns() as f64 / 1e6)), "{flush:?}");
}

#[test]
fn a_buffered_writer_ends_with_its_last_system_call() {
    let job = "direct=0\nrw=randwrite\nsize=64m\nruntime=3\ntime_based\n";
    let tasks = run(&format!("[a]\n{job}[b]\nstonewall\nrw=read\nio_size=4k\n"));
    // A write may have to wait for room in the page cache.
    assert!((3000.0..3100.0).contains(&lasted(&tasks[0])), "{} ms", lasted(&tasks[0]));
    assert_eq!(began(&tasks[1]), ms(tasks[0].finished));
    assert!(lasted(&tasks[1]) > 16.0, "what was written goes to the disk meanwhile");
}

#[test]
fn an_fsync_at_the_end_waits_for_what_was_written() {
    let job = "direct=0\nrw=randwrite\nsize=64m\nnumber_ios=64\n";
    let without = run(&format!("[a]\n{job}"));
    assert!(lasted(&without[0]) < 8.0, "{} ms", lasted(&without[0]));
    for key in ["end_fsync", "fsync_on_close=1\nend_fsync"] {
        let with = run(&format!("[a]\n{job}{key}=1\n"));
        assert_eq!(with[0].flushes.ios, 1);
        assert!(lasted(&with[0]) > 30.0 * 8.0, "{} ms", lasted(&with[0]));
    }
    // As in fio, whose `job_runtime` does not contain it.
    let next = "[b]\nstonewall\nrw=read\nsize=4k\n";
    let closing = run(&format!("[a]\n{job}fsync_on_close=1\n{next}"));
    assert!(lasted(&closing[0]) < 8.0, "{} ms", lasted(&closing[0]));
    assert!(began(&closing[1]) > 30.0 * 8.0, "{} ms", began(&closing[1]));
    let files = run(&format!("[a]\n{job}end_fsync=1\nnrfiles=3\n"));
    assert_eq!(files[0].flushes.ios, 3, "one for each file");
    let read = run("[a]\nrw=read\nsize=256k\nend_fsync=1\n");
    assert_eq!(read[0].flushes.ios, 0, "nothing was written");
}

#[test]
fn a_trim_is_a_request_and_comes_before_its_write() {
    let tasks = run("[a]\nrw=trim\nio_size=40k\n[b]\nstonewall\nrw=trimwrite\nio_size=40k\n");
    assert_eq!((tasks[0].per_op.trim.ios, tasks[0].per_op.trim.bytes), (10, 40_960));
    assert_ms(lasted(&tasks[0]), 10.0 * 5.0, 10.0);
    let (trims, writes) = (&tasks[1].per_op.trim, &tasks[1].per_op.write);
    assert_eq!((trims.ios, writes.ios, writes.bytes), (10, 10, 40_960));
    assert_ms(lasted(&tasks[1]), 10.0 * 13.0, 20.0);
}

/// The second job is slow, so the first one is ahead of its part when its time is over.
#[test]
fn a_runtime_ends_a_job_that_waits_for_its_flow() {
    let jobs = "rw=randread\nruntime=1\ntime_based\nflow=1\n";
    let tasks = run(&format!("[a]\n{jobs}[b]\n{jobs}thinktime=300ms\n"));
    for task in &tasks {
        assert_ms(lasted(task), 1000.0, 20.0);
    }
    assert!(tasks[0].ios.abs_diff(tasks[1].ios) <= 2, "{} and {}", tasks[0].ios, tasks[1].ios);
}

#[test]
fn a_runtime_ends_what_is_read_back() {
    let job = "rw=write\nsize=512k\nverify=crc32c\n";
    let tasks = run(&format!("[a]\n{job}[b]\nstonewall\n{job}runtime=1500ms\n"));
    assert_eq!((tasks[0].per_op.write.ios, tasks[0].per_op.read.ios), (128, 128));
    assert_ms(lasted(&tasks[1]), 1500.0, 190.0);
    assert!((1..128).contains(&tasks[1].per_op.read.ios), "{}", tasks[1].per_op.read.ios);
}

#[test]
fn a_runtime_cuts_off_and_comes_after_the_ramp() {
    let tasks = run("[a]\nrw=read\nruntime=2\nramp_time=1\ntime_based\n");
    assert_ms(lasted(&tasks[0]), 3000.0, 20.0);
    assert!((240..=250).contains(&tasks[0].ios), "of two seconds: {}", tasks[0].ios);
}

#[test]
fn a_ramp_that_is_never_passed_takes_nothing_away() {
    let jobs = "[short]\nrw=read\nsize=400k\nramp_time=5\n\
                [long]\nrw=read\nsize=8m\nramp_time=2\n";
    let tasks = run(jobs);
    assert_eq!(tasks[0].ios, 100);
    assert!(tasks[1].ios < 2048, "what the ramp had is left out: {}", tasks[1].ios);
    let plan = plan(jobs, &[], None);
    let (arm, row) = plan.cell(0, 0);
    let run = run_once(&plan, arm, row, 0, &AtomicBool::new(false)).expect("it fits");
    let ensembles = [Ensemble { arm: 0, row: 0, runs: vec![run] }];
    let notes = Outcome::new(&plan, Shell::Lab, &ensembles).caveats;
    let note = notes.iter().find(|note| note.contains("ramp_time"));
    assert_eq!(
        note.unwrap(),
        "All that is done is counted, as ramp_time is not over by then: `short`."
    );
}

#[test]
fn requests_that_arrive_at_random_are_as_many_and_wait_longer() {
    let jobs = |process: &str| {
        let text = "[a]\nrw=randread\nsize=1g\nrate_iops=100\ntime_based\nruntime=60\n";
        run(&format!("{text}rate_process={process}\n")).remove(0)
    };
    let (even, random) = (jobs("linear"), jobs("poisson"));
    let p99 = |task: &TaskReport| task.per_op.read.latency().unwrap().quantile(990).as_ms();
    assert!(even.ios.abs_diff(6000) <= 1, "{}", even.ios);
    assert!(random.ios.abs_diff(6000) < 250, "{}", random.ios);
    assert_eq!((p99(&even), p99(&random)), (8, 8), "a job with one request waits by itself");
    let offloaded = |process: &str| {
        let text = "[a]\nrw=randread\nsize=1g\nrate_iops=100\ntime_based\nruntime=60\n\
                    direct=1\nioengine=libaio\niodepth=64\n";
        run(&format!("{text}rate_process={process}\n")).remove(0)
    };
    let (even, random) = (offloaded("linear"), offloaded("poisson"));
    assert!(p99(&even) <= 9 && p99(&random) > 30, "{} {}", p99(&even), p99(&random));
}

/// How long the jobs and the run lasted with a `--duration`, in whole seconds, and the note about
/// jobs that keep their runtime.
fn run_for(seconds: u64, jobs: &str) -> (Vec<u64>, u64, Option<String>) {
    let plan = plan(jobs, &[], Some(Span::from_s(seconds)));
    let (arm, row) = plan.cell(0, 0);
    let run = run_once(&plan, arm, row, 0, &AtomicBool::new(false)).expect("it fits");
    let whole = |span: Span| (span.as_ns() as f64 / 1e9).round() as u64;
    let jobs = run.tasks.iter().map(|task| whole(task.elapsed)).collect();
    let whole_run = whole(run.elapsed);
    let ensembles = [Ensemble { arm: 0, row: 0, runs: vec![run] }];
    let notes = Outcome::new(&plan, Shell::Lab, &ensembles).caveats;
    (jobs, whole_run, notes.into_iter().find(|note| note.contains("--duration")))
}

#[test]
fn a_duration_takes_the_place_of_every_runtime() {
    let jobs = "[a]\nrw=randread\ntime_based\nruntime=2\n\
                [b]\nrw=randread\ntime_based\nruntime=9\n\
                [c]\nrw=randread\ntime_based\nruntime=2\nstartdelay=1\n";
    assert_eq!(run_for(4, jobs), (vec![4, 4, 3], 4, None));
    assert_eq!(run_for(20, jobs), (vec![20, 20, 19], 20, None));
}

#[test]
fn a_duration_gives_a_job_no_more_work() {
    // 256 reads of 8 ms, and 125 of them within the runtime.
    let size = "[a]\nrw=read\nruntime=1\n";
    assert_eq!(run_for(10, size), (vec![2], 2, None));
    let mixed = format!("{size}[b]\nrw=randread\ntime_based\nruntime=1\n");
    assert_eq!(run_for(10, &mixed), (vec![4, 10], 10, None));
}

#[test]
fn a_job_that_others_wait_for_keeps_its_runtime_beside_a_duration() {
    let timed = "rw=randread\ntime_based\nruntime=2\n";
    let jobs = format!("[a]\n{timed}[b]\n{timed}[c]\nstonewall\n{timed}[d]\nwait_for=c\n{timed}");
    let (lasted, run, note) = run_for(10, &jobs);
    assert_eq!((lasted, run), (vec![2, 2, 2, 6], 10));
    let note = note.expect("there is one");
    assert!(note.starts_with("jobs `a`, `b`, `c`: end by `runtime`"), "{note}");
}
