//! The single runs of a row, seed by seed.

use crate::outcome::table::{digits, rate_number};
use crate::outcome::{RowOutcome, Series};
use fairdisk_page::{Part, Table};

/// What each run of a row had under each arm, in order of seeds, if there are several.
pub(super) fn runs(arms: &[&RowOutcome]) -> Option<Part> {
    let lines: Vec<Vec<String>> = arms.iter().flat_map(|arm| lines(arm)).collect();
    let most = lines.iter().map(Vec::len).max().unwrap_or_default();
    if most < 4 {
        return None;
    }
    let seeds: Vec<String> = (1..most - 1).map(|seed| format!("run {seed}")).collect();
    let names = ["arm", "figure"].into_iter().chain(seeds.iter().map(String::as_str));
    let table = Table::new(&names.collect::<Vec<_>>(), 2, lines);
    Some(Part::Folded("Single runs".to_owned(), vec![Part::Table(table)]))
}

/// A line for each figure of the row: the arm, the figure, and what each run had.
fn lines(arm: &RowOutcome) -> Vec<Vec<String>> {
    let line = |figure: String, series: &Series, number: &dyn Fn(f64) -> String| {
        let each = series.each.iter().map(|value| number(*value));
        [arm.arm.clone(), figure].into_iter().chain(each).collect::<Vec<_>>()
    };
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    let whole = |ios: f64| format!("{ios:.0}");
    let groups = arm.groups.iter();
    let mut lines: Vec<Vec<String>> = groups
        .map(|group| line(format!("{}, share %", group.name), group.compared_share(), &percent))
        .collect();
    lines.push(line("all, I/Os".to_owned(), &arm.total_ios, &whole));
    for task in &arm.tasks {
        lines.push(line(format!("{}, MB/s", task.name), &task.mb_per_s, &rate_number));
    }
    for figure in &arm.figures {
        let name = format!("{}, {}", figure.whom.words(), figure.quantity.words());
        lines.extend(figure.ours.as_ref().map(|ours| line(name, ours, &digits)));
    }
    lines
}
