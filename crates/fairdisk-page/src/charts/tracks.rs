//! Tracks: for each name, the stretches of an axis in which it had something.

use super::{Axis, by_colour, by_name, number, told};
use crate::model::{Chart, Table};
use serde_json::{Value, json};

/// The height of a track, in pixels.
const TRACK: usize = 22;

/// A stretch of a track.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stretch {
    /// The track.
    pub name: String,
    /// From where to where.
    pub x: [f64; 2],
    /// How much of it, 0 to 1: how dark it is.
    pub part: f64,
}

/// Tracks one below the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tracks {
    /// What goes to the right.
    pub x: Axis,
    /// What a part is of.
    pub value: String,
    /// The stretches; tracks come in the order of their first one.
    pub stretches: Vec<Stretch>,
}

impl Tracks {
    /// The chart.
    #[must_use]
    pub fn chart(&self, title: impl Into<String>) -> Chart {
        let words =
            [("name", "of"), ("x", self.x.title.as_str()), ("percent", self.value.as_str())];
        Chart {
            title: title.into(),
            spec: json!({
                "data": { "values": self.stretches.iter().map(data).collect::<Vec<_>>() },
                "height": { "step": TRACK },
                "mark": { "type": "bar", "height": { "band": 0.8 } },
                "encoding": {
                    "x": self.x.encoding("x"), "x2": { "field": "x2" }, "y": by_name("name"),
                    "color": by_colour("name", 0),
                    "opacity": {
                        "field": "part", "type": "quantitative", "legend": null,
                        "scale": { "domain": [0, 1], "range": [0, 1] },
                    },
                    "tooltip": told(&words),
                },
            }),
            values: self.table(),
        }
    }

    /// For each track, how much it had of all that is shown.
    fn table(&self) -> Table {
        let mut names: Vec<&str> = Vec::new();
        for stretch in &self.stretches {
            if !names.contains(&stretch.name.as_str()) {
                names.push(&stretch.name);
            }
        }
        let ends = self.stretches.iter().map(|stretch| stretch.x);
        let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x[0]), high.max(x[1]))
        });
        let had = |name: &str| {
            let own = self.stretches.iter().filter(|stretch| stretch.name == name);
            own.map(|it| (it.x[1] - it.x[0]) * it.part).sum::<f64>() / (high - low) * 100.0
        };
        let line = |name: &&str| vec![(*name).to_owned(), number(had(name))];
        let value = format!("{}, mean", self.value);
        Table::new(&["of", &value], 1, names.iter().map(line).collect())
    }
}

fn data(Stretch { name, x, part }: &Stretch) -> Value {
    let percent = (part * 1000.0).round() / 10.0;
    json!({ "name": name, "x": x[0], "x2": x[1], "part": part, "percent": percent })
}
