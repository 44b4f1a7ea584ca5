//! The screen of `fairdisk top`: what it shows and what its keys do.

use super::rates::{Row, SortBy, longest};
use crate::commands::ctl::{DEFERRED_LEAST, milliseconds};
use crate::output::plain;
use fairdisk_lab::columns::{padded, width};
use fairdisk_mount::control::Status;
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Row as Shown, Table, TableState};

/// A request by the user that the screen cannot fulfil itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Quit,
    /// Set the weight of a group.
    Weight(String, u32),
}

/// The operations whose latencies are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Latencies {
    #[default]
    All,
    Reads,
    Writes,
    Fsyncs,
}

impl Latencies {
    const fn next(self) -> Self {
        match self {
            Self::All => Self::Reads,
            Self::Reads => Self::Writes,
            Self::Writes => Self::Fsyncs,
            Self::Fsyncs => Self::All,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::All => "all operations",
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Fsyncs => "fsyncs",
        }
    }

    /// The median, the 99th percentile and the longest, in ms.
    fn of(self, row: &Row) -> [Option<f64>; 3] {
        let found = match self {
            Self::All => row.ops.all(),
            Self::Reads => row.ops.read.clone(),
            Self::Writes => row.ops.write.clone(),
            Self::Fsyncs => row.ops.flush.clone(),
        };
        let oldest_ms = if self == Self::All { row.oldest_ms } else { 0.0 };
        [found.p50_ms, found.p99_ms, longest(&found, oldest_ms)]
    }
}

/// The state of the screen between two drawings.
#[derive(Debug, Default)]
pub(super) struct Screen {
    pub(super) sort: SortBy,
    /// The operations whose latencies are shown.
    latencies: Latencies,
    /// The path of the group that the keys act on.
    selected: Option<String>,
    /// The digits typed so far, while a weight is being typed.
    typed: Option<String>,
    pub(super) message: String,
}

impl Screen {
    pub(super) fn key(&mut self, key: KeyEvent, rows: &[Row]) -> Option<Wish> {
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            return Some(Wish::Quit);
        }
        if self.typed.is_some() {
            return self.type_weight(key.code);
        }
        self.message.clear();
        if matches!(key.code, KeyCode::Char('w' | '+' | '-')) && self.at(rows).is_none() {
            "select a group first, with ↑ or ↓".clone_into(&mut self.message);
            return None;
        }
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return Some(Wish::Quit),
            KeyCode::Char('s') => self.sort = self.sort.next(),
            KeyCode::Char('o') => self.latencies = self.latencies.next(),
            KeyCode::Down | KeyCode::Char('j') => self.step(rows, 1),
            KeyCode::Up | KeyCode::Char('k') => self.step(rows, -1),
            KeyCode::Char('w') => self.typed = Some(String::new()),
            KeyCode::Char('+') => return self.scaled(rows, 5, 4),
            KeyCode::Char('-') => return self.scaled(rows, 4, 5),
            _ => {}
        }
        None
    }

    fn type_weight(&mut self, code: KeyCode) -> Option<Wish> {
        let typed = self.typed.as_mut()?;
        match code {
            KeyCode::Char(digit) if digit.is_ascii_digit() && typed.len() < 5 => typed.push(digit),
            KeyCode::Backspace => drop(typed.pop()),
            KeyCode::Esc => self.typed = None,
            KeyCode::Enter => {
                let weight = typed.parse().ok();
                self.typed = None;
                return Some(Wish::Weight(self.selected.clone()?, weight?));
            }
            _ => {}
        }
        None
    }

    fn at(&self, rows: &[Row]) -> Option<usize> {
        let selected = self.selected.as_ref()?;
        rows.iter().position(|row| row.path == *selected)
    }

    fn step(&mut self, rows: &[Row], by: isize) {
        let last = rows.len().saturating_sub(1);
        let to = self.at(rows).map_or(0, |at| at.saturating_add_signed(by).min(last));
        self.selected = rows.get(to).map(|row| row.path.clone());
    }

    /// The selected group's weight multiplied by `up` / `down`, but changed by at least 1.
    fn scaled(&self, rows: &[Row], up: u32, down: u32) -> Option<Wish> {
        let row = &rows[self.at(rows)?];
        let scaled = row.weight * up / down;
        let weight = if scaled == row.weight { row.weight + up - down } else { scaled };
        Some(Wish::Weight(row.path.clone(), weight.clamp(1, 10_000)))
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>, status: &Status, rows: &[Row]) {
        let [head, body, foot] =
            Layout::vertical([Constraint::Length(1), Constraint::Min(2), Constraint::Length(1)])
                .areas(frame.area());
        let bold = Style::new().add_modifier(Modifier::BOLD);
        frame.render_widget(Line::styled(title(status), bold), head);
        let shown = rows.iter().map(|row| Shown::new(cells(row, self.latencies)));
        let widths = [0, 6, 7, 6, 7, 8, 8, 8, 10, 6, 6, 0];
        let mut widths: Vec<Constraint> = widths.map(Constraint::Length).to_vec();
        // Where columns do not fit, the limits are cut off, not the names of groups.
        let has_limits = rows.iter().any(|row| !notes(row).is_empty());
        let name = rows.iter().map(|row| width(&plain(&row.path))).max();
        let name = name.unwrap_or(0);
        if has_limits {
            widths[0] = Constraint::Min(name.min(NAME_MAX) as u16);
            widths[LIMITS] = Constraint::Fill(1);
        } else {
            widths[0] = Constraint::Fill(1);
        }
        let table = Table::new(shown, widths)
            .header(Shown::new(HEADINGS).style(bold))
            .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
        let mut state = TableState::new().with_selected(self.at(rows));
        frame.render_stateful_widget(table, body, &mut state);
        frame.render_widget(Line::from(self.footer()), foot);
    }

    fn footer(&self) -> String {
        match &self.typed {
            Some(typed) => {
                let group = plain(self.selected.as_deref().unwrap_or_default());
                format!("weight of {group} (1 to 10000, Enter sets it, Esc does not): {typed}")
            }
            None if !self.message.is_empty() => plain(&self.message).into_owned(),
            None => format!(
                "by {} · s sort · latency of {} · o other · ↑↓ select · + - w weight · q quit",
                self.sort.name(),
                self.latencies.name()
            ),
        }
    }
}

