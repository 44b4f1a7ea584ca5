//! Vectors by number. Tasks, groups and request slots have small, dense numbers: a vector by them
//! grows to a number when it is first met.

use alloc::vec::Vec;

/// The entry of `number`. Where there is none yet, it and those missing before it are `new`.
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
