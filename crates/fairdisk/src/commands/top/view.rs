//! The screen of `fairdisk top`, drawn.

use super::columns::{Cell, Column, amount, bars, fit, name, notes, shortened, waits, way};
use super::rates::Row;
use super::screen::{Latencies, Screen, Shown, Typing};
use crate::commands::ctl::milliseconds;
use crate::commands::limits::ignored_by_new;
use crate::output::plain;
use fairdisk_lab::columns::{padded, width};
use fairdisk_mount::control::Status;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style, Stylize as _};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, List, ListState, Paragraph};
use std::iter::once;

/// What a drawing is about: one of several disks, and the last look at it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'a> {
    pub(super) status: &'a Status,
    pub(super) rows: &'a [Row],
    /// Which disk it is, and how many there are.
    pub(super) disk: (usize, usize),
    /// How much of the time the disk was busy, in percent.
    pub(super) busy: f64,
    /// Whether colours are wanted.
    pub(super) colours: bool,
}

const KEYS: [(&str, &str); 12] = [
    ("↑ ↓ j k", "select a group"),
    ("+ -", "its weight times 5/4 or 4/5"),
    ("w", "type its weight"),
    ("u", "take the last change back"),
    ("s", "sort by another column"),
    ("o", "latency of all, reads, writes, fsyncs"),
    ("t", "groups as a tree"),
    ("space", "fold a group of the tree"),
    ("/", "show groups whose path has this in it"),
    ("p", "pause"),
    ("Tab", "the next disk"),
    ("q", "quit"),
];

const COLOURS: &str = "yellow: waits, got less than asked\n\
                       red: target missed, below floor\n\
                       magenta: over its ceiling";

pub(super) fn draw(screen: &Screen, frame: &mut Frame<'_>, look: Look<'_>) {
    let room = usize::from(frame.area().width);
    let note = ignored_by_new(look.status);
    let about = screen.selected_row(look.rows).map(|row| about(screen, row, room));
    let line = |is_there: bool| Constraint::Length(is_there.into());
    let (above, below) = (line(note.is_some()), line(about.is_some()));
    let places = [line(true), line(true), above, Constraint::Min(2), below, line(true)];
    let [head, sums, noted, body, chosen, foot] = Layout::vertical(places).areas(frame.area());
    let bold = Style::new().add_modifier(Modifier::BOLD);
    frame.render_widget(Line::styled(together(&title(look), room), bold), head);
    frame.render_widget(Line::from(together(&totals(look), room)), sums);
    frame.render_widget(Line::from(begun(&note.unwrap_or_default(), room)), noted);
    table(screen, frame, look, body);
    frame.render_widget(Line::from(about.unwrap_or_default()), chosen);
    frame.render_widget(Line::from(footer(screen, room)), foot);
    if screen.helps {
        help(frame, look);
    }
}

/// As many of the parts as there is room for, whole.
fn together(parts: &[String], room: usize) -> String {
    let mut text = String::new();
    for part in parts {
        let gap = if text.is_empty() { "" } else { "  " };
        if width(&text) + gap.len() + width(part) > room {
            break;
        }
        text = text + gap + part;
    }
    text
}

/// As much of a sentence as there is room for.
fn begun(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    for letter in text.chars() {
        if width(&kept) + width(letter.encode_utf8(&mut [0; 4])) + 1 > room {
            break;
        }
        kept.push(letter);
    }
    kept + "…"
}

fn title(look: Look<'_>) -> Vec<String> {
    let Look { status, disk: (at, disks), .. } = look;
    let model = status.device_model.as_ref();
    let model = model.map_or(String::new(), |model| format!(" at the pace of {model}"));
    let tab = (disks > 1).then(|| format!("disk {} of {disks} (Tab):", at + 1));
    let disk = [plain(&status.disk).into_owned(), format!("{}{model}", status.scheduler)];
    let mounts = status.mounts.iter().map(|it| plain(&it.mountpoint).into_owned());
    let up = format!("up {:.0} s", status.uptime_s);
    tab.into_iter().chain(disk).chain([up]).chain(mounts).collect()
}

