//! Heat maps: how much there is in each cell of a grid.

use super::{Axis, number, told};
use crate::model::{Chart, Table};
use serde_json::{Value, json};

/// The height of the chart, in pixels.
const HEIGHT: usize = 280;
/// The most cells in the table, those with most.
const LINES_MAX: usize = 50;

/// A cell that is not empty.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cell {
    /// From where to where on the axis to the right.
    pub x: [f64; 2],
    /// From where to where on the axis that goes up.
    pub y: [f64; 2],
    /// How much there is.
    pub value: f64,
}

/// A grid of cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heat {
    /// What goes to the right.
    pub x: Axis,
    /// What goes up.
    pub y: Axis,
    /// What the colour says.
    pub value: String,
    /// The cells that are not empty.
    pub cells: Vec<Cell>,
}

impl Heat {
    /// The chart.
    #[must_use]
    pub fn chart(&self, title: impl Into<String>) -> Chart {
        let words = [
            ("x", self.x.title.as_str()),
            ("y", self.y.title.as_str()),
            ("value", self.value.as_str()),
        ];
        Chart {
            title: title.into(),
            spec: json!({
                "data": { "values": self.cells.iter().map(data).collect::<Vec<_>>() },
                "height": HEIGHT,
                "mark": { "type": "rect" },
                "encoding": {
                    "x": self.x.encoding("x"), "x2": { "field": "x2" },
                    "y": self.y.encoding("y"), "y2": { "field": "y2" },
                    "color": {
                        "field": "value", "type": "quantitative",
                        "scale": { "type": "sqrt", "scheme": "viridis" },
                        "legend": { "title": self.value, "format": "~s", "gradientLength": 200 },
                    },
                    "tooltip": told(&words),
                },
            }),
            values: self.table(),
        }
    }

    fn table(&self) -> Table {
        let mut most: Vec<&Cell> = self.cells.iter().collect();
        most.sort_by(|one, other| other.value.total_cmp(&one.value));
        let between = |[low, high]: [f64; 2]| format!("{} to {}", number(low), number(high));
        let line = |cell: &&Cell| vec![between(cell.x), between(cell.y), number(cell.value)];
        let head = [self.x.title.as_str(), self.y.title.as_str(), self.value.as_str()];
        Table::new(&head, 2, most.iter().take(LINES_MAX).map(line).collect())
    }
}

fn data(Cell { x, y, value }: &Cell) -> Value {
    json!({ "x": x[0], "x2": x[1], "y": y[0], "y2": y[1], "value": value })
}
