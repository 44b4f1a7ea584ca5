//! The loads, as data.

use super::figures::Measure;

/// What a load is about, which says what is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Commits,
    Depths,
    Sizes,
    Streams,
    Thinkers,
}

impl Family {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Commits => "commits",
            Self::Depths => "depths",
            Self::Sizes => "sizes",
            Self::Streams => "streams",
            Self::Thinkers => "thinkers",
        }
    }

    /// Whether all jobs want all of the disk, so that weights say what each gets.
    pub(super) const fn has_shares(self) -> bool {
        !matches!(self, Self::Commits | Self::Thinkers)
    }
}

/// Which files the clones of a job use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Files {
    /// All the same.
    One,
    /// Each its own.
    Each,
}

/// Options of fio, as on its command line and in its job files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fio {
    pub(super) options: Vec<(&'static str, String)>,
    pub(super) files: Files,
    pub(super) measure: Measure,
}

/// The program that a job is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Fio(Fio),
    /// `dd conv=fsync`, again and again.
    Dd,
    /// Clients of PostgreSQL.
    Pgbench,
}

impl Work {
    pub(super) const fn measure(&self) -> Measure {
        match self {
            Self::Fio(fio) => fio.measure,
            Self::Dd => Measure::Megabytes,
            Self::Pgbench => Measure::Commits { writes: 1 },
        }
    }

    /// Whether a job file can say it.
    pub(super) const fn fits_a_job_file(&self) -> bool {
        matches!(self, Self::Fio(_))
    }
}

/// One group's programs.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) group: &'static str,
    pub(super) weight: u32,
    /// A noun phrase.
    pub(super) title: String,
    pub(super) work: Work,
}

/// Jobs that run beside each other.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub(super) family: Family,
    pub(super) name: String,
    pub(super) jobs: Vec<Job>,
}

impl Load {
    fn pair(family: Family, name: String, weights: [u32; 2], works: [&Titled; 2]) -> Self {
        let job = |at: usize, group| {
            let (title, work) = works[at].clone();
            Job { group, weight: weights[at], title, work }
        };
        Self { family, name, jobs: vec![job(0, "first"), job(1, "second")] }
    }

    pub(super) fn title(&self) -> String {
        let titles: Vec<&str> = self.jobs.iter().map(|job| job.title.as_str()).collect();
        let weights: Vec<String> = self.jobs.iter().map(|job| job.weight.to_string()).collect();
        match titles.as_slice() {
            [alone] => (*alone).to_owned(),
            all => format!("{}; {}", all.join(" beside "), weights.join(":")),
        }
    }

    /// What the first job asks for, in percent.
    pub(super) fn asked_percent(&self) -> f64 {
        let all: u32 = self.jobs.iter().map(|job| job.weight).sum();
        100.0 * f64::from(self.jobs[0].weight) / f64::from(all)
    }

    pub(super) fn has(&self, work: &Work) -> bool {
        self.jobs.iter().any(|job| job.work == *work)
    }
}

/// What somebody does, in words and for a program.
type Titled = (String, Work);

fn fio(title: String, how: &str, kib: u32, measure: Measure) -> (String, Fio) {
    let options = vec![("rw", how.to_owned()), ("bs", format!("{kib}k"))];
    (title, Fio { options, files: Files::One, measure })
}

