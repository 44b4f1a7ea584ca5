//! What a page says, without how it looks.

use serde_json::Value;

/// How the results on a page came about.
#[derive(Clone, Copy, Debug)]
pub struct Made<'a> {
    /// The command that produced them.
    pub command: &'a str,
    /// That they are partial, and what they lack; `None` if they are complete.
    pub partial: Option<&'a str>,
}

impl<'a> Made<'a> {
    /// The complete results of a command.
    #[must_use]
    pub const fn by(command: &'a str) -> Self {
        Self { command, partial: None }
    }
}

/// A page: a heading, a summary, sections, and the results as JSON.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The title in the browser's tab.
    pub title: String,
    /// The heading of the page.
    pub heading: String,
    /// What a reader learns first.
    pub summary: Vec<Part>,
    /// The sections, which the table of contents lists.
    pub sections: Vec<Section>,
    /// The results, for scripts that take them out of the page; `Null` without any.
    pub results: Value,
}

impl Page {
    /// An empty page.
    #[must_use]
    pub fn new(title: impl Into<String>, heading: impl Into<String>) -> Self {
        Self { title: title.into(), heading: heading.into(), ..Self::default() }
    }

    /// The page with one section more.
    #[must_use]
    pub fn with_section(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }
}

/// A section: a heading, a sentence about what it shows, and its parts.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// The heading, also in the table of contents.
    pub heading: String,
    /// What is shown and how to read it; may be empty.
    pub sentence: String,
    /// Charts, tables and words, in order.
    pub parts: Vec<Part>,
}

impl Section {
    /// A section without parts.
    #[must_use]
    pub fn new(heading: impl Into<String>, sentence: impl Into<String>) -> Self {
        Self { heading: heading.into(), sentence: sentence.into(), parts: Vec::new() }
    }

    /// The section with one part more.
    #[must_use]
    pub fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }
}

/// A part of a section or of the summary.
#[derive(Clone, Debug)]
pub enum Part {
    /// The answer, in large letters.
    Verdict(String),
    /// A paragraph.
    Text(String),
    /// A paragraph about the figures, in faint letters.
    Remark(String),
    /// A paragraph that warns.
    Warning(String),
    /// Paragraphs with a dot before each.
    List(Vec<String>),
    /// Text as it is, with its line ends.
    Verbatim(String),
    /// A table.
    Table(Table),
    /// A chart.
    Chart(Chart),
    /// A film of a disk.
    Film(Film),
    /// Parts that are shown once a reader asks for them under these words.
    Folded(String, Vec<Self>),
}

/// A table. Cells from column `words` on are numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The names of the columns.
    pub head: Vec<String>,
    /// How many columns, from the left, are words.
    pub words: usize,
    /// The lines, each with a cell for each column.
    pub lines: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns, of which the first `words` are words.
    #[must_use]
    pub fn new(head: &[&str], words: usize, lines: Vec<Vec<String>>) -> Self {
        Self { head: head.iter().map(|name| (*name).to_owned()).collect(), words, lines }
    }
}

/// A chart.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// A Vega-Lite specification of one view or of layers, with its data (`data.values`), and
    /// without width and colours of the page, which are set when it is drawn. The modules of
    /// [`charts`](crate::charts) make the usual ones.
    pub spec: Value,
    /// The values as a table.
    pub values: Table,
}

/// A film: the place of a disk's head, what waits for it, and whose turn it was, as time passes.
#[derive(Clone, Debug, Default)]
pub struct Film {
    /// What it shows.
    pub title: String,
    /// `groups`, their names; `length_us`; and `requests`, each an array of its group's index, 1
    /// for a write, its place in GB, and when it was asked for, issued and done, in µs.
    pub frames: Value,
    /// What a reader who cannot see it is told.
    pub values: Table,
}
