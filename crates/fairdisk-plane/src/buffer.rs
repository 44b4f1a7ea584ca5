//! Memory that travels with a request: aligned for direct I/O and used again.

use fairdisk_core::{Op, Prng, Request};

/// Alignment and granularity of every buffer: what direct I/O needs on any common disk.
pub const ALIGN: usize = 4096;

#[derive(Clone, Copy)]
#[repr(C, align(4096))]
struct Page([u8; ALIGN]);

/// Bytes read or to be written, owned by whoever holds the request.
#[derive(Default)]
pub struct Buffer {
    pages: Box<[Page]>,
    len: usize,
}

impl Buffer {
    /// No bytes: for requests that carry no data.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// `len` zero bytes.
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        Self { pages: vec![Page([0; ALIGN]); len.div_ceil(ALIGN)].into_boxed_slice(), len }
    }

    /// `len` bytes that neither compress nor repeat, so that a disk which looks for zeroes or
    /// duplicates gains nothing.
    #[must_use]
    pub fn noise(len: usize, seed: u64) -> Self {
        // All there is room for, since it may be used again for more bytes.
        let mut buffer = Self::zeroed(len.next_multiple_of(ALIGN));
        let mut prng = Prng::new(seed);
        for word in buffer.bytes_mut().chunks_mut(8) {
            word.copy_from_slice(&prng.next_u64().to_le_bytes());
        }
        buffer.len = len;
        buffer
    }

    /// How many bytes it could hold.
    fn room(&self) -> usize {
        self.pages.len() * ALIGN
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `pages` is `room()` initialised bytes in one piece (`Page` has no padding), `len`
        // is at most `room()`, and bytes need no alignment.
        unsafe { std::slice::from_raw_parts(self.pages.as_ptr().cast(), self.len) }
    }

    /// The bytes, to be changed.
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; any byte is valid in a `Page`, and `self` is borrowed uniquely.
        unsafe { std::slice::from_raw_parts_mut(self.pages.as_mut_ptr().cast(), self.len) }
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({} bytes)", self.len)
    }
}

/// How many bytes travel with a request.
#[must_use]
pub const fn payload_bytes(request: &Request) -> usize {
    match request.op {
        Op::Read | Op::Write => request.sectors.bytes() as usize,
        Op::Flush | Op::Discard | Op::WriteZeroes => 0,
    }
}

/// Buffers that are used again, so that a steady load allocates nothing. They hold noise at first:
/// those that are only written from keep it.
#[derive(Debug, Default)]
pub struct Buffers {
    free: Vec<Buffer>,
    made: u64,
}

impl Buffers {
    /// A buffer of `len` bytes, whatever is in them.
    pub fn take(&mut self, len: usize) -> Buffer {
        if len == 0 {
            return Buffer::empty();
        }
        match self.free.pop() {
            Some(mut buffer) if buffer.room() >= len => {
                buffer.len = len;
                buffer
            }
            _ => {
                self.made += 1;
                Buffer::noise(len, self.made)
            }
        }
    }

    /// Takes a buffer back.
    pub fn give_back(&mut self, buffer: Buffer) {
        if buffer.room() > 0 {
            self.free.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_used_again() {
        let mut pool = Buffers::default();
        let mut buffer = pool.take(5000);
        assert_eq!(buffer.bytes().as_ptr() as usize % ALIGN, 0);
        buffer.bytes_mut()[4999] = 7;
        let place = buffer.bytes().as_ptr();
        pool.give_back(buffer);
        let again = pool.take(512);
        assert_eq!((again.bytes().as_ptr(), again.bytes().len()), (place, 512));
        assert!(pool.take(0).bytes().is_empty());
    }

    #[test]
    fn a_buffer_that_is_too_small_is_replaced() {
        let mut pool = Buffers::default();
        let small = pool.take(512);
        pool.give_back(small);
        assert_eq!(pool.take(1 << 20).bytes().len(), 1 << 20);
        assert!(pool.free.is_empty());
    }
}
