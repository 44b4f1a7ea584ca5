//! What the clones of job files do, under the installed fio and in the lab.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use fairdisk_core::{Bio, Elevator, Instant, Op, Prng, Record, SECTOR_BYTES, Span};
use fairdisk_lab::jobfile::Resolved;
use fairdisk_lab::plan::{Loaded, Options, Plan};
use fairdisk_sim::{TaskReport, World};
use serde_json::Value;

use crate::fio;

/// What one clone did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Done {
    job: String,
    /// The number and bytes of reads, writes and trims.
    ops: [(u64, u64); 3],
    flushes: u64,
    /// The I/Os in order, where they are known.
    ios: Vec<Io>,
}

/// One read, write or trim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Io {
    /// Index of the file among those of the job.
    file: usize,
    op: Op,
    at: u64,
    bytes: u64,
}

impl Done {
    /// Whether both did as much, in whatever order.
    pub(crate) fn same_numbers(&self, other: &Self) -> bool {
        (&self.job, self.ops, self.flushes) == (&other.job, other.ops, other.flushes)
    }

    /// The measures that are compared on average: I/Os and bytes of each operation, flushes, and
    /// for the pattern the number of positions visited and of I/Os that followed the previous one.
    pub(crate) fn measures(&self) -> [(&'static str, f64); 9] {
        let [read, write, trim] = self.ops.map(|(ios, bytes)| (ios as f64, bytes as f64));
        let places: BTreeSet<_> = self.ios.iter().map(|io| (io.file, io.at)).collect();
        let behind = |io: &Io| (io.file, io.at + io.bytes);
        let follow = self.ios.windows(2).filter(|two| behind(&two[0]) == (two[1].file, two[1].at));
        [
            ("reads", read.0),
            ("bytes read", read.1),
            ("writes", write.0),
            ("bytes written", write.1),
            ("trims", trim.0),
            ("bytes trimmed", trim.1),
            ("flushes", self.flushes as f64),
            ("places", places.len() as f64),
            ("followers", follow.count() as f64),
        ]
    }
}

/// How the numbers of all clones together differ by more than a part; `None` if they do not. Of
/// reads, writes and trims alone, more may differ by chance. With `group_reporting` fio tells the
/// sum of a group.
pub(crate) fn difference(fio: &[Done], us: &[Done], part: f64) -> Option<String> {
    let sum = |done: &[Done]| {
        let each = [0, 1, 2].map(|op| done.iter().map(|done| done.ops[op].0).sum::<u64>());
        let bytes = done.iter().flat_map(|done| done.ops).map(|(_, bytes)| bytes).sum::<u64>();
        let flushes = done.iter().map(|done| done.flushes).sum::<u64>();
        (each, [each.iter().sum(), bytes, flushes])
    };
    let (fio, us) = (sum(fio), sum(us));
    let is_off = |(fio, us): (&u64, &u64), chance: f64| {
        let (fio, us) = (*fio as f64, *us as f64);
        (fio - us).abs() > (part * fio.max(us)).max(chance * fio.max(us).sqrt())
    };
    let differs = fio.1.iter().zip(&us.1).any(|pair| is_off(pair, 0.0))
        || fio.0.iter().zip(&us.0).any(|pair| is_off(pair, 3.0));
    differs.then(|| format!("fio {fio:?}\nlab {us:?}"))
}

/// The head of every job file: fio must lay out files without waiting for the disk.
pub(crate) const GLOBAL: &str =
    "[global]\nioengine=psync\nbs=4k\nsize=1m\nthread\ncreate_fsync=0\n";

/// A job file with a section for each job, given as settings separated by blanks.
pub(crate) fn sections<'a>(jobs: impl Iterator<Item = &'a String>) -> String {
    let section = |(at, job): (usize, &String)| {
        format!("[j{at}]\n{}\nwrite_iolog=j{at}.log\n", job.replace(' ', "\n"))
    };
    jobs.enumerate().map(section).fold(GLOBAL.to_owned(), |text, section| text + &section)
}

/// What fio does.
pub(crate) fn by_fio(scratch: &fio::Scratch, text: &str) -> Vec<Done> {
    scratch.clear();
    let path = scratch.write(text);
    let folder = path.parent().expect("it is in a folder");
    let jobs = jobs_of(start(&path));
    let done = |job: &Value| {
        let name = job["jobname"].as_str().expect("a name");
        Done {
            job: name.to_owned(),
            ops: ["read", "write", "trim"]
                .map(|op| (number(&job[op]["total_ios"]), number(&job[op]["io_bytes"]))),
            flushes: number(&job["sync"]["total_ios"]),
            ios: logged(&folder.join(format!("{name}.log"))),
        }
    };
    jobs.iter().map(done).collect()
}

