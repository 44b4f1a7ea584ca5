//! A pool of data buffers, aligned for direct I/O.

use fairdisk_plane::buffer::Buffer;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// The sizes of buffers in bytes, and how many of each size the pool keeps.
const CLASSES: [(usize, usize); 4] =
    [(4 << 10, 256), (32 << 10, 64), (128 << 10, 24), (Buffer::LARGE_BYTES, 6)];

/// The buffers of all mounts of this process.
static SHARED: LazyLock<Buffers> = LazyLock::new(Buffers::default);

/// A pool of buffers for data in transit.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    free: [Mutex<Free>; CLASSES.len()],
}

/// Free buffers of one size, of which the last is used first.
#[derive(Debug, Default)]
struct Free {
    buffers: Vec<Buffer>,
    /// The least number of them since the last [rest](Buffers::rest): so many are not needed.
    least: usize,
}

impl Free {
    fn pop(&mut self) -> Option<Buffer> {
        let buffer = self.buffers.pop();
        self.least = self.least.min(self.buffers.len());
        buffer
    }
}

impl Buffers {
    /// The buffers of all mounts of this process.
    pub(crate) fn shared() -> &'static Self {
        &SHARED
    }

    fn class(&self, class: usize) -> MutexGuard<'_, Free> {
        self.free[class].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a buffer of at least `len` bytes with unspecified contents.
    pub(crate) fn take(&self, len: usize) -> Buffer {
        let Some(class) = CLASSES.iter().position(|(size, _)| *size >= len) else {
            return Buffer::zeroed(len);
        };
        let kept = self.class(class).pop();
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
        let mut free = self.class(class);
        if free.buffers.len() < CLASSES[class].1 {
            free.buffers.push(buffer);
        } else if let Some(other) = free.buffers.iter().position(|it| it.is_pair_of(&buffer)) {
            free.buffers.swap_remove(other);
        } else if buffer.is_paired() {
            // Dropping it would free nothing while the other half is in use.
            free.buffers.push(buffer);
        }
    }

    /// Gives back the buffers that nobody has needed since the last call.
    pub(crate) fn rest(&self) {
        for class in 0..CLASSES.len() {
            let mut free = self.class(class);
            let (least, left) = (free.least, free.buffers.len());
            let idle: Vec<Buffer> = free.buffers.drain(..least).collect();
            free.least = left - least;
            drop(free);
            drop(idle);
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
        let kept = buffers.class(CLASSES.len() - 1).buffers.len();
        assert!((1..=6).contains(&kept), "{kept}");
    }

    #[test]
    fn what_nobody_has_needed_for_a_while_is_given_back() {
        let buffers = Buffers::default();
        let kept = |class: usize| buffers.class(class).buffers.len();
        let used: Vec<Buffer> = (0..4).map(|_| buffers.take(4 << 10)).collect();
        used.into_iter().for_each(|buffer| buffers.put(buffer));
        buffers.rest();
        assert_eq!(kept(0), 4, "they were in use");
        let [one, two] = [(); 2].map(|()| buffers.take(4 << 10));
        [one, two].into_iter().for_each(|buffer| buffers.put(buffer));
        buffers.rest();
        assert_eq!(kept(0), 2, "two were enough");
        (0..2).for_each(|_| buffers.rest());
        assert_eq!(kept(0), 0);
        buffers.put(buffers.take(1 << 20));
        (0..2).for_each(|_| buffers.rest());
        assert_eq!(kept(CLASSES.len() - 1), 0);
    }
}
