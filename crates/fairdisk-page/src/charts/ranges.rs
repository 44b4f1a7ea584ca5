//! Percentiles: a line from the median to the longest, with dots between.

use super::{Axis, by_colour, by_name_and_series, different, number, step, told};
use crate::model::{Chart, Table};
use serde_json::{Value, json};

/// The values at some ranks of one series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Range {
    /// The name of the line.
    pub name: String,
    /// The series, which has its own colour.
    pub series: String,
    /// The values, one for each rank of [`Ranges::ranks`], in ascending order.
    pub values: Vec<f64>,
}

/// Values at ranks: a line for each name, and within it one for each series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranges {
    /// The quantity.
    pub axis: Axis,
    /// What names and series are called.
    pub words: [&'static str; 2],
    /// The names of the ranks, in ascending order.
    pub ranks: Vec<&'static str>,
    /// The values.
    pub ranges: Vec<Range>,
}

impl Ranges {
    /// The chart.
    #[must_use]
    pub fn chart(&self, title: impl Into<String>) -> Chart {
        let series = different(self.ranges.iter().map(|range| &range.series));
        let words = [
            ("name", self.words[0]),
            ("series", self.words[1]),
            ("rank", "rank"),
            ("value", self.axis.title.as_str()),
        ];
        let line = json!({
            "mark": { "type": "rule", "strokeWidth": 1.5 },
            "encoding": {
                "x": { "field": "value", "type": "quantitative", "aggregate": "min" },
                "x2": { "field": "value", "aggregate": "max" },
                "color": by_colour("series", series),
            },
        });
        let points = json!({
            "mark": { "type": "point", "filled": true, "opacity": 1, "size": 45 },
            "encoding": {
                "x": self.axis.encoding("value"), "color": by_colour("series", series),
                "shape": { "field": "rank", "type": "nominal", "sort": null },
                "tooltip": told(&words),
            },
        });
        Chart {
            title: title.into(),
            spec: json!({
                "data": { "values": self.data() }, "height": step(series),
                "encoding": by_name_and_series(series),
                "layer": [line, points],
            }),
            values: self.table(),
        }
    }

    fn data(&self) -> Vec<Value> {
        let of = |range: &Range| {
            let values = self.ranks.iter().zip(&range.values);
            let point = |(rank, value): (&&str, &f64)| {
                json!({
                    "name": range.name, "series": range.series, "rank": rank, "value": value
                })
            };
            values.map(point).collect::<Vec<_>>()
        };
        self.ranges.iter().flat_map(of).collect()
    }

    fn table(&self) -> Table {
        let [name, series] = self.words;
        let head: Vec<&str> = [name, series].into_iter().chain(self.ranks.clone()).collect();
        let line = |range: &Range| {
            let values = range.values.iter().map(|value| number(*value));
            [range.name.clone(), range.series.clone()].into_iter().chain(values).collect()
        };
        Table::new(&head, 2, self.ranges.iter().map(line).collect())
    }
}
