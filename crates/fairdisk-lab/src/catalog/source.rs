//! The text of a catalogue file, with the means to say where in it something is wrong.

use super::error::{CatalogError, reword};
use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};

/// A file's text and name.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    path: &'a str,
    text: &'a str,
}

impl<'a> Source<'a> {
    /// The file `path` containing `text`.
    #[must_use]
    pub const fn new(path: &'a str, text: &'a str) -> Self {
        Self { path, text }
    }

    /// Deserializes the whole file.
    ///
    /// # Errors
    /// What the file has that `T` has not, or the other way round.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, CatalogError> {
        toml::from_str(self.text).map_err(|error| self.error_of(&error))
    }

    /// What the TOML reader complains about, in the words of catalogue files.
    #[must_use]
    pub fn error_of(&self, error: &toml::de::Error) -> CatalogError {
        let at = error.span().map_or(0, |span| span.start);
        self.error_at_byte(at, reword(error.message(), self.key_on_line(at)))
    }

    /// An error about the value of `key` (`table.key` for one in a table). Points to the innermost
    /// part of it that the file has.
    #[must_use]
    pub fn error_at_key(&self, key: &str, message: impl Into<String>) -> CatalogError {
        self.error_at_byte(self.find(key).unwrap_or(0), message)
    }

    fn error_at_byte(&self, at: usize, message: impl Into<String>) -> CatalogError {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        CatalogError { path: self.path.to_owned(), line, message: message.into() }
    }

    fn find(&self, key: &str) -> Option<usize> {
        let document = DeTable::parse(self.text).ok()?;
        let (mut table, mut found) = (document.get_ref(), None);
        for part in key.split('.') {
            let entry = table.iter().find(|(name, _)| name.get_ref() == part);
            let Some((name, value)) = entry else { return found };
            found = Some(name.span().start);
            let DeValue::Table(inner) = value.get_ref() else { return found };
            table = inner;
        }
        found
    }

    /// The key whose value byte `at` belongs to: the one before the last `=` on the line up to
    /// there, so that inline tables name the inner key.
    fn key_on_line(&self, at: usize) -> Option<&'a str> {
        let begin = self.text.get(..at)?.rfind('\n').map_or(0, |newline| newline + 1);
        let before = &self.text[begin..at];
        let key_and_more = match before.rfind('=') {
            Some(equals) => &before[..equals],
            None => self.text[begin..].lines().next()?.split_once('=')?.0,
        };
        let is_key = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
        key_and_more.trim_end().rsplit(|letter| !is_key(letter)).next()
    }
}

#[cfg(test)]
mod tests {
    use super::Source;

    const TEXT: &str = "a = 1\n\n[table]\n# words\nb = 2\n";

    #[test]
    fn errors_point_to_keys() {
        let line = |key| Source::new("x", TEXT).error_at_key(key, "").line;
        assert_eq!([line("a"), line("table"), line("table.b")], [1, 3, 5]);
        assert_eq!(line("nowhere"), 1);
    }

    #[test]
    fn values_belong_to_the_nearest_key() {
        let text = "a = 1\ntasks = [{ group = \"x\", count = -1 }]\n";
        let key = |at: &str| Source::new("x", text).key_on_line(text.find(at).unwrap_or(0));
        assert_eq!([key("1"), key("\"x\""), key("-1")], [Some("a"), Some("group"), Some("count")]);
    }

    #[test]
    fn a_missing_key_points_to_its_table() {
        assert_eq!(Source::new("x", TEXT).error_at_key("table.c", "").line, 3);
    }
}
