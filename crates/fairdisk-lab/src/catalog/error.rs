//! Errors in catalogue files, with their location.

use crate::letter::is_unseen;
use crate::nearest::nearest;
use std::fmt;

/// A fault of a catalogue file. Formats as `path:line: message`, or as `path: message` if it does
/// not concern a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogError {
    /// The file as its reader named it, or the faulty option.
    pub path: String,
    /// The line, counted from 1; 0 if the fault does not concern a line.
    pub line: usize,
    /// What is wrong and what was expected.
    pub message: String,
}

/// How close a scheduler that refuses a change is to having what it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Nearness {
    /// The scheduler has not even the table.
    Nothing,
    /// The scheduler has the table but not the key.
    Table,
    /// The scheduler has the key.
    Value,
}

/// Part of the message about a table that schedulers of a family do not have.
pub(super) const OF_ANOTHER_FAMILY: &str = "is of another family than";

impl CatalogError {
    /// A fault of an option, which is shown as on the command line.
    pub(crate) fn option(option: &str, message: impl Into<String>) -> Self {
        Self { path: option.to_owned(), line: 0, message: message.into() }
    }

    /// Whether the key cannot exist here, whatever its value.
    pub(crate) fn is_about_a_name(&self) -> bool {
        self.nearness() != Nearness::Value
    }

    /// How close the refusing scheduler is to having what was meant.
    pub(crate) fn nearness(&self) -> Nearness {
        match &self.message {
            message if message.contains(OF_ANOTHER_FAMILY) => Nearness::Nothing,
            message if message.starts_with("unknown key") => Nearness::Table,
            _ => Nearness::Value,
        }
    }

    /// The message, with the file's `name` added unless it is mentioned already.
    pub(super) fn naming(self, name: &str) -> String {
        if self.message.contains(name) {
            return self.message;
        }
        format!("{name}: {}", self.message)
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

/// A character of a file in a message, escaped if it would move the cursor or change a colour.
fn visible(letter: char) -> String {
    if is_unseen(letter) { letter.escape_default().collect() } else { letter.into() }
}

/// A message that `found` is not a known `what` ("key", "kind"), with the likely intended one and
/// the known ones.
#[must_use]
pub fn unknown(what: &str, found: &str, known: &[&str]) -> String {
    let hint = nearest(found, known.iter().copied())
        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    let found: String = found.chars().map(visible).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    format!("unknown {what} `{found}`{hint} (known: {known})")
}

/// A message of the deserializer in the terms of catalogue files. `key` is the key on the line that
/// the message is about.
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
    let Some(key) = key else { return plain(message) };
    if message.starts_with("unknown variant") {
        return format!("`{key}`: {}", unknown("value", first, &known));
    }
    let hint = if key == "set" { set_hint(message) } else { "" };
    format!("`{key}`: {}{hint}", plain(message))
}

/// A hint on how to write changes, for a user who wrote them as keys with values.
fn set_hint(message: &str) -> &'static str {
    let wants = message.rsplit_once(", expected ").map_or("", |(_, expected)| expected);
    match wants {
        "a sequence" | "a string" => "; written as set = [\"KEY=VALUE\", …]",
        _ => "",
    }
}

/// A message about a value of the wrong type, without the type names of the program.
fn plain(message: &str) -> String {
    let about_a_value = ["invalid type: ", "invalid value: "];
    let rest = about_a_value.iter().find_map(|start| message.strip_prefix(start));
    match rest.and_then(|rest| rest.rsplit_once(", expected ")) {
        // For a number that is not whole, the range does not matter.
        Some((found, expected))
            if found.starts_with("floating point") && kind(expected).starts_with(WHOLE) =>
        {
            format!("expected {WHOLE}, written without point and exponent")
        }
        Some((found, expected)) => format!("expected {}, not {}", kind(expected), value(found)),
        None => message.to_owned(),
    }
}

const WHOLE: &str = "a whole number";

fn kind(expected: &str) -> &str {
    match expected {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number from 0",
        "a nonzero u64" | "a nonzero u32" => "a whole number from 1",
        "i64" => "a whole number",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "string" => "a text",
        "a sequence" => "a list",
        "a map" => "a table",
        table if table.starts_with("struct ") => "a table",
        other => other,
    }
}

fn value(found: &str) -> String {
    let number = found.split('`').nth(1);
    match (found, number) {
        (_, Some(number)) => number.to_owned(),
        ("sequence", _) => "a list".to_owned(),
        ("map", _) => "a table".to_owned(),
        _ => found.replacen("string", "the text", 1),
    }
}

#[cfg(test)]
mod tests {
    use super::reword;

    #[test]
    fn values_are_called_what_their_writers_call_them() {
        let said = |message| reword(message, Some("count"));
        assert_eq!(
            said("invalid value: integer `-1`, expected u32"),
            "`count`: expected a whole number from 0 to 4294967295, not -1"
        );
        assert_eq!(
            said("invalid value: integer `0`, expected a nonzero u64"),
            "`count`: expected a whole number from 1, not 0"
        );
        assert_eq!(
            said("invalid type: integer `99999999999999999999` as i128, expected f64"),
            "`count`: expected a number, not 99999999999999999999"
        );
        assert_eq!(
            said("invalid type: string \"a, b\", expected a boolean"),
            "`count`: expected true or false, not the text \"a, b\""
        );
        assert_eq!(
            said("invalid type: map, expected a string"),
            "`count`: expected a text, not a table"
        );
    }
}
