//! The figures of a trace as people and programs read them: one model, a table and JSON.

use crate::about::About;
use crate::summary::{By, Part, Summary};
use fairdisk_core::{Histogram, Span};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;

/// What a trace says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Report {
    /// Its format.
    pub format: String,
    /// Where it comes from.
    pub about: About,
    /// Requests of which the trace shows that they are missing.
    pub lost: u64,
    /// Broken lines or events that were passed over.
    pub skipped: u64,
    /// By what the parts are told apart: `group`, `task` or `device`.
    pub by: &'static str,
    /// From the first request to the last end, in seconds.
    pub seconds: f64,
    /// The percentage of that in which something was under way, if ends are known.
    pub busy_percent: Option<f64>,
    /// The times between in which nothing was, in milliseconds.
    pub idle_ms: Option<Times>,
    /// All requests.
    pub all: Figures,
    /// The parts, the one with most bytes first.
    pub parts: Vec<Figures>,
}

/// The figures of a part of a trace.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Figures {
    /// The name of the part.
    pub name: String,
    /// Requests.
    pub ios: u64,
    /// Requests per second.
    pub ios_per_s: f64,
    /// Bytes.
    pub bytes: u64,
    /// Millions of bytes per second.
    pub mb_per_s: f64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Discards.
    pub discards: u64,
    /// The percentage of requests for which somebody waits.
    pub sync_percent: f64,
    /// The percentage of those that followed another of their task and began where that ended.
    pub sequential_percent: Option<f64>,
    /// The mean length of what moved data, and the greatest, in KiB.
    pub kib_mean: f64,
    /// See `kib_mean`.
    pub kib_max: f64,
    /// The mean and the greatest number of requests under way, if ends are known.
    pub depth_mean: Option<f64>,
    /// See `depth_mean`.
    pub depth_max: Option<u32>,
    /// From queueing to the end (Q2C), in milliseconds.
    pub took_ms: Option<Times>,
    /// From queueing to issue (Q2D).
    pub waited_ms: Option<Times>,
    /// From issue to the end (D2C).
    pub served_ms: Option<Times>,
    /// Between requests of a task of which none was under way.
    pub think_ms: Option<Times>,
    /// How far requests began from the end of the one before of their task, in MiB.
    pub seek_mib: Option<Times>,
    /// Requests whose end is not known.
    pub unfinished: u64,
}

/// How long something took, or how far it was.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Times {
    /// How often.
    pub count: u64,
    /// The mean.
    pub mean: f64,
    /// So many of 100 are not longer.
    pub p50: f64,
    /// See `p50`.
    pub p90: f64,
    /// See `p50`.
    pub p99: f64,
    /// So many of 1000 are not longer: 999.
    #[serde(rename = "p99.9")]
    pub p99_9: f64,
    /// The longest.
    pub max: f64,
}

impl Times {
    /// The times in a histogram, in units of so many nanoseconds; `None` if it is empty.
    fn of(histogram: &Histogram, unit: f64) -> Option<Self> {
        let in_units = |span: Span| span.as_ns() as f64 / unit;
        let at = |per_mille| in_units(histogram.quantile(per_mille));
        let count = histogram.count();
        (count > 0).then(|| Self {
            count,
            mean: in_units(histogram.sum()) / count as f64,
            p50: at(500),
            p90: at(900),
            p99: at(990),
            p99_9: at(999),
            max: in_units(histogram.max()),
        })
    }

    fn in_ms(histogram: &Histogram) -> Option<Self> {
        Self::of(histogram, 1e6)
    }
}

fn percent(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| 100.0 * part as f64 / of as f64)
}

impl Figures {
    fn of(name: &str, part: &Part, length: Span) -> Self {
        let seconds = length.as_ns() as f64 / 1e9;
        let per_s = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
        let (ios, bytes) = (part.ios.sum(), part.bytes.sum());
        let moving = part.ios.reads + part.ios.writes;
        let has_ends = part.took.count() > 0;
        // Sectors stand in the place of nanoseconds.
        let mib = 2048.0;
        Self {
            name: name.to_owned(),
            ios,
            ios_per_s: per_s(ios as f64),
            bytes,
            mb_per_s: per_s(bytes as f64 / 1e6),
            reads: part.ios.reads,
            writes: part.ios.writes,
            flushes: part.ios.flushes,
            discards: part.ios.discards,
            sync_percent: percent(part.sync, ios).unwrap_or(0.0),
            sequential_percent: percent(part.sequential, part.followed),
            kib_mean: (part.bytes.reads + part.bytes.writes) as f64 / 1024.0 / moving.max(1) as f64,
            kib_max: f64::from(part.longest_sectors) / 2.0,
            depth_mean: has_ends.then(|| part.depth_mean(length)),
            depth_max: has_ends.then_some(part.depth_max),
            took_ms: Times::in_ms(&part.took),
            waited_ms: Times::in_ms(&part.waited),
            served_ms: Times::in_ms(&part.served),
            think_ms: Times::in_ms(&part.think),
            seek_mib: Times::of(&part.seeks, mib),
            unfinished: part.unfinished,
        }
    }
}

impl Report {
    /// The report of a summary.
    #[must_use]
    pub fn new(summary: &Summary, (format, about): (String, About), lost: (u64, u64)) -> Self {
        let length = summary.all.length();
        let figures = |(name, part): (&String, &Part)| Figures::of(name, part, length);
        let mut parts: Vec<Figures> = summary.parts.iter().map(figures).collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
        let has_ends = summary.all.took.count() > 0;
        Self {
            format,
            about,
            lost: lost.0,
            skipped: lost.1,
            by: summary.by().name(),
            seconds: length.as_ns() as f64 / 1e9,
            busy_percent: has_ends.then(|| 100.0 * summary.busy()),
            idle_ms: Times::in_ms(&summary.idle).filter(|_| has_ends),
            all: Figures::of("all", &summary.all, length),
            parts,
        }
    }

