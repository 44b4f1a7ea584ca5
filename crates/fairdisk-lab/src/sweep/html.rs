//! The curves of a sweep as a page.

use super::table::{about, cell, regime_lines};
use super::{Curve, Point, SweepOutcome, to_json};
use crate::metric::Metric;
use crate::outcome::{RefusedRow, Regimes, Series};
use crate::page::{Made, list, notes};
use fairdisk_page::charts::{Axis, Line, Lines};
use fairdisk_page::{Page, Part, Section, Table};

/// From how many times the first step on the last one makes a scale of ratios.
const RATIO_STEPS: f64 = 4.0;
const HOW_TO_READ: &str = "A small dot is a run, the line goes through the means; where runs fall \
                           into two regimes it is broken, and a ring is the mean of each.";

/// The curves as an HTML page. `made` tells how it came about.
#[must_use]
pub fn to_html(outcome: &SweepOutcome, made: &Made<'_>) -> String {
    page_below(outcome, Vec::new()).to_html(made)
}

/// The page of the curves, below an answer to the question.
pub(crate) fn page_below(outcome: &SweepOutcome, answer: Vec<Part>) -> Page {
    let mut page = Page::new(&outcome.title, format!("{}: {}", outcome.experiment, outcome.title));
    if !outcome.question.is_empty() {
        page.summary.push(Part::Text(outcome.question.clone()));
    }
    page.summary.extend(answer);
    page.summary.push(Part::Remark(format!("{}.", about(outcome))));
    page.sections = sections(outcome);
    let refused = outcome.refused.iter();
    let refused = refused.map(|RefusedRow { arm, row, reason }| format!("{arm}, {row}: {reason}"));
    page.sections.extend(list("Refused", refused.collect()));
    page.sections.extend(notes(&outcome.caveats, &[]));
    page.results = to_json(outcome);
    page
}

/// A section for each row: its curves under each arm, and their figures.
pub(crate) fn sections(outcome: &SweepOutcome) -> Vec<Section> {
    let rows = outcome.curves.chunk_by(|one, next| one.row == next.row);
    rows.map(|curves| section(outcome, curves)).collect()
}

/// A figure of a curve: its name, the curve, and which of its metrics.
type Figure<'a> = (&'a str, &'a Curve, usize);

fn section(outcome: &SweepOutcome, curves: &[Curve]) -> Section {
    let first = &curves[0];
    let mut section = Section::new(&first.row, HOW_TO_READ);
    let is_share = |metric: &Metric| matches!(metric, Metric::Share(_));
    for (at, metric) in first.metrics.iter().enumerate().filter(|(_, metric)| !is_share(metric)) {
        let lines: Vec<Figure<'_>> =
            curves.iter().map(|curve| (curve.arm.as_str(), curve, at)).collect();
        section.parts.push(chart(&outcome.key, &metric.words(), &lines));
    }
    for curve in curves {
        let shares = curve.metrics.iter().enumerate();
        let lines: Vec<Figure<'_>> = shares
            .filter_map(|(at, metric)| match metric {
                Metric::Share(name) => Some((name.as_str(), curve, at)),
                _ => None,
            })
            .collect();
        if !lines.is_empty() {
            let title = format!("{}: shares of the I/Os in %", curve.arm);
            section.parts.push(chart(&outcome.key, &title, &lines));
        }
    }
    for curve in curves {
        let lines = regime_lines(outcome, curve);
        let warning = |line| Part::Warning(format!("{}, {line}", curve.arm));
        section.parts.extend(lines.into_iter().map(warning));
    }
    section.with(figures(outcome, curves))
}

fn figures(outcome: &SweepOutcome, curves: &[Curve]) -> Part {
    let words: Vec<String> = curves[0].metrics.iter().map(Metric::words).collect();
    let head = ["arm", &outcome.key].into_iter().chain(words.iter().map(String::as_str));
    let head: Vec<&str> = head.collect();
    let lines = curves.iter().flat_map(|curve| {
        curve.points.iter().map(|point| {
            let figures = (0..curve.metrics.len()).map(|at| cell(point, at, outcome.seeds));
            [curve.arm.clone(), point.value.clone()].into_iter().chain(figures).collect()
        })
    });
    let table = Table::new(&head, 1, lines.collect());
    Part::Folded("Figures".to_owned(), vec![Part::Table(table)])
}

/// The chart of these figures over `key`.
fn chart(key: &str, title: &str, figures: &[Figure<'_>]) -> Part {
    let places = Places::of(figures);
    let lines = figures.iter().map(|figure| line(figure, &places)).collect();
    let y = Axis::linear(title);
    let chart = Lines { x: places.axis(key), y, has_steps: false, lines };
    Part::Chart(chart.chart(format!("{title} over {key}")))
}

/// The runs, the means of regimes, and the line through the means of the other points.
fn line(&(name, curve, at): &Figure<'_>, places: &Places<'_>) -> Line {
    let figure = |point: &Point| Some((places.of_value(&point.value)?, at, point.clone()));
    let mut line = Line { name: name.to_owned(), ..Line::default() };
    for (x, at, point) in curve.points.iter().filter_map(figure) {
        let Some(series) = point.figures.get(at).and_then(Option::as_ref) else { continue };
        let Series { mean, each, .. } = series;
        line.dots.extend(each.iter().map(|run| (x, *run)));
        let regimes = series.regimes();
        if let Some(Regimes(both)) = &regimes {
            line.rings.extend(both.iter().map(|regime| (x, regime.mean)));
        }
        line.points.push((x, regimes.is_none().then_some(*mean)));
    }
    line
}

/// Where the values of the key are: in proportion, if all are numbers; by their ratios, if their
/// steps grow; else side by side.
struct Places<'a> {
    names: Vec<&'a str>,
    numbers: Option<Vec<f64>>,
}

impl<'a> Places<'a> {
    fn of(figures: &[Figure<'a>]) -> Self {
        let mut names: Vec<&str> = Vec::new();
        for point in figures.iter().flat_map(|(_, curve, _)| &curve.points) {
            if !names.contains(&point.value.as_str()) {
                names.push(&point.value);
            }
        }
        let numbers: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
        let numbers = numbers.filter(|list| list.iter().all(|number| number.is_finite()));
        Self { names, numbers }
    }

    fn axis(&self, key: &str) -> Axis {
        match &self.numbers {
            Some(numbers) if grows_by_ratios(numbers) => Axis::log(key),
            Some(_) => Axis { title: key.to_owned(), ..Axis::default() },
            None => {
                let names = self.names.iter().map(|name| (*name).to_owned()).collect();
                Axis { title: key.to_owned(), ..Axis::default() }.with_names(names)
            }
        }
    }

    fn of_value(&self, value: &str) -> Option<f64> {
        let at = self.names.iter().position(|name| *name == value)?;
        Some(self.numbers.as_ref().map_or(at as f64, |numbers| numbers[at]))
    }
}

/// Whether numbers rise by steps of which the last is much larger than the first.
fn grows_by_ratios(numbers: &[f64]) -> bool {
    let [first, second, .., before, last] = numbers else { return false };
    *first > 0.0
        && numbers.windows(2).all(|pair| pair[0] < pair[1])
        && last - before >= RATIO_STEPS * (second - first)
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
