//! A pool of data buffers, aligned for direct I/O.

use fairdisk_plane::buffer::Buffer;
use std::sync::{Mutex, PoisonError};

/// The sizes of buffers in bytes, and how many of each size the pool keeps.
const CLASSES: [(usize, usize); 4] =
    [(4 << 10, 256), (32 << 10, 64), (128 << 10, 24), (Buffer::LARGE_BYTES, 6)];

/// A pool of buffers for data in transit.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    free: [Mutex<Vec<Buffer>>; CLASSES.len()],
}

impl Buffers {
    /// Takes a buffer of at least `len` bytes with unspecified contents.
    pub(crate) fn take(&self, len: usize) -> Buffer {
        let Some(class) = CLASSES.iter().position(|(size, _)| *size >= len) else {
            return Buffer::zeroed(len);
        };
        let kept = self.free[class].lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.unwrap_or_else(|| self.make(CLASSES[class].0))
    }

    fn make(&self, len: usize) -> Buffer {
        if len < Buffer::LARGE_BYTES {
            return Buffer::zeroed(len);
        }
        let [one, other] = Buffer::large_pair();
        self.put(other);
        one
    }

    /// Returns a buffer to the pool.
    pub(crate) fn put(&self, buffer: Buffer) {
        let len = buffer.bytes().len();
        let Some(class) = CLASSES.iter().position(|(size, _)| *size == len) else { return };
        let mut free = self.free[class].lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < CLASSES[class].1 {
            free.push(buffer);
        } else if let Some(other) = free.iter().position(|other| other.is_pair_of(&buffer)) {
            free.swap_remove(other);
        } else if buffer.is_paired() {
            // Dropping it would free nothing while the other half is in use.
            free.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(buffer: &Buffer) -> usize {
        buffer.bytes().as_ptr() as usize
    }

    #[test]
    fn a_half_whose_other_half_is_in_use_is_used_again() {
        let buffers = Buffers::default();
        let mut used: Vec<Buffer> = (0..32).map(|_| buffers.take(1 << 20)).collect();
        let mut places: Vec<usize> = used.iter().map(place).collect();
        // One half of each page is returned, and as many buffers are taken again.
        for at in (0..16).rev() {
            buffers.put(used.swap_remove(2 * at));
        }
        used.extend((0..16).map(|_| buffers.take(1 << 20)));
        let mut again: Vec<usize> = used.iter().map(place).collect();
        places.sort_unstable();
        again.sort_unstable();
        assert_eq!(places, again);
        // When all are returned, only a few are kept.
        used.into_iter().for_each(|buffer| buffers.put(buffer));
        let kept = buffers.free[CLASSES.len() - 1].lock().unwrap().len();
        assert!((1..=6).contains(&kept), "{kept}");
    }
}
