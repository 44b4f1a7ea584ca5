//! The picture of curves over one key.

use crate::outcome::{Regimes, Series, digits};
use crate::page::{COLOURS, WIDTH, escape, open_svg, write_legend};
use crate::sweep::{Curve, Point};
use std::fmt::Write as _;

/// The edges of the plot.
const LEFT: f64 = 70.0;
const RIGHT: f64 = WIDTH - 30.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 274.0;
const HEIGHT: f64 = 320.0;
/// The most letters of a name in the legend.
const NAME_MAX: usize = 24;
/// The width of the label of a value.
const LABEL: f64 = 60.0;
/// From how many times the first step on the last one makes a scale of ratios.
const RATIO_STEPS: f64 = 4.0;

/// One figure of a curve.
pub(super) struct Line<'a> {
    pub(super) name: &'a str,
    pub(super) curve: &'a Curve,
    /// Index of the metric.
    pub(super) at: usize,
}

impl Line<'_> {
    fn figures(&self) -> impl Iterator<Item = (&Point, &Series)> {
        let points = self.curve.points.iter();
        points.filter_map(|point| Some((point, point.figures.get(self.at)?.as_ref()?)))
    }
}

/// The picture of these lines over `key`.
pub(super) fn picture(key: &str, title: &str, lines: &[Line<'_>]) -> String {
    let words: Vec<String> = lines.iter().map(in_words).collect();
    let mut out = open_svg(&format!("{title} over {key}"), &words.join("\n"), HEIGHT);
    let names: Vec<&str> = lines.iter().map(|line| line.name).collect();
    let _ = writeln!(out, "<text class=\"dim\" x=\"{LEFT:.1}\" y=\"13\">{}</text>", escape(title));
    write_legend(&mut out, &names, LEFT, RIGHT - LEFT, 22.0, NAME_MAX);
    let figures = || lines.iter().flat_map(Line::figures);
    let most = figures().flat_map(|(_, series)| &series.each).copied().fold(0.0, f64::max);
    let y = Scale { most: if most > 0.0 { most * 1.05 } else { 1.0 } };
    let x = Axis::of(lines);
    y.write(&mut out);
    x.write(&mut out, key);
    for (at, line) in lines.iter().enumerate() {
        write_line(&mut out, at % COLOURS, line, &x, &y);
    }
    out.push_str("</svg>\n");
    out
}

fn in_words(line: &Line<'_>) -> String {
    let point = |(point, series): (&Point, &Series)| match series.regimes() {
        Some(regimes) => format!("{}: {}", point.value, regimes.words("", digits)),
        None => format!("{}: {}", point.value, digits(series.mean)),
    };
    let points: Vec<String> = line.figures().map(point).collect();
    format!("{}: {}.", line.name, points.join(", "))
}

/// The scale of the figures, from nothing up.
struct Scale {
    most: f64,
}

impl Scale {
    fn of(&self, value: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * (value / self.most).max(0.0)
    }

    fn write(&self, out: &mut String) {
        for part in 0..=4 {
            let value = self.most / 1.05 * f64::from(part) / 4.0;
            let y = self.of(value);
            let _ = writeln!(
                out,
                "<path class=\"line\" d=\"M{LEFT:.1} {y:.1}H{RIGHT:.1}\"/><text class=\"dim\" \
                 x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                y + 4.0,
                digits(value),
            );
        }
    }
}

/// Where the values of the key are: in proportion, if all are numbers; by their ratios, if their
/// steps grow; else side by side.
struct Axis {
    values: Vec<(String, f64)>,
}

impl Axis {
    fn of(lines: &[Line<'_>]) -> Self {
        let mut names: Vec<&str> = Vec::new();
        for point in lines.iter().flat_map(|line| &line.curve.points) {
            if !names.contains(&point.value.as_str()) {
                names.push(&point.value);
            }
        }
        let numbers: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
        let numbers = numbers.filter(|list| list.iter().all(|number| number.is_finite()));
        let positions = match numbers {
            Some(list) if grows_by_ratios(&list) => list.into_iter().map(f64::ln).collect(),
            Some(list) => list,
            None => (0..names.len()).map(|at| at as f64).collect(),
        };
        let least = positions.iter().copied().fold(f64::INFINITY, f64::min);
        let most = positions.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let wide = if most > least { most - least } else { 1.0 };
        let x = |at: f64| LEFT + 20.0 + (RIGHT - LEFT - 40.0) * (at - least) / wide;
        let values = names.into_iter().map(str::to_owned).zip(positions.into_iter().map(x));
        Self { values: values.collect() }
    }

    fn x(&self, value: &str) -> f64 {
        self.values.iter().find(|(name, _)| name == value).map_or(LEFT, |(_, x)| *x)
    }

    fn write(&self, out: &mut String, key: &str) {
        let mut free = f64::NEG_INFINITY;
        let mut values: Vec<&(String, f64)> = self.values.iter().collect();
        values.sort_by(|one, two| one.1.total_cmp(&two.1));
        for (name, x) in values {
            if *x < free {
                continue;
            }
            free = x + LABEL;
            let _ = writeln!(
                out,
                "<text class=\"dim\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                BOTTOM + 18.0,
                escape(name),
            );
        }
        let (x, y) = (RIGHT, BOTTOM + 36.0);
        let key = escape(key);
        let _ = writeln!(
            out,
            "<text class=\"dim\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{key}</text>"
        );
    }
}

/// Whether numbers rise by steps of which the last is much larger than the first.
fn grows_by_ratios(numbers: &[f64]) -> bool {
    let [first, second, .., before, last] = numbers else { return false };
    *first > 0.0
        && numbers.windows(2).all(|pair| pair[0] < pair[1])
        && last - before >= RATIO_STEPS * (second - first)
}

/// Writes the runs, the means of regimes, and the line through the means of the other points.
fn write_line(out: &mut String, colour: usize, line: &Line<'_>, x: &Axis, y: &Scale) {
    let _ = writeln!(out, "<g class=\"g{colour}\">");
    let (mut path, mut begins) = (String::new(), true);
    for (point, series) in line.figures() {
        let x = x.x(&point.value);
        for run in &series.each {
            let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"1.6\"/>", y.of(*run));
        }
        if let Some(Regimes(both)) = series.regimes() {
            for regime in both {
                let y = y.of(regime.mean);
                let _ =
                    writeln!(out, "<circle class=\"ring\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/>");
            }
            begins = true;
            continue;
        }
        let step = if begins { 'M' } else { 'L' };
        let _ = write!(path, "{step}{x:.1} {:.1}", y.of(series.mean));
        begins = false;
    }
    if !path.is_empty() {
        let _ = writeln!(out, "<path class=\"curve\" d=\"{path}\"/>");
    }
    out.push_str("</g>\n");
}

#[cfg(test)]
mod tests {
    use super::grows_by_ratios;

    #[test]
    fn steps_that_grow_make_a_scale_of_ratios() {
        assert!(grows_by_ratios(&[1.0, 2.0, 4.0, 8.0, 16.0]));
        for even in [&[192.0, 200.0, 208.0, 216.0][..], &[1.0, 100.0], &[0.0, 1.0, 10.0, 100.0]] {
            assert!(!grows_by_ratios(even), "{even:?}");
        }
    }
}
