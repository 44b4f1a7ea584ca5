//! A picture of one device and row: parts got and asked for, throughput and latencies.

use crate::compare::table::parts_text;
use crate::compare::{Cell, CellGroup, Parts};
use crate::digits::ms;
use crate::outcome::milliseconds;
use crate::page::{COLOURS, escape, open_svg, shortened, write_legend};
use fairdisk_core::Histogram;
use std::fmt::Write as _;

/// The left and right edges of the three columns.
const PARTS: [f64; 2] = [175.0, 455.0];
const RATES: [f64; 2] = [480.0, 600.0];
const TIMES: [f64; 2] = [670.0, 870.0];
const HEAD: f64 = 44.0;
const ROW: f64 = 26.0;
/// The distance between the lines of two groups.
const LINE: f64 = 6.0;
/// The most letters of a scheduler's and of a group's name that fit.
const NAME_MAX: usize = 24;
const GROUP_MAX: usize = 16;

/// The picture of `cells`, which are one device and row under each scheduler.
pub(super) fn block(cells: &[Cell]) -> String {
    let groups = cells.iter().map(|cell| cell.groups.len()).max().unwrap_or(0);
    let row = ROW.max(LINE * groups as f64 + 8.0);
    let first = &cells[0];
    let title = format!("{}, {}: who got what", first.device, first.row);
    let height = HEAD + row * cells.len() as f64 + 22.0;
    let mut out = open_svg(&title, &in_words(cells), height);
    write_heads(&mut out, first);
    let axis = Axis::of(cells);
    let bottom = HEAD + row * cells.len() as f64;
    axis.write(&mut out, bottom);
    let most = cells.iter().filter_map(|cell| cell.of_noop).fold(1.0, f64::max);
    for (at, cell) in cells.iter().enumerate() {
        let top = HEAD + row * at as f64;
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            PARTS[0] - 10.0,
            top + row / 2.0 + 4.0,
            escape(&shortened(&cell.label(), NAME_MAX)),
        );
        write_parts(&mut out, cell, top, row);
        write_rate(&mut out, cell, top, row, most);
        write_times(&mut out, cell, top, row, &axis);
    }
    out.push_str("</svg>\n");
    out
}

/// A description of the picture, for readers who cannot see it.
fn in_words(cells: &[Cell]) -> String {
    let group = |group: &CellGroup| {
        let (name, p99) = (&group.outcome.name, milliseconds(&group.outcome.latency, 990));
        let [asked, got, ..] = parts_text(group.parts);
        format!("{name} got {got} of {asked} %, p99 {p99} ms")
    };
    let cell = |cell: &Cell| {
        let groups: Vec<String> = cell.groups.iter().map(group).collect();
        let rate = cell.of_noop.map_or_else(String::new, |part| format!(", {part:.2} of noop"));
        format!("{}: {}{rate}.", cell.label(), groups.join("; "))
    };
    cells.iter().map(cell).collect::<Vec<_>>().join("\n")
}

fn write_heads(out: &mut String, cell: &Cell) {
    let names: Vec<&str> = cell.groups.iter().map(|group| group.outcome.name.as_str()).collect();
    write_legend(out, &names, PARTS[0], PARTS[1] - PARTS[0] + 20.0, 22.0, GROUP_MAX);
    let heads = [(PARTS[0], "part of the work"), (RATES[0], "of noop"), (TIMES[0], "latency, ms")];
    for (x, text) in heads {
        let _ = writeln!(out, "<text class=\"dim\" x=\"{x:.1}\" y=\"13\">{text}</text>");
    }
}

