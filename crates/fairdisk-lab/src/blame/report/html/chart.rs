//! Charts of the report, as SVG.

use super::words;
use crate::blame::{Bisection, Ends};
use crate::outcome::Spread;
use crate::page::{WIDTH, escape, open_svg, shortened};
use std::fmt::Write as _;

/// One bar.
pub(super) struct Row {
    /// The label of the bar.
    pub(super) name: String,
    /// The bar's length (mean) and its whisker (standard deviation).
    pub(super) spread: Spread,
    /// Text to show after the number.
    pub(super) note: String,
}

/// The x position at which labels end and bars begin.
const LEFT: f64 = 300.0;
/// The x position at which bars end and numbers begin.
const RIGHT: f64 = 640.0;
const ROW: f64 = 30.0;
/// The most letters of a label that fit.
const NAME_MAX: usize = 42;

/// Bars from a zero line, with the spread as whiskers. Bars in the direction of `whole` have
/// another colour than those against it; with a `whole` of 0 there is no direction.
pub(super) fn bars(title: &str, rows: &[Row], whole: f64) -> String {
    let number = if whole == 0.0 { words::number } else { words::signed };
    let reach = |row: &Row| [row.spread.mean - row.spread.sd, row.spread.mean + row.spread.sd, 0.0];
    let (low, high) = range(rows.iter().flat_map(reach));
    let x = |value: f64| LEFT + (value - low) / (high - low) * (RIGHT - LEFT);
    let height = ROW * rows.len() as f64 + 8.0;
    let mut out = open_svg(title, "", height);
    for (at, row) in rows.iter().enumerate() {
        let (top, mean, sd) = (ROW * at as f64 + 4.0, row.spread.mean, row.spread.sd);
        let (from, to) = (x(mean.min(0.0)), x(mean.max(0.0)));
        let class = match mean * whole {
            way if way > 0.0 => "loss",
            way if way < 0.0 => "gain",
            _ => "neutral",
        };
        let (middle, width) = (top + ROW / 2.0, (to - from).max(1.0));
        let (thin, base) = (ROW - 10.0, middle + 5.0);
        let _ = write!(
            out,
            "<text x=\"{:.1}\" y=\"{base:.1}\" text-anchor=\"end\">{}</text>\n<rect class=\"{class}\" \
             x=\"{from:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{thin:.1}\" rx=\"2\"/>\n",
            LEFT - 12.0,
            escape(&shortened(&row.name, NAME_MAX)),
            top + 5.0,
        );
        if sd > 0.0 {
            let (one, other) = (x(mean - sd), x(mean + sd));
            let _ = writeln!(
                out,
                "<path class=\"whisker\" d=\"M{one:.1} {middle:.1}H{other:.1}M{one:.1} {:.1}v8M\
                 {other:.1} {:.1}v8\"/>",
                middle - 4.0,
                middle - 4.0,
            );
        }
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{base:.1}\">{} ± {} <tspan class=\"dim\">{}</tspan></text>",
            RIGHT + 12.0,
            number(mean),
            words::number(sd),
            escape(&row.note),
        );
    }
    let zero = x(0.0);
    let _ = writeln!(out, "<path class=\"line\" d=\"M{zero:.1} 0V{height:.1}\"/>");
    out.push_str("</svg>\n");
    out
}

/// The runs of bisections: measured value by number of changes made. The line in the middle
/// separates good from bad.
pub(super) fn ways(bisection: &Bisection, ends: &Ends, changes: usize) -> String {
    const HEIGHT: f64 = 260.0;
    let values = bisection.ways.iter().flatten().map(|step| step.value);
    let (good, bad) = (ends.good_mean(), ends.bad_mean());
    let (low, high) = range(values.chain([good, bad]));
    let x = |made: usize| 60.0 + made as f64 / changes as f64 * (WIDTH - 120.0);
    let y = |value: f64| 20.0 + (high - value) / (high - low) * (HEIGHT - 60.0);
    let mut out = open_svg("The runs of the bisections", "", HEIGHT);
    let middle = y(f64::midpoint(good, bad));
    let (right, bottom) = (WIDTH - 60.0, HEIGHT - 30.0);
    let _ = write!(
        out,
        "<path class=\"line\" d=\"M60 {middle:.1}H{right:.1}M60 {bottom:.1}H{right:.1}\"/>\n<text \
         class=\"dim\" x=\"60\" y=\"{:.1}\">no change made: {}</text>\n<text class=\"dim\" \
         x=\"{right:.1}\" y=\"{:.1}\" text-anchor=\"end\">all {changes} made: {}</text>\n<text \
         class=\"dim\" x=\"{right:.1}\" y=\"{:.1}\" text-anchor=\"end\">the middle</text>\n",
        bottom + 20.0,
        words::number(good),
        bottom + 20.0,
        words::number(bad),
        middle - 6.0,
    );
    for (class, made, value) in [("gain", 0, good), ("loss", changes, bad)] {
        let (x, y) = (x(made), y(value));
        let _ = writeln!(out, "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"7\"/>");
    }
    for steps in &bisection.ways {
        let points: Vec<String> = steps
            .iter()
            .map(|step| format!("{:.1} {:.1}", x(step.changes), y(step.value)))
            .collect();
        if !points.is_empty() {
            let _ = writeln!(out, "<path class=\"way\" d=\"M{}\"/>", points.join("L"));
        }
        for step in steps {
            let class = if step.is_bad { "loss" } else { "gain" };
            let (x, y) = (x(step.changes), y(step.value));
            let _ =
                writeln!(out, "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/>");
        }
    }
    out.push_str("</svg>\n");
    out
}

/// The smallest and the largest value, made different if they are equal.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = values.fold(start, |(low, high), value| (low.min(value), high.max(value)));
    if low < high { (low, high) } else { (low - 1.0, low + 1.0) }
}
