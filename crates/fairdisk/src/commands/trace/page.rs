//! A trace as a page: who did how much, when, where and how fast.

use crate::output::plain;
use fairdisk_page::charts::{Axis, Bar, Bars, Cell, Heat, Line, Lines, number};
use fairdisk_page::{Page, Part, Section, Table};
use fairdisk_trace::timeline::{Bin, Course, Timeline};
use fairdisk_trace::{Figures, Report, Times};
use serde_json::Value;

/// The parts that have curves of their own; the others have least bytes.
const CURVES_MOST: usize = 20;

/// The page of a trace.
pub(super) fn page(file: &str, report: &Report, timeline: &Timeline, results: Value) -> Page {
    let parts: Vec<&str> = report.parts.iter().map(|part| &*part.name).collect();
    let shown = &parts[..parts.len().min(CURVES_MOST)];
    let mut page = Page::new(format!("{file}, a trace"), plain(file).into_owned());
    page.summary = summary(report);
    page.results = results;
    if parts.len() > shown.len() {
        let rest = parts.len() - shown.len();
        page.summary.push(Part::Remark(format!(
            "Curves are those of the {CURVES_MOST} with most bytes; the table has {rest} more."
        )));
    }
    page.sections = vec![
        amounts(report),
        over_time(timeline, shown),
        Section::new(
            "Where",
            "Bytes by place and time; the place is that on the device or in the file.",
        )
        .with(Part::Chart(places(timeline).chart("Places over time"))),
        took(timeline, shown),
    ];
    page
}

fn summary(report: &Report) -> Vec<Part> {
    let Report { all, about, by, seconds, parts, .. } = report;
    let about_it = [(&about.device, ""), (&about.scheduler, "under "), (&about.host, "on ")];
    let about_it = about_it.iter().filter(|(name, _)| !name.is_empty());
    let about_it: Vec<String> =
        about_it.map(|(name, word)| format!("{word}{}", plain(name))).collect();
    let mut summary = vec![
        Part::Verdict(format!(
            "{} I/Os in {} s: {} a second, {} MB/s",
            number(all.ios as f64),
            number(*seconds),
            number(all.ios_per_s),
            number(all.mb_per_s),
        )),
        Part::Text(format!("{} recorded, by {by}. {}", parts.len(), about_it.join(", "))),
    ];
    if report.lost + report.skipped > 0 {
        let missing = report.lost + report.skipped;
        summary.push(Part::Warning(format!("{missing} requests are missing, lost or broken.")));
    }
    summary.push(Part::Table(table(report)));
    summary
}

fn table(report: &Report) -> Table {
    let ms = |times: &Option<Times>, of: fn(&Times) -> f64| {
        times.as_ref().map_or_else(|| "-".to_owned(), |times| number(of(times)))
    };
    let percent = |part: u64, of: u64| number(100.0 * part as f64 / (of as f64).max(1.0));
    let line = |part: &Figures| {
        vec![
            plain(&part.name).into_owned(),
            number(part.ios_per_s),
            number(part.mb_per_s),
            percent(part.reads, part.ios),
            number(part.sync_percent),
            part.sequential_percent.map_or_else(|| "-".to_owned(), number),
            number(part.kib_mean),
            part.depth_mean.map_or_else(|| "-".to_owned(), number),
            ms(&part.took_ms, |it| it.p50),
            ms(&part.took_ms, |it| it.p99),
            ms(&part.waited_ms, |it| it.p99),
            ms(&part.served_ms, |it| it.p99),
            ms(&part.think_ms, |it| it.p50),
        ]
    };
    let head = [
        report.by,
        "I/Os/s",
        "MB/s",
        "reads %",
        "sync %",
        "sequential %",
        "KiB",
        "under way",
        "p50 ms",
        "p99 ms",
        "Q2D p99",
        "D2C p99",
        "think p50",
    ];
    Table::new(&head, 1, report.parts.iter().chain([&report.all]).map(line).collect())
}

fn amounts(report: &Report) -> Section {
    let bars = |of: fn(&Figures) -> f64| {
        report.parts.iter().map(|part| Bar::new(plain(&part.name), of(part))).collect()
    };
    let chart = |title: &str, unit: &str, of| {
        Part::Chart(Bars::new(Axis::linear(unit), bars(of)).chart(title))
    };
    Section::new("How much", "Over the whole of the trace.")
        .with(chart("Throughput", "MB/s", |part| part.mb_per_s))
        .with(chart("I/Os", "I/Os per second", |part| part.ios_per_s))
}

