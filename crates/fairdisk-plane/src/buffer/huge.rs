//! Huge pages: memory in one physical piece.
//!
//! A disk takes only so many pieces of memory in one request, 254 for one of virtio. A buffer of
//! 1 MiB in ordinary pages may lie in 256 pieces, and then makes two requests; and each piece is
//! looked up and handed over by itself.

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;

/// As the processors that matter have them, and aligned to as much.
const HUGE_BYTES: usize = 2 << 20;

/// Bytes in a half.
pub(super) const HALF_BYTES: usize = HUGE_BYTES / 2;

/// A mapping of its own: what is asked of the system for it ends with it.
struct HugePage(NonNull<u8>);

// SAFETY: it owns its memory, as a box does, and hands out only addresses.
unsafe impl Send for HugePage {}
// SAFETY: as above; who has which bytes is up to the halves.
unsafe impl Sync for HugePage {}

impl HugePage {
    /// Zeroed. Ordinary pages where the system has no other.
    fn zeroed() -> Option<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // Any place will do for the mapping, so an aligned part of one of twice the size is kept.
        // SAFETY: a new mapping, which takes nobody's place.
        let mapped =
            unsafe { mmap_anonymous(null_mut(), 2 * HUGE_BYTES, access, MapFlags::PRIVATE) };
        let mapped = mapped.ok()?.cast::<u8>();
        let before = mapped.align_offset(HUGE_BYTES);
        let start = mapped.wrapping_add(before);
        let rest = start.wrapping_add(HUGE_BYTES);
        for (unused, len) in [(mapped, before), (rest, HUGE_BYTES - before)] {
            // SAFETY: within the mapping, and nobody has its address. Should it fail, which it does
            // only where mappings run out, the part is lost and never touched.
            let _ = (len > 0).then(|| unsafe { munmap(unused.cast(), len) });
        }
        // Before the first byte is touched: with that the system chooses the pages.
        // SAFETY: the range is ours, and what is asked changes none of its bytes.
        let _ = unsafe { madvise(start.cast(), HUGE_BYTES, Advice::LinuxHugepage) };
        NonNull::new(start).map(Self)
    }
}

impl Drop for HugePage {
    fn drop(&mut self) {
        // SAFETY: a mapping of this length, and nobody has a half of it any more.
        let _ = unsafe { munmap(self.0.as_ptr().cast(), HUGE_BYTES) };
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
