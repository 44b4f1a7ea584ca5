//! Memory that travels with a request: aligned for direct I/O and used again.

use fairdisk_core::{Op, Prng, Request};
use huge::{HALF_BYTES, Half};

mod huge;

/// Alignment and granularity of every buffer: what direct I/O needs on any common disk.
pub const ALIGN: usize = 4096;

#[derive(Clone, Copy)]
#[repr(C, align(4096))]
struct Page([u8; ALIGN]);

/// Where the bytes of a buffer are.
enum Memory {
    Pages(Box<[Page]>),
    Half(Half),
}

impl Memory {
    /// So many zero bytes, or more.
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

/// Bytes read or to be written, owned by whoever holds the request.
#[derive(Default)]
pub struct Buffer {
    memory: Memory,
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
        Self { memory: Memory::zeroed(len), len }
    }

    /// The length of a large one.
    pub const LARGE_BYTES: usize = HALF_BYTES;

    /// Two large ones, zeroed, each of them in one piece of physical memory if the system has such:
    /// a disk takes one in one request, where it takes a number of pieces.
    #[must_use]
    pub fn large_pair() -> [Self; 2] {
        let len = HALF_BYTES;
        match Half::both() {
            Some(both) => both.map(|half| Self { memory: Memory::Half(half), len }),
            None => [Self::zeroed(len), Self::zeroed(len)],
        }
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

    /// Whether it is of a pair, so that its memory is used again only once the other is done with.
    #[must_use]
    pub const fn is_paired(&self) -> bool {
        matches!(self.memory, Memory::Half(_))
    }

    /// Whether the two are a pair.
    #[must_use]
    pub fn is_pair_of(&self, other: &Self) -> bool {
        match (&self.memory, &other.memory) {
            (Memory::Half(one), Memory::Half(other)) => one.is_beside(other),
            _ => false,
        }
    }

    /// How many bytes it could hold.
    fn room(&self) -> usize {
        self.memory.room()
    }

    /// The bytes.
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

    /// The bytes, to be changed.
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