fn over_time(timeline: &Timeline, parts: &[&str]) -> Section {
    let width_s = timeline.width.as_ns() as f64 / 1e9;
    let curves = |of: &dyn Fn(&Bin) -> f64| {
        let line = |name: &&str, course: &Course| Line {
            name: plain(name).into_owned(),
            points: course
                .bins
                .iter()
                .enumerate()
                .map(|(at, bin)| (at as f64 * width_s, Some(of(bin))))
                .collect(),
            ..Line::default()
        };
        parts.iter().filter_map(|name| Some(line(name, timeline.parts.get(*name)?))).collect()
    };
    let chart = |title: &str, unit: &str, of: &dyn Fn(&Bin) -> f64| {
        let (x, y) = (Axis::linear("seconds"), Axis::linear(unit));
        let lines = Lines { x, y, has_steps: true, lines: curves(of) };
        Part::Chart(lines.chart(title))
    };
    let seconds = number(width_s);
    Section::new("When", format!("Each step is {seconds} s. A click on a name brings it out."))
        .with(chart("Throughput over time", "MB/s", &|bin| bin.bytes as f64 / 1e6 / width_s))
        .with(chart("Queue depth over time", "requests under way", &|bin| {
            bin.under_way.as_ns() as f64 / 1e9 / width_s
        }))
}

fn places(timeline: &Timeline) -> Heat {
    let width_s = timeline.width.as_ns() as f64 / 1e9;
    let row_gib = (timeline.row_sectors * 512) as f64 / f64::from(1 << 30);
    let cell = |((bin, row), bytes): (&(usize, u64), &u64)| Cell {
        x: [*bin as f64 * width_s, (*bin + 1) as f64 * width_s],
        y: [*row as f64 * row_gib, (*row + 1) as f64 * row_gib],
        value: *bytes as f64 / 1e6,
    };
    Heat {
        x: Axis::linear("seconds"),
        y: Axis::linear("place, GiB"),
        value: "MB".to_owned(),
        cells: timeline.places.iter().map(cell).collect(),
    }
}

fn took(timeline: &Timeline, parts: &[&str]) -> Section {
    let line = |name: &&str| {
        let course = timeline.parts.get(*name)?;
        let (mut below, all) = (0, course.took.count());
        let some = course.took.buckets().filter(|(_, count)| *count > 0);
        let points = some.map(|(span, count)| {
            below += count;
            let ms = (span.min(course.took.max()).as_ns() as f64 / 1e6).max(1e-3);
            (ms, Some(100.0 * below as f64 / all as f64))
        });
        (all > 0).then(|| Line {
            name: plain(name).into_owned(),
            points: points.collect(),
            ..Line::default()
        })
    };
    let lines: Vec<Line> = parts.iter().filter_map(line).collect();
    let section = Section::new("How fast", "From queueing to the end (Q2C).");
    if lines.is_empty() {
        return section
            .with(Part::Text("The trace does not say when requests were done.".to_owned()));
    }
    let distribution = Lines {
        x: Axis::log("milliseconds"),
        y: Axis::linear("% that took no longer").between(0.0, 100.0),
        has_steps: false,
        lines,
    };
    let width_s = timeline.width.as_ns() as f64 / 1e9;
    let ms = |span: fairdisk_core::Span| (span.as_ns() as f64 / 1e6).max(1e-3);
    let cell = |((bin, row), count): (&(usize, u32), &u64)| {
        let [low, high] = Timeline::edges(*row);
        Cell {
            x: [*bin as f64 * width_s, (*bin + 1) as f64 * width_s],
            y: [ms(low), ms(high)],
            value: *count as f64,
        }
    };
    let heat = Heat {
        x: Axis::linear("seconds"),
        y: Axis::log("milliseconds"),
        value: "I/Os".to_owned(),
        cells: timeline.times.iter().map(cell).filter(|cell| cell.y[0] < cell.y[1]).collect(),
    };
    section
        .with(Part::Chart(distribution.chart("Times as a distribution")))
        .with(Part::Chart(heat.chart("Times over time")))
}