fn totals(look: Look<'_>) -> Vec<String> {
    let Look { rows, busy, status, .. } = look;
    let depth = status.depth;
    let sum = |value: fn(&Row) -> f64| rows.iter().map(value).sum::<f64>();
    let (queued, there) = (sum(|row| f64::from(row.queued)), sum(|row| f64::from(row.in_flight)));
    let waiting = rows.iter().filter(|row| row.queued > 0).count();
    let missed = rows.iter().filter(|row| row.misses_target()).count();
    let missed = (missed > 0)
        .then(|| format!("{missed} missed target{}", if missed == 1 { "" } else { "s" }));
    let first = [format!("busy {busy:.0} %")].into_iter().chain(missed);
    let rest = [
        format!("{} I/Os/s", amount(sum(|row| row.ios_per_s))),
        format!("{}B/s", amount(sum(|row| row.mb_per_s) * 1e6)),
        format!(
            "{there:.0}{} at the disk",
            depth.map(|it| format!(" of {it}")).unwrap_or_default()
        ),
        format!("{queued:.0} queued"),
        format!("{waiting} of {} groups wait", rows.len()),
    ];
    first.chain(rest).collect()
}

/// All about the group that the keys act on, as far as there is room: what has left the table.
fn about(screen: &Screen, row: &Row, room: usize) -> String {
    let waits = row.waits.iter().enumerate().map(|(at, it)| {
        let begin = if at == 0 { "waits for " } else { "" };
        format!("{begin}{} {:.0} %", plain(&it.why), 100.0 * it.part)
    });
    let name = shortened(Column::Group, &plain(&row.path), room);
    let history = bars(&screen.history(&row.path));
    let parts: Vec<String> =
        [name, history].into_iter().chain(waits).chain(row.limits.iter().cloned()).collect();
    together(&parts, room)
}

fn cells(screen: &Screen, shown: &[Shown<'_>]) -> Vec<Vec<Cell>> {
    let of = |it: &Shown<'_>| {
        let (name, history) = (name(it.row, it.tree), screen.history(&it.row.path));
        let cell = |column: Column| column.cell(it.row, &name, screen.latencies, &history);
        Column::ALL.map(cell).to_vec()
    };
    shown.iter().map(of).collect()
}

fn table(screen: &Screen, frame: &mut Frame<'_>, look: Look<'_>, area: Rect) {
    let shown = screen.shown(look.rows);
    let rows = cells(screen, &shown);
    let columns = fit(&rows, usize::from(area.width));
    let heading = columns.iter().map(|(column, room)| aligned(*column, column.heading(), *room));
    let heading: Vec<String> = heading.collect();
    let line = |row: &Vec<Cell>| {
        let mut spans = Vec::new();
        for (column, room) in &columns {
            let place = Column::ALL.iter().position(|it| it == column).unwrap_or(0);
            let cell = &row[place];
            let text = aligned(*column, &cell.text, *room);
            let colour = cell.colour.filter(|_| look.colours);
            let gap = if spans.is_empty() { "" } else { " " };
            let span = Span::raw(format!("{gap}{text}"));
            spans.push(colour.map_or(span.clone(), |colour| span.fg(colour)));
        }
        Line::from(spans)
    };
    let [head, body] = Layout::vertical([Constraint::Length(1), Constraint::Min(1)]).areas(area);
    frame.render_widget(Line::from(heading.join(" ")).bold(), head);
    let list = List::new(rows.iter().map(line)).highlight_style(Modifier::REVERSED);
    let mut state = ListState::default().with_selected(screen.at(look.rows));
    frame.render_stateful_widget(list, body, &mut state);
}

/// A text at its side of so many columns, shortened if it is no number.
fn aligned(column: Column, text: &str, room: usize) -> String {
    match column.is_text() {
        true => padded(&shortened(column, text, room), room),
        false => format!("{:>1$}", text, room.saturating_sub(width(text)) + text.chars().count()),
    }
}

