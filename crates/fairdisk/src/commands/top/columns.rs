//! The columns of `fairdisk top`: what they show, and which leave where there is no room for all.

use super::rates::Row;
use super::screen::Latencies;
use crate::commands::ctl::DEFERRED_LEAST;
use crate::output::plain;
use fairdisk_lab::columns::width;
use fairdisk_mount::control::WaitEntry;
use ratatui::style::Color;
use std::num::NonZeroU64;

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Group,
    Weight,
    Asked,
    Got,
    History,
    Ios,
    Bytes,
    Reads,
    Writes,
    P50,
    P99,
    Longest,
    Queued,
    Errors,
    Waits,
    Limits,
}

/// A cell: what it shows, and in which colour if that needs attention.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) colour: Option<Color>,
}

/// What is between limits, of which each has spaces inside.
const BETWEEN: &str = "  ";

/// The narrowest columns of names, of reasons to wait, and of limits. With less room other columns
/// leave.
const NAME_MIN: usize = 14;
const WAITS_MIN: usize = 18;
const LIMITS_MIN: usize = 32;

/// A group that waits and got less than this part of what it asked for needs attention.
const ENOUGH: f64 = 0.9;

/// A group that got more than this multiple of its ceiling needs attention.
const EXCEEDED: f64 = 1.1;

impl Column {
    pub(super) const ALL: [Self; 16] = [
        Self::Group,
        Self::Weight,
        Self::Asked,
        Self::Got,
        Self::History,
        Self::Ios,
        Self::Bytes,
        Self::Reads,
        Self::Writes,
        Self::P50,
        Self::P99,
        Self::Longest,
        Self::Queued,
        Self::Errors,
        Self::Waits,
        Self::Limits,
    ];

    /// The columns that leave where there is no room, the first one first.
    pub(super) const LEAVING: [Self; 14] = [
        Self::History,
        Self::P50,
        Self::Errors,
        Self::Queued,
        Self::Reads,
        Self::Writes,
        Self::Longest,
        Self::Limits,
        Self::Waits,
        Self::Bytes,
        Self::Weight,
        Self::Ios,
        Self::P99,
        Self::Asked,
    ];

    pub(super) const fn heading(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::Weight => "weight",
            Self::Asked => "asked %",
            Self::Got => "got %",
            Self::History => "history",
            Self::Ios => "I/Os/s",
            Self::Bytes => "bytes/s",
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::Longest => "longest",
            Self::Queued => "queued",
            Self::Errors => "errors",
            Self::Waits => "waits for",
            Self::Limits => "limits",
        }
    }

    /// Whether it has text, and no numbers that belong to the right.
    pub(super) const fn is_text(self) -> bool {
        matches!(self, Self::Group | Self::History | Self::Waits | Self::Limits)
    }

    /// The cell of a group that is called `name` here, with the latencies of these operations.
    pub(super) fn cell(self, row: &Row, name: &str, latencies: Latencies, history: &[f64]) -> Cell {
        let [p50, p99, most] = latencies.of(row);
        let text = match self {
            Self::Group => name.to_owned(),
            Self::Weight => row.weight.to_string(),
            Self::Asked => format!("{:.1}", row.asked),
            Self::Got => format!("{:.1}", row.got),
            Self::History => bars(history),
            Self::Ios => amount(row.ios_per_s),
            Self::Bytes => amount(row.mb_per_s * 1e6),
            Self::Reads => way(row, 0),
            Self::Writes => way(row, 1),
            Self::P50 => time(p50),
            Self::P99 => time(p99),
            Self::Longest => time(most),
            Self::Queued => row.queued.to_string(),
            Self::Errors => row.errors.to_string(),
            Self::Waits => waits(row),
            Self::Limits => notes(row),
        };
        Cell { text, colour: self.colour(row) }
    }

    /// The colour of what needs attention: yellow for less than was asked for, red for a missed
    /// target or floor, magenta for more than a ceiling allows.
    fn colour(self, row: &Row) -> Option<Color> {
        let (qos, wants) = (&row.qos, row.queued > 0);
        let below = |least: Option<NonZeroU64>, got: f64| {
            wants && least.is_some_and(|least| got < least.get() as f64)
        };
        let above = |most: Option<NonZeroU64>, got: f64| {
            most.is_some_and(|most| got > most.get() as f64 * EXCEEDED)
        };
        let (ios, bytes) = (row.ios_per_s, row.mb_per_s * 1e6);
        match self {
            Self::Got if wants && row.got < ENOUGH * row.asked => Some(Color::Yellow),
            Self::Ios if below(qos.min_iops, ios) => Some(Color::Red),
            Self::Ios if above(qos.max_iops, ios) => Some(Color::Magenta),
            Self::Bytes if below(qos.min_bps, bytes) => Some(Color::Red),
            Self::Bytes if above(qos.max_bps, bytes) => Some(Color::Magenta),
            Self::Reads if most_used(row, 0).is_some_and(Used::exceeds) => Some(Color::Magenta),
            Self::Writes if most_used(row, 1).is_some_and(Used::exceeds) => Some(Color::Magenta),
            Self::P99 | Self::Limits if row.misses_target() => Some(Color::Red),
            Self::Errors if row.errors > 0 => Some(Color::Red),
            _ => None,
        }
    }
}