/// Writes a bar of what the groups got, end to end, with strokes where the parts they asked for
/// would end.
fn write_parts(out: &mut String, cell: &Cell, top: f64, row: f64) {
    let wide = PARTS[1] - PARTS[0];
    let (mut got, mut asked) = (0.0, 0.0);
    let parts: Option<Vec<Parts>> = cell.groups.iter().map(|group| group.parts).collect();
    let Some(parts) = parts else { return };
    for (at, part) in parts.iter().enumerate() {
        let _ = writeln!(
            out,
            "<rect class=\"g{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            at % COLOURS,
            PARTS[0] + wide * got,
            top + 5.0,
            wide * part.got,
            row - 10.0,
        );
        got += part.got;
    }
    for part in parts.iter().rev().skip(1).rev() {
        asked += part.asked;
        let x = PARTS[0] + wide * asked;
        let (from, to) = (top + 1.0, top + row - 1.0);
        let _ = writeln!(out, "<path class=\"asked\" d=\"M{x:.1} {from:.1}V{to:.1}\"/>");
    }
}

fn write_rate(out: &mut String, cell: &Cell, top: f64, row: f64, most: f64) {
    let Some(part) = cell.of_noop else { return };
    let width = (RATES[1] - RATES[0]) * part / most;
    let _ = writeln!(
        out,
        "<rect class=\"dim\" x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\"/>\n<text \
         x=\"{:.1}\" y=\"{:.1}\">{part:.2}</text>",
        RATES[0],
        top + 5.0,
        row - 10.0,
        RATES[0] + width + 6.0,
        top + row / 2.0 + 4.0,
    );
}

/// A logarithmic scale of latencies.
struct Axis {
    low: f64,
    high: f64,
}

/// The median, the 99th and the 99.9th percentile of the latencies in milliseconds; `None` if there
/// were none.
fn quantiles(latency: &Histogram) -> Option<[f64; 3]> {
    let at = |per_mille| latency.quantile(per_mille).as_ns().max(1) as f64 / 1e6;
    (latency.count() > 0).then(|| [500, 990, 999].map(at))
}

impl Axis {
    fn of(cells: &[Cell]) -> Self {
        let groups = cells.iter().flat_map(|cell| &cell.groups);
        let all = groups.filter_map(|group| quantiles(&group.outcome.latency));
        let (low, high) = all.fold((f64::INFINITY, 0.0_f64), |(low, high), [p50, _, p999]| {
            (low.min(p50), high.max(p999))
        });
        let floor = if low.is_finite() { low.log10().floor() } else { 0.0 };
        Self { low: floor, high: high.max(1e-6).log10().ceil().max(floor + 1.0) }
    }

    fn x(&self, ms: f64) -> f64 {
        TIMES[0] + (ms.log10() - self.low) / (self.high - self.low) * (TIMES[1] - TIMES[0])
    }

    fn write(&self, out: &mut String, bottom: f64) {
        for power in self.low as i32..=self.high as i32 {
            let value = 10_f64.powi(power);
            let x = self.x(value);
            let _ = writeln!(
                out,
                "<path class=\"line\" d=\"M{x:.1} {HEAD:.0}V{bottom:.1}\"/><text class=\"dim\" \
                 x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value}</text>",
                bottom + 15.0,
            );
        }
    }
}

fn write_times(out: &mut String, cell: &Cell, top: f64, row: f64, axis: &Axis) {
    let count = cell.groups.len() as f64;
    for (at, group) in cell.groups.iter().enumerate() {
        let Some(times) = quantiles(&group.outcome.latency) else { continue };
        let y = top + row / 2.0 + (at as f64 - (count - 1.0) / 2.0) * LINE;
        let [p50, p99, p999] = times.map(|ms| axis.x(ms));
        let colour = at % COLOURS;
        let _ = writeln!(
            out,
            "<g class=\"g{colour}\"><path class=\"thin\" d=\"M{p50:.1} {y:.1}H{p999:.1}\"/><circle \
             cx=\"{p50:.1}\" cy=\"{y:.1}\" r=\"3.2\"/><circle cx=\"{p99:.1}\" cy=\"{y:.1}\" \
             r=\"1.8\"/><title>{}: p50 {} ms, p99 {} ms, p99.9 {} ms</title></g>",
            escape(&group.outcome.name),
            ms(times[0]),
            ms(times[1]),
            ms(times[2]),
        );
    }
}
