//! Things in numbered places. A place that is freed is taken again.

use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

#[derive(Clone, Debug)]
pub(crate) struct Slab<T> {
    /// What is in each place; in a free one, what was there last.
    places: Vec<T>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    /// No places.
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }

    /// Puts `item` into a free place.
    pub(crate) fn put(&mut self, item: T) -> u32 {
        match self.free.pop() {
            Some(at) => {
                self[at] = item;
                at
            }
            None => {
                self.places.push(item);
                // Room for all of them to be free at once.
                self.free.reserve(self.places.capacity() - self.free.len());
                self.places.len() as u32 - 1
            }
        }
    }

    /// Nothing refers to what is in the place any more.
    #[inline(never)]
    pub(crate) fn free(&mut self, at: u32) {
        self.free.push(at);
    }

    /// What is in the place, if there is such a place.
    pub(crate) fn get(&self, at: u32) -> Option<&T> {
        self.places.get(at as usize)
    }

    pub(crate) fn get_mut(&mut self, at: u32) -> Option<&mut T> {
        self.places.get_mut(at as usize)
    }

    /// How many places there are, taken and free.
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
