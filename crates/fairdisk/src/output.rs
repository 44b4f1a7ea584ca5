//! Standard output for results, standard error for everything else.

use fairdisk_lab::outcome::Style;
use serde_json::Value;
use std::env;
use std::io::{self, IsTerminal as _, Write as _};

/// The version of the layout of what `--json` prints.
pub(crate) const SCHEMA: u32 = 1;

/// Writes results.
///
/// # Errors
/// They cannot be written.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Writes one JSON value and nothing else.
///
/// # Errors
/// It cannot be written.
pub(crate) fn print_json(value: &Value) -> io::Result<()> {
    print(&format!("{value:#}\n"))
}

/// Tells the user something that is no result. Nobody to tell it to is no failure.
pub(crate) fn diagnose(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// How to write results for people: colours only on a terminal, and not if NO_COLOR is set.
pub(crate) fn style() -> Style {
    Style { colour: io::stdout().is_terminal() && colours_wanted() }
}

fn colours_wanted() -> bool {
    env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