    /// The report as text, 80 columns wide if names are short. Of more than `most` parts, the rest
    /// is left out with a count.
    #[must_use]
    pub fn to_text(&self, most: usize) -> String {
        let mut text = self.head();
        let shown = &self.parts[..self.parts.len().min(most)];
        let is_one = self.parts.len() == 1;
        let rows: Vec<&Figures> = match is_one {
            true => shown.iter().collect(),
            false => shown.iter().chain([&self.all]).collect(),
        };
        let names: Vec<&str> = rows.iter().map(|row| name_of(&row.name)).collect();
        let table = |text: &mut String, head: &[&str], cells: &dyn Fn(&Figures) -> Vec<String>| {
            let rows: Vec<Vec<String>> = rows.iter().map(|row| cells(row)).collect();
            text.push('\n');
            write_table(text, self.by, &names, head, &rows);
        };
        let heads = ["I/Os", "I/Os/s", "MB/s", "reads", "sync", "seq", "KiB", "depth", "max"];
        table(&mut text, &heads, &|row| {
            vec![
                row.ios.to_string(),
                figure(row.ios_per_s),
                figure(row.mb_per_s),
                whole(percent(row.reads, row.ios)),
                whole(Some(row.sync_percent)),
                whole(row.sequential_percent),
                figure(row.kib_mean),
                row.depth_mean.map_or("-".into(), figure),
                row.depth_max.map_or("-".into(), |max| max.to_string()),
            ]
        });
        if self.all.took_ms.is_some() || self.all.think_ms.is_some() {
            let heads = ["p50", "p90", "p99", "max", "Q2D p50", "p99", "D2C p50", "p99", "think"];
            table(&mut text, &heads, &|row| {
                let (took, waited) = (row.took_ms, row.waited_ms);
                [
                    took.map(|it| it.p50),
                    took.map(|it| it.p90),
                    took.map(|it| it.p99),
                    took.map(|it| it.max),
                    waited.map(|it| it.p50),
                    waited.map(|it| it.p99),
                    row.served_ms.map(|it| it.p50),
                    row.served_ms.map(|it| it.p99),
                    row.think_ms.map(|it| it.p50),
                ]
                .map(|ms| ms.map_or("-".into(), figure))
                .to_vec()
            });
            text.push_str(
                "Times in ms, from queueing to the end; waiting for the scheduler (Q2D), at the\n\
                 device (D2C), and between requests of a task (p50).\n",
            );
        }
        if shown.len() < self.parts.len() {
            let rest = self.parts.len() - shown.len();
            let _ = writeln!(text, "{rest} more of less bytes; --json has them.");
        }
        text
    }

    fn head(&self) -> String {
        let About { device, host, kernel, scheduler, .. } = &self.about;
        let mut words = vec![
            self.format.clone(),
            format!("{} requests in {} s", self.all.ios, figure(self.seconds)),
        ];
        let named = [("", device), ("under ", scheduler), ("on ", host), ("Linux ", kernel)];
        let known = named.iter().filter(|(_, name)| !name.is_empty());
        words.extend(known.map(|(word, name)| format!("{word}{name}")));
        let mut text = words.join(", ");
        text.push('\n');
        if let Some(busy) = self.busy_percent {
            let _ = write!(text, "something under way {busy:.0} % of the time");
            if let Some(idle) = self.idle_ms {
                let (count, p50, max) = (idle.count, figure(idle.p50), figure(idle.max));
                let _ = write!(text, "; {count} gaps, p50 {p50} ms, longest {max} ms");
            }
            text.push('\n');
        }
        let missing = [
            (self.lost, "were lost while they were recorded"),
            (self.skipped, "broken lines or events were passed over"),
            (self.all.unfinished, "have no end in the trace"),
        ];
        for (count, words) in missing {
            if count > 0 {
                let _ = writeln!(text, "{count} {words}");
            }
        }
        text
    }
}

impl By {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::Task => "task",
            Self::Device => "device",
        }
    }
}

/// The name of a part; one that the trace does not name is unknown.
const fn name_of(name: &str) -> &str {
    if name.is_empty() { "(unknown)" } else { name }
}

/// A figure with three digits.
fn figure(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        value if value < 1.0 => format!("{value:.3}"),
        value if value < 10.0 => format!("{value:.2}"),
        value if value < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn whole(percent: Option<f64>) -> String {
    percent.map_or("-".into(), |percent| format!("{percent:.0}%"))
}

/// Writes rows with their names, numbers right-aligned.
fn write_table(
    text: &mut String,
    head: &str,
    names: &[&str],
    heads: &[&str],
    rows: &[Vec<String>],
) {
    let width = |name: &str| name.chars().count();
    let first = names.iter().map(|name| width(name)).chain([width(head)]).max().unwrap_or(0);
    let widths: Vec<usize> = (0..heads.len())
        .map(|at| rows.iter().map(|row| row[at].len()).chain([heads[at].len()]).max().unwrap_or(0))
        .collect();
    let mut line = |name: &str, cells: &mut dyn Iterator<Item = &str>| {
        text.push_str(name);
        text.extend(std::iter::repeat_n(' ', first - width(name)));
        for (cell, width) in cells.zip(&widths) {
            let _ = write!(text, "  {cell:>width$}");
        }
        text.push('\n');
    };
    line(head, &mut heads.iter().copied());
    for (name, row) in names.iter().zip(rows) {
        line(name, &mut row.iter().map(String::as_str));
    }
}
