//! A comparison as an HTML page.

mod chart;

use super::table::{has_flushes, parts_text, promises_text};
use super::{Cell, Comparison, MissingCells, RefusedCell};
use crate::digits::ms;
use crate::outcome::milliseconds;
use crate::page::{Made, escape, page};
use std::fmt::Write as _;

/// The comparison as an HTML page. `made` tells how it came about.
#[must_use]
pub fn to_html(comparison: &Comparison, made: &Made<'_>) -> String {
    let mut body = String::new();
    let [experiment, title] = [&comparison.experiment, &comparison.title].map(|text| escape(text));
    let runs = comparison.runs();
    let _ =
        write!(body, "<h1>{experiment}: {title}</h1>\n<p class=\"dim\">In the lab, {runs}.</p>\n");
    write_pictures(&mut body, comparison);
    write_summary(&mut body, comparison);
    write_refused(&mut body, comparison);
    write_missing(&mut body, comparison);
    for note in comparison.notes() {
        let _ = writeln!(body, "<p>{}</p>", escape(note));
    }
    page(&format!("Compare: {}", comparison.title), body, made)
}

/// Writes a picture with its figures for each device and row.
pub(crate) fn write_pictures(body: &mut String, comparison: &Comparison) {
    body.push_str(
        "<p class=\"dim\">Coloured: the parts of the disk's work that groups got; strokes: where \
         they would end if all got what they are entitled to. Bytes a second beside those of noop. \
         Latencies: from the median, a large dot, past 99 of 100, a small one, to 999 of \
         1000.</p>\n",
    );
    for cells in comparison.blocks() {
        let first = &cells[0];
        let _ = writeln!(body, "<h2>{}, {}</h2>", escape(&first.device), escape(&first.row));
        body.push_str(&chart::block(cells));
        write_cells(body, cells);
    }
}

/// Writes the figures that belong to a picture.
fn write_cells(body: &mut String, cells: &[Cell]) {
    let flushes = has_flushes(cells);
    let _ = writeln!(
        body,
        "<details>\n<summary>Figures</summary>\n<table>\n<tr><th>scheduler</th><th>I/Os/s</th>\
         <th>of noop</th><th>work</th><th>group</th><th>asked %</th><th>got %</th>\
         <th>got/asked</th><th>p50 ms</th>\
         <th>p99 ms</th><th>p99.9 ms</th><th>wait ms</th>{}<th>promised</th></tr>",
        if flushes { "<th>fsync p99 ms</th>" } else { "" },
    );
    for cell in cells {
        for (at, group) in cell.reported().enumerate() {
            let of_noop = cell.of_noop.map_or_else(|| "-".to_owned(), |part| format!("{part:.2}"));
            let shared = [
                escape(&cell.label()),
                format!("{:.0}", cell.ios_per_s),
                of_noop,
                format!("{:.1} %", cell.work * 100.0),
            ];
            body.push_str("<tr>");
            for text in shared {
                let text = if at == 0 { text } else { String::new() };
                let _ = write!(body, "<td class=\"n\">{text}</td>");
            }
            let outcome = &group.outcome;
            let quantile = |per_mille| milliseconds(&outcome.latency, per_mille);
            let [asked, got, _, of_asked] = parts_text(group.parts);
            let flush = milliseconds(&outcome.directions.flush.latency, 990);
            let flush =
                if flushes { format!("<td class=\"n\">{flush}</td>") } else { String::new() };
            let _ = writeln!(
                body,
                "<td>{}</td><td class=\"n\">{asked}</td><td class=\"n\">{got}</td><td \
                 class=\"n\">{of_asked}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td \
                 class=\"n\">{}</td><td class=\"n\">{}</td>{flush}<td>{}</td></tr>",
                escape(&outcome.name),
                quantile(500),
                quantile(990),
                quantile(999),
                ms(outcome.wait_max_ms),
                promises_text(&group.promises),
            );
        }
    }
    body.push_str("</table>\n</details>\n");
}

/// Writes what was refused.
fn write_refused(body: &mut String, comparison: &Comparison) {
    if comparison.refused.is_empty() {
        return;
    }
    body.push_str("<h2>Refused</h2>\n<ul>\n");
    for RefusedCell { device, row, arm, reason } in &comparison.refused {
        let [device, row, arm, reason] = [device, row, arm, reason].map(|text| escape(text));
        let _ = writeln!(body, "<li>{arm} on {device}, {row}: {reason}</li>");
    }
    body.push_str("</ul>\n");
}

/// Writes what was not run before the runs were stopped.
fn write_missing(body: &mut String, comparison: &Comparison) {
    if comparison.missing.is_empty() {
        return;
    }
    body.push_str("<h2>Not run</h2>\n<ul>\n");
    for MissingCells { device, row, arms } in &comparison.missing {
        let [device, row, arms] = [device, row, &arms.join(", ")].map(|text| escape(text));
        let _ = writeln!(body, "<li>{device}, {row}: {arms}</li>");
    }
    body.push_str("</ul>\n");
}

/// Writes the summary of each arm over all devices and rows.
fn write_summary(body: &mut String, comparison: &Comparison) {
    body.push_str(
        "<h2>Over all of them</h2>\n<table>\n<tr><th>scheduler</th><th>cells</th><th>error mean, \
         points</th><th>most</th><th>got/asked, least</th><th>of noop, mean</th><th>least</th><th>promises kept</th></tr>\n",
    );
    for sum in comparison.summary() {
        let _ = write!(body, "<tr><td>{}</td>", escape(&sum.arm));
        for text in sum.columns() {
            let _ = write!(body, "<td class=\"n\">{text}</td>");
        }
        body.push_str("</tr>\n");
    }
    body.push_str("</table>\n");
}
