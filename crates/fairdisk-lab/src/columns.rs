//! Columns of text, as wide as a terminal shows them.

use unicode_width::UnicodeWidthStr as _;

/// How many columns a terminal takes to show `text`: two for each wide letter, none for an accent
/// that joins the letter before.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// `text`, filled up with spaces to this many columns.
#[must_use]
pub fn padded(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{text}{:missing$}", "")
}

/// What is between columns, and before the first one.
const GAP: &str = "  ";

/// The widest column of names; longer names push the rest of their line aside.
pub(crate) const NAME_MAX: usize = 100;

/// The head of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    name: &'static str,
    /// The least width.
    least: usize,
    /// Whether it has text, which belongs to the left.
    is_text: bool,
    /// When it leaves if there is no room for all: 1 is first; `None` never.
    leaves: Option<u8>,
}

impl Head {
    /// A column of names, which stays.
    pub(crate) const fn text(name: &'static str) -> Self {
        Self { name, least: 0, is_text: true, leaves: None }
    }

    /// A column of numbers, which stays.
    pub(crate) const fn number(name: &'static str, least: usize) -> Self {
        Self { name, least, is_text: false, leaves: None }
    }

    /// The column leaves as number `order`, from 1, where there is no room for all.
    pub(crate) const fn leaves(self, order: u8) -> Self {
        Self { leaves: Some(order), ..self }
    }
}

/// A table of text. Where there is no room for all of its columns, some leave.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    heads: Vec<Head>,
    lines: Vec<Vec<String>>,
}

impl Grid {
    pub(crate) const fn new(heads: Vec<Head>) -> Self {
        Self { heads, lines: Vec::new() }
    }

    /// A table of lines whose cells all have the same heads.
    pub(crate) fn of(lines: impl IntoIterator<Item = Vec<(Head, String)>>) -> Self {
        let mut grid = Self::new(Vec::new());
        for line in lines {
            let (heads, texts) = line.into_iter().unzip();
            grid.heads = heads;
            grid.push(texts);
        }
        grid
    }

    /// Adds a line with a text for each column.
    pub(crate) fn push(&mut self, line: Vec<String>) {
        debug_assert_eq!(line.len(), self.heads.len(), "{line:?}");
        self.lines.push(line);
    }

    /// The head and the lines, as columns with no more than `room` for them; `None` has room for
    /// all.
    pub(crate) fn lines(&self, room: Option<usize>) -> impl Iterator<Item = String> {
        let columns = self.fit(room);
        let head = self.line(&columns, &|at| self.heads[at].name);
        let lines: Vec<String> =
            self.lines.iter().map(|line| self.line(&columns, &|at| &line[at])).collect();
        [head].into_iter().chain(lines)
    }

    /// The width of the column with this index. The last one of text has no need to be filled up.
    fn width(&self, at: usize) -> usize {
        let Head { name, least, is_text, .. } = self.heads[at];
        let widths = self.lines.iter().map(|line| width(&line[at]));
        let widest = widths.max().unwrap_or(0).max(width(name)).max(least);
        if is_text { widest.min(NAME_MAX) } else { widest }
    }

    /// The columns for which there is room, by index, with their widths.
    fn fit(&self, room: Option<usize>) -> Vec<(usize, usize)> {
        let mut columns: Vec<(usize, usize)> =
            (0..self.heads.len()).map(|at| (at, self.width(at))).collect();
        let needs = |columns: &[(usize, usize)]| {
            columns.iter().map(|(_, width)| GAP.len() + width).sum::<usize>()
        };
        while room.is_some_and(|room| needs(&columns) > room) {
            let of = |at: usize| self.heads[at].leaves;
            let Some(next) = columns.iter().filter_map(|(at, _)| of(*at)).min() else { break };
            columns.retain(|(at, _)| of(*at) != Some(next));
        }
        columns
    }

    fn line<'a>(&self, columns: &[(usize, usize)], text: &dyn Fn(usize) -> &'a str) -> String {
        let cell = |(at, wide): &(usize, usize)| {
            let text = text(*at);
            let missing = wide.saturating_sub(width(text));
            match self.heads[*at].is_text {
                true => format!("{GAP}{text}{:missing$}", ""),
                false => format!("{GAP}{:missing$}{text}", ""),
            }
        };
        columns.iter().map(cell).collect::<String>().trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_letters_take_two_columns() {
        let texts = ["ab", "データ", "e\u{301}", "abcdefgh"];
        let filled = texts.map(|text| padded(text, 7));
        assert_eq!(filled, ["ab     ", "データ ", "e\u{301}      ", "abcdefgh"]);
    }

    #[test]
    fn columns_leave_in_their_order_and_no_number_is_cut() {
        let heads = vec![
            Head::text("group"),
            Head::number("I/Os", 6).leaves(2),
            Head::number("got %", 0),
            Head::number("p50", 0).leaves(1),
            Head::number("p51", 0).leaves(1),
        ];
        let mut grid = Grid::new(heads);
        grid.push(["/データ", "12", "3.5", "7", "8"].map(str::to_owned).to_vec());
        let lines = |room: Option<usize>| grid.lines(room).collect::<Vec<_>>();
        let all = ["  group      I/Os  got %  p50  p51", "  /データ      12    3.5    7    8"];
        assert_eq!(lines(None), all);
        assert_eq!(lines(Some(34)), all);
        assert_eq!(lines(Some(33))[0], "  group      I/Os  got %");
        assert_eq!(lines(Some(20)), ["  group    got %", "  /データ    3.5"]);
        assert_eq!(lines(Some(3))[0], "  group    got %", "these stay");
    }
}
