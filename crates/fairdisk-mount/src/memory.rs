//! Memory that the process no longer needs goes back to the system.

use crate::data::buffers::Buffers;
use crate::identity::Hierarchy;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

/// The growth in pages after which the allocator is asked for what it does not need: 1 MiB.
const GROWTH_PAGES: u64 = 256;

/// Resident pages after the allocator was last asked.
static KEPT_PAGES: AtomicU64 = AtomicU64::new(0);

/// Sets up the allocator of the C library.
///
/// Left to itself it stops giving large blocks back once one has been freed: those of the threads
/// that read requests, 16 MiB each, would then stay for good in the arenas of the threads, and be
/// made resident by zeroing them at each reuse.
pub(crate) fn set_up() {
    allocator::set_up();
}

/// Periodic work of the process, to be done every few seconds: gives back the buffers that nobody
/// has used since the last call, and what the allocator has left over.
pub fn give_back() {
    Buffers::shared().rest();
    let resident = resident_pages();
    if resident > KEPT_PAGES.load(Ordering::Relaxed) + GROWTH_PAGES {
        allocator::trim();
        KEPT_PAGES.store(resident_pages(), Ordering::Relaxed);
    } else {
        KEPT_PAGES.fetch_min(resident, Ordering::Relaxed);
    }
}

/// The number of bytes that the process may have: those of its cgroups, or else of the system.
pub(crate) fn limit() -> u64 {
    let cgroups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let of = |hierarchy, file| {
        let hierarchy = Hierarchy::find(Some(hierarchy)).ok()??;
        hierarchy.least(hierarchy.path_in(&cgroups)?, file)
    };
    let limits = [of("v2", "memory.max"), of("memory", "memory.limit_in_bytes"), system_bytes()];
    limits.into_iter().flatten().min().unwrap_or(u64::MAX)
}

/// The memory of the system in bytes.
fn system_bytes() -> Option<u64> {
    let system = fs::read_to_string("/proc/meminfo").ok()?;
    let kib = system.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(kib.trim_end_matches("kB").trim().parse::<u64>().ok()? << 10)
}

/// The number of pages of the process in memory; 0 where that cannot be told.
fn resident_pages() -> u64 {
    let sizes = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    sizes.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0)
}

#[cfg(target_env = "gnu")]
mod allocator {
    /// The size in bytes from which a block is a mapping of its own, which is unmapped when it is
    /// freed. The initial value of the C library, which changes as long as nobody sets it.
    const OWN_MAPPING_BYTES: libc::c_int = 128 << 10;

    /// The most arenas. Each keeps some memory for its next block; threads have small blocks of
    /// their own in between, so that few arenas are no bottleneck.
    const ARENAS_MAX: libc::c_int = 4;

    pub(super) fn set_up() {
        let settings =
            [(libc::M_MMAP_THRESHOLD, OWN_MAPPING_BYTES), (libc::M_ARENA_MAX, ARENAS_MAX)];
        for (key, value) in settings {
            // SAFETY: the call takes numbers. If it refuses them, memory is kept as before.
            unsafe { libc::mallopt(key, value) };
        }
    }

    pub(super) fn trim() {
        // SAFETY: frees only what is not in use.
        unsafe { libc::malloc_trim(0) };
    }
}

#[cfg(not(target_env = "gnu"))]
mod allocator {
    pub(super) fn set_up() {}

    pub(super) fn trim() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_no_more_than_there_is() {
        let (limit, system) = (limit(), system_bytes().unwrap());
        assert!(limit <= system && limit > 0, "{limit} {system}");
    }
}
