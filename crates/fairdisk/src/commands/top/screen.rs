//! The screen of `fairdisk top`: what it remembers, and what its keys do. [`view`](super::view)
//! draws it.

use super::rates::{Row, SortBy, longest};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A request by the user that the screen cannot fulfil itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Quit,
    /// Set something of a group, which replaces what is named second.
    Set {
        group: String,
        setting: String,
        before: String,
    },
    /// Take the last of these back.
    Undo,
    /// Show the next disk.
    NextDisk,
}

/// The operations whose latencies are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Latencies {
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

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Fsyncs => "fsyncs",
        }
    }

    /// The median, the 99th percentile and the longest, in ms.
    pub(super) fn of(self, row: &Row) -> [Option<f64>; 3] {
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

/// What is being typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Typing {
    #[default]
    Nothing,
    Weight(String),
    Filter,
}

/// A row that is shown, with its depth in the tree and whether those inside it are folded away.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown<'a> {
    pub(super) row: &'a Row,
    pub(super) tree: Option<(usize, bool)>,
}

/// The state of the screen between two drawings.
#[derive(Debug, Default)]
pub(super) struct Screen {
    pub(super) sort: SortBy,
    pub(super) latencies: Latencies,
    pub(super) typing: Typing,
    /// A part of the paths of the groups that are shown.
    pub(super) filter: String,
    pub(super) is_tree: bool,
    pub(super) is_paused: bool,
    pub(super) helps: bool,
    /// The path of the group that the keys act on.
    pub(super) selected: Option<String>,
    /// The groups of the tree whose inner groups are not shown.
    folded: BTreeSet<String>,
    /// What each group got at the last looks, the newest last.
    history: BTreeMap<String, VecDeque<f64>>,
    pub(super) message: String,
}

/// How many looks are remembered.
const HISTORY: usize = 8;

impl Screen {
    /// Remembers what groups got at a look.
    pub(super) fn remember(&mut self, rows: &[Row]) {
        self.history.retain(|path, _| rows.iter().any(|row| row.path == *path));
        for row in rows {
            let past = self.history.entry(row.path.clone()).or_default();
            past.push_back(row.got);
            while past.len() > HISTORY {
                past.pop_front();
            }
        }
    }

    pub(super) fn history(&self, path: &str) -> Vec<f64> {
        self.history.get(path).map_or_else(Vec::new, |past| past.iter().copied().collect())
    }

