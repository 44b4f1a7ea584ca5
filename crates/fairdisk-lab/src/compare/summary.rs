//! The summary of a comparison: each arm over all devices and rows.

use super::{Cell, Comparison};

/// The results of an arm over all its cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The name of the arm.
    pub arm: String,
    /// The number of its cells.
    pub cells: usize,
    /// The mean over its cells of their mean errors, and the largest error of any group, in
    /// percentage points; `None` if nothing was done in any cell.
    pub error: Option<[f64; 2]>,
    /// The least of what a group got as a part of what it asked for; `None` if none asked.
    pub got_of_asked: Option<f64>,
    /// The mean and the lowest throughput, as a fraction of that of `noop`.
    pub of_noop: Option<[f64; 2]>,
    /// The number of groups whose promises were all kept, and of all groups with promises.
    pub promises: [usize; 2],
}

impl Summary {
    /// The names of the figures, and when each leaves a table that is too wide.
    pub(super) const HEADS: [(&'static str, u8); 7] = [
        ("cells", 1),
        ("error mean", 6),
        ("error most", 4),
        ("got/asked least", 5),
        ("of noop mean", 7),
        ("of noop least", 2),
        ("promises", 3),
    ];

    /// The figures as text.
    pub(super) fn columns(&self) -> [String; 7] {
        let rate = |at: usize| self.of_noop.map_or("-".to_owned(), |one| format!("{:.2}", one[at]));
        let error = |at: usize| self.error.map_or("-".to_owned(), |one| format!("{:.1}", one[at]));
        let [kept, all] = self.promises;
        let promises = if all == 0 { "-".to_owned() } else { format!("{kept}/{all}") };
        let part = self.got_of_asked.map_or("-".to_owned(), |part| format!("{part:.2}"));
        [self.cells.to_string(), error(0), error(1), part, rate(0), rate(1), promises]
    }
}

impl Comparison {
    /// The summary of each arm, in the order of their first cells.
    #[must_use]
    pub fn summary(&self) -> Vec<Summary> {
        // Cells that lack runs are apart from those that are whole.
        let label = |cell: &Cell| match (cell.partial, cell.given_up) {
            (true, _) => format!("{}, partial", cell.name()),
            (false, _) => cell.label(),
        };
        let mut arms: Vec<String> = Vec::new();
        for label in self.cells.iter().map(label) {
            if !arms.contains(&label) {
                arms.push(label);
            }
        }
        let of = |arm: String| {
            let cells = self.cells.iter().filter(|cell| label(cell) == arm).collect::<Vec<_>>();
            sum_up(arm, &cells)
        };
        arms.into_iter().map(of).collect()
    }
}

fn sum_up(arm: String, cells: &[&Cell]) -> Summary {
    let errors: Vec<(f64, f64)> = cells.iter().filter_map(|cell| cell.error_points()).collect();
    let means = errors.iter().map(|(mean, _)| mean).sum::<f64>() / errors.len().max(1) as f64;
    let most = errors.iter().map(|(_, most)| *most).reduce(f64::max);
    let groups = cells.iter().flat_map(|cell| &cell.groups);
    let parts = groups.filter_map(|group| group.parts?.got_of_asked());
    let rates: Vec<f64> = cells.iter().filter_map(|cell| cell.of_noop).collect();
    let least = rates.iter().copied().reduce(f64::min);
    let promised = cells
        .iter()
        .flat_map(|cell| cell.reported())
        .map(|group| &group.promises)
        .filter(|promises| !promises.are_none())
        .collect::<Vec<_>>();
    Summary {
        arm,
        cells: cells.len(),
        error: most.map(|most| [means, most]),
        got_of_asked: parts.reduce(f64::min),
        of_noop: least.map(|least| [rates.iter().sum::<f64>() / rates.len() as f64, least]),
        promises: [promised.iter().filter(|promises| promises.are_kept()).count(), promised.len()],
    }
}
