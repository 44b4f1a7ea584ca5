//! Results as a text table.

mod groups;

pub(super) use groups::{has_flushes, reads};

use super::memory;
use super::split::{self, TWO_REGIMES, mean_or_regimes};
use super::{
    ChangeOutcome, FigureOutcome, MemoryOutcome, Outcome, PayersOutcome, RefusedRow, RowOutcome,
    Score, Series, Shell, TaskOutcome, part,
};
use crate::catalog::experiment::{Estimate, Quantity};
use crate::columns::{Grid, NAME_MAX, padded, width};
use crate::digits::{ms, signed};
use crate::run::{EventRun, RUN_MAX, RunEnd};
use crate::seconds::{in_seconds, seconds};
use fairdisk_core::Histogram;
use std::fmt::Write as _;

/// The style of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether to use terminal colours.
    pub colour: bool,
    /// Whether to say what each disk did.
    pub disks: bool,
    /// The columns of the terminal; `None` if lines may be as long as they like.
    pub columns: Option<u16>,
}

impl Style {
    /// The lines of `text`, broken between words where they are wider than the terminal.
    pub(crate) fn folded(self, text: &str) -> String {
        let Some(columns) = self.columns else { return text.to_owned() };
        let fold = |line: &str| {
            let indent = " ".repeat(line.len() - line.trim_start().len() + 4);
            let options = textwrap::Options::new(columns.into()).subsequent_indent(&indent);
            textwrap::fill(line, options.break_words(false)) + "\n"
        };
        text.lines().map(fold).collect()
    }