/// The columns for which there is room in `room` columns of the terminal, with their widths. No
/// number is cut: columns leave instead, and then names and limits are shortened.
pub(super) fn fit(rows: &[Vec<Cell>], room: usize) -> Vec<(Column, usize)> {
    let needs = |at: usize, column: Column| {
        let texts = rows.iter().map(|row| width(&row[at].text));
        texts.max().unwrap_or(0).max(width(column.heading()))
    };
    let mut columns: Vec<(Column, usize)> =
        Column::ALL.into_iter().enumerate().map(|(at, it)| (it, needs(at, it))).collect();
    // A column of which every cell is empty says nothing.
    let is_empty = |at: usize| rows.iter().all(|row| row[at].text.is_empty());
    let empty = Column::ALL.into_iter().enumerate().filter(|(at, _)| is_empty(*at));
    let empty: Vec<Column> = empty.map(|(_, column)| column).collect();
    columns.retain(|(column, _)| *column == Column::Group || !empty.contains(column));
    let least = |(column, needs): &(Column, usize)| match column {
        Column::Group => (*needs).min(NAME_MIN),
        Column::Waits => (*needs).min(WAITS_MIN),
        Column::Limits => (*needs).min(LIMITS_MIN),
        _ => *needs,
    };
    let total = |columns: &[(Column, usize)], of: &dyn Fn(&(Column, usize)) -> usize| {
        columns.iter().map(of).sum::<usize>() + columns.len().saturating_sub(1)
    };
    for gone in Column::LEAVING {
        if total(&columns, &least) <= room {
            break;
        }
        columns.retain(|(column, _)| *column != gone);
    }
    // What is left goes to names first, then to limits.
    let mut left = room.saturating_sub(total(&columns, &least));
    for (column, needs) in &mut columns {
        let narrow = least(&(*column, *needs));
        let more = (*needs - narrow).min(left);
        left -= more;
        *needs = narrow + more;
    }
    columns
}

/// Text in so many columns: a name without its beginning, other text without its last words.
pub(super) fn shortened(column: Column, text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    if column != Column::Group {
        for part in text.split_inclusive(BETWEEN) {
            if width(&kept) + width(part.trim_end()) + 1 > room {
                break;
            }
            kept.push_str(part);
        }
        return kept.trim_end().to_owned() + "…";
    }
    let name = text.trim_start();
    let indent = &text[..text.len() - name.len()];
    for letter in name.chars().rev() {
        if indent.len() + width(&kept) + width(letter.encode_utf8(&mut [0; 4])) + 1 > room {
            break;
        }
        kept.insert(0, letter);
    }
    format!("{indent}…{kept}")
}

/// A number with three digits that say something, and the unit of thousands.
pub(super) fn amount(value: f64) -> String {
    let units = ["", "k", "M", "G", "T"];
    let mut value = value;
    for unit in units {
        match value {
            _ if value < 9.95 && !unit.is_empty() => return format!("{value:.1}{unit}"),
            _ if value < 999.5 => return format!("{value:.0}{unit}"),
            _ => value /= 1e3,
        }
    }
    format!("{value:.0}P")
}

/// A time given in ms, with its unit; `-` if there is none.
pub(super) fn time(ms: Option<f64>) -> String {
    match ms {
        None => "-".to_owned(),
        Some(ms) if ms < 0.9995 => format!("{:.0}µs", ms * 1e3),
        Some(ms) if ms < 99.95 => format!("{ms:.1}ms"),
        Some(ms) if ms < 9_999.5 => format!("{ms:.0}ms"),
        Some(ms) => format!("{:.0}s", ms / 1e3),
    }
}

