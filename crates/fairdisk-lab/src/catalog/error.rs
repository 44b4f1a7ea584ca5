//! Errors in catalogue files, with their location.

use crate::letter::is_unseen;
use crate::nearest::nearest;
use std::fmt;
use toml::Value;

/// An error in a catalogue file, or in an option that names or changes one. Formats as
/// `place: fault`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogError {
    /// Where it is.
    pub place: Where,
    /// What is wrong and what was expected.
    pub fault: Fault,
}

/// The place of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Where {
    /// A file.
    File {
        /// The file as its reader named it.
        path: String,
        /// The line, counted from 1, if the fault concerns one.
        line: Option<usize>,
    },
    /// An option, as on the command line.
    Option(String),
    /// A change to a file.
    Change {
        /// The option that gives it; none if a file has it.
        option: Option<Box<str>>,
        /// The change as it was written, `scope.key=value`. Arms and rows leave out the scope of a
        /// change to the scheduler.
        change: Box<str>,
    },
    /// Not known, or named by the text of the fault.
    Unstated,
}

impl Where {
    /// A file as a whole.
    pub(crate) fn file(path: &str) -> Self {
        Self::File { path: path.to_owned(), line: None }
    }

    /// The place in words; empty if it is unstated.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::File { path, line: None } => path.clone(),
            Self::File { path, line: Some(line) } => format!("{path}:{line}"),
            Self::Option(option) => option.clone(),
            Self::Change { option: Some(option), change } => format!("{option} {change}"),
            Self::Change { option: None, change } => change.to_string(),
            Self::Unstated => String::new(),
        }
    }

    /// What a message about a fault there begins with.
    pub(crate) fn prefix(&self) -> String {
        match self {
            Self::Unstated => String::new(),
            _ => self.words() + ": ",
        }
    }
}

/// What is wrong with a file, and what was expected. Faults by which something is decided have a
/// variant of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The name stands for nothing of the kind that is meant; the text contains it.
    UnknownName(String),
    /// The table is of another family.
    OtherFamily(String),
    /// There is no such key.
    UnknownKey(String),
    /// A key that must be there is not.
    MissingKey {
        /// The key.
        key: String,
        /// Its table with the scope first, if a change has made it.
        made: Option<String>,
    },
    /// The value is no whole number that the key's type can hold.
    NotWhole {
        /// The key.
        key: String,
        /// What the type can hold.
        expected: String,
        /// The value, or what it is instead of a number.
        value: String,
    },
    /// The value is not among those that are allowed.
    NotAllowed {
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// Anything else.
    Other(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownName(text)
            | Self::OtherFamily(text)
            | Self::UnknownKey(text)
            | Self::Other(text) => f.write_str(text),
            Self::MissingKey { key, made: None } => write!(f, "missing key `{key}`"),
            Self::MissingKey { key, made: Some(table) } => {
                write!(f, "missing key `{key}` of a table `{table}`; give {table}.{key} too")
            }
            Self::NotWhole { key, expected, value } => {
                write!(f, "`{key}`: expected {expected}, not {value}")
            }
            Self::NotAllowed { key, value, allowed } => {
                write!(f, "`{key}` is {value}; allowed: {allowed}")
            }
        }
    }
}

impl From<String> for Fault {
    fn from(text: String) -> Self {
        Self::Other(text)
    }
}

impl From<&str> for Fault {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
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

impl CatalogError {
    /// A fault of an option, as on the command line.
    pub(crate) fn option(option: &str, fault: impl Into<Fault>) -> Self {
        Self { place: Where::Option(option.to_owned()), fault: fault.into() }
    }

    /// A fault of a file as a whole.
    pub(crate) fn file(path: &str, fault: impl Into<Fault>) -> Self {
        Self { place: Where::file(path), fault: fault.into() }
    }

    /// A fault whose text names its place.
    pub(crate) fn unstated(fault: impl Into<Fault>) -> Self {
        Self { place: Where::Unstated, fault: fault.into() }
    }

    /// Whether the key cannot exist here, whatever its value.
    pub(crate) fn is_about_a_name(&self) -> bool {
        self.nearness() != Nearness::Value
    }

    /// How close the refusing scheduler is to having what was meant.
    pub(crate) fn nearness(&self) -> Nearness {
        match &self.fault {
            Fault::OtherFamily(_) => Nearness::Nothing,
            Fault::UnknownKey(_) => Nearness::Table,
            _ => Nearness::Value,
        }
    }

    /// The fault of the file called `name`, in words that name it.
    pub(super) fn naming(self, name: &str) -> String {
        match self.fault {
            Fault::UnknownName(text) => text,
            fault => format!("{name}: {fault}"),
        }
    }
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.place.prefix(), self.fault)
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
    let near = nearest(found, known.iter().copied()).map(|near| format!("`{near}`"));
    unknown_beside(what, found, near, known)
}

/// A message that `found` is not a known `what`, with the words for what was likely intended.
pub(super) fn unknown_beside(
    what: &str,
    found: &str,
    near: Option<String>,
    known: &[&str],
) -> String {
    let hint = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
    let found: String = found.chars().map(visible).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    format!("unknown {what} `{found}`{hint} (known: {known})")
}

/// What a message of the deserializer means, in the terms of catalogue files. `key` is the key on
/// the line that the message is about.
pub(super) fn reword(message: &str, key: Option<&str>) -> Fault {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let first = quoted.next().unwrap_or_default();
    let known: Vec<&str> = quoted.collect();
    if message.starts_with("unknown field") {
        return Fault::UnknownKey(unknown("key", first, &known));
    }
    if message.starts_with("missing field") {
        return Fault::MissingKey { key: first.to_owned(), made: None };
    }
    let Some(key) = key else { return plain(message).into() };
    if message.starts_with("unknown variant") {
        return format!("`{key}`: {}", unknown("value", first, &known)).into();
    }
    if let Some((found, expected)) = mismatch(message)
        && expected.starts_with("a whole number from ")
        && !is_float(found)
    {
        return Fault::NotWhole {
            key: key.to_owned(),
            expected: expected.to_owned(),
            value: value(found),
        };
    }
    let hint = if key == "set" { set_hint(message) } else { "" };
    format!("`{key}`: {}{hint}", plain(message)).into()
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
    match mismatch(message) {
        // For a number that is not whole, the range does not matter.
        Some((found, expected)) if is_float(found) && expected.starts_with(WHOLE) => {
            format!("expected {WHOLE}, written without point and exponent")
        }
        Some((found, expected)) => format!("expected {expected}, not {}", value(found)),
        None => message.to_owned(),
    }
}

/// What was found according to a message about a value, and what was expected.
fn mismatch(message: &str) -> Option<(&str, &str)> {
    let about_a_value = ["invalid type: ", "invalid value: "];
    let rest = about_a_value.iter().find_map(|start| message.strip_prefix(start))?;
    let (found, expected) = rest.rsplit_once(", expected ")?;
    Some((found, kind(expected)))
}

fn is_float(found: &str) -> bool {
    found.starts_with("floating point")
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

/// What a message calls this value of a key that wants another kind.
pub(super) fn in_words(value: &Value) -> String {
    match value {
        Value::String(text) => format!("the text {text:?}"),
        Value::Array(_) => "a list".to_owned(),
        Value::Table(_) => "a table".to_owned(),
        plain => plain.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::reword;

    #[test]
    fn values_are_called_what_their_writers_call_them() {
        let said = |message| reword(message, Some("count")).to_string();
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