fn footer(screen: &Screen, room: usize) -> String {
    match &screen.typing {
        Typing::Weight(typed) => {
            let group = plain(screen.selected.as_deref().unwrap_or_default());
            return format!("weight of {group} (1 to 10000, Enter sets it, Esc does not): {typed}");
        }
        Typing::Filter => return format!("/{}", plain(&screen.filter)),
        Typing::Nothing if !screen.message.is_empty() => {
            return plain(&screen.message).into_owned();
        }
        Typing::Nothing => {}
    }
    let paused = screen.is_paused.then(|| "PAUSED".to_owned());
    let filter = (!screen.filter.is_empty()).then(|| format!("/{}", plain(&screen.filter)));
    let states = [
        "? help".to_owned(),
        format!("by {}", screen.sort.name()),
        format!("latency of {}", screen.latencies.name()),
    ];
    let keys = ["s sort", "o latency", "t tree", "/ filter", "+ - w weight", "u undo", "q quit"];
    let parts: Vec<String> =
        paused.into_iter().chain(filter).chain(states).chain(keys.map(str::to_owned)).collect();
    together(&parts, room)
}

fn help(frame: &mut Frame<'_>, look: Look<'_>) {
    let mut lines: Vec<String> =
        KEYS.iter().map(|(key, does)| format!(" {} {does} ", padded(key, 8))).collect();
    if look.colours {
        lines.extend(COLOURS.lines().map(|line| format!(" {line} ")));
    }
    let area = frame.area();
    let wide = lines.iter().map(|line| width(line)).max().unwrap_or(0) as u16;
    let size = (wide.min(area.width), (lines.len() as u16).min(area.height));
    let place = Rect::new((area.width - size.0) / 2, (area.height - size.1) / 2, size.0, size.1);
    frame.render_widget(Clear, place);
    let lines: Vec<Line<'_>> = lines.into_iter().map(Line::from).collect();
    frame.render_widget(Paragraph::new(lines).reversed(), place);
}

const HEADINGS: [&str; 15] = [
    "group",
    "weight",
    "asked %",
    "got %",
    "I/Os/s",
    "MB/s",
    "reads",
    "writes",
    "p50 ms",
    "p99 ms",
    "longest ms",
    "queued",
    "errors",
    "waits for",
    "limits",
];

/// The index of the first column of text behind the numbers.
const TEXTS: usize = 13;

fn printed(row: &Row) -> [String; 15] {
    let [p50, p99, longest] = Latencies::All.of(row).map(milliseconds);
    [
        plain(&row.path).into_owned(),
        row.weight.to_string(),
        format!("{:.1}", row.asked),
        format!("{:.1}", row.got),
        format!("{:.0}", row.ios_per_s),
        format!("{:.1}", row.mb_per_s),
        way(row, 0),
        way(row, 1),
        p50,
        p99,
        longest,
        row.queued.to_string(),
        row.errors.to_string(),
        waits(row),
        notes(row),
    ]
}

