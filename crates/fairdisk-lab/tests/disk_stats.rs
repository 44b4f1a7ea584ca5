//! What disks did, as `iostat -x` prints it.

use fairdisk_lab::catalog::experiment::DiskFigure;
use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::jobfile::{Context, JobFile};
use fairdisk_lab::metric::Metric;
use fairdisk_lab::outcome::{Outcome, Style, to_html, to_json, to_table};
use fairdisk_lab::page::Made;
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::{PlanRuns, Silent, run_all};
use std::sync::atomic::AtomicBool;

/// The runs of a job file under `noop`, where every request takes 8 ms, one after another.
fn runs(jobs: &str) -> (Plan, PlanRuns) {
    runs_on(jobs, &[])
}

fn runs_on(jobs: &str, sets: &[&str]) -> (Plan, PlanRuns) {
    let text = format!("[global]\ndevice=fixed-8ms\nscheduler=noop\nsize=64m\n{jobs}");
    let file = JobFile::parse("jobs.fio", &text, &Context::closed()).expect("well formed");
    let resolved = file.resolve().expect("it can be run");
    let overrides = sets.iter().map(|set| Override::parse(set).expect("well formed")).collect();
    let options = Options { seeds: Some(2), overrides, ..Options::default() };
    let plan = Plan::job_file("jobs.fio", &resolved, &options).expect("it fits");
    let runs = run_all(&plan, &Silent, &AtomicBool::new(false)).expect("it can be run");
    (plan, runs)
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 0.02 * other.abs().max(0.01)
}

#[test]
fn four_readers_of_a_serial_disk_are_what_queueing_theory_says() {
    let (_, runs) = runs("[r]\nrw=randread\ndirect=1\nnumjobs=4\ntime_based\nruntime=10\n");
    for run in &runs.ensembles[0].runs {
        let [disk] = &run.disks[..] else { panic!("there is one: {run:?}") };
        let of = |figure: DiskFigure| figure.of(disk).expect("it was busy");
        // 8 ms, and a little for 4 KiB at 150 MB/s.
        let service = of(DiskFigure::ServiceMs);
        assert!((8.0..8.1).contains(&service), "{service}");
        assert!(near(of(DiskFigure::BusyPercent), 100.0), "{disk:?}");
        assert!(near(of(DiskFigure::Queue), 4.0) && near(of(DiskFigure::AwaitMs), 4.0 * service));
        assert!(near(of(DiskFigure::Reads), 1000.0 / service), "{disk:?}");
        assert!(near(of(DiskFigure::ReadKib), 4.0 * of(DiskFigure::Reads)), "{disk:?}");
        assert_eq!((of(DiskFigure::RequestSectors), of(DiskFigure::Writes)), (8.0, 0.0));
        assert!(near(of(DiskFigure::Interrupts), of(DiskFigure::Reads)), "none was merged");
    }
}

/// Every bio is a request of its own, or was merged into one, and no sector is lost.
#[test]
fn merged_writes_are_counted_and_flushes_are_no_ios() {
    let (_, runs) =
        runs("[w]\nrw=write\nbs=4k\nioengine=libaio\niodepth=16\ndirect=1\nfsync=64\nsize=4m\n");
    for run in &runs.ensembles[0].runs {
        let disk = &run.disks[0];
        assert!(disk.writes.merged > 500, "{disk:?}");
        assert_eq!(disk.writes.sectors, 4 * 2048, "{disk:?}");
        assert_eq!(disk.writes.requests + disk.writes.merged, 1024, "{disk:?}");
        assert!(disk.flushes > 0 && disk.reads.requests == 0, "{disk:?}");
        assert_eq!(disk.completions(), disk.writes.requests + disk.flushes);
        assert!(disk.busy <= disk.elapsed && disk.writes.time == disk.queued, "{disk:?}");
    }
}

#[test]
fn half_an_idle_disk_is_half_busy() {
    let (_, runs) = runs("[r]\nrw=randread\ndirect=1\nthinktime=8000\ntime_based\nruntime=10\n");
    let disk = &runs.ensembles[0].runs[0].disks[0];
    let of = |figure: DiskFigure| figure.of(disk).expect("it was busy");
    assert!((48.0..52.0).contains(&of(DiskFigure::BusyPercent)), "{disk:?}");
    assert!(near(of(DiskFigure::Queue), of(DiskFigure::BusyPercent) / 100.0), "{disk:?}");
}

#[test]
fn results_have_a_block_of_disks_in_every_form() {
    let (plan, runs) = runs("[r]\nrw=randread\ndirect=1\ntime_based\nruntime=2\n");
    let outcome = Outcome::of_runs(&plan, &runs);
    let table = |disks: bool| to_table(&outcome, Style { disks, ..Style::default() });
    let head = "disk    rrqm/s    wrqm/s       r/s       w/s     rkB/s     wkB/s  avgrq-sz  \
                avgqu-sz     await     svctm     %util    intr/s\n";
    assert!(table(true).contains(head), "{}", table(true));
    assert!(!table(false).contains("avgrq-sz"), "it is asked for");
    let disk = &to_json(&outcome)["rows"][0]["disks"][0];
    assert_eq!(disk["request_sectors"], 8.0, "{disk}");
    assert!(to_html(&outcome, &Made::by("run")).contains("<th>avgqu-sz</th>"));
    let metric = Metric::parse("disk_await_ms").expect("a figure");
    let run = &runs.ensembles[0].runs[0];
    let value = metric.of(run, &[]).expect("it was busy");
    assert_eq!(Some(value), DiskFigure::AwaitMs.of(&run.disks[0]));
    let error = Metric::parse("disk_await").expect_err("no figure");
    assert!(error.contains("such as disk_await_ms"), "{error}");
}

#[test]
fn several_disks_are_told_each_by_itself_and_all_together() {
    let jobs = "[r]\nrw=randread\ndirect=1\ntime_based\nruntime=2\n";
    let (plan, runs) = runs_on(jobs, &["device.jbod=3"]);
    let outcome = Outcome::of_runs(&plan, &runs);
    let row = &to_json(&outcome)["rows"][0];
    let each = row["disks"].as_array().expect("they are there");
    assert_eq!(each.len(), 3);
    let sum = |key: &str| each.iter().map(|disk| disk[key].as_f64().expect("busy")).sum::<f64>();
    let all = |key: &str| row["disks_together"][key].as_f64().expect("busy");
    for key in ["reads_per_s", "read_kib_per_s", "queue", "interrupts_per_s"] {
        assert!(near(all(key), sum(key)), "{key}: {row:#}");
    }
    for key in ["await_ms", "request_sectors", "busy_percent"] {
        assert!(near(all(key), sum(key) / 3.0), "{key}: {row:#}");
    }
    let table = to_table(&outcome, Style { disks: true, ..Style::default() });
    let names = table.lines().skip_while(|line| !line.contains("avgrq-sz")).skip(1).take(4);
    let names: Vec<_> = names.filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["0", "1", "2", "all"], "{table}");
}
