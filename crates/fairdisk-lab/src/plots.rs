//! The charts that pages of results share: what was done in all, what each group got, and how long
//! it took.

use crate::outcome::{GroupOutcome, part};
use crate::watched::{Watched, WatchedRequest};
use fairdisk_core::Histogram;
use fairdisk_page::charts::{
    Axis, Bar, Bars, Dot, Dots, Line, Lines, Range, Ranges, Stretch, Tracks,
};
use fairdisk_page::{Part, Section};

/// The most curves in one chart; with more, each arm has a chart of its own.
const CURVES_MAX: usize = 12;
/// The least step of a distribution that is shown, as a part of all, and of what takes longer.
const STEP: f64 = 0.01;
const TAIL_STEP: f64 = 0.2;
/// The parts of the time that a time line tells apart.
const BINS: usize = 150;
/// The ranks of latencies that are shown, of a thousand.
const RANKS: [(&str, u32); 4] = [("p50", 500), ("p99", 990), ("p99.9", 999), ("longest", 1000)];
/// The shortest latency that is shown, in ms: a logarithmic axis has no zero.
const SHORTEST_MS: f64 = 0.001;

/// What is shown of one row under one arm.
#[derive(Debug)]
pub(crate) struct ArmPlot<'a> {
    /// The name of the arm.
    pub(crate) name: String,
    /// I/Os per second: the mean, and the standard deviation if there were several runs.
    pub(crate) ios_per_s: (f64, Option<f64>),
    /// The I/Os per second that the source gives.
    pub(crate) published_ios_per_s: Option<f64>,
    /// Megabytes per second.
    pub(crate) mb_per_s: f64,
    /// Its groups.
    pub(crate) groups: Vec<GroupPlot<'a>>,
}

/// What is shown of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupPlot<'a> {
    /// The part of the disk that it is entitled to, 0 to 1.
    pub(crate) asked: Option<f64>,
    /// The part that it got, 0 to 1; `None` if nothing was done for anyone.
    pub(crate) got: Option<f64>,
    /// The other results.
    pub(crate) outcome: &'a GroupOutcome,
}

/// The charts of one row: what was done, who got it, how long it took.
pub(crate) fn row(mut section: Section, arms: &[ArmPlot<'_>]) -> Section {
    section.parts.extend(throughput(arms));
    section.parts.extend(shares(arms));
    section.parts.extend(latencies(arms, "Latency of reads and writes", &|it| &it.latency));
    let flushes = |it| flush(it);
    section.parts.extend(latencies(arms, "Latency of fsync", &flushes));
    section
}

fn flush(group: &GroupOutcome) -> &Histogram {
    &group.directions.flush.latency
}

/// I/Os and bytes a second under each arm.
fn throughput(arms: &[ArmPlot<'_>]) -> Vec<Part> {
    let ios = |arm: &ArmPlot<'_>| Bar {
        sd: arm.ios_per_s.1,
        mark: arm.published_ios_per_s,
        ..Bar::new(&arm.name, arm.ios_per_s.0)
    };
    let bytes = |arm: &ArmPlot<'_>| Bar::new(&arm.name, arm.mb_per_s);
    let chart = |axis: &str, bars: Vec<Bar>, title: &str| {
        Part::Chart(Bars::new(Axis::linear(axis), bars).with_marks("published").chart(title))
    };
    let mut parts =
        vec![chart("I/Os per second", arms.iter().map(ios).collect(), "I/Os of all groups")];
    if arms.iter().any(|arm| arm.mb_per_s > 0.0) {
        parts.push(chart("MB per second", arms.iter().map(bytes).collect(), "Bytes of all groups"));
    }
    parts
}

/// What each group got beside what it asked for, and its share of the I/Os if a source gives that.
fn shares(arms: &[ArmPlot<'_>]) -> Vec<Part> {
    let percent = |part: f64| part * 100.0;
    let got =
        |group: &GroupPlot<'_>| Some((percent(group.got?), None, Some(percent(group.asked?))));
    let of_ios = |group: &GroupPlot<'_>| {
        let published = group.outcome.published.as_ref().and_then(|published| published.share);
        let ours = group.outcome.compared_share();
        let sd = (ours.each.len() > 1).then(|| percent(ours.sd));
        Some((percent(ours.mean), sd, published.map(percent)))
    };
    let mut parts = Vec::new();
    let asked = dots(arms, got);
    if !asked.is_empty() {
        let words = ["group", "scheduler", "asked, %"];
        let axis = Axis::linear("got of the disk's work, %");
        let chart = Dots { axis, words, dots: asked };
        parts.push(Part::Chart(chart.chart("Got, and asked for as a stroke")));
    }
    let shares = dots(arms, of_ios);
    let is_published = shares.iter().any(|dot| dot.mark.is_some());
    let are_several = group_names(arms).len() > 1;
    if is_published || parts.is_empty() && are_several {
        let words = ["group", "scheduler", "published, %"];
        let chart = Dots { axis: Axis::linear("share of the I/Os, %"), words, dots: shares };
        let title = match is_published {
            true => "Shares of the I/Os, and the published ones as strokes",
            false => "Shares of the I/Os",
        };
        parts.push(Part::Chart(chart.chart(title)));
    }
    parts
}

/// A value with its standard deviation and what to compare it with.
type Value = (f64, Option<f64>, Option<f64>);

/// A dot for each group under each arm that has a value: group by group.
fn dots(arms: &[ArmPlot<'_>], value: impl Fn(&GroupPlot<'_>) -> Option<Value>) -> Vec<Dot> {
    let names = group_names(arms);
    let dot = |name: &str, arm: &ArmPlot<'_>| {
        let group = arm.groups.iter().find(|group| group.outcome.name == name)?;
        let (value, sd, mark) = value(group)?;
        Some(Dot { name: name.to_owned(), series: arm.name.clone(), value, sd, mark })
    };
    let of_name = |name: &&str| arms.iter().filter_map(|arm| dot(name, arm)).collect::<Vec<_>>();
    names.iter().flat_map(of_name).collect()
}