fn with((title, mut fio): (String, Fio), more: &[(&'static str, u32)]) -> Titled {
    fio.options.extend(more.iter().map(|(key, value)| (*key, value.to_string())));
    (title, Work::Fio(fio))
}

/// Direct I/O with so many requests in flight.
fn direct(title: &str, how: &str, kib: u32, depth: u32, measure: Measure) -> Titled {
    let (title, mut fio) = fio(format!("{title}, {depth} in flight"), how, kib, measure);
    fio.options.push(("ioengine", "libaio".to_owned()));
    with((title, fio), &[("direct", 1), ("iodepth", depth)])
}

fn random_reads(kib: u32, depth: u32) -> Titled {
    direct(&format!("random reads of {kib} KiB"), "randread", kib, depth, Measure::Ios)
}

fn buffered_stream() -> Titled {
    with(fio("a buffered stream of writes".to_owned(), "write", 1024, Measure::Megabytes), &[])
}

/// What writes and reads beside a database, by name.
fn backups() -> [(&'static str, Titled); 5] {
    let megabytes = Measure::Megabytes;
    [
        ("buffered", buffered_stream()),
        ("dd", ("`dd conv=fsync`".to_owned(), Work::Dd)),
        ("direct", direct("direct writes of 256 KiB", "write", 256, 8, megabytes)),
        ("readers", random_reads(4, 16)),
        ("scan", direct("a direct stream of reads", "read", 1024, 4, megabytes)),
    ]
}

/// A log whose writes become durable so many at a time.
fn log(kib: u32, writes: u32, direct: bool) -> Titled {
    let how = if direct { "direct " } else { "" };
    let title = format!("{how}commits of {writes} x {kib} KiB");
    let more = [("fsync", writes), ("direct", u32::from(direct))];
    with(fio(title, "write", kib, Measure::Commits { writes }), &more)
}

fn commits() -> Vec<Load> {
    let sizes = [4, 8, 16].into_iter().flat_map(|kib| [1, 8, 16].map(|writes| (kib, writes)));
    let mut logs: Vec<(String, Titled)> = sizes
        .map(|(kib, writes)| (format!("commits-{kib}k-{writes}"), log(kib, writes, false)))
        .collect();
    logs.push(("commits-direct-4k-1".to_owned(), log(4, 1, true)));
    logs.push(("pgbench".to_owned(), ("`pgbench`".to_owned(), Work::Pgbench)));
    let mut loads = Vec::new();
    for (name, log) in &logs {
        for (backup, beside) in &backups() {
            let name = format!("{name}-{backup}");
            loads.push(Load::pair(Family::Commits, name, [800, 100], [log, beside]));
        }
    }
    loads
}

const DEPTHS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Readers with as many in flight as each other, and with fewer than the most.
fn depths() -> Vec<Load> {
    let mut loads = Vec::new();
    let mut add = |name: String, weights: [u32; 2], depths: [u32; 2]| {
        let [one, other] = depths.map(|depth| random_reads(4, depth));
        let name = format!("depth-{name}-{}:{}", weights[0], weights[1]);
        let weights = weights.map(|weight| 100 * weight);
        loads.push(Load::pair(Family::Depths, name, weights, [&one, &other]));
    };
    for depth in DEPTHS {
        for weights in [[1, 1], [2, 1], [7, 1]] {
            add(depth.to_string(), weights, [depth, depth]);
        }
        let most = DEPTHS[DEPTHS.len() - 1];
        if depth < most {
            for weights in [[7, 1], [1, 1], [1, 7]] {
                add(format!("{depth}+{most}"), weights, [depth, most]);
            }
        }
    }
    loads
}

/// Small beside large, and kinds of requests beside each other: the pairs that are hard to share
/// between without knowing what requests cost.
fn sizes() -> Vec<Load> {
    let writes = |kib: u32, how, depth| {
        let title = if how == "write" { "a stream of writes" } else { "random writes" };
        direct(&format!("{title} of {kib} KiB"), how, kib, depth, Measure::Ios)
    };
    let pairs = [
        ("small-large", random_reads(4, 8), random_reads(256, 8)),
        (
            "stream-random",
            direct("a stream of reads of 4 KiB", "read", 4, 16, Measure::Ios),
            random_reads(64, 16),
        ),
        ("reads-writes", random_reads(4, 16), writes(4, "randwrite", 16)),
        ("reads-write-stream", random_reads(16, 8), writes(128, "write", 8)),
    ];
    let load = |(name, one, other): &(&str, _, _)| -> Load {
        Load::pair(Family::Sizes, (*name).to_owned(), [100, 100], [one, other])
    };
    pairs.iter().map(load).collect()
}

/// Streams of a number of tasks, each in a file of its own or all in one.
fn stream_readers(count: u32, files: Files, buffered: bool) -> Titled {
    let title = match (files, buffered) {
        (Files::One, _) => format!("{count} threads that stream one file"),
        (Files::Each, false) => format!("{count} direct streams of reads"),
        (Files::Each, true) => format!("{count} buffered streams of reads"),
    };
    let (title, mut fio) = fio(title, "read", 64, Measure::Megabytes);
    fio.files = files;
    with((title, fio), &[("direct", u32::from(!buffered)), ("numjobs", count)])
}

fn streams() -> Vec<Load> {
    let mut loads = Vec::new();
    let random = random_reads(4, 16);
    let kinds = [
        ("streams", Files::Each, false),
        ("buffered-streams", Files::Each, true),
        ("threads", Files::One, false),
    ];
    for (kind, files, buffered) in kinds {
        for count in [1, 2, 4, 5, 8, 16, 32] {
            let (title, work) = stream_readers(count, files, buffered);
            let name = format!("{kind}-{count}");
            let beside = format!("{name}-random");
            let job = Job { group: "first", weight: 100, title: title.clone(), work: work.clone() };
            loads.push(Load { family: Family::Streams, name, jobs: vec![job] });
            let both = [&(title, work), &random];
            loads.push(Load::pair(Family::Streams, beside, [100, 100], both));
        }
    }
    loads
}

/// Somebody who reads, and pauses after each read.
fn thinkers() -> Vec<Load> {
    let mut loads = Vec::new();
    for think_us in [100, 1_000, 5_000, 20_000] {
        let think_ms = f64::from(think_us) / 1e3;
        let title = format!("a reader of 4 KiB that thinks for {think_ms} ms");
        let reader = fio(title, "randread", 4, Measure::Ios);
        let thinker = with(reader, &[("direct", 1), ("thinktime", think_us)]);
        for (name, beside) in [("random", random_reads(4, 16)), ("buffered", buffered_stream())] {
            let name = format!("thinker-{think_ms}ms-{name}");
            loads.push(Load::pair(Family::Thinkers, name, [100, 100], [&thinker, &beside]));
        }
    }
    loads
}

/// Every load there is.
pub(super) fn all() -> Vec<Load> {
    [commits(), depths(), sizes(), streams(), thinkers()].concat()
}

/// What is run if nothing else is asked for: at least one of each kind.
pub(super) const TABLE: &[&str] = &[
    "commits-4k-1-buffered",
    "commits-4k-1-dd",
    "commits-4k-1-direct",
    "commits-4k-1-readers",
    "commits-16k-8-buffered",
    "pgbench-buffered",
    "depth-2-7:1",
    "depth-8-7:1",
    "depth-16-7:1",
    "depth-64-7:1",
    "small-large",
    "reads-writes",
    "streams-16-random",
    "thinker-1ms-random",
];

/// What the README shows of them.
pub(super) const EXTRACT: &[&str] = &[
    "commits-4k-1-buffered",
    "pgbench-buffered",
    "depth-8-7:1",
    "depth-16-7:1",
    "reads-writes",
    "streams-16-random",
];

/// What the short form runs.
pub(super) const SHORT: &[&str] = &["commits-4k-1-buffered", "streams-4"];

#[test]
fn every_load_has_a_name_of_its_own_and_the_chosen_ones_are_there() {
    let all = all();
    let names: Vec<&str> = all.iter().map(|load| load.name.as_str()).collect();
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), names.len());
    for name in [TABLE, SHORT].concat() {
        assert!(names.contains(&name), "{name}");
    }
    assert!(EXTRACT.iter().all(|name| TABLE.contains(name)));
}
