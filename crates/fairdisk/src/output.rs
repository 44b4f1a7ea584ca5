//! Output of the program: results on standard output, everything else on standard error.

use fairdisk_lab::outcome::Style;
use ratatui::crossterm::terminal;
use serde_json::Value;
use std::borrow::Cow;
use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::io::{self, IsTerminal as _, StdoutLock, Write as _};

pub(crate) use fairdisk_lab::results::SCHEMA;

/// The error of writing results to standard output. It has a type of its own, because a reader that
/// has closed the pipe is not a failure.
#[derive(Debug)]
pub(crate) struct Unwritten(io::Error);

impl Unwritten {
    /// Whether the reader of the results has closed the pipe.
    pub(crate) fn has_no_reader(&self) -> bool {
        self.0.kind() == io::ErrorKind::BrokenPipe
    }
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write the results: {}", self.0)
    }
}

/// Writes `text` to standard output and flushes it.
///
/// # Errors
/// Standard output cannot be written.
pub(crate) fn print(text: &str) -> Result<(), Unwritten> {
    print_by(|out| out.write_all(text.as_bytes()))
}

/// Has `write` write results to standard output, and flushes it.
///
/// # Errors
/// Standard output cannot be written.
pub(crate) fn print_by(
    write: impl FnOnce(&mut StdoutLock<'_>) -> io::Result<()>,
) -> Result<(), Unwritten> {
    let mut out = io::stdout().lock();
    write(&mut out).and_then(|()| out.flush()).map_err(Unwritten)
}

/// Writes one JSON value and a newline to standard output.
///
/// # Errors
/// Standard output cannot be written.
pub(crate) fn print_json(value: &Value) -> Result<(), Unwritten> {
    print(&format!("{value:#}\n"))
}

/// Writes a diagnostic message to standard error. Errors are ignored: there is nobody left to tell.
pub(crate) fn diagnose(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// A name chosen by others, made safe for a terminal: control characters, line separators and
/// characters that change the writing direction are shown as escapes.
pub(crate) fn plain(name: &str) -> Cow<'_, str> {
    let acts = |c: char| {
        let turns = matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}');
        c.is_control() || turns || matches!(c, '\u{2028}'..='\u{2029}' | '\u{2066}'..='\u{2069}')
    };
    if !name.contains(acts) {
        return Cow::Borrowed(name);
    }
    let mut text = String::with_capacity(2 * name.len());
    for c in name.chars() {
        if acts(c) { text.extend(c.escape_default()) } else { text.push(c) }
    }
    Cow::Owned(text)
}

/// The style of results printed for people: in colour only on a terminal that supports it, and if
/// `NO_COLOR` is unset or empty; no wider than a terminal.
pub(crate) fn style() -> Style {
    let colour = io::stdout().is_terminal()
        && !is_dumb(env::var_os("TERM").as_deref())
        && are_wanted(env::var_os("NO_COLOR").as_deref());
    let columns = io::stdout().is_terminal().then(|| terminal::size().ok().map(|size| size.0));
    Style { colour, columns: columns.flatten().filter(|it| *it > 0), ..Style::default() }
}

/// Whether the value of `TERM` denotes a terminal without cursor control and colours.
pub(crate) fn is_dumb(term: Option<&OsStr>) -> bool {
    term.is_some_and(|name| name == "dumb")
}

fn are_wanted(no_color: Option<&OsStr>) -> bool {
    no_color.is_none_or(OsStr::is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_without_what_terminals_obey() {
        assert_eq!(plain("/a b/ä~\\x"), "/a b/ä~\\x");
        assert_eq!(plain("x\u{1b}]0;t\u{7}\u{9b}2J\n"), r"x\u{1b}]0;t\u{7}\u{9b}2J\n");
        assert_eq!(plain("a\u{202e}b"), r"a\u{202e}b");
    }

    #[test]
    fn who_has_seen_enough_is_told_from_a_disk_that_is_full() {
        let unwritten = |kind: io::ErrorKind| Unwritten(kind.into());
        assert!(unwritten(io::ErrorKind::BrokenPipe).has_no_reader());
        assert!(!unwritten(io::ErrorKind::StorageFull).has_no_reader());
        let failed = print_by(|_| Err(io::ErrorKind::StorageFull.into())).unwrap_err();
        assert!(failed.to_string().starts_with("cannot write the results: "), "{failed}");
    }

    #[test]
    fn colours_are_for_terminals_that_have_them_and_people_who_want_them() {
        assert!(is_dumb(Some(OsStr::new("dumb"))));
        assert!(!is_dumb(Some(OsStr::new("xterm"))) && !is_dumb(None));
        assert!(are_wanted(None) && are_wanted(Some(OsStr::new(""))));
        assert!(!are_wanted(Some(OsStr::new("1"))));
    }
}
