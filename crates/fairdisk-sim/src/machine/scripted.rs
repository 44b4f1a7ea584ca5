//! Tasks that do again what was recorded: how many of their I/Os are in flight is recorded, too.

use super::task::Task;

impl Task {
    /// Keeps as many I/Os in flight as the next one of a script may stand beside.
    pub(super) fn heed_script(&mut self) {
        let Some(beside) = self.stream.beside() else { return };
        self.keep(beside.saturating_add(1));
    }

    /// Whether more I/Os are in flight than the next one of a script may stand beside, as after a
    /// flush.
    pub(super) fn waits_for_script(&self) -> bool {
        self.stream.beside().is_some() && self.is_full()
    }
}