/// The table as lines of text.
pub(super) fn lines(status: &Status, rows: &[Row]) -> String {
    let mut table = vec![HEADINGS.map(str::to_owned)];
    table.extend(rows.iter().map(printed));
    let widths: Vec<usize> = (0..HEADINGS.len())
        .map(|column| table.iter().map(|row| width(&row[column])).max().unwrap_or(0))
        .collect();
    // A ceiling of reads or writes alone that no group has is no column.
    let is_there = |at: usize| {
        !matches!(HEADINGS[at], "reads" | "writes")
            || table[1..].iter().any(|row| !row[at].is_empty())
    };
    let look = Look { status, rows, disk: (0, 1), busy: 0.0, colours: false };
    let mut text = title(look).join("  ") + "\n";
    for row in &table {
        let name = padded(&row[0], widths[0]);
        let numbers = (1..TEXTS).filter(|at| is_there(*at));
        let numbers = numbers.map(|at| format!("  {:>width$}", row[at], width = widths[at]));
        let texts = row[TEXTS..].iter().zip(&widths[TEXTS..]);
        let texts = texts.map(|(cell, width)| format!("  {}", padded(cell, *width)));
        let line: String = once(name).chain(numbers).chain(texts).collect();
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::top::rates::Way;
    use crate::commands::top::rates::tests::{row, status_of, took};
    use fairdisk_mount::MountEntry;
    use fairdisk_mount::control::{self, GroupEntry, QosEntry, WaitEntry};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
    use std::fs;
    use std::num::NonZeroU64;
    use std::path::Path;

    fn status() -> Status {
        let mount = |at: &str| MountEntry { source: "/s".to_owned(), mountpoint: at.to_owned() };
        let mounts = ["/srv/tenants", "/var/lib/postgresql"].map(mount).to_vec();
        let mut status = status_of("/system.slice/backup.service", 100);
        let ignored = vec!["latency_p99_ms".to_owned()];
        status.groups[0] = GroupEntry { ignored, ..status.groups[0].clone() };
        Status { disk: "nvme0n1".to_owned(), mounts, ..status }
    }

    fn waiting_for(parts: &[(&str, f64)]) -> Vec<WaitEntry> {
        let entry = |(why, part): &(&str, f64)| WaitEntry { why: (*why).to_owned(), part: *part };
        parts.iter().map(entry).collect()
    }

    /// Forty tenants of a busy disk: pods, a database with a target that is missed, a backup at its
    /// ceiling, and one that waits and gets nothing.
    fn tenants() -> Vec<Row> {
        let pod = |number: u32| Row {
            parent: Some("/kubepods.slice".to_owned()),
            asked: 1.8,
            got: 1.7,
            ios_per_s: 240.0 + f64::from(number),
            mb_per_s: 1.1,
            ops: control::Latencies {
                read: took(u64::from(700 + 90 * number), 200),
                ..control::Latencies::default()
            },
            ..row(&format!("/kubepods.slice/kubepods-burstable-pod{number:02}.slice"), 100)
        };
        let database = Row {
            parent: None,
            asked: 14.3,
            got: 11.9,
            ios_per_s: 12_345.0,
            mb_per_s: 812.4,
            ops: control::Latencies {
                read: took(640, 12_000),
                write: took(2_300, 300),
                flush: took(13_300, 45),
                ..control::Latencies::default()
            },
            queued: 31,
            waits: waiting_for(&[("its turn", 0.8), ("share of another", 0.2)]),
            qos: QosEntry { fsync_p99_ms: Some(10.0), ..QosEntry::default() },
            limits: vec!["fsync p99<=10 ms missed: 13.300".to_owned()],
            ..row("/system.slice/system-postgresql.slice", 440)
        };
        let backup = Row {
            parent: None,
            asked: 1.8,
            got: 2.0,
            ios_per_s: 40.0,
            mb_per_s: 49.9,
            ways: [Way::default(), Way { ios_per_s: 40.0, bytes_per_s: 49.9e6 }],
            qos: QosEntry {
                max_bps: NonZeroU64::new(40_000_000),
                max_write_bps: NonZeroU64::new(48_000_000),
                ..QosEntry::default()
            },
            queued: 8,
            waits: waiting_for(&[("ceiling", 1.0)]),
            limits: vec!["<=40 MB/s".to_owned(), "(p99<=5 ms)".to_owned()],
            ..row("/system.slice/backup.service", 100)
        };
        let starved = Row {
            parent: None,
            asked: 1.8,
            got: 0.0,
            ios_per_s: 0.0,
            mb_per_s: 0.0,
            ops: control::Latencies::default(),
            queued: 4,
            waits: waiting_for(&[("target of another", 0.6), ("its turn", 0.4)]),
            oldest_ms: 2_300.0,
            errors: 2,
            ..row("/user.slice/user-1000.slice", 10_000)
        };
        let outer = Row { parent: None, got: 0.0, ..row("/kubepods.slice", 300) };
        [database, backup, starved, outer].into_iter().chain((1..=36).map(pod)).collect()
    }

    fn drawn(screen: &Screen, (wide, high): (u16, u16), rows: &[Row]) -> String {
        let status = status();
        let look = Look { status: &status, rows, disk: (0, 2), busy: 93.4, colours: true };
        let mut terminal = Terminal::new(TestBackend::new(wide, high)).unwrap();
        terminal.draw(|frame| draw(screen, frame, look)).unwrap();
        let shown = terminal.backend().to_string();
        let lines = shown.lines().map(|line| line.trim_matches('"').trim_end());
        lines.map(|line| format!("{line}\n")).collect()
    }

    /// The screens are in `tests/screens`; `UPDATE=1` rewrites them.
    fn demand(name: &str, shown: &str) {
        let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/screens");
        let file = place.join(name).with_extension("txt");
        if std::env::var_os("UPDATE").is_some() {
            fs::create_dir_all(&place).unwrap();
            fs::write(&file, shown).unwrap();
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        assert!(shown == expected, "{name} is now\n{shown}");
    }

    #[test]
    fn forty_tenants_are_shown_in_any_terminal() {
        let rows = tenants();
        let mut screen = Screen::default();
        (0..3).for_each(|_| screen.remember(&rows));
        for size in [(80, 24), (120, 40), (150, 10), (50, 20)] {
            demand(&format!("forty-{}x{}", size.0, size.1), &drawn(&screen, size, &rows));
        }
        for _ in 0..3 {
            screen.key(KeyEvent::new(KeyCode::Down, KeyModifiers::NONE), &rows);
        }
        demand("selected-80x24", &drawn(&screen, (80, 24), &rows));
        screen.selected = None;
        screen.is_tree = true;
        demand("tree-80x24", &drawn(&screen, (80, 24), &rows));
        (screen.is_tree, screen.helps) = (false, true);
        demand("help-80x24", &drawn(&screen, (80, 24), &rows));
    }

    #[test]
    fn what_needs_attention_has_a_colour_where_colours_are_wanted() {
        let (rows, status) = (tenants(), status());
        for colours in [true, false] {
            let look = Look { status: &status, rows: &rows, disk: (0, 1), busy: 1.0, colours };
            let mut terminal = Terminal::new(TestBackend::new(120, 40)).unwrap();
            terminal.draw(|frame| draw(&Screen::default(), frame, look)).unwrap();
            let buffer = terminal.backend().buffer();
            let mut seen: Vec<String> =
                buffer.content().iter().map(|cell| cell.fg.to_string()).collect();
            seen.sort();
            seen.dedup();
            let all = ["Magenta", "Red", "Reset", "Yellow"];
            assert_eq!(seen, if colours { &all[..] } else { &all[2..3] });
        }
    }

    #[test]
    fn the_latency_of_some_operations_can_be_chosen() {
        let rows = [Row {
            ops: control::Latencies {
                read: took(7_000, 9),
                flush: took(31_000, 1),
                ..control::Latencies::default()
            },
            ..row("/backup", 100)
        }];
        let mut screen = Screen::default();
        for (latencies, times) in [
            ("all", " 7.0ms 31.0ms  31.0ms "),
            ("reads", " 7.0ms 7.0ms   7.0ms "),
            ("writes", "   -   -       - "),
            ("fsyncs", " 31.0ms 31.0ms  31.0ms "),
        ] {
            let shown = drawn(&screen, (110, 6), &rows);
            assert!(shown.contains(&format!("latency of {latencies}")), "{shown}");
            assert!(shown.contains(times), "{latencies}: {shown}");
            screen.key(KeyEvent::new(KeyCode::Char('o'), KeyModifiers::NONE), &rows);
        }
    }

    /// A group's name, chosen by whoever created it, cannot send control sequences to the terminal.
    #[test]
    fn names_do_nothing_to_the_terminal() {
        let rows = [row("/x\u{1b}]0;owned\u{7}", 100)];
        let printed = lines(&status(), &rows);
        assert!(printed.contains("/x\\u{1b}]0;owned\\u{7}  "), "{printed}");
        assert!(printed.chars().all(|c| c == '\n' || !c.is_control()), "{printed:?}");
        let mut screen = Screen::default();
        for code in [KeyCode::Down, KeyCode::Char('w')] {
            screen.key(KeyEvent::new(code, KeyModifiers::NONE), &rows);
        }
        let shown = drawn(&screen, (110, 8), &rows);
        assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
    }
}