    /// The rows that are shown, in order.
    pub(super) fn shown<'a>(&self, rows: &'a [Row]) -> Vec<Shown<'a>> {
        let is_meant = |row: &Row| row.path.contains(&self.filter);
        if !self.is_tree {
            let flat = rows.iter().filter(|row| is_meant(row));
            return flat.map(|row| Shown { row, tree: None }).collect();
        }
        let mut shown = Vec::new();
        self.show_inside(None, 0, rows, &mut shown);
        // Those around a group that is meant are shown with it.
        let meant: Vec<&str> =
            rows.iter().filter(|row| is_meant(row)).map(|row| &*row.path).collect();
        shown.retain(|it| meant.iter().any(|path| is_inside(path, &it.row.path)));
        shown
    }

    fn show_inside<'a>(
        &self,
        outer: Option<&str>,
        depth: usize,
        rows: &'a [Row],
        shown: &mut Vec<Shown<'a>>,
    ) {
        let known = |path: &str| rows.iter().any(|row| row.path == path);
        let place = |row: &'a Row| row.parent.as_deref().filter(|parent| known(parent));
        for row in rows.iter().filter(|row| place(row) == outer) {
            let has_inner = rows.iter().any(|inner| place(inner) == Some(&*row.path));
            let folds = has_inner && self.folded.contains(&row.path);
            shown.push(Shown { row, tree: Some((depth, folds)) });
            if !folds {
                self.show_inside(Some(&row.path), depth + 1, rows, shown);
            }
        }
    }

    pub(super) fn key(&mut self, key: KeyEvent, rows: &[Row]) -> Option<Wish> {
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            return Some(Wish::Quit);
        }
        if self.typing != Typing::Nothing {
            return self.type_on(key.code, rows);
        }
        if std::mem::take(&mut self.helps) {
            return None;
        }
        self.message.clear();
        if matches!(key.code, KeyCode::Char('w' | '+' | '-')) && self.at(rows).is_none() {
            "select a group first, with ↑ or ↓".clone_into(&mut self.message);
            return None;
        }
        match key.code {
            KeyCode::Esc if !self.filter.is_empty() => self.filter.clear(),
            KeyCode::Char('q') | KeyCode::Esc => return Some(Wish::Quit),
            KeyCode::Char('?') => self.helps = true,
            KeyCode::Char('s') => self.sort = self.sort.next(),
            KeyCode::Char('o') => self.latencies = self.latencies.next(),
            KeyCode::Char('t') => self.is_tree = !self.is_tree,
            KeyCode::Char('p') => self.is_paused = !self.is_paused,
            KeyCode::Char('/') => self.typing = Typing::Filter,
            KeyCode::Char(' ') | KeyCode::Enter => self.fold(),
            KeyCode::Down | KeyCode::Char('j') => self.step(rows, 1),
            KeyCode::Up | KeyCode::Char('k') => self.step(rows, -1),
            KeyCode::Char('w') => self.typing = Typing::Weight(String::new()),
            KeyCode::Char('+') => return self.scaled(rows, 5, 4),
            KeyCode::Char('-') => return self.scaled(rows, 4, 5),
            KeyCode::Char('u') => return Some(Wish::Undo),
            KeyCode::Tab => return Some(Wish::NextDisk),
            _ => {}
        }
        None
    }

    /// Shows the inner groups of the selected one no more, or again.
    fn fold(&mut self) {
        if let Some(selected) = self.selected.clone().filter(|_| self.is_tree)
            && !self.folded.remove(&selected)
        {
            self.folded.insert(selected);
        }
    }

    fn type_on(&mut self, code: KeyCode, rows: &[Row]) -> Option<Wish> {
        match (&mut self.typing, code) {
            (Typing::Weight(typed), KeyCode::Char(digit))
                if digit.is_ascii_digit() && typed.len() < 5 =>
            {
                typed.push(digit);
            }
            (Typing::Weight(typed), KeyCode::Backspace) => drop(typed.pop()),
            (Typing::Weight(typed), KeyCode::Enter) => {
                let weight = typed.parse().ok();
                self.typing = Typing::Nothing;
                return self.weight(rows, weight?);
            }
            (Typing::Filter, KeyCode::Char(letter)) => self.filter.push(letter),
            (Typing::Filter, KeyCode::Backspace) => drop(self.filter.pop()),
            (Typing::Filter, KeyCode::Enter) => self.typing = Typing::Nothing,
            (Typing::Filter, KeyCode::Esc) => {
                self.filter.clear();
                self.typing = Typing::Nothing;
            }
            (Typing::Weight(_), KeyCode::Esc) => self.typing = Typing::Nothing,
            _ => {}
        }
        None
    }

    /// The place of the selected group among the rows that are shown.
    pub(super) fn at(&self, rows: &[Row]) -> Option<usize> {
        let selected = self.selected.as_ref()?;
        self.shown(rows).iter().position(|it| it.row.path == *selected)
    }

    /// The selected group, if it is shown.
    pub(super) fn selected_row<'a>(&self, rows: &'a [Row]) -> Option<&'a Row> {
        self.at(rows).and_then(|at| self.shown(rows).get(at).map(|it| it.row))
    }

    fn step(&mut self, rows: &[Row], by: isize) {
        let shown = self.shown(rows);
        let last = shown.len().saturating_sub(1);
        let to = self.at(rows).map_or(0, |at| at.saturating_add_signed(by).min(last));
        self.selected = shown.get(to).map(|it| it.row.path.clone());
    }

    /// The selected group's weight multiplied by `up` / `down`, but changed by at least 1.
    fn scaled(&self, rows: &[Row], up: u32, down: u32) -> Option<Wish> {
        let row = self.selected_row(rows)?;
        let scaled = row.weight * up / down;
        let weight = if scaled == row.weight { row.weight + up - down } else { scaled };
        self.weight(rows, weight.clamp(1, 10_000))
    }

    fn weight(&self, rows: &[Row], weight: u32) -> Option<Wish> {
        let row = rows.iter().find(|row| Some(&row.path) == self.selected.as_ref())?;
        let before = match row.ioprio {
            Some(ioprio) => format!("ioprio={ioprio}"),
            None => format!("weight={}", row.weight),
        };
        let (group, setting) = (row.path.clone(), format!("weight={weight}"));
        Some(Wish::Set { group, setting, before })
    }
}

