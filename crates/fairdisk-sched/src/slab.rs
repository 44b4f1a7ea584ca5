//! A slab: items in numbered places, which are reused after they are freed.

use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

#[derive(Clone, Debug)]
pub(crate) struct Slab<T> {
    /// The item in each place; a free place keeps its last item.
    places: Vec<T>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    /// A slab without places.
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }

    /// Puts `item` into a free place and returns its number.
    pub(crate) fn put(&mut self, item: T) -> u32 {
        match self.free.pop() {
            Some(at) => {
                self[at] = item;
                at
            }
            None => {
                self.places.push(item);
                // Reserve enough for every place to be free at once, so that freeing does not
                // allocate.
                self.free.reserve(self.places.capacity() - self.free.len());
                self.places.len() as u32 - 1
            }
        }
    }

    /// Frees a place, to which nothing must refer any more.
    #[inline(never)]
    pub(crate) fn free(&mut self, at: u32) {
        self.free.push(at);
    }

    /// The item in a place, if the place exists.
    pub(crate) fn get(&self, at: u32) -> Option<&T> {
        self.places.get(at as usize)
    }

    pub(crate) fn get_mut(&mut self, at: u32) -> Option<&mut T> {
        self.places.get_mut(at as usize)
    }

    /// The number of places, taken and free.
    pub(crate) const fn len(&self) -> u32 {
        self.places.len() as u32
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, at: u32) -> &T {
        &self.places[at as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut T {
        &mut self.places[at as usize]
    }
}