/// Parts in percent as bars.
pub(super) fn bars(parts: &[f64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    parts.iter().map(|part| BARS[((part / 12.5) as usize).min(7)]).collect()
}

/// A ceiling of reads or of writes alone, and what a group got of it.
#[derive(Clone, Copy, Debug)]
struct Used {
    got: f64,
    most: f64,
    /// After both numbers.
    unit: &'static str,
}

impl Used {
    fn part(self) -> f64 {
        self.got / self.most
    }

    fn exceeds(self) -> bool {
        self.part() > EXCEEDED
    }
}

/// The ceiling of reads (0) or of writes (1) alone of which the group uses most, if it has one.
fn most_used(row: &Row, at: usize) -> Option<Used> {
    let (qos, got) = (&row.qos, row.ways[at]);
    let [ios, bytes] =
        [[qos.max_read_iops, qos.max_read_bps], [qos.max_write_iops, qos.max_write_bps]][at];
    let used =
        |got, most: Option<NonZeroU64>, unit| Some(Used { got, most: most?.get() as f64, unit });
    let both = [used(got.bytes_per_s, bytes, "B/s"), used(got.ios_per_s, ios, "/s")];
    both.into_iter().flatten().max_by(|one, other| one.part().total_cmp(&other.part()))
}

/// What the group got of its ceiling of reads (0) or of writes (1) alone; nothing without one.
pub(super) fn way(row: &Row, at: usize) -> String {
    let text = |Used { got, most, unit }| format!("{} of {}{unit}", amount(got), amount(most));
    most_used(row, at).map(text).unwrap_or_default()
}

/// What a group waited for in the last second, and in how much of it.
pub(super) fn waits(row: &Row) -> String {
    let part = |it: &WaitEntry| format!("{}{BETWEEN}{:.0} %", plain(&it.why), 100.0 * it.part);
    row.waits.iter().map(part).collect::<Vec<_>>().join(BETWEEN)
}

/// A group's limits and, if that is worth a word, what the disk did for it later.
pub(super) fn notes(row: &Row) -> String {
    let later = (row.later >= DEFERRED_LEAST).then(|| format!("later {:.1} %", row.later));
    row.limits.iter().cloned().chain(later).collect::<Vec<_>>().join(BETWEEN)
}

/// The name of a group: its path or, in a tree, what its path has more than that around it.
pub(super) fn name(row: &Row, tree: Option<(usize, bool)>) -> String {
    let Some((depth, folded)) = tree else { return plain(&row.path).into_owned() };
    let outer = row.parent.as_deref().unwrap_or_default();
    let own = row.path.strip_prefix(outer).filter(|_| depth > 0).unwrap_or(&row.path);
    let mark = if folded { "+" } else { "" };
    format!("{:indent$}{}{mark}", "", plain(own), indent = 2 * depth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_digits_that_say_something() {
        for (value, text) in [
            (0.0, "0"),
            (9.4, "9"),
            (999.0, "999"),
            (999.6, "1.0k"),
            (12_345.0, "12k"),
            (1_200_000.0, "1.2M"),
            (3.4e9, "3.4G"),
        ] {
            assert_eq!(amount(value), text, "{value}");
        }
        let times = [None, Some(0.2), Some(7.0), Some(640.0), Some(31_000.0)].map(time);
        assert_eq!(times, ["-", "200µs", "7.0ms", "640ms", "31s"]);
    }

    #[test]
    fn names_lose_their_beginning_and_limits_whole_words() {
        let name = "/system.slice/db.service";
        assert_eq!(shortened(Column::Group, name, 12), "…/db.service");
        assert_eq!(shortened(Column::Group, &format!("  {name}"), 12), "  …b.service");
        let limits = ">=100 iops  <=5 MB/s  p99<=20 ms";
        for (room, text) in [(32, limits), (31, ">=100 iops  <=5 MB/s…"), (20, ">=100 iops…")] {
            assert_eq!(shortened(Column::Limits, limits, room), text, "{room}");
        }
        assert_eq!(shortened(Column::Group, "/a", 12), "/a");
    }

    #[test]
    fn columns_leave_in_the_stated_order() {
        let cell = |text: &str| Cell { text: text.to_owned(), colour: None };
        let row = Column::ALL.map(|column| match column {
            Column::Group => cell("/kubepods.slice/pod-17"),
            Column::Limits => cell(">=100 iops  <=5 MB/s  p99<=20 ms"),
            _ => cell("9999"),
        });
        let rows = [row.to_vec()];
        let mut before = Column::ALL.len();
        for room in (20..160).rev() {
            let columns = fit(&rows, room);
            let gone = Column::LEAVING[..Column::ALL.len() - columns.len()].iter();
            assert!(gone.clone().all(|gone| columns.iter().all(|(it, _)| it != gone)), "{room}");
            assert!(columns.len() <= before, "{room}");
            before = columns.len();
            let total: usize = columns.iter().map(|(_, width)| width + 1).sum();
            assert!(total <= room + 1 || columns.len() == 2, "{room}: {columns:?}");
            let numbers = columns.iter().filter(|(column, _)| !column.is_text());
            assert!(numbers.clone().all(|(_, width)| *width >= 4), "{columns:?}");
        }
    }
}
