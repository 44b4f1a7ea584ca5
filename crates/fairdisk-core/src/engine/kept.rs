//! The journal of an engine, and what is kept of it.

use super::Engine;
use crate::elevator::Elevator;
use crate::journal::{Entry, Journal};
use alloc::vec::Vec;

impl<E: Elevator> Engine<E> {
    /// The journal.
    pub const fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Keeps up to `most` entries of the journal from now on, or none, for whoever drains them.
    pub fn keep_journal(&mut self, most: usize) {
        self.journal.keep_up_to(most);
    }

    /// Exchanges the kept entries of the journal for an empty list.
    pub fn swap_journal(&mut self, empty: &mut Vec<Entry>) {
        self.journal.swap_kept(empty);
    }

    /// Removes and returns the journal entries since the last call, if the journal keeps them.
    pub fn drain_journal(&mut self) -> impl Iterator<Item = Entry> {
        self.journal.drain()
    }
}
