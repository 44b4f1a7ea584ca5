//! Sizes that follow from the amount of memory: what a CPU keeps for itself, when free memory is
//! short, and how far counters may be off (spec: memory, 1.3, 1.6, 2.1). In pages of 4 KiB.

/// Pages in a MiB.
const MIB_PAGES: u64 = 256;
/// KiB in a page.
const PAGE_KIB: u64 = 4;
/// Bytes with which the kernel describes each page.
const DESCRIPTION_BYTES: u64 = 56;
/// The largest number of pages that a CPU keeps before the batch is computed: 512 KiB.
const KEPT_MAX: u64 = 128;
/// The smallest and the largest `min_free_kib` that follows from the amount of memory.
const MIN_FREE_KIB: (u64, u64) = (128, 65_536);
/// The largest batch that follows from a fraction of memory (the kernel's documentation of
/// `percpu_pagelist_fraction`).
const BATCH_OF_FRACTION_MAX: u32 = 96;
/// The most that a CPU may keep a counter back.
const DRIFT_MAX: u64 = 125;

/// Pages of a machine with `mib` of memory, without those that describe the pages.
#[must_use]
pub const fn present_pages(mib: u64) -> u64 {
    let pages = mib * MIB_PAGES;
    pages - (pages * DESCRIPTION_BYTES).div_ceil(PAGE_KIB * 1024)
}

/// What a CPU keeps of free pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuListSize {
    /// Pages that it fetches or returns at a time.
    pub batch: u32,
    /// The number of pages at which it returns a batch.
    pub high: u32,
}

impl CpuListSize {
    /// For a memory of `present` pages. A `fraction`, as a user sets it, allows a CPU that part of
    /// memory.
    #[must_use]
    pub fn new(present: u64, fraction: Option<u64>) -> Self {
        if let Some(fraction) = fraction {
            let high = (present / fraction.max(1)).max(1) as u32;
            return Self { batch: (high / 4).clamp(1, BATCH_OF_FRACTION_MAX), high };
        }
        let kept = ((present / 1024).min(KEPT_MAX) / 4).max(1);
        let batch = ((1 << (kept + kept / 2).ilog2()) - 1).max(1);
        Self { batch, high: 6 * batch }
    }

    /// The list of cold pages of a kernel that keeps them apart, as `/proc/zoneinfo` of 2.6.24
    /// prints it: 15 and 62, where that of hot pages has 31 and 186.
    #[must_use]
    pub fn cold(self) -> Self {
        Self { batch: (self.batch / 2).max(1), high: 2 * self.batch }
    }
}

/// Numbers of free pages at which something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watermarks {
    /// Below this, whoever needs a page reclaims.
    pub min: u64,
    /// Below this, kswapd is woken.
    pub low: u64,
    /// Above this, kswapd sleeps.
    pub high: u64,
}

impl Watermarks {
    /// For a memory of `present` pages, and `min_free_kib` if a user has set it.
    #[must_use]
    pub fn new(present: u64, min_free_kib: Option<u64>) -> Self {
        let (least, most) = MIN_FREE_KIB;
        let usual = || (16 * present * PAGE_KIB).isqrt().clamp(least, most);
        let min = min_free_kib.unwrap_or_else(usual) / PAGE_KIB;
        Self { min, low: min + min / 4, high: min + min / 2 }
    }
}

/// The most pages that each of `cpus` CPUs may keep back from the count of free pages.
#[must_use]
pub fn drift_max(present: u64, cpus: u32) -> u32 {
    let bits = |number: u64| u64::from(u64::BITS - number.leading_zeros());
    let mib = present / MIB_PAGES;
    DRIFT_MAX.min(2 * bits(u64::from(cpus)) * (1 + bits(mib / 128))) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spec 1.3: MiB, pages present, batch, high.
    const CPU_LISTS: [(u64, u64, u32, u32); 7] = [
        (64, 16_160, 3, 18),
        (128, 32_320, 7, 42),
        (192, 48_480, 15, 90),
        (256, 64_640, 15, 90),
        (320, 80_800, 15, 90),
        (384, 96_960, 31, 186),
        (4096, 1_034_240, 31, 186),
    ];

    /// Spec 2.1: MiB, min, low, high, low - min, high - min.
    const MARKS: [(u64, u64, u64, u64, u64, u64); 5] = [
        (128, 359, 448, 538, 89, 179),
        (256, 508, 635, 762, 127, 254),
        (320, 568, 710, 852, 142, 284),
        (512, 719, 898, 1078, 179, 359),
        (1024, 1016, 1270, 1524, 254, 508),
    ];

    #[test]
    fn the_table_of_what_a_cpu_keeps() {
        for (mib, present, batch, high) in CPU_LISTS {
            assert_eq!(present_pages(mib), present, "{mib} MiB");
            assert_eq!(CpuListSize::new(present, None), CpuListSize { batch, high }, "{mib} MiB");
        }
        let stranded_kib = |mib| CpuListSize::new(present_pages(mib), None).high * 4;
        assert_eq!([64, 128, 256, 384].map(stranded_kib), [72, 168, 360, 744]);
    }

    #[test]
    fn a_fraction_of_memory_sets_what_a_cpu_keeps() {
        let size = |fraction| CpuListSize::new(64_640, Some(fraction));
        assert_eq!(size(1000), CpuListSize { batch: 16, high: 64 });
        assert_eq!(size(100), CpuListSize { batch: 96, high: 646 }, "a batch has a limit");
        assert_eq!(size(1_000_000), CpuListSize { batch: 1, high: 1 });
        let cold = CpuListSize { batch: 31, high: 186 }.cold();
        assert_eq!(cold, CpuListSize { batch: 15, high: 62 });
    }

    #[test]
    fn the_table_of_watermarks() {
        for (mib, min, low, high, to_low, to_high) in MARKS {
            let marks = Watermarks::new(present_pages(mib), None);
            assert_eq!(marks, Watermarks { min, low, high }, "{mib} MiB");
            assert_eq!((marks.low - marks.min, marks.high - marks.min), (to_low, to_high));
        }
    }

    #[test]
    fn min_free_is_limited_unless_a_user_sets_it() {
        let min = |mib, kib| Watermarks::new(present_pages(mib), kib).min;
        assert_eq!(min(1, None), 128 / 4, "not 126 KiB");
        assert_eq!(min(1 << 20, None), 65_536 / 4);
        assert_eq!(min(256, Some(64)), 16);
        assert_eq!(min(256, Some(100_000)), 25_000);
    }

    #[test]
    fn a_cpu_keeps_back_what_the_specification_says() {
        assert_eq!(drift_max(present_pages(256), 4), 12);
        assert_eq!(drift_max(present_pages(320), 4), 18);
        assert_eq!(drift_max(present_pages(1 << 20), 4096), 125);
        assert_eq!(drift_max(present_pages(64), 1), 2);
    }
}
