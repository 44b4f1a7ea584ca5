//! What was measured, as tables, and the pages that show them.

use super::figures::{Measure, Percentiles, median, range};
use super::loads::{EXTRACT, Load};
use super::settings::{Scheduler, Settings, Storage};
use super::turns::{Measured, Outcome, Sample};
use std::fs;
use std::path::{Path, PathBuf};

/// What is told where there is nothing to tell.
const NOTHING: &str = "–";

/// One figure of a load, for each scheduler.
type Row = (String, Vec<Option<String>>);

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/real-disk.md")
}

fn readme() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")
}

/// A rate without more digits than it has.
fn amount(value: f64) -> String {
    if value < 100.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}

/// A time, likewise.
fn ms(value: f64) -> String {
    if value < 10.0 { format!("{value:.2}") } else { format!("{value:.0}") }
}

/// How the median of something in each sample is shown.
fn shown(
    samples: &[Sample],
    value: impl Fn(&Sample) -> Option<f64>,
    show: impl Fn(f64) -> String,
) -> Option<String> {
    median(samples.iter().filter_map(value)).map(show)
}

/// How the median is shown with the least and the most beside it, where there are several.
fn spread(
    samples: &[Sample],
    value: impl Fn(&Sample) -> Option<f64>,
    show: impl Fn(f64) -> String,
) -> Option<String> {
    let [least, most] = range(samples.iter().filter_map(&value))?.map(&show);
    let median = shown(samples, value, show)?;
    Some(if samples.len() == 1 { median } else { format!("{median} ({least}–{most})") })
}

pub(super) fn kept(sample: &Sample, job: usize) -> f64 {
    sample.beside.figures[job].rate / sample.alone[job].rate
}

/// What is told of one load; what matters most comes first.
struct Told<'a> {
    measured: &'a Measured,
    noop: Option<usize>,
}

impl Told<'_> {
    fn row(&self, title: String, cell: impl Fn(&[Sample]) -> Option<String>) -> Row {
        (title, self.measured.samples.iter().map(|samples| cell(samples)).collect())
    }

    fn measure(&self, job: usize) -> Measure {
        self.measured.load.jobs[job].work.measure()
    }

    /// What it gets beside the others, of what it does alone.
    fn kept(&self, job: usize) -> Row {
        let (group, unit) = (self.measured.load.jobs[job].group, self.measure(job).unit());
        self.row(format!("{group}: part of its {unit} alone"), |samples| {
            let part =
                spread(samples, |sample| Some(kept(sample, job)), |part| format!("{part:.2}"));
            let alone = shown(samples, |sample| Some(sample.alone[job].rate), amount);
            Some(format!("{} of {}", part?, alone?))
        })
    }

    /// What the first does, as a rate: where a part of its rate alone says too little.
    fn rate(&self) -> Row {
        let rate = |sample: &Sample| Some(sample.beside.figures[0].rate);
        let (group, unit) = (self.measured.load.jobs[0].group, self.measure(0).unit());
        self.row(format!("{group}: {unit}"), |samples| spread(samples, rate, amount))
    }

    /// How much of both parts the first has.
    fn got(&self) -> Row {
        let asked = self.measured.load.asked_percent();
        let got = |sample: &Sample| {
            let [first, second] = [0, 1].map(|job| kept(sample, job));
            Some(100.0 * first / (first + second))
        };
        self.row(format!("first: got, of {asked:.1} % asked for"), |samples| {
            spread(samples, got, |percent| format!("{percent:.0}"))
        })
    }

    fn latency(&self, title: String, of: impl Fn(&Sample) -> Option<Percentiles>) -> Option<Row> {
        let row = self.row(title, |samples| {
            let [half, most] = [0, 1].map(|at| shown(samples, |sample| Some(of(sample)?[at]), ms));
            Some(format!("{}, {}", half?, most?))
        });
        row.1.iter().any(Option::is_some).then_some(row)
    }

    fn latencies(&self, job: usize) -> Vec<Row> {
        let group = self.measured.load.jobs[job].group;
        let alone = |sample: &Sample| sample.alone[job].fsync;
        let beside = |sample: &Sample| sample.beside.figures[job].fsync;
        let latency = |sample: &Sample| sample.beside.figures[job].latency;
        let rows = [
            self.latency(format!("{group}: `fsync` p50, p99, ms"), beside),
            self.latency(format!("{group}: the same alone"), alone),
            self.latency(format!("{group}: p50, p99, ms"), latency),
        ];
        rows.into_iter().flatten().collect()
    }

    /// What all jobs do, in parts of what each does alone under `noop`, beside that of `noop`.
    fn throughput(&self) -> Option<Row> {
        let noop = &self.measured.samples[self.noop?];
        let parts = |sample: &Sample, base: &Sample| -> f64 {
            let all = sample.beside.figures.iter().zip(&base.alone);
            all.map(|(beside, alone)| beside.rate / alone.rate).sum()
        };
        let ratio = |samples: &[Sample]| {
            let rounds = samples.iter().zip(noop);
            let ratios = rounds.map(|(sample, base)| parts(sample, base) / parts(base, base));
            median(ratios).map(|ratio| format!("{ratio:.2}"))
        };
        Some(self.row("throughput, beside that of `noop`".to_owned(), ratio))
    }

    fn cpu(&self) -> Option<Row> {
        let of_io = |sample: &Sample| {
            let ios_per_s: f64 = sample.beside.figures.iter().map(|job| job.ios_per_s).sum();
            Some(1e6 * sample.beside.cpu_s? / ios_per_s)
        };
        let row = self.row("CPU of the mount, us for each I/O".to_owned(), |samples| {
            shown(samples, of_io, amount)
        });
        row.1.iter().any(Option::is_some).then_some(row)
    }

    fn rows(&self) -> Vec<Row> {
        let jobs = 0..self.measured.load.jobs.len();
        let mut rows = Vec::new();
        if jobs.len() == 1 {
            rows.push(self.rate());
        } else {
            let shares = self.measured.load.family.has_shares();
            rows.extend(shares.then(|| self.got()));
            rows.extend(jobs.clone().map(|job| self.kept(job)));
            rows.extend((!shares).then(|| self.rate()));
        }
        rows.extend(jobs.flat_map(|job| self.latencies(job)));
        rows.extend(self.throughput());
        rows.extend(self.cpu());
        rows
    }
}