/// The names of all groups, in order.
fn group_names<'a>(arms: &'a [ArmPlot<'_>]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for group in arms.iter().flat_map(|arm| &arm.groups) {
        if !names.contains(&group.outcome.name.as_str()) {
            names.push(&group.outcome.name);
        }
    }
    names
}

/// The percentiles of a latency and its distribution; nothing if there were none.
fn latencies<'a>(
    arms: &'a [ArmPlot<'_>],
    title: &str,
    latency: &dyn Fn(&'a GroupOutcome) -> &'a Histogram,
) -> Vec<Part> {
    let axis = || Axis::log("latency, ms");
    let range = |name: &str, arm: &'a ArmPlot<'_>| {
        let group = arm.groups.iter().find(|group| group.outcome.name == name)?;
        let latency = latency(group.outcome);
        let values = RANKS.map(|(_, per_mille)| ms(latency.quantile(per_mille)));
        let (name, series) = (name.to_owned(), arm.name.clone());
        (latency.count() > 0).then(|| Range { name, series, values: values.to_vec() })
    };
    let names = group_names(arms);
    let of_name = |name: &&str| arms.iter().filter_map(|arm| range(name, arm)).collect::<Vec<_>>();
    let ranges: Vec<Range> = names.iter().flat_map(of_name).collect();
    if ranges.is_empty() {
        return Vec::new();
    }
    let ranks = RANKS.map(|(name, _)| name).to_vec();
    let percentiles = Ranges { axis: axis(), words: ["group", "scheduler"], ranks, ranges };
    let mut parts = vec![Part::Chart(percentiles.chart(format!("{title}: percentiles")))];
    let lines = |arm: &'a ArmPlot<'_>, prefix: &str| {
        let line = |group: &GroupPlot<'a>| {
            let latency = latency(group.outcome);
            let name = format!("{prefix}{}", group.outcome.name);
            let points = || distribution(latency);
            (latency.count() > 0).then(|| Line { name, points: points(), ..Line::default() })
        };
        arm.groups.iter().filter_map(line).collect::<Vec<_>>()
    };
    let chart = |lines: Vec<Line>, title: String| {
        let chart = Lines { x: axis(), y: Axis::linear("done by then, %"), has_steps: true, lines };
        Part::Chart(chart.chart(title))
    };
    let named = |arm: &'a ArmPlot<'_>| lines(arm, &format!("{}, ", arm.name));
    let all: Vec<Line> = arms.iter().flat_map(named).collect();
    if all.len() <= CURVES_MAX {
        parts.push(chart(all, format!("{title}: distribution")));
    } else {
        let one = |arm: &'a ArmPlot<'_>| {
            let title = format!("{title}: distribution under {}", arm.name);
            chart(lines(arm, ""), title)
        };
        parts.push(Part::Folded(format!("{title}: distributions"), arms.iter().map(one).collect()));
    }
    parts
}

