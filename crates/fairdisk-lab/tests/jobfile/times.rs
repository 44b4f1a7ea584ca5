//! Job files whose ends depend on time last as long and do as much under the installed fio, on its
//! `null` engine, as in the lab.

use fairdisk_core::Instant;
use fairdisk_sim::TaskReport;
use serde_json::Value;

use crate::{done, fio};

/// The jobs above which each load stands.
const GLOBAL: &str = "[global]\nioengine=null\nsize=64g\nrw=read\nbs=4k\nthread\n";
/// A job that ends after a second and a half, and others with it.
const SHORT: &str = "[short]\nrate_iops=1000\nnumber_ios=1500\nexitall\n";

/// The part by which times and I/Os may differ.
const PART: f64 = 0.03;

/// Times in ms and I/Os of each job.
type Jobs = Vec<(f64, f64)>;

fn by_lab(text: &str) -> Jobs {
    let (_, _, world) = done::in_lab(text);
    let tasks = world.machine().task_reports();
    let ms = |task: &TaskReport| task.elapsed(Instant::ZERO).as_ns() as f64 / 1e6;
    tasks.map(|task| (ms(task), task.ios as f64)).collect()
}

/// What jobs do under fio; all of these start at once, because they mostly sleep.
fn by_fio(name: &str, texts: &[String]) -> Vec<Jobs> {
    let scratches = texts.iter().enumerate().map(|(at, text)| {
        let scratch = fio::Scratch::in_memory(&format!("{name}-{at}"));
        let running = done::start(&scratch.write(text));
        (scratch, running)
    });
    let started: Vec<_> = scratches.collect();
    let jobs = |(_scratch, running)| {
        let jobs = done::jobs_of(running);
        let number = |value: &Value| done::number(value) as f64;
        let ios = |job: &Value| {
            ["read", "write", "trim"].map(|op| number(&job[op]["total_ios"])).iter().sum()
        };
        jobs.iter().map(|job| (number(&job["job_runtime"]), ios(job))).collect()
    };
    started.into_iter().map(jobs).collect()
}

fn agree(name: &str, loads: &[&str]) {
    if !fio::is_installed() {
        return;
    }
    let texts: Vec<String> = loads.iter().map(|load| format!("{GLOBAL}{load}")).collect();
    // A fio that has to wait for a processor takes longer: 40 ms at most.
    let near = |fio: f64, lab: f64, least: f64| (fio - lab).abs() <= (PART * fio).max(least);
    let off: Vec<String> = by_fio(name, &texts)
        .iter()
        .zip(&texts)
        .filter_map(|(fio, text)| {
            let lab = by_lab(text);
            let mut pairs = fio.iter().zip(&lab);
            let same = fio.len() == lab.len()
                && pairs.all(|(fio, lab)| near(fio.0, lab.0, 40.0) && near(fio.1, lab.1, 1.0));
            (!same).then(|| format!("{text}fio {fio:?}\nlab {lab:?}"))
        })
        .collect();
    assert!(off.is_empty(), "{} of {}:\n{}", off.len(), texts.len(), off.join("\n"));
}

/// A job that is never steady ends with its runtime.
#[test]
fn jobs_that_are_steady_end_when_those_of_fio_do() {
    let job = "[a]\nrate_iops=500\ntime_based\nruntime=9\n";
    let loads = [
        "steadystate=iops:20%\nsteadystate_duration=3\n",
        "ss=bw_slope:1%\nss_dur=4\nstartdelay=1\n",
        "ss=iops:20%\nss_dur=2\nss_ramp=1\n",
        "ss=bw:20%\nss_dur=3\nramp_time=2\n",
        // The first second has a burst, as the job catches up after each pause.
        "ss=iops:5\nss_dur=3\nthinktime=300ms\nthinktime_blocks=400\n",
        "ss=iops:5%\nss_dur=2\nthinktime=1400ms\nthinktime_blocks=700\n",
    ];
    let loads = loads.map(|load| format!("{job}{load}"));
    agree("steady", &loads.each_ref().map(String::as_str));
}

/// fio looks once in a second of a sleep whether a job has been ended. A job that has not begun
/// never does, unless `exit_what=stonewall` ends those that run.
#[test]
fn jobs_that_sleep_end_when_those_of_fio_do() {
    let long = "[long]\nnumber_ios=20\n";
    let loads = [
        format!("{SHORT}{long}thinktime=20s\n"),
        format!("{SHORT}{long}rate_iops=1\n"),
        format!("{SHORT}{long}rate=1k\nbs=8k\n"),
        format!("{SHORT}{long}startdelay=10\n"),
        format!("{SHORT}exit_what=all\n{long}startdelay=10\n[next]\nstonewall\nstartdelay=9\n"),
        format!("{SHORT}exit_what=stonewall\n{long}startdelay=3\n[next]\nstonewall\nio_size=8k\n"),
        format!("{SHORT}[next]\nnew_group\nrate_iops=1\nnumber_ios=3\n"),
        // Any job that ends does so, also one that does not say it.
        "[a]\nnumber_ios=9999\nrate_iops=1000\nexitall\n[b]\nnumber_ios=3\nrate_iops=2\n".into(),
        "[late]\nrate_iops=1000\nthinktime=9s\nthinktime_blocks=700\n[end]\nrate_iops=1000\n\
         number_ios=2500\nexitall\n"
            .into(),
    ];
    agree("ends", &loads.each_ref().map(String::as_str));
}