/// The widest name in columns that is shown in full, so that a long name leaves room for the
/// limits.
const NAME_MAX: usize = 24;

/// The index of the column with a group's limits.
const LIMITS: usize = 11;

const HEADINGS: [&str; 12] = [
    "group",
    "weight",
    "asked %",
    "got %",
    "I/Os/s",
    "MB/s",
    "p50 ms",
    "p99 ms",
    "longest ms",
    "queued",
    "errors",
    "limits",
];

fn title(status: &Status) -> String {
    let model = status.device_model.as_ref();
    let model = model.map_or(String::new(), |model| format!(" at the pace of {model}"));
    let mounts: Vec<_> = status.mounts.iter().map(|it| plain(&it.mountpoint)).collect();
    let (mounts, scheduler) = (mounts.join(" "), &status.scheduler);
    format!("{mounts}  {scheduler}{model}  up {:.0} s", status.uptime_s)
}

fn cells(row: &Row, latencies: Latencies) -> [String; 12] {
    let [p50, p99, longest] = latencies.of(row).map(milliseconds);
    [
        plain(&row.path).into_owned(),
        row.weight.to_string(),
        format!("{:.1}", row.asked),
        format!("{:.1}", row.got),
        format!("{:.0}", row.ios_per_s),
        format!("{:.1}", row.mb_per_s),
        p50,
        p99,
        longest,
        row.queued.to_string(),
        row.errors.to_string(),
        notes(row),
    ]
}

/// A group's limits and, if that is worth a word, what the disk did for it later.
fn notes(row: &Row) -> String {
    let later = (row.later >= DEFERRED_LEAST).then(|| format!("later {:.1} %", row.later));
    let limits = Some(row.limits.clone()).filter(|limits| !limits.is_empty());
    limits.into_iter().chain(later).collect::<Vec<_>>().join(" ")
}