    pub(crate) fn bold(self, text: &str) -> String {
        if self.colour { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub(crate) fn dim(self, text: &str) -> String {
        if self.colour { format!("\x1b[2m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// The outcome as text.
#[must_use]
pub fn to_table(outcome: &Outcome, style: Style) -> String {
    let mut out = String::new();
    line(&mut out, &style.bold(&format!("{}: {}", outcome.experiment, outcome.title)));
    if !outcome.question.is_empty() {
        line(&mut out, &outcome.question);
    }
    if !outcome.source.is_empty() {
        line(&mut out, &style.dim(&format!("published by {}", outcome.source)));
    }
    let spread = if outcome.seeds > 1 { " ± sd" } else { "" };
    let runs = format!("{}{spread}", outcome.runs());
    line(&mut out, &style.dim(&format!("on {}, {runs}", outcome.place())));
    for row in &outcome.rows {
        write_row(&mut out, outcome, row, style);
    }
    write_refused(&mut out, outcome, style);
    write_changes(&mut out, outcome, style);
    if let Some(score) = Score::of(outcome) {
        out.push('\n');
        score_lines(&score).iter().for_each(|text| line(&mut out, text));
    }
    let estimates = outcome.estimates.iter().filter_map(Estimate::note);
    let notes: Vec<String> = estimates.chain(notes(&outcome.caveats, &outcome.excluded)).collect();
    if !notes.is_empty() {
        out.push('\n');
        notes.iter().for_each(|note| line(&mut out, &style.dim(note)));
    }
    out
}

/// What to know before reading the figures, and which causes of differences from the published
/// figures were excluded, one line each.
pub(crate) fn notes(caveats: &[String], excluded: &[String]) -> Vec<String> {
    let caveats = caveats.iter().map(|caveat| format!("note: {caveat}"));
    caveats.chain(excluded.iter().map(|cause| format!("excluded: {cause}"))).collect()
}

/// How many runs the figures are the mean of.
pub(crate) fn runs(count: usize) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("mean of {count} runs") }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

/// The width of a column with these texts and this heading.
pub(crate) fn widest(texts: impl Iterator<Item = impl AsRef<str>>, heading: &str) -> usize {
    let widths = texts.map(|text| width(text.as_ref()));
    widths.max().unwrap_or(0).max(heading.len()).min(NAME_MAX)
}

fn write_row(out: &mut String, outcome: &Outcome, row: &RowOutcome, style: Style) {
    out.push('\n');
    line(out, &style.bold(&title(outcome, row)));
    let width = widest(row.groups.iter().map(|group| group.name.as_str()), "total");
    write_grid(out, &groups::grid(outcome, row), style);
    write_total(out, outcome, row, width);
    for task in &row.tasks {
        line(out, &task_line(task, width));
    }
    let throughput = row.throughput.iter().flat_map(|test| test.lines());
    throughput.for_each(|text| line(out, &format!("  {text}")));
    write_figures(out, &row.figures, style);
    events(row).iter().for_each(|text| line(out, &format!("  {text}")));
    split::lines(row).iter().for_each(|text| line(out, &format!("  {text}")));
    if let Some(payers) = &row.payers {
        write_payers(out, payers, style);
    }
    if row.memory.is_some() {
        write_memory(out, row, style);
    }
    let disks = if style.disks { row.disks.lines() } else { Vec::new() };
    for (at, text) in disks.iter().enumerate() {
        line(out, &if at == 0 { style.dim(text) } else { text.clone() });
    }
    let conserved = format!(
        "  requests: {} submitted = {} completed + {} in flight",
        row.submitted, row.completed, row.in_flight
    );
    line(out, &style.dim(&conserved));
    let memory = row.memory.iter().flat_map(MemoryOutcome::lines);
    for left in still_dirty(row).into_iter().chain(memory) {
        line(out, &style.dim(&format!("  {left}")));
    }
    if let Some(given_up) = given_up(row) {
        line(out, &format!("  {given_up}"));
    }
    if row.errors > 0 {
        let noun = if row.errors == 1 { "I/O" } else { "I/Os" };
        line(out, &format!("  {} {noun} failed", row.errors));
    }
}

/// The narrowest terminal for which tables are made.
const ROOM_LEAST: usize = 80;

/// Writes a table with its head, as far as there is room for it.
pub(crate) fn write_grid(out: &mut String, grid: &Grid, style: Style) {
    let room = style.columns.map(|columns| usize::from(columns).max(ROOM_LEAST));
    for (at, text) in grid.lines(room).enumerate() {
        line(out, &if at == 0 { style.dim(&text) } else { text });
    }
}

/// What came of the events of a row, one line each.
pub(super) fn events(row: &RowOutcome) -> Vec<String> {
    let words = |event: &EventRun| {
        let refused =
            event.refused.as_ref().map_or_else(String::new, |why| format!(": refused: {why}"));
        format!("at {}: {}{refused}", seconds(in_seconds(event.at)), event.words)
    };
    row.events.iter().map(words).collect()
}

pub(super) fn title(outcome: &Outcome, row: &RowOutcome) -> String {
    let scheduler =
        if row.arm == row.scheduler { String::new() } else { format!(" ({})", row.scheduler) };
    let mut text = format!("{}{scheduler}, {}, {}", row.arm, row.row, seconds(row.duration_s));
    let own_device = Some(&row.device).filter(|device| **device != outcome.device);
    for own in own_device.into_iter().chain(&row.own_host) {
        let _ = write!(text, ", on {own}");
    }
    let _ = match row.end {
        RunEnd::Failed => write!(text, ", partial: a request failed"),
        RunEnd::Interrupted => write!(text, ", partial: interrupted"),
        RunEnd::Planned | RunEnd::GivenUp if row.partial => {
            write!(text, ", partial: {} of {} runs", row.seeds, outcome.seeds)
        }
        RunEnd::Planned | RunEnd::GivenUp => Ok(()),
    };
    text
}

/// A quantile of the latencies in milliseconds; `-` if there are none.
pub(crate) fn milliseconds(latency: &Histogram, per_mille: u32) -> String {
    match latency.count() {
        0 => "-".to_owned(),
        _ => ms(latency.quantile(per_mille).as_ns() as f64 / 1e6),
    }
}

/// Writes who pays for what was written back by each rule.
fn write_payers(out: &mut String, payers: &PayersOutcome, style: Style) {
    let width = widest(payers.groups().map(|(name, _)| name), PayersOutcome::TITLE);
    let heads = payers.heads();
    let mut head = format!("  {:width$}", PayersOutcome::TITLE);
    heads.iter().for_each(|rule| head += &format!("  {rule:>12}"));
    line(out, &style.dim(&head));
    for (name, columns) in payers.groups() {
        let mut text = format!("  {}", padded(name, width));
        columns.iter().for_each(|column| text += &format!("  {column:>12}"));
        line(out, &text);
    }
    payers.notes().iter().for_each(|note| line(out, &format!("  note: {note}")));
}

/// Writes what groups and tasks had of the memory.
fn write_memory(out: &mut String, row: &RowOutcome, style: Style) {
    let lines = memory::columns(row);
    let width = widest(lines.iter().map(|[name, ..]| name), "memory");
    let columns = |[name, hits, misses, waited]: [&str; 4]| {
        format!("  {}  {hits:>9}  {misses:>9}  {waited:>9}", padded(name, width))
    };
    line(out, &style.dim(&columns(memory::HEAD)));
    lines.iter().for_each(|texts| line(out, &columns(texts.each_ref().map(String::as_str))));
}

/// A line on data that was dirty at the end, if there was any.
pub(super) fn still_dirty(row: &RowOutcome) -> Option<String> {
    let mb = row.dirty_bytes / 1e6;
    (mb > 0.0).then(|| format!("{mb:.1} MB were still dirty in memory at the end"))
}

/// A line on tasks that were not done, if a run was given up.
pub(super) fn given_up(row: &RowOutcome) -> Option<String> {
    let hours = RUN_MAX.as_ns() / 3_600_000_000_000;
    (row.end == RunEnd::GivenUp)
        .then(|| format!("given up: not done after {hours} h, which is all these figures show"))
}

fn write_total(out: &mut String, outcome: &Outcome, row: &RowOutcome, width: usize) {
    let total = mean_or_regimes(&row.total_ios, |ios| format!("{ios:.0}"));
    let mut text = format!("  {:width$}  {total:>9}", "total");
    if total != TWO_REGIMES {
        if row.seeds > 1 {
            let _ = write!(text, "  ± {:.0}", row.total_ios.sd);
        }
        let rate = rate_number(part(row.total_bytes, row.duration_s) / 1e6);
        let did = match outcome.shell {
            Shell::Lab => "work",
            Shell::File => "busy",
        };
        let _ = write!(text, ", {rate} MB/s, {did} {:.1} %", row.work * 100.0);
    }
    if let Some(published) = row.published_total {
        let error = (row.total_ios.mean / published - 1.0) * 100.0;
        let _ = write!(text, ", published {published:.0} ({} %)", signed(error));
    }
    line(out, &text);
}

fn task_line(task: &TaskOutcome, width: usize) -> String {
    let figures = match task.mb_per_s.regimes().or_else(|| task.seconds.regimes()) {
        Some(_) => TWO_REGIMES.to_owned(),
        None => format!(
            "{}, {:>6.0} IOPS in {:>5.1} s",
            rate(task.mb_per_s.mean),
            if task.seconds.mean > 0.0 { task.ios / task.seconds.mean } else { 0.0 },
            task.seconds.mean
        ),
    };
    let mut text = format!("  {}  {figures}", padded(&task.name, width));
    if let Some(published) = task.published_mb_per_s {
        let error = (task.mb_per_s.mean / published - 1.0) * 100.0;
        let published = rate(published);
        let _ = write!(text, ", published {} ({} %)", published.trim_start(), signed(error));
    } else if let Some(seconds) = task.published_seconds {
        // As in the score: a task that takes longer is slower.
        let error = task.rate_error().unwrap_or_default() * 100.0;
        let _ = write!(text, ", published {seconds:.1} s (rate {} %)", signed(error));
    }
    if task.has_end && !task.finished {
        text.push_str(", not finished");
    }
    text
}

/// Writes the figures without a column of their own.
fn write_figures(out: &mut String, figures: &[FigureOutcome], style: Style) {
    if figures.is_empty() {
        return;
    }
    let name = |it: &FigureOutcome| format!("{}: {}", it.whom.words(), it.quantity.words());
    let names: Vec<String> = figures.iter().map(name).collect();
    let width = widest(names.iter(), "figure");
    let head = format!("  {:width$}  {:>17}  {:>9}  off by", "figure", "ours ± sd", "published");
    line(out, &style.dim(&head));
    for (name, figure) in names.iter().zip(figures) {
        let [ours, published, off] = figure_columns(figure);
        let name = padded(name, width);
        line(out, &format!("  {name}  {ours:>17}  {published:>9}  {off}"));
    }
}

/// A value in words, or a dash.
pub(crate) fn or_dash<T>(what: Option<T>, words: impl FnOnce(T) -> String) -> String {
    what.map_or_else(|| "-".to_owned(), words)
}

/// The measured figure, the published one, and the distance between them.
pub(super) fn figure_columns(figure: &FigureOutcome) -> [String; 3] {
    let ours = or_dash(figure.ours.as_ref(), |ours| {
        mean_or_regimes(ours, |mean| format!("{} ± {}", digits(mean), digits(ours.sd)))
    });
    let unit = off_by(figure.quantity);
    let off = or_dash(figure.error(), |error| format!("{} {unit}", signed(error)));
    [ours, digits(figure.published), off]
}

/// The unit of distances of such figures.
const fn off_by(quantity: Quantity) -> &'static str {
    if quantity.is_percent() { "points" } else { "%" }
}

/// A figure with three significant digits, or with all digits before the point.
pub(crate) fn digits(figure: f64) -> String {
    match figure {
        figure if figure >= 100.0 => format!("{figure:.0}"),
        figure if figure >= 10.0 => format!("{figure:.1}"),
        _ => format!("{figure:.2}"),
    }
}

/// A rate in MB/s, so that all in a table are of one unit: with three significant digits, or with
/// all before the point and one behind it.
fn rate(mb_per_s: f64) -> String {
    format!("{:>6} MB/s", rate_number(mb_per_s))
}

/// The number of such a rate.
pub(super) fn rate_number(mb_per_s: f64) -> String {
    let digits = match mb_per_s {
        rate if rate <= 0.0 || rate >= 9.995 => 1,
        rate if rate >= 0.9995 => 2,
        rate if rate >= 0.09995 => 3,
        rate if rate >= 0.009_995 => 4,
        _ => 5,
    };
    format!("{mb_per_s:.digits$}")
}

/// Writes what was refused, and why.
fn write_refused(out: &mut String, outcome: &Outcome, style: Style) {
    if outcome.refused.is_empty() {
        return;
    }
    out.push('\n');
    line(out, &style.bold("refused"));
    for RefusedRow { arm, row, reason } in &outcome.refused {
        line(out, &format!("  {arm}, {row}: {reason}"));
    }
}

/// The heading of a list of [`ChangeOutcome`]s.
pub(super) fn changes_title(changes: &[ChangeOutcome]) -> &'static str {
    match changes.iter().any(|change| change.figure_text().is_some()) {
        true => "changes of the throughput, or of the figure that is named",
        false => "changes of the throughput",
    }
}

/// Writes the changes between arms.
fn write_changes(out: &mut String, outcome: &Outcome, style: Style) {
    let changes = &outcome.changes;
    if changes.is_empty() {
        return;
    }
    let name = |change: &ChangeOutcome| {
        let arms = format!("{}: {} to {}", change.rows_text(), change.from, change.to);
        change.figure_text().map_or_else(|| arms.clone(), |figure| format!("{arms}, {figure}"))
    };
    let longest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
    let names = longest(&mut changes.iter().map(|change| width(&name(change))));
    let wide = longest(&mut changes.iter().map(|change| change.published.words().len())).max(11);
    out.push('\n');
    line(out, &style.bold(changes_title(changes)));
    let of_ours = if outcome.seeds > 1 { 13 } else { 6 };
    let head = format!(
        "  {:names$}  {:>of_ours$}  {:>wide$}  off by",
        "row: arms", "ours %", "published %"
    );
    line(out, &style.dim(&head));
    for change in changes {
        let ours = or_dash(change.percent.as_ref(), |percent| match outcome.seeds > 1 {
            true => {
                mean_or_regimes(percent, |mean| format!("{} ± {:>3.1}", signed(mean), percent.sd))
            }
            false => signed(percent.mean),
        });
        let published = change.published.words();
        let off = or_dash(change.distance(), |points| format!("{points:.1}"));
        let name = padded(&name(change), names);
        let text = format!("  {name}  {ours:>of_ours$}  {published:>wide$}  {off:>6}");
        line(out, &text);
        let regimes = change.percent.as_ref().and_then(Series::regimes);
        if let Some(regimes) = regimes {
            line(out, &format!("  {name}: {}", regimes.words("%", signed)));
        }
    }
}

/// The score as text, one line for each kind of figure.
pub(crate) fn score_lines(score: &Score) -> Vec<String> {
    let mut lines = Vec::new();
    let shares = (score.cells > 0).then(|| {
        format!(
            "shares {:.2} points off on average, {:.2} at most, over {} cells",
            score.share_error_points_mean, score.share_error_points_max, score.cells
        )
    });
    let totals = score.total_error_mean.map(|total| format!("totals {:.1} % off", total * 100.0));
    let both: Vec<String> = shares.into_iter().chain(totals).collect();
    if !both.is_empty() {
        lines.push(format!("score: {}", both.join("; ")));
    }
    lines.extend(score.estimates.map(|estimates| {
        format!(
            "score: estimates {:.2} points off on average, {:.2} at most; ours over the same {} \
             cells {:.2}",
            estimates.error_mean, estimates.error_max, estimates.cells, estimates.ours_mean
        )
    }));
    lines.extend(score.changes.map(|changes| {
        format!(
            "score: changes {:.1} points off on average, {:.1} at most, over {}",
            changes.error_points_mean, changes.error_points_max, changes.changes
        )
    }));
    lines.extend(score.figures.iter().map(|figures| {
        let unit = off_by(figures.quantity);
        format!(
            "score: {} {:.1} {unit} off on average, {:.1} {unit} at most, over {}",
            figures.quantity.words(),
            figures.error_mean,
            figures.error_max,
            figures.cells
        )
    }));
    lines.extend(score.rates.map(|rates| {
        let order = match rates.orders {
            0 => String::new(),
            all => format!(
                "; finishing order right in {} of {all} rows (within 10 % is together)",
                rates.orders_right
            ),
        };
        format!(
            "score: rates {:.1} % off on average, {:.1} % at most, over {} tasks{order}",
            rates.error_mean * 100.0,
            rates.error_max * 100.0,
            rates.tasks
        )
    }));
    lines
}

#[cfg(test)]
mod tests {
    use super::{Style, rate};

    #[test]
    fn sentences_are_broken_where_the_terminal_ends() {
        let text = "  bfq  30.6 of 30.0 %; 69.4 of 70.0 %\nshort\n";
        assert_eq!(Style::default().folded(text), text);
        let narrow = Style { columns: Some(24), ..Style::default() };
        assert_eq!(narrow.folded(text), "  bfq  30.6 of 30.0 %;\n      69.4 of 70.0 %\nshort\n");
    }

    #[test]
    fn smaller_rates_have_no_more_digits_that_count_than_larger_ones() {
        let rates = [0.0, 0.001_234, 0.0371, 0.09999, 0.1234, 0.9999, 1.234, 9.999, 12.34, 1234.5];
        let words = rates.map(|mb_per_s| rate(mb_per_s).replace(" MB/s", ""));
        let words = words.each_ref().map(|text| text.trim_start());
        assert_eq!(words[..5], ["0.0", "0.00123", "0.0371", "0.100", "0.123"]);
        assert_eq!(words[5..], ["1.00", "1.23", "10.0", "12.3", "1234.5"]);
    }
}
