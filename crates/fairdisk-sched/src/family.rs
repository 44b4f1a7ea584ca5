//! The interface between the registry and a scheduler's settings: a name, the group settings it
//! honours, and a constructor. Settings and schedulers know nothing of the registry.

use crate::honours::Honours;
use crate::switches::Switch;
use fairdisk_core::Elevator;

/// The settings of a scheduler, or of a family of schedulers that differ only in settings.
pub trait Family: Copy + Default {
    /// The scheduler's name in catalogue files and error messages.
    const NAME: &'static str;

    /// The changes by which the family's revisions differ.
    const SWITCHES: &'static [Switch] = &[];

    /// The scheduler.
    type Scheduler: Elevator;

    /// The settings of groups and tasks that the scheduler honours, configured this way.
    fn honours(&self) -> Honours;

    /// Whether the switch called `name` is on; `None` if the family has no such switch.
    fn switch(&self, _name: &str) -> Option<bool> {
        None
    }

    /// Creates a scheduler with these settings and nothing queued.
    fn build(&self) -> Self::Scheduler;
}
