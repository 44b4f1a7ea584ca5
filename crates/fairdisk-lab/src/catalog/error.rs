//! What is wrong with a catalogue file, and where.

use crate::nearest::nearest;
use std::fmt;

/// Something wrong with a catalogue file. Prints as `path:line: message`, or as `path: message` when
/// it is not about a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogError {
    /// The file as its reader named it, or the option that is wrong.
    pub path: String,
    /// Line, counted from 1; 0 when it is not about a line.
    pub line: usize,
    /// What is wrong and what was expected.
    pub message: String,
}

impl CatalogError {
    /// Something wrong with an option, given as on the command line.
    pub(crate) fn option(option: &str, message: impl Into<String>) -> Self {
        Self { path: option.to_owned(), line: 0, message: message.into() }
    }
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {}", self.path, self.message),
        }
    }
}

impl std::error::Error for CatalogError {}

/// A letter of a file in a message: nothing in it moves a cursor or changes a colour.
fn visible(letter: char) -> String {
    if letter.is_control() { letter.escape_default().collect() } else { letter.into() }
}

/// Says that `found` is no known `what` ("key", "kind"), what was probably meant, and what is known.
#[must_use]
pub fn unknown(what: &str, found: &str, known: &[&str]) -> String {
    let hint = nearest(found, known.iter().copied())
        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    let found: String = found.chars().map(visible).collect();
    format!("unknown {what} `{found}`{hint} (known: {})", known.join(", "))
}

/// Puts a message of the deserializer into the words of catalogue files. `key` is the key of the
/// line the message is about.
pub(super) fn reword(message: &str, key: Option<&str>) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let first = quoted.next().unwrap_or_default();
    let known: Vec<&str> = quoted.collect();
    if message.starts_with("unknown field") {
        return unknown("key", first, &known);
    }
    if message.starts_with("missing field") {
        return format!("missing key `{first}`");
    }
    let Some(key) = key else { return message.to_owned() };
    if message.starts_with("unknown variant") {
        return format!("`{key}`: {}", unknown("value", first, &known));
    }
    format!("`{key}`: {message}")
}