/// Whether a path is another one or lies inside it.
fn is_inside(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::top::rates::tests::row;

    fn press(screen: &mut Screen, rows: &[Row], code: KeyCode) -> Option<Wish> {
        screen.key(KeyEvent::new(code, KeyModifiers::NONE), rows)
    }

    fn set(group: &str, to: u32, from: u32) -> Option<Wish> {
        let (setting, before) = (format!("weight={to}"), format!("weight={from}"));
        Some(Wish::Set { group: group.to_owned(), setting, before })
    }

    #[test]
    fn keys_change_the_weight_of_the_selected_group() {
        let rows = [row("/a", 100), row("/b", 1)];
        let mut screen = Screen::default();
        assert_eq!(press(&mut screen, &rows, KeyCode::Char('+')), None, "none is selected");
        press(&mut screen, &rows, KeyCode::Down);
        assert_eq!(press(&mut screen, &rows, KeyCode::Char('+')), set("/a", 125, 100));
        press(&mut screen, &rows, KeyCode::Down);
        assert_eq!(press(&mut screen, &rows, KeyCode::Char('+')), set("/b", 2, 1));
        for code in [KeyCode::Char('w'), KeyCode::Char('7'), KeyCode::Char('x')] {
            assert_eq!(press(&mut screen, &rows, code), None);
        }
        assert_eq!(press(&mut screen, &rows, KeyCode::Enter), set("/b", 7, 1));
        assert_eq!(press(&mut screen, &rows, KeyCode::Char('u')), Some(Wish::Undo));
        assert_eq!(press(&mut screen, &rows, KeyCode::Char('q')), Some(Wish::Quit));
        let rows = [Row { ioprio: Some(2), ..row("/b", 150) }];
        let Some(Wish::Set { before, .. }) = press(&mut screen, &rows, KeyCode::Char('-')) else {
            panic!("it is selected");
        };
        assert_eq!(before, "ioprio=2", "what takes it back");
    }

    fn paths(screen: &Screen, rows: &[Row]) -> Vec<String> {
        screen.shown(rows).iter().map(|it| it.row.path.clone()).collect()
    }

    #[test]
    fn a_tree_folds_and_a_filter_keeps_what_is_around() {
        let inside =
            |path: &str, parent: &str| Row { parent: Some(parent.to_owned()), ..row(path, 100) };
        let rows = [row("/b", 1), inside("/a/y", "/a"), row("/a", 1), inside("/a/x", "/a")];
        let mut screen = Screen::default();
        assert_eq!(paths(&screen, &rows), ["/b", "/a/y", "/a", "/a/x"], "as sorted");
        press(&mut screen, &rows, KeyCode::Char('t'));
        assert_eq!(paths(&screen, &rows), ["/b", "/a", "/a/y", "/a/x"]);
        press(&mut screen, &rows, KeyCode::Down);
        press(&mut screen, &rows, KeyCode::Down);
        press(&mut screen, &rows, KeyCode::Char(' '));
        assert_eq!(paths(&screen, &rows), ["/b", "/a"]);
        press(&mut screen, &rows, KeyCode::Char(' '));
        for code in ['/', '/', 'x'] {
            press(&mut screen, &rows, KeyCode::Char(code));
        }
        assert_eq!(paths(&screen, &rows), ["/a", "/a/x"]);
        press(&mut screen, &rows, KeyCode::Enter);
        press(&mut screen, &rows, KeyCode::Esc);
        assert_eq!(paths(&screen, &rows).len(), 4, "the filter is gone, and the program is not");
    }

    #[test]
    fn as_much_is_remembered_as_is_shown() {
        let mut screen = Screen::default();
        for got in 0..20 {
            screen.remember(&[Row { got: f64::from(got), ..row("/a", 100) }]);
        }
        assert_eq!(screen.history("/a"), [12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0]);
        screen.remember(&[row("/b", 100)]);
        assert!(screen.history("/a").is_empty());
    }
}
