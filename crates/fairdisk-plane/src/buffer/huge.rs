//! Huge pages: memory in one physical piece.
//!
//! A disk takes only so many pieces of memory in one request, 254 for one of virtio. A buffer of
//! 1 MiB in ordinary pages may lie in 256 pieces, and then makes two requests; and each piece is
//! looked up and handed over by itself.

use rustix::mm::{Advice, madvise};
use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;
use std::sync::Arc;

/// As the processors that matter have them.
const HUGE: Layout = match Layout::from_size_align(2 << 20, 2 << 20) {
    Ok(layout) => layout,
    Err(_) => panic!("a power of two"),
};

/// Bytes in a half.
pub(super) const HALF_BYTES: usize = HUGE.size() / 2;

struct HugePage(NonNull<u8>);

// SAFETY: it owns its memory, as a box does, and hands out only addresses.
unsafe impl Send for HugePage {}
// SAFETY: as above; who has which bytes is up to the halves.
unsafe impl Sync for HugePage {}

impl HugePage {
    /// Zeroed. Ordinary pages where the system has no other.
    fn zeroed() -> Option<Self> {
        // SAFETY: the layout has a size.
        let start = NonNull::new(unsafe { alloc(HUGE) })?;
        // Before the first byte is written: with that the system chooses the pages.
        // SAFETY: the range is ours, and what is asked changes none of its bytes.
        let _ = unsafe { madvise(start.as_ptr().cast(), HUGE.size(), Advice::LinuxHugepage) };
        // SAFETY: that many bytes were just allocated.
        unsafe { start.as_ptr().write_bytes(0, HUGE.size()) };
        Some(Self(start))
    }
}

impl Drop for HugePage {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and nobody has a half of it any more.
        unsafe { dealloc(self.0.as_ptr(), HUGE) };
    }
}

/// One of the two halves of a huge page. Nobody else has it.
pub(super) struct Half {
    page: Arc<HugePage>,
    at: usize,
}

impl Half {
    /// Both halves of a new one, if there is memory.
    pub(super) fn both() -> Option<[Self; 2]> {
        let page = Arc::new(HugePage::zeroed()?);
        Some([0, HALF_BYTES].map(|at| Self { page: Arc::clone(&page), at }))
    }

    /// Its first byte.
    pub(super) fn start(&self) -> *mut u8 {
        // SAFETY: a half lies within its page.
        unsafe { self.page.0.as_ptr().add(self.at) }
    }

    /// Whether both are of one page.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.page, &other.page)
    }
}
