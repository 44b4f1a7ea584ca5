//! What makes a scheduler one of the registry: its settings say how it is called, what it
//! looks at and how it is built.

use crate::honours::Honours;
use crate::registry::Scheduler;

/// The settings of a scheduler, or of a family of them that differ only in settings.
pub trait Family: Copy + Default {
    /// What files of the catalogue and errors call it.
    const NAME: &'static str;

    /// What of groups and tasks it looks at when it is set this way.
    fn honours(&self) -> Honours;

    /// An empty scheduler, set this way.
    fn build(&self) -> Scheduler;
}
