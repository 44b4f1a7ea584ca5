//! Notes on job files: settings that were accepted and have no effect on the result.

use std::collections::HashSet;
use std::fmt;

use serde::Serialize;

use super::error::Place;

/// One remark about a job file that can run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The location of the setting.
    pub place: Place,
    /// The key.
    pub key: String,
    /// What the reader should know.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}`: {}", self.place, self.key, self.text)
    }
}

/// The notes on a file, in file order, without repetitions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct Notes {
    notes: Vec<Note>,
    /// The keys and texts of the notes.
    #[serde(skip)]
    said: HashSet<(String, String)>,
}

impl Notes {
    /// Adds a note unless the same was said of this key before: twenty jobs with `thread` need only
    /// one.
    pub(crate) fn add(&mut self, place: &Place, key: &str, text: impl Into<String>) {
        let text = text.into();
        if self.said.insert((key.to_owned(), text.clone())) {
            self.notes.push(Note { place: place.clone(), key: key.to_owned(), text });
        }
    }

    /// Adds the notes of another list, without repetitions.
    pub(super) fn extend(&mut self, others: &Self) {
        for note in &others.notes {
            self.add(&note.place, &note.key, note.text.clone());
        }
    }

    /// Sorts the notes by their place in the file.
    pub(super) fn sort(&mut self) {
        self.notes.sort_by(|a, b| a.place.cmp(&b.place));
    }

    /// The notes.
    pub fn iter(&self) -> std::slice::Iter<'_, Note> {
        self.notes.iter()
    }

    /// Whether there are no notes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty()
    }
}

impl<'a> IntoIterator for &'a Notes {
    type Item = &'a Note;
    type IntoIter = std::slice::Iter<'a, Note>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Notes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.notes.iter().try_for_each(|note| writeln!(f, "{note}"))
    }
}
