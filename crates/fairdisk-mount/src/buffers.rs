//! Memory for data on the way, aligned for direct I/O and used again.

use fairdisk_plane::buffer::Buffer;
use std::sync::{Mutex, PoisonError};

/// Sizes buffers come in, and how many of each are kept for the next one.
const CLASSES: [(usize, usize); 4] =
    [(4 << 10, 256), (32 << 10, 64), (128 << 10, 24), (Buffer::LARGE_BYTES, 6)];

/// Buffers for requests.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    free: [Mutex<Vec<Buffer>>; CLASSES.len()],
}

impl Buffers {
    /// A buffer of at least `len` bytes, whatever is in them.
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

    /// Takes a buffer back.
    pub(crate) fn put(&self, buffer: Buffer) {
        let len = buffer.bytes().len();
        let Some(class) = CLASSES.iter().position(|(size, _)| *size == len) else { return };
        let mut free = self.free[class].lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < CLASSES[class].1 {
            free.push(buffer);
        }
    }
}
