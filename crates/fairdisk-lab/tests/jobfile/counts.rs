//! The same job file under the installed fio and in the lab: every clone does as many reads,
//! writes, trims and flushes, of as many bytes.

use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use fairdisk_core::{Instant, Span};
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_sim::World;

use crate::fio;

/// What one clone did.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Done {
    job: String,
    /// Number and bytes of reads, writes and trims.
    ops: [(u64, u64); 3],
    flushes: u64,
}

/// What fio did, from its JSON.
fn by_fio(scratch: &fio::Scratch, text: &str) -> Vec<Done> {
    scratch.clear();
    let path = scratch.write(text);
    let mut command = Command::new("fio");
    command.args(["--output-format=json".as_ref(), path.as_os_str()]);
    command.current_dir(path.parent().expect("it is in a folder"));
    let output = command.output().expect("fio runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let problem = String::from_utf8_lossy(&output.stderr);
    let json = said.find('{').map(|at| &said[at..]);
    let json = json.unwrap_or_else(|| panic!("no JSON from fio:\n{problem}\n{text}"));
    let json: serde_json::Value = serde_json::from_str(json).expect("fio prints JSON");
    let jobs = json["jobs"].as_array().expect("fio lists jobs");
    let number = |value: &serde_json::Value| value.as_u64().expect("a number");
    let done = |job: &serde_json::Value| {
        assert_eq!(number(&job["error"]), 0, "fio failed:\n{problem}\n{text}");
        Done {
            job: job["jobname"].as_str().expect("a name").to_owned(),
            ops: ["read", "write", "trim"]
                .map(|op| (number(&job[op]["total_ios"]), number(&job[op]["io_bytes"]))),
            flushes: number(&job["sync"]["total_ios"]),
        }
    };
    jobs.iter().map(done).collect()
}

/// What the lab does, on a disk that takes no time.
fn by_us(text: &str) -> Vec<Done> {
    let resolved =
        fio::ours("job.fio", text, &[]).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
    let options = Options { seeds: Some(1), device: Some("null".to_owned()), ..Options::default() };
    let plan = Plan::job_file("job.fio", &resolved, &options).expect("the plan is whole");
    let setup = plan.setup(&plan.arms[0], &plan.rows[0], 0).expect("it fits");
    let mut world = World::new(setup.machine, setup.disk);
    world.run_until_done(Instant::ZERO + Span::from_s(3600));
    assert!(world.machine().is_done(), "it comes to an end:\n{text}");
    let clones = resolved.jobs.iter().flat_map(|job| vec![&job.name; job.clones.get() as usize]);
    let done = |(name, report): (&String, &fairdisk_sim::TaskReport)| Done {
        job: name.clone(),
        ops: [&report.per_op.read, &report.per_op.write, &report.per_op.trim]
            .map(|op| (op.ios, op.bytes)),
        flushes: report.flushes.ios,
    };
    clones.zip(world.machine().task_reports()).map(done).collect()
}

/// How near the lab must be to fio.
#[derive(Debug, Clone, Copy)]
enum Near {
    /// Every number the same.
    Exactly,
    /// Where chance decides, every number off by at most so many percent of the job's sum.
    Percent(u64),
}

impl Near {
    fn holds(self, fio: &Done, us: &Done) -> bool {
        let Self::Percent(percent) = self else { return fio == us };
        let (ios, bytes) = fio.ops.iter().fold((0, 0), |sum, op| (sum.0 + op.0, sum.1 + op.1));
        let near = |a: u64, b: u64, whole: u64| a.abs_diff(b) * 100 <= whole * percent;
        let mut pairs = fio.ops.iter().zip(&us.ops);
        fio.job == us.job
            && pairs.all(|(fio, us)| near(fio.0, us.0, ios) && near(fio.1, us.1, bytes))
            && near(fio.flushes, us.flushes, ios)
    }
}

/// The cases of `counts.txt`: a line that begins with `## exactly` or `## 3 %`, and sections.
fn cases(text: &str) -> Vec<(Near, &str)> {
    let case = |case| {
        let (heading, sections): (&str, &str) = str::split_once(case, '\n')?;
        let near = match heading.split_once(" %:") {
            Some((percent, _)) => Near::Percent(percent.parse().ok()?),
            None => heading.starts_with("exactly:").then_some(Near::Exactly)?,
        };
        Some((near, sections))
    };
    text.split("\n## ").filter_map(case).collect()
}

/// Where the lab and fio differ about a file.
fn differences(scratch: &fio::Scratch, near: Near, sections: &str) -> Option<String> {
    let text = format!("[global]\nioengine=null\nbs=4k\nsize=1m\n{sections}\n");
    let (fio, us) = (by_fio(scratch, &text), by_us(&text));
    let same = fio.len() == us.len() && fio.iter().zip(&us).all(|(fio, us)| near.holds(fio, us));
    (!same).then(|| {
        let pairs = fio.iter().zip(&us);
        let lines: String = pairs.map(|(fio, us)| format!("fio {fio:?}\nlab {us:?}\n")).collect();
        format!("{near:?}:\n{text}{lines}")
    })
}

#[test]
fn counts_are_those_of_fio() {
    if !fio::is_installed() {
        return;
    }
    let text = std::fs::read_to_string(fio::corpus().join("counts.txt")).expect("readable");
    let cases = cases(&text);
    assert!(cases.len() > 20, "the list of cases is there");
    let next = AtomicUsize::new(0);
    let found = Mutex::new(vec![]);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (next, found, cases) = (&next, &found, &cases);
            scope.spawn(move || {
                let scratch = fio::Scratch::new(&format!("counts-{thread}"));
                while let Some((near, text)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let difference = differences(&scratch, *near, text);
                    found.lock().expect("no thread failed").extend(difference);
                }
            });
        }
    });
    let found = found.into_inner().expect("no thread failed");
    assert!(found.is_empty(), "{} of {}:\n{}", found.len(), cases.len(), found.join("\n"));
}
