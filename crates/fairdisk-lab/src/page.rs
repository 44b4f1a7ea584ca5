//! What pages of all commands have in common.

pub use fairdisk_page::Made;

use fairdisk_page::{Part, Section};

/// What to know before reading the figures, and which causes of differences from the published
/// figures were excluded: a section for each that there is.
pub(crate) fn notes(caveats: &[String], excluded: &[String]) -> Vec<Section> {
    [("Notes", caveats), ("Excluded", excluded)]
        .into_iter()
        .filter_map(|(heading, texts)| list(heading, texts.to_vec()))
        .collect()
}

/// A section with a list; `None` if that is empty.
pub(crate) fn list(heading: &str, texts: Vec<String>) -> Option<Section> {
    (!texts.is_empty()).then(|| Section::new(heading, "").with(Part::List(texts)))
}
