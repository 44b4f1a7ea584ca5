//! How a command shows what it found out.

use crate::failure::Failure;
use crate::{output, page};
use clap::ValueHint;
use serde_json::Value;
use std::path::PathBuf;

/// What is printed and written of the results.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Results {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a page of plots: one file that any browser shows
    #[arg(long, value_name = "FILE.html", value_hint = ValueHint::FilePath)]
    report: Option<PathBuf>,
    /// No progress, no remarks
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl Results {
    /// Demands that the page, if one is wanted, can be written and replaces nothing else.
    ///
    /// # Errors
    /// It cannot, or would.
    pub(crate) fn demand_place(&self) -> Result<(), Failure> {
        self.report.as_deref().map_or(Ok(()), page::demand_place)
    }

    /// Writes the page that `make` makes of the command line, if one is wanted; after what is
    /// printed, which is not lost where the page cannot be written.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write_page(&self, make: impl FnOnce(&str) -> String) -> Result<(), Failure> {
        self.report.as_deref().map_or(Ok(()), |path| page::write(path, make))
    }

    /// Prints them: as JSON, or as the table, if there is anything to show.
    ///
    /// # Errors
    /// They cannot be written.
    pub(crate) fn print(
        &self,
        is_partial: bool,
        json: impl FnOnce() -> Value,
        table: impl FnOnce() -> Option<String>,
    ) -> Result<(), Failure> {
        match self.json {
            true => output::print_results(json(), is_partial)?,
            false => output::print(&table().unwrap_or_default())?,
        }
        Ok(())
    }
}
