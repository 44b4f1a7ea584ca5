//! Fairdisk's own format of recordings, with the file ending `.fdt`.
//!
//! A file is a magic number and blocks. Each block has its kind, the length of its contents and a
//! checksum (CRC-32) of both, so that a file that ends in the middle of one is read up to the last
//! whole block, and more can be appended behind that.
//!
//! | kind | contents |
//! |---|---|
//! | 1 header | JSON: what was recorded, where and when ([`About`](crate::About)) |
//! | 2 origins | JSON: a list of origins; they are numbered from 0 through the whole file |
//! | 3 requests | see below |
//! | 4 lost | the number of requests that were lost since the block before |
//! | 5 weights | JSON: weights of groups, by path; what a first version wrote in place of 6 |
//! | 6 settings | JSON: the [`Settings`](crate::Settings) of groups, by path |
//!
//! Numbers are little-endian; in contents they are varints (7 bits per byte, the least first), and
//! differences are zigzag. A block of requests can be read by itself. It holds for each request:
//!
//! 1. a byte: operation (3 bits), whether its properties, origin and length are those of the
//!    request before (3 bits), whether it was issued and done (2 bits);
//! 2. its queueing time, as a difference to that of the request before, in ns;
//! 3. its properties, origin and length, if they are others;
//! 4. its place, as a difference to the end of the request before: in units of 8 sectors, then
//!    shifted by one bit, or in sectors, then with that bit set;
//! 5. from queueing to issue, and from there (or from queueing) to the end, in ns.

mod reader;
mod varint;
mod writer;

pub use reader::Fdt;
pub use writer::{BLOCK_REQUESTS_MOST, Recorder, append_to};

/// The first bytes of a file.
pub const MAGIC: &[u8] = b"fairdisk trace 1\n";

/// Kinds of blocks.
mod kind {
    pub(super) const HEADER: u8 = 1;
    pub(super) const ORIGINS: u8 = 2;
    pub(super) const REQUESTS: u8 = 3;
    pub(super) const LOST: u8 = 4;
    /// What came before [`SETTINGS`]: weights alone.
    pub(super) const WEIGHTS: u8 = 5;
    pub(super) const SETTINGS: u8 = 6;
}

/// The bytes before the contents of a block: kind, length, checksum.
pub const HEAD_BYTES: usize = 9;

/// The longest contents that are read; a longer block is a damaged one.
const BLOCK_BYTES_MOST: u32 = 16 << 20;

/// The operations by their number in the format.
const OPS: [fairdisk_core::Op; 5] = {
    use fairdisk_core::Op::{Discard, Flush, Read, Write, WriteZeroes};
    [Read, Write, Flush, Discard, WriteZeroes]
};

/// Bits of a request's first byte.
mod bit {
    pub(super) const OP: u8 = 7;
    pub(super) const SAME_TRAITS: u8 = 8;
    pub(super) const SAME_ORIGIN: u8 = 16;
    pub(super) const SAME_LENGTH: u8 = 32;
    pub(super) const ISSUED: u8 = 64;
    pub(super) const DONE: u8 = 128;
}

/// How an origin is stored.
#[derive(serde::Serialize, serde::Deserialize)]
struct StoredOrigin {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    device: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    group: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    task: String,
    /// `ionice` class (0 none to 3 idle) and level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ioprio: Option<(u8, u8)>,
}

/// A block's checksum, over its kind and its contents.
#[must_use]
pub fn checksum(kind: u8, contents: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&[kind]);
    hasher.update(contents);
    hasher.finalize()
}

/// The request with which a block begins to count differences.
const BEFORE: crate::Request = crate::Request {
    origin: crate::OriginId(0),
    op: fairdisk_core::Op::Read,
    traits: crate::Traits::SYNC,
    start: fairdisk_core::Lba(0),
    sectors: fairdisk_core::Sectors(8),
    queued: fairdisk_core::Instant::ZERO,
    issued: None,
    done: None,
};
