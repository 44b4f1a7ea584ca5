//! The text of a catalogue file, with functions to locate faults in it.

use super::allowed::Wrong;
use super::error::{CatalogError, Fault, Where, reword};
use super::library::Document;
use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};

/// The text and name of a file.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    path: &'a str,
    text: &'a str,
    /// The text in the file if `text` is derived from it.
    written: Option<&'a str>,
}

impl<'a> Source<'a> {
    /// The file at `path` with the contents `text`.
    #[must_use]
    pub const fn new(path: &'a str, text: &'a str) -> Self {
        Self { path, text, written: None }
    }

    /// The file's path.
    pub(super) const fn path(&self) -> &'a str {
        self.path
    }

    /// The source of a catalogue document.
    #[must_use]
    pub fn of(document: &'a Document) -> Self {
        Self { written: document.written.as_deref(), ..Self::new(&document.path, &document.text) }
    }

    /// Deserializes the whole file.
    ///
    /// # Errors
    /// Returns an error if the file has a key that `T` does not have, or lacks one.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, CatalogError> {
        toml::from_str(self.text).map_err(|error| self.error_of(&error))
    }

    /// An error of the TOML parser in the terms of catalogue files.
    #[must_use]
    pub fn error_of(&self, error: &toml::de::Error) -> CatalogError {
        let at = error.span().map_or(0, |span| span.start);
        let fault = match reword(error.message(), self.key_on_line(at)) {
            Fault::Other(text) if self.is_table(at) => {
                Fault::Other(text + list_hint(error.message()))
            }
            fault => fault,
        };
        self.error_at_byte(at, fault)
    }

    /// An error about the value of `key`: `table.key` for one in a table, `table.0.key` for one in
    /// the first of several tables. Points to the innermost part of the key that the file contains.
    #[must_use]
    pub fn error_at_key(&self, key: &str, fault: impl Into<Fault>) -> CatalogError {
        let Some(written) = self.written else {
            return self.error_at_byte(find(self.text, key).unwrap_or(0), fault);
        };
        // What the file does not contain itself comes from inheritance or from `--set`.
        let at = find(written, key).or_else(|| find(written, "inherits"));
        self.error_at_line(at.map(|at| line(written, at)), fault)
    }

    /// An error about the value of a key.
    pub(super) fn wrong(&self, (key, fault): Wrong) -> CatalogError {
        self.error_at_key(&key, fault)
    }

    fn error_at_byte(&self, at: usize, fault: impl Into<Fault>) -> CatalogError {
        match self.written {
            Some(_) => self.error_at_key(&path_at(self.text, at), fault),
            None => self.error_at_line(Some(line(self.text, at)), fault),
        }
    }

    fn error_at_line(&self, line: Option<usize>, fault: impl Into<Fault>) -> CatalogError {
        let place = Where::File { path: self.path.to_owned(), line };
        CatalogError { place, fault: fault.into() }
    }

    /// Whether byte `at` lies on a line that begins one table, as `[row]` does.
    fn is_table(&self, at: usize) -> bool {
        let before = self.text.get(..at).unwrap_or_default();
        let begin = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.text[begin..].trim_start();
        line.starts_with('[') && !line.starts_with("[[")
    }

    /// The key to which the value at byte `at` belongs: the one before the last `=` on the line up
    /// to there, so that inline tables give the inner key. On a line of brackets, the last key in
    /// them.
    fn key_on_line(&self, at: usize) -> Option<&'a str> {
        let begin = self.text.get(..at)?.rfind('\n').map_or(0, |newline| newline + 1);
        let before = &self.text[begin..at];
        let key_and_more = match before.rfind('=') {
            Some(equals) => &before[..equals],
            None => {
                let line = self.text[begin..].lines().next()?.split('#').next()?;
                let inner = line.trim().trim_end_matches(']');
                let in_brackets = || inner.strip_prefix('[')?.rsplit('.').next();
                line.split_once('=').map(|(key, _)| key).or_else(in_brackets)?
            }
        };
        let is_key = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
        key_and_more.trim_end().rsplit(|letter| !is_key(letter)).next()
    }
}

/// A hint for who wrote a table where several may be.
fn list_hint(message: &str) -> &'static str {
    match message {
        message if message.starts_with("duplicate key") => {
            "; where there may be several, each begins with two brackets, as in [[row]]"
        }
        message if message.ends_with("expected a sequence") => {
            "; each begins with two brackets, as in [[row]]"
        }
        _ => "",
    }
}

fn line(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or(text).matches('\n').count() + 1
}

