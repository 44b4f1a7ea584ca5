//! Bars with error bars, one for each line.

use super::{Axis, by_name, number, or_dash, told};
use crate::model::{Chart, Table};
use serde_json::{Value, json};

/// The room right of the longest bar, for its number.
const ROOM: f64 = 1.22;

/// A bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bar {
    /// The name of the line.
    pub name: String,
    /// The length of the bar.
    pub value: f64,
    /// The standard deviation, shown as an error bar; `None` if there was one run.
    pub sd: Option<f64>,
    /// A value to compare with, shown as a stroke.
    pub mark: Option<f64>,
    /// Words after the number.
    pub note: String,
    /// Whether the value is bad, good or neither, which its colour says.
    pub tone: Tone,
}

/// Whether a value is bad or good, which its colour says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Neither.
    #[default]
    Neutral,
    /// Bad.
    Loss,
    /// Good.
    Gain,
}

impl Tone {
    const fn colour(self) -> &'static str {
        match self {
            Self::Neutral => "var(--neutral)",
            Self::Loss => "var(--loss)",
            Self::Gain => "var(--gain)",
        }
    }
}

impl Bar {
    /// A bar of this length.
    #[must_use]
    pub fn new(name: impl Into<String>, value: f64) -> Self {
        Self { name: name.into(), value, ..Self::default() }
    }

    /// The bar with an error bar.
    #[must_use]
    pub const fn with_sd(mut self, sd: f64) -> Self {
        self.sd = Some(sd);
        self
    }

    fn data(&self) -> Value {
        let Self { name, value, sd, mark, note, tone } = self;
        let error = sd.filter(|sd| *sd > 0.0);
        let end = value.max(0.0).max(mark.unwrap_or(0.0)).max(value + error.unwrap_or(0.0));
        json!({
            "name": name, "value": value, "sd": sd, "mark": mark, "colour": tone.colour(),
            "low": error.map(|sd| value - sd), "high": error.map(|sd| value + sd), "end": end,
            "text": format!("{}{}{note}", number(*value), if note.is_empty() { "" } else { " " }),
        })
    }
}

/// Bars from zero on, one below the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    axis: Axis,
    bars: Vec<Bar>,
    mark: String,
}

impl Bars {
    /// Bars on this axis.
    #[must_use]
    pub const fn new(axis: Axis, bars: Vec<Bar>) -> Self {
        Self { axis, bars, mark: String::new() }
    }

    /// The bars; their strokes are called `name`.
    #[must_use]
    pub fn with_marks(mut self, name: impl Into<String>) -> Self {
        self.mark = name.into();
        self
    }

    /// The chart.
    #[must_use]
    pub fn chart(&self, title: impl Into<String>) -> Chart {
        let data: Vec<Value> = self.bars.iter().map(Bar::data).collect();
        let ends = data.iter().filter_map(|bar| bar["end"].as_f64());
        let end = ends.fold(0.0, f64::max);
        let mut x = self.axis.encoding("value");
        if end > 0.0 && self.axis.domain.is_none() {
            x["scale"]["domainMax"] = json!(end * ROOM);
        }
        let mut words = vec![("name", "of"), ("value", self.axis.title.as_str()), ("sd", "± sd")];
        if self.has_marks() {
            words.push(("mark", &self.mark));
        }
        let bar = json!({
            "mark": { "type": "bar", "height": { "band": 0.62 } },
            "encoding": {
                "x": x, "tooltip": told(&words),
                "color": { "field": "colour", "type": "nominal", "scale": null },
            },
        });
        let error = json!({
            "mark": { "type": "rule", "style": "strong" },
            "encoding": {
                "x": { "field": "low", "type": "quantitative" }, "x2": { "field": "high" },
            },
        });
        let mark = json!({
            "mark": { "type": "tick", "style": "strong", "thickness": 2.5, "size": 20 },
            "encoding": { "x": { "field": "mark", "type": "quantitative" } },
        });
        let text = json!({
            "mark": { "type": "text", "style": "value", "align": "left", "dx": 6 },
            "encoding": {
                "x": { "field": "end", "type": "quantitative" }, "text": { "field": "text" },
            },
        });
        Chart {
            title: title.into(),
            spec: json!({
                "data": { "values": data }, "height": { "step": 26 },
                "encoding": { "y": by_name("name") }, "layer": [bar, error, mark, text],
            }),
            values: self.table(),
        }
    }

    fn has_marks(&self) -> bool {
        self.bars.iter().any(|bar| bar.mark.is_some())
    }

    fn table(&self) -> Table {
        let mut head = vec!["of", self.axis.title.as_str(), "± sd"];
        head.extend(self.has_marks().then_some(self.mark.as_str()));
        let line = |bar: &Bar| {
            let mut line = vec![bar.name.clone(), number(bar.value), or_dash(bar.sd)];
            line.extend(self.has_marks().then(|| or_dash(bar.mark)));
            line
        };
        Table::new(&head, 1, self.bars.iter().map(line).collect())
    }
}
