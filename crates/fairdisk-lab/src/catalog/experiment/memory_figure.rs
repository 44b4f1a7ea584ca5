//! What is counted of memory that is page by page.

use crate::run::MemoryRun;
use fairdisk_sim::machine::MemoryUse;

/// A figure of the memory of a host, by its name. What they are and where they come from is said
/// in [`MemoryRun::figures`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryFigure {
    /// What tasks had of it: the only ones that are known of groups and tasks.
    Had(&'static str),
    /// What happened.
    Counted(&'static str),
    /// KiB at the end: a state, where others grow with the length of a run.
    AtEnd(&'static str),
}

impl MemoryFigure {
    /// Every figure.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        MemoryRun::default().figures(&MemoryUse::default()).map(|(figure, _)| figure)
    }

    /// Its name in JSON.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Had(name) | Self::Counted(name) => name.to_owned(),
            Self::AtEnd(name) => format!("{name}_kib"),
        }
    }

    /// The words for it in tables.
    pub(super) fn words(self) -> String {
        match self {
            Self::Had(name) | Self::Counted(name) => format!("memory {name}"),
            Self::AtEnd(name) => format!("memory {name} KiB"),
        }
    }
}