/// Where `text` contains the innermost part of `key` that it has.
fn find(text: &str, key: &str) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let mut found = None;
    for (path, at) in places(document.get_ref()) {
        let rest = key.strip_prefix(path.as_str());
        if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
            found = found.max(Some((path.len(), at)));
        }
    }
    found.map(|(_, at)| at)
}

/// The path of the last key that begins before byte `at`, or in the brackets there.
fn path_at(text: &str, at: usize) -> String {
    let Ok(document) = DeTable::parse(text) else { return String::new() };
    let rest = text.get(at..).unwrap_or_default();
    let at = at + rest.bytes().take_while(|byte| *byte == b'[').count();
    let before = places(document.get_ref()).into_iter().filter(|(_, begin)| *begin <= at);
    before.max_by_key(|(_, begin)| *begin).map_or_else(String::new, |(path, _)| path)
}

/// Every key and every list element, and where it begins.
fn places(table: &DeTable<'_>) -> Vec<(String, usize)> {
    let mut places = Vec::new();
    add_table("", table, &mut places);
    places
}

fn add_table(prefix: &str, table: &DeTable<'_>, places: &mut Vec<(String, usize)>) {
    for (name, value) in table {
        let path = format!("{prefix}{}", name.get_ref());
        places.push((path.clone(), name.span().start));
        add_value(&path, value.get_ref(), places);
    }
}

fn add_value(path: &str, value: &DeValue<'_>, places: &mut Vec<(String, usize)>) {
    match value {
        DeValue::Table(table) => add_table(&format!("{path}."), table, places),
        DeValue::Array(list) => {
            for (at, value) in list.iter().enumerate() {
                let path = format!("{path}.{at}");
                places.push((path.clone(), value.span().start));
                add_value(&path, value.get_ref(), places);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::Source;
    use crate::catalog::error::{CatalogError, Where};
    use crate::catalog::library::Document;

    const TEXT: &str = "a = 1\n\n[table]\n# words\nb = 2\n";

    fn line_of(error: &CatalogError) -> usize {
        match error.place {
            Where::File { line: Some(line), .. } => line,
            _ => panic!("{error} is on no line"),
        }
    }

    #[test]
    fn errors_point_to_keys() {
        let line = |key| line_of(&Source::new("x", TEXT).error_at_key(key, ""));
        assert_eq!([line("a"), line("table"), line("table.b")], [1, 3, 5]);
        assert_eq!(line("nowhere"), 1);
    }

    #[test]
    fn values_belong_to_the_nearest_key() {
        let text = "a = 1\ntasks = [{ group = \"x\", count = -1 }]\n";
        let key = |at: &str| Source::new("x", text).key_on_line(text.find(at).unwrap_or(0));
        assert_eq!([key("1"), key("\"x\""), key("-1")], [Some("a"), Some("group"), Some("count")]);
        let text = "[row.set] # a = 1\nb = 2 # c = 3\n";
        let key = |at: usize| Source::new("x", text).key_on_line(at);
        assert_eq!([key(0), key(text.find("b").unwrap_or(0))], [Some("set"), Some("b")]);
    }

    #[test]
    fn errors_point_into_lists() {
        let text = "[[row]]\nlabel = 1\n\n[[row]]\nlabel = 2\ntasks = [\n  { count = 1 },\n  {\n    \
                    count = 2 },\n]\n";
        let line = |key| line_of(&Source::new("x", text).error_at_key(key, ""));
        assert_eq!([line("row.0.label"), line("row.1"), line("row.1.label")], [2, 4, 5]);
        assert_eq!([line("row.1.tasks.0.count"), line("row.1.tasks.1.count")], [7, 9]);
        assert_eq!([line("row.1.tasks.1.depth"), line("row.1.groups.0.name")], [8, 4]);
    }

    #[test]
    fn errors_of_derived_text_point_to_what_was_written() {
        let document = Document {
            id: "x".into(),
            path: "x.toml".into(),
            text: "# two\n# comments\ninherits = \"y\"\n\n[table]\nb = 2\n".into(),
            written: None,
        };
        let document = document.derived("[other]\nc = 1\n\n[table]\nb = \"x\"\n".to_owned());
        let source = Source::of(&document);
        let lines = |key, byte| {
            let errors = [source.error_at_key(key, ""), source.error_at_byte(byte, "")];
            errors.map(|error| line_of(&error))
        };
        assert_eq!(lines("table.b", 29), [6, 6]);
        assert_eq!(lines("other.c", 0), [3, 3]);
    }

    #[test]
    fn a_missing_key_points_to_its_table() {
        assert_eq!(line_of(&Source::new("x", TEXT).error_at_key("table.c", "")), 3);
    }
}