pub(super) fn line(cells: impl IntoIterator<Item = String>) -> String {
    cells.into_iter().fold("|".to_owned(), |line, cell| line + " " + &cell + " |") + "\n"
}

fn head() -> String {
    let schedulers = Scheduler::ALL.iter().map(|one| format!("`{}`", one.name));
    let words = ["load", "told"].map(str::to_owned);
    let count = words.len() + Scheduler::ALL.len();
    line(words.into_iter().chain(schedulers)) + &"|---".repeat(count) + "|\n"
}

/// What begins the first line of a load.
fn label(load: &str) -> String {
    format!("`{load}`: ")
}

fn lines_of(measured: &Measured, outcome: &Outcome) -> String {
    let schedulers = &outcome.schedulers;
    let told = Told { measured, noop: schedulers.iter().position(|one| *one == Scheduler::NOOP) };
    let titled = |load: &Load| label(&load.name) + &load.title();
    let mut name = titled(&measured.load);
    let mut lines = String::new();
    for (title, cells) in told.rows() {
        let cell = |one: &Scheduler| {
            let at = schedulers.iter().position(|measured| measured == one);
            at.and_then(|at| cells[at].clone()).unwrap_or_else(|| NOTHING.to_owned())
        };
        let cells = Scheduler::ALL.iter().map(cell);
        // Only the first line of a load says which it is.
        lines += &line([std::mem::take(&mut name), title].into_iter().chain(cells));
    }
    lines
}

/// What was measured on one storage.
pub(super) fn section(outcome: &Outcome, settings: &Settings) -> String {
    let lengths = settings.lengths;
    let how = match outcome.storage {
        Storage::Lab(_) => format!("One run of {} s, simulated.", lengths.seconds),
        _ => format!(
            "Medians of {} rounds, with the least and the most of a part in brackets. A run takes \
             {} s, after {} s that do not count. Other programs used {:.0} % of the CPUs \
             meanwhile.",
            lengths.rounds,
            lengths.seconds,
            lengths.ramp_seconds,
            outcome.others_percent.unwrap_or(0.0)
        ),
    };
    let lines: String = outcome.loads.iter().map(|measured| lines_of(measured, outcome)).collect();
    format!(
        "## {}\n\n{how} Chosen by `{}`.\n\n{}{lines}",
        outcome.storage.title(),
        settings.command,
        head()
    )
}

/// What stands around what is generated for a storage.
fn marks(name: &str) -> [String; 2] {
    [format!("<!-- {name} -->\n"), format!("<!-- /{name} -->\n")]
}

fn block<'a>(text: &'a str, name: &str) -> Result<[&'a str; 3], String> {
    let [begin, end] = marks(name);
    let missing = || format!("no {}", begin.trim_end());
    let (before, rest) = text.split_once(begin.as_str()).ok_or_else(missing)?;
    let (inside, after) = rest.split_once(end.as_str()).ok_or_else(missing)?;
    Ok([before, inside, after])
}

fn with_block(text: &str, name: &str, inside: &str) -> Result<String, String> {
    let ([before, _, after], [begin, end]) = (block(text, name)?, marks(name));
    Ok([before, &begin, inside, &end, after].concat())
}

/// The first lines of the loads that the README shows: of a real disk, then of the lab.
fn extract(page: &str) -> Result<String, String> {
    let mut lines = head();
    for storage in [Storage::Disk, Storage::Lab("nvme")] {
        let [_, table, _] = block(page, &storage.name())?;
        let count = 2 + Scheduler::ALL.len();
        let title = [format!("**{}**", storage.title())];
        lines += &line(title.into_iter().chain(vec![String::new(); count - 1]));
        for name in EXTRACT {
            let begin = format!("| {}", label(name));
            let found = table.lines().find(|line| line.starts_with(&begin));
            // The lab has not all of them.
            lines.extend(found.map(|line| format!("| {}\n", &line[begin.len()..])));
        }
    }
    Ok(lines)
}

/// Writes the tables of what was measured into the pages.
pub(super) fn rewrite(measured: &[Outcome], settings: &Settings) -> Result<(), String> {
    let read = |path: &Path| fs::read_to_string(path).map_err(|error| error.to_string());
    let mut text = read(&page())?;
    for outcome in measured {
        text = with_block(&text, &outcome.storage.name(), &section(outcome, settings))?;
    }
    let shown = with_block(&read(&readme())?, "real-disk", &extract(&text)?)?;
    fs::write(page(), text).map_err(|error| error.to_string())?;
    fs::write(readme(), shown).map_err(|error| error.to_string())
}

#[test]
fn the_readme_shows_lines_of_the_page() {
    let [page, readme] = [page(), readme()].map(|path| fs::read_to_string(path).unwrap());
    let [_, shown, _] = block(&readme, "real-disk").unwrap();
    assert_eq!(shown, extract(&page).unwrap(), "(UPDATE=1 rewrites it with what it measures)");
}
