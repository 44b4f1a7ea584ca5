//! The handles by which the kernel refers to open files and directories.

use std::sync::{Arc, PoisonError, RwLock};

/// A table of open objects by number. Numbers are reused.
#[derive(Debug)]
pub(crate) struct Handles<T>(RwLock<Slots<T>>);

#[derive(Debug)]
struct Slots<T> {
    things: Vec<Option<Arc<T>>>,
    free: Vec<usize>,
}

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Self(RwLock::new(Slots { things: Vec::new(), free: Vec::new() }))
    }
}

impl<T> Handles<T> {
    /// Stores an object and returns its number.
    pub(crate) fn insert(&self, thing: Arc<T>) -> u64 {
        let mut slots = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let at = slots.free.pop().unwrap_or(slots.things.len());
        if at == slots.things.len() {
            slots.things.push(Some(thing));
        } else {
            slots.things[at] = Some(thing);
        }
        at as u64
    }

    /// The object with this number.
    pub(crate) fn get(&self, number: u64) -> Option<Arc<T>> {
        let slots = self.0.read().unwrap_or_else(PoisonError::into_inner);
        slots.things.get(usize::try_from(number).ok()?)?.clone()
    }

    /// At most `most` of the objects, from the slot `from` on, and the slot after the last of them;
    /// 0 at the end.
    pub(crate) fn some(&self, from: usize, most: usize) -> (Vec<Arc<T>>, usize) {
        let slots = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let end = from.saturating_add(most).min(slots.things.len());
        let some = slots.things.get(from..end).unwrap_or_default().iter().flatten().cloned();
        (some.collect(), if end == slots.things.len() { 0 } else { end })
    }

    /// Removes and returns the object with this number.
    pub(crate) fn remove(&self, number: u64) -> Option<Arc<T>> {
        let at = usize::try_from(number).ok()?;
        let mut slots = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let thing = slots.things.get_mut(at)?.take()?;
        slots.free.push(at);
        Some(thing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_used_again_but_not_while_something_is_there() {
        let handles = Handles::default();
        let (one, two) = (handles.insert(Arc::new(1)), handles.insert(Arc::new(2)));
        assert_ne!(one, two);
        assert_eq!(handles.remove(one).as_deref(), Some(&1));
        assert!(handles.get(one).is_none() && handles.remove(one).is_none());
        assert_eq!(handles.insert(Arc::new(3)), one);
        assert_eq!(handles.get(two).as_deref(), Some(&2));
    }
}