/// A stretch of one run: who had the disk, how much waited, and where the head was.
pub(crate) fn time_line(watched: &Watched) -> Part {
    let length = watched.length_s;
    let time = || Axis::linear("time, s").between(0.0, length);
    let had = Tracks {
        x: time(),
        value: "had of the disk's time, %".to_owned(),
        stretches: turns(watched),
    };
    let depth = |name: &str, of: fn(&WatchedRequest) -> [f64; 2]| Line {
        name: name.to_owned(),
        points: bins(watched, |_| true, of).map(|(x, sum)| (x[0], Some(sum))).collect(),
        ..Line::default()
    };
    let lines = vec![
        depth("waiting", |it| [it.asked_s, it.issued_s]),
        depth("at the disk", |it| [it.issued_s, it.done_s]),
    ];
    let depth = Lines { x: time(), y: Axis::linear("requests"), has_steps: true, lines };
    let of_group = |(at, name): (usize, &String)| {
        let own = watched.requests.iter().filter(|it| it.group == at && it.issued_s < length);
        let dots: Vec<(f64, f64)> = own.map(|it| (it.issued_s, it.place_gb)).collect();
        (!dots.is_empty()).then(|| Line { name: name.clone(), dots, ..Line::default() })
    };
    let lines = watched.groups.iter().enumerate().filter_map(of_group).collect();
    let y = Axis { title: "place, GB".to_owned(), ..Axis::default() };
    let places = Lines { x: time(), y, has_steps: false, lines };
    let arm = &watched.arm;
    let title = format!("Time line under {arm}: one run from {:.1} s on", watched.from_s);
    let charts = [
        had.chart(format!("{arm}: who had the disk")),
        depth.chart(format!("{arm}: how much waited")),
        places.chart(format!("{arm}: where the disk was asked to go")),
    ];
    Part::Folded(title, charts.map(Part::Chart).to_vec())
}

/// For each part of the time, the mean number of requests of those that `is_meant` that were
/// between the two times that `of` gives.
fn bins(
    watched: &Watched,
    is_meant: impl Fn(&WatchedRequest) -> bool,
    of: impl Fn(&WatchedRequest) -> [f64; 2],
) -> impl Iterator<Item = ([f64; 2], f64)> {
    let width = watched.length_s / BINS as f64;
    let mut sums = vec![0.0; BINS];
    for [from, to] in watched.requests.iter().filter(|it| is_meant(it)).map(of) {
        let (first, last) = ((from / width) as usize, (to / width) as usize);
        for (at, sum) in sums.iter_mut().enumerate().take(last + 1).skip(first) {
            let (begin, end) = (at as f64 * width, (at + 1) as f64 * width);
            *sum += part((to.min(end) - from.max(begin)).max(0.0), width);
        }
    }
    sums.into_iter()
        .enumerate()
        .map(move |(at, sum)| ([at as f64 * width, (at + 1) as f64 * width], sum))
}

/// What each group had of the disk in each part of the time.
fn turns(watched: &Watched) -> Vec<Stretch> {
    let served = |it: &WatchedRequest| [it.issued_s, it.done_s];
    let all: Vec<f64> = bins(watched, |_| true, served).map(|(_, sum)| sum).collect();
    let of_group = |(at, name): (usize, &String)| {
        let own = bins(watched, |it| it.group == at, served).zip(&all);
        // A disk that serves several at once is divided between them.
        let stretch = |((x, sum), all): (([f64; 2], f64), &f64)| {
            let part = sum / all.max(1.0);
            (part > 0.0).then(|| Stretch { name: name.clone(), x, part })
        };
        own.filter_map(stretch).collect::<Vec<_>>()
    };
    watched.groups.iter().enumerate().flat_map(of_group).collect()
}

/// In ms, as the axis can show it.
fn ms(span: fairdisk_core::Span) -> f64 {
    (span.as_ns() as f64 / 1e6).max(SHORTEST_MS)
}

/// How many percent took no longer, by length in ms: the points between which much happens.
fn distribution(latency: &Histogram) -> Vec<(f64, Option<f64>)> {
    let (all, mut below, mut shown) = (latency.count() as f64, 0, 0.0);
    let mut points = vec![(ms(latency.min()), Some(0.0))];
    for (longest, count) in latency.buckets().filter(|(_, count)| *count > 0) {
        below += count;
        let part = part(below as f64, all);
        let is_far = part - shown >= STEP || 1.0 - part <= (1.0 - shown) * (1.0 - TAIL_STEP);
        if is_far || below == latency.count() {
            points.push((ms(longest.min(latency.max())), Some(part * 100.0)));
            shown = part;
        }
    }
    points
}
