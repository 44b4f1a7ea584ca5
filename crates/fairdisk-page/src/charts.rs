//! The usual charts, as Vega-Lite specifications with their values as a table.
//!
//! Names of series and lines stand beside the chart or in its legend and never inside it, so that
//! they do not collide, however many there are.

mod bars;
mod dots;
mod heat;
mod lines;
mod ranges;
mod tracks;

pub use bars::{Bar, Bars, Tone};
pub use dots::{Dot, Dots};
pub use heat::{Cell, Heat};
pub use lines::{Line, Lines};
pub use ranges::{Range, Ranges};
pub use tracks::{Stretch, Tracks};

use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What an axis is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// The quantity and its unit.
    pub title: String,
    /// Whether equal distances are equal ratios; values must then be above zero.
    pub is_log: bool,
    /// Whether a linear axis begins at zero.
    pub has_zero: bool,
    /// The least and the most that is shown; as the data says if `None`.
    pub domain: Option<[f64; 2]>,
    /// Names in place of the numbers 0, 1 and on; none for an axis of numbers.
    pub names: Vec<String>,
}

impl Axis {
    /// An axis of equal distances, from zero on.
    #[must_use]
    pub fn linear(title: impl Into<String>) -> Self {
        Self { title: title.into(), has_zero: true, ..Self::default() }
    }

    /// An axis of equal ratios.
    #[must_use]
    pub fn log(title: impl Into<String>) -> Self {
        Self { title: title.into(), is_log: true, ..Self::default() }
    }

    /// The axis from `low` to `high`.
    #[must_use]
    pub fn between(mut self, low: f64, high: f64) -> Self {
        self.domain = Some([low, high]);
        self
    }

    /// The axis with these names at 0, 1 and on.
    #[must_use]
    pub fn with_names(mut self, names: Vec<String>) -> Self {
        self.names = names;
        self
    }

    /// A place on the axis, as text.
    fn text(&self, value: f64) -> String {
        let name = self.names.get(value as usize).filter(|_| value >= 0.0);
        name.cloned().unwrap_or_else(|| number(value))
    }

    /// The encoding of a field on this axis.
    fn encoding(&self, field: &str) -> Value {
        let mut scale = match self.is_log {
            true => json!({ "type": "log" }),
            false => json!({ "zero": self.has_zero }),
        };
        if let Some(domain) = self.domain {
            scale["domain"] = json!(domain);
        }
        // Numbers of axes as people write them; those of a log axis from very small to very large.
        let format = if self.is_log { "~g" } else { ",~r" };
        let axis = match self.names.as_slice() {
            [] => json!({ "format": format }),
            names => json!({
                "values": (0..names.len()).collect::<Vec<_>>(),
                "labelExpr": format!("{}[datum.value]", json!(names)),
            }),
        };
        json!({
            "field": field, "type": "quantitative", "title": self.title, "scale": scale,
            "axis": axis,
        })
    }
}

/// The encoding of lines by their names, from top to bottom in the order of the data.
fn by_name(field: &str) -> Value {
    json!({ "field": field, "type": "nominal", "sort": null, "title": null })
}

/// The encoding of series by colour, in the order of the data; with a legend if there are several.
fn by_colour(field: &str, series: usize) -> Value {
    let legend = (series > 1).then(|| json!({ "title": null }));
    json!({ "field": field, "type": "nominal", "sort": null, "legend": legend })
}

/// How many different names there are.
fn different<'a>(names: impl Iterator<Item = &'a String>) -> usize {
    names.collect::<BTreeSet<_>>().len()
}

/// The height of a line for each name: 20 pixels, or with several series 11 for each and a gap.
fn step(series: usize) -> Value {
    match series {
        0 | 1 => json!({ "step": 20 }),
        _ => json!({ "step": (6 + 11 * series).max(20), "for": "position" }),
    }
}

/// The encoding of lines by name, and of series side by side within a line.
fn by_name_and_series(series: usize) -> Value {
    let mut encoding = json!({ "y": by_name("name") });
    encoding["y"]["axis"] = json!({ "grid": true });
    if series > 1 {
        encoding["yOffset"] = json!({ "field": "series", "type": "nominal", "sort": null });
    }
    encoding
}

/// What the pointer tells: fields with the words for them.
fn told(fields: &[(&str, &str)]) -> Value {
    fields.iter().map(|(field, title)| json!({ "field": field, "title": title })).collect()
}

/// A number as people read it: about four digits, thousands apart.
#[must_use]
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let digits = match value.abs() {
        size if size.fract() == 0.0 => 0,
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.digits$}");
    let (whole, rest) = text.split_once('.').map_or((text.as_str(), None), |(a, b)| (a, Some(b)));
    let (sign, whole) = whole.strip_prefix('-').map_or(("", whole), |whole| ("-", whole));
    let mut out = String::from(sign);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    rest.into_iter().for_each(|rest| out.extend([".", rest]));
    out
}

/// A number, or a dash where there is none.
fn or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), number)
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_have_about_four_digits() {
        let all = [0.0, 3.0, 0.1234, -1.239, 12.34, 999.6, 1234.5, -1_234_567.0, f64::NAN];
        let texts = ["0", "3", "0.123", "-1.24", "12.3", "1,000", "1,234", "-1,234,567", "-"];
        assert_eq!(all.map(number), texts);
    }
}