/// The table as lines of text.
pub(super) fn lines(status: &Status, rows: &[Row]) -> String {
    let mut table = vec![HEADINGS.map(str::to_owned)];
    table.extend(rows.iter().map(|row| cells(row, Latencies::All)));
    let widths: Vec<usize> = (0..HEADINGS.len())
        .map(|column| table.iter().map(|row| width(&row[column])).max().unwrap_or(0))
        .collect();
    let mut text = title(status) + "\n";
    for row in &table {
        let name = padded(&row[0], widths[0]);
        let numbers = row[..LIMITS].iter().zip(&widths).skip(1);
        let numbers = numbers.map(|(cell, width)| format!("  {cell:>width$}"));
        let line = name + &numbers.collect::<String>() + "  " + &row[LIMITS];
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::top::rates::tests::took;
    use fairdisk_mount::MountEntry;
    use fairdisk_mount::control::{self, FlushWaits, QosEntry};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn row(path: &str, weight: u32) -> Row {
        Row {
            path: path.to_owned(),
            weight,
            asked: 80.0,
            got: 79.5,
            later: 0.5,
            ios_per_s: 120.0,
            mb_per_s: 0.5,
            ops: control::Latencies {
                read: took(7_000, 9),
                flush: took(31_000, 1),
                ..control::Latencies::default()
            },
            flush_waits: FlushWaits::default(),
            oldest_ms: 0.0,
            queued: 3,
            in_flight: 1,
            errors: 0,
            limits: "<=100 iops".to_owned(),
            qos: QosEntry::default(),
            ignored: Vec::new(),
            refused: Vec::new(),
            unexamined: false,
        }
    }

    fn mount(at: &str) -> MountEntry {
        MountEntry { source: "/s".to_owned(), mountpoint: at.to_owned() }
    }

    fn press(screen: &mut Screen, rows: &[Row], code: KeyCode) -> Option<Wish> {
        screen.key(KeyEvent::new(code, KeyModifiers::NONE), rows)
    }

    #[test]
    fn keys_change_the_weight_of_the_selected_group() {
        let rows = [row("/a", 100), row("/b", 1)];
        let mut screen = Screen::default();
        assert_eq!(press(&mut screen, &rows, KeyCode::Char('+')), None, "none is selected");
        press(&mut screen, &rows, KeyCode::Down);
        let wish = press(&mut screen, &rows, KeyCode::Char('+'));
        assert_eq!(wish, Some(Wish::Weight("/a".to_owned(), 125)));
        press(&mut screen, &rows, KeyCode::Down);
        let wish = press(&mut screen, &rows, KeyCode::Char('+'));
        assert_eq!(wish, Some(Wish::Weight("/b".to_owned(), 2)));
        for code in [KeyCode::Char('w'), KeyCode::Char('7'), KeyCode::Char('x')] {
            assert_eq!(press(&mut screen, &rows, code), None);
        }
        let wish = press(&mut screen, &rows, KeyCode::Enter);
        assert_eq!(wish, Some(Wish::Weight("/b".to_owned(), 7)));
        assert_eq!(press(&mut screen, &rows, KeyCode::Char('q')), Some(Wish::Quit));
    }

    fn status() -> Status {
        Status {
            schema: 2,
            disk: "sda".to_owned(),
            mounts: ["/m", "/n"].map(mount).to_vec(),
            scheduler: "two-layer-cfq".to_owned(),
            device_model: None,
            costs: None,
            io: None,
            cgroups: None,
            uptime_s: 5.0,
            unattributed_writes: 0,
            groups: Vec::new(),
        }
    }

    #[test]
    fn the_screen_shows_groups_and_keys() {
        let status = status();
        let rows = [row("/backup", 100)];
        let mut terminal = Terminal::new(TestBackend::new(100, 6)).unwrap();
        terminal.draw(|frame| Screen::default().draw(frame, &status, &rows)).unwrap();
        let shown = terminal.backend().to_string();
        for part in ["/m /n  two-layer-cfq  up 5 s", "/backup", "79.5", "by time got"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(shown.contains(" <=100 io"), "as much as there is room for: {shown}");
        let mut screen = Screen::default();
        for (latencies, times) in [
            ("all operations", " 7.000   31.000   31.000 "),
            ("reads", " 7.000    7.000    7.000 "),
            ("writes", " -        -        - "),
            ("fsyncs", " 31.000   31.000   31.000 "),
        ] {
            terminal.draw(|frame| screen.draw(frame, &status, &rows)).unwrap();
            let shown = terminal.backend().to_string();
            assert!(shown.contains(&format!("latency of {latencies} ")), "{shown}");
            assert!(shown.contains(times), "{latencies}: {shown}");
            press(&mut screen, &rows, KeyCode::Char('o'));
        }
        let printed = lines(&status, &rows);
        assert!(printed.contains("/backup     100     80.0   79.5"), "{printed}");
        assert!(printed.ends_with("      3       0  <=100 iops\n"), "{printed}");
        let printed = lines(&status, &[Row { later: 7.64, ..row("/backup", 100) }]);
        assert!(printed.ends_with("      3       0  <=100 iops later 7.6 %\n"), "{printed}");
    }

    /// A group's name, chosen by whoever created it, cannot send control sequences to the terminal.
    #[test]
    fn names_do_nothing_to_the_terminal() {
        let status = status();
        let rows = [row("/x\u{1b}]0;owned\u{7}", 100)];
        let printed = lines(&status, &rows);
        assert!(printed.contains("/x\\u{1b}]0;owned\\u{7}  "), "{printed}");
        assert!(printed.chars().all(|c| c == '\n' || !c.is_control()), "{printed:?}");
        let mut screen = Screen::default();
        press(&mut screen, &rows, KeyCode::Down);
        assert_eq!(
            press(&mut screen, &rows, KeyCode::Char('+')),
            Some(Wish::Weight(rows[0].path.clone(), 125)),
            "it is named as it is all the same"
        );
        press(&mut screen, &rows, KeyCode::Char('w'));
        assert!(!screen.footer().contains('\u{1b}'), "{:?}", screen.footer());
    }
}
