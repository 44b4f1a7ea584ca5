//! Which promises an elevator makes.

use super::Change;
use crate::refusal::Refusal;

/// Whether groups can be promised what a change asks for: only a scheduler knows what it promises.
/// By default every change is accepted.
pub trait Promising {
    /// Whether the elevator can do what `change` asks for. The engine asks before it calls
    /// [`configure`](super::Elevator::configure). A change that was not asked about, such as the
    /// groups a new elevator finds, is applied as well as possible.
    ///
    /// # Errors
    /// Returns the reason for the refusal; nothing changes then.
    fn accepts(&self, _change: &Change) -> Result<(), Refusal> {
        Ok(())
    }

    /// Whether the elevator knows enough of the device to tell which floors can be kept. Until then
    /// [`accepts`](Self::accepts) may take a floor that cannot be, so whoever set one asks again.
    fn examines_floors(&self) -> bool {
        true
    }
}