/// Starts fio on a job file, in the folder of the file.
pub(crate) fn start(path: &Path) -> Child {
    let mut command = Command::new("fio");
    command.args(["--output-format=json".as_ref(), path.as_os_str()]);
    command.current_dir(path.parent().expect("it is in a folder"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("fio runs")
}

/// What a fio tells of its jobs when it has ended.
pub(crate) fn jobs_of(fio: Child) -> Vec<Value> {
    let output = fio.wait_with_output().expect("fio ends");
    let said = String::from_utf8_lossy(&output.stdout);
    let problem = String::from_utf8_lossy(&output.stderr);
    let json = said.find('{').map(|at| &said[at..]);
    let json = json.unwrap_or_else(|| panic!("no JSON from fio:\n{said}{problem}"));
    let json: Value = serde_json::from_str(json).expect("fio prints JSON");
    let jobs = json["jobs"].as_array().expect("fio lists jobs").clone();
    for job in &jobs {
        assert_eq!(number(&job["error"]), 0, "fio failed in {}:\n{problem}", job["jobname"]);
    }
    jobs
}

pub(crate) fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

/// The I/Os in one of fio's logs.
fn logged(path: &Path) -> Vec<Io> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let mut files = Vec::new();
    let mut ios = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let (name, op, at, bytes) = match words[..] {
            [_, name, "add"] => {
                files.push(name);
                continue;
            }
            [_, name, "read", at, bytes] => (name, Op::Read, at, bytes),
            [_, name, "write", at, bytes] => (name, Op::Write, at, bytes),
            [_, name, "trim", at, bytes] => (name, Op::Discard, at, bytes),
            _ => continue,
        };
        let file = files.iter().position(|file| *file == name).expect("the file was added");
        let number = |text: &str| text.parse().expect("a number");
        ios.push(Io { file, op, at: number(at), bytes: number(bytes) });
    }
    ios
}

/// What the lab does, on a device that takes no time, around the page cache.
pub(crate) fn by_us(text: &str) -> Vec<Done> {
    by_lab(&text.replacen("[global]\n", "[global]\ndirect=1\n", 1))
}

/// The jobs, and the lab when it has run them on a device that takes no time.
pub(crate) fn in_lab(text: &str) -> (Resolved, Plan, World<impl Elevator>) {
    let resolved = fio::ours("job.fio", text, &[]).unwrap_or_else(|wrong| panic!("{wrong}"));
    let options = Options {
        seeds: Some(1),
        device: Some("null".to_owned()),
        schedulers: vec!["noop".to_owned()],
        keep_journal: true,
        ..Options::default()
    };
    let plan = Plan::job_file("job.fio", &resolved, &options).expect("the plan is whole");
    let setup = plan.setup(&plan.arms[0], &plan.rows[0], 0).expect("it fits");
    let mut world = World::new(setup.machine, setup.jbod);
    world.run_until_done(Instant::ZERO + Span::from_s(3600));
    assert!(world.machine().is_done(), "it comes to an end:\n{text}");
    (resolved, plan, world)
}

/// What the lab does, on a device that takes no time.
pub(crate) fn by_lab(text: &str) -> Vec<Done> {
    let (resolved, plan, world) = in_lab(text);
    // Files have the same positions for every seed, unless their sizes are drawn.
    let Loaded { files, tasks, .. } =
        plan.rows[0].load.build(&plan.rig.host, true, &mut Prng::new(0));
    let clones = resolved.jobs.iter().flat_map(|job| vec![&job.name; job.clones.get() as usize]);
    let done = |(name, report): (&String, &TaskReport)| Done {
        job: name.clone(),
        ops: [&report.per_op.read, &report.per_op.write, &report.per_op.trim]
            .map(|op| (op.ios, op.bytes)),
        flushes: report.flushes.ios,
        ios: Vec::new(),
    };
    let mut done: Vec<Done> = clones.zip(world.machine().task_reports()).map(done).collect();
    for entry in world.machine().engine(0).journal().entries() {
        if let Record::Submitted(Bio { task, op, start, sectors, .. }) = entry.record {
            let Some(done) = done.get_mut(task.0 as usize) else { continue };
            let own = tasks[task.0 as usize].files.iter().map(|file| files[*file as usize].start.0);
            let before = own.enumerate().filter(|(_, first)| *first <= start.0);
            let Some((file, first)) = before.max_by_key(|(_, first)| *first) else { continue };
            let (at, bytes) =
                ((start.0 - first) * SECTOR_BYTES, u64::from(sectors.0) * SECTOR_BYTES);
            done.ios.push(Io { file, op, at, bytes });
        }
    }
    done
}
