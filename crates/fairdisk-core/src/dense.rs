//! Vectors indexed by small, dense numbers. Tasks, groups and request slots have such numbers; a
//! vector grows when a number is first seen.

use alloc::vec::Vec;

/// The entry of `number`. If the vector is too short, fills it up to that number with entries from
/// `new`.
#[inline]
pub fn entry<T>(items: &mut Vec<T>, number: u32, new: impl FnMut() -> T) -> &mut T {
    let at = number as usize;
    if at >= items.len() {
        return grow(items, at, new);
    }
    &mut items[at]
}

#[cold]
fn grow<T>(items: &mut Vec<T>, at: usize, new: impl FnMut() -> T) -> &mut T {
    items.resize_with(at + 1, new);
    &mut items[at]
}
