//! Curves: distributions, sweeps, and what grows with time.

use super::{Axis, by_colour, or_dash, told};
use crate::model::{Chart, Table};
use serde_json::{Value, json};

/// The height of the chart, in pixels.
const HEIGHT: usize = 280;
/// The most values of a curve in the table; more are thinned out evenly.
const LINES_MAX: usize = 24;

/// A curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// The name of the curve.
    pub name: String,
    /// Its points: where, and how much; no value breaks the curve.
    pub points: Vec<(f64, Option<f64>)>,
    /// Single values around it, shown as small dots.
    pub dots: Vec<(f64, f64)>,
    /// Means of a part of these, shown as rings.
    pub rings: Vec<(f64, f64)>,
}

/// Curves in one chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// What goes to the right.
    pub x: Axis,
    /// What goes up.
    pub y: Axis,
    /// Whether a curve stays at its last value until the next.
    pub has_steps: bool,
    /// The curves.
    pub lines: Vec<Line>,
}

impl Lines {
    /// The chart. A click on a name in the legend brings its curve out.
    #[must_use]
    pub fn chart(&self, title: impl Into<String>) -> Chart {
        let words = [("name", "of"), ("at", self.x.title.as_str()), ("y", self.y.title.as_str())];
        let picked = json!({
            "condition": { "param": "picked", "value": 1, "empty": true }, "value": 0.15
        });
        let shape = if self.has_steps { "step-after" } else { "linear" };
        let encoding = json!({
            "x": self.x.encoding("x"), "y": self.y.encoding("y"),
            "color": by_colour("name", self.lines.len()),
            "opacity": picked, "tooltip": told(&words),
        });
        let curves = json!({
            "params": [{
                "name": "picked", "select": { "type": "point", "fields": ["name"] },
                "bind": "legend"
            }],
            "transform": [{ "filter": "datum.kind === 'point'" }],
            "mark": { "type": "line", "interpolate": shape, "strokeWidth": 1.75 },
            "encoding": encoding,
        });
        let size = if self.has_points() { 30 } else { 60 };
        // Points that are too many to be seen still answer the pointer.
        let ends = json!({
            "transform": [{ "filter": "datum.kind === 'point' && isValid(datum.y)" }],
            "mark": {
                "type": "point", "filled": true, "size": size,
                "fillOpacity": if self.has_points() { 1 } else { 0 }
            },
            "encoding": encoding,
        });
        let single = json!({
            "transform": [{ "filter": "datum.kind === 'dot'" }],
            "mark": { "type": "point", "filled": true, "size": 10 },
            "encoding": encoding,
        });
        let rings = json!({
            "transform": [{ "filter": "datum.kind === 'ring'" }],
            "mark": { "type": "point", "filled": false, "size": 90 },
            "encoding": encoding,
        });
        Chart {
            title: title.into(),
            spec: json!({
                "data": { "values": self.data() }, "height": HEIGHT,
                "layer": [curves, ends, single, rings],
            }),
            values: self.table(),
        }
    }

    /// Whether the points are few enough to be seen.
    fn has_points(&self) -> bool {
        self.lines.iter().all(|line| line.points.len() <= LINES_MAX)
    }

    fn data(&self) -> Vec<Value> {
        let of = |line: &Line| {
            let name = &line.name;
            let one = |kind: &str, x: f64, y: Option<f64>| {
                let at = self.x.text(x);
                json!({ "name": name, "kind": kind, "x": x, "y": y, "at": at })
            };
            let points = line.points.iter().map(|(x, y)| one("point", *x, *y));
            let dots = line.dots.iter().map(|(x, y)| one("dot", *x, Some(*y)));
            let rings = line.rings.iter().map(|(x, y)| one("ring", *x, Some(*y)));
            points.chain(dots).chain(rings).collect::<Vec<_>>()
        };
        self.lines.iter().flat_map(of).collect()
    }

    fn table(&self) -> Table {
        let head = ["of", self.x.title.as_str(), self.y.title.as_str()];
        let of = |line: &Line| {
            let dots = line.dots.iter().map(|(x, y)| (*x, Some(*y)));
            let points: Vec<(f64, Option<f64>)> =
                if line.points.is_empty() { dots.collect() } else { line.points.clone() };
            let step = points.len().div_ceil(LINES_MAX).max(1);
            let last = points.len().saturating_sub(1);
            let kept = points.into_iter().enumerate();
            let kept = kept.filter(|(at, _)| at.is_multiple_of(step) || *at == last);
            let cells = |(_, (x, y)): (usize, (f64, Option<f64>))| {
                vec![line.name.clone(), self.x.text(x), or_dash(y)]
            };
            kept.map(cells).collect::<Vec<_>>()
        };
        Table::new(&head, 1, self.lines.iter().flat_map(of).collect())
    }
}
