//! Options for how a command presents its results.

use crate::failure::Failure;
use crate::output;
use crate::own_file::OwnFile;
use crate::records::{records, to_csv, to_json_lines};
use clap::ValueHint;
use fairdisk_lab::page::Made;
use fairdisk_lab::results::{Document, Partial, value};
use serde::Serialize;
use serde_json::Value;
use std::ffi::OsString;
use std::path::PathBuf;

/// The output options that all commands with results share.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Results {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print JSON Lines: a flat object for each group of each row
    #[arg(long, conflicts_with = "json")]
    json_lines: bool,
    /// Print CSV: a line for each group of each row, with a line of names first
    #[arg(long, conflicts_with_all = ["json", "json_lines"])]
    csv: bool,
    /// Write a page of plots: one file that any browser shows
    #[arg(long, value_name = "FILE.html", value_hint = ValueHint::FilePath)]
    report: Option<PathBuf>,
    /// No progress and no remarks on standard error; the notes of results stay
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl Results {
    /// Whether a report page was requested.
    pub(crate) const fn has_page(&self) -> bool {
        self.report.is_some()
    }

    /// Checks that the report page, if requested, can be written without overwriting anything else.
    ///
    /// # Errors
    /// It cannot.
    pub(crate) fn demand_place(&self) -> Result<(), Failure> {
        self.report.as_deref().map_or(Ok(()), |path| OwnFile::PAGE.demand_place(path))
    }

    /// Writes the report page, if requested, as `make` returns it. `partial` says what the results
    /// lack; a page that is there already is then left as it is. To be called after printing, so
    /// that a page that cannot be written does not cost the printed results.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write_page(
        &self,
        partial: Option<&str>,
        make: impl FnOnce(&Made<'_>) -> String,
    ) -> Result<(), Failure> {
        let Some(path) = self.report.as_deref() else { return Ok(()) };
        let page = make(&Made { command: &command(), partial });
        if partial.is_none() {
            return OwnFile::PAGE.write(path, &page);
        }
        let written = OwnFile::PAGE.write_partial(path, &page)?;
        if written != path {
            let (path, written) = (path.display(), written.display());
            output::diagnose(&format!(
                "--report {path}: the page that is there stays; the partial one is {written}"
            ));
        }
        Ok(())
    }

    /// Prints the results: as JSON, which says by which version and command they were made, or as
    /// records of it, if that was requested; else as a table, which is `None` if there is nothing
    /// to show.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub(crate) fn print<T: Serialize>(
        &self,
        is_partial: bool,
        json: impl FnOnce() -> T,
        table: impl FnOnce() -> Option<String>,
    ) -> Result<(), Failure> {
        if !(self.json || self.json_lines || self.csv) {
            return Ok(output::print(&table().unwrap_or_default())?);
        }
        let value = value(&document(Partial { results: json(), is_partial }));
        match (self.json, self.csv) {
            (true, _) => output::print_json(&value)?,
            (false, true) => output::print(&to_csv(&records(&value)))?,
            (false, false) => output::print(&to_json_lines(&records(&value)))?,
        }
        Ok(())
    }
}

/// Results, with the version and the command by which they were made.
pub(crate) fn document<T>(results: T) -> Document<T> {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    Document { results, version, command: command() }
}

/// Results that are JSON already, with the version and the command by which they were made.
pub(crate) fn with_provenance(results: Value) -> Value {
    value(&document(results))
}

/// The command line of this process, quoted for the shell.
pub(crate) fn command() -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=.,:/+%@".contains(letter);
    let quoted = |argument: OsString| {
        let text = argument.to_string_lossy().into_owned();
        match !text.is_empty() && text.chars().all(plain) {
            true => text,
            false => format!("'{}'", text.replace('\'', "'\\''")),
        }
    };
    let arguments: Vec<String> = std::env::args_os().skip(1).map(quoted).collect();
    format!("fairdisk {}", arguments.join(" "))
}
