//! Dots with error bars beside what was asked for, on a line for each name and series.

use super::{Axis, by_colour, by_name_and_series, different, number, or_dash, step, told};
use crate::model::{Chart, Table};
use serde_json::{Value, json};

/// A dot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dot {
    /// The name of the line.
    pub name: String,
    /// The series, which has its own colour.
    pub series: String,
    /// Where the dot is.
    pub value: f64,
    /// The standard deviation, shown as an error bar; `None` if there was one run.
    pub sd: Option<f64>,
    /// A value to compare with, shown as a stroke.
    pub mark: Option<f64>,
}

/// Dots, a line for each name, and within it one for each series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dots {
    /// The quantity.
    pub axis: Axis,
    /// What names, series and strokes are called.
    pub words: [&'static str; 3],
    /// The dots; names and series come in the order of their first dot.
    pub dots: Vec<Dot>,
}

impl Dots {
    /// The chart.
    #[must_use]
    pub fn chart(&self, title: impl Into<String>) -> Chart {
        let [name, one, mark] = self.words;
        let series = different(self.dots.iter().map(|dot| &dot.series));
        let words = [
            ("name", name),
            ("series", one),
            ("value", self.axis.title.as_str()),
            ("sd", "± sd"),
            ("mark", mark),
        ];
        let words: &[_] = if self.has_marks() { &words } else { &words[..4] };
        let layers = json!([
            {
                "mark": { "type": "tick", "style": "faint", "thickness": 2, "band": 0.9 },
                "encoding": {
                    "x": { "field": "mark", "type": "quantitative" }, "tooltip": told(words)
                },
            },
            {
                "mark": { "type": "rule", "strokeWidth": 2 },
                "encoding": {
                    "x": { "field": "low", "type": "quantitative" }, "x2": { "field": "high" },
                    "color": by_colour("series", series),
                },
            },
            {
                "mark": { "type": "point", "filled": true, "size": 55, "opacity": 1 },
                "encoding": {
                    "x": self.axis.encoding("value"), "color": by_colour("series", series),
                    "tooltip": told(words),
                },
            },
        ]);
        Chart {
            title: title.into(),
            spec: json!({
                "data": { "values": self.dots.iter().map(data).collect::<Vec<_>>() },
                "height": step(series), "encoding": by_name_and_series(series), "layer": layers,
            }),
            values: self.table(),
        }
    }

    fn has_marks(&self) -> bool {
        self.dots.iter().any(|dot| dot.mark.is_some())
    }

    fn table(&self) -> Table {
        let [name, series, mark] = self.words;
        let mut head = vec![name, series, self.axis.title.as_str(), "± sd"];
        head.extend(self.has_marks().then_some(mark));
        let line = |dot: &Dot| {
            let mut line =
                vec![dot.name.clone(), dot.series.clone(), number(dot.value), or_dash(dot.sd)];
            line.extend(self.has_marks().then(|| or_dash(dot.mark)));
            line
        };
        Table::new(&head, 2, self.dots.iter().map(line).collect())
    }
}

fn data(Dot { name, series, value, sd, mark }: &Dot) -> Value {
    let error = sd.filter(|sd| *sd > 0.0);
    json!({
        "name": name, "series": series, "value": value, "sd": sd, "mark": mark,
        "low": error.map(|sd| value - sd), "high": error.map(|sd| value + sd),
    })
}
