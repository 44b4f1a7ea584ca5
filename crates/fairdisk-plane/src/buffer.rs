//! Data buffers of requests: aligned for direct I/O, and reused.

use fairdisk_core::{Op, Prng, Request};
use huge::{HALF_BYTES, Half};

mod huge;

/// The alignment and granularity of every buffer in bytes, which suits direct I/O on any common
/// disk.
pub const ALIGN: usize = 4096;

#[derive(Clone, Copy)]
#[repr(C, align(4096))]
struct Page([u8; ALIGN]);

/// The memory of a buffer.
enum Memory {
    Pages(Box<[Page]>),
    Half(Half),
}

impl Memory {
    /// Zeroed memory of `len` bytes, rounded up to whole pages.
    fn zeroed(len: usize) -> Self {
        Self::Pages(vec![Page([0; ALIGN]); len.div_ceil(ALIGN)].into_boxed_slice())
    }

    fn room(&self) -> usize {
        match self {
            Self::Pages(pages) => pages.len() * ALIGN,
            Self::Half(_) => HALF_BYTES,
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::Pages(Box::default())
    }
}

/// The bytes that a request reads or writes, owned by whoever holds the request.
#[derive(Default)]
pub struct Buffer {
    memory: Memory,
    len: usize,
}

impl Buffer {
    /// A buffer without bytes, for requests that carry no data.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// A buffer of `len` zero bytes.
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        Self { memory: Memory::zeroed(len), len }
    }

    /// The length in bytes of a buffer of [`large_pair`](Self::large_pair).
    pub const LARGE_BYTES: usize = HALF_BYTES;

    /// Two zeroed large buffers, each of them physically contiguous if the system has huge pages. A
    /// disk then takes such a buffer in one request, where fragmented memory could exceed its limit
    /// on segments.
    #[must_use]
    pub fn large_pair() -> [Self; 2] {
        let len = HALF_BYTES;
        match Half::both() {
            Some(both) => both.map(|half| Self { memory: Memory::Half(half), len }),
            None => [Self::zeroed(len), Self::zeroed(len)],
        }
    }

    /// A buffer of `len` pseudo-random bytes, which neither compress nor repeat, so that a disk
    /// that detects zeroes or duplicates gains nothing.
    #[must_use]
    pub fn noise(len: usize, seed: u64) -> Self {
        // Fills all the room, since the buffer may be reused for more bytes.
        let mut buffer = Self::zeroed(len.next_multiple_of(ALIGN));
        let mut prng = Prng::new(seed);
        for word in buffer.bytes_mut().chunks_mut(8) {
            word.copy_from_slice(&prng.next_u64().to_le_bytes());
        }
        buffer.len = len;
        buffer
    }

    /// Whether the buffer is one of a pair, so that its memory is freed only together with the
    /// other's.
    #[must_use]
    pub const fn is_paired(&self) -> bool {
        matches!(self.memory, Memory::Half(_))
    }

    /// Whether the two buffers form a pair.
    #[must_use]
    pub fn is_pair_of(&self, other: &Self) -> bool {
        match (&self.memory, &other.memory) {
            (Memory::Half(one), Memory::Half(other)) => one.is_beside(other),
            _ => false,
        }
    }

    /// The most bytes that the buffer can hold.
    fn room(&self) -> usize {
        self.memory.room()
    }

    /// The bytes of the buffer.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        let start = match &self.memory {
            Memory::Pages(pages) => pages.as_ptr().cast(),
            Memory::Half(half) => half.start().cast_const(),
        };
        // SAFETY: there are `room()` initialised bytes in one piece (`Page` has no padding), `len`
        // is at most `room()`, and bytes need no alignment.
        unsafe { std::slice::from_raw_parts(start, self.len) }
    }

    /// The bytes of the buffer, mutably.
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let start = match &mut self.memory {
            Memory::Pages(pages) => pages.as_mut_ptr().cast(),
            Memory::Half(half) => half.start(),
        };
        // SAFETY: as in `bytes`; any byte is valid in a `Page`, and `self` is borrowed uniquely.
        unsafe { std::slice::from_raw_parts_mut(start, self.len) }
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({} bytes)", self.len)
    }
}

/// The number of data bytes that a request carries.
#[must_use]
pub const fn payload_bytes(request: &Request) -> usize {
    match request.op {
        Op::Read | Op::Write => request.sectors.bytes() as usize,
        Op::Flush | Op::Discard | Op::WriteZeroes => 0,
    }
}

/// A pool of reusable buffers, so that a steady load allocates nothing. A new buffer is filled with
/// noise, which remains in it if it is used for writes only.
#[derive(Debug, Default)]
pub struct Buffers {
    free: Vec<Buffer>,
    made: u64,
}

impl Buffers {
    /// Takes a buffer of `len` bytes with unspecified contents.
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

    /// Returns a buffer to the pool.
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
    fn large_buffers_come_in_pairs_and_share_no_byte() {
        let [mut one, mut other] = Buffer::large_pair();
        for buffer in [&one, &other] {
            assert_eq!(buffer.bytes().as_ptr() as usize % Buffer::LARGE_BYTES, 0);
            assert_eq!(buffer.bytes().len(), Buffer::LARGE_BYTES);
            assert!(buffer.bytes().iter().all(|byte| *byte == 0));
        }
        one.bytes_mut().fill(1);
        other.bytes_mut().fill(2);
        assert!(one.bytes().iter().all(|byte| *byte == 1));
        drop(one);
        assert!(other.bytes().iter().all(|byte| *byte == 2), "it does not go with the other half");
        let far = std::thread::spawn(move || other.bytes()[0]);
        assert_eq!(far.join().expect("no panic"), 2);
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
