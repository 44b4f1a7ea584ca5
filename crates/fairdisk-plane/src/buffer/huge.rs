//! Huge pages, which provide physically contiguous memory.
//!
//! A disk limits the number of memory segments of a request, to 254 for virtio. A buffer of 1 MiB
//! in ordinary pages may consist of 256 segments, and would have to be split into two requests; and
//! each segment is looked up and passed on separately.

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;

/// The size and the alignment of a huge page in bytes, on x86-64 and on arm64 with 4 KiB pages.
const HUGE_BYTES: usize = 2 << 20;

/// The size of half a huge page in bytes.
pub(super) const HALF_BYTES: usize = HUGE_BYTES / 2;

/// A huge page in a mapping of its own, so that what `madvise` sets for it ends with it.
struct HugePage(NonNull<u8>);

// SAFETY: a huge page owns its memory, as a box does, and hands out only addresses.
unsafe impl Send for HugePage {}
// SAFETY: as above. The bytes are accessed through the halves, each of which has one owner.
unsafe impl Sync for HugePage {}

impl HugePage {
    /// Maps a zeroed huge page. Where the system has no huge pages, it consists of ordinary ones.
    fn zeroed() -> Option<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // A mapping has no guaranteed alignment, so one of twice the size is made and the parts
        // around an aligned huge page are unmapped.
        //
        // SAFETY: a new mapping, placed where no other is.
        let mapped =
            unsafe { mmap_anonymous(null_mut(), 2 * HUGE_BYTES, access, MapFlags::PRIVATE) };
        let mapped = mapped.ok()?.cast::<u8>();
        let before = mapped.align_offset(HUGE_BYTES);
        let start = mapped.wrapping_add(before);
        let rest = start.wrapping_add(HUGE_BYTES);
        for (unused, len) in [(mapped, before), (rest, HUGE_BYTES - before)] {
            // SAFETY: the part is within the mapping, and nobody has its address. Unmapping fails
            // only where the number of mappings is exhausted; then the part is lost and never
            // touched.
            let _ = (len > 0).then(|| unsafe { munmap(unused.cast(), len) });
        }
        // Before the first access, at which the system allocates the pages.
        //
        // SAFETY: the range is ours, and the advice changes none of its bytes.
        let _ = unsafe { madvise(start.cast(), HUGE_BYTES, Advice::LinuxHugepage) };
        NonNull::new(start).map(Self)
    }
}

impl Drop for HugePage {
    fn drop(&mut self) {
        // SAFETY: a mapping of this length, of which no half is in use any more.
        let _ = unsafe { munmap(self.0.as_ptr().cast(), HUGE_BYTES) };
    }
}

/// One of the two halves of a huge page, owned exclusively.
pub(super) struct Half {
    page: Arc<HugePage>,
    at: usize,
}

impl Half {
    /// Both halves of a new huge page; `None` if there is no memory.
    pub(super) fn both() -> Option<[Self; 2]> {
        let page = Arc::new(HugePage::zeroed()?);
        Some([0, HALF_BYTES].map(|at| Self { page: Arc::clone(&page), at }))
    }

    /// The address of the first byte.
    pub(super) fn start(&self) -> *mut u8 {
        // SAFETY: a half is within its page.
        unsafe { self.page.0.as_ptr().add(self.at) }
    }

    /// Whether both halves belong to the same page.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.page, &other.page)
    }
}
